"""The graph of a bundle: concepts as nodes, links as edges, the traffic between directories (OKF §6)."""

from __future__ import annotations

import json
import math
import sqlite3
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from okf_catalog.format.vocabulary import GRAPH_KINDS
from okf_catalog.views.places import parent_of, with_ancestors

Row = dict[str, Any]
UNTYPED = "Untyped"
KINDS = f"({', '.join(repr(kind) for kind in GRAPH_KINDS)})"
NODE_KEYS = ("id", "type", "title", "description", "tags", "body")
HUB_KEYS = ("id", "top_dir", "inbound", "by_top_dir")
_FEWEST_ARCS = 8
_ARCS_PER_DIRECTORY = 1.5


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
    # A concept's links lie together, so no pair has to be remembered for long.
    found: int = connection.execute(
        "select coalesce(sum((select count(distinct l.target_id) from links l where l.concept_id = c.id "
        f"and l.target_id <> c.id and l.kind in {KINDS})), 0) from concepts c where c.bundle = ?",
        (bundle,),
    ).fetchone()[0]
    return found


def nodes(connection: sqlite3.Connection, bundle: str, *, bodies: bool = True) -> Iterator[Row]:
    """The concepts by path, with the keys `NODE_KEYS`; without `bodies` there is no `body`.

    `type` is `Untyped` where there is none; `tags` are the values of the list as the
    frontmatter has them; the body is trimmed.
    """
    body = ", (select b.body from bodies b where b.concept_id = c.id)" if bodies else ""
    for concept_id, kind, title, description, tags, *text in connection.execute(
        "select c.concept_id, c.type, coalesce(c.title, c.stem), trim(coalesce(c.description, ''), char(32, 9, 10, 13)), "
        "case json_type(c.frontmatter, '$.tags') when 'array' then json_extract(c.frontmatter, '$.tags') else '[]' end"
        f"{body} from concepts c where c.bundle = ? order by c.path",
        (bundle,),
    ):
        row = {"id": concept_id, "type": kind or UNTYPED, "title": title, "description": description, "tags": json.loads(tags)}
        if bodies:
            row["body"] = text[0].strip()
        yield row


def named_edges(connection: sqlite3.Connection, bundle: str) -> Iterator[Row]:
    """The edges as `source, target`, both ids."""
    names = dict(connection.execute("select id, concept_id from concepts where bundle = ?", (bundle,)))
    for source, target in edges(connection, bundle):
        yield {"source": names[source], "target": names[target]}


def type_index(connection: sqlite3.Connection, bundle: str) -> dict[str, list[str]]:
    """{type: ids}, in the order of first appearance."""
    found: dict[str, list[str]] = {}
    rows = connection.execute("select type, concept_id from concepts where bundle = ? order by path", (bundle,))
    for kind, concept_id in rows:
        found.setdefault(kind or UNTYPED, []).append(concept_id)
    return found


def tag_index(connection: sqlite3.Connection, bundle: str) -> dict[str, list[str]]:
    """{tag: ids}, in the order of first appearance."""
    found: dict[str, list[str]] = {}
    rows = connection.execute(
        "select t.tag, c.concept_id from concepts c cross join tags t on t.concept_id = c.id where c.bundle = ? "
        "order by c.path, t.position", (bundle,),
    )  # fmt: skip
    for tag, concept_id in rows:
        found.setdefault(tag, []).append(concept_id)
    return found


def hubs(connection: sqlite3.Connection, bundle: str) -> list[Row]:
    """The concepts that others link to, by how many do, with the keys `HUB_KEYS`.

    `by_top_dir` counts those others by the first directory of their path.
    """
    facts = {
        row[0]: (row[1], row[2])
        for row in connection.execute("select id, concept_id, top_dir from concepts where bundle = ?", (bundle,))
    }
    inbound: dict[int, dict[str, int]] = {}
    for source, target in edges(connection, bundle):
        top = facts[source][1]
        counted = inbound.setdefault(target, {})
        counted[top] = counted.get(top, 0) + 1
    rows = [
        {"id": facts[target][0], "top_dir": facts[target][1], "inbound": sum(counted.values()),
         "by_top_dir": dict(sorted(counted.items(), key=lambda item: (-item[1], item[0])))}
        for target, counted in inbound.items()
    ]  # fmt: skip
    rows.sort(key=lambda row: (-row["inbound"], row["id"]))
    return rows


class Traffic(NamedTuple):
    """Edges between directories."""

    cut: int
    """The least weight of the arcs."""
    fitted: bool
    """The cut was chosen so that the arcs can be taken in."""
    dirs: list[Row]
    """`dir, parent, count, subtree, internal, out, in, cohesion`, the root first."""
    arcs: list[Row]
    """`source, target, weight` of at least the cut, the heaviest first."""
    total_arcs: int


def traffic(connection: sqlite3.Connection, bundle: str, cut: int | None = None) -> Traffic:
    """How the directories of a bundle refer to each other; `cut` None chooses one."""
    home: dict[int, str] = dict(connection.execute("select id, dir from concepts where bundle = ?", (bundle,)))
    count = Counter(home.values())
    there = with_ancestors(count)
    subtree = dict.fromkeys(there, 0)
    for directory in reversed(there):
        subtree[directory] += count[directory]
        parent = parent_of(directory)
        if parent is not None:
            subtree[parent] += subtree[directory]
    internal: Counter[str] = Counter()
    arcs: Counter[tuple[str, str]] = Counter()
    for source, target in edges(connection, bundle):
        a, b = home[source], home[target]
        if a == b:
            internal[a] += 1
        else:
            arcs[a, b] += 1
    out: Counter[str] = Counter()
    into: Counter[str] = Counter()
    for (a, b), weight in arcs.items():
        out[a] += weight
        into[b] += weight
    order = sorted(arcs.items(), key=lambda item: (-item[1], item[0]))
    fitted = cut is None
    if cut is None:
        most = max(math.ceil(_ARCS_PER_DIRECTORY * len(there)), _FEWEST_ARCS)
        cut = order[most - 1][1] if len(order) > most else 1
    rows = [
        {"dir": name, "parent": parent_of(name), "count": count[name], "subtree": subtree[name], "internal": internal[name],
         "out": out[name], "in": into[name], "cohesion": _share(internal[name], internal[name] + out[name] + into[name])}
        for name in there
    ]  # fmt: skip
    shown = [{"source": a, "target": b, "weight": weight} for (a, b), weight in order if weight >= cut]
    return Traffic(cut, fitted, rows, shown, len(order))


def _share(part: int, whole: int) -> int | None:
    """Per cent, halves rounded up; None where there is nothing to share."""
    return (200 * part + whole) // (2 * whole) if whole else None
