"""The lists of a bundle: its files, its types and tags, its numbers, the catalog of its concepts."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from okf_catalog.catalog.edges import KINDS, among_others, edge_count
from okf_catalog.catalog.filters import ROOT, TOP_ROOT, Filters, conditions
from okf_catalog.format.values import text_of
from okf_catalog.views.graph import UNTYPED
from okf_catalog.views.places import counts, directories

Row = dict[str, Any]
FILE_KEYS = ("path", "id", "dir", "type", "title", "description")
CATALOG_KEYS = ("id", "title", "type", "description", "tags", "generated_at", "generated_by", "generated", "trust", "status",
                "stale_after", "sources", "backlog_ref", "dir", "top_dir", "links_out", "links_in")  # fmt: skip


DESCRIPTION = "trim(coalesce(c.description, ''), char(32, 9, 10, 13))"
"""SQL: the description of `concepts c` without the line end that block text of YAML has."""
TYPE = f"coalesce(nullif(type, ''), '{UNTYPED}')"
"""SQL: the type of a row of `concepts`."""
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
    by_dir = counts(connection, bundle)
    by_top: Counter[str] = Counter()
    for directory, count in by_dir.items():
        by_top[TOP_ROOT if directory == ROOT else directory.partition("/")[0]] += count
    by_type: Counter[str] = Counter()
    for kind, count in connection.execute("select type, count(*) from concepts where bundle = ? group by type", (bundle,)):
        by_type[kind or UNTYPED] += count
    everywhere = {**dict.fromkeys(directories(connection, bundle, by_dir), 0), **by_dir}
    return Stats(
        by_dir.total(), len(everywhere), len(by_top), len(by_type), edge_count(connection, bundle),
        _tag_count(connection, bundle), _by_appearance(connection, bundle, by_type),
        dict(sorted(everywhere.items(), key=lambda item: (-item[1], item[0]))),
        dict(sorted(by_top.items(), key=lambda item: -item[1])),
    )  # fmt: skip


def _tag_count(connection: sqlite3.Connection, bundle: str) -> int:
    among, values = among_others(connection, bundle)
    # Both columns are in one index, which SQLite reads without the tables.
    found: int = connection.execute(
        f"select count(*) from (select distinct folded, tag from tags where 1 {among})", values
    ).fetchone()[0]
    return found


def _by_appearance(connection: sqlite3.Connection, bundle: str, counts_of: Mapping[str, int]) -> dict[str, int]:
    """Types by number, then by the first path that has one; that is looked up for equal numbers alone."""
    shared = Counter(counts_of.values())
    first = {name: "" for name, count in counts_of.items() if shared[count] == 1}
    for name in counts_of.keys() - first.keys():
        first[name] = connection.execute(f"select min(path) from concepts where bundle = ? and {TYPE} = ?", (bundle, name)).fetchone()[0]
    return dict(sorted(counts_of.items(), key=lambda item: (-item[1], first[item[0]])))
