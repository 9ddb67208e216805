"""`okf-catalog find`: filters over concepts, as a markdown table."""

from __future__ import annotations

import csv
from typing import Annotated

from okf_catalog.catalog import queries
from okf_catalog.catalog.filters import Filters
from okf_catalog.cli import completion, options, output
from okf_catalog.cli.declared import Option
from okf_catalog.errors import UsageError
from okf_catalog.format.trust import TIERS
from okf_catalog.format.vocabulary import STATUSES
from okf_catalog.search.query import Corpus
from okf_catalog.search.run import unknown_values

COLUMNS = ("path", "id", "type", "title", "status", "trust_tier", "stale", "tags", "parse_error")
_HEADINGS = {"path": "Path", "type": "Type", "title": "Title", "status": "Status", "trust_tier": "Trust Tier",
             "stale": "Stale", "tags": "Tags"}  # fmt: skip
_PARSE_ERROR = "(parse error)"


def find(
    bundle: options.BundleArgument = None,
    query: Annotated[list[str] | None, Option("--query", "-q", metavar="TEXT", help="Literal text in title, description or body. Repeatable: all have to be there.", show_default=False)] = None,
    types: options.Types = None,
    tags: Annotated[list[str] | None, Option("--tags", "--tag", metavar="LIST", help="With any of these tags; quote a tag that holds a comma: '\"x, y\",z'.", show_default=False, autocompletion=completion.tags)] = None,
    status: Annotated[str | None, Option("--status", metavar="STATUS", help=f"{', '.join(STATUSES)}; a concept without one is stable.", show_default=False, autocompletion=lambda: list(STATUSES))] = None,
    stale_only: options.StaleOnly = False,
    trust_tier: Annotated[str | None, Option("--trust-tier", "--trust", metavar="TIER", help=f"{', '.join(TIERS)}.", show_default=False, autocompletion=lambda: list(TIERS))] = None,
    trust_current: Annotated[str | None, Option("--trust-current", metavar="TIER", help="Like --trust-tier, counting only verifications on or after generated.at.", show_default=False)] = None,
    ask: Annotated[str | None, Option("--ask", metavar="REQUEST", help='Filters from words: "stale deprecated metrics tagged finance".', show_default=False)] = None,
    as_of: options.AsOf = None,
    form: options.Format = None,
    as_json: options.Json = False,
    pretty: options.Pretty = False,
    fields: options.Fields = None,
    leave_out: options.Except = None,
    no_sync: options.NoSync = False,
    db: options.Database = None,
) -> int:
    """List the concepts of a bundle that match filters.

    Prints a markdown table, sorted by path, and a line that counts. Files that cannot be
    read are listed as `(parse error)` as long as no filter rules them out.
    """
    chosen = output.choose_format(form, as_json=as_json, pretty=pretty, default="markdown")
    filters = Filters(
        text=tuple(query or ()),
        types=tuple(types or ()),
        tags=tuple(tag for text in tags or () for tag in split_list(text) or ("",)),
        statuses=one_of("--status", status, STATUSES),
        trust_tiers=one_of("--trust-tier", trust_tier, TIERS),
        trust_current=one_of("--trust-current", trust_current, TIERS),
        stale_only=stale_only,
    )
    now = options.moment(as_of)
    opened = options.open_bundle(bundle, db, no_sync=no_sync)
    view = opened.view
    if ask is not None:
        from okf_catalog.catalog.ask import infer

        inferred = infer(ask, queries.vocabulary(view.connection, view.bundle.name))
        filters = inferred.merge(filters)
        output.note(f"read as: {inferred.describe()}")
    found = queries.find(view.connection, view.bundle.name, filters, now)
    if not found.concepts:
        for remark in unknown_values(Corpus(view.connection, {view.bundle.name: ""}, filters, now)):
            output.note(remark)
    rows, names = output.project(found.concepts, COLUMNS, fields, leave_out)
    if chosen == "json":
        head = {**opened.head, "count": found.matches, "parse_errors": found.parse_errors}
        output.stream_json({**head, "concepts": iter(rows)}, pretty=pretty)
    elif chosen in ("markdown", "table"):
        if fields is None and leave_out is None:
            names = list(_HEADINGS)
        for row, whole in zip(rows, found.concepts, strict=True):
            if whole["parse_error"] and "type" in row:
                row["type"] = _PARSE_ERROR
        output.emit_rows(rows, names, chosen, [_HEADINGS.get(name, name) for name in names])
        print()
        print(summary(found.matches, found.parse_errors))
    else:
        output.emit_rows(rows, names, chosen)
    return 0


def summary(count: int, parse_errors: int) -> str:
    """The line below the table."""
    text = f"{count} concept(s) found"
    return f"{text}, {parse_errors} file(s) with parse errors" if parse_errors else text


def split_list(text: str) -> list[str]:
    """The items of a comma list; double quotes keep a comma inside an item."""
    items = next(iter(csv.reader([" ".join(text.splitlines())], skipinitialspace=True)), [])
    return [item.strip() for item in items if item.strip()]


def one_of(option: str, value: str | None, allowed: tuple[str, ...]) -> tuple[str, ...]:
    """The value as the specification spells it. Raises `UsageError` that lists the allowed ones."""
    if value is None:
        return ()
    spelled = value.strip().lower().replace("_", "-")
    if spelled not in allowed:
        raise UsageError(f"{option} {value}: choose one of {', '.join(allowed)}")
    return (spelled,)
