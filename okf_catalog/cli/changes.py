"""`okf-catalog changes`: what syncs changed, newest first."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from itertools import groupby
from typing import Annotated, Any

from okf_catalog.cli import listing, options, output
from okf_catalog.cli.declared import Option
from okf_catalog.errors import UsageError
from okf_catalog.format.durations import duration
from okf_catalog.format.values import parse_instant, utc_text
from okf_catalog.views import changes as view

_SHORT = 72
"""Characters of a value that people are shown."""
_CALLED = {"effective_status": "status"}
"""Columns that people know by another name."""


def changes(
    bundle: options.BundleArgument = None,
    since: Annotated[str | None, Option("--since", metavar="WHEN", help="From an instant or date on, for the last 7d (12h, 2w), or after a sync by its number.", show_default=False)] = None,
    kind: Annotated[list[str] | None, Option("--kind", metavar="KIND", help=f"Only these: {', '.join(view.KINDS)}. Repeatable.", show_default=False, autocompletion=lambda: list(view.KINDS))] = None,
    field: Annotated[list[str] | None, Option("--field", metavar="NAME", help="Only changes of this field: status, title, body, path, … Repeatable.", show_default=False, autocompletion=lambda: list(view.FIELDS))] = None,
    as_of: Annotated[str | None, Option("--as-of", metavar="INSTANT", help="Count --since 7d back from this moment.", show_default=False)] = None,
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
    """List what changed between syncs, by concept and field, newest first.

    `--format markdown` makes a digest to mail. The first sync of a bundle adds everything
    and is not told of.
    """
    projects = fields is not None or leave_out is not None
    chosen = listing.form_of(form, as_json=as_json, pretty=pretty, projects=projects)
    names = listing.names_of(view.KEYS, fields, leave_out)
    kinds = _known("--kind", kind, view.KINDS)
    wanted = known_fields(field or ())
    start = since_of(since, options.moment(as_of))
    opened = options.open_bundle(bundle, db, no_sync=no_sync)
    connection, name = opened.view.connection, opened.view.bundle.name
    note_future(opened, start)
    rows = view.changes(connection, name, start, kinds=kinds, fields=wanted)
    if chosen == "json":
        found = list(rows)
        told = listing.only(listing.sliced(found, limit, offset), names)
        head = {"since": start.moment if start.sync is None else start.sync, "count": len(found)}
        output.stream_json({**opened.head, **head, "changes": told}, pretty=pretty)
    elif chosen == listing.TEXT or (chosen == "markdown" and not projects):
        found = list(rows)
        shown = list(listing.sliced(found, limit, offset))
        (_print if chosen == listing.TEXT else _digest)(shown, found, opened, start)
        left = len(found) - offset - len(shown)
        if left > 0 and shown:
            print(f"\n  … and {left} more (--limit, --offset)" if chosen == listing.TEXT else f"\n… and {left} more.")
    else:
        output.emit_rows(listing.sliced(rows, limit, offset), names, chosen)
    return 0


def known_fields(names: Iterable[str]) -> list[str]:
    """The columns that `--field` names. Raises `UsageError`."""
    return _known("--field", [_column(name) for name in names], view.FIELDS)


def note_future(opened: options.Opened, start: view.Since) -> None:
    """Say so where changes are wanted after a sync that has not been."""
    newest = view.newest_sync(opened.view.connection, opened.view.bundle.name)
    if start.sync is not None and start.sync > (newest or 0):
        output.note(f"the newest sync that changed something is {newest}")


def _column(name: str) -> str:
    return next((column for column, called in _CALLED.items() if called == name.strip().lower()), name)


def _known(option: str, values: list[str] | None, known: tuple[str, ...]) -> list[str]:
    spelled = [value.strip().lower() for value in values or ()]
    for value in spelled:
        if value not in known:
            names = (_CALLED.get(name, name) for name in known)
            raise UsageError(f"{option} {value}: choose one of {', '.join(names)}")
    return spelled


def since_of(text: str | None, now: str) -> view.Since:
    """What `--since` means. Raises `UsageError`."""
    if text is None:
        return view.Since()
    word = text.strip()
    if word.isascii() and word.isdigit():
        return view.Since(sync=int(word[:18]))
    length = duration(word)
    if length is not None:
        try:
            return view.Since(moment=utc_text(datetime.fromisoformat(now.replace("Z", "+00:00")) - length))
        except OverflowError:  # before the year 1: everything
            return view.Since()
    found = parse_instant(word)
    if found is None:
        raise UsageError(f"--since {text}: write a date (2027-01-01), an instant, a time back (7d, 12h) or the number of a sync")
    return view.Since(moment=found.utc)


# -- for people --------------------------------------------------------------------------


def told(row: dict[str, Any]) -> str:
    """What happened, in words: `status: stable → deprecated`."""
    if row["field"] is None:
        return f"{row['kind']}: {listing.shortened(row['new'], _SHORT)}" if row["new"] else row["kind"]
    if row["kind"] == "moved":
        return f"moved from {output.one_line(row['old'])}"
    name = _CALLED.get(row["field"], row["field"])
    if row["old"] is None and row["new"] is None:
        return f"{name} changed"
    return f"{name}: {_value(row['old'])} → {_value(row['new'])}"


def _value(value: Any) -> str:
    text = listing.shortened(output.cell(value), _SHORT)
    return text or "(none)"


def _counted(rows: list[dict[str, Any]]) -> str:
    """`2 added, 1 changed`: files, not fields."""
    counts = {kind: len({(row["sync"], row["path"]) for row in rows if row["kind"] == kind}) for kind in view.KINDS}
    return ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)


def print_syncs(rows: list[dict[str, Any]], *, path: bool = True) -> None:
    """The changes below the syncs that made them."""
    for (number, at), group in groupby(rows, lambda row: (row["sync"], row["at"])):
        print(f"\n  sync {number}  {at}")
        for place, lines in groupby(group, lambda row: row["path"]):
            if path:
                print(f"    {output.one_line(place)}")
            for row in lines:
                print(f"    {'  ' * path}{told(row)}")


def _print(rows: list[dict[str, Any]], found: list[dict[str, Any]], opened: options.Opened, start: view.Since) -> None:
    print(f"Changes — {opened.label}{_start(start)} ({_counted(found) or 'none'})")
    print_syncs(rows)


def _start(start: view.Since) -> str:
    if start.sync is not None:
        return f" since sync {start.sync}"
    return f" since {start.moment}" if start.moment is not None else ""


def _digest(rows: list[dict[str, Any]], found: list[dict[str, Any]], opened: options.Opened, start: view.Since) -> None:
    title = opened.view.bundle.name
    print(f"# What changed in {_text(title)}{_start(start)}\n")
    print(f"{_counted(found).capitalize()}." if found else "Nothing.")
    for (number, at), group in groupby(rows, lambda row: (row["sync"], row["at"])):
        print(f"\n## {at[:10]} {at[11:16]} UTC (sync {number})")
        by_kind: dict[str, dict[str, list[dict[str, Any]]]] = {}
        for row in group:
            by_kind.setdefault(row["kind"], {}).setdefault(row["path"], []).append(row)
        for kind in view.KINDS:
            if kind in by_kind:
                print(f"\n{kind.capitalize()}:\n")
            for path, lines in by_kind.get(kind, {}).items():
                print(_item(path, lines))


def _item(path: str, lines: list[dict[str, Any]]) -> str:
    title = lines[0]["title"]
    name = f"**{_text(title)}** ({_code(path)})" if title else _code(path)
    facts = "; ".join(_text(fact) for fact in _facts(lines))
    return f"- {name}{f': {facts}' if facts else ''}"


def _facts(lines: Iterable[dict[str, Any]]) -> Iterable[str]:
    for row in lines:
        if row["field"] is not None:
            yield told(row)
        elif row["new"]:
            yield listing.shortened(row["new"], _SHORT)


def _text(text: str) -> str:
    """Text of a bundle as markdown that shows it as it is: no link, image or HTML can come of it."""
    return "".join(f"\\{character}" if character in "\\`*_{}[]<>()#+!|~&" else character for character in output.one_line(text))


def _code(path: str) -> str:
    shown = output.one_line(path)
    return f"`{shown}`" if "`" not in shown else _text(shown)
