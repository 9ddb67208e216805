"""Answers rest on the files as they are now: refresh a known bundle, read an unknown one into memory."""

from __future__ import annotations

import os
import sqlite3
from typing import NamedTuple

from okf_catalog.bundle import Unreadable, check_name
from okf_catalog.catalog import database
from okf_catalog.catalog.sync import Bundle, Clock, Options, bundle_at, bundle_named, bundles, sync
from okf_catalog.errors import BundleError, CatalogError, UsageError

_REFRESH_WAIT = 2.0
"""Seconds that a question waits for a sync that is running."""


class View(NamedTuple):
    """A bundle, ready to be asked."""

    connection: sqlite3.Connection
    bundle: Bundle
    is_known: bool
    """False for a directory that was read into memory for this one run."""
    notes: list[str]
    """Remarks for the user, without the leading `note:`."""


def view_directory(root: str, path: str, *, clock: Clock, refresh: bool = True) -> View:
    """Open the bundle in a directory: from the catalog at `path` where it knows it, else in memory.

    Raises `BundleError` where `root` is no directory.
    """
    if not os.path.isdir(root):
        raise BundleError(f"{root} is not a directory" if os.path.exists(root) else f"{root} does not exist")
    check_name(root)
    if database.exists(path):
        connection = database.open_existing(path)
        with database.reported(path):
            known = bundle_at(connection, root)
        if known is not None:
            return _refreshed(connection, path, known, clock, refresh=refresh)
        connection.close()
    connection = database.memory()
    report = sync(connection, ":memory:", root, clock=clock)
    known = bundle_named(connection, report.bundle)
    assert known is not None  # noqa: S101  # it was just written
    return View(connection, known, False, _unreadable_notes(report.unreadable))


def view_bundle(name: str, path: str, *, clock: Clock, refresh: bool = True) -> View:
    """Open a bundle by its name in the catalog. Raises `UsageError` where there is none."""
    connection = database.open_existing(path)
    with database.reported(path):
        known = bundle_named(connection, name)
        if known is None:
            names = ", ".join(bundle.name for bundle in bundles(connection)) or "none"
            raise UsageError(f"the catalog has no bundle named {name} (it has: {names})")
    return _refreshed(connection, path, known, clock, refresh=refresh)


def _refreshed(connection: sqlite3.Connection, path: str, known: Bundle, clock: Clock, *, refresh: bool) -> View:
    if not refresh:
        return View(connection, known, True, [])
    notes = refresh_bundle(connection, path, known, clock)
    return View(connection, bundle_named(connection, known.name) or known, True, notes)


def refresh_bundle(connection: sqlite3.Connection, path: str, known: Bundle, clock: Clock) -> list[str]:
    """Sync a known bundle before it is asked; where that fails, say so and leave the state it has."""
    try:
        report = sync(connection, path, known.root, clock=clock, options=Options(wait=_REFRESH_WAIT))
    except CatalogError as problem:
        row = connection.execute("select last_synced_at from bundles where name = ?", (known.name,)).fetchone()
        return [f"{known.name} is answered as of {row[0] if row else 'its last sync'}: {problem}"]
    return _unreadable_notes(report.unreadable)


def _unreadable_notes(unreadable: list[Unreadable]) -> list[str]:
    return [f"cannot list {item.path}: {item.reason}" for item in unreadable]
