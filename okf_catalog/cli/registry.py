"""`okf-catalog registry`: name bundles once and ask from anywhere."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Annotated, Any

from okf_catalog.bundle import Skipped, Unreadable, open_directory, open_root, read, walk
from okf_catalog.cli import options, output
from okf_catalog.cli.declared import Argument, Group, Option
from okf_catalog.errors import BundleError
from okf_catalog.format.problem import Failure
from okf_catalog.registry import edit, resolve, store, transfer
from okf_catalog.registry import place as places
from okf_catalog.registry.errors import RegistryError
from okf_catalog.registry.place import Place
from okf_catalog.registry.view import Ref, View

Global = Annotated[bool, Option("--global", "-g", help="Use the registry in $OKF_HOME, whatever the project has.")]
Slug = Annotated[str, Argument(metavar="@SLUG", help="The name of a bundle or group; @ is the default bundle.", show_default=False)]
Members = Annotated[list[str], Argument(metavar="@MEMBER...", help="Bundles or groups.", show_default=False)]


def list_names(only_global: Global = False, as_json: options.Json = False, pretty: options.Pretty = False) -> int:
    """List the registered bundles; * marks the default."""
    place = _place(only_global)
    view = View(store.load(place))
    if as_json or pretty:
        output.dump_json(_listing(view), pretty=pretty)
        return 0
    if place.is_local or only_global:
        print(f"registry: {place.shown(places.working_directory())}")
    if not (view.bundles or view.groups or view.links):
        print("no bundle is registered; okf-catalog registry set DIR adds one")
        return 0
    _print_listing(view)
    return 0


def set_bundle(
    bundle: Annotated[str, Argument(metavar="DIR|@SLUG", help="A bundle directory, or one that is registered.", show_default=False)],
    name: Annotated[str | None, Option("--as", metavar="SLUG", help="Its name. [default: from the directory]", show_default=False)] = None,
    first: Annotated[bool, Option("--default", help="Make it the default, which @ names.")] = False,
    only_global: Global = False,
) -> int:
    """Register a bundle, or update one that is.

    A directory is registered once: set again, its title is made afresh, and --as renames it.
    """
    place = _place(only_global)
    if resolve.is_ref(bundle):
        path = resolve.one_in(View(store.load(place)), bundle).path
    else:
        path = places.expand(options.directory(bundle))
        if not os.path.isdir(path):
            raise BundleError(f"{bundle} is not a directory, nor @name of a registered bundle")
    # A name that cannot be had is refused before a large bundle is counted, and again under the lock.
    edit.register(store.load(place), path, name=name, first=first)
    count = _concepts(path)
    with store.editing(place) as known:
        done = edit.register(known, path, name=name, first=first)
    print(f"{'registered' if done.is_new else 'updated'} {done.slug} → {output.one_line(done.path)} ({count})")
    return 0


def delete(
    bundle: Annotated[str, Argument(metavar="DIR|@SLUG", help="A bundle by name or directory, or a group.", show_default=False)],
    only_global: Global = False,
) -> int:
    """Remove a bundle or group from the registry.

    It leaves all groups too, and groups that this empties go with it. Files stay as they are.
    """
    path = "" if resolve.is_ref(bundle) else places.expand(options.directory(bundle))
    with store.editing(_place(only_global), lenient=True) as known:
        slug = edit.remove(known, bundle, path)
    print(f"removed {slug}")
    return 0


def default(bundle: Slug, only_global: Global = False) -> int:
    """Make a bundle the default, which @ names.

    It moves to the front: the first bundle whose directory exists is the default.
    """
    with store.editing(_place(only_global)) as known:
        slug = edit.make_default(known, bundle)
    print(f"{slug} is the default bundle → first in the list")
    return 0


def rename(
    old: Slug,
    new: Annotated[str, Argument(metavar="NEW", help="Its new name.", show_default=False)],
    only_global: Global = False,
) -> int:
    """Rename a bundle or group.

    The groups it is in follow.
    """
    with store.editing(_place(only_global)) as known:
        before, after = edit.rename(known, old, new)
    print(f"renamed {before} → {after}")
    return 0


def group(
    slug: Annotated[str, Argument(metavar="SLUG", help="The name of the group.", show_default=False)],
    members: Members,
    only_global: Global = False,
) -> int:
    """Create a group of bundles and groups, or add to it."""
    with store.editing(_place(only_global)) as known:
        made, count = edit.add_to_group(known, slug, members)
    print(f"grouped {made.slug} → {_refs(made.members)} ({_size(count)})")
    return 0


def ungroup(
    slug: Annotated[str, Argument(metavar="@SLUG", help="The name of the group.", show_default=False)],
    members: Members,
    only_global: Global = False,
) -> int:
    """Take members out of a group; an empty group goes."""
    with store.editing(_place(only_global), lenient=True) as known:
        done = edit.remove_from_group(known, slug, members)
    if not done.removed:
        print(f"{done.slug} is as it was: it has no member {' or '.join(done.asked)}")
    elif done.is_gone:
        print(f"removed group {done.slug}, which had no other members")
    else:
        print(f"took {_refs(done.removed)} out of {done.slug}")
    return 0


def link(
    name: Annotated[str, Argument(metavar="NAME", help="What to call the link, and the group of all it brings.", show_default=False)],
    file: Annotated[str, Argument(metavar="FILE", help="Another registry file, a project's .okf.json for example.", show_default=False)],
    only_global: Global = False,
) -> int:
    """Let the bundles of another registry answer here.

    They are read-only and always as that file has them; a name that is taken here is
    prefixed with the link's.
    """
    with store.editing(_place(only_global)) as known:
        made, view = edit.add_link(known, name, file)
    brought = [ref for ref in view.bundles if ref.link == made.slug]
    print(f"linked {made.slug} → {made.registry} ({output.plural(len(brought), 'bundle')})")
    for ref in brought:
        if ref.origin:
            output.note(f"its {ref.origin} is @{ref.slug} here, because the name is taken")
    return 0


def unlink(
    name: Annotated[str, Argument(metavar="NAME", help="The name of the link.", show_default=False)],
    only_global: Global = False,
) -> int:
    """Drop a link and all names that came with it."""
    with store.editing(_place(only_global), lenient=True) as known:
        slug = edit.remove_link(known, name)
    print(f"unlinked {slug}")
    return 0


def import_names(
    names: Annotated[list[str], Argument(metavar="@SLUG...", help="Bundles or groups of the other registry.", show_default=False)],
    source: Annotated[str | None, Option("--from", metavar="FILE", help="The registry to copy from. [default: the one in $OKF_HOME]", show_default=False)] = None,
    name: Annotated[str | None, Option("--as", metavar="SLUG", help="Another name, for a single bundle or group.", show_default=False)] = None,
    only_global: Global = False,
) -> int:
    """Copy bundles and groups out of another registry.

    A group brings all that it leads to. Either everything is copied or nothing.
    """
    place = _place(only_global)
    origin = _source(source, place)
    theirs = View(store.load(origin))
    with store.editing(place) as known:
        done = transfer.import_rows(known, theirs, names, name=name)
    print(f"imported {output.plural(len(done.bundles), 'bundle')} from {origin.file}")
    for bundle in done.bundles:
        print(f"  {bundle.slug} → {output.one_line(bundle.path)} ({_concepts(bundle.path)})")
    for made in done.groups:
        print(f"  {made.slug} → {_refs(made.members)} (group)")
    return 0


def init() -> int:
    """Start a registry for the project in this directory."""
    directory = places.working_directory()
    for name in places.LOCAL_NAMES:
        if os.path.lexists(os.path.join(directory, name)):
            raise RegistryError(f"./{name} is there already")
    parent = places.active_place(directory)
    place = Place(os.path.join(directory, places.LOCAL_NAME), directory)
    if not store.create(place):  # another process was faster
        raise RegistryError(f"./{places.LOCAL_NAME} is there already")
    print(f"started ./{places.LOCAL_NAME}")
    if parent.is_local:
        output.note(f"there is a registry above, {parent.file}; in this directory the new one answers, being nearer")
    return 0


registry = Group(
    """Name bundles, and say @name wherever a bundle goes.

    The nearest .okf.json in the working directory or above it is the registry; without one
    it is registry.json in $OKF_HOME (~/.okf). OKF_NO_DISCOVERY=1 keeps to the latter.
    Without a subcommand: list.
    """,
    {"list": list_names, "set": set_bundle, "del": delete, "default": default, "rename": rename, "group": group, "ungroup": ungroup, "link": link, "unlink": unlink, "import": import_names, "init": init},
    default="list",
)
"""The verb; `okf_catalog.cli.app` finds it by this name."""


def _place(only_global: bool) -> Place:
    """The registry that this run is about; says what there is to say about its name."""
    place = places.active_place(only_global=only_global)
    remark = places.remark_on_name(place)
    if remark:
        output.note(remark)
    return place


def _source(file: str | None, target: Place) -> Place:
    """The registry to import from. Raises `RegistryError`."""
    source = places.global_place() if file is None else places.place_of(file)
    if os.path.realpath(source.file) == os.path.realpath(target.file):
        raise RegistryError(f"{source.file} is both source and target (--from FILE names another registry)")
    if file is not None and not os.path.isfile(source.file):
        raise RegistryError(f"{file} is not a registry file")
    return source


def _concepts(root: str) -> str:
    """How many concepts a bundle holds, in words; notes what of it cannot be used. Raises `BundleError`."""
    from okf_catalog.format import frontmatter, reserved

    concepts = unusable = 0
    root_fd = open_root(root)
    try:
        for found in walk(root, Skipped(), root_fd=root_fd):
            if isinstance(found, Unreadable):
                output.note(f"cannot list {found.path}: {found.reason}")
                continue
            names = [name for name in found.names if not reserved.kind_of(name)]
            if not names:
                continue
            directory_fd = open_directory(root_fd, found.path)
            try:
                for name in names:
                    content = read(root_fd, root, directory_fd, name if found.path == "." else f"{found.path}/{name}")
                    if content is None:
                        continue
                    if isinstance(content, Failure) or isinstance(frontmatter.parse(content.data), Failure):
                        unusable += 1
                    else:
                        concepts += 1
            finally:
                os.close(directory_fd)
    finally:
        os.close(root_fd)
    if unusable:
        output.note(f"{output.plural(unusable, 'file')} cannot be used (okf-catalog validate {root} says why)")
    return output.plural(concepts, "concept")


def _listing(view: View) -> dict[str, Any]:
    return {
        "registry": view.file,
        "groups": [
            {"slug": row.slug, "members": list(row.members), "resolved": view.size(row.slug), "link": row.link}
            for row in view.groups
        ],
        "links": [
            {"slug": row.slug, "registry": row.file, "bundles": row.bundles, "missing": row.is_missing,
             "unreadable": row.is_unreadable}
            for row in view.links
        ],
        "count": len(view.bundles),
        "bundles": [
            {"slug": row.slug, "title": row.title, "dir": row.path, "mount": f"/b/{row.slug}/",
             "default": row == view.default, "missing": row.is_missing, "link": row.link, "origin": row.origin}
            for row in view.bundles
        ],
    }  # fmt: skip


def _print_listing(view: View) -> None:
    own = [row for row in view.bundles if row.link is None]
    default = view.default
    _print_bundles(own, default, "")
    groups = [row for row in view.groups if row.link is None]
    if groups:
        print("\ngroups:")
        width = max(len(row.slug) for row in groups)
        for row in groups:
            size = view.size(row.slug)
            print(f"  {row.slug:<{width}}  {_refs(row.members)}  ({_size(size)})")
    if view.links:
        print("\nlinks:")
        width = max(len(row.slug) for row in view.links)
        for linked in view.links:
            state = "  (missing)" if linked.is_missing else "  (unreadable)" if linked.is_unreadable else ""
            print(f"  {linked.slug:<{width}}  → {output.one_line(linked.file)}  ({output.plural(linked.bundles, 'bundle')}){state}")
            _print_bundles([row for row in view.bundles if row.link == linked.slug], default, "  ")
            for row in view.groups:
                if row.link == linked.slug and row.slug != linked.slug:
                    print(f"    {row.slug}  {_refs(row.members)}")


def _print_bundles(rows: list[Ref], default: Ref | None, indent: str) -> None:
    width = max((len(row.slug) for row in rows), default=0)
    for row in rows:
        mark = "* " if row == default else "  "
        gone = "  (missing)" if row.is_missing else ""
        origin = f"  [{row.origin}]" if row.origin else ""
        print(f"{indent}{mark}{row.slug:<{width}}  {output.one_line(row.title)}  ({output.one_line(row.path)}){gone}{origin}")


def _refs(names: Iterable[str]) -> str:
    return ", ".join(f"@{name}" for name in names)


def _size(count: int | None) -> str:
    return "cycle" if count is None else output.plural(count, "bundle")
