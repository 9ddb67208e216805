"""The lists of a bundle: its files, its types and tags, its numbers, the catalog of its concepts."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from okf_catalog.catalog.filters import Filters, conditions
from okf_catalog.format.values import text_of
from okf_catalog.views.graph import KINDS, UNTYPED, edge_count
from okf_catalog.views.places import directories

Row = dict[str, Any]
FILE_KEYS = ("path", "id", "dir", "type", "title", "description")
CATALOG_KEYS = ("id", "title", "type", "description", "tags", "generated_at", "generated_by", "generated", "trust", "status",
                "stale_after", "sources", "backlog_ref", "dir", "top_dir", "links_out", "links_in")  # fmt: skip


DESCRIPTION = "trim(coalesce(c.description, ''), char(32, 9, 10, 13))"
"""SQL: the description of `concepts c` without the line end that block text of YAML has."""
_BATCH = 500


class Asked(NamedTuple):
    """The concepts of one bundle that satisfy the filters, as judged at the moment `now`."""

    connection: sqlite3.Connection
    bundle: str
    filters: Filters = Filters()
    now: str = ""

    def where(self) -> tuple[str, list[Any]]:
        """SQL for `concepts c`, and its parameters."""
        sql, values = conditions(self.connection, self.filters, self.now, [self.bundle])
        return " and ".join(["c.bundle = ?", *sql]), [self.bundle, *values]

    def size(self) -> int:
        """How many there are."""
        where, values = self.where()
        found: int = self.connection.execute(f"select count(*) from concepts c where {where}", values).fetchone()[0]
        return found

    def whole(self) -> int:
        """How many there would be without filters."""
        return Asked(self.connection, self.bundle).size()


def _sliced(limit: int | None, offset: int) -> str:
    return f" limit {-1 if limit is None else limit} offset {offset}" if limit is not None or offset else ""


def files(asked: Asked, *, limit: int | None = None, offset: int = 0) -> Iterator[Row]:
    """The files of the concepts, by id, with the keys `FILE_KEYS`."""
    where, values = asked.where()
    for row in asked.connection.execute(
        "select c.path, c.concept_id, c.dir, coalesce(c.type, ''), coalesce(c.title, c.stem), "
        f"{DESCRIPTION} from concepts c where {where} order by c.concept_id, c.path{_sliced(limit, offset)}",
        values,
    ):
        yield dict(zip(FILE_KEYS, row, strict=True))


def catalog(asked: Asked, *, limit: int | None = None, offset: int = 0) -> Iterator[Row]:
    """What a reader wants to know of each concept, by id, with the keys `CATALOG_KEYS`.

    `status` and `stale_after` are as written; `generated` says whether there is such a key;
    `links_out` and `links_in` count concepts, `sources` entries.
    """
    where, values = asked.where()
    order = [row[0] for row in asked.connection.execute(
        f"select c.id from concepts c where {where} order by c.concept_id, c.path{_sliced(limit, offset)}", values
    )]  # fmt: skip
    linked = f"l.kind in {KINDS} and l.target_id <> l.concept_id"
    sql = (
        f"select c.concept_id, coalesce(c.title, c.stem), coalesce(c.type, ''), {DESCRIPTION}, c.tags, "
        "c.generated_at, c.generated_by, json_type(c.frontmatter, '$.generated') is not null, c.trust_tier, c.status, "
        "c.stale_after, c.source_count, "
        "(select x.value from extra_keys x where x.concept_id = c.id and x.key = 'backlog_ref'), c.dir, c.top_dir, "
        f"(select count(distinct l.target_id) from links l where l.concept_id = c.id and {linked}), "
        f"(select count(distinct l.concept_id) from links l where l.target_id = c.id and {linked}) "
        "from json_each(?) o cross join concepts c on c.id = o.value order by o.key"
    )
    # Only the ids are sorted as a whole: the rows may be large, and memory stays flat.
    for start in range(0, len(order), _BATCH):
        yield from _catalog_rows(asked.connection.execute(sql, (json.dumps(order[start : start + _BATCH]),)))


def _catalog_rows(rows: Iterable[tuple[Any, ...]]) -> Iterator[Row]:
    for values_of in rows:
        row = dict(zip(CATALOG_KEYS, values_of, strict=True))
        row["tags"] = json.loads(row["tags"])
        row["generated"] = bool(row["generated"])
        if row["backlog_ref"] is not None:
            value = json.loads(row["backlog_ref"])
            row["backlog_ref"] = text_of(value) if isinstance(value, (str, list, dict)) or value is None else row["backlog_ref"]
        yield row


class Stats(NamedTuple):
    """The numbers of a bundle."""

    concepts: int
    dirs: int
    top_dirs: int
    concept_types: int
    cross_links: int
    distinct_tags: int
    by_type: dict[str, int]
    """The most frequent first, then in the order of first appearance."""
    by_dir: dict[str, int]
    """The same by name; directories without a concept of their own are there, too."""
    by_top_dir: dict[str, int]


def stats(connection: sqlite3.Connection, bundle: str) -> Stats:
    """Count what a bundle holds."""
    # Counting here is cheaper than the sort by which SQLite would group.
    rows = connection.execute("select type, top_dir, dir from concepts where bundle = ? order by path", (bundle,)).fetchall()
    by_type = Counter(kind or UNTYPED for kind, _, _ in rows)
    by_top = Counter(top for _, top, _ in rows)
    by_dir = dict.fromkeys(directories(connection, bundle), 0)
    by_dir.update(Counter(directory for _, _, directory in rows))
    tags: int = connection.execute(
        "select count(distinct t.tag) from tags t join concepts c on c.id = t.concept_id where c.bundle = ?", (bundle,)
    ).fetchone()[0]
    return Stats(
        len(rows), len(by_dir), len(by_top), len(by_type), edge_count(connection, bundle), tags,
        _ranked(by_type), dict(sorted(by_dir.items(), key=lambda item: (-item[1], item[0]))), _ranked(by_top),
    )  # fmt: skip


def _ranked(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: -item[1]))


class Group(NamedTuple):
    """A value that concepts share: a type, or a tag."""

    value: str
    ids: list[str]
    """Of the concepts, by path."""
    titles: list[str]


def types(asked: Asked) -> list[Group]:
    """The types in use, the most frequent first, then by name; `Untyped` where there is none."""
    return _groups(asked, "coalesce(nullif(c.type, ''), '" + UNTYPED + "')", "")


def tags(asked: Asked) -> list[Group]:
    """The tags in use, the most frequent first, then by name."""
    return _groups(asked, "t.tag", "cross join tags t on t.concept_id = c.id")


def _groups(asked: Asked, value: str, join: str) -> list[Group]:
    where, values = asked.where()
    connection = asked.connection
    members: dict[str, list[int]] = {}
    for name, row_id in connection.execute(f"select {value}, c.id from concepts c {join} where {where} order by c.path", values):
        if name in members:
            members[name].append(row_id)
        else:
            members[name] = [row_id]
    # A concept has several tags: its id and title are fetched once.
    names = {row[0]: row[1:] for row in connection.execute(
        "select id, concept_id, coalesce(title, stem) from concepts where bundle = ?", (asked.bundle,)
    )}  # fmt: skip
    groups = [
        Group(name, [names[row_id][0] for row_id in row_ids], [names[row_id][1] for row_id in row_ids])
        for name, row_ids in members.items()
    ]
    return sorted(groups, key=lambda group: (-len(group.ids), group.value))


class TagGroup(NamedTuple):
    """The tags of the concepts that share a type or a directory."""

    key: str
    tags: list[Group]
    """The most frequent first, then by name."""


TAG_DIMENSIONS = ("type", "dir", "area")


def tags_by(asked: Asked, dimension: str) -> tuple[list[TagGroup], dict[str, int]]:
    """The tags grouped by `type`, `dir` or `area` (the first directory), by key; and how often each tag occurs at all."""
    key = {"type": "coalesce(nullif(c.type, ''), '" + UNTYPED + "')", "dir": "c.dir", "area": "c.top_dir"}[dimension]
    where, values = asked.where()
    groups: dict[str, dict[str, Group]] = {}
    total: dict[str, int] = {}
    for name, tag, concept_id, title in asked.connection.execute(
        f"select {key}, t.tag, c.concept_id, coalesce(c.title, c.stem) from concepts c cross join tags t on t.concept_id = c.id "
        f"where {where} order by c.path",
        values,
    ):
        group = groups.setdefault(name, {}).setdefault(tag, Group(tag, [], []))
        group.ids.append(concept_id)
        group.titles.append(title)
        total[tag] = total.get(tag, 0) + 1
    return [
        TagGroup(name, sorted(found.values(), key=lambda group: (-len(group.ids), group.value)))
        for name, found in sorted(groups.items())
    ], total
