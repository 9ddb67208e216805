"""SQL functions on Datasette's connections."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from urllib.parse import quote

from okf_catalog.datasette_plugin import access
from okf_catalog.format.values import clock_instant, parse_instant
from okf_catalog.search.fts5 import Phrase, Reader
from okf_catalog.search.query import Corpus, Query

_NOTHING = '""'
"""An FTS5 query that finds nothing and is no error."""


def register(connection: sqlite3.Connection) -> bool:
    """Add `okf_is_stale`, and to a catalog an `escape_fts` that reads a search as the index was written.

    True for a catalog.
    """
    connection.create_function("okf_is_stale", 2, is_stale, deterministic=True)
    path = next((row[2] for row in connection.execute("pragma database_list") if row[1] == "main"), "")
    is_ours = bool(path) and access.is_catalog(connection)
    if is_ours:
        connection.create_function("escape_fts", 1, lambda text: _expression(path, text))
    return is_ours


def _expression(path: str, text: object) -> str:
    # On a connection of its own: reading a word may take temporary tables, which a query in progress does not allow.
    with closing(sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True)) as connection:
        return match_expression(connection, text)


def is_stale(stale_after: object, now: object) -> int | None:
    """1 where a moment, as written, has passed at another; None where either cannot be read (OKF §5.5)."""
    if stale_after is None or now is None:
        return None
    due, moment = parse_instant(str(stale_after)), clock_instant(str(now))
    return int(due.utc <= moment) if due and moment else None


def match_expression(connection: sqlite3.Connection, text: object) -> str:
    """The words of a search as an FTS5 expression that finds what the engine fts5 finds.

    Folded as the index is, each word by its beginning, words inside running Chinese or
    Japanese too; all have to hit. User text is never FTS5 syntax.
    """
    reader = Reader(Corpus(connection, []), is_fuzzy=False)
    words = " ".join(Query((str(text) if text is not None else "",)).words).split()
    return expression([phrases for word in words for phrases in reader.read(word) or []])


def expression(groups: Sequence[Sequence[Phrase]]) -> str:
    """Groups of phrases, of each of which one has to hit, as an FTS5 expression."""
    return " AND ".join(f"({' OR '.join(phrase.syntax for phrase in phrases)})" for phrases in groups) or _NOTHING
