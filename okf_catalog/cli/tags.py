"""`okf-catalog tags`: the tags of a bundle and the concepts of each."""

from __future__ import annotations

from typing import Annotated, Any

from okf_catalog.cli import listing, options, output
from okf_catalog.cli.declared import Option
from okf_catalog.cli.types import print_groups
from okf_catalog.views import groups as view

_TITLES = 76
_DIMENSIONS = ("type", "dir")


def tags(
    bundle: options.BundleArgument = None,
    by: Annotated[str | None, Option("--by", metavar="WHAT", help="Group them by type or dir.", show_default=False, autocompletion=lambda: list(_DIMENSIONS))] = None,
    types: options.Types = None,
    dirs: options.Dirs = None,
    area: options.Area = None,
    statuses: options.Statuses = None,
    trusts: options.Trusts = None,
    stale_only: options.StaleOnly = False,
    as_of: options.AsOf = None,
    form: options.Format = None,
    as_json: options.Json = False,
    pretty: options.Pretty = False,
    limit: options.Limit = None,
    offset: options.Offset = 0,
    no_sync: options.NoSync = False,
    db: options.Database = None,
) -> int:
    """List the tags in use, the most frequent first, with the concepts of each."""
    chosen = listing.form_of(form, as_json=as_json, pretty=pretty)
    dimension = _dimension(by)
    filters = options.filters(
        types=types, statuses=statuses, trusts=options.tiers(trusts), stale_only=stale_only, dirs=dirs, area=area
    )
    now = options.moment(as_of)
    opened = options.open_bundle(bundle, db, no_sync=no_sync)
    asked = listing.ask(opened, filters, now)
    if dimension is None:
        found = view.tags(asked)
        print_groups(found, listing.sliced(found.all, limit, offset), opened, chosen, "tag", pretty=pretty)
        return 0
    groups, total = view.tags_by(asked, dimension)
    shown = list(listing.sliced(groups, limit, offset))
    if chosen == "json":
        output.dump_json(
            {**opened.head, "count": len(total), "by": dimension, "groups": [_row(group, total, dimension) for group in shown]},
            pretty=pretty,
        )
    elif chosen == listing.TEXT:
        _print(shown, total, dimension, opened.label)
    else:
        names = (dimension, "tag", "count", "total", "concepts")
        output.emit_rows(
            [{dimension: group.key, **row} for group in shown for row in _row(group, total, dimension)["tags"]], names, chosen
        )
    return 0


def _dimension(by: str | None) -> str | None:
    """The grouping that `--by` asks for, which may be shortened. Raises `UsageError`."""
    if by is None:
        return None
    matches = [name for name in view.TAG_DIMENSIONS if by and name.startswith(by)]
    if len(matches) != 1:
        raise output.usage(f"--by {by}: choose type or dir")
    if matches[0] == "area":
        output.warning("--by area is deprecated, use --by dir")
    return matches[0]


def _row(group: view.TagGroup, total: dict[str, int], dimension: str) -> dict[str, Any]:
    rows = [
        {"tag": tag.value, "count": len(tag.ids), "total": total[tag.value], "concepts": tag.ids} for tag in group.tags
    ]
    return {dimension: group.key, "count": len(rows), "tags": rows}


def _print(groups: list[view.TagGroup], total: dict[str, int], dimension: str, label: str) -> None:
    print(f"Tags — {label} ({len(total)} distinct, by {dimension})")
    for group in groups:
        slash = "/" if dimension != "type" and group.key not in (".", listing.ROOT_LABEL) else ""
        print(f"\n  {listing.place(group.key)}{slash} ({output.plural(len(group.tags), 'tag')})")
        width = max(listing.wide(output.one_line(tag.value)) for tag in group.tags)
        for tag in group.tags:
            here, all_of_it = len(tag.ids), total[tag.value]
            number = str(here) if here == all_of_it else f"{here}/{all_of_it}"
            print(f"    {listing.pad(output.one_line(tag.value), width)}  {number:>3}   {listing.joined(tag.titles, _TITLES)}")
