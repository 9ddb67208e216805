"""Conditions on concepts, as SQL with bound values. Every verb that filters uses these."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from okf_catalog.format.values import fold, search_fold

_GLOB_LIMIT = 10_000
"""Characters; SQLite refuses GLOB patterns of more than 50,000 bytes."""
_MANY = 200
"""Values from which on they go to SQLite as one list: it refuses expressions deeper than 1,000."""
_TEXT_COLUMNS = ("title", "description", "body")


class Filters(NamedTuple):
    """What a concept has to be. Values of one kind are alternatives, kinds are ANDed."""

    text: tuple[str, ...] = ()
    """Literal text; each has to stand in the title, the description or the body."""
    types: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    trust_tiers: tuple[str, ...] = ()
    trust_current: tuple[str, ...] = ()
    stale_only: bool = False
    dirs: tuple[str, ...] = ()
    """Directories, with everything below them; `.`, `root` and the empty text are the root alone."""
    top_dirs: tuple[str, ...] = ()
    """First segments of the path (the old `--area`); `root` is the root."""
    not_types: tuple[str, ...] = ()
    not_tags: tuple[str, ...] = ()
    not_statuses: tuple[str, ...] = ()

    @property
    def only_text(self) -> bool:
        """True where a file without usable frontmatter could satisfy the filters."""
        return self._replace(text=()) == Filters()


def contains(column: str, text: str) -> tuple[str, str]:
    """SQL and parameter for "`column` of `search_text` contains `text`"; `text` is folded here."""
    folded = search_fold(text)
    if len(folded) > _GLOB_LIMIT:
        return f"instr({column}, ?) > 0", folded
    # GLOB runs at the speed of memory, twice as fast as instr.
    pattern = folded.replace("[", "[[]").replace("*", "[*]").replace("?", "[?]")
    return f"{column} glob ?", f"*{pattern}*"


def _one_of(column: str, values: Iterable[str]) -> tuple[str, list[Any]]:
    found = list(values)
    if len(found) > _MANY:
        return f"{column} in (select value from json_each(?))", [json.dumps(found)]
    return f"{column} in ({', '.join('?' * len(found))})", list(found)


def spelled(connection: sqlite3.Connection, column: str, wanted: Iterable[str]) -> list[str]:
    """The values of a column of `concepts` that equal one of `wanted` but for case."""
    folded = {fold(value.strip()) for value in wanted}
    rows = connection.execute(f"select distinct {column} from concepts where {column} is not null")
    return [row[0] for row in rows if fold(row[0].strip()) in folded]


ROOT = "."
"""`concepts.dir` of a concept in the root of its bundle."""
TOP_ROOT = "(root)"
"""`concepts.top_dir` of the same."""
_ROOT_NAMES = ("", ROOT, "root")


def below(connection: sqlite3.Connection, wanted: Iterable[str], bundles: Sequence[str] | None = None) -> list[str]:
    """The directories that `--dir` means: the one named, whatever its case, and all below it.

    `root` is the root of the bundle, unless there is a real directory of that name. The root
    means only what lies directly in it. `bundles` None looks at the whole catalog.
    """
    there = _directories(connection, bundles)
    chosen: set[str] = set()
    for name in wanted:
        directory = fold(name).rstrip("/")
        is_real = any(folded == directory or folded.startswith(f"{directory}/") for folded in there.values())
        if directory in _ROOT_NAMES and not (directory == "root" and is_real):
            chosen.add(ROOT)
        else:
            chosen.update(path for path, folded in there.items() if folded == directory or folded.startswith(f"{directory}/"))
    return sorted(chosen)


def tops(connection: sqlite3.Connection, wanted: Iterable[str], bundles: Sequence[str] | None = None) -> list[str]:
    """The first segments that `--area` means."""
    there = {path.partition("/")[0] for path in _directories(connection, bundles)}
    chosen: set[str] = set()
    for name in wanted:
        top = fold(name).rstrip("/")
        found = {segment for segment in there if fold(segment) == top}
        chosen |= found or ({TOP_ROOT} if top in ("root", TOP_ROOT) else set())
    return sorted(chosen)


def _directories(connection: sqlite3.Connection, bundles: Sequence[str] | None) -> dict[str, str]:
    """Every directory that holds markdown, and how it compares."""
    # The table of signatures has a row a directory; asking `concepts` would read every row of it.
    rows = connection.execute("select bundle, dir from directories")
    return {path: fold(path) for bundle, path in rows if bundles is None or bundle in bundles}


def conditions(
    connection: sqlite3.Connection, filters: Filters, now: str, bundles: Sequence[str] | None = None
) -> tuple[list[str], list[Any]]:
    """SQL conditions on `concepts c join search_text s`, and their parameters.

    `now` is the moment for staleness, `YYYY-MM-DDTHH:MM:SSZ`. `bundles` are those that are
    asked, for what `root` means.
    """
    sql: list[str] = []
    values: list[Any] = []

    def add(condition: str, parameters: Iterable[Any]) -> None:
        sql.append(condition)
        values.extend(parameters)

    # Texts that fold to the same are one.
    texts = list(dict.fromkeys(search_fold(text) for text in filters.text))
    if len(texts) > _MANY:
        # `instr` takes texts of any length.
        held = " or ".join(f"instr(s.{column}, q.value) > 0" for column in _TEXT_COLUMNS)
        add(f"not exists (select 1 from json_each(?) q where not ({held}))", [json.dumps(texts)])
        texts = []
    for text in texts:
        parts = [contains(f"s.{column}", text) for column in _TEXT_COLUMNS]
        add(f"({' or '.join(part[0] for part in parts)})", [part[1] for part in parts])
    if filters.types:
        add(*_one_of("c.type", spelled(connection, "type", filters.types)))
    if filters.tags:
        condition, parameters = _one_of("t.folded", (fold(tag.strip()) for tag in filters.tags))
        add(f"exists (select 1 from tags t where t.concept_id = c.id and {condition})", parameters)
    if filters.statuses:
        add(*_one_of("c.effective_status", (status.strip().lower() for status in filters.statuses)))
    if filters.trust_tiers:
        add(*_one_of("c.trust_tier", filters.trust_tiers))
    if filters.trust_current:
        add(*_one_of("c.trust_current", filters.trust_current))
    if filters.stale_only:
        add("c.stale_after_utc <= ?", [now])
    if filters.dirs:
        add("c.dir in (select value from json_each(?))", [json.dumps(below(connection, filters.dirs, bundles))])
    if filters.top_dirs:
        add("c.top_dir in (select value from json_each(?))", [json.dumps(tops(connection, filters.top_dirs, bundles))])
    if filters.not_types:
        condition, parameters = _one_of("c.type", spelled(connection, "type", filters.not_types))
        add(f"(c.type is null or not {condition})", parameters)
    if filters.not_tags:
        condition, parameters = _one_of("t.folded", (fold(tag.strip()) for tag in filters.not_tags))
        add(f"not exists (select 1 from tags t where t.concept_id = c.id and {condition})", parameters)
    if filters.not_statuses:
        condition, parameters = _one_of("c.effective_status", (status.strip().lower() for status in filters.not_statuses))
        add(f"not {condition}", parameters)
    return sql, values
