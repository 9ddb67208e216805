"""The links between concepts as a graph: how many, where they lead, which parts hang together."""

from __future__ import annotations

import sqlite3
from itertools import groupby
from operator import itemgetter
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
    """Edges into a node, for those that have any."""
    components: list[list[int]]
    """The parts that hang together in either direction, in the order of their first nodes."""

    def hubs(self, count: int) -> list[dict[str, object]]:
        """The nodes with the most edges into them: `{id, in_degree}`."""
        order = sorted((-degree, id_of(self.nodes[node])) for node, degree in self.in_degree.items())
        return [{"id": name, "in_degree": -degree} for degree, name in order[:count]]


def read_graph(connection: sqlite3.Connection, bundle: str) -> Graph:
    """The graph of a bundle, from one pass over its links."""
    nodes: dict[int, str] = dict(
        connection.execute("select id, path from concepts where bundle = ? order by path", (bundle,))
    )
    parent = {node: node for node in nodes}
    in_degree: dict[int, int] = {}
    edges = 0
    # In the order of the primary key, so that the links of one concept come together.
    links = connection.execute(
        f"select concept_id, target_id from links where target_id is not null and kind in ({_MARKS}) order by concept_id",
        GRAPH_KINDS,
    )
    for source, group in groupby(links, itemgetter(0)):
        if source not in parent:
            continue
        for target in {row[1] for row in group}:
            if target == source or target not in parent:
                continue
            edges += 1
            in_degree[target] = in_degree.get(target, 0) + 1
            parent[_root(parent, source)] = _root(parent, target)
    parts: dict[int, list[int]] = {}
    for node in nodes:
        parts.setdefault(_root(parent, node), []).append(node)
    return Graph(nodes, edges, in_degree, list(parts.values()))


def _root(parent: dict[int, int], node: int) -> int:
    while parent[node] != node:
        parent[node] = parent[parent[node]]  # halve the way for those who come after
        node = parent[node]
    return node
