"""`okf-catalog catalog`: every concept with what tells how far to trust it."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from okf_catalog.cli import listing, options, output
from okf_catalog.views import lists as view

_DESCRIPTION = 92


def catalog(
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
    """List the concepts with type, description, status, trust, sources and links, by id."""
    projects = fields is not None or leave_out is not None
    chosen = listing.form_of(form, as_json=as_json, pretty=pretty, projects=projects)
    filters = options.filters(
        types=types, tags=tags, statuses=statuses, trusts=options.tiers(trusts), stale_only=stale_only, dirs=dirs, area=area
    )
    now = options.moment(as_of)
    opened = options.open_bundle(bundle, db, no_sync=no_sync)
    asked = listing.ask(opened, filters, now)
    names = listing.names_of(view.CATALOG_KEYS, fields, leave_out)
    rows = view.catalog(asked, limit=limit, offset=offset)
    if chosen == "json":
        output.stream_json({**opened.head, "count": asked.size(), "concepts": listing.only(rows, names)}, pretty=pretty)
    elif chosen == listing.TEXT:
        _print(list(rows), opened.label, listing.counted(asked.size(), asked.whole(), "concept"))
    else:
        output.emit_rows(rows, names, chosen)
    return 0


def _print(rows: list[dict[str, Any]], label: str, counted: str) -> None:
    print(f"Catalog — {label} ({counted})")
    rows.sort(key=lambda row: row["top_dir"])
    for top, group in groupby(rows, lambda row: row["top_dir"]):
        members = list(group)
        print(f"\n  {output.one_line(top)}{'' if top == listing.ROOT_LABEL else '/'} ({len(members)})")
        for row in members:
            links = row["links_out"] + row["links_in"]
            parts = [row["title"], row["type"] or "Untyped", f"↳{links}" if links else "", row["status"] or ""]
            print(f"    {'  ·  '.join(output.one_line(part) for part in parts if part)}")
            if row["description"]:
                print(f"      {listing.shortened(row['description'], _DESCRIPTION)}")
