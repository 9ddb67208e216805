"""The links between concepts as a graph: how many, where they lead, which parts hang together."""

from __future__ import annotations

import sqlite3
from heapq import nsmallest
from typing import NamedTuple

from okf_catalog.catalog.edges import inbound
from okf_catalog.format.links import MARKDOWN_SUFFIX


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
    size = dict.fromkeys(nodes, 1)
    in_degree = dict.fromkeys(nodes, 0)
    for target, sources in inbound(connection, bundle):
        if target not in parent:
            continue
        in_degree[target] = len(sources)
        root = _root(parent, target)
        for source in map(int, sources):
            if parent[source] == root:
                continue
            other = _root(parent, source)
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
    return Graph(nodes, sum(in_degree.values()), in_degree, list(parts.values()))


def _root(parent: dict[int, int], node: int) -> int:
    while parent[node] != node:
        parent[node] = parent[parent[node]]  # halve the way for those who come after
        node = parent[node]
    return node
