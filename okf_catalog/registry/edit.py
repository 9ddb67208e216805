"""Every change to a registry. A function either makes its whole change or raises and makes none.

Names come in as users write them (`@slug`, `Slug`, `@` for the default). A name that a
user chose is refused where it is taken; a name made up from a directory gets a suffix.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from okf_catalog.format import slugs
from okf_catalog.registry.document import Bundle, Group, Link, Registry, is_usable, slugs_of
from okf_catalog.registry.errors import RegistryError, UnknownRefError
from okf_catalog.registry.place import place_of
from okf_catalog.registry.store import load
from okf_catalog.registry.view import GroupCycleError, Ref, RefGroup, View

_LIST = "okf-catalog registry list"


class Registered(NamedTuple):
    """What `register` did."""

    slug: str
    path: str
    is_new: bool


def register(registry: Registry, path: str, *, name: str | None = None, first: bool = False) -> Registered:
    """Add the bundle at the absolute `path`, or update the one that is registered for it.

    A known bundle gets its title afresh, and another slug only by `name`. `first` makes
    it the default.
    """
    view = View(registry)
    known = view.at(path)
    if known is not None:
        _own(view, known, "registered here too")
        bundle = registry.bundle(known.slug)
        assert bundle is not None  # noqa: S101  # it is one of the registry's own
        slug = bundle.slug
        if name is not None:
            slug = chosen(registry, view, name, except_for=slug)
            _rename_everywhere(registry, bundle.slug, slug)
        changed = bundle._replace(slug=slug, title=slugs.title_of(bundle.path))
        registry.bundles[[known.slug for known in registry.bundles].index(slug)] = changed
    else:
        slug = chosen(registry, view, name) if name is not None else _made_up(registry, view, path)
        changed = Bundle(slug, path, slugs.title_of(path))
        registry.bundles.append(changed)
    if first:
        registry.bundles.remove(changed)
        registry.bundles.insert(0, changed)
    return Registered(slug, changed.path, known is None)


def _made_up(registry: Registry, view: View, path: str) -> str:
    return slugs.mint(os.path.basename(path), names_of(registry, view).__contains__)


def remove(registry: Registry, name: str, path: str) -> str:
    """Take a bundle or group out, and out of every group; returns its slug.

    `name` is a slug, or a directory that `path` spells absolutely. A damaged row goes by
    its slug too: this is the way to repair a file without an editor.
    """
    view = View(registry)
    slug = _slug_to_remove(registry, view, name, path)
    row = view.named(slug)
    if row is not None:
        _own(view, row, "removed")
    registry.bundles = [bundle for bundle in registry.bundles if bundle.slug != slug]
    registry.groups = [group for group in registry.groups if group.slug != slug]
    registry.damaged = [damaged for damaged in registry.damaged if row is not None or damaged.slug != slug]
    _forget(registry, slug)
    return slug


def _slug_to_remove(registry: Registry, view: View, name: str, path: str) -> str:
    if name == "@":
        return _default(view).slug
    slug = slugs.normalize(name)
    if view.bundle(name):
        return name
    if not name.startswith("@"):
        here = view.at(path)
        if here is not None:
            return here.slug
        if "/" in name:
            slug = ""
    if slug and (view.named(slug) or any(damaged.slug == slug for damaged in registry.damaged)):
        return slug
    raise UnknownRefError(f"no bundle or group is called {name} ({_LIST})")


def _forget(registry: Registry, slug: str) -> None:
    """Take a name out of all groups; a group that this leaves empty goes the same way."""
    gone = [slug]
    while gone:
        name = gone.pop()
        for position, group in enumerate(registry.groups):
            if name in group.members:
                kept = tuple(member for member in group.members if member != name)
                registry.groups[position] = group._replace(members=kept)
                if not kept:
                    gone.append(group.slug)
        registry.groups = [group for group in registry.groups if group.members]


def make_default(registry: Registry, name: str) -> str:
    """Move a bundle to the front; returns its slug."""
    view = View(registry)
    row = _bundle_or_group(view, name, "bundle")
    if isinstance(row, RefGroup):
        raise RegistryError(f"@{row.slug} is a group, and the default is one bundle")
    _own(view, row, "the default")
    if row.is_missing:
        raise RegistryError(
            f"{row.slug} cannot be the default: {row.path} is not a directory "
            f"(restore it, or okf-catalog registry del {row.slug})"
        )
    registry.bundles.sort(key=lambda bundle: bundle.slug != row.slug)
    return row.slug


def rename(registry: Registry, old: str, new: str) -> tuple[str, str]:
    """Give a bundle or group another name, in all groups too; returns both in normal form."""
    view = View(registry)
    row = _bundle_or_group(view, old, "bundle or group")
    _own(view, row, "renamed")
    slug = chosen(registry, view, new, except_for=row.slug)
    _rename_everywhere(registry, row.slug, slug)
    return row.slug, slug


def _rename_everywhere(registry: Registry, old: str, new: str) -> None:
    registry.bundles = [bundle._replace(slug=new) if bundle.slug == old else bundle for bundle in registry.bundles]
    registry.groups = [
        group._replace(
            slug=new if group.slug == old else group.slug,
            members=tuple(dict.fromkeys(new if member == old else member for member in group.members)),
        )
        for group in registry.groups
    ]


def add_to_group(registry: Registry, name: str, members: Sequence[str]) -> tuple[Group, int | None]:
    """Create a group, or add to it; returns it and the number of bundles it leads to.

    The number is None where a hand-edited file has a cycle further down. Only what is
    registered here can be a member: a linked bundle may go at any moment, its name with it.
    """
    view = View(registry)
    slug = slugs.normalize(name)
    existing = registry.group(slug)
    if existing is None:
        linked = view.group(slug)
        if linked is not None:
            _own(view, linked, "added to")
        if registry.bundle(slug):
            raise RegistryError(f"{slug} is taken by a bundle (rename or remove that entry first)")
        slug = chosen(registry, view, name)
    added = [_member(view, member) for member in members]
    for member in added:
        _refuse_cycle(view, slug, member)
    group = existing or Group(slug, ())
    group = group._replace(members=tuple(dict.fromkeys((*group.members, *added))))
    if existing is None:
        registry.groups.append(group)
    else:
        registry.groups[registry.groups.index(existing)] = group
    return group, View(registry).size(slug)


def _member(view: View, name: str) -> str:
    row = _default(view) if name == "@" else view.named(slugs.normalize(name))
    if row is None:
        raise UnknownRefError(f"no bundle or group is called {_at(name)} ({_LIST})")
    _own(view, row, "in a group")
    return row.slug


def _refuse_cycle(view: View, slug: str, member: str) -> None:
    reached = {member}
    pending = [member]
    while pending:
        group = view.group(pending.pop())
        for below in group.members if group else ():
            if below not in reached:
                reached.add(below)
                pending.append(below)
    if slug in reached:
        raise GroupCycleError(f"group cycle: with @{member} in it, @{slug} would contain itself")


class Ungrouped(NamedTuple):
    """What `remove_from_group` did."""

    slug: str
    removed: list[str]
    asked: list[str]
    is_gone: bool
    """True where the group had no other members."""


def remove_from_group(registry: Registry, name: str, members: Sequence[str]) -> Ungrouped:
    """Take members out of a group, registered or not; a group without members goes."""
    view = View(registry)
    slug = slugs.normalize(name)
    group = registry.group(slug)
    if group is None:
        linked = view.group(slug)
        if linked is not None:
            _own(view, linked, "changed")
        raise UnknownRefError(f"no group is called {name} ({_LIST})")
    asked = [_default(view).slug if member == "@" else slugs.normalize(member) or member for member in members]
    kept = tuple(member for member in group.members if member not in asked)
    registry.groups[registry.groups.index(group)] = group._replace(members=kept)
    registry.groups = [group for group in registry.groups if group.members]
    return Ungrouped(slug, [member for member in group.members if member in asked], asked, not kept)


def add_link(registry: Registry, name: str, file: str) -> tuple[Link, View]:
    """Point the global registry at another registry file; returns the link and the names after it."""
    if registry.place.is_local:
        raise RegistryError(
            f"only the global registry follows links, and {registry.place.file} is a project's own "
            "(okf-catalog registry link … --global)"
        )
    slug = chosen(registry, View(registry), name)
    place = place_of(file)
    if not os.path.isfile(place.file):
        raise RegistryError(f"{file} is not a registry file")
    if place == registry.place:
        raise RegistryError(f"{place.file} is this registry; it cannot link to itself")
    load(place)
    link = Link(slug, place.file)
    registry.links.append(link)
    return link, View(registry)


def remove_link(registry: Registry, name: str) -> str:
    """Drop a link, and with it every name it brought; returns its slug."""
    slug = slugs.normalize(name)
    damaged = [damaged for damaged in registry.damaged if damaged.section == "links" and damaged.slug == slug]
    if not slug or (registry.link(slug) is None and not damaged):
        raise UnknownRefError(f"no link is called {name} ({_LIST})")
    registry.links = [link for link in registry.links if link.slug != slug]
    registry.damaged = [row for row in registry.damaged if row not in damaged]
    return slug


def chosen(registry: Registry, view: View, name: str, *, except_for: str | None = None) -> str:
    """The slug that a user chose by `name`. Raises `RegistryError` where it cannot be had."""
    slug = slugs.normalize(name)
    if not slug:
        raise RegistryError(f"{name} is no usable slug; it takes letters or digits")
    if not is_usable(slug):
        raise RegistryError(f"{slug} is reserved: @{slug} names every registered bundle")
    if slug != except_for and slug in names_of(registry, view):
        raise RegistryError(f"{slug} is taken (rename or remove that entry first)")
    return slug


def names_of(registry: Registry, view: View) -> set[str]:
    """All names in use. Bundles, groups and links share one namespace, linked ones included."""
    return {ref.slug for ref in view.bundles} | {group.slug for group in view.groups} | slugs_of(registry.links)


def _own(view: View, row: Ref | RefGroup, change: str) -> None:
    """Refuse that what a link brought be changed: the file that owns it is another one."""
    if row.link is not None:
        raise RegistryError(
            f"@{row.slug} cannot be {change}: it comes from the linked registry at {view.link_file(row.link)} "
            f"(edit that file, or okf-catalog registry unlink {row.link})"
        )


def _bundle_or_group(view: View, name: str, wanted: str) -> Ref | RefGroup:
    row = _default(view) if name == "@" else view.named(slugs.normalize(name))
    if row is None:
        raise UnknownRefError(f"no {wanted} is called {name} ({_LIST})")
    return row


def _default(view: View) -> Ref:
    if view.default is None:
        raise UnknownRefError(f"@ is the default bundle, and {view.file} has none (okf-catalog registry set DIR)")
    return view.default


def _at(name: str) -> str:
    return name if name.startswith("@") else f"@{name}"
