"""Concepts that no link leads to or from."""

from __future__ import annotations

import sqlite3
from typing import Any

from okf_catalog.format.vocabulary import GRAPH_KINDS

_EDGES = f"({', '.join(repr(kind) for kind in GRAPH_KINDS)})"


def loose(connection: sqlite3.Connection, bundle: str) -> list[dict[str, Any]]:
    """`id, title, dir, path` of every concept without a link to or from another one, by id."""
    rows = connection.execute(
        "select c.concept_id, coalesce(c.title, c.stem), c.dir, c.path from concepts c where c.bundle = ? "
        f"and not exists (select 1 from links l where l.target_id = c.id and l.kind in {_EDGES} and l.concept_id <> c.id) "
        f"and not exists (select 1 from links l where l.concept_id = c.id and l.kind in {_EDGES} and l.target_id <> c.id) "
        "order by c.concept_id, c.path",
        (bundle,),
    )
    return [dict(zip(("id", "title", "dir", "path"), row, strict=True)) for row in rows]
