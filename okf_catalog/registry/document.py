"""The registry file as data: JSON text to records and back. Touches no disk.

    {"bundles": [{"slug", "path", "title"}], "groups": [{"slug", "members"}], "links": [{"slug", "registry"}]}

The reference tool reads and writes the same file. Keys that neither knows are kept.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeGuard

from okf_catalog.format import slugs
from okf_catalog.registry.errors import MalformedError
from okf_catalog.registry.place import Place

WAY_OUT = "fix or delete the file"

Extra = dict[str, Any]
_NOTHING: Extra = {}


class Bundle(NamedTuple):
    """A bundle directory under a name. Identity is the path; the slug may change."""

    slug: str
    path: str
    """Absolute; only the global registry may hold a relative one, written by hand, and leaves it so."""
    title: str
    extra: Extra = _NOTHING


class Group(NamedTuple):
    """A name for a list of bundles and other groups."""

    slug: str
    members: tuple[str, ...]
    """Slugs in normal form; one that names nothing is allowed and resolves to nothing."""
    extra: Extra = _NOTHING


class Link(NamedTuple):
    """A pointer from the global registry to another registry file."""

    slug: str
    registry: str
    """As written; `Registry.target` is the file it means."""
    extra: Extra = _NOTHING


class Damaged(NamedTuple):
    """A row that lacks what its section needs. It is kept until somebody repairs or removes it."""

    section: str
    row: Any
    needs: str

    @property
    def slug(self) -> str:
        """The row's name in normal form, empty where it has none."""
        slug = self.row.get("slug") if isinstance(self.row, dict) else None
        return slugs.normalize(slug) if isinstance(slug, str) else ""


class Registry:
    """What one registry file holds. The order of the bundles matters: the first is the default."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.bundles: list[Bundle] = []
        self.groups: list[Group] = []
        self.links: list[Link] = []
        self.damaged: list[Damaged] = []
        self.extra: Extra = {}

    def target(self, link: Link) -> str:
        """The absolute path of the file that a link points to."""
        return os.path.normpath(os.path.join(os.path.dirname(self.place.file), os.path.expanduser(link.registry)))

    def bundle(self, slug: str) -> Bundle | None:
        """The bundle of that name."""
        return next((bundle for bundle in self.bundles if bundle.slug == slug), None)

    def group(self, slug: str) -> Group | None:
        """The group of that name."""
        return next((group for group in self.groups if group.slug == slug), None)

    def link(self, slug: str) -> Link | None:
        """The link of that name."""
        return next((link for link in self.links if link.slug == slug), None)

    def check(self) -> None:
        """Raises `MalformedError` for the first damaged row."""
        for damaged in self.damaged:
            advice = f"okf-catalog registry del {damaged.slug} drops it, or {WAY_OUT}" if damaged.slug else WAY_OUT
            raise malformed(self.place.file, damaged.needs, advice)


def malformed(file: str, what: str, advice: str = WAY_OUT) -> MalformedError:
    """The error for a file that is not a registry."""
    return MalformedError(f"malformed registry at {file}: {what} ({advice})")


def parse(text: str, place: Place) -> Registry:
    """Read the text of a registry file. Raises `MalformedError` for anything but damaged rows.

    Damaged rows are set aside in `Registry.damaged`, so that the verbs which can remove
    them get to work; everyone else calls `Registry.check`.
    """
    try:
        data = json.loads(text)
    except ValueError as problem:
        raise malformed(place.file, f"it is not JSON: {problem}") from None
    except RecursionError:
        raise malformed(place.file, "it is nested too deeply") from None
    if isinstance(data, list):  # the first shape of the file
        data = {"bundles": data}
    if not isinstance(data, dict):
        raise malformed(place.file, 'it holds neither an object with "bundles" nor a list of them')
    registry = Registry(place)
    registry.extra = {key: value for key, value in data.items() if key not in _READERS}
    for section, (reader, needs) in _READERS.items():
        rows = data.get(section)
        if rows is None:
            continue
        if not isinstance(rows, list):
            raise malformed(place.file, f'"{section}" is not a list')
        for row in rows:
            if not (isinstance(row, dict) and isinstance(row.get("slug"), str) and reader(row, registry)):
                registry.damaged.append(Damaged(section, row, needs))
    _heal_slugs(registry)
    return registry


def _read_bundle(row: dict[str, Any], registry: Registry) -> bool:
    path, title = row.get("path"), row.get("title")
    if not _is_path(path):
        return False
    if registry.place.base is not None:
        path = os.path.normpath(os.path.join(registry.place.base, path))
    if not isinstance(title, str):
        title = os.path.basename(path.rstrip("/")) or path
    registry.bundles.append(Bundle(row["slug"], path, title, _rest(row, "path", "title")))
    return True


def _read_group(row: dict[str, Any], registry: Registry) -> bool:
    members = row.get("members")
    if not isinstance(members, list) or not all(isinstance(member, str) for member in members):
        return False
    named = tuple(dict.fromkeys(filter(None, map(slugs.normalize, members))))
    if named:
        registry.groups.append(Group(row["slug"], named, _rest(row, "members")))
    return True


def _read_link(row: dict[str, Any], registry: Registry) -> bool:
    file = row.get("registry")
    if not _is_path(file):
        return False
    registry.links.append(Link(row["slug"], file, _rest(row, "registry")))
    return True


_READERS: dict[str, tuple[Callable[[dict[str, Any], Registry], bool], str]] = {
    "bundles": (_read_bundle, 'every entry needs a "slug" and a "path"'),
    "groups": (_read_group, 'every group needs a "slug" and a list "members" of slugs'),
    "links": (_read_link, 'every link needs a "slug" and the path of a "registry"'),
}


def _is_path(value: Any) -> TypeGuard[str]:
    return isinstance(value, str) and value != "" and "\0" not in value


def _rest(row: dict[str, Any], *known: str) -> Extra:
    return {key: value for key, value in row.items() if key != "slug" and key not in known}


def _heal_slugs(registry: Registry) -> None:
    """Give a free name to rows that no lookup could reach.

    A hand-edited file may hold a slug that is not in normal form, is reserved, or stands
    there twice. Refusing the file would make every entry unreachable, and with them the
    verbs that repair it. Healthy slugs keep their name; the next write saves the others.
    """
    rows: list[Bundle | Group | Link] = [*registry.bundles, *registry.groups, *registry.links]
    taken: set[str] = set()
    is_healthy: list[bool] = []
    for row in rows:
        healthy = is_usable(row.slug) and row.slug not in taken
        is_healthy.append(healthy)
        if healthy:
            taken.add(row.slug)
    if all(is_healthy):
        return
    names = iter([_mint(row.slug, taken) if not healthy else row.slug
                  for row, healthy in zip(rows, is_healthy, strict=True)])  # fmt: skip
    registry.bundles = [bundle._replace(slug=next(names)) for bundle in registry.bundles]
    registry.groups = [group._replace(slug=next(names)) for group in registry.groups]
    registry.links = [link._replace(slug=next(names)) for link in registry.links]


def _mint(slug: str, taken: set[str]) -> str:
    minted = slugs.mint(slug, taken.__contains__)
    taken.add(minted)
    return minted


def is_usable(slug: str) -> bool:
    """True for a slug in normal form that is not reserved."""
    return bool(slug) and slug != slugs.RESERVED and slugs.normalize(slug) == slug


def dump(registry: Registry) -> bytes:
    """The file for a registry: all three keys, indented by two, a final line feed."""
    place = registry.place
    data: dict[str, Any] = {
        "bundles": [{"slug": bundle.slug, "path": _stored(bundle.path, place), "title": bundle.title, **bundle.extra}
                    for bundle in registry.bundles],
        "groups": [{"slug": group.slug, "members": list(group.members), **group.extra} for group in registry.groups],
        "links": [{"slug": link.slug, "registry": link.registry, **link.extra} for link in registry.links],
        **registry.extra,
    }  # fmt: skip
    for damaged in registry.damaged:
        data[damaged.section].append(damaged.row)
    text = json.dumps(data, ensure_ascii=False, indent=2) + "\n"
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:  # a path that is not UTF-8
        return (json.dumps(data, indent=2) + "\n").encode("ascii")


def _stored(path: str, place: Place) -> str:
    """A local registry travels with its project: what lies inside is written relative to it."""
    if place.base is None or not os.path.isabs(path):
        return path
    inside = os.path.relpath(path, place.base)
    return path if inside == ".." or inside.startswith("../") else inside


def slugs_of(rows: Iterable[Bundle | Group | Link]) -> set[str]:
    """The names of rows."""
    return {row.slug for row in rows}
