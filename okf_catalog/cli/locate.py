"""From what somebody typed to the one file it means, in whichever bundle that is."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable

from okf_catalog.catalog import database, queries
from okf_catalog.catalog.freshness import refresh_bundle
from okf_catalog.catalog.sync import Bundle, bundles, system_clock
from okf_catalog.cli import options, output
from okf_catalog.errors import UsageError

Places = list[tuple[str, str]]
"""(bundle, path) of each."""
Finder = Callable[[sqlite3.Connection, str, "str | None"], Places]
"""From a connection, a path or id, and a bundle (None: all) to the places."""


def located(
    concept: str, bundle: str | None, db: str | None, *, no_sync: bool, otherwise: Finder = lambda *_: []
) -> tuple[sqlite3.Connection, str, str]:
    """(connection, bundle, path) of the file that `concept` means, refreshed. Prints the notes.

    A path in a bundle, an id, or a file on disk; in `bundle` where that is given, else in all
    bundles of the catalog. `otherwise` looks where there is no such file. Raises `UsageError`
    where there is none, or more than one.
    """
    if bundle is not None or not database.exists(options.database_path(db)):
        connection, found = _in_bundle(concept, bundle, db, otherwise, no_sync=no_sync)
    else:
        connection, found = _in_catalog(concept, options.database_path(db), otherwise, no_sync=no_sync)
    if len(found) > 1:
        raise UsageError(
            f"{concept} is in {len(found)} places: {', '.join(f'@{name} {path}' for name, path in found[:5])}; "
            "choose one with --bundle @name"
        )
    return connection, *found[0]


def _in_bundle(
    concept: str, bundle: str | None, db: str | None, otherwise: Finder, *, no_sync: bool
) -> tuple[sqlite3.Connection, Places]:
    view = options.open_bundle(bundle, db, no_sync=no_sync).view
    name = view.bundle.name
    wanted = _inside(concept, [view.bundle])[0]
    found = queries.locate(view.connection, wanted, name) or otherwise(view.connection, wanted, name)
    if not found:
        raise _unknown(view.connection, concept, name, os.path.basename(view.bundle.root))
    return view.connection, found


def _in_catalog(
    concept: str, path: str, otherwise: Finder, *, no_sync: bool
) -> tuple[sqlite3.Connection, Places]:
    """Look in every bundle; refresh only those that hold it, or all when none does."""
    connection = database.open_existing(path)
    with database.reported(path):
        known = bundles(connection)
        wanted, owner = _inside(concept, known)
        name = owner.name if owner else None
        found = queries.locate(connection, wanted, name)
        names = {place[0] for place in found} or ({name} if name else {each.name for each in known})
        for each in known:
            if each.name in names:
                for remark in refresh_bundle(connection, path, each, system_clock, refresh=not no_sync):
                    output.note(remark)
        if not no_sync:
            found = queries.locate(connection, wanted, name)
        found = found or otherwise(connection, wanted, name)
    if not found:
        raise _unknown(connection, concept, name, "the catalog")
    return connection, found


def _inside(concept: str, known: list[Bundle]) -> tuple[str, Bundle | None]:
    """`concept` as a path inside the bundle that holds it, where it names a file on disk."""
    if os.path.isfile(concept):
        full = os.path.abspath(concept)
        for bundle in sorted(known, key=lambda each: -len(each.root)):
            for root in (bundle.root, os.path.realpath(bundle.root)):
                if full.startswith(root.rstrip("/") + "/"):
                    return os.path.relpath(full, root), bundle
    return concept, None


def _unknown(connection: sqlite3.Connection, concept: str, bundle: str | None, where: str) -> UsageError:
    close = queries.nearest(connection, concept, bundle)
    hint = f"; near it: {', '.join(close)}" if close else ""
    return UsageError(f"there is no {concept} in {where}{hint}")
