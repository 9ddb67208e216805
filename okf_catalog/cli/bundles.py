"""`okf-catalog bundles`: what the catalog holds."""

from __future__ import annotations

from okf_catalog.catalog import database, queries
from okf_catalog.cli import options, output

COLUMNS = ("name", "title", "okf_version", "concepts", "parse_errors", "reserved_files", "stale", "reviewed",
           "last_synced_at", "root")  # fmt: skip
_FOR_PEOPLE = {"name": "Name", "concepts": "Concepts", "parse_errors": "Broken", "stale": "Stale", "reviewed": "Reviewed",
               "last_synced_at": "Synced", "root": "Directory"}  # fmt: skip


def bundles(
    db: options.Database = None,
    form: options.Format = None,
    as_json: options.Json = False,
    pretty: options.Pretty = False,
    fields: options.Fields = None,
    leave_out: options.Except = None,
    as_of: options.AsOf = None,
) -> int:
    """List the bundles of the catalog.

    How many concepts each holds, how many of them are stale or reviewed by a person, how
    many files are broken, and when it was last synced.
    """
    path = options.database_path(db)
    chosen = output.choose_format(form, as_json=as_json, pretty=pretty, default="table")
    now = options.moment(as_of)
    connection = database.open_existing(path)
    with database.reported(path):
        rows = queries.bundle_rows(connection, now)
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
