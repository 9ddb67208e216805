"""What a server serves, and the way from a tool's arguments to a bundle. Everything here may go to another process."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from okf_catalog.catalog import database, freshness, queries
from okf_catalog.catalog.freshness import refresh_bundle
from okf_catalog.catalog.sync import Bundle, bundle_named, bundles, system_clock
from okf_catalog.cli import output
from okf_catalog.cli.options import Opened
from okf_catalog.errors import CatalogError, UsageError
from okf_catalog.format import slugs

ANSWER_LIMIT = 2_000_000
"""Bytes of an answer: about half a million tokens, more than any reader takes."""


class Serving(NamedTuple):
    """The bundles of a server, and how fresh its answers have to be."""

    path: str
    """The catalog, absolute."""
    names: tuple[str, ...] | None
    """The bundles that may be asked about; None for all that the catalog holds at the moment of asking."""
    default: str | None
    """The directory of the bundle that is meant where none is named."""
    policy: str = freshness.AUTO
    """One of `freshness.POLICIES`."""


class Question:
    """One question: its connection, what it looked at, and what is to be said with the answer."""

    def __init__(self, serving: Serving, connection: sqlite3.Connection) -> None:
        self.serving = serving
        self.connection = connection

    def served(self) -> list[Bundle]:
        """The bundles that may be asked about, by name."""
        names = self.serving.names
        return [bundle for bundle in bundles(self.connection) if names is None or bundle.name in names]

    def bundle(self, wanted: str | None) -> Bundle:
        """The bundle of a name, with or without `@`, or of its directory; not refreshed. Raises `UsageError`."""
        there = self.served()
        called = ", ".join(f"@{bundle.name}" for bundle in there) or "no bundle"
        if wanted is None:
            default = next((bundle for bundle in there if bundle.root == self.serving.default), None)
            if default is None and len(there) == 1:
                default = there[0]
            if default is None:
                raise UsageError(f"say which bundle; this server has {called}")
            return default
        place = wanted.rstrip("/")
        for bundle in there:
            if place == bundle.root.rstrip("/") or ("/" not in wanted and slugs.normalize(wanted) == bundle.name):
                return bundle
        raise UsageError(f"this server has no bundle {wanted}; it has {called}")

    def refresh(self, bundle: Bundle) -> Bundle:
        """The bundle as its files are now, as far as the policy wants that. Raises `StaleError`."""
        for remark in refresh_bundle(self.connection, self.serving.path, bundle, system_clock):
            output.note(remark)
        return bundle_named(self.connection, bundle.name) or bundle

    def open(self, wanted: str | None) -> Opened:
        """A bundle, refreshed, as the verbs have it."""
        bundle = self.refresh(self.bundle(wanted))
        return Opened(freshness.View(self.connection, bundle, True, []), bundle.root, bundle.name)

    def locate(self, concept: str, wanted: str | None) -> tuple[str, str]:
        """(bundle, path) of a file, its bundle refreshed. Raises `UsageError` where there is none, or more than one."""
        where = self.served() if wanted is None else [self.bundle(wanted)]
        found = self._places(concept, where)
        names = {name for name, _ in found}
        # What is not there may be new; what is there may be gone.
        where = [self.refresh(bundle) for bundle in where if not names or bundle.name in names]
        found = self._places(concept, where)
        if len(found) > 1:
            places = ", ".join(f"@{name} {path}" for name, path in found[:5])
            raise UsageError(f"{concept} is in {len(found)} places: {places}; choose one with `bundle`")
        if not found:
            close = [name for bundle in where for name in queries.nearest(self.connection, concept, bundle.name)][:3]
            called = ", ".join(f"@{bundle.name}" for bundle in where) or "the catalog"
            raise UsageError(f"there is no {concept} in {called}" + (f"; near it: {', '.join(close)}" if close else ""))
        return found[0]

    def _places(self, concept: str, where: list[Bundle]) -> list[tuple[str, str]]:
        return [place for bundle in where for place in queries.locate(self.connection, concept, bundle.name)]


@contextmanager
def question(serving: Serving) -> Iterator[Question]:
    """A connection for one question. Raises `DatabaseError`."""
    connection = database.open_existing(serving.path)
    try:
        with database.reported(serving.path):
            yield Question(serving, connection)
    finally:
        connection.close()


def told(problem: Exception) -> str:
    """An error as the one line that the command line would print."""
    if isinstance(problem, CatalogError):
        text = str(problem)
    elif isinstance(problem, sqlite3.Error):
        text = f"the database says: {problem}"
    elif isinstance(problem, OSError):
        text = f"{f'{problem.filename}: ' if isinstance(problem.filename, str) else ''}{problem.strerror or problem}"
    else:
        text = f"unexpected {type(problem).__name__}: {problem}"
    return output.one_line(text)


def page(offset: int, limit: int, returned: int, total: int) -> dict[str, Any]:
    """Where an answer stands in the whole."""
    after = offset + returned
    return {"offset": offset, "limit": limit, "returned": returned, "total": total,
            "next_offset": after if returned and after < total else None}  # fmt: skip


def as_text(answer: dict[str, Any]) -> str:
    """The answer as JSON. Raises `UsageError` where it is larger than anybody can read."""
    text = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    size = len(text.encode())
    if size > ANSWER_LIMIT:
        raise UsageError(f"the answer has {size:,} bytes, more than {ANSWER_LIMIT:,}: ask for less (limit, dirs, body, fewer columns)")
    return text


def debug() -> bool:
    """Errors that are bugs are raised, not told."""
    return bool(os.environ.get("OKF_CATALOG_DEBUG"))
