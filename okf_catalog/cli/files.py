"""`okf-catalog files`: the files of the concepts."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from okf_catalog.cli import listing, options, output
from okf_catalog.views import lists as view


def files(
    bundle: options.BundleArgument = None,
    types: options.Types = None,
    dirs: options.Dirs = None,
    area: options.Area = None,
    tags: options.Tags = None,
    statuses: options.Statuses = None,
    trusts: options.Trusts = None,
    stale_only: options.StaleOnly = False,
    as_of: options.AsOf = None,
    form: options.Format = None,
    as_json: options.Json = False,
    pretty: options.Pretty = False,
    fields: options.Fields = None,
    leave_out: options.Except = None,
    limit: options.Limit = None,
    offset: options.Offset = 0,
    no_sync: options.NoSync = False,
    db: options.Database = None,
) -> int:
    """List the files of the concepts with their titles, by directory."""
    projects = fields is not None or leave_out is not None
    chosen = listing.form_of(form, as_json=as_json, pretty=pretty, projects=projects)
    filters = options.filters(
        types=types, tags=tags, statuses=statuses, trusts=options.tiers(trusts), stale_only=stale_only, dirs=dirs, area=area
    )
    now = options.moment(as_of)
    opened = options.open_bundle(bundle, db, no_sync=no_sync)
    asked = listing.ask(opened, filters, now)
    names = listing.names_of(view.FILE_KEYS, fields, leave_out)
    rows = view.files(asked, limit=limit, offset=offset)
    if chosen == "json":
        output.stream_json({**opened.head, "count": asked.size(), "files": listing.only(rows, names)}, pretty=pretty)
    elif chosen == listing.TEXT:
        _print(list(rows), opened.label, listing.counted(asked.size(), asked.whole(), "file"))
    else:
        output.emit_rows(rows, names, chosen)
    return 0


def _print(rows: list[dict[str, Any]], label: str, counted: str) -> None:
    print(f"Files — {label} ({counted})")
    rows.sort(key=lambda row: row["dir"])
    for directory, group in groupby(rows, lambda row: row["dir"]):
        members = [(output.one_line(row["path"].rpartition("/")[2]), output.one_line(row["title"])) for row in group]
        width = max(listing.wide(name) for name, _ in members)
        print(f"\n  {listing.place(directory)}{'' if directory == '.' else '/'}")
        for name, title in members:
            print(f"    {listing.pad(name, width)}  {title}")
