"""From `@slug`, `@`, `@group` and `@all` to bundles, for every verb that takes one.

A verb that answers about one bundle calls `resolve_one`, a verb that merges several calls
`resolve_many`. Both read the registry only when they are called, that is, when a
reference was given; a plain directory costs nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple

from okf_catalog.format import slugs
from okf_catalog.registry.errors import RegistryError, UnknownRefError
from okf_catalog.registry.place import active_place
from okf_catalog.registry.store import load
from okf_catalog.registry.view import Ref, RefGroup, View, distinct


class Resolution(NamedTuple):
    """The bundles that references came to, each directory once, in the order they were asked for."""

    refs: list[Ref]
    notes: list[str]
    """Remarks for the user, without the leading `note:`."""


def is_ref(argument: str) -> bool:
    """True for an argument that means the registry; a directory of such a name is `./@name`."""
    return argument.startswith("@")


def open_view(cwd: str | None = None) -> View:
    """The names of the registry in force in `cwd`. Raises `RegistryError`, `MalformedError`."""
    return View(load(active_place(cwd)))


def resolve_one(ref: str, *, cwd: str | None = None) -> Ref:
    """The one bundle that `@slug` or `@` names; its directory exists.

    Raises `UnknownRefError` where nothing has the name, `RegistryError` for a group, for
    `@all` and for a bundle whose directory is gone, `MalformedError`.
    """
    # Refused before the registry is read: what a command does must not depend on how many it holds.
    _refuse_all(ref)
    return one_in(open_view(cwd), ref)


def one_in(view: View, ref: str) -> Ref:
    """As `resolve_one`, in a registry that is already open."""
    _refuse_all(ref)
    slug = slugs.normalize(ref)
    row = _lookup(view, ref, slug)
    if isinstance(row, RefGroup):
        raise RegistryError(
            f"@{row.slug} is a group of {_members(len(row.members))}, and this command answers about one bundle"
        )
    return _present(row, ref)


def resolve_many(references: Iterable[str], *, cwd: str | None = None) -> Resolution:
    """The bundles that references name together, groups and `@all` among them.

    Who asks for a set gets what is there of it: a member whose directory is gone is left
    out with a note. Who names a bundle gets that bundle or an error. Raises as
    `resolve_one`, `GroupCycleError`, and `RegistryError` where nothing of a set is left.
    """
    view = open_view(cwd)
    found: list[Ref] = []
    notes: list[str] = []
    for ref in references:
        slug = slugs.normalize(ref)
        if slug == slugs.RESERVED:
            if not view.bundles:
                raise RegistryError(f"no bundle is registered in {view.file} (okf-catalog registry set DIR)")
            found += _readable(view.bundles, notes, "every registered bundle is gone from the disk")
            continue
        row = _lookup(view, ref, slug)
        if isinstance(row, RefGroup):
            found += _readable(view.expand(row), notes, f"@{row.slug} leads to no bundle that can be read")
        else:
            found.append(_present(row, ref))
    return Resolution(distinct(found), list(dict.fromkeys(notes)))


def _refuse_all(ref: str) -> None:
    if slugs.normalize(ref) == slugs.RESERVED:
        raise RegistryError("@all names every registered bundle, and this command answers about one")


def _lookup(view: View, ref: str, slug: str) -> Ref | RefGroup:
    if ref == "@":
        if view.default is None:
            raise UnknownRefError(f"@ is the default bundle, and {view.file} has none (okf-catalog registry set DIR)")
        return view.default
    row = view.named(slug) if slug else None
    if row is None:
        advice = "okf-catalog registry list" if view.bundles or view.groups else "okf-catalog registry set DIR"
        raise UnknownRefError(f"{ref} is not a registered bundle in {view.file} ({advice})")
    return row


def _present(row: Ref, ref: str) -> Ref:
    if row.is_missing:
        advice = f"registry unlink {row.link}" if row.link else f"registry del {row.slug}"
        raise RegistryError(
            f"{ref} stands for {row.path}, which is not a directory (restore it, or okf-catalog {advice})"
        )
    return row._replace(path=os.path.abspath(row.path))


def _readable(refs: list[Ref], notes: list[str], nothing_left: str) -> list[Ref]:
    there = [ref._replace(path=os.path.abspath(ref.path)) for ref in refs if not ref.is_missing]
    if not there:
        raise RegistryError(f"{nothing_left} (okf-catalog registry list)")
    notes += [f"left out {ref.slug}: cannot read {ref.path}" for ref in refs if ref.is_missing]
    return there


def _members(count: int) -> str:
    return "1 member" if count == 1 else f"{count} members"
