"""The graph of a bundle: concepts as nodes, links as edges, the traffic between directories (OKF §6)."""

from __future__ import annotations

import json
import math
import sqlite3
from collections import Counter
from collections.abc import Iterator
from operator import itemgetter
from typing import Any, NamedTuple

from okf_catalog.catalog.edges import edges, inbound
from okf_catalog.catalog.filters import ROOT
from okf_catalog.views.places import parent_of, top_of, with_ancestors

Row = dict[str, Any]
UNTYPED = "Untyped"
NODE_KEYS = ("id", "type", "title", "description", "tags", "body")
HUB_KEYS = ("id", "top_dir", "inbound", "by_top_dir")
_FEWEST_ARCS = 8
_SIZE = itemgetter(1)
_ARCS_PER_DIRECTORY = 1.5


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
    # The index of the paths has it all.
    paths = dict(connection.execute("select id, path from concepts where bundle = ?", (bundle,)))
    tops = {str(row_id): top_of(path) for row_id, path in paths.items()}
    shares: dict[int, tuple[int, dict[str, int]]] = {}
    for target, sources in inbound(connection, bundle):
        counted: dict[str, int] = {}
        for top in map(tops.__getitem__, sources):
            counted[top] = counted.get(top, 0) + 1
        if len(counted) > 1:
            # By name, then by number: neither sort calls back into Python.
            counted = dict(sorted(sorted(counted.items()), key=_SIZE, reverse=True))
        shares[target] = len(sources), counted
    rows = [
        {"id": path[:-3], "top_dir": top, "inbound": shares[row_id][0], "by_top_dir": shares[row_id][1]}
        for (row_id, path), top in zip(paths.items(), tops.values(), strict=True) if row_id in shares
    ]  # fmt: skip
    # Paths come sorted, and ids with them but for a few: two sorts take less than one by both.
    rows.sort(key=itemgetter("id"))
    rows.sort(key=itemgetter("inbound"), reverse=True)
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
    home = {
        str(row_id): path.rpartition("/")[0] or ROOT
        for row_id, path in connection.execute("select id, path from concepts where bundle = ?", (bundle,))
    }
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
    for target, sources in inbound(connection, bundle):
        there_to = home[str(target)]
        for source in sources:
            arcs[home[source], there_to] += 1
    for directory in count:
        internal[directory] = arcs.pop((directory, directory), 0)
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
