"""`okf-catalog bundles`: what the catalog holds, and what the registry names besides."""

from __future__ import annotations

import os
import sqlite3
from typing import Annotated, Any

from okf_catalog import registry
from okf_catalog.catalog import database, queries
from okf_catalog.catalog.current import is_up_to_date
from okf_catalog.catalog.sync import bundle_named
from okf_catalog.cli import completion, listing, options, output
from okf_catalog.cli.declared import Argument, Option
from okf_catalog.errors import CatalogError, UsageError
from okf_catalog.format import slugs
from okf_catalog.views.digest import digest as digest_of

COLUMNS = ("name", "state", "registered", "title", "okf_version", "concepts", "parse_errors", "reserved_files", "stale",
           "reviewed", "last_synced_at", "root")  # fmt: skip
_FOR_PEOPLE = {"name": "Name", "state": "State", "concepts": "Concepts", "parse_errors": "Broken", "stale": "Stale",
               "reviewed": "Reviewed", "last_synced_at": "Synced", "root": "Directory"}  # fmt: skip


_DIGEST = "digest"


def bundles(
    names: Annotated[list[str] | None, Argument(metavar="[BUNDLE]...", help="Only these: directories, or @names. [default: all]", show_default=False, autocompletion=completion.bundles)] = None,
    digest: Annotated[bool, Option("--digest", help="With a digest of the content as the catalog has it: the same on any machine, whatever the syncs.")] = False,
    db: options.Database = None,
    form: options.Format = None,
    as_json: options.Json = False,
    pretty: options.Pretty = False,
    fields: options.Fields = None,
    leave_out: options.Except = None,
    limit: options.Limit = None,
    offset: options.Offset = 0,
    as_of: options.AsOf = None,
    no_sync: options.NoSync = False,
) -> int:
    """List the bundles of the catalog and of the registry.

    How many concepts each holds, how many of them are stale or reviewed by a person, how
    many files are broken, and its state: current, out of date, missing, not synced.
    """
    path = options.database_path(db)
    chosen = output.choose_format(form, as_json=as_json, pretty=pretty, default="table")
    columns = (*COLUMNS, _DIGEST) if digest else COLUMNS
    kept = listing.names_of(columns, fields, leave_out)
    found = _chosen(_rows(path, options.moment(as_of), look=not no_sync, digest=digest and _DIGEST in kept), names or [])
    rows = list(listing.sliced(found, limit, offset))
    if chosen == "json":
        output.stream_json({"catalog": path, "count": len(found), "bundles": listing.only(rows, kept)}, pretty=pretty)
        return 0
    if chosen in ("table", "markdown") and fields is None and leave_out is None:
        kept = [*_FOR_PEOPLE, *([_DIGEST] if digest else [])]
    if not found and chosen == "table":
        print("The catalog holds no bundle yet; okf-catalog sync DIR adds one.")
        return 0
    output.emit_rows(rows, kept, chosen, [_FOR_PEOPLE.get(name, name.capitalize()) for name in kept])
    return 0


def _chosen(rows: list[dict[str, Any]], names: list[str]) -> list[dict[str, Any]]:
    """The rows of the bundles that are named. Raises `UsageError` for a name that nothing has."""
    wanted: list[str] = []
    for name in names:
        slug, place = slugs.normalize(name), os.path.realpath(os.path.expanduser(name))
        found = [row["root"] for row in rows
                 if (slug in (row["name"], row["registered"]) if name.startswith("@") else os.path.realpath(row["root"]) == place)]  # fmt: skip
        if not found:
            raise UsageError(f"{name} is no bundle of the catalog or the registry (okf-catalog bundles lists them)")
        wanted += found
    return [row for row in rows if not names or row["root"] in wanted]


def _rows(path: str, now: str, *, look: bool, digest: bool) -> list[dict[str, Any]]:
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
                hashed = digest_of(connection, row["name"]) if digest else None
                rows.append({**row, "state": state, "registered": ref.slug if ref else None, _DIGEST: hashed})
    for ref in registered.values():
        row = dict.fromkeys((*COLUMNS, _DIGEST))
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
