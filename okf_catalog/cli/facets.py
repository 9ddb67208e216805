"""`okf-catalog facets`: how many concepts share a type, a status, a tag …"""

from __future__ import annotations

from typing import Annotated, Any

from okf_catalog.cli import listing, options, output
from okf_catalog.cli.declared import Option
from okf_catalog.views import facets as view

_NONE = "(none)"
_SHOWN = 12
"""Values of a facet that people see without --limit."""
_COLUMNS = 8
"""Columns of a two-way table that people see without --limit."""


def facets(
    bundle: options.BundleArgument = None,
    by: Annotated[list[str] | None, Option("--by", metavar="WHAT", help=f"{', '.join(view.DIMENSIONS)}; two of them with a comma (type,trust) make a two-way table. Repeatable. [default: {', '.join(view.USUAL)}]", show_default=False, autocompletion=lambda: list(view.DIMENSIONS))] = None,
    types: options.Types = None,
    dirs: options.Dirs = None,
    tags: options.Tags = None,
    statuses: options.Statuses = None,
    trusts: options.Trusts = None,
    stale_only: options.StaleOnly = False,
    not_types: options.NotTypes = None,
    not_tags: options.NotTags = None,
    not_statuses: options.NotStatuses = None,
    limit: Annotated[int | None, Option("--limit", metavar="N", min=0, help="At most N values of each.", show_default=False)] = None,
    as_of: options.AsOf = None,
    form: options.Format = None,
    as_json: options.Json = False,
    pretty: options.Pretty = False,
    no_sync: options.NoSync = False,
    db: options.Database = None,
) -> int:
    """Count the concepts by type, status, trust, staleness, tag, directory, source, actor or year.

    The filters drill down: `facets --by tag --type Metric` counts the tags of metrics.
    """
    chosen = listing.form_of(form, as_json=as_json, pretty=pretty)
    wanted = [_dimensions(text) for text in by] if by else [(name,) for name in view.USUAL]
    filters = options.filters(
        types=types, tags=tags, statuses=statuses, trusts=options.tiers(trusts), stale_only=stale_only, dirs=dirs,
        not_types=not_types, not_tags=not_tags, not_statuses=not_statuses,
    )  # fmt: skip
    now = options.moment(as_of)
    opened = options.open_bundle(bundle, db, no_sync=no_sync)
    asked = listing.ask(opened, filters, now)
    found = [view.facet(asked, names) for names in wanted]
    if chosen == "json":
        output.dump_json(
            {**opened.head, "concepts": asked.size(), "facets": [_json(facet, limit) for facet in found]}, pretty=pretty
        )
    elif chosen == listing.TEXT:
        print(f"Facets — {opened.label} ({listing.counted(asked.size(), asked.whole(), 'concept')})")
        for facet in found:
            _print(facet, limit)
    else:
        rows = [row for facet in found for row in _rows(facet, limit, apart=len(found) > 1)]
        names = ("by", "value", "count") if len(found) > 1 else (*found[0].by, "count")
        output.emit_rows(rows, names, chosen)
    return 0


def _dimensions(text: str) -> tuple[str, ...]:
    """One or two properties. Raises `UsageError`."""
    names = []
    for word in text.split(","):
        matches = [name for name in view.DIMENSIONS if name == word.strip()] or [
            name for name in view.DIMENSIONS if word.strip() and name.startswith(word.strip())
        ]
        if len(matches) != 1:
            raise output.usage(f"--by {text}: choose of {', '.join(view.DIMENSIONS)}")
        names.append(matches[0])
    if len(names) > 2 or len(set(names)) < len(names):
        raise output.usage(f"--by {text}: one property, or two different ones with a comma between")
    return tuple(names)


def _json(facet: view.Facet, limit: int | None) -> dict[str, Any]:
    values: list[dict[str, Any]] = []
    for count in facet.counts[:limit]:
        if len(facet.by) == 1:
            value = count.values[0]
            values.append({"value": value, "count": count.concepts, "filter": view.option_for(facet.by[0], value)})
        else:
            values.append({**dict(zip(facet.by, count.values, strict=True)), "count": count.concepts})
    return {"by": list(facet.by), "count": len(facet.counts), "values": values}


def _rows(facet: view.Facet, limit: int | None, *, apart: bool) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for count in facet.counts[:limit]:
        if apart:
            shown = " / ".join(_text(name, value) for name, value in zip(facet.by, count.values, strict=True))
            rows.append({"by": ",".join(facet.by), "value": shown, "count": count.concepts})
        else:
            rows.append({**dict(zip(facet.by, count.values, strict=True)), "count": count.concepts})
    return rows


def _text(name: str, value: view.Value) -> str:
    if name == "stale":
        return "stale" if value else "fresh"
    return _NONE if value is None else listing.place(str(value)) if name == "dir" else output.one_line(str(value))


def _print(facet: view.Facet, limit: int | None) -> None:
    print(f"\n  By {' and '.join(facet.by)}")
    if len(facet.by) == 2:
        _print_table(facet, limit)
        return
    shown = facet.counts[: _SHOWN if limit is None else limit]
    names = [_text(facet.by[0], count.values[0]) for count in shown]
    width = max(map(listing.wide, names), default=0)
    for name, count in zip(names, shown, strict=True):
        print(f"    {listing.pad(name, width)}  {count.concepts:>5}")
    _say_more(len(facet.counts) - len(shown), output.plural(len(facet.counts) - len(shown), "value"))


def _print_table(facet: view.Facet, limit: int | None) -> None:
    cells = {count.values: count.concepts for count in facet.counts}
    # Both sides in the order of their most frequent pair.
    rows = list(dict.fromkeys(values[0] for values in cells))
    columns = list(dict.fromkeys(values[1] for values in cells))
    shown, across = rows[: _SHOWN if limit is None else limit], columns[: _COLUMNS if limit is None else limit]
    heads = [listing.shortened(_text(facet.by[1], value), 24) for value in across]
    names = [_text(facet.by[0], value) for value in shown]
    width = max(map(listing.wide, names), default=0)
    print(f"    {''.ljust(width)}  {'  '.join(head.rjust(5) for head in heads)}")
    for name, value in zip(names, shown, strict=True):
        numbers = "  ".join(
            str(cells.get((value, other), "·")).rjust(max(5, len(head))) for other, head in zip(across, heads, strict=True)
        )
        print(f"    {listing.pad(name, width)}  {numbers}")
    _say_more(len(rows) - len(shown), output.plural(len(rows) - len(shown), "row"))
    _say_more(len(columns) - len(across), output.plural(len(columns) - len(across), "column"))


def _say_more(count: int, text: str) -> None:
    if count > 0:
        print(f"    … and {text} more (--limit)")
