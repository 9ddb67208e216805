"""Other people's SQL, fenced in: read-only, no other files, bounded in time, rows and memory."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from okf_catalog.errors import UsageError

_LENGTH_LIMIT = 50_000_000
"""Bytes of one value: `hex(zeroblob(400000000))` would take 2 GB."""
ANSWER_LIMIT = 1_000_000_000
"""Bytes of a whole answer, which is held in memory: a thousand large values would fill it."""
_VALUE = 64
"""About what a value takes in memory beside its text, in bytes."""
# The numbers of SQLite's own header; Python 3.10 has no names for them.
_LIMIT_LENGTH, _LIMIT_ATTACHED = 0, 7
_STEPS = 1_000
"""Virtual machine steps between two looks at the clock."""
_READING = frozenset(
    getattr(sqlite3, name)
    for name in ("SQLITE_SELECT", "SQLITE_READ", "SQLITE_FUNCTION", "SQLITE_RECURSIVE")
)
_PRAGMAS = frozenset(["table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo",
                      "foreign_key_list", "data_version", "user_version"])  # fmt: skip
_FORBIDDEN_FUNCTIONS = frozenset(["load_extension", "fts3_tokenizer", "writefile", "readfile", "edit"])


class Answer(NamedTuple):
    """The result of a query."""

    columns: list[str]
    rows: list[tuple[Any, ...]]
    is_cut: bool
    """There were more rows than the limit."""


def guard(connection: sqlite3.Connection) -> None:
    """Refuse everything but reading this file. For a connection that is used for nothing else."""
    connection.execute("pragma query_only = on")
    if hasattr(connection, "setlimit"):  # Python 3.11
        connection.setlimit(_LIMIT_LENGTH, _LENGTH_LIMIT)
        connection.setlimit(_LIMIT_ATTACHED, 0)
    connection.set_authorizer(_authorize)


def _authorize(action: int, first: str | None, second: str | None, _database: str | None, _trigger: str | None) -> int:
    if action == sqlite3.SQLITE_PRAGMA:
        allowed = (first or "").lower() in _PRAGMAS
    elif action == sqlite3.SQLITE_FUNCTION:
        allowed = (second or "").lower() not in _FORBIDDEN_FUNCTIONS
    elif action == sqlite3.SQLITE_UPDATE:
        # SQLite asks for this when it sets up a virtual table (the full-text index, json_each);
        # `query_only` still refuses whoever means it.
        allowed = first == "sqlite_master"
    else:
        allowed = action in _READING
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def query(
    connection: sqlite3.Connection, sql: str, parameters: dict[str, str] | None = None, *, seconds: float, limit: int
) -> Answer:
    """Run one statement on a guarded connection. Raises `UsageError` with SQLite's words.

    `seconds` bounds its time, `limit` its rows (0: no limit).
    """
    deadline = time.monotonic() + seconds
    connection.set_progress_handler(lambda: int(time.monotonic() > deadline), _STEPS)
    try:
        cursor = connection.execute(sql, parameters or {})
        columns = [column[0] for column in cursor.description or ()]
        rows = list(_take(cursor, limit + 1 if limit else None))
    except (sqlite3.Error, sqlite3.Warning, OverflowError, ValueError) as problem:
        raise UsageError(_explain(problem, seconds)) from None
    finally:
        connection.set_progress_handler(None, 0)
    if not columns:
        raise UsageError("only a query that returns rows can be run here; the catalog is read-only")
    cut = bool(limit) and len(rows) > limit
    return Answer(columns, rows[:limit] if cut else rows, cut)


def _take(cursor: sqlite3.Cursor, limit: int | None) -> Iterator[tuple[Any, ...]]:
    size = 0
    for position, row in enumerate(cursor):
        if limit is not None and position >= limit:
            return
        size += sum(_VALUE + (len(value) if isinstance(value, (str, bytes)) else 0) for value in row)
        if size > ANSWER_LIMIT:
            raise UsageError(f"the answer is larger than {ANSWER_LIMIT:,} bytes; ask for fewer rows or columns")
        yield row


def took_too_long(seconds: float) -> str:
    """What is said of a query that was stopped."""
    return f"the query took more than {seconds:g} s and was stopped (raise it with --timeout)"


def _explain(problem: Exception, seconds: float) -> str:
    words = str(problem)
    if "interrupted" in words:
        return took_too_long(seconds)
    if "not authorized" in words or "authorization denied" in words or "prohibited" in words or "readonly" in words or "query_only" in words:
        return f"only reading this catalog is allowed ({words})"
    if "no such table" in words:
        return f"{words} (okf-catalog sql \"select name, type from sqlite_master where type in ('table', 'view')\" lists them)"
    if "too many attached" in words:
        return "only reading this catalog is allowed (no ATTACH)"
    return words
