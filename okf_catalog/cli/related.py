"""`okf-catalog related`: what has to do with a concept, and why."""

from __future__ import annotations

from typing import Annotated, Any

from okf_catalog.cli import listing, options, output
from okf_catalog.cli.declared import Option
from okf_catalog.cli.locate import located
from okf_catalog.errors import UsageError
from okf_catalog.views import related as view

TIES = ("links", "tags", "sources")
_MOST = 20


def related(
    concept: options.ConceptArgument,
    bundle: options.InBundle = None,
    by: Annotated[list[str] | None, Option("--by", metavar="TIE", help=f"Only these ties: {', '.join(TIES)}. Repeatable.", show_default=False, autocompletion=lambda: list(TIES))] = None,
    form: options.Format = None,
    as_json: options.Json = False,
    pretty: options.Pretty = False,
    fields: options.Fields = None,
    leave_out: options.Except = None,
    limit: Annotated[int, Option("--limit", metavar="N", min=0, help="Show at most N; 0 for all.")] = _MOST,
    offset: options.Offset = 0,
    no_sync: options.NoSync = False,
    db: options.Database = None,
) -> int:
    """List what has to do with a concept, the closest first, and what ties them.

    Links, links from elsewhere, sources and tags in common, in this order.
    """
    projects = fields is not None or leave_out is not None
    chosen = listing.form_of(form, as_json=as_json, pretty=pretty, projects=projects)
    names = listing.names_of(view.KEYS, fields, leave_out)
    wanted = [value.strip().lower() for value in by or TIES]
    for value in wanted:
        if value not in TIES:
            raise UsageError(f"--by {value}: choose one of {', '.join(TIES)}")
    connection, name, path = located(concept, bundle, db, no_sync=no_sync)
    rows = view.related(connection, name, path)
    if rows is None:
        raise unrelated(path)
    found = [row for row in rows if any(is_tied(row, tie) for tie in wanted)]
    shown = list(listing.sliced(found, limit or None, offset))
    if chosen == "json":
        head = {"bundle": name, "path": path, "count": len(found)}
        output.stream_json({**head, "related": listing.only(shown, names)}, pretty=pretty)
        return 0
    if chosen == listing.TEXT:
        print(f"Related — {output.one_line(path)}  ·  @{name} ({output.plural(len(found), 'concept')})")
        for row in shown:
            print(f"\n  {output.one_line(row['path'])}  {output.one_line(row['title'])}")
            print(f"    {output.one_line('  ·  '.join(_told(row)))}")
        listing.print_rest(len(found), offset, len(shown))
    else:
        output.emit_rows(shown, names, chosen)
        if len(found) > offset + len(shown):
            output.note(f"{len(found) - offset - len(shown)} more (--limit 0 shows all)")
    return 0


def unrelated(path: str) -> UsageError:
    """What is to be said of a file that is no concept."""
    return UsageError(f"{path} is no concept, so nothing is known to be related to it")


def is_tied(row: dict[str, Any], tie: str) -> bool:
    """Whether a row of `views.related` is there for one of `TIES`."""
    if tie == "links":
        return bool(row["links_to"] or row["linked_from"] or row["also"])
    return bool(row[tie])


def _told(row: dict[str, Any]) -> list[str]:
    facts = [name for name, key in (("links to", "links_to"), ("linked from", "linked_from")) if row[key]]
    facts += [tie.replace("_", " ") for tie in row["also"]]
    if row["sources"]:
        facts.append(f"{'source' if len(row['sources']) == 1 else 'sources'} in common: {', '.join(row['sources'])}")
    if row["tags"]:
        facts.append(f"{'tag' if len(row['tags']) == 1 else 'tags'} in common: {', '.join(row['tags'])}")
    return facts
