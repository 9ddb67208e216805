"""The files below `references/`, who points at them, and pointers that miss (OKF §3, §6.2)."""

from __future__ import annotations

import os
import sqlite3
from typing import Any, NamedTuple

from okf_catalog.bundle import list_files
from okf_catalog.errors import BundleError
from okf_catalog.format.links import directory_of

DIRECTORY = "references"
_PREFIX = DIRECTORY + "/"
_FIELDS = {"resource": 0, "computation": 1, "executor": 2, "attester": 3, "source": 4}
"""The kinds of `links` that are pointers, in the order of the report."""

Row = dict[str, Any]


class References(NamedTuple):
    """What lies below `references/`."""

    files: list[Row]
    """`path, dir, kind` (`concept` or `file`), `referenced_by` (`id, field`), by path."""
    dangling: list[Row]
    """`id, field, raw, resolved, hint`, by id."""


def references(connection: sqlite3.Connection, bundle: str, root: str, *, include_hidden: bool = False) -> References:
    """Compare the files below `references/` with the pointers of the bundle's concepts.

    Files that are no markdown are not in the catalog, so the directory itself is looked
    at; where the root is gone, only what the catalog has is listed.
    """
    concepts = {row[0] for row in connection.execute(
        "select path from concepts where bundle = ? and path glob ?", (bundle, _PREFIX + "*")
    )}  # fmt: skip
    try:
        paths = [_text(path) for path in list_files(root, DIRECTORY, include_hidden=include_hidden)]
    except BundleError:
        paths = sorted(row[0] for row in connection.execute(
            "select path from files where bundle = ? and path glob ?", (bundle, _PREFIX + "*")
        ))  # fmt: skip
    files: dict[str, Row] = {
        path: {"path": path, "dir": directory_of(path), "kind": "concept" if path in concepts else "file", "referenced_by": []}
        for path in paths
    }
    dangling: list[Row] = []
    for concept_id, kind, position, raw, resolved in _pointers(connection, bundle):
        field = {"source": f"sources[{position}].resource", "executor": "executor.resource",
                 "attester": "attester.resource"}.get(kind, kind)  # fmt: skip
        if resolved in files:
            files[resolved]["referenced_by"].append({"id": concept_id, "field": field})
        elif resolved.startswith(_PREFIX) or raw.partition("#")[0].lstrip("/").startswith(_PREFIX):
            plain = raw.partition("#")[0]
            hint = f"/{plain} exists — is the leading slash missing?" if plain != resolved and plain in files else None
            dangling.append({"id": concept_id, "field": field, "raw": raw, "resolved": resolved, "hint": hint})
    return References(list(files.values()), dangling)


def _pointers(connection: sqlite3.Connection, bundle: str) -> list[tuple[str, str, int, str, str]]:
    """(id, kind, position of the source, as written, resolved), by id and field."""
    rows = connection.execute(
        "select distinct c.concept_id, l.kind, coalesce(s.position, 0), l.target, l.target_path "
        "from links l join concepts c on c.id = l.concept_id "
        "left join sources s on l.kind = 'source' and s.concept_id = l.concept_id and s.resource = l.target "
        "where c.bundle = ?1 and l.kind in ('resource', 'computation', 'executor', 'attester', 'source') "
        "and l.target_path is not null and (l.target_path glob ?2 or l.target glob ?2 or l.target glob '/' || ?2)",
        (bundle, _PREFIX + "*"),
    )
    return sorted(rows, key=lambda row: (row[0], _FIELDS[row[1]], row[2]))


def _text(path: str) -> str:
    r"""`path` with bytes that are not UTF-8 as `\xNN`."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return os.fsencode(path).decode("utf-8", "backslashreplace")
    return path
