"""Is a catalog what a fresh one would be? Compares two files row by row, with paths in place of row ids."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from typing import NamedTuple

from okf_catalog.catalog import database
from okf_catalog.catalog.sync import Bundle, Clock, Options, sync

# What depends on when a sync ran and not on the files alone.
_HISTORY = {"first_seen", "last_seen", "created_at", "last_sync_id", "last_synced_at"}
_OF_BUNDLES = ("concepts", "parse_errors", "reserved_files", "file_links", "problems")
_OF_CONCEPTS = ("bodies", "tags", "sources", "verifications", "links", "footnotes", "computations", "extra_keys",
                "search_text")  # fmt: skip


class Difference(NamedTuple):
    """Rows of a table that only one of two catalogs has."""

    table: str
    missing: int
    """Rows that a fresh catalog has and this one has not."""
    extra: int
    example: str
    """Bundle and path of one of them."""


def differences(connection: sqlite3.Connection, fresh: str, names: list[str]) -> list[Difference]:
    """Compare the bundles `names` of an open catalog with those of the catalog file `fresh`."""
    connection.execute("attach ? as fresh", (fresh,))
    try:
        found = []
        for table in ("bundles", *_OF_BUNDLES, *_OF_CONCEPTS):
            ours, theirs = (_rows(connection, schema, table, names) for schema in ("main", "fresh"))
            missing = connection.execute(f"select * from ({theirs} except {ours})", (*names, *names)).fetchall()
            extra = connection.execute(f"select * from ({ours} except {theirs})", (*names, *names)).fetchall()
            if missing or extra:
                row = (missing or extra)[0]
                found.append(Difference(table, len(missing), len(extra), f"{row[0]}: {row[1]}"))
        everything = connection.execute("select count(*) from main.bundles").fetchone()[0] == len(names)
        if everything:
            found += _words(connection)
        return found
    finally:
        connection.execute("detach fresh")


def _rows(connection: sqlite3.Connection, schema: str, table: str, names: list[str]) -> str:
    """A query for all that a table says of some bundles; equal for equal bundles."""
    columns = [row[1] for row in connection.execute(f"pragma {schema}.table_info({table})")]
    marks = ", ".join("?" * len(names))
    if table == "bundles":
        kept = [name for name in columns if name not in _HISTORY]
        return f"select {', '.join(kept)} from {schema}.bundles where name in ({marks})"
    if table in _OF_BUNDLES:
        own = {"concept_id"} if table != "concepts" else set()
        kept = [f'"{name}"' for name in columns if name not in {"id", "bundle", "path", *own, *_HISTORY}]
        listed = ", ".join(["bundle", "path", *kept])
        return f"select {listed}, count(*) from {schema}.{table} where bundle in ({marks}) group by {listed}"
    kept = [f"x.{name}" for name in columns if name not in {"concept_id", "target_id"}]
    target = f"(select t.path from {schema}.concepts t where t.id = x.target_id)" if table == "links" else "null"
    listed = ", ".join(["c.bundle", "c.path", *kept, target])
    return f"select {listed} from {schema}.{table} x join {schema}.concepts c on c.id = x.concept_id where c.bundle in ({marks})"


def _words(connection: sqlite3.Connection) -> list[Difference]:
    """The index of words; the vocabulary may hold more, never less."""
    ours, theirs = (f"select term, doc, cnt from {schema}.concepts_fts_terms" for schema in ("main", "fresh"))
    missing = connection.execute(f"select * from ({theirs} except {ours})").fetchall()
    extra = connection.execute(f"select * from ({ours} except {theirs})").fetchall()
    found = []
    if missing or extra:
        found.append(Difference("concepts_fts", len(missing), len(extra), str((missing or extra)[0][0])))
    unknown = connection.execute("select term from fresh.terms except select term from main.terms").fetchall()
    if unknown:
        found.append(Difference("terms", len(unknown), 0, str(unknown[0][0])))
    return found


def fresh_build(path: str, known: list[Bundle], clock: Clock) -> None:
    """Write a new catalog of some bundles to `path`. Raises `CatalogError`."""
    connection = database.open_or_create(path)
    try:
        for bundle in known:
            sync(connection, path, bundle.root, clock=clock, name=bundle.name,
                 options=Options(include_hidden=bool(bundle.include_hidden) or None))  # fmt: skip
    finally:
        connection.close()


def with_fresh_build(connection: sqlite3.Connection, path: str, known: list[Bundle], clock: Clock) -> list[Difference]:
    """Compare bundles of the catalog at `path` with a fresh build of them, made and removed beside it."""
    with tempfile.TemporaryDirectory(prefix=".okf-doctor-", dir=os.path.dirname(os.path.abspath(path))) as place:
        fresh = os.path.join(place, database.FILE_NAME)
        fresh_build(fresh, known, clock)
        return differences(connection, fresh, [bundle.name for bundle in known])
