"""The graph of a bundle, or of what lies around one concept."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from datasette.utils.asgi import NotFound, Request, Response

from okf_catalog.catalog.edges import KINDS
from okf_catalog.datasette_plugin import access
from okf_catalog.datasette_plugin.concept import crumbs
from okf_catalog.views.graph import UNTYPED

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
    """Nodes and edges: at most `MOST` nodes, the most linked to; with a concept, what is two links away at most.

    None where there is no such bundle, or no such concept in it.
    """
    known = connection.execute("select concept_count from bundles where name = ?", (bundle,)).fetchone()
    if known is None:
        return None
    if concept:
        start = connection.execute("select id from concepts where bundle = ? and path = ?", (bundle, concept)).fetchone()
        if start is None:
            return None
        chosen = _around(connection, start[0])
    else:
        chosen = _most_linked(connection, bundle)
    ids = json.dumps(chosen)
    edges = connection.execute(
        "select distinct l.concept_id, l.target_id from json_each(?1) i cross join links l on l.concept_id = i.value "
        f"where l.target_id in (select value from json_each(?1)) and l.target_id <> l.concept_id and l.kind in {KINDS}",
        (ids,),
    ).fetchall()
    degree = Counter(node for pair in edges for node in pair)
    rows = connection.execute(
        "select c.id, c.path, coalesce(c.title, c.stem), coalesce(c.type, ?2), c.tags, c.trust_tier, c.dir "
        "from json_each(?1) i cross join concepts c on c.id = i.value order by c.path",
        (ids, UNTYPED),
    )
    nodes = [
        {"id": str(row[0]), "path": row[1], "label": row[2], "type": row[3], "tags": json.loads(row[4]), "trust": row[5],
         "dir": row[6], "degree": degree[row[0]], "start": row[1] == concept}
        for row in rows
    ]  # fmt: skip
    return {"nodes": nodes, "edges": [{"source": str(a), "target": str(b)} for a, b in edges], "total": known[0]}


def _most_linked(connection: sqlite3.Connection, bundle: str) -> list[int]:
    rows = connection.execute(
        "select c.id from concepts c left join (select target_id, count(*) as links from links where target_id is not null "
        "group by target_id) n on n.target_id = c.id where c.bundle = ? order by n.links desc, c.path limit ?",
        (bundle, MOST),
    )
    return [row[0] for row in rows]


def _around(connection: sqlite3.Connection, start: int) -> list[int]:
    """What is at most two links away, either way, the nearest first."""
    found = {start: None}
    reached = [start]
    for _ in range(2):
        rows = connection.execute(
            f"select l.target_id from json_each(?1) i cross join links l on l.concept_id = i.value where l.target_id is not null and l.kind in {KINDS} "
            f"union select l.concept_id from json_each(?1) i cross join links l on l.target_id = i.value where l.kind in {KINDS} limit ?2",
            (json.dumps(reached), 2 * MOST),
        )
        reached = [row[0] for row in rows if row[0] not in found]
        found.update(dict.fromkeys(reached))
    return list(found)[:MOST]
