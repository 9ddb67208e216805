"""Is the catalog sound? SQLite's own checks, those of the index, and what must hold between the tables."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from typing import NamedTuple

from okf_catalog.catalog import compare, database, lock, signature
from okf_catalog.catalog.current import is_up_to_date
from okf_catalog.catalog.names import shown
from okf_catalog.catalog.sync import Bundle, Clock, bundles
from okf_catalog.errors import CatalogError

OK, NOTE, WARNING, ERROR = "ok", "note", "warning", "error"

_WAL_LIMIT = 256 * 1024 * 1024
"""Bytes; a larger log was not folded in for a long time: somebody reads without an end."""
_FREE_SHARE = 0.25
"""Share of free pages from which on `compact` is worth it."""
_FREE_PAGES_FROM = 640
"""Pages (10 MiB); nothing below is worth a word."""
_SHOWN = 5


class Finding(NamedTuple):
    """What one check found."""

    check: str
    level: str
    """`ok`, `note`, `warning` or `error`."""
    message: str
    examples: list[str] = []  # noqa: RUF012  # never changed
    bundles: tuple[str, ...] = ()
    """Whose rows are wrong."""
    repair: str | None = None
    """What mends it: `reindex`, `index`, `orphans`, `reread`, `rebuild`, `note`; None where nothing is to be done here."""


class Invariant(NamedTuple):
    """Something that must hold: a query for (bundle, path) where it does not."""

    check: str
    wrong: str
    """What the rows are that it finds."""
    sql: str
    repair: str = "reread"


_IN_BUNDLE = "select c.bundle, c.path from concepts c where "
INVARIANTS = (
    Invariant("bodies", "concepts without their text", _IN_BUNDLE + "not exists (select 1 from bodies where concept_id = c.id)"),
    Invariant("search text", "concepts that no search finds", _IN_BUNDLE + "not exists (select 1 from search_text where concept_id = c.id)"),
    Invariant("one place", "files that are in two places at once", "select bundle, path from files group by bundle, path having count(*) > 1"),
    Invariant("ids", "concepts whose id is not their path", _IN_BUNDLE + "c.concept_id <> substr(c.path, 1, length(c.path) - 3)"),
    Invariant("returning ids", "broken files that keep the row of another concept",
              "select e.bundle, e.path from parse_errors e join concepts c on c.id = e.concept_id"),
    Invariant("json", "concepts with JSON that is not valid",
              _IN_BUNDLE + "not json_valid(c.frontmatter) or not json_valid(c.tags) "
              "or exists (select 1 from extra_keys x where x.concept_id = c.id and not json_valid(x.value))"),
    Invariant("tags", "concepts whose tags differ between table and column",
              _IN_BUNDLE + "json_array_length(c.tags) <> (select count(*) from tags t where t.concept_id = c.id)"),
    Invariant("sources", "concepts whose count of sources is wrong",
              _IN_BUNDLE + "c.source_count <> (select count(*) from sources s where s.concept_id = c.id)"),
    Invariant("link targets", "concepts with a link to the wrong row",
              "select distinct c.bundle, c.path from links l join concepts c on c.id = l.concept_id "
              "left join concepts t on t.id = l.target_id "
              "where l.target_id is not null and (t.id is null or t.bundle <> c.bundle or t.path <> l.target_path)"),
    Invariant("unresolved links", "concepts with a link that does not know its target",
              "select distinct c.bundle, c.path from links l join concepts c on c.id = l.concept_id "
              "join concepts t on t.bundle = c.bundle and t.path = l.target_path where l.target_id is null"),
    Invariant("counts", "bundles whose counts are wrong",
              "select b.name, '' from bundles b where b.concept_count <> (select count(*) from concepts where bundle = b.name) "
              "or b.parse_error_count <> (select count(*) from parse_errors where bundle = b.name) "
              "or b.reserved_count <> (select count(*) from reserved_files where bundle = b.name)"),
    Invariant("roots", "bundles without a directory",
              "select name, '' from bundles where name not in (select bundle from bundle_roots)", "orphans"),
    Invariant("vocabulary", "words that substring search does not know",
              "select '', term from concepts_fts_terms except select '', term from terms", "index"),
)  # fmt: skip


def examine(connection: sqlite3.Connection, path: str, *, clock: Clock, full: bool = False) -> Iterator[Finding]:
    """Every check, the cheap ones first; `full` also compares with a fresh build.

    Never raises: a check that cannot be made is a finding.
    """
    yield from _guarded("versions", "rebuild", _versions, connection)
    yield from _file(connection, path)
    yield from _lock(path)
    damaged = False
    for finding in _guarded("integrity", "rebuild", _integrity, connection):
        damaged = damaged or finding.repair == "rebuild"
        yield finding
    yield from _guarded("foreign keys", "rebuild", _foreign_keys, connection)
    missing = database.missing_index_tables(connection)
    if missing:
        yield Finding("index", ERROR, f"the search index lacks {', '.join(missing)}", repair="index")
    else:
        for table in ("concepts_fts", "terms_trigram"):
            yield from _guarded("index", "index", _index, connection, table)
    for invariant in INVARIANTS:
        if invariant.check != "vocabulary" or not missing:
            yield from _guarded(invariant.check, "rebuild", _invariant, connection, invariant)
    yield from _guarded("files", "rebuild", _signatures, connection)
    yield from _guarded("disk files", "rebuild", _disk, connection)
    if full and not damaged:
        yield from _guarded("fresh build", "rebuild", _compared, connection, path, clock)


def _guarded(check: str, repair: str, function: Callable[..., Iterator[Finding]], *arguments: object) -> Iterator[Finding]:
    """A check that meets a damaged page says so instead of ending the examination."""
    try:
        yield from function(*arguments)
    except sqlite3.DatabaseError as problem:
        if "readonly" in str(problem) or "read-only" in str(problem):
            yield Finding(check, NOTE, "not checked: the file cannot be written")
        else:
            yield Finding(check, ERROR, f"the check could not be made: {problem}", repair=repair)


def _versions(connection: sqlite3.Connection) -> Iterator[Finding]:
    from okf_catalog import __version__

    meta = dict(connection.execute("select key, value from meta"))
    yield Finding("versions", OK, f"okf-catalog {__version__}, SQLite {sqlite3.sqlite_version}, schema {meta.get('schema_version')}, "
                  f"made by {meta.get('created_by', 'an unknown version')}")  # fmt: skip
    old = [known.name for known in bundles(connection) if known.extraction_version != database.EXTRACTION_VERSION]
    if old:
        yield Finding("versions", NOTE, f"the next sync reads everything again, by newer rules: {', '.join(old)}")


def _file(connection: sqlite3.Connection, path: str) -> Iterator[Finding]:
    pages, free, page_size = (connection.execute(f"pragma {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size"))
    size = pages * page_size
    yield Finding("file", OK, f"{size:,} bytes, of which {free * page_size:,} free")
    if free >= _FREE_PAGES_FROM and free > pages * _FREE_SHARE:
        yield Finding("file", WARNING, f"{free * 100 // pages} % of the file is free; okf-catalog compact gives it back")
    mode = connection.execute("pragma journal_mode").fetchone()[0]
    try:
        wal = os.path.getsize(path + "-wal")
    except OSError:
        wal = 0
    if wal > _WAL_LIMIT:
        yield Finding("log", WARNING, f"the write-ahead log has {wal:,} bytes: a reader that never ends keeps it; okf-catalog compact folds it in")
    else:
        yield Finding("log", OK, f"journal mode {mode}, write-ahead log of {wal:,} bytes")
    try:
        left = shutil.disk_usage(os.path.dirname(os.path.abspath(path))).free
    except OSError:
        return
    if left < size:
        yield Finding("disk", WARNING, f"{left:,} bytes are left on the disk: compact and snapshot need {size:,}")
    else:
        yield Finding("disk", OK, f"{left:,} bytes left")


def _lock(path: str) -> Iterator[Finding]:
    found = lock.holder(path)
    if found is None:
        yield Finding("lock", OK, "nobody is writing")
    elif lock.is_running(found):
        yield Finding("lock", NOTE, f"being written by {found.label}")
    else:
        yield Finding("lock", NOTE, f"a process was killed while it wrote ({found.label}); its work was undone", repair="note")


def _integrity(connection: sqlite3.Connection) -> Iterator[Finding]:
    rows = [str(row[0]) for row in connection.execute("pragma integrity_check(20)")]
    if rows == ["ok"]:
        yield Finding("integrity", OK, "SQLite finds no damage")
        return
    only_indexes = all("index" in row and ("missing from" in row or "wrong # of entries" in row or "non-unique" in row) for row in rows)
    yield Finding("integrity", ERROR, f"SQLite finds damage ({len(rows)}{'+' if len(rows) == 20 else ''} reports)",
                  rows[:_SHOWN], repair="reindex" if only_indexes else "rebuild")  # fmt: skip


def _foreign_keys(connection: sqlite3.Connection) -> Iterator[Finding]:
    rows = connection.execute("pragma foreign_key_check").fetchmany(10_000)
    if not rows:
        yield Finding("foreign keys", OK, "every row has its parent")
        return
    tables = sorted({row[0] for row in rows})
    yield Finding("foreign keys", ERROR, f"rows without a parent ({len(rows)}) in {', '.join(tables)}", repair="orphans")


def _index(connection: sqlite3.Connection, table: str) -> Iterator[Finding]:
    try:
        connection.execute(f"insert into {table} ({table}, rank) values ('integrity-check', 1)")
    except sqlite3.DatabaseError as problem:
        if "malformed" not in str(problem) and "corrupt" not in str(problem):
            raise
        # Which of the two is wrong cannot be told: both are made anew.
        names = tuple(known.name for known in bundles(connection)) if table == "concepts_fts" else ()
        yield Finding("index", ERROR, f"the search index {table} does not say what the rows say", bundles=names,
                      repair="reread" if names else "index")  # fmt: skip
    else:
        yield Finding("index", OK, f"{table} agrees with its rows")


def _invariant(connection: sqlite3.Connection, invariant: Invariant) -> Iterator[Finding]:
    count = 0
    names: set[str] = set()
    examples: list[str] = []
    for name, path in connection.execute(invariant.sql):
        count += 1
        names.add(name)
        if len(examples) < _SHOWN:
            examples.append(f"{name}: {path}" if name and path else name or path)
    if count:
        yield Finding(invariant.check, ERROR, f"{invariant.wrong}: {count}", examples, tuple(sorted(names)), invariant.repair)
    else:
        yield Finding(invariant.check, OK, f"no {invariant.wrong}")


def signed_paths(connection: sqlite3.Connection, bundle: str) -> set[str]:
    """The files that the last sync saw, as the catalog calls them."""
    paths: set[str] = set()
    for key, blob in connection.execute("select dir, signature from directories where bundle = ?", (bundle,)):
        directory = signature.directory_of(key)
        prefix = "" if directory == "." else directory + "/"
        paths.update(shown(prefix + name) for name, _ in signature.decode(blob))
    return paths


def _signatures(connection: sqlite3.Connection) -> Iterator[Finding]:
    """What the sync compares with must be what the tables hold, or it would not notice a difference."""
    wrong: list[str] = []
    names: list[str] = []
    for known in bundles(connection):
        try:
            signed = signed_paths(connection, known.name)
        except (ValueError, UnicodeDecodeError):
            wrong.append(f"{known.name}: a signature that cannot be read")
            names.append(known.name)
            continue
        stored = {row[0] for row in connection.execute("select path from files where bundle = ?", (known.name,))}
        # A file that vanished while it was read is signed, and looked at again.
        if stored != signed and (stored - signed or _settled_without_rows(connection, known.name, signed - stored)):
            wrong += [f"{known.name}: {path}" for path in sorted(stored ^ signed)]
            names.append(known.name)
    if wrong:
        yield Finding("files", ERROR, f"files that the sync and the tables disagree about: {len(wrong)}", wrong[:_SHOWN], tuple(names), "reread")
    else:
        yield Finding("files", OK, "the sync and the tables know the same files")


def _settled_without_rows(connection: sqlite3.Connection, bundle: str, paths: set[str]) -> bool:
    from okf_catalog.bundle import UNSETTLED

    for key, blob in connection.execute("select dir, signature from directories where bundle = ?", (bundle,)):
        directory = signature.directory_of(key)
        prefix = "" if directory == "." else directory + "/"
        for name, stamp in signature.decode(blob):
            if stamp != UNSETTLED and shown(prefix + name) in paths:
                return True
    return False


def _disk(connection: sqlite3.Connection) -> Iterator[Finding]:
    for known in bundles(connection):
        yield _followed(connection, known)


def _followed(connection: sqlite3.Connection, known: Bundle) -> Finding:
    try:
        current = is_up_to_date(connection, known)
    except (CatalogError, sqlite3.Error, ValueError) as problem:
        return Finding("disk files", WARNING, f"{known.name}: {problem}")
    if current:
        return Finding("disk files", OK, f"{known.name} is what its files say")
    return Finding("disk files", NOTE, f"{known.name} has files that changed since the last sync")


def _compared(connection: sqlite3.Connection, path: str, clock: Clock) -> Iterator[Finding]:
    known = [bundle for bundle in bundles(connection) if os.path.isdir(bundle.root)]
    try:
        found = compare.with_fresh_build(connection, path, known, clock)
    except (CatalogError, OSError) as problem:
        yield Finding("fresh build", WARNING, f"not compared: {problem}")
        return
    for each in found:
        yield Finding("fresh build", ERROR, f"{each.table}: {each.missing} rows are missing, {each.extra} should not be there",
                      [each.example], tuple(bundle.name for bundle in known), "reread")  # fmt: skip
    if not found:
        yield Finding("fresh build", OK, "a fresh build of the bundles has the same rows")
