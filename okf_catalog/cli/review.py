"""`okf-catalog review`: the queue of what wants a person's eye."""

from __future__ import annotations

import re
import sys
from datetime import datetime, timedelta
from typing import Annotated, Any

from okf_catalog.cli import listing, options, output
from okf_catalog.cli.declared import Option
from okf_catalog.errors import UsageError
from okf_catalog.format.durations import duration
from okf_catalog.format.values import utc_text
from okf_catalog.views import review as view

ICS = "ics"
_FOR_PEOPLE = {"path": "Path", "title": "Title", "reasons": "Why", "due": "Due", "days": "Days", "trust_current": "Trust now",
               "links_in": "Linked from"}  # fmt: skip
_SOON = "30d"


def review(
    bundle: options.BundleArgument = None,
    within: Annotated[str | None, Option("--within", metavar="TIME", help=f"What goes stale within this time counts too: 12h, 30d, 8w. [default: {_SOON}; for ics no end]", show_default=False)] = None,
    reason: Annotated[list[str] | None, Option("--reason", metavar="NAME", help=f"Only for this reason: {', '.join(view.REASONS)}. Repeatable.", show_default=False, autocompletion=lambda: list(view.REASONS))] = None,
    types: options.Types = None,
    dirs: options.Dirs = None,
    tags: options.Tags = None,
    statuses: options.Statuses = None,
    not_types: options.NotTypes = None,
    not_tags: options.NotTags = None,
    not_statuses: options.NotStatuses = None,
    as_of: options.AsOf = None,
    form: Annotated[str | None, Option("--format", metavar="NAME", help=f"{', '.join(output.FORMATS)}, {ICS} (a calendar of the due dates).", show_default=False)] = None,
    as_json: options.Json = False,
    pretty: options.Pretty = False,
    fields: options.Fields = None,
    leave_out: options.Except = None,
    limit: options.Limit = None,
    offset: options.Offset = 0,
    no_sync: options.NoSync = False,
    db: options.Database = None,
) -> int:
    """List what wants a person's eye, the most linked first.

    What is stale or will be soon, what nobody ever verified, what was verified before its
    content was generated, and broken files.
    """
    projects = fields is not None or leave_out is not None
    chosen = listing.form_of(form, as_json=as_json, pretty=pretty, projects=projects, more=(ICS,))
    names = listing.names_of(view.KEYS, fields, leave_out)
    wanted = _reasons(reason or [], chosen)
    now = options.moment(as_of)
    until = _until(within, now, chosen)
    filters = options.filters(
        types=types, tags=tags, statuses=statuses, dirs=dirs, not_types=not_types, not_tags=not_tags, not_statuses=not_statuses
    )
    opened = options.open_bundle(bundle, db, no_sync=no_sync)
    connection, name = opened.view.connection, opened.view.bundle.name
    listing.note_unknown(opened, filters, now)
    rows = view.queue(connection, name, filters, now, until, wanted)
    if chosen == "json":
        found = list(rows)
        shown = listing.only(listing.sliced(found, limit, offset), names)
        output.stream_json({**opened.head, "as_of": now, "count": len(found), "review": shown}, pretty=pretty)
    elif chosen == ICS:
        from okf_catalog.views.calendar import calendar

        if projects:
            raise UsageError("--format ics has no columns: leave out --fields and --except")
        made = calendar(listing.sliced(rows, limit, offset), name, view.last_change(connection, name))
        sys.stdout.write(output.for_stdout(made.decode()) if sys.stdout.isatty() else made.decode())
    elif chosen == listing.TEXT:
        found = list(rows)
        _print(list(listing.sliced(found, limit, offset)), opened.label, found, offset)
    else:
        if chosen in ("markdown", "table") and not projects:
            names = list(_FOR_PEOPLE)
        output.emit_rows(listing.sliced(rows, limit, offset), names, chosen, [_FOR_PEOPLE.get(each, each) for each in names])
    return 0


def _reasons(asked: list[str], chosen: str) -> frozenset[str]:
    known = {spelled for word in asked for spelled in view.REASONS if spelled == word.strip().lower().replace("_", "-")}
    unknown = next((word for word in asked if word.strip().lower().replace("_", "-") not in view.REASONS), None)
    if unknown is not None:
        raise UsageError(f"--reason {unknown}: choose one of {', '.join(view.REASONS)}")
    return frozenset(known or (view.REASONS if chosen != ICS else (view.STALE, view.DUE)))


def _until(within: str | None, now: str, chosen: str) -> str | None:
    """The end of what counts as soon due. Raises `UsageError`."""
    if within is None and chosen == ICS:
        return None
    text = within if within is not None else _SOON
    length: timedelta | None = None if re.fullmatch(r"\s*\d+\s*", text) else duration(text)
    if length is None:
        raise UsageError(f"--within {text}: write a time with its unit, as in 12h, 30d or 8w")
    try:
        return utc_text(datetime.fromisoformat(now.replace("Z", "+00:00")) + length)
    except OverflowError:  # after the year 9999: everything
        return None


def _print(rows: list[dict[str, Any]], label: str, found: list[dict[str, Any]], offset: int) -> None:
    counts = {reason: sum(reason in row["reasons"] for row in found) for reason in view.REASONS}
    told = ", ".join(f"{count} {reason.replace('-', ' ')}" for reason, count in counts.items() if count)
    print(f"Review — {label} ({len(found)}{f': {told}' if told else ''})")
    if not found:
        print("  ✓ nothing wants a look")
    for row in rows:
        facts = [_why(reason, row) for reason in row["reasons"]]
        linked = f"  ·  linked from {row['links_in']}" if row["links_in"] else ""
        print(f"\n  {output.one_line(row['path'])}  {output.one_line(row['title'])}{linked}")
        print(f"    {'; '.join(facts)}")
    listing.print_rest(len(found), offset, len(rows))


def _why(reason: str, row: dict[str, Any]) -> str:
    if reason == view.BROKEN:
        return f"broken: {output.one_line(row['message'])}"
    if reason == view.STALE:
        return f"stale since {row['due'][:10]}"
    if reason == view.DUE:
        return f"due on {row['due'][:10]}, in {output.plural(row['days'], 'day')}" if row["days"] else f"due on {row['due'][:10]}"
    if reason == view.OUTRUN:
        return f"verified before generated (now {row['trust_current']})"
    return reason
