"""What syncs changed, and what became of one file."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

Row = dict[str, Any]

KINDS = ("added", "changed", "moved", "removed", "broken", "repaired", "failed")
FIELDS = ("type", "title", "description", "tags", "effective_status", "trust_tier", "trust_current", "verified_at",
          "generated_by", "generated_at", "stale_after", "resource", "runtime", "body", "frontmatter", "path")  # fmt: skip
"""What `changes.field` may hold."""
KEYS = ("sync", "at", "path", "title", "kind", "field", "old", "new")
"""`at` is the end of the sync, UTC; `title` that of the concept as it is now, null where it is gone; `tags` are lists."""

_ROWS = """
select ch.id, ch.sync_id, r.finished_at, ch.path, coalesce(c.title, c.stem), ch.kind, ch.field, ch.old, ch.new
from changes ch join sync_runs r on r.id = ch.sync_id
left join concepts c on c.bundle = ch.bundle and c.path = ch.path
where ch.bundle = ? and {where}
"""


class Since(NamedTuple):
    """From where on changes count; neither: from the beginning."""

    sync: int | None = None
    """After this sync (`sync_runs.id`)."""
    moment: str | None = None
    """Syncs that ended at this moment or later, `YYYY-MM-DDTHH:MM:SSZ`."""


def changes(
    connection: sqlite3.Connection, bundle: str, since: Since | None = None, *, kinds: Sequence[str] = (),
    fields: Sequence[str] = (),
) -> Iterator[Row]:  # fmt: skip
    """What changed in a bundle, the newest sync first, by path in each; rows have `KEYS`.

    `kinds` and `fields` are those wanted, of `KINDS` and `FIELDS`; none means all.
    """
    where, values = ["true"], [bundle]
    if since is not None and since.sync is not None:
        where.append("ch.sync_id > ?")
        values.append(str(since.sync))
    if since is not None and since.moment is not None:
        where.append("r.finished_at >= ?")
        values.append(since.moment)
    for column, wanted in (("ch.kind", kinds), ("ch.field", fields)):
        if wanted:
            where.append(f"{column} in ({', '.join('?' * len(wanted))})")
            values += wanted
    sql = _ROWS.format(where=" and ".join(where)) + " order by ch.sync_id desc, ch.path, ch.id"
    return (_row(row) for row in connection.execute(sql, values))


def newest_sync(connection: sqlite3.Connection, bundle: str) -> int | None:
    """The last sync that changed something in a bundle."""
    row = connection.execute("select last_sync_id from bundles where name = ?", (bundle,)).fetchone()
    return row[0] if row else None


def history(connection: sqlite3.Connection, bundle: str, path: str) -> list[Row]:
    """What became of the file at `path`, newest first, also under the names that it had before; rows have `KEYS`."""
    found: list[tuple[int, Row]] = []
    before: int | None = None
    while True:
        rows = connection.execute(
            _ROWS.format(where="ch.path = ? and (?3 is null or ch.id < ?3)") + " order by ch.id desc", (bundle, path, before)
        )
        origin = None
        for row in rows:
            found.append((row[0], _row(row)))
            if row[5] == "moved":
                origin, before = row[7], row[0]
                break
        if origin is None:
            # In each sync as `changes` has them.
            return [row for _, row in sorted(found, key=lambda item: (-item[1]["sync"], item[0]))]
        path = origin


def moved_to(connection: sqlite3.Connection, bundle: str, path: str) -> str | None:
    """Where the file that was once at `path` lies now, or was last."""
    last, place = 0, None
    while True:
        row = connection.execute(
            "select id, new from changes where bundle = ? and kind = 'moved' and old = ? and id > ? order by id limit 1",
            (bundle, place or path, last),
        ).fetchone()
        if row is None:
            return place
        last, place = row


def mentioned(connection: sqlite3.Connection, wanted: str, bundle: str | None) -> list[tuple[str, str]]:
    """(bundle, path) of files that are gone, but that changes tell of."""
    name = wanted.removeprefix("./").lstrip("/")
    clause, values = ("and bundle = ?", [bundle]) if bundle is not None else ("", [])
    for path in (name, f"{name}.md"):
        rows = connection.execute(
            f"select distinct bundle, ? from changes where (path = ? or (kind = 'moved' and old = ?)) {clause} order by bundle",
            (path, path, path, *values),
        ).fetchall()
        if rows:
            return rows
    return []


def first_seen(connection: sqlite3.Connection, bundle: str) -> str:
    """The first sync of a bundle, which adds everything and notes no change; UTC."""
    return str(connection.execute("select created_at from bundles where name = ?", (bundle,)).fetchone()[0])


def _row(row: Iterable[Any]) -> Row:
    _, sync, at, path, title, kind, field, old, new = row
    if field == "tags":
        old, new = (json.loads(text) if text is not None else None for text in (old, new))
    return {"sync": sync, "at": at, "path": path, "title": title, "kind": kind, "field": field, "old": old, "new": new}
