"""Make the catalog follow a bundle: detect, plan, read, write, report."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timezone
from typing import NamedTuple

from okf_catalog import trace
from okf_catalog.bundle import Skipped, Unreadable, open_root
from okf_catalog.catalog import database
from okf_catalog.catalog.detect import Detection, detect, stored_signatures
from okf_catalog.catalog.plan import removes_too_much
from okf_catalog.errors import BundleError, GuardError, UsageError
from okf_catalog.format import slugs
from okf_catalog.format.problem import Failure
from okf_catalog.format.values import utc_text

RACY_NS = 2_000_000_000
"""A file stamped later than this before the sync began may change again under the same stamp (ns)."""


class Bundle(NamedTuple):
    """A bundle as the catalog knows it."""

    name: str
    root: str
    include_hidden: bool
    last_sync_id: int | None
    okf_version: str | None
    extraction_version: int | None
    concept_count: int


class Options(NamedTuple):
    """How to sync."""

    full: bool = False
    """Hash every file, whatever its stamp."""
    allow_removals: bool = False
    include_hidden: bool | None = None
    """None keeps what the bundle has."""
    wait: float = 30.0
    """Seconds to wait for another writer."""
    dry_run: bool = False
    patient: bool = False
    """Other syncs of this process may take longer than `wait`: they are waited for."""


DEFAULTS = Options()


class Report:
    """What a sync did (or, with `dry_run`, would do)."""

    def __init__(self, bundle: str, root: str, *, dry_run: bool = False) -> None:
        self.bundle, self.root, self.dry_run = bundle, root, dry_run
        self.sync_id: int | None = None
        self.is_new = False
        self.added: list[str] = []
        self.changed: dict[str, list[str]] = {}
        """Path to the names of the fields that changed."""
        self.moved: list[tuple[str, str]] = []
        """(old path, new path)."""
        self.removed: list[str] = []
        self.failed: list[tuple[str, Failure]] = []
        """Unusable files that are new or changed in this sync."""
        self.broken: list[str] = []
        """Concepts that became unusable."""
        self.repaired: list[str] = []
        """Unusable files that became concepts."""
        self.unchanged = 0
        self.concepts = 0
        self.parse_errors = 0
        self.skipped = Skipped()
        self.unreadable: list[Unreadable] = []

    @property
    def is_empty(self) -> bool:
        """True where nothing changed."""
        return not (self.added or self.changed or self.moved or self.removed or self.failed or self.repaired)


Clock = Callable[[], datetime]
Progress = Callable[[int, int], None]
"""Called with files done and files to do."""


def _bundle(row: tuple[object, ...] | None) -> Bundle | None:
    return Bundle(*row) if row else None  # type: ignore[arg-type]  # the row has the columns of `_COLUMNS`


_COLUMNS = (
    "select b.name, r.root, r.include_hidden, b.last_sync_id, b.okf_version, b.extraction_version, b.concept_count "
    "from bundles b join bundle_roots r on r.bundle = b.name "
)


def bundles(connection: sqlite3.Connection) -> list[Bundle]:
    """All bundles of the catalog, by name."""
    return [Bundle(*row) for row in connection.execute(_COLUMNS + "order by b.name")]


def bundle_named(connection: sqlite3.Connection, name: str) -> Bundle | None:
    """The bundle of that name."""
    return _bundle(connection.execute(_COLUMNS + "where b.name = ?", (name,)).fetchone())


def bundle_at(connection: sqlite3.Connection, root: str) -> Bundle | None:
    """The bundle that was synced from a directory, however the directory is spelled."""
    path = os.path.abspath(root)
    found = _bundle(connection.execute(_COLUMNS + "where r.root = ?", (path,)).fetchone())
    if found:
        return found
    real = os.path.realpath(path)
    return next((known for known in bundles(connection) if os.path.realpath(known.root) == real), None)


def sync(
    connection: sqlite3.Connection,
    database_path: str,
    root: str,
    *,
    clock: Clock,
    name: str | None = None,
    slug: str | None = None,
    options: Options = DEFAULTS,
    progress: Progress | None = None,
    on_wait: Callable[[], None] | None = None,
) -> Report:
    """Bring the catalog up to date with the bundle at `root`, enrolling it when it is new.

    `name` is what the user wants a new bundle to be called. `slug` is its name in the
    registry, which the catalog follows: the bundle is renamed where it has another one.

    One transaction: readers see the state before until it is committed. Raises
    `BundleError` (no such directory), `GuardError` (looks like an accident),
    `BusyError` (another writer), `DatabaseError`.
    """
    started = clock()
    root_fd = open_root(root)
    try:
        with database.reported(database_path):
            known = _named_as_registered(connection, database_path, bundle_at(connection, root), slug, options)
            if known is not None and name is not None and name != known.name:
                raise UsageError(f"{root} is in the catalog as {known.name}; it cannot also be {name}")
            found = look(connection, root, known, options, root_fd)
            _tell_found(root, found)
            if known is not None and found.is_clean and is_settled(known, options, connection):
                report = Report(known.name, known.root, dry_run=options.dry_run)
                report.unchanged, report.skipped, report.unreadable = found.file_count, found.skipped, found.unreadable
                _totals(connection, report)
                return report
            if known is None and found.unreadable and not found.directories:
                raise BundleError(f"cannot read {root}: {found.unreadable[0].reason}")
        if known is None:
            # Rows of a new bundle refer to rows written just before them: that saves a look-up for each.
            connection.execute("pragma foreign_keys = off")
        # The write lock comes after the walk: a sync with nothing to do never takes it.
        with database.transaction(connection, database_path, wait=options.wait, on_wait=on_wait, patient=options.patient):
            again = bundle_at(connection, root)
            if again != known:
                # Another sync was faster: what it wrote is the new base.
                known = again
                found = look(connection, root, known, options, root_fd)
            from okf_catalog.catalog.ingest import ingest

            if database.missing_index_tables(connection):
                database.rebuild_index(connection)
            newest = connection.execute("select coalesce(max(id), 0) from concepts").fetchone()[0]
            report = ingest(
                connection, known or _enrol(connection, root, name, slug, options, started), found,
                is_new=known is None, started=started, root_fd=root_fd, options=options, clock=clock,
                progress=progress,
            )  # fmt: skip
            if known is not None and not options.allow_removals:
                _refuse_breakage(connection, known, report, newest)
            _totals(connection, report)
            if options.dry_run:
                connection.execute("rollback")
                connection.execute("begin")
    finally:
        connection.execute("pragma foreign_keys = on")
        os.close(root_fd)
    if not options.dry_run and (report.is_new or len(report.changed) + len(report.added) > _OPTIMIZE_FROM):
        # Worth nothing to wait for: the next large sync does it as well.
        with suppress(sqlite3.OperationalError):
            connection.execute("pragma optimize")
    return report


_OPTIMIZE_FROM = 1000


def _refuse_breakage(connection: sqlite3.Connection, known: Bundle, report: Report, newest: int) -> None:
    """Refuse a sync after which most concepts would be gone or of no use: a disk that ran full, a declared version.

    `newest` is the largest row id before it. Raises `GuardError`; the caller rolls back.
    """
    if not removes_too_much(known.concept_count, len(report.broken) + len(report.removed) + len(report.changed)):
        return
    kept: int = connection.execute(
        "select count(*) from concepts where bundle = ? and id <= ?", (known.name, newest)
    ).fetchone()[0]
    lost = known.concept_count - (kept - len(report.repaired))
    if removes_too_much(known.concept_count, lost):
        raise GuardError(
            f"{lost} of the {known.concept_count} concepts of {known.name} would be concepts no more, most of them "
            f"because their files cannot be used; nothing was changed (--allow-removals does it)"
        )


def look(
    connection: sqlite3.Connection, root: str, known: Bundle | None, options: Options, root_fd: int
) -> Detection:
    """Walk a bundle and compare it with what the catalog holds. Raises `BundleError`."""
    stored = stored_signatures(connection, known.name) if known else {}
    hidden = options.include_hidden
    if hidden is None:
        hidden = known.include_hidden if known else False
    return detect(root, stored, include_hidden=bool(hidden), everything=options.full, root_fd=root_fd)


def _tell_found(root: str, found: Detection) -> None:
    trace.info(
        "%s: %d files in %d directories; %d to look at", root, found.file_count, len(found.directories),
        sum(len(changes) for changes in found.candidates.values()),
    )  # fmt: skip
    for path, changes in found.candidates.items() if trace.is_heard() else ():
        for change in changes:
            trace.debug("%s %s/%s", change.kind, path, change.name)


def is_settled(known: Bundle, options: Options, connection: sqlite3.Connection) -> bool:
    """True where nothing but the files could ask for work."""
    return (
        known.extraction_version == database.EXTRACTION_VERSION
        and options.include_hidden in (None, bool(known.include_hidden))
        and not database.missing_index_tables(connection)
    )


def _is_taken(connection: sqlite3.Connection, name: str) -> bool:
    return connection.execute("select 1 from bundles where name = ?", (name,)).fetchone() is not None


def _named_as_registered(
    connection: sqlite3.Connection, path: str, known: Bundle | None, slug: str | None, options: Options
) -> Bundle | None:
    """The bundle, renamed to its slug in the registry where it has another name.

    A bundle that had the slug only by chance gets another name.
    """
    if slug is None or options.dry_run or (known.name == slug if known else not _is_taken(connection, slug)):
        return known
    rename = "update bundles set name = ? where name = ?"
    with database.transaction(connection, path, wait=options.wait, patient=options.patient):
        if _is_taken(connection, slug):
            connection.execute(rename, (slugs.mint(slug, lambda name: _is_taken(connection, name)), slug))
        if known is not None:
            connection.execute(rename, (slug, known.name))
    return known._replace(name=slug) if known else None


def _enrol(
    connection: sqlite3.Connection, root: str, name: str | None, slug: str | None, options: Options, started: datetime
) -> Bundle:
    path = os.path.abspath(root)
    if name is None:
        name = slugs.mint(slug or slugs.label_of(path), lambda wanted: _is_taken(connection, wanted))
    elif _is_taken(connection, name):
        raise UsageError(f"the catalog has a bundle named {name} already; choose another --name")
    connection.execute("insert into bundles (name, created_at) values (?, ?)", (name, utc_text(started)))
    connection.execute("insert into bundle_roots values (?, ?, ?)", (name, path, int(bool(options.include_hidden))))
    return Bundle(name, path, bool(options.include_hidden), None, None, None, 0)


def _totals(connection: sqlite3.Connection, report: Report) -> None:
    row = connection.execute(
        "select concept_count, parse_error_count from bundles where name = ?", (report.bundle,)
    ).fetchone()
    report.concepts, report.parse_errors = row


def touch(connection: sqlite3.Connection, bundle: str, moment: datetime) -> None:
    """Note that a sync found nothing to do. A catalog that cannot be written is left as it is."""
    try:
        connection.execute("update bundles set last_synced_at = ? where name = ?", (utc_text(moment), bundle))
    except sqlite3.OperationalError:
        return


def system_clock() -> datetime:
    """The present moment in UTC."""
    return datetime.now(timezone.utc)
