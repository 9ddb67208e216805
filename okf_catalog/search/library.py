"""Search from Python: `okf_catalog.open(path).search(["dedup", "key"], type="Metric")`.

The command line opens bundles through the same functions.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import NamedTuple

from okf_catalog.catalog import database
from okf_catalog.catalog.filters import Filters
from okf_catalog.catalog.freshness import refresh_bundle, view_directory
from okf_catalog.catalog.sync import bundle_at, bundles, sync, system_clock
from okf_catalog.errors import UsageError
from okf_catalog.format import slugs
from okf_catalog.format.values import clock_instant, utc_text
from okf_catalog.search.query import FIELDS, FUZZY, LITERAL, REGEXP, Corpus, Query, read_fields
from okf_catalog.search.result import Row
from okf_catalog.search.run import Found, run, unknown_values


class Named(NamedTuple):
    """A bundle that was asked for by name."""

    slug: str
    root: str


class Opened(NamedTuple):
    """Bundles, ready to be asked through one connection."""

    connection: sqlite3.Connection
    slugs: dict[str, str]
    """The name of each bundle in the catalog, and what whoever asked calls it."""
    notes: list[str]


def open_directory(root: str, path: str, *, refresh: bool = True) -> Opened:
    """The bundle in a directory: from the catalog at `path`, or read into memory. Raises `BundleError`."""
    view = view_directory(root, path, clock=system_clock, refresh=refresh)
    return Opened(view.connection, {view.bundle.name: view.bundle.name}, view.notes)


def open_named(wanted: Sequence[Named], path: str, *, refresh: bool = True) -> Opened:
    """Several bundles for one question: from the catalog at `path` where it has all of them.

    One ranking needs one database: where the catalog lacks any, all are read into memory.
    """
    if database.exists(path):
        connection = database.open_existing(path)
        with database.reported(path):
            known = [bundle_at(connection, root) for _, root in wanted]
            if all(bundle is not None for bundle in known):
                notes: list[str] = []
                called: dict[str, str] = {}
                for asked, bundle in zip(wanted, known, strict=True):
                    assert bundle is not None  # noqa: S101  # asked just before
                    called[bundle.name] = asked.slug
                    notes += refresh_bundle(connection, path, bundle, system_clock, refresh=refresh)
                return Opened(connection, called, notes)
        connection.close()
    connection = database.memory()
    notes = []
    for slug, root in wanted:
        report = sync(connection, ":memory:", root, clock=system_clock, name=slug)
        notes += [f"cannot list {place.path}: {place.reason}" for place in report.unreadable]
    return Opened(connection, {slug: slug for slug, _ in wanted}, notes)


def catalogued(path: str) -> list[Named]:
    """The bundles of the catalog at `path`, by name; none where there is no catalog."""
    if not database.exists(path):
        return []
    connection = database.open_existing(path)
    try:
        with database.reported(path):
            return [Named(bundle.name, bundle.root) for bundle in bundles(connection)]
    finally:
        connection.close()


def named(name: str, path: str) -> Named:
    """The bundle of a name in the catalog at `path`. Raises `UsageError`."""
    known = catalogued(path)
    slug = slugs.normalize(name)
    for bundle in known:
        if bundle.slug == slug:
            return bundle
    names = ", ".join(f"@{bundle.slug}" for bundle in known) or "none"
    raise UsageError(f"the catalog has no bundle named {name} (it has: {names})")


class Rows(list[Row]):
    """Typed rows, best first, with what is to be said about them."""

    def __init__(self, found: Found, notes: Sequence[str]) -> None:
        super().__init__(found.rows)
        self.total = found.total
        """Concepts that match, whatever the limit."""
        self.broken = found.broken
        """Unusable files whose raw text matches, after the last concept as far as the limit goes."""
        self.notes = [*notes, *found.notes]


class Searchable:
    """One or more bundles of a catalog. Close it, or use it in a `with` block."""

    def __init__(self, opened: Opened) -> None:
        self.connection, self._slugs, self.notes = opened

    def search(
        self, terms: str | Sequence[str], *, fields: Sequence[str] = (), engine: str | None = None, regexp: bool = False,
        fuzzy: bool = False, type: str | Sequence[str] = (), tag: str | Sequence[str] = (),  # noqa: A002
        status: str | Sequence[str] = (), trust: str | Sequence[str] = (), dir: str | Sequence[str] = (),  # noqa: A002
        stale_only: bool = False, not_type: str | Sequence[str] = (), not_tag: str | Sequence[str] = (),
        not_status: str | Sequence[str] = (), as_of: str | None = None, limit: int | None = None, offset: int = 0,
    ) -> Rows:  # fmt: skip
        """The concepts that match every term. Filters of one kind are alternatives, kinds are ANDed.

        Raises `UsageError` for unknown fields and engines, and for patterns that will not do.
        """
        filters = Filters(
            types=_many(type), tags=_many(tag), statuses=_many(status), trust_tiers=tiers(_many(trust)), dirs=_many(dir),
            stale_only=stale_only, not_types=_many(not_type), not_tags=_many(not_tag), not_statuses=_many(not_status),
        )  # fmt: skip
        query = Query(_many(terms), read_fields(fields), read_mode(regexp=regexp, fuzzy=fuzzy))
        now = utc_text(system_clock()) if as_of is None else clock_instant(as_of)
        if now is None:
            raise UsageError(f"as_of={as_of}: write a date (2027-01-01) or an instant (2027-01-01T12:00:00Z)")
        corpus = Corpus(self.connection, self._slugs, filters, now)
        found = run(corpus, query, engine=engine, limit=limit, offset=offset)
        return Rows(found, list(unknown_values(corpus)))

    def close(self) -> None:
        """Let go of the catalog."""
        self.connection.close()

    def __enter__(self) -> Searchable:  # noqa: PYI034  # Self is newer than Python 3.10
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def open_path(path: str | os.PathLike[str], *, db: str | os.PathLike[str] | None = None, refresh: bool = True) -> Searchable:
    """A bundle's directory, `@name` of one in the catalog, or a catalog file with all its bundles. See `okf_catalog.open`."""
    wanted = os.path.expanduser(os.fspath(path))
    catalog = os.fspath(db) if db is not None else database.default_path()
    if wanted.startswith("@"):
        return Searchable(open_named([named(wanted, catalog)], catalog, refresh=refresh))
    if os.path.isfile(wanted):
        return Searchable(open_named(catalogued(wanted), wanted, refresh=refresh))
    return Searchable(open_directory(wanted, catalog, refresh=refresh))


def read_mode(*, regexp: bool, fuzzy: bool) -> str:
    """How terms are read. Raises `UsageError` where both are asked for."""
    if regexp and fuzzy:
        raise UsageError("--regexp and --fuzzy are mutually exclusive (a pattern is matched literally, not by edit distance)")
    return REGEXP if regexp else FUZZY if fuzzy else LITERAL


def tiers(values: Iterable[str]) -> tuple[str, ...]:
    """Trust tiers as the catalog spells them."""
    return tuple(value.lower().replace("_", "-") for value in values)


def _many(value: str | Sequence[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


__all__ = ["FIELDS", "Named", "Opened", "Row", "Rows", "Searchable", "open_directory", "open_named", "open_path"]
