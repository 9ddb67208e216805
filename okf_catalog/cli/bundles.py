"""`okf-catalog bundles`: what the catalog holds, and what the registry names besides."""

from __future__ import annotations

import os
import sqlite3
from typing import Any

from okf_catalog import registry
from okf_catalog.catalog import database, queries
from okf_catalog.catalog.sync import bundle_named, is_up_to_date
from okf_catalog.cli import options, output
from okf_catalog.errors import CatalogError

COLUMNS = ("name", "state", "registered", "title", "okf_version", "concepts", "parse_errors", "reserved_files", "stale",
           "reviewed", "last_synced_at", "root")  # fmt: skip
_FOR_PEOPLE = {"name": "Name", "state": "State", "concepts": "Concepts", "parse_errors": "Broken", "stale": "Stale",
               "reviewed": "Reviewed", "last_synced_at": "Synced", "root": "Directory"}  # fmt: skip


def bundles(
    db: options.Database = None,
    form: options.Format = None,
    as_json: options.Json = False,
    pretty: options.Pretty = False,
    fields: options.Fields = None,
    leave_out: options.Except = None,
    as_of: options.AsOf = None,
    no_sync: options.NoSync = False,
) -> int:
    """List the bundles of the catalog and of the registry.

    How many concepts each holds, how many of them are stale or reviewed by a person, how
    many files are broken, and its state: current, out of date, missing, not synced.
    """
    path = options.database_path(db)
    chosen = output.choose_format(form, as_json=as_json, pretty=pretty, default="table")
    rows = _rows(path, options.moment(as_of), look=not no_sync)
    shown, names = output.project(rows, COLUMNS, fields, leave_out)
    if chosen == "json":
        output.dump_json({"catalog": path, "count": len(rows), "bundles": shown}, pretty=pretty)
        return 0
    if chosen in ("table", "markdown") and fields is None and leave_out is None:
        names = list(_FOR_PEOPLE)
    if not rows and chosen == "table":
        print("The catalog holds no bundle yet; okf-catalog sync DIR adds one.")
        return 0
    output.emit_rows(shown, names, chosen, [_FOR_PEOPLE.get(name, name) for name in names])
    return 0


def _rows(path: str, now: str, *, look: bool) -> list[dict[str, Any]]:
    """The bundles of the catalog, then the registered ones that it does not hold."""
    registered = _registered()
    if not database.exists(path) and not registered:
        database.open_existing(path)  # says that there is no catalog, and how to make one
    rows = []
    if database.exists(path):
        connection = database.open_existing(path)
        with database.reported(path):
            for row in queries.bundle_rows(connection, now):
                ref = registered.pop(os.path.realpath(row["root"]), None)
                state = _state(connection, row["name"], row["root"], look=look)
                rows.append({**row, "state": state, "registered": ref.slug if ref else None})
    for ref in registered.values():
        row = dict.fromkeys(COLUMNS)
        row.update(name=ref.slug, registered=ref.slug, title=ref.title, root=ref.path,
                   state="missing" if ref.is_missing else "not synced")  # fmt: skip
        rows.append(row)
    return rows


def _state(connection: sqlite3.Connection, name: str, root: str, *, look: bool) -> str:
    if not os.path.isdir(root):
        return "missing"
    known = bundle_named(connection, name) if look else None
    if known is None:
        return "not checked"
    try:
        return "current" if is_up_to_date(connection, known) else "out of date"
    except CatalogError:
        return "missing"


def _registered() -> dict[str, registry.Ref]:
    """Registered bundles by their real directory; none where the registry cannot be read."""
    try:
        return {os.path.realpath(ref.path): ref for ref in registry.open_view().bundles}
    except registry.RegistryError as problem:
        output.note(str(problem))
        return {}
