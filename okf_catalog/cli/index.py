"""`okf-catalog index`: the map of a bundle, directory by directory."""

from __future__ import annotations

from typing import Annotated, Any

from okf_catalog.cli import judging, listing, options, output
from okf_catalog.cli.declared import Option
from okf_catalog.views import index as view
from okf_catalog.views.graph import UNTYPED
from okf_catalog.views.places import directories as all_directories
from okf_catalog.views.places import narrow

_DESCRIPTION = 72


def index(
    bundle: options.BundleArgument = None,
    directories: options.Dirs = None,
    depth: options.Depth = None,
    ancestors: options.Ancestors = True,
    body: Annotated[bool, Option("--body/--no-body", help="With the text of each index.md.")] = True,
    area: options.Area = None,
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
    """Show the map of a bundle: each directory with its index, or with a list of its concepts where it has none.

    The cheapest way to get to know a bundle: `--no-body --depth 1` first, then --dir.
    """
    projects = fields is not None or leave_out is not None
    chosen = listing.form_of(form, as_json=as_json, pretty=pretty, projects=projects)
    if area:
        output.warning("--area is deprecated, use --dir")
        if directories or depth is not None:
            raise output.usage(f"--area and {'--dir' if directories else '--depth'} do not combine; use --dir")
    if not body and fields is not None and "body" in fields.lower().split(","):
        raise output.usage("--no-body and --fields body contradict each other; drop one")
    levels = listing.depth_of(depth)
    opened = options.open_bundle(bundle, db, no_sync=no_sync)
    judging.note_skipped(opened)
    connection, name = opened.view.connection, opened.view.bundle.name
    if not body and fields is None:
        leave_out = f"{leave_out},body" if leave_out else "body"
    names = listing.names_of(view.INDEX_KEYS, fields, leave_out)
    there = all_directories(connection, name)
    chosen_places = view.exactly(there, area) if area else narrow(there, directories or [], depth=levels, ancestors=ancestors)
    count = len(chosen_places)
    rows = view.index_rows(connection, name, list(listing.sliced(chosen_places, limit, offset)), bodies=body)
    if chosen == "json":
        output.stream_json({**opened.head, "count": count, "directories": listing.only(rows, names)}, pretty=pretty)
    elif chosen == listing.TEXT:
        _print(rows, opened.label, count, bodies=body)
    else:
        output.emit_rows(rows, names, chosen)
    return 0


def _print(rows: list[dict[str, Any]], label: str, count: int, *, bodies: bool) -> None:
    print(f"Index map — {label} ({output.plural(count, 'directory', 'directories')})")
    for row in rows:
        parts = [output.plural(row["count"], "concept")]
        if row["types"]:
            parts.append(", ".join(f"{output.one_line(kind) or UNTYPED} {number}" for kind, number in row["types"].items()))
        mark = "↑ " if row["ancestor"] else ""
        slash = "" if row["dir"] == "." else "/"
        missing = "" if row["present"] else "  (no index.md)"
        print(f"\n  {mark}{listing.place(row['dir'])}{slash}{missing}  ·  {' · '.join(parts)}")
        if row["subdirs"]:
            print(f"    → {'  '.join(output.one_line(path.rpartition('/')[2]) + '/' for path in row['subdirs'])}")
        if row["present"]:
            if bodies and row["body"].strip():
                for line in output.for_stdout(row["body"].strip()).split("\n"):
                    print(f"    {line}")
        else:
            for item in row["listing"]:
                text = f" — {listing.shortened(item['description'], _DESCRIPTION)}" if item["description"] else ""
                print(f"    • {output.one_line(item['title'])}{text}")
