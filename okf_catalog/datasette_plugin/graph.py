"""The graph of a bundle, or of what lies around one concept."""

from __future__ import annotations

import sqlite3
from collections import Counter
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from datasette.utils.asgi import NotFound, Request, Response

from okf_catalog.datasette_plugin import access
from okf_catalog.datasette_plugin.concept import crumbs
from okf_catalog.views.graph import edges

if TYPE_CHECKING:
    from datasette.app import Datasette

MOST = 2000
"""Nodes that a page can draw and a reader can look at."""


async def graph_page(request: Request, datasette: Datasette) -> Response:
    """`/{db}/-/okf-graph/{bundle}`: the page."""
    database = await access.allowed(datasette, request)
    bundle, concept = access.part(request, "bundle"), request.args.get("concept") or ""
    data = await _data(datasette, database, bundle, concept)
    wanted = datasette.plugin_config("okf-catalog") or {}
    here = f"{datasette.urls.database(database)}/-/okf-graph/{quote(bundle, safe='')}"
    return await access.page(
        datasette, request, "okf_graph.html", database=database, bundle=bundle, concept=concept, here=here,
        data=f"{here}.json" + (f"?concept={quote(concept)}" if concept else ""), total=data["total"],
        shown=len(data["nodes"]), trail=crumbs(datasette, database, bundle, "."), layout=request.args.get("layout") or wanted.get("layout") or "cose",
        boxes=bool(wanted.get("map")),
        library=datasette.urls.static_plugins("okf-catalog", "cytoscape.min.js"),
        script=datasette.urls.static_plugins("okf-catalog", "okf-graph.js"),
    )  # fmt: skip


async def graph_data(request: Request, datasette: Datasette) -> Response:
    """`/{db}/-/okf-graph/{bundle}.json`: nodes and edges."""
    database = await access.allowed(datasette, request)
    data = await _data(datasette, database, access.part(request, "bundle"), request.args.get("concept") or "")
    return Response.json(data, headers=dict(access.HEADERS))


async def _data(datasette: Datasette, database: str, bundle: str, concept: str) -> dict[str, Any]:
    data = await access.ask(datasette, database, lambda connection: collect(connection, bundle, concept))
    if data is None:
        raise NotFound(f"the catalog has no bundle {bundle}" if not concept else f"{bundle} has no concept {concept}")
    for node in data["nodes"]:
        node["url"] = access.place(datasette, database, bundle, node["path"])
    return data


def collect(connection: sqlite3.Connection, bundle: str, concept: str = "") -> dict[str, Any] | None:
    """Nodes and edges: at most `MOST` nodes, the best linked; with a concept, what is two links away at most."""
    rows = connection.execute(
        "select id, path, coalesce(title, stem), coalesce(type, 'Untyped'), tags, trust_tier, dir from concepts where bundle = ? order by path",
        (bundle,),
    ).fetchall()
    if not rows and connection.execute("select 1 from bundles where name = ?", (bundle,)).fetchone() is None:
        return None
    links = list(edges(connection, bundle))
    degree = Counter(node for pair in links for node in pair)
    chosen = {row[0] for row in rows}
    if concept:
        start = next((row[0] for row in rows if row[1] == concept), None)
        if start is None:
            return None
        chosen = {start}
        for _ in range(2):
            chosen |= {other for pair in links for other in pair if pair[0] in chosen or pair[1] in chosen}
    if len(chosen) > MOST:
        chosen = set(sorted(chosen, key=lambda node: (-degree[node], node))[:MOST])
    import json

    nodes = [
        {"id": str(row[0]), "path": row[1], "label": row[2], "type": row[3], "tags": json.loads(row[4]), "trust": row[5],
         "dir": row[6], "degree": degree[row[0]], "start": row[1] == concept}
        for row in rows if row[0] in chosen
    ]  # fmt: skip
    shown = [{"source": str(a), "target": str(b)} for a, b in links if a in chosen and b in chosen]
    return {"nodes": nodes, "edges": shown, "total": len(rows)}
