"""The facets of the pages of `catalog` and `concepts`, in one reading of the rows; tags through their own table.

Datasette counts each facet on its own, and for one by array spreads every column of every row
first: at a hundred thousand concepts no time limit is long enough for that. Ours also takes
`Finance` and `finance` for one tag, as `find --tag` does.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from datasette.facets import Facet
from datasette.filters import FilterArguments
from datasette.utils import path_with_added_args, path_with_removed_args, sqlite_timelimit

from okf_catalog.datasette_plugin import access
from okf_catalog.format.values import fold

if TYPE_CHECKING:
    from datasette.utils.asgi import Request

ARGUMENT = "_tag"
"""`?_tag=finance` on the pages of `catalog` and `concepts`; given again, both tags are asked for."""
TABLES = ("catalog", "concepts")
KIND = "okf"
TAGS = "tags"
COLUMNS = {
    "catalog": ("bundle", "type", "effective_status", "trust_tier", "is_stale"),
    "concepts": ("bundle", "type", "effective_status", "trust_tier"),
}
MANY = 20_000
"""Concepts from which on reading all tags in order is faster than looking up those of each."""
_Counts = list[tuple[Any, int]]


def ours(table: str, facet: object) -> object:
    """A facet of the metadata (`type`, `{array: tags}`) as one that the plugin counts; others as they are."""
    if isinstance(facet, str) and facet in COLUMNS.get(table, ()):
        return {KIND: facet}
    return {KIND: TAGS} if table in TABLES and facet == {"array": TAGS} else facet


class CatalogFacet(Facet):  # type: ignore[misc]  # Datasette carries no types
    """The facets `{okf: column}`: concepts by value, the most frequent first."""

    type = KIND

    async def suggest(self) -> list[dict[str, Any]]:
        """Nothing: the metadata of a catalog names the facets."""
        return []

    async def facet_results(self) -> tuple[list[dict[str, Any]], list[str]]:
        """(facets, names of those that took too long), as Datasette's own facets give them."""
        asked = {config["config"].get("column") or config["config"]["simple"]: config["source"] for config in self.get_configs()}
        names = [name for name in asked if name == TAGS or name in COLUMNS.get(self.table, ())]
        if self.table not in TABLES or not names:
            return [], []
        size = self.get_facet_size()
        milliseconds = self.ds.setting("facet_time_limit_ms")

        def count(part: list[str]) -> Callable[[sqlite3.Connection], dict[str, _Counts] | None]:
            def counted(connection: sqlite3.Connection) -> dict[str, _Counts] | None:
                if not access.is_catalog(connection):
                    return None
                try:
                    with sqlite_timelimit(connection, milliseconds):
                        return self._tags(connection, size) if part == [TAGS] else self._columns(connection, part)
                except sqlite3.OperationalError as problem:
                    if "interrupted" not in str(problem):
                        raise
                    return {}

            return counted

        database = self.ds.get_database(self.database)
        parts = [part for part in ([name for name in names if name != TAGS], [name for name in names if name == TAGS]) if part]
        # Side by side: SQLite works without Python's lock.
        answers = await asyncio.gather(*(database.execute_fn(count(part)) for part in parts))
        if None in answers:
            return [], []
        found: dict[str, _Counts] = {name: values for answer in answers for name, values in answer.items()}
        facets = [
            # Called a column, since the page prints every other kind behind the name.
            {"name": name, "type": "column", "hideable": asked[name] != "metadata",
             "toggle_url": self.ds.urls.path(path_with_removed_args(self.request, {f"_facet_{KIND}": name})),
             "results": [self._value(name, value, concepts) for value, concepts in found[name][:size]],
             "truncated": len(found[name]) > size}
            for name in names if name in found
        ]  # fmt: skip
        return facets, [name for name in names if name not in found]

    def _columns(self, connection: sqlite3.Connection, names: Sequence[str]) -> dict[str, _Counts]:
        if " where " not in self.sql.lower():
            # An index for each answers that.
            return {
                name: _frequent(dict(connection.execute(f"select {name}, count(*) from ({self.sql}) group by 1", self.params)))
                for name in names
            }
        rows = Counter(connection.execute(f"select {', '.join(names)} from ({self.sql})", self.params)) if names else {}
        counts: dict[str, Counter[Any]] = {name: Counter() for name in names}
        for values, concepts in rows.items():
            for name, value in zip(names, values, strict=True):
                counts[name][value] += concepts
        return {name: _frequent(counts[name]) for name in names}

    def _tags(self, connection: sqlite3.Connection, size: int) -> dict[str, _Counts]:
        if " where " not in self.sql.lower():
            within = "tags"
        elif self.row_count is not None and self.row_count < MANY:
            within = f"({self.sql}) as chosen cross join tags t on t.concept_id = chosen.id"
        else:
            within = f"tags where +concept_id in (select id from ({self.sql}))"
        rows = connection.execute(
            f"select folded, count(*) as concepts from {within} group by folded order by concepts desc, folded limit {size + 1}",
            self.params,
        ).fetchall()
        written = "select tag from tags where folded = ? limit 1"
        return {TAGS: [(connection.execute(written, (folded,)).fetchone()[0], concepts) for folded, concepts in rows]}

    def _value(self, name: str, value: Any, concepts: int) -> dict[str, Any]:
        argument, given = name, str(value)
        if name == TAGS:
            argument = ARGUMENT
            given = next((tag for tag in self.request.args.getlist(ARGUMENT) if fold(tag.strip()) == fold(value)), value)
        chosen = (argument, given) in self.get_querystring_pairs()
        change = (path_with_removed_args if chosen else path_with_added_args)(self.request, {argument: given})
        return {"value": value, "label": value, "count": concepts, "selected": chosen,
                "toggle_url": self.ds.absolute_url(self.request, self.ds.urls.path(change))}  # fmt: skip


def _frequent(counts: Mapping[Any, int]) -> _Counts:
    return sorted(((value, count) for value, count in counts.items() if value is not None), key=lambda item: (-item[1], str(item[0])))


def with_tags(request: Request, table: str) -> FilterArguments | None:
    """What `?_tag=` leaves of a table; None where it is not asked for."""
    tags = [tag for tag in request.args.getlist(ARGUMENT) if tag.strip()]
    if not tags or table not in TABLES:
        return None
    return FilterArguments(
        where_clauses=[f"id in (select concept_id from tags where folded = :okf_tag_{number})" for number in range(len(tags))],
        params={f"okf_tag_{number}": fold(tag.strip()) for number, tag in enumerate(tags)},
        human_descriptions=[f'tagged "{tag}"' for tag in tags],
    )
