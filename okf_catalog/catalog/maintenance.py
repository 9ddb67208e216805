"""Upkeep of the catalog file: forget a bundle, make the file compact, copy it for publishing."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from okf_catalog import trace
from okf_catalog.catalog import database
from okf_catalog.catalog.names import HIDDEN_ROOT
from okf_catalog.catalog.sync import Bundle
from okf_catalog.errors import BusyError, DatabaseError, UsageError

_REBUILD_SHARE = 2
"""From one in so many concepts on, making the index anew is cheaper than taking them out of it."""
_FIELDS = "title, id, tags, type, description, sources, body"

_CHECKPOINT_MS = 1000
"""How long readers of an older state are waited for."""

OnWait = Callable[[], None]


class Compaction(NamedTuple):
    """Bytes of the catalog (its WAL among them) before and after."""

    before: int
    after: int
    runs_dropped: int
    """Old entries of the history that were taken out."""


def file_size(path: str) -> int:
    """Bytes of the catalog with what its WAL holds."""
    total = 0
    for name in (path, path + "-wal"):
        with suppress(OSError):
            total += os.path.getsize(name)
    return total


def forget(
    connection: sqlite3.Connection, path: str, known: Bundle, *, wait: float, on_wait: OnWait | None = None
) -> int:
    """Take a bundle out of the catalog, its words out of the index; the number of its concepts.

    The files of the bundle are not touched. Raises `BusyError`, `DatabaseError`.
    """
    with database.transaction(connection, path, wait=wait, on_wait=on_wait):
        mine = "select id from concepts where bundle = ?"
        count: int = connection.execute(f"select count(*) from ({mine})", (known.name,)).fetchone()[0]
        total: int = connection.execute("select count(*) from concepts").fetchone()[0]
        anew = count * _REBUILD_SHARE >= total or bool(database.missing_index_tables(connection))
        if not anew:
            row_ids = connection.execute(mine, (known.name,)).fetchall()
            # One statement a row: FTS5 would write out its memory for each `insert … select`.
            connection.executemany(
                f"insert into concepts_fts (concepts_fts, rowid, {_FIELDS}) values ('delete', ?, ?, ?, ?, ?, ?, ?, ?)",
                (row for row_id in row_ids
                 for row in connection.execute(f"select concept_id, {_FIELDS} from search_text where concept_id = ?", row_id)),
            )  # fmt: skip
        connection.execute("delete from concepts where bundle = ?", (known.name,))
        connection.execute("delete from bundles where name = ?", (known.name,))
        if anew:
            database.rebuild_index(connection)
        else:
            # A word that only this bundle used would tell of it, in a published copy too.
            connection.execute("insert into concepts_fts (concepts_fts) values ('optimize')")
            connection.execute("delete from terms where term not in (select term from concepts_fts_terms)")
            connection.execute("insert into terms_trigram (terms_trigram) values ('rebuild')")
    trace.info("forgot %s: %d concepts", known.name, count)
    return count


def compact(
    connection: sqlite3.Connection, path: str, *, wait: float, on_wait: OnWait | None = None, before: str | None = None
) -> Compaction:
    """Merge the index, drop free pages, fold the WAL into the file.

    `before` (`YYYY-MM-DDTHH:MM:SSZ`) also drops the history of syncs that ended earlier, but
    for the last one of each bundle. Needs room for the file once more. Raises `BusyError`,
    `DatabaseError`.
    """
    size = file_size(path)
    dropped = 0
    with database.transaction(connection, path, wait=wait, on_wait=on_wait):
        if before is not None:
            cursor = connection.execute(
                "delete from sync_runs where finished_at < ? "
                "and id not in (select last_sync_id from bundles where last_sync_id is not null)",
                (before,),
            )
            dropped = cursor.rowcount
        for table in ("concepts_fts", "terms_trigram"):
            connection.execute(f"insert into {table} ({table}) values ('optimize')")
    with database.reported(path):
        connection.execute("pragma optimize")
        try:
            connection.execute("vacuum")
        except sqlite3.OperationalError as problem:
            if "locked" in str(problem):
                raise BusyError(f"{path} is in use by another process; try again") from None
            raise
        # Writers have to wait while this waits for readers: better that the log stays a while.
        connection.execute(f"pragma busy_timeout = {_CHECKPOINT_MS}")
        connection.execute("pragma wal_checkpoint(truncate)")
    trace.info("compacted %s: %d to %d bytes", path, size, file_size(path))
    return Compaction(size, file_size(path), dropped)


def snapshot(connection: sqlite3.Connection, path: str, target: str, *, replace: bool, keep_roots: bool) -> int:
    """Write a consistent copy of the catalog to `target`; its size in bytes.

    The copy has no WAL, so that it can be served with `datasette -i` and from a directory
    that cannot be written. Where bundles lie on this machine is left out unless
    `keep_roots`. The target appears complete or not at all. Raises `UsageError`,
    `DatabaseError`.
    """
    place = os.path.realpath(target)  # a link stays one: the file it leads to is replaced
    directory = os.path.dirname(place)
    if os.path.lexists(target):
        if os.path.isdir(target):
            raise UsageError(f"{target} is a directory; name a file in it")
        if os.path.exists(place) and os.path.samefile(place, path):
            raise UsageError(f"{target} is the catalog itself; name another file")
        if os.path.exists(place) and not os.path.isfile(place):
            raise UsageError(f"{target} is a device or a pipe; name a file")
        if not replace:
            raise UsageError(f"{target} exists; --force replaces it")
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=f".{os.path.basename(place)}.", dir=directory)
    except OSError as problem:
        raise DatabaseError(f"cannot write {target}: {problem.strerror}") from None
    os.close(descriptor)
    try:
        with database.reported(target):
            connection.execute("vacuum into ?", (temporary,))
            _publish(temporary, keep_roots=keep_roots)
        os.chmod(temporary, 0o666 & ~_umask())
        _sync_to_disk(temporary)
        os.replace(temporary, place)
    except OSError as problem:
        raise DatabaseError(f"cannot write {target}: {problem.strerror}") from None
    finally:
        for leftover in (temporary, temporary + "-journal", temporary + "-wal", temporary + "-shm"):
            with suppress(OSError):
                os.unlink(leftover)
    return os.path.getsize(target)


def _publish(copy: str, *, keep_roots: bool) -> None:
    connection = sqlite3.connect(copy, isolation_level=None)
    try:
        connection.execute("pragma journal_mode = delete").fetchone()
        if not keep_roots:
            connection.execute("pragma secure_delete = on")  # nothing of the old value stays in the page
            connection.execute("update bundle_roots set root = ? || bundle", (HIDDEN_ROOT,))
    finally:
        connection.close()


def _umask() -> int:
    current = os.umask(0o077)
    os.umask(current)
    return current


def _sync_to_disk(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
