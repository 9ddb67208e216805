"""`okf-catalog dirs`: the directories of a bundle and how many concepts lie in them."""

from __future__ import annotations

from typing import Any

from okf_catalog.cli import judging, listing, options, output
from okf_catalog.views import index as view


def dirs(
    bundle: options.BundleArgument = None,
    directories: options.Dirs = None,
    depth: options.Depth = None,
    ancestors: options.Ancestors = True,
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
    """List the directories of a bundle with their concepts, the root first.

    With --dir, the way to it from the root is shown, too, marked as ancestors.
    """
    projects = fields is not None or leave_out is not None
    chosen = listing.form_of(form, as_json=as_json, pretty=pretty, projects=projects)
    levels = listing.depth_of(depth)
    opened = options.open_bundle(bundle, db, no_sync=no_sync)
    judging.note_skipped(opened)
    rows = view.dir_rows(
        opened.view.connection, opened.view.bundle.name, directories or [], depth=levels, ancestors=ancestors
    )
    total = sum(row["count"] for row in rows if not row["ancestor"])
    names = listing.names_of(view.DIR_KEYS, fields, leave_out)
    shown = list(listing.sliced(rows, limit, offset))
    if chosen == "json":
        output.stream_json(
            {**opened.head, "total": total, "count": len(rows), "dirs": listing.only(shown, names)}, pretty=pretty
        )
    elif chosen == listing.TEXT:
        _print(shown, opened.label, len(rows), total)
    else:
        output.emit_rows(shown, names, chosen)
    return 0


def _print(rows: list[dict[str, Any]], label: str, count: int, total: int) -> None:
    print(f"Dirs — {label}")
    has_subtrees = any(row["subtree"] != row["count"] for row in rows)
    names = [("↑ " if row["ancestor"] else "") + listing.place(row["dir"]) for row in rows]
    if rows:
        width = max(len("Dir"), *map(listing.wide, names))
        print(f"\n  {'Dir'.ljust(width)}  {'Concepts':>8}" + (f"  {'Subtree':>7}" if has_subtrees else ""))
        for name, row in zip(names, rows, strict=True):
            subtree = f"  {row['subtree']:>7}" if has_subtrees else ""
            print(f"  {listing.pad(name, width)}  {row['count']:>8}{subtree}")
    print(f"\n  {output.plural(count, 'dir')} · {output.plural(total, 'concept')}")
