"""The one door to the database: find it, open it, migrate it, lock it."""

from __future__ import annotations

import os
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from okf_catalog import trace
from okf_catalog.catalog import lock
from okf_catalog.errors import BusyError, DatabaseError

SCHEMA_VERSION = 1
"""The number of the newest file in migrations/; the migrations keep it in `meta`."""
EXTRACTION_VERSION = 1
"""Raise it when the same file gives other rows than before: the next sync reads everything again."""
FILE_NAME = "catalog.db"
MEMORY = ":memory:"

_RELEASE = re.compile(r"[0-9][0-9A-Za-z.+!-]{0,40}")
_PAGE_SIZE = 16384
"""Bytes. Rows of about 2.5 KB waste a quarter less of the file than with 4 KiB, and scans take a third less; larger
pages save little more, and a sync of scattered edits would write all of them."""
_CACHE_KIB = 4096
_BUSY_SECONDS = 10.0
_POLL_SECONDS = 0.05


def okf_home() -> str:
    """`$OKF_HOME`, or `~/.okf`."""
    return os.path.expanduser(os.environ.get("OKF_HOME") or "~/.okf")


def default_path() -> str:
    """`$OKF_CATALOG_DB`, or `catalog.db` in `$OKF_HOME`, which is `~/.okf` by default."""
    chosen = os.environ.get("OKF_CATALOG_DB")
    return os.path.expanduser(chosen) if chosen else os.path.join(okf_home(), FILE_NAME)


def _quoted(path: str) -> str:
    """`path` in a `file:` URI."""
    if re.fullmatch(r"[\w./-]+", path, re.ASCII):
        return path
    from urllib.parse import quote

    return quote(path, safe="/")


def _connect(path: str, mode: str) -> sqlite3.Connection:
    uri = f"file:{_quoted(os.path.abspath(path))}?{mode}"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=_BUSY_SECONDS)
    connection.execute("pragma foreign_keys = on")
    connection.execute(f"pragma cache_size = -{_CACHE_KIB}")
    return connection


def explain(path: str, problem: sqlite3.Error) -> DatabaseError:
    """SQLite's words as an error that names the file and the way out."""
    words = str(problem)
    if "not a database" in words or "malformed" in words or "corrupt" in words:
        return DatabaseError(f"{path} is not a readable catalog ({words}); name another file with --db, or move this one away and sync again")
    if "locked" in words:
        return BusyError(f"{path} is locked by another process; try again, or raise --wait")
    if "unable to open" in words:
        return DatabaseError(f"cannot open {path}: check that its directory exists and can be written, or name a file with --db")
    if "readonly" in words or "read-only" in words:
        return DatabaseError(f"{path} cannot be written; check its permissions, or name another file with --db")
    if "full" in words:
        return DatabaseError(f"the disk of {path} is full; nothing was changed")
    return DatabaseError(f"{path}: {words}")


@contextmanager
def reported(path: str) -> Iterator[None]:
    """Turn SQLite's exceptions into `DatabaseError`."""
    try:
        yield
    except sqlite3.Error as problem:
        raise explain(path, problem) from problem


def memory() -> sqlite3.Connection:
    """A catalog in memory, for a directory that no catalog knows."""
    import okf_catalog.migrations

    connection = sqlite3.connect(":memory:", isolation_level=None)
    directory = os.path.dirname(okf_catalog.migrations.__file__ or "")
    for name in sorted(os.listdir(directory)):
        if name.endswith(".sql"):
            with open(os.path.join(directory, name), encoding="utf-8") as script:
                connection.executescript(script.read())
    connection.execute("pragma foreign_keys = on")
    return connection


def exists(path: str) -> bool:
    """True where there is something to open; an empty file is not."""
    try:
        return os.path.getsize(path) > 0
    except OSError:
        return False


def _refuse_no_file(path: str) -> None:
    # SQLite opens a device or a pipe, and leaves a journal beside it when it finds out.
    if os.path.exists(path) and not os.path.isfile(path):
        raise DatabaseError(f"{path} is not a file; name another one with --db")


def open_existing(path: str, *, read_only: bool = False) -> sqlite3.Connection:
    """Open a catalog that is there. Raises `DatabaseError`.

    A catalog of an older schema is migrated, unless `read_only`.
    """
    _refuse_no_file(path)
    if not exists(path):
        raise DatabaseError(f"there is no catalog at {path}; run okf-catalog sync DIR first")
    with reported(path):
        try:
            connection = _connect(path, "mode=ro" if read_only else "mode=rw")
            version = _schema_version(connection, path)
        except sqlite3.OperationalError:
            # A WAL file in a directory that cannot be written opens only so.
            connection = _connect(path, "immutable=1")
            version = _schema_version(connection, path)
        if version < SCHEMA_VERSION and not read_only:
            _migrate(connection, path)
        return connection


def open_or_create(path: str) -> sqlite3.Connection:
    """Open the catalog for writing, making file and directory where they are missing. Raises `DatabaseError`."""
    _refuse_no_file(path)
    directory = os.path.dirname(os.path.abspath(path))
    try:
        os.makedirs(directory, exist_ok=True)
    except OSError as problem:
        raise DatabaseError(f"cannot make {directory}: {problem.strerror}") from None
    with reported(path):
        connection = _connect(path, "mode=rwc")
        if _schema_version(connection, path) < SCHEMA_VERSION:
            _migrate(connection, path)
        connection.execute("pragma synchronous = normal")
        return connection


def _schema_version(connection: sqlite3.Connection, path: str) -> int:
    """The schema of the file, 0 for an empty one. Raises `DatabaseError` for a newer or a foreign one."""
    tables = {row[0] for row in connection.execute("select name from sqlite_master where type = 'table'")}
    if "meta" not in tables or "concepts" not in tables:
        if tables - {"_sqlite_migrations"}:
            raise DatabaseError(f"{path} is an SQLite file but not a catalog; name another file with --db")
        return 0
    row = connection.execute("select value from meta where key = 'schema_version'").fetchone()
    version = int(row[0]) if row and str(row[0]).isdigit() else 0
    if version > SCHEMA_VERSION:
        writer = connection.execute("select value from meta where key = 'created_by'").fetchone()
        release = str(writer[0]).removeprefix("okf-catalog ").strip() if writer else ""
        # The text comes from the file: it goes into a command line only where it is a version.
        wanted = f"'okf-catalog>={release}'" if _RELEASE.fullmatch(release) else "--upgrade okf-catalog"
        raise DatabaseError(
            f"{path} was written by a newer okf-catalog (schema {version}, this one knows {SCHEMA_VERSION}); "
            f"upgrade with: pip install {wanted}"
        )
    return version


def _migrate(connection: sqlite3.Connection, path: str) -> None:
    """Bring the schema up to date; safe when several processes try at once."""
    trace.info("migrating %s to schema %d", path, SCHEMA_VERSION)
    from sqlite_utils import Database

    from okf_catalog import __version__
    from okf_catalog.migrations.migrations import migrations

    connection.execute(f"pragma page_size = {_PAGE_SIZE}")
    _retry(lambda: connection.execute("pragma journal_mode = wal").fetchone())
    begin(connection, path, wait=60.0)
    try:
        # Another process may have done it while this one waited.
        if _schema_version(connection, path) < SCHEMA_VERSION:
            migrations.apply(Database(connection))
            connection.execute("insert or replace into meta (key, value) values ('created_by', ?)",
                               (f"okf-catalog {__version__}",))
        connection.execute("commit")
    except BaseException:
        if connection.in_transaction:
            connection.execute("rollback")
        raise


def _retry(action: Callable[[], object], seconds: float = 60.0) -> None:
    """`journal_mode = wal` fails at once, whatever the busy timeout, while another process does the same."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            action()
        except sqlite3.OperationalError as problem:
            if "locked" not in str(problem) or time.monotonic() > deadline:
                raise
            time.sleep(_POLL_SECONDS)
        else:
            return


def begin(
    connection: sqlite3.Connection, path: str, *, wait: float, on_wait: Callable[[], None] | None = None
) -> None:
    """Start a write transaction; wait up to `wait` seconds for another writer, saying so once.

    Raises `BusyError` when the time is over.
    """
    deadline = time.monotonic() + wait
    said = False
    timeout = connection.execute("pragma busy_timeout").fetchone()[0]
    connection.execute("pragma busy_timeout = 0")
    try:
        while True:
            try:
                connection.execute("begin immediate")
            except sqlite3.OperationalError as problem:
                if "locked" not in str(problem):
                    raise
                if time.monotonic() >= deadline:
                    raise BusyError(
                        f"another process is writing {path}{lock.described(path)}; gave up after {wait:g} s "
                        "(raise it with --wait)"
                    ) from None
                if not said and on_wait is not None:
                    on_wait()
                    said = True
                time.sleep(_POLL_SECONDS)
            else:
                return
    finally:
        connection.execute(f"pragma busy_timeout = {timeout}")


@contextmanager
def transaction(
    connection: sqlite3.Connection, path: str, *, wait: float = _BUSY_SECONDS, on_wait: Callable[[], None] | None = None,
    patient: bool = False,
) -> Iterator[None]:  # fmt: skip
    """A write transaction that is rolled back when its block raises.

    `wait` is for other processes, and for other threads of this one unless `patient`: then
    they may take as long as they like. Raises `BusyError`.
    """
    named = path != MEMORY
    if named and not lock.in_process.acquire(timeout=-1 if patient else min(wait, threading.TIMEOUT_MAX)):
        raise BusyError(f"this process is writing {path} already; gave up after {wait:g} s")
    try:
        with reported(path):
            begin(connection, path, wait=wait, on_wait=on_wait)
            try:
                if named:
                    lock.note(path)
                try:
                    yield
                finally:
                    # Before the lock is given up: afterwards it could be another's note.
                    if named:
                        lock.clear(path)
                connection.execute("commit")
            except BaseException:
                # A full disk may have ended the transaction already.
                if connection.in_transaction:
                    connection.execute("rollback")
                raise
    finally:
        if named:
            lock.in_process.release()


INDEX_TABLES = ("concepts_fts", "concepts_fts_terms", "terms", "terms_trigram")


def missing_index_tables(connection: sqlite3.Connection) -> list[str]:
    """The tables of the search index that somebody dropped."""
    there = {row[0] for row in connection.execute("select name from sqlite_master where type = 'table'")}
    return [name for name in INDEX_TABLES if name not in there]


def rebuild_index(connection: sqlite3.Connection) -> None:
    """Make the search index anew from `search_text`, inside the caller's transaction."""
    from okf_catalog.migrations.migrations import scripts, statements

    for name in reversed(INDEX_TABLES):
        connection.execute(f"drop table if exists {name}")
    made = re.compile(r"(?:--[^\n]*\n|\s)*create (?:(?:virtual )?table|index \w+ on) (\w+)")
    for _, script in scripts():
        for statement in statements(script):
            found = made.match(statement)
            if found and found[1] in INDEX_TABLES:
                connection.execute(statement)
    connection.execute("insert into concepts_fts (concepts_fts) values ('rebuild')")
    connection.execute("insert into terms (term) select term from concepts_fts_terms")
    connection.execute("insert into terms_trigram (terms_trigram) values ('rebuild')")
