"""The map of a bundle: its directories, what their indexes say, what lies in them (OKF §8)."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from okf_catalog.catalog.filters import ROOT
from okf_catalog.format.reserved import body_of
from okf_catalog.views.places import Place, children, counts, directories, meaning, narrow

Row = dict[str, Any]
INDEX = "index.md"
INDEX_KEYS = ("dir", "ancestor", "index_path", "present", "synthesized", "count", "types", "tags", "subdirs", "body",
              "listing")  # fmt: skip
DIR_KEYS = ("dir", "ancestor", "count", "subtree", "subdirs")


def exactly(there: Sequence[str], wanted: Iterable[str]) -> list[Place]:
    """The directories that are named, without those below them (the old `--area`)."""
    from okf_catalog.format.values import fold

    names = {meaning(there, name) for name in wanted}
    return [Place(path, False) for path in there if (None if path == ROOT else fold(path)) in names]


def frequencies(values: Iterable[str]) -> dict[str, int]:
    """How often each value occurs, the most frequent first, then by name."""
    return dict(sorted(Counter(values).items(), key=lambda item: (-item[1], item[0])))


def index_rows(connection: sqlite3.Connection, bundle: str, places: Sequence[Place], *, bodies: bool = True) -> list[Row]:
    """One row a directory, with the keys `INDEX_KEYS`; `bodies` False leaves `body` None.

    `body` is the text of the index behind its frontmatter, None where there is no index.
    """
    wanted = {place.dir for place in places}
    below = children(directories(connection, bundle))
    listed: dict[str, list[Row]] = {directory: [] for directory in wanted}
    narrowed = "and dir in (select value from json_each(?2))" if len(wanted) < _MANY else "and ?2 is not null"
    for directory, concept_id, title, description, kind, tags in connection.execute(
        "select dir, concept_id, coalesce(title, stem), trim(coalesce(description, ''), char(32, 9, 10, 13)), coalesce(type, ''), tags "
        f"from concepts where bundle = ?1 {narrowed} order by concept_id, path",
        (bundle, json.dumps(sorted(wanted))),
    ):
        if directory in wanted:
            listed[directory].append({"id": concept_id, "title": title, "description": description, "type": kind,
                                      "tags": json.loads(tags)})  # fmt: skip
    texts = "text" if bodies else "''"
    indexes = dict(connection.execute(
        f"select path, {texts} from reserved_files where bundle = ? and kind = 'index'", (bundle,)
    ))  # fmt: skip
    rows = []
    for place in places:
        path = INDEX if place.dir == ROOT else f"{place.dir}/{INDEX}"
        members = listed[place.dir]
        present = path in indexes
        rows.append({
            "dir": place.dir, "ancestor": place.is_ancestor, "index_path": path, "present": present,
            "synthesized": not present, "count": len(members), "types": frequencies(row["type"] for row in members),
            "tags": frequencies(tag for row in members for tag in row["tags"]), "subdirs": below.get(place.dir, []),
            "body": body_of(indexes[path])[0] if present and bodies else None, "listing": members,
        })  # fmt: skip
    return rows


_MANY = 500
"""Directories from which on reading all concepts is cheaper than looking for theirs."""


def dir_rows(connection: sqlite3.Connection, bundle: str, wanted: Sequence[str], *, depth: int | None = None,
             ancestors: bool = True) -> list[Row]:  # fmt: skip
    """One row a directory, with the keys `DIR_KEYS`.

    `subtree` counts the concepts at or below a directory; for the root it is its own count,
    as `--dir .` means the root alone.
    """
    own = counts(connection, bundle)
    there = directories(connection, bundle, own)
    below = children(there)
    total = dict.fromkeys(there, 0)
    for directory in reversed(there):
        total[directory] += own.get(directory, 0)
        parent = directory.rpartition("/")[0]
        if parent:
            total[parent] += total[directory]
    return [
        {"dir": place.dir, "ancestor": place.is_ancestor, "count": own.get(place.dir, 0), "subtree": total[place.dir],
         "subdirs": below.get(place.dir, [])}
        for place in narrow(there, wanted, depth=depth, ancestors=ancestors)
    ]  # fmt: skip
