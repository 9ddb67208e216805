"""The values that concepts share, types or tags, and the concepts of each."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from okf_catalog.catalog.edges import among_others
from okf_catalog.catalog.filters import Filters
from okf_catalog.format.values import fold
from okf_catalog.views.lists import TYPE, Asked

_FEW = 8
"""People see about as many titles of a group."""
_NEAR = 8000
"""Concepts at the beginning of a bundle, among which large groups have as many members."""
_BATCH = 500


class Group(NamedTuple):
    """A value that concepts share: a type, or a tag."""

    value: str
    size: int
    """How many concepts."""


class Groups:
    """Types or tags in use, the most frequent first, then by name, and what is to be known of their concepts.

    A bundle has several times as many tags as concepts, so nothing is made for each before it is wanted.
    """

    def __init__(
        self, asked: Asked, counted: Iterable[tuple[str, int]], members_of: Callable[[Sequence[str]], Iterable[str]], value_of: str
    ) -> None:
        """Of `counted` (value, number of concepts), which may count concepts that are not asked for.

        `members_of` gives for each value the row ids of its concepts, separated by commas;
        `value_of` is SQL for the rows (row id, value) of the concepts whose ids it gets as JSON.
        """
        self._asked, self._members_of, self._value_of = asked, members_of, value_of
        self._near: dict[str, list[int]] = {}
        where, values = asked.where()
        rows = asked.connection.execute(f"select c.id from concepts c where {where} order by c.path", values)
        self._order: list[int] = list(chain.from_iterable(rows))
        self._place = dict(zip(self._order, range(len(self._order)), strict=True))
        self._is_all = asked.filters == Filters() and not among_others(asked.connection, asked.bundle)[0]
        groups: Iterable[Group] = (Group(*row) for row in counted)
        if not self._is_all:
            groups = (Group(group.value, len(places)) for group, places in self._placed(list(groups)) if places)
        self.all = sorted(groups, key=lambda group: (-group.size, group.value))

    def _placed(self, groups: Sequence[Group]) -> Iterator[tuple[Group, list[int]]]:
        """Each group, and where those of its concepts that were asked for stand in the order of the paths, by number."""
        for start in range(0, len(groups), _BATCH):
            batch = groups[start : start + _BATCH]
            for group, members in zip(batch, self._members_of([group.value for group in batch]), strict=True):
                ids = map(int, members.split(","))
                if self._is_all:
                    yield group, sorted(map(self._place.__getitem__, ids))
                else:
                    yield group, sorted(self._place[row_id] for row_id in ids if row_id in self._place)

    def ids(self, groups: Sequence[Group]) -> Iterator[list[str]]:
        """For each group the ids of its concepts, by path."""
        where, values = self._asked.where()
        rows = self._asked.connection.execute(f"select c.path from concepts c where {where} order by c.path", values)
        ids = [path[:-3] for (path,) in rows]  # the index of the paths has them
        for _, places in self._placed(groups):
            yield list(map(ids.__getitem__, places))

    def titles(self, groups: Sequence[Group]) -> Iterator[Iterator[str]]:
        """For each group the titles of its concepts, by path."""
        for start in range(0, len(groups), _BATCH):
            batch = groups[start : start + _BATCH]
            first = self._first(batch)
            wanted = sorted({self._order[place] for places in first.values() for place in places})
            title_of: dict[int, str] = dict(self._asked.connection.execute(
                "select c.id, coalesce(c.title, c.stem) from json_each(?) o cross join concepts c on c.id = o.value", (json.dumps(wanted),)
            ))  # fmt: skip
            for group in batch:
                yield self._titles(group, first[group.value], title_of)

    def _first(self, groups: Sequence[Group]) -> dict[str, list[int]]:
        """The places of the first concepts of each: of large groups without a look at all of them."""
        if not self._near and len(self._order) > _NEAR:
            for row_id, value in self._asked.connection.execute(self._value_of, (json.dumps(self._order[:_NEAR]),)):
                self._near.setdefault(value, []).append(self._place[row_id])
        found = {group.value: sorted(self._near.get(group.value, ()))[:_FEW] for group in groups}
        short = [group for group in groups if len(found[group.value]) < min(_FEW, group.size)]
        for group, places in self._placed(short):
            found[group.value] = places[:_FEW]
        return found

    def _titles(self, group: Group, first: list[int], title_of: dict[int, str]) -> Iterator[str]:
        for place in first:
            yield title_of[self._order[place]]
        if len(first) < group.size:
            for _, places in self._placed([group]):
                for place in places[len(first) :]:
                    yield self._asked.connection.execute(
                        "select coalesce(title, stem) from concepts where id = ?", (self._order[place],)
                    ).fetchone()[0]  # fmt: skip


def types(asked: Asked) -> Groups:
    """The types in use; `Untyped` where there is none."""
    found: dict[str, str] = {}
    for value, members in asked.connection.execute(
        f"select {TYPE}, group_concat(id) from concepts where bundle = ? group by type", (asked.bundle,)
    ):
        found[value] = f"{found[value]},{members}" if value in found else members
    return Groups(
        asked, [(value, members.count(",") + 1) for value, members in found.items()], lambda values: map(found.__getitem__, values),
        f"select id, {TYPE} from concepts where id in (select value from json_each(?))",
    )  # fmt: skip


def tags(asked: Asked) -> Groups:
    """The tags in use."""

    def members_of(tags: Sequence[str]) -> Iterator[str]:
        rows = asked.connection.execute(
            "select (select group_concat(t.concept_id) from tags t where t.folded = json_extract(o.value, '$[0]') "
            "and t.tag = json_extract(o.value, '$[1]')) from json_each(?) o order by o.key", (json.dumps([(fold(tag), tag) for tag in tags]),),
        )  # fmt: skip
        return chain.from_iterable(rows)

    return Groups(
        asked, asked.connection.execute("select tag, count(*) from tags group by folded, tag"), members_of,
        "select concept_id, tag from tags where concept_id in (select value from json_each(?))",
    )  # fmt: skip


class Tagged(NamedTuple):
    """A tag among concepts that share something else."""

    value: str
    ids: list[str]
    """Of the concepts, by path."""
    titles: list[str]


class TagGroup(NamedTuple):
    """The tags of the concepts that share a type or a directory."""

    key: str
    tags: list[Tagged]
    """The most frequent first, then by name."""


TAG_DIMENSIONS = ("type", "dir", "area")


def tags_by(asked: Asked, dimension: str) -> tuple[list[TagGroup], dict[str, int]]:
    """The tags grouped by `type`, `dir` or `area` (the first directory), by key; and how often each tag occurs at all."""
    key = {"type": TYPE, "dir": "c.dir", "area": "c.top_dir"}[dimension]
    where, values = asked.where()
    groups: dict[str, dict[str, Tagged]] = {}
    total: dict[str, int] = {}
    for name, tag, concept_id, title in asked.connection.execute(
        f"select {key}, t.tag, c.concept_id, coalesce(c.title, c.stem) from concepts c cross join tags t on t.concept_id = c.id "
        f"where {where} order by c.path",
        values,
    ):
        group = groups.setdefault(name, {}).setdefault(tag, Tagged(tag, [], []))
        group.ids.append(concept_id)
        group.titles.append(title)
        total[tag] = total.get(tag, 0) + 1
    return [
        TagGroup(name, sorted(found.values(), key=lambda group: (-len(group.ids), group.value)))
        for name, found in sorted(groups.items())
    ], total
