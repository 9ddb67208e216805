"""`okf-catalog loose`: the concepts that nothing is linked with."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from okf_catalog.cli import judging, options, output
from okf_catalog.views import loose as view

COLUMNS = ("id", "title", "dir")
_ROOT = "(root)"


def loose(
    bundle: options.BundleArgument = None,
    form: options.Format = None,
    as_json: options.Json = False,
    pretty: options.Pretty = False,
    no_sync: options.NoSync = False,
    db: options.Database = None,
) -> int:
    """List the concepts that no link leads to or from.

    A link is one in a body, a source that is a concept, or a replacement (`superseded_by`).
    """
    chosen = output.choose_format(form, as_json=as_json, pretty=pretty, default="text")
    opened = options.open_bundle(bundle, db, no_sync=no_sync)
    rows = view.loose(opened.view.connection, opened.view.bundle.name)
    judging.note_skipped(opened)
    if chosen == "json":
        shown = [{name: row[name] for name in COLUMNS} for row in rows]
        output.dump_json({**opened.head, "count": len(shown), "loose": shown}, pretty=pretty)
    elif chosen == "text":
        _print(rows, opened.label)
    else:
        output.emit_rows(rows, COLUMNS, chosen)
    return 0


def _print(rows: list[dict[str, Any]], label: str) -> None:
    print(f"Loose files — {label} ({len(rows)})")
    if not rows:
        print("  ✓ none — every concept links or is linked")
    for directory, group in groupby(sorted(rows, key=lambda row: (row["dir"], row["id"])), lambda row: row["dir"]):
        members = [(row["path"].rpartition("/")[2], row["title"]) for row in group]
        width = max(len(name) for name, _ in members)
        print(f"\n  {_ROOT if directory == '.' else output.one_line(directory) + '/'}")
        for name, title in members:
            print(f"    {output.one_line(name).ljust(width)}  {output.one_line(title)}")
