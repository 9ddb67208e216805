"""A registry together with what its links bring in: the names that answer."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple

from okf_catalog.format import slugs
from okf_catalog.registry.document import Link, Registry, slugs_of
from okf_catalog.registry.errors import RegistryError
from okf_catalog.registry.place import place_of
from okf_catalog.registry.store import load


class Ref(NamedTuple):
    """A registered bundle."""

    slug: str
    path: str
    title: str
    link: str | None = None
    """The link that brought it; None for one of the registry's own."""
    origin: str | None = None
    """What the linked file calls it, where that name was taken here."""

    @property
    def is_missing(self) -> bool:
        """True where the directory is gone."""
        return not os.path.isdir(self.path)


class RefGroup(NamedTuple):
    """A name for several bundles. The name of a link is one, of all that the link brought."""

    slug: str
    members: tuple[str, ...]
    link: str | None = None


class Linked(NamedTuple):
    """A link and what became of it."""

    slug: str
    file: str
    bundles: int
    is_missing: bool = False
    is_unreadable: bool = False


class GroupCycleError(RegistryError):
    """A group contains itself, which only a hand-edited file can say."""


class View:
    """Every name of a registry. Own bundles come first, then those of each link, in order.

    Only the global registry follows its links, and only one level deep: the links of a
    linked file are not read, so no chain and no cycle can arise between files.
    """

    def __init__(self, registry: Registry) -> None:
        self.file = registry.place.file
        self.bundles = [Ref(bundle.slug, bundle.path, bundle.title) for bundle in registry.bundles]
        self.groups = [RefGroup(group.slug, group.members) for group in registry.groups]
        self.links: list[Linked] = []
        taken = slugs_of(registry.bundles) | slugs_of(registry.groups) | slugs_of(registry.links)
        if not registry.place.is_local:
            for link in registry.links:
                self._follow(link, registry.target(link), taken)
        self._bundles: dict[str, Ref] = {bundle.slug: bundle for bundle in self.bundles}
        self._groups: dict[str, RefGroup] = {group.slug: group for group in self.groups}

    def _follow(self, link: Link, file: str, taken: set[str]) -> None:
        if not os.path.isfile(file):
            self.links.append(Linked(link.slug, file, 0, is_missing=True))
            return
        try:
            theirs = load(place_of(file))
        except RegistryError:
            self.links.append(Linked(link.slug, file, 0, is_unreadable=True))
            return
        # A name from a file that is not ours was never chosen here, so it gives way.
        names: dict[str, str] = {}
        for slug in [bundle.slug for bundle in theirs.bundles] + [group.slug for group in theirs.groups]:
            free = slugs.mint(slug if slug not in taken else f"{link.slug}-{slug}", taken.__contains__)
            names[slug] = free
            taken.add(free)
        brought = [
            Ref(names[row.slug], row.path, row.title, link.slug, row.slug if names[row.slug] != row.slug else None)
            for row in theirs.bundles
        ]
        self.bundles += brought
        self.groups.append(RefGroup(link.slug, tuple(bundle.slug for bundle in brought), link.slug))
        self.groups += [
            RefGroup(names[row.slug], tuple(names[member] for member in row.members if member in names), link.slug)
            for row in theirs.groups
        ]
        self.links.append(Linked(link.slug, file, len(brought)))

    def bundle(self, slug: str) -> Ref | None:
        """The bundle of that name."""
        return self._bundles.get(slug)

    def group(self, slug: str) -> RefGroup | None:
        """The group of that name."""
        return self._groups.get(slug)

    def named(self, slug: str) -> Ref | RefGroup | None:
        """The bundle or group of that name."""
        return self._bundles.get(slug) or self._groups.get(slug)

    def at(self, path: str) -> Ref | None:
        """The bundle registered for a directory, however the directory is spelled."""
        found = next((bundle for bundle in self.bundles if bundle.path == path), None)
        if found is None:
            real = os.path.realpath(path)
            found = next((bundle for bundle in self.bundles if os.path.realpath(bundle.path) == real), None)
        return found

    @property
    def default(self) -> Ref | None:
        """The first bundle whose directory exists, else the first."""
        return next((bundle for bundle in self.bundles if not bundle.is_missing), next(iter(self.bundles), None))

    def link_file(self, link: str) -> str:
        """The registry file that a link points to."""
        return next(linked.file for linked in self.links if linked.slug == link)

    def expand(self, group: RefGroup) -> list[Ref]:
        """The bundles of a group, depth first, each directory once. Raises `GroupCycleError`.

        Members that name nothing bring nothing.
        """
        found: list[Ref] = []
        self._collect(group, [], found, set())
        return distinct(found)

    def size(self, slug: str) -> int | None:
        """How many bundles a group leads to; None for a cycle."""
        try:
            return len(self.expand(self._groups[slug]))
        except GroupCycleError:
            return None

    def _collect(self, group: RefGroup, above: list[str], found: list[Ref], done: set[str]) -> None:
        if group.slug in above:
            chain = [*above[above.index(group.slug) :], group.slug]
            raise GroupCycleError(f"group cycle: {' → '.join(f'@{slug}' for slug in chain)}")
        if group.slug in done:
            return
        for member in group.members:
            row = self.named(member)
            if isinstance(row, RefGroup):
                self._collect(row, [*above, group.slug], found, done)
            elif row is not None:
                found.append(row)
        done.add(group.slug)


def distinct(refs: Iterable[Ref]) -> list[Ref]:
    """Each directory once, under the first name it comes with."""
    by_directory: dict[str, Ref] = {}
    for ref in refs:
        by_directory.setdefault(os.path.realpath(ref.path), ref)
    return list(by_directory.values())
