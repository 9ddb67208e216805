"""The links between concepts as edges of a graph (OKF §6): how many, which, and into which concept."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from okf_catalog.format.vocabulary import GRAPH_KINDS

KINDS = f"({', '.join(repr(kind) for kind in GRAPH_KINDS)})"
"""SQL: the kinds of links that are edges; `links_beside_graph` is an index of all others."""


def among_others(connection: sqlite3.Connection, bundle: str, column: str = "concept_id") -> tuple[str, list[str]]:
    """SQL that keeps the rows of one bundle by the row id of their concept, and its parameters.

    Nothing where the catalog holds no other bundle: looking each row up costs more than reading it.
    The `+` keeps SQLite from looking up the rows of each concept instead of reading an index once.
    """
    if connection.execute("select count(*) from bundles").fetchone()[0] == 1:
        return "", []
    return f"and +{column} in (select id from concepts where bundle = ?)", [bundle]


def edges(connection: sqlite3.Connection, bundle: str) -> Iterator[tuple[int, int]]:
    """(row id, row id) of every pair of different concepts of which the first links to the second.

    In the order of the paths, then of the links in the file; each pair once.
    """
    current, seen = 0, set[int]()
    # Concept by concept, so that a link that is written twice is seen among a few.
    for source, target in connection.execute(
        "select c.id, l.target_id from concepts c cross join links l on l.concept_id = c.id "
        f"where c.bundle = ? and l.target_id is not null and l.kind in {KINDS} order by c.path, l.position",
        (bundle,),
    ):
        if source != current:
            current, seen = source, {source}
        if target not in seen:
            seen.add(target)
            yield source, target


def edge_count(connection: sqlite3.Connection, bundle: str) -> int:
    """How many edges the graph has."""
    among, values = among_others(connection, bundle)
    found: int = connection.execute(
        f"select count(*) from (select distinct target_id, concept_id {_INDEXED} {among})", values
    ).fetchone()[0]
    beside = _beside(connection)
    if among and beside:
        own = {row[0] for row in connection.execute("select id from concepts where bundle = ?", (bundle,))}
        beside = {target: sources for target, sources in beside.items() if target in own}
    return found - sum(map(len, beside.values()))


def inbound(connection: sqlite3.Connection, bundle: str) -> Iterator[tuple[int, set[str]]]:
    """Every concept that others link to, and the row ids of these, as text."""
    among, values = among_others(connection, bundle)
    beside = _beside(connection)
    for target, text in connection.execute(f"select target_id, group_concat(concept_id) {_INDEXED} {among} group by target_id", values):
        sources = set(text.split(","))
        if target in beside:
            sources -= beside[target]
        if sources:
            yield target, sources


# The index alone answers, in a tenth of the time; it does not know the kinds, but those that
# are no edges are few and have an index of their own.
_INDEXED = "from links indexed by links_target_id where target_id is not null and +target_id <> concept_id"


def _beside(connection: sqlite3.Connection) -> dict[int, set[str]]:
    """{target: sources, as text} of the pairs that only links of other kinds connect."""
    found: dict[int, set[str]] = {}
    for target, source in connection.execute(
        "select distinct b.target_id, b.concept_id from links b indexed by links_beside_graph "
        f"where b.target_id is not null and b.kind not in {KINDS} and b.target_id <> b.concept_id and not exists "
        f"(select 1 from links l where l.concept_id = b.concept_id and l.target_id = b.target_id and l.kind in {KINDS})"
    ):
        found.setdefault(target, set()).add(str(source))
    return found
