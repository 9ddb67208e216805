"""What a page that holds a whole bundle has to know before it reads the files one by one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import NamedTuple


class Size(NamedTuple):
    """How much a bundle holds."""

    concepts: int
    files: int
    """With the reserved and the unusable ones."""
    bytes: int
    """Of all of them together, about."""


class File(NamedTuple):
    """A file of a bundle."""

    path: str
    kind: str
    """`concept`, `error`, or the kind of a reserved file: `index`, `log`, `other`."""
    stale_at: str | None
    """The instant from which on it is stale, `YYYY-MM-DDTHH:MM:SSZ`."""


def size(connection: sqlite3.Connection, bundle: str) -> Size:
    """Count without reading: cheap for bundles that are too large for a page, too."""
    concepts, others, *sizes = connection.execute(
        "select (select count(*) from concepts where bundle = ?1), "
        "(select count(*) from parse_errors where bundle = ?1) + (select count(*) from reserved_files where bundle = ?1), "
        # The size of the file is in the narrow row: the long texts themselves are not touched.
        "(select coalesce(sum(size), 0) from concepts where bundle = ?1), "
        "(select coalesce(sum(length(text)), 0) from parse_errors where bundle = ?1), "
        "(select coalesce(sum(length(text)), 0) from reserved_files where bundle = ?1)",
        (bundle,),
    ).fetchone()
    return Size(concepts, concepts + others, sum(sizes))


def files(connection: sqlite3.Connection, bundle: str) -> Iterator[File]:
    """All files by path."""
    rows = connection.execute(
        "select f.path, f.kind, c.stale_after_utc from files f "
        "left join concepts c on f.kind = 'concept' and c.id = f.concept_id where f.bundle = ? order by f.path",
        (bundle,),
    )
    return (File(*row) for row in rows)


def synced_at(connection: sqlite3.Connection, bundle: str) -> str | None:
    """When the files were last looked at, `YYYY-MM-DDTHH:MM:SSZ`."""
    row = connection.execute("select last_synced_at from bundles where name = ?", (bundle,)).fetchone()
    return str(row[0]) if row and row[0] is not None else None
