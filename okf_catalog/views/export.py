"""The catalog's content as tables that hang on nothing but the content: no row ids, no moments of syncs.

Concepts are named by bundle and path wherever the catalog has row ids, and rows come by path and position.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

TEXT, INTEGER, FLAG, JSON = "text", "integer", "flag", "json"


class Column(NamedTuple):
    """A column of an exported table."""

    name: str
    kind: str
    """`text`, `integer`, `flag` (0, 1) or `json` (text that is valid JSON)."""
    sql: str


class Table(NamedTuple):
    """An exported table."""

    columns: tuple[Column, ...]
    source: str
    """`from … where … order by …`; ?1 is the bundle, ?2 the moment of judgement."""
    key: tuple[str, ...] = ()
    """Columns that no two rows have in common."""


def _columns(alias: str, names: str, kind: str = TEXT) -> tuple[Column, ...]:
    return tuple(Column(name, kind, f'{alias}."{name}"') for name in names.split())


_NAMED = (Column("bundle", TEXT, "c.bundle"), Column("path", TEXT, "c.path"))
_POSITION = ("bundle", "path", "position")


def _part(table: str, columns: tuple[Column, ...], order: str = "p.position", key: tuple[str, ...] = _POSITION) -> Table:
    """A table of which a concept has any number of rows."""
    # `cross join` keeps SQLite from beginning with the parts and sorting them all.
    source = f"from concepts c cross join {table} p on p.concept_id = c.id where c.bundle = ?1 order by c.path, {order}"
    return Table((*_NAMED, *columns), source, key)


def _files(table: str, columns: tuple[Column, ...], order: str = "c.path", key: tuple[str, ...] = ("bundle", "path")) -> Table:
    return Table((*_NAMED, *columns), f"from {table} c where c.bundle = ?1 order by {order}", key)


_C = "c"
_POS = _columns("p", "position", INTEGER)
IS_STALE = Column("is_stale", FLAG, "coalesce(c.stale_after_utc <= ?2, 0)")
"""Only with a moment of judgement: by the clock, the same content would give other rows tomorrow."""
TABLES: dict[str, Table] = {
    "catalog": _files("concepts", (
        Column("title", TEXT, "coalesce(c.title, c.stem)"), *_columns(_C, "type effective_status trust_tier trust_current"),
        *_columns(_C, "tags", JSON), *_columns(_C, "description stale_after stale_after_utc generated_by generated_at verified_at"),
        Column("sources", INTEGER, "c.source_count"),
        Column("links_out", INTEGER, "(select count(*) from links l where l.concept_id = c.id and l.target_id is not null)"),
        Column("links_in", INTEGER, "(select count(*) from links l where l.target_id = c.id)"),
        *_columns(_C, "resource runtime concept_id dir top_dir"),
    )),
    "bundles": Table((
        Column("bundle", TEXT, "c.name"), *_columns(_C, "title okf_version"),
        *_columns(_C, "concept_count parse_error_count reserved_count", INTEGER),
    ), "from bundles c where c.name = ?1", ("bundle",)),
    "concepts": _files("concepts", (
        *_columns(_C, "concept_id dir top_dir stem type title description"), *_columns(_C, "tags", JSON),
        *_columns(_C, "status effective_status trust_tier trust_current verified_at generated_by generated_at generated_at_utc "
                      "stale_after stale_after_utc resource runtime"),
        *_columns(_C, "source_count", INTEGER), *_columns(_C, "frontmatter", JSON), *_columns(_C, "content_hash"),
        *_columns(_C, "size", INTEGER),
    )),
    "bodies": _part("bodies", _columns("p", "body"), "1", ("bundle", "path")),
    "tags": _part("tags", (*_POS, *_columns("p", "tag folded"))),
    "sources": _part("sources", (
        *_POS, *_columns("p", "source_id resource title author"), *_columns("p", "usage_count", INTEGER),
        *_columns("p", "last_modified last_modified_utc window_from window_to"), *_columns("p", "legacy", FLAG),
    )),
    "verifications": _part("verifications", (*_POS, *_columns("p", "by actor_kind at at_utc"), *_columns("p", "is_current", FLAG))),
    "links": _part("links", (
        *_POS, *_columns("p", "kind target target_path"), Column("is_resolved", FLAG, "p.target_id is not null"),
        *_columns("p", "text"), *_columns("p", "line", INTEGER),
    )),
    "footnotes": _part("footnotes", (
        *_columns("p", "label"), *_columns("p", "source_position", INTEGER), *_columns("p", "is_defined", FLAG),
        *_columns("p", "line", INTEGER),
    ), "p.label", ("bundle", "path", "label")),
    "computations": _part("computations", (
        *_columns("p", "runtime computation code language"), *_columns("p", "parameters", JSON), *_columns("p", "executor"),
        *_columns("p", "executor_receipt", JSON), *_columns("p", "attester"),
    ), "1", ("bundle", "path")),
    "extra_keys": _part("extra_keys", (*_columns("p", "key"), *_columns("p", "value", JSON)), "p.key", ("bundle", "path", "key")),
    "problems": _files("problems", (
        *_columns(_C, "level check_id source message"), *_columns(_C, "line", INTEGER),
    ), "c.path, c.line, c.check_id, c.message", ()),
    "parse_errors": _files("parse_errors", (
        *_columns(_C, "code message advice"), *_columns(_C, "line column", INTEGER), *_columns(_C, "excerpt text content_hash"),
    )),
    "reserved_files": _files("reserved_files", _columns(_C, "kind text content_hash")),
    "file_links": _files("file_links", (
        *_columns(_C, "position", INTEGER), *_columns(_C, "kind target target_path"), *_columns(_C, "line", INTEGER),
    ), "c.path, c.position", _POSITION),
}  # fmt: skip


def columns(table: str, *, judged: bool = False) -> tuple[Column, ...]:
    """The columns of a table; `judged` adds `is_stale` to `catalog`."""
    found = TABLES[table].columns
    if not (judged and table == "catalog"):
        return found
    at = next(position for position, column in enumerate(found) if column.name == "trust_current") + 1
    return (*found[:at], IS_STALE, *found[at:])


def rows(
    connection: sqlite3.Connection, bundle: str, table: str, wanted: Sequence[Column], now: str = "", *,
    limit: int | None = None, offset: int = 0,
) -> Iterator[tuple[Any, ...]]:  # fmt: skip
    """The rows of a table, with the columns `wanted`, one after the other: no more than one is in memory."""
    sql = f"select {', '.join(column.sql for column in wanted)} {TABLES[table].source} limit ?3 offset ?4"
    return connection.execute(sql, (bundle, now, -1 if limit is None else limit, offset))
