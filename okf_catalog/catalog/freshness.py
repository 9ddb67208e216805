"""Answers rest on the files as they are now: refresh a known bundle, read an unknown one into memory."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime, timedelta
from typing import NamedTuple

from okf_catalog import trace
from okf_catalog.bundle import Unreadable, check_name
from okf_catalog.catalog import database
from okf_catalog.catalog.names import HIDDEN_ROOT
from okf_catalog.catalog.sync import Bundle, Clock, Options, bundle_at, bundle_named, bundles, sync
from okf_catalog.errors import BundleError, CatalogError, StaleError, UsageError
from okf_catalog.format.values import utc_text

_REFRESH_WAIT = 2.0
"""Seconds that a question waits for a sync that is running."""


AUTO, NEVER, REQUIRE = "auto", "never", "require"
POLICIES = (AUTO, NEVER, REQUIRE)
"""Refresh and go on where that fails; answer from the catalog as it is; refresh or fail."""


class Rest(NamedTuple):
    """A bundle that an answer rests on."""

    bundle: str
    root: str
    synced_at: str | None
    """The files are answered for as they were then, UTC."""
    is_fresh: bool
    """They were looked at for this answer."""


class Asking:
    """One question: how fresh its answer has to be, and what it turned out to rest on."""

    def __init__(self, policy: str) -> None:
        self.policy = policy
        self.rests: dict[str, Rest] = {}
        """By root."""


_asking: ContextVar[Asking | None] = ContextVar("okf_catalog_asking", default=None)


@contextmanager
def asking(policy: str = AUTO) -> Iterator[Asking]:
    """Inside the block questions refresh by `policy`, and note what they rest on."""
    question = Asking(policy)
    token = _asking.set(question)
    try:
        yield question
    finally:
        _asking.reset(token)


def policy() -> str:
    """How fresh the answers to the questions of now have to be, one of `POLICIES`."""
    question = _asking.get()
    return question.policy if question is not None else AUTO


def _note_rest(rest: Rest) -> None:
    question = _asking.get()
    if question is not None:
        question.rests[rest.root] = rest
    trace.debug("%s is answered as of %s", rest.bundle, rest.synced_at)


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
    started = clock()
    report = sync(connection, database.MEMORY, root, clock=clock)
    _note_rest(Rest(report.bundle, os.path.abspath(root), utc_text(started), True))
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
    notes = refresh_bundle(connection, path, known, clock, refresh=refresh)
    return View(connection, (bundle_named(connection, known.name) or known) if refresh else known, True, notes)


def refresh_bundle(
    connection: sqlite3.Connection, path: str, known: Bundle, clock: Clock, *, refresh: bool = True
) -> list[str]:
    """Sync a known bundle before it is asked; where that fails, say so and leave the state it has.

    Raises `StaleError` where the answer is required to be fresh (see `asking`).
    """
    wanted = policy()
    started = clock()
    if not refresh or wanted == NEVER:
        _note_rest(Rest(known.name, known.root, _synced_at(connection, known), False))
        return []
    if known.root.startswith(HIDDEN_ROOT):
        since = _synced_at(connection, known)
        if wanted == REQUIRE:
            raise StaleError(f"{path} is a published copy, as of {since}")
        _note_rest(Rest(known.name, known.root, since, False))
        return [f"{known.name} is answered from a published copy, as of {since}"]
    try:
        report = sync(connection, path, known.root, clock=clock, options=Options(wait=_REFRESH_WAIT))
    except CatalogError as problem:
        since = _synced_at(connection, known)
        if wanted == REQUIRE:
            raise StaleError(f"{known.name} could only be answered as of {since or 'its last sync'}: {problem}") from None
        _note_rest(Rest(known.name, known.root, since, False))
        return [f"{known.name} is answered as of {since or 'its last sync'}: {problem}"]
    notes = _unreadable_notes(report.unreadable)
    if notes and wanted == REQUIRE:
        raise StaleError(f"{known.name} could only be answered in part: {notes[0]}")
    _note_rest(Rest(known.name, known.root, utc_text(started), not notes))
    return notes


def _synced_at(connection: sqlite3.Connection, known: Bundle) -> str | None:
    row = connection.execute("select last_synced_at from bundles where name = ?", (known.name,)).fetchone()
    return row[0] if row else None


def age_of(synced_at: str | None, now: datetime) -> float | None:
    """Seconds between a stored moment and `now`; None where there is none."""
    if synced_at is None:
        return None
    try:
        return (now - datetime.fromisoformat(synced_at.replace("Z", "+00:00"))).total_seconds()
    except ValueError:
        return None


def is_recent(connection: sqlite3.Connection, known: Bundle, now: datetime, limit: timedelta) -> float | None:
    """Seconds since the last sync of a bundle where that is less than `limit`, else None.

    A moment in the future (the clock went back) says nothing.
    """
    age = age_of(_synced_at(connection, known), now)
    if age is None or known.extraction_version != database.EXTRACTION_VERSION:
        return None
    return age if 0 <= age < limit.total_seconds() else None


def _unreadable_notes(unreadable: list[Unreadable]) -> list[str]:
    return [f"cannot list {item.path}: {item.reason}" for item in unreadable]
