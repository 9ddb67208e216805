"""`okf-catalog sources`: what the concepts of a bundle rest on."""

from __future__ import annotations

from typing import Annotated, Any

from okf_catalog.cli import listing, options, output
from okf_catalog.cli.declared import Option
from okf_catalog.views import sources as view

_FOR_PEOPLE = {"source": "Source", "title": "Title", "concepts": "Concepts", "last_modified": "Modified", "outdated": "Newer than"}
_SHOWN = 3
"""Paths of outdated concepts in a line for people."""


def sources(
    bundle: options.BundleArgument = None,
    newer: Annotated[bool, Option("--newer", help="Only those modified after a concept that rests on them was generated.")] = False,
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
    """List the distinct sources, the most used first.

    How many concepts rest on each, when it was last modified (the newest moment that any
    concept gives), and which concepts are older than that.
    """
    projects = fields is not None or leave_out is not None
    chosen = listing.form_of(form, as_json=as_json, pretty=pretty, projects=projects)
    names = listing.names_of(view.KEYS, fields, leave_out)
    opened = options.open_bundle(bundle, db, no_sync=no_sync)
    rows = view.sources(opened.view.connection, opened.view.bundle.name, only_newer=newer)
    if chosen == "json":
        found = list(rows)
        told = listing.only(listing.sliced(found, limit, offset), names)
        output.stream_json({**opened.head, "count": len(found), "sources": told}, pretty=pretty)
    elif chosen == listing.TEXT:
        found = list(rows)
        shown = list(listing.sliced(found, limit, offset))
        _print(shown, opened.label, len(found), newer=newer)
        listing.print_rest(len(found), offset, len(shown))
    else:
        if chosen in ("markdown", "table") and not projects:
            names = list(_FOR_PEOPLE)
        output.emit_rows(listing.sliced(rows, limit, offset), names, chosen, [_FOR_PEOPLE.get(each, each) for each in names])
    return 0


def _print(rows: list[dict[str, Any]], label: str, total: int, *, newer: bool) -> None:
    print(f"Sources — {label} ({total}{' newer than what rests on them' if newer else ' distinct'})")
    if not total:
        print("  none")
    for row in rows:
        facts = [output.plural(row["concepts"], "concept")]
        if row["last_modified"]:
            facts.append(f"modified {row['last_modified'][:10]}")
        if row["kind"] != view.OTHER:
            facts.append(row["kind"])
        title = f"  {output.one_line(row['title'])}" if row["title"] and row["title"] != row["source"] else ""
        print(f"\n  {output.one_line(row['source'])}{title}")
        print(f"    {'  ·  '.join(facts)}")
        if row["outdated"]:
            more = f" and {row['outdated'] - _SHOWN} more" if row["outdated"] > _SHOWN else ""
            print(f"    newer than {', '.join(output.one_line(path) for path in row['outdated_concepts'][:_SHOWN])}{more}")
