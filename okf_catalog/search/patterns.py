"""Regular expressions over the text as written, with a limit on their time."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator, Sequence
from typing import Any

import regex

from okf_catalog.errors import UsageError
from okf_catalog.search.engine import Anchor, Answer, combine, describe, scored
from okf_catalog.search.query import Corpus, Literal, Query

SECONDS = 2.0
"""Wall time for one text. An honest pattern takes microseconds."""
ALL_SECONDS = 60.0
"""Wall time for all texts of one search."""
FLAGS = regex.IGNORECASE | regex.FULLCASE | regex.MULTILINE | regex.VERSION1
_BATCH = 200
"""Concepts whose texts are in memory at a time."""
_USEFUL = 3
"""Characters of a required literal from which on the index of words helps."""

_COLUMNS = {
    "title": "c.title", "id": "c.concept_id", "tags": "c.tags", "type": "c.type", "description": "c.description",
    "body": "(select b.body from bodies b where b.concept_id = c.id)",
    "sources": "case when c.source_count then (select json_group_array(json_array(title, resource)) from "
    "(select title, resource from sources s where s.concept_id = c.id order by s.position)) end",
}  # fmt: skip


def compiled(term: str) -> regex.Pattern[str]:
    """The pattern. Raises `UsageError` in one line."""
    try:
        return regex.compile(term, FLAGS)
    except (regex.error, RecursionError, OverflowError, ValueError, IndexError) as problem:
        words = " ".join(str(problem).split()) or type(problem).__name__
        raise UsageError(f"invalid pattern: {words}: /{term}/i") from None


class Deadline:
    """The time that is left for patterns."""

    def __init__(self) -> None:
        self.end = time.monotonic() + ALL_SECONDS

    def check(self) -> None:
        """Raise `UsageError` when all the time is over."""
        if time.monotonic() > self.end:
            raise UsageError(
                f"the patterns take more than {ALL_SECONDS:g} s; give them a word they must hold, or filter by --type or --dir"
            )

    def find(self, pattern: regex.Pattern[str], text: str) -> regex.Match[str] | None:
        """The first match. Raises `UsageError` where it takes too long."""
        try:
            return pattern.search(text, timeout=SECONDS)
        except TimeoutError:
            raise UsageError(
                f"the pattern /{pattern.pattern}/i takes more than {SECONDS:g} s on one text; "
                "make it simpler: no repeats inside repeats"
            ) from None


def search(corpus: Corpus, query: Query) -> Answer:
    """The concepts whose texts match every pattern."""
    patterns = [compiled(term) for term in query.words]
    deadline = Deadline()
    explanation: list[str] = []
    holding = [_holding(corpus, query.fields, term, explanation) for term in query.words]
    known = [set[int]().union(*hits.values()) for hits in holding if hits is not None]
    candidates = set.intersection(*known) if known else None
    found: list[dict[str, set[int]]] = [{field: set() for field in query.fields} for _ in patterns]
    for concept, texts in _texts(corpus, query.fields, candidates):
        deadline.check()
        hits: list[list[str]] = []
        for pattern, may in zip(patterns, holding, strict=True):
            hit = [
                field for field, stored in texts
                if (may is None or concept in may[field]) and deadline.find(pattern, as_written(field, stored)) is not None
            ]  # fmt: skip
            if not hit:
                break
            hits.append(hit)
        else:
            for fields, into in zip(hits, found, strict=True):
                for field in fields:
                    into[field].add(concept)
    return Answer(scored(combine(found, query.fields)), [anchor(pattern) for pattern in patterns], (), explanation)


def anchor(pattern: regex.Pattern[str]) -> Anchor:
    """Finds the pattern in a text."""

    def find(text: str) -> tuple[int, int] | None:
        found = Deadline().find(pattern, text)
        return (found.start(), found.end() - found.start()) if found else None

    return find


def _holding(corpus: Corpus, fields: Sequence[str], term: str, explanation: list[str]) -> dict[str, set[int]] | None:
    """For each field the concepts that hold there what the pattern cannot do without; None where that says nothing."""
    from okf_catalog.search.scan import Reader

    literal = required_literal(term)
    if literal is None:
        explanation.append(f"scan reads the pattern {describe(term)} against every text")
        return None
    hits = Reader(corpus).hits(Literal.read(literal), fields)
    count = len(set[int]().union(*hits.values()))
    explanation.append(f"scan reads the pattern {describe(term)} against the {count} texts that hold {describe(literal)}")
    return hits


def _texts(corpus: Corpus, fields: Sequence[str], candidates: set[int] | None) -> Iterator[tuple[int, list[tuple[str, str]]]]:
    """(concept, its (field, text as stored) pairs) for the candidates, or for all."""
    columns = ", ".join(_COLUMNS[field] for field in fields)
    within, values = corpus.within("c.id")
    if candidates is None:
        rows: Iterator[Any] = corpus.connection.execute(f"select c.id, {columns} from concepts c where {within}", values)
    else:
        rows = _some(corpus.connection, columns, sorted(candidates))
    for row in rows:
        yield row[0], [pair for pair in zip(fields, row[1:], strict=True) if pair[1] is not None]


def _some(connection: sqlite3.Connection, columns: str, ids: list[int]) -> Iterator[Any]:
    for at in range(0, len(ids), _BATCH):
        some = ids[at : at + _BATCH]
        marks = ", ".join("?" * len(some))
        yield from connection.execute(f"select c.id, {columns} from concepts c where c.id in ({marks})", some).fetchall()


def as_written(field: str, stored: str) -> str:
    """The text of a searched field from what the catalog stores: lists are joined by spaces."""
    if field == "tags":
        return " ".join(json.loads(stored))
    if field == "sources":
        return " ".join(text for source in json.loads(stored) for text in source if text)
    return stored


_PLAIN_ESCAPES = frozenset("dDwWsSbBAZz")
_META = frozenset("\\[]()|*+?{}.^$")


def required_literal(pattern: str) -> str | None:
    """A run of ASCII characters that every text matching `pattern` holds, when folded; None where unproven.

    Reads only what is plain: literal characters at the top level of a pattern without
    alternatives. Groups, classes and escapes end a run; whatever is unusual ends the attempt.
    """
    runs: list[str] = [""]
    position, depth = 0, 0
    while position < len(pattern):
        character = pattern[position]
        position += 1
        after = pattern[position : position + 1]
        literal = ""
        if character == "\\":
            position += 1
            if not after or not after.isascii() or (after.isalnum() and after not in _PLAIN_ESCAPES):
                return None
            literal = "" if after.isalnum() or after.isspace() else after
        elif character == "[":
            end = _end_of_class(pattern, position)
            if end is None:
                return None
            position = end
        elif character == "(":
            if after in ("?", "*"):
                return None  # flags, look-around, verbs: may change what the rest means
            depth += 1
        elif character == ")":
            depth -= 1
        elif character == "|":
            if depth == 0:
                return None
        elif character in "*?{":
            # The character before may be missing.
            runs[-1] = runs[-1][:-1]
            if character == "{":
                closing = pattern.find("}", position)
                if closing < 0:
                    return None
                position = closing + 1
        elif character not in _META and character.isascii() and character.isprintable() and character != " ":
            literal = character.lower()
        if literal and depth == 0:
            runs[-1] += literal
        # An i may be the dotted capital, which folds to two characters.
        if not literal or literal == "i" or depth:
            runs.append("")
    # A mark after the last character may have made it another one (NFC).
    best = max((run[:-1] for run in runs), key=len)
    return best if len(best) >= _USEFUL else None


def _end_of_class(pattern: str, position: int) -> int | None:
    """Where the class that begins before `position` is over; None where it is not a simple one."""
    if pattern[position : position + 1] == "^":
        position += 1
    if pattern[position : position + 1] == "]":
        position += 1
    while position < len(pattern):
        character = pattern[position]
        position += 1
        if character == "\\":
            position += 1
        elif character == "[":
            return None
        elif character == "]":
            return position
    return None
