"""`okf-catalog types`: the types of a bundle and the concepts of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from okf_catalog.cli import listing, options, output
from okf_catalog.views import groups as view

_TITLES = 78


def types(
    bundle: options.BundleArgument = None,
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
    limit: options.Limit = None,
    offset: options.Offset = 0,
    no_sync: options.NoSync = False,
    db: options.Database = None,
) -> int:
    """List the types in use, the most frequent first, with the concepts of each."""
    chosen = listing.form_of(form, as_json=as_json, pretty=pretty)
    filters = options.filters(
        tags=tags, statuses=statuses, trusts=options.tiers(trusts), stale_only=stale_only, dirs=dirs, area=area
    )
    now = options.moment(as_of)
    opened = options.open_bundle(bundle, db, no_sync=no_sync)
    found = view.types(listing.ask(opened, filters, now))
    print_groups(found, listing.sliced(found.all, limit, offset), opened, chosen, "type", pretty=pretty)
    return 0


def print_groups(
    found: view.Groups, shown: Iterable[view.Group], opened: options.Opened, form: str, noun: str, *, pretty: bool
) -> None:
    """Write types or tags: `noun` is `type` or `tag`."""
    groups = list(shown)
    if form == "json":
        output.dump_json({**opened.head, "count": len(found.all), f"{noun}s": list(_rows(found, groups, noun))}, pretty=pretty)
    elif form == listing.TEXT:
        print(f"{noun.title()}s — {opened.label} ({len(found.all)} distinct)")
        if groups:
            print()
        width = max((listing.wide(output.one_line(group.value)) for group in groups), default=0)
        for group, titles in zip(groups, found.titles(groups), strict=True):
            name = listing.pad(output.one_line(group.value), width)
            print(f"  {name}  {group.size:>3}   {listing.joined(titles, _TITLES)}")
    else:
        output.emit_rows(_rows(found, groups, noun), (noun, "count", "concepts"), form)


def _rows(found: view.Groups, groups: list[view.Group], noun: str) -> Iterator[dict[str, Any]]:
    for group, ids in zip(groups, found.ids(groups), strict=True):
        yield {noun: group.value, "count": len(ids), "concepts": ids}
