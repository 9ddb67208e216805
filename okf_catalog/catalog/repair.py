"""Make a catalog sound again. Everything in it but its history is derived, so it can be made anew."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterable
from contextlib import suppress

from okf_catalog import trace
from okf_catalog.catalog import compare, database, lock
from okf_catalog.catalog.doctor import Finding, signed_paths
from okf_catalog.catalog.sync import Bundle, Clock, bundles, sync
from okf_catalog.errors import BundleError, CatalogError

DAMAGED = ".damaged"
"""Ends the name of a file that was replaced; it is never deleted."""
_OF_CONCEPTS = ("bodies", "tags", "sources", "verifications", "links", "footnotes", "computations", "extra_keys",
                "search_text")  # fmt: skip
_OF_BUNDLES = ("bundle_roots", "concepts", "file_links", "parse_errors", "problems", "reserved_files", "directories",
               "sync_runs", "changes")  # fmt: skip


def repair(connection: sqlite3.Connection, path: str, findings: Iterable[Finding], *, clock: Clock, wait: float) -> list[str]:
    """Mend what `findings` name, cheapest first; what was done, in words.

    Where the file itself is damaged it is replaced, and the caller has to open it again.
    Raises `CatalogError` where that cannot be done.
    """
    kinds = {finding.repair: finding for finding in findings if finding.repair}
    wanted = [finding for finding in findings if finding.repair == "reread"]
    done: list[str] = []
    if "note" in kinds:
        lock.clear(path)
        done.append("removed the note of a process that is gone")
    if "rebuild" in kinds:
        return [*done, *_rebuild(connection, path, clock)]
    names = sorted({name for finding in wanted for name in finding.bundles})
    try:
        if kinds.keys() & {"reindex", "index", "orphans", "reread"}:
            with database.transaction(connection, path, wait=wait):
                if "reindex" in kinds:
                    connection.execute("reindex")
                    done.append("made the indexes of the tables anew")
                if "orphans" in kinds:
                    done.append(f"removed {_orphans(connection)} rows without a parent")
                for name in names:
                    _unsettle(connection, name)
                # Whatever else was wrong, the index has to follow it.
                database.rebuild_index(connection)
                done.append("made the search index anew")
        done += _reread(connection, path, names, clock, wait)
        if names:
            # What was read again was taken out of an index that may not have held it.
            with database.transaction(connection, path, wait=wait):
                database.rebuild_index(connection)
    except CatalogError as problem:
        if not isinstance(problem.__cause__, sqlite3.DatabaseError) or isinstance(problem.__cause__, sqlite3.OperationalError):
            raise
        trace.info("mending failed (%s); building anew", problem)
        return [*done, *_rebuild(connection, path, clock)]
    return done


def _orphans(connection: sqlite3.Connection) -> int:
    before = connection.total_changes
    for table in _OF_BUNDLES:
        connection.execute(f"delete from {table} where bundle not in (select name from bundles)")
    connection.execute("delete from bundles where name not in (select bundle from bundle_roots)")
    for table in _OF_CONCEPTS:
        connection.execute(f"delete from {table} where concept_id not in (select id from concepts)")
    connection.execute("delete from problems where concept_id is not null and concept_id not in (select id from concepts)")
    connection.execute("delete from changes where sync_id not in (select id from sync_runs)")
    return connection.total_changes - before


def _unsettle(connection: sqlite3.Connection, bundle: str) -> None:
    """Make the next sync of a bundle read and write every file, and drop rows of files that it would not look for."""
    try:
        signed = signed_paths(connection, bundle)
    except (ValueError, UnicodeDecodeError):
        connection.execute("delete from directories where bundle = ?", (bundle,))
        signed = set()
    ghosts = [(bundle, path) for (path,) in connection.execute("select path from files where bundle = ?", (bundle,)) if path not in signed]
    if signed:
        for table in ("concepts", "parse_errors", "reserved_files", "file_links", "problems"):
            connection.executemany(f"delete from {table} where bundle = ? and path = ?", ghosts)
    for table in ("parse_errors", "reserved_files"):
        connection.execute(
            f"delete from {table} where bundle = ?1 and path in (select path from concepts where bundle = ?1)", (bundle,)
        )
    connection.execute("delete from reserved_files where bundle = ?1 and path in (select path from parse_errors where bundle = ?1)", (bundle,))
    connection.execute("update parse_errors set concept_id = null where bundle = ? and concept_id in (select id from concepts)", (bundle,))
    # A concept without these cannot be compared with what is read; its row alone says enough to keep its id.
    for table, columns in (("bodies", "''"), ("search_text", "'', '', '', '', '', '', ''")):
        connection.execute(
            f"insert into {table} select id, {columns} from concepts where bundle = ? and id not in (select concept_id from {table})",
            (bundle,),
        )
    connection.execute(
        "update concepts set frontmatter = '{}' where bundle = ? and not json_valid(frontmatter)", (bundle,)
    )
    connection.execute("update bundles set extraction_version = null where name = ?", (bundle,))


def _reread(connection: sqlite3.Connection, path: str, names: list[str], clock: Clock, wait: float) -> list[str]:
    from okf_catalog.catalog.sync import Options

    done = []
    for known in bundles(connection):
        if known.name not in names:
            continue
        try:
            sync(connection, path, known.root, clock=clock, options=Options(wait=wait, allow_removals=True))
        except BundleError as problem:
            done.append(f"{known.name} is read again by the next sync that can: {problem}")
        else:
            done.append(f"read every file of {known.name} again")
    return done


def _rebuild(connection: sqlite3.Connection, path: str, clock: Clock) -> list[str]:
    """Build the catalog anew from its bundles and put the damaged file aside."""
    try:
        known = bundles(connection)
    except sqlite3.DatabaseError as problem:
        raise CatalogError(f"{path} is damaged where it says which bundles it holds ({problem}); move it away and sync them again") from None
    missing = [bundle for bundle in known if not os.path.isdir(bundle.root)]
    if missing:
        raise CatalogError(
            f"{path} has to be built anew, but {', '.join(bundle.root for bundle in missing)} is not there; "
            "bring it back, or forget the bundle"
        )
    aside = _unused(path + DAMAGED)
    with tempfile.TemporaryDirectory(prefix=".okf-doctor-", dir=os.path.dirname(os.path.abspath(path))) as place, lock.in_process:
        fresh = os.path.join(place, database.FILE_NAME)
        compare.fresh_build(fresh, known, clock)
        with suppress(sqlite3.DatabaseError):
            connection.execute("pragma wal_checkpoint(truncate)")
        connection.close()
        for suffix in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                os.rename(path + suffix, aside + suffix)
        os.rename(fresh, path)
    return [f"built the catalog anew from {_bundles(known)}; row ids and the history are new", f"kept the damaged file as {aside}"]


def _bundles(known: list[Bundle]) -> str:
    return f"{len(known)} bundle{'s' * (len(known) != 1)}"


def _unused(name: str) -> str:
    candidate, number = name, 1
    while os.path.lexists(candidate):
        number += 1
        candidate = f"{name}-{number}"
    return candidate
