"""`okf-catalog actors`: who wrote and who checked."""

from __future__ import annotations

from typing import Annotated, Any

from okf_catalog.cli import listing, options, output
from okf_catalog.cli.declared import Option
from okf_catalog.errors import UsageError
from okf_catalog.views import actors as view

KINDS = ("human", "process", "team", "agent", "unknown")


def actors(
    bundle: options.BundleArgument = None,
    kind: Annotated[list[str] | None, Option("--kind", metavar="KIND", help=f"Only these: {', '.join(KINDS)}. Repeatable.", show_default=False, autocompletion=lambda: list(KINDS))] = None,
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
    """List who generated and who verified concepts, the busiest first.

    How many concepts each wrote and how many of these are stale, how many each verified
    and for how many of these that still holds.
    """
    projects = fields is not None or leave_out is not None
    chosen = listing.form_of(form, as_json=as_json, pretty=pretty, projects=projects)
    names = listing.names_of(view.KEYS, fields, leave_out)
    wanted = {value.strip().lower() for value in kind or ()}
    for value in sorted(wanted.difference(KINDS)):
        raise UsageError(f"--kind {value}: choose one of {', '.join(KINDS)}")
    now = options.moment(as_of)
    opened = options.open_bundle(bundle, db, no_sync=no_sync)
    rows = view.actors(opened.view.connection, opened.view.bundle.name, now)
    found = [row for row in rows if not wanted or row["kind"] in wanted]
    shown = list(listing.sliced(found, limit, offset))
    if chosen == "json":
        output.stream_json({**opened.head, "as_of": now, "count": len(found), "actors": listing.only(shown, names)}, pretty=pretty)
    elif chosen == listing.TEXT:
        _print(shown, opened.label, len(found))
        listing.print_rest(len(found), offset, len(shown))
    else:
        output.emit_rows(shown, names, chosen)
    return 0


def _print(rows: list[dict[str, Any]], label: str, total: int) -> None:
    print(f"Actors — {label} ({total})")
    if not total:
        print("  nobody is named")
        return
    width = max((listing.wide(output.one_line(row["actor"])) for row in rows), default=0)
    print()
    for row in rows:
        facts = []
        if row["generated"]:
            facts.append(f"generated {row['generated']}" + (f" ({row['stale']} stale)" if row["stale"] else ""))
        if row["verified"]:
            held = "" if row["current"] == row["verified"] else f" ({row['current']} still hold)"
            facts.append(f"verified {row['verified']}{held}")
        if row["last_at"]:
            facts.append(f"last {row['last_at'][:10]}")
        print(f"  {listing.pad(output.one_line(row['actor']), width)}  {row['kind']:7}  {'  ·  '.join(facts)}")
