"""The links between concepts as a graph: how many, where they lead, which parts hang together."""

from __future__ import annotations

import sqlite3
from heapq import nsmallest
from typing import NamedTuple

from okf_catalog.format.links import MARKDOWN_SUFFIX
from okf_catalog.format.vocabulary import GRAPH_KINDS

_MARKS = ", ".join("?" * len(GRAPH_KINDS))


def id_of(path: str) -> str:
    """A concept's id is its path without the extension (OKF §2)."""
    return path[: -len(MARKDOWN_SUFFIX)]


class Graph(NamedTuple):
    """Nodes are concepts; an edge is an ordered pair of two different ones."""

    nodes: dict[int, str]
    """Path by row id, in the order of the paths."""
    edges: int
    in_degree: dict[int, int]
    """Edges into each node."""
    components: list[list[int]]
    """The parts that hang together in either direction, in the order of their first nodes."""

    def hubs(self, count: int) -> list[dict[str, object]]:
        """The nodes with the most edges into them: `{id, in_degree}`."""
        order = nsmallest(count, ((-degree, id_of(self.nodes[node])) for node, degree in self.in_degree.items() if degree))
        return [{"id": name, "in_degree": -degree} for degree, name in order]


def read_graph(connection: sqlite3.Connection, bundle: str) -> Graph:
    """The graph of a bundle, from one pass over its links."""
    nodes: dict[int, str] = dict(
        connection.execute("select id, path from concepts where bundle = ? order by path", (bundle,))
    )
    parent = {node: node for node in nodes}
    in_degree = dict.fromkeys(nodes, 0)
    edges = 0
    # Concept by concept, so that a link that is written twice comes twice in a row.
    links = connection.execute(
        "select c.id, l.target_id from concepts c cross join links l on l.concept_id = c.id "
        f"where c.bundle = ? and l.target_id is not null and l.kind in ({_MARKS}) order by c.path",
        (bundle, *GRAPH_KINDS),
    )
    current, root = 0, 0
    seen: set[int] = set()
    size = dict.fromkeys(nodes, 1)
    for source, target in links:
        if source != current:
            current, root = source, _root(parent, source)
            seen = {source}
        if target in seen or target not in parent:
            continue
        seen.add(target)
        edges += 1
        in_degree[target] += 1
        if parent[target] == root:
            continue
        other = _root(parent, target)
        if other != root:
            # The smaller part joins the larger one, or the ways to the roots grow long.
            small, root = (other, root) if size[other] <= size[root] else (root, other)
            parent[small] = root
            size[root] += size[small]
    parts: dict[int, list[int]] = {}
    for node in nodes:
        root = _root(parent, node)
        if root in parts:
            parts[root].append(node)
        else:
            parts[root] = [node]
    return Graph(nodes, edges, in_degree, list(parts.values()))


def _root(parent: dict[int, int], node: int) -> int:
    while parent[node] != node:
        parent[node] = parent[parent[node]]  # halve the way for those who come after
        node = parent[node]
    return node
