"""Copy bundles and groups out of one registry into another, all of them or none."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from okf_catalog.format import slugs
from okf_catalog.registry.document import Bundle, Group, Registry
from okf_catalog.registry.edit import chosen, names_of
from okf_catalog.registry.errors import RegistryError, UnknownRefError
from okf_catalog.registry.view import GroupCycleError, Ref, RefGroup, View


class Imported(NamedTuple):
    """What was copied, in the order of the request."""

    bundles: list[Bundle]
    groups: list[Group]


class _Plan:
    """What a request comes to, gathered from the source before anything is judged or changed."""

    def __init__(self, source: View) -> None:
        self.source = source
        self.bundles: dict[str, Ref] = {}
        self.groups: dict[str, RefGroup] = {}
        self.reason: dict[str, str] = {}
        """Slug of what nobody named to the group that brings it."""

    def add(self, row: Ref | RefGroup, by: str | None = None) -> None:
        """Take in a row with everything it reaches; members that name nothing are left behind."""
        if row.slug in self.bundles or row.slug in self.groups:
            return
        if by is not None:
            self.reason[row.slug] = by
        if isinstance(row, Ref):
            self.bundles[row.slug] = row
            return
        members = [member for member in map(self.source.named, row.members) if member is not None]
        # A dangling name must not be copied: over there it might mean another bundle.
        self.groups[row.slug] = row._replace(members=tuple(member.slug for member in members))
        for member in members:
            self.add(member, row.slug)

    def called(self, slug: str) -> str:
        """The row in words, with the group that brings it."""
        by = self.reason.get(slug)
        return f"@{slug}, a member of @{by}" if by else f"@{slug}"


def import_rows(registry: Registry, source: View, names: Sequence[str], *, name: str | None = None) -> Imported:
    """Copy what `names` name in `source`, under its own slugs or, for a single one, as `name`.

    A group brings all it reaches. Everything is checked before anything is changed. Raises
    `RegistryError`, `UnknownRefError`, `GroupCycleError`.
    """
    if name is not None and len(names) > 1:
        raise RegistryError(f"--as names one bundle or group, and {len(names)} were asked for")
    plan = _Plan(source)
    asked = [_find(source, wanted) for wanted in names]
    for row in asked:
        _check_group(source, row)
        plan.add(row)
    view = View(registry)
    new_name = chosen(registry, view, name) if name is not None else None
    renamed = {asked[0].slug: new_name} if new_name else {}
    _check(registry, view, plan, renamed)
    imported = Imported(
        [
            Bundle(renamed.get(ref.slug, ref.slug), os.path.abspath(ref.path), ref.title)
            for ref in plan.bundles.values()
        ],
        [Group(renamed.get(group.slug, group.slug), group.members) for group in plan.groups.values()],
    )
    registry.bundles += imported.bundles
    registry.groups += imported.groups
    return imported


def _find(source: View, wanted: str) -> Ref | RefGroup:
    row = source.default if wanted == "@" else source.named(slugs.normalize(wanted))
    if row is None:
        raise UnknownRefError(f"no bundle or group in {source.file} is called @{wanted.removeprefix('@')}")
    return row


def _check_group(source: View, row: Ref | RefGroup) -> None:
    if isinstance(row, Ref):
        return
    try:
        if not source.expand(row):
            raise RegistryError(f"@{row.slug} leads to nothing in {source.file}: its members are gone")
    except GroupCycleError as problem:
        raise GroupCycleError(f"{problem} in {source.file} (repair that file first)") from None


def _check(registry: Registry, view: View, plan: _Plan, renamed: dict[str, str]) -> None:
    for slug, ref in plan.bundles.items():
        if ref.is_missing:
            raise RegistryError(
                f"cannot import {plan.called(slug)}: {ref.path} is not a directory "
                f"(restore it, or drop that entry from {plan.source.file})"
            )
        known = view.at(ref.path)
        if known is not None:
            raise RegistryError(
                f"cannot import {plan.called(slug)}: {ref.path} is registered here already, as {known.slug} "
                "(remove that entry first, or leave this one out)"
            )
    taken = names_of(registry, view)
    for slug in (*plan.bundles, *plan.groups):
        if slug not in renamed and (slug in taken or slug in renamed.values()):
            raise RegistryError(
                f"cannot import {plan.called(slug)}: {slug} is taken "
                "(rename or remove that entry first, or import it under another name with --as)"
            )
