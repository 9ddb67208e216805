"""What is asked: terms, fields, filters. And what is searched: some bundles of a catalog."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from okf_catalog.catalog.filters import Filters, conditions
from okf_catalog.errors import UsageError
from okf_catalog.format.values import search_fold

WEIGHTS = {"title": 5, "id": 4, "tags": 3, "type": 2, "description": 2, "sources": 1, "body": 1}
"""Points for a hit in each searched field, in the order that `matched` has."""
FIELDS = tuple(WEIGHTS)

LITERAL, REGEXP, FUZZY = "literal", "regexp", "fuzzy"
"""How terms are read. The last two are also the names of the capabilities that they need."""
PREFIX = "prefix"
"""The capability to find a word by its beginning; nothing requires it."""


class Query(NamedTuple):
    """One question."""

    terms: tuple[str, ...]
    """As typed; blank ones ask for nothing. A concept has to match all others."""
    fields: tuple[str, ...] = FIELDS
    mode: str = LITERAL

    @property
    def words(self) -> tuple[str, ...]:
        """The terms that ask for something, without repeats, in their order."""
        return tuple(dict.fromkeys(term for term in self.terms if search_fold(term)))


def read_fields(names: Sequence[str]) -> tuple[str, ...]:
    """The searched fields that `names` list, in the order of the weights; no names mean all.

    Raises `UsageError` for unknown ones.
    """
    wanted = [name.lower() for name in names]
    unknown = list(dict.fromkeys(name for name in wanted if name not in WEIGHTS))
    if unknown:
        raise UsageError(f"unknown field(s): {', '.join(unknown)} (searchable: {', '.join(FIELDS)})")
    return tuple(name for name in FIELDS if name in wanted) or FIELDS


class Literal(NamedTuple):
    """A term as the text that is looked for."""

    text: str
    """Folded as `search_text` is (NFC, case, white space as single spaces), without white space at its ends."""
    spaced_before: bool
    """The term began with white space: some has to stand there, or the edge of the field."""
    spaced_after: bool

    @classmethod
    def read(cls, term: str) -> Literal:
        """Fold a term. Blank ones have the empty text."""
        return cls(search_fold(term), term[:1].isspace(), term[-1:].isspace())

    @property
    def is_encodable(self) -> bool:
        """False for bytes that no UTF-8 text holds; SQLite would not even take the parameter."""
        return not any("\ud800" <= character <= "\udfff" for character in self.text)

    def is_in(self, folded: str) -> bool:
        """True where a folded field holds the text. This is the meaning that all engines are measured by."""
        before, after = " " * self.spaced_before, " " * self.spaced_after
        return f"{before}{self.text}{after}" in f"{before}{folded}{after}"


class Corpus:
    """The concepts that may be found: those of some bundles that satisfy the filters.

    `bundles` are names in the catalog, or a mapping of them to what rows call them.
    `now` is the moment for staleness, `YYYY-MM-DDTHH:MM:SSZ`.
    """

    def __init__(
        self, connection: sqlite3.Connection, bundles: Sequence[str] | Mapping[str, str], filters: Filters | None = None,
        now: str = "",
    ) -> None:  # fmt: skip
        self.connection, self.bundles, self.filters, self.now = connection, tuple(bundles), filters or Filters(), now
        self.slugs: Mapping[str, str] = bundles if isinstance(bundles, Mapping) else {name: name for name in bundles}
        """What rows call each bundle."""
        self._scope: tuple[str, list[Any]] | None = None
        self._allowed: frozenset[int] | None = None

    @property
    def is_whole(self) -> bool:
        """True where every concept of the catalog may be found."""
        if self.filters != Filters():
            return False
        there = {row[0] for row in self.connection.execute("select name from bundles")}
        return there <= set(self.bundles)

    def scope(self) -> tuple[str, list[Any]]:
        """SQL that selects the ids (`concepts.id`) of the concepts that may be found, and its values."""
        if self._scope is None:
            where, values = conditions(self.connection, self.filters, self.now, self.bundles)
            marks = ", ".join("?" * len(self.bundles))
            sql = f"select c.id from concepts c where {' and '.join([f'c.bundle in ({marks})', *where])}"
            self._scope = sql, [*self.bundles, *values]
        return self._scope

    def within(self, column: str) -> tuple[str, list[Any]]:
        """A condition that `column` holds the id of such a concept; `true` where all may be found."""
        if self.is_whole:
            return "true", []
        sql, values = self.scope()
        return f"{column} in ({sql})", values

    def allowed(self) -> frozenset[int] | None:
        """The ids of the concepts that may be found; None means all of them."""
        if self._allowed is None and not self.is_whole:
            sql, values = self.scope()
            self._allowed = frozenset(row[0] for row in self.connection.execute(sql, values))
        return self._allowed
