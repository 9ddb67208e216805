"""What follows from the rows just written: resolved links, broken links, the vocabulary."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain

_HASH_SIZE = 1024 * 1024
"""FTS5's own value for `hashsize` (bytes of pending terms in memory)."""
_BULK_HASH_SIZE = 4 * 1024 * 1024
"""Halves the cost of a bulk load; more gains little and costs memory."""
_FOREIGN_WORDS_FROM = 5000
"""Concepts from which on reading the whole vocabulary is cheaper than tokenizing again."""


@contextmanager
def bulk_load(connection: sqlite3.Connection, *, enabled: bool) -> Iterator[bool]:
    """Load the index with a larger hash table, then merge it so that the next sync need not.

    The other indexes of a catalog without concepts are made when its rows are there: cheaper,
    a third smaller, and in the pages that the merge left free.
    """
    if not enabled:
        yield False
        return
    is_empty = connection.execute("select 1 from concepts limit 1").fetchone() is None
    later = connection.execute(_INDEXES).fetchall() if is_empty else []
    for name, _ in later:
        connection.execute(f"drop index {name}")
    _set_hash_size(connection, _BULK_HASH_SIZE)
    yield True
    _set_hash_size(connection, _HASH_SIZE)
    connection.execute("insert into concepts_fts (concepts_fts) values ('optimize')")
    for _, sql in later:
        connection.execute(sql)


_INDEXES = "select name, sql from sqlite_master where type = 'index' and sql is not null order by rowid"


def _set_hash_size(connection: sqlite3.Connection, size: int) -> None:
    # Not in the FTS5 manual; tests/test_sync_index.py pins it.
    connection.execute("insert into concepts_fts (concepts_fts, rank) values ('hashsize', ?)", (size,))


def refresh_links(
    connection: sqlite3.Connection, bundle: str, linked: list[int], existence: set[str], *, everything: bool
) -> None:
    """Point links at the concepts they lead to, and note the broken ones as problems.

    `linked` are the row ids of the concepts whose links were written, `existence` the paths
    that came or went; `everything` takes all concepts of the bundle instead.
    """
    if not (linked or existence or everything):
        return
    execute, many = connection.execute, connection.executemany
    execute("create temp table if not exists link_sources (id integer primary key)")
    execute("create temp table if not exists link_files (path text primary key)")
    execute("create temp table if not exists link_paths (path text primary key)")
    for table in ("link_sources", "link_files", "link_paths"):
        execute(f"delete from {table}")
    if everything:
        execute("insert into link_sources select id from concepts where bundle = ?", (bundle,))
        execute("insert into link_files select distinct path from file_links where bundle = ?", (bundle,))
    else:
        many("insert or ignore into link_sources values (?)", ((row_id,) for row_id in linked))
        many("insert or ignore into link_paths values (?)", ((path,) for path in existence))
        # `cross join` keeps SQLite from beginning with the large tables: it knows nothing of the small ones.
        execute(
            "insert or ignore into link_sources select l.concept_id from link_paths p "
            "cross join links l on l.target_path = p.path and l.target_id is null "
            "cross join concepts c on c.id = l.concept_id where c.bundle = ?",
            (bundle,),
        )
        # A file that is no concept may link to what came or went, or be new itself.
        if existence:
            execute(
                "insert or ignore into link_files select f.path from file_links f "
                "where f.bundle = ? and (f.target_path in (select path from link_paths) "
                "or f.path in (select path from link_paths))",
                (bundle,),
            )
    execute(
        "update links set target_id = (select c.id from concepts c where c.bundle = ?1 and c.path = links.target_path) "
        "where concept_id in (select id from link_sources) and target_path is not null"
        # New links lead nowhere yet, so all of them are written; of others those that lead elsewhere now.
        + ("" if everything else " and target_id is not (select c.id from concepts c where c.bundle = ?1 and c.path = links.target_path)"),
        (bundle,),
    )
    execute("delete from problems where concept_id in (select id from link_sources) and +check_id = 'broken_link'")
    execute(
        "delete from problems where bundle = ? and path in (select path from link_files) and concept_id is null "
        "and +check_id = 'broken_link'",
        (bundle,),
    )
    message = "'the link target `' || l.target || '` is not in the bundle'"
    # The tables, not the view `files`: SQLite would make an index over all of it first.
    missing = " and ".join(
        f"not exists (select 1 from {table} f where f.bundle = ?1 and f.path = l.target_path)"
        for table in ("concepts", "parse_errors", "reserved_files")
    )
    execute(
        "insert into problems (bundle, path, concept_id, level, check_id, source, message, line) "
        f"select ?1, c.path, c.id, 'warning', 'broken_link', 'spec', {message}, l.line "
        "from link_sources s cross join links l on l.concept_id = s.id cross join concepts c on c.id = s.id "
        f"where l.kind in ('link', 'reference') and l.target_path is not null and l.target_id is null and {missing} "
        "order by c.path, l.position",
        (bundle,),
    )
    execute(
        "insert into problems (bundle, path, concept_id, level, check_id, source, message, line) "
        f"select ?1, l.path, null, 'warning', 'broken_link', 'spec', {message}, l.line "
        "from link_files s cross join file_links l on l.bundle = ?1 and l.path = s.path "
        f"where l.target_path is not null and {missing} order by l.path, l.position",
        (bundle,),
    )


def refresh_terms(connection: sqlite3.Connection, worded: list[int], words: set[str], *, everything: bool) -> None:
    """Add the words of the concepts with the row ids `worded`, and `words`, to the vocabulary and its trigrams.

    Words that no concept holds any more stay: they cost a look-up and find nothing.
    """
    if not worded and not words:
        return
    execute = connection.execute
    last = execute("select coalesce(max(id), 0) from terms").fetchone()[0]
    if everything or len(worded) >= _FOREIGN_WORDS_FROM:
        execute("insert or ignore into terms (term) select term from concepts_fts_terms")
    else:
        # The same tokenizer over the new text only; its own table, so that no word is missed.
        execute(
            "create virtual table if not exists temp.new_words using fts5 "
            "(text, content='', tokenize='unicode61 remove_diacritics 0')"
        )
        execute("create virtual table if not exists temp.new_terms using fts5vocab ('temp', 'new_words', 'row')")
        execute("insert into temp.new_words (new_words) values ('delete-all')")
        text = (
            "select title || ' ' || id || ' ' || tags || ' ' || type || ' ' || description || ' ' || sources || ' ' "
            "|| body from search_text where concept_id = ?"
        )
        # Not `insert … select`: FTS5 would write out its memory for each.
        connection.executemany(
            "insert into temp.new_words (text) values (?)",
            chain((row for row_id in worded for row in connection.execute(text, (row_id,))), [(" ".join(words),)]),
        )
        execute("insert or ignore into terms (term) select term from temp.new_terms")
        execute("insert into temp.new_words (new_words) values ('delete-all')")
    execute("insert into terms_trigram (rowid, term) select id, term from terms where id > ?", (last,))
