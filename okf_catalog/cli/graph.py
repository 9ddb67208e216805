"""`okf-catalog graph`: concepts and the links between them."""

from __future__ import annotations

import sys
from itertools import chain
from typing import Annotated, Any

from okf_catalog.catalog.edges import edge_count
from okf_catalog.cli import judging, listing, options, output
from okf_catalog.cli.declared import Option
from okf_catalog.views import drawing
from okf_catalog.views import graph as view
from okf_catalog.views.lists import Asked

_TRAFFIC = ("dir", "count", "internal", "out", "in", "cohesion")
_EDGES = ("source", "target")


def graph(
    bundle: options.BundleArgument = None,
    minimal: Annotated[bool, Option("--minimal", help="Nodes with id and title alone, beside the types and tags with their ids.")] = False,
    body: Annotated[bool, Option("--body/--no-body", help="With the text of each concept, in JSON.")] = True,
    hubs: Annotated[bool, Option("--hubs", help="The concepts that others link to.")] = False,
    traffic: Annotated[bool, Option("--traffic", help="The links between directories.")] = False,
    cut: Annotated[int | None, Option("--cut", metavar="N", help="With --traffic: leave out what fewer than N links connect. [default: chosen so that the rest can be read]", show_default=False)] = None,
    form: Annotated[str | None, Option("--format", metavar="NAME", help=f"{', '.join((*output.FORMATS, *drawing.FORMATS))}; as a table, the links.", show_default=False)] = None,
    as_json: options.Json = False,
    pretty: options.Pretty = False,
    limit: options.Limit = None,
    offset: options.Offset = 0,
    no_sync: options.NoSync = False,
    db: options.Database = None,
) -> int:
    """Show how concepts link to each other.

    An edge is a link in a body, a source that is a concept, or a replacement
    (`superseded_by`). Each pair counts once, links of a concept to itself not at all.
    """
    if cut is not None and cut < 1:
        raise output.usage(f"--cut must be 1 or more, not {cut}")
    drawn = () if hubs or traffic else drawing.FORMATS
    chosen = listing.form_of(form, as_json=as_json, pretty=pretty, more=drawn)
    opened = options.open_bundle(bundle, db, no_sync=no_sync)
    judging.note_skipped(opened)
    if traffic:
        _traffic(opened, cut, chosen, pretty=pretty)
    elif hubs:
        _hubs(opened, chosen, limit, offset, pretty=pretty)
    else:
        _graph(opened, chosen, minimal=minimal, body=body, pretty=pretty, limit=limit, offset=offset)
    return 0


def _graph(
    opened: options.Opened, form: str, *, minimal: bool, body: bool, pretty: bool, limit: int | None, offset: int
) -> None:
    connection, name = opened.view.connection, opened.view.bundle.name
    if form in drawing.FORMATS:
        lines = drawing.draw(form, view.nodes(connection, name, bodies=False), view.named_edges(connection, name))
        for line in lines:
            sys.stdout.write(output.for_stdout(line) + "\n")
    elif form == "json":
        nodes = view.nodes(connection, name, bodies=body and not minimal)
        answer: dict[str, Any] = {**opened.head, "nodes": nodes, "edges": view.named_edges(connection, name)}
        if minimal:
            answer["nodes"] = ({"id": node["id"], "title": node["title"]} for node in nodes)
            answer["types"], answer["tags"] = view.type_index(connection, name), view.tag_index(connection, name)
        output.stream_json(answer, pretty=pretty)
    elif form == listing.TEXT:
        concepts = output.plural(Asked(connection, name).size(), "concept")
        print(f"Graph — {opened.label} ({concepts}, {output.plural(edge_count(connection, name), 'link')})")
    else:
        output.emit_rows(listing.sliced(view.named_edges(connection, name), limit, offset), _EDGES, form)


def _hubs(opened: options.Opened, form: str, limit: int | None, offset: int, *, pretty: bool) -> None:
    connection, name = opened.view.connection, opened.view.bundle.name
    found = view.hubs(connection, name)
    rows = list(listing.sliced(found, limit, offset))
    if form == "json":
        output.dump_json({**opened.head, "count": len(found), "hubs": rows}, pretty=pretty)
    elif form == listing.TEXT:
        counted = listing.counted(len(found), Asked(connection, name).size(), "concept")
        print(f"Hubs — {opened.label} ({counted} with inbound links)")
        if rows:
            print()
        names = [output.one_line(row["id"]) for row in rows]
        tops = {top: output.one_line(top) for top in set(chain.from_iterable(row["by_top_dir"] for row in rows))}
        widths = list(map(listing.wide, names))
        width = max(widths, default=0)
        digits = max((len(str(row["inbound"])) for row in rows), default=0)
        write = sys.stdout.write
        for name, own, row in zip(names, widths, rows, strict=True):
            where = ", ".join([f"{tops[top]} {count}" for top, count in row["by_top_dir"].items()])
            write(f"  {name}{' ' * (width - own)}  ×{row['inbound']:>{digits}}   {where}\n")
    else:
        output.emit_rows(rows, view.HUB_KEYS, form)


def _traffic(opened: options.Opened, cut: int | None, form: str, *, pretty: bool) -> None:
    found = view.traffic(opened.view.connection, opened.view.bundle.name, cut)
    if form == "json":
        output.dump_json({**opened.head, **found._asdict()}, pretty=pretty)
    elif form == listing.TEXT:
        _print_traffic(found, opened.label)
    else:
        output.emit_rows(found.dirs, _TRAFFIC, form)


def _print_traffic(found: view.Traffic, label: str) -> None:
    arcs = listing.counted(len(found.arcs), found.total_arcs, "arc")
    print(f"Traffic — {label} ({output.plural(len(found.dirs), 'dir')}, {arcs} at weight {found.cut} or more)")
    if found.dirs:
        rows = sorted(found.dirs, key=lambda row: (row["cohesion"] is None, row["cohesion"] or 0, row["dir"]))
        names = [listing.place(row["dir"]) for row in rows]
        width = max(len("Dir"), *map(listing.wide, names))
        print(f"\n  {'Dir'.ljust(width)}  Concepts  Internal  {'Out':>5}  {'In':>5}  Cohesion")
        for name, row in zip(names, rows, strict=True):
            share = "—" if row["cohesion"] is None else f"{row['cohesion']}%"
            print(f"  {listing.pad(name, width)}  {row['count']:>8}  {row['internal']:>8}  {row['out']:>5}  {row['in']:>5}  {share:>8}")
    print("\n  Arcs")
    if not found.arcs:
        print("    (none at this cut)")
    names = [f"{listing.place(arc['source'])} → {listing.place(arc['target'])}" for arc in found.arcs]
    width = max(map(listing.wide, names), default=0)
    for name, arc in zip(names, found.arcs, strict=True):
        print(f"    {listing.pad(name, width)}  ×{arc['weight']}")
