"""The scan: a term is literal text anywhere in a field, or a regular expression.

The raw text alone says what matches. The index of words only leads to it faster, and
where it cannot, every text is read.
"""

from __future__ import annotations

import re
import sqlite3
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any
from unicodedata import is_normalized

from okf_catalog.format.values import fold
from okf_catalog.search import vocabulary
from okf_catalog.search.engine import Anchor, Answer, combine, describe, scored
from okf_catalog.search.query import REGEXP, Corpus, Literal, Query
from okf_catalog.search.vocabulary import Token, Words, glob_escape, quoted

Hits = dict[str, set[int]]
"""Field to the concepts that are hit in it."""

_GLOB_LIMIT = 10_000
"""Characters; SQLite refuses GLOB patterns of more than 50,000 bytes."""
_PHRASES = vocabulary.EXPANSIONS


class Scan:
    """Exact, literal search with absolute scores."""

    name = "scan"
    aliases: tuple[str, ...] = ()
    capabilities = frozenset([REGEXP])

    def search(self, corpus: Corpus, query: Query) -> Answer:
        """See `Engine.search`."""
        if query.mode == REGEXP:
            from okf_catalog.search import patterns

            return patterns.search(corpus, query)
        reader = Reader(corpus)
        found: list[Hits] = []
        for term in query.words:
            found.append(reader.hits(Literal.read(term), query.fields))
            if not any(found[-1].values()):
                break  # nothing can match all terms any more
        return Answer(
            scored(combine(found, query.fields)), [literal_anchor(Literal.read(term)) for term in query.words], (), reader.explanation
        )


class Reader:
    """Finds literals in the fields of a corpus."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus, self.connection = corpus, corpus.connection
        self.words = Words(corpus.connection)
        self.explanation: list[str] = []
        self._blind: set[int] | None = None

    def hits(self, literal: Literal, fields: Sequence[str]) -> Hits:
        """The concepts that hold the literal, for each field."""
        if not literal.text or not literal.is_encodable:
            return {field: set() for field in fields}
        try:
            return self._by_index(literal, fields) or self._by_reading(literal, fields, "")
        except sqlite3.OperationalError as problem:
            if "no such table" not in str(problem):
                raise
            # Somebody dropped the index; the next sync makes it anew, and the text is all there.
            return self._by_reading(literal, fields, "")

    def _explain(self, literal: Literal, how: str) -> None:
        self.explanation.append(f"scan reads the text {describe(literal.text)}, {how}")

    def _by_index(self, literal: Literal, fields: Sequence[str]) -> Hits | None:
        """Ask the index of words; None where it is of no help."""
        tokens = self.words.cut(literal.text)
        tokens = _close_edges(tokens, literal)
        query = self._expression(tokens)
        if query is None:
            return None
        expression, size = query
        is_exact = len(tokens) == 1 and tokens[0].text == literal.text and not (literal.spaced_before or literal.spaced_after)
        blind = self._blind_spots()
        if not expression:
            self._explain(literal, "which no word of the catalog holds")
            return self._by_reading(literal, fields, "s.concept_id in (%s)", blind) if blind else {f: set() for f in fields}
        if not is_exact:
            columns = " ".join(fields)
            hits = self._by_reading(
                literal, fields, "s.concept_id in (select rowid from concepts_fts where concepts_fts match ?)",
                [f"{{{columns}}} : ({expression})"],
            )  # fmt: skip
        else:
            # One run of letters and digits: a word holds it or not, and the index knows the field.
            allowed = self.corpus.allowed()
            hits = {}
            for field in fields:
                rows = self.connection.execute(
                    "select rowid from concepts_fts where concepts_fts match ?", (f"{{{field}}} : ({expression})",)
                )
                concepts = set(chain.from_iterable(rows))
                hits[field] = concepts if allowed is None else concepts & allowed
        if blind:
            more = self._by_reading(literal, fields, "s.concept_id in (%s)", blind)
            for field in fields:
                hits[field] |= more[field]
        how = "" if is_exact else ", then compared with the text"
        self._explain(literal, f"found by way of {size} word{'s' if size != 1 else ''} of the index{how}")
        return hits

    def _blind_spots(self) -> set[int]:
        if self._blind is None:
            self._blind = vocabulary.blind_spots(self.connection)
        return self._blind

    def _expression(self, tokens: Sequence[Token]) -> tuple[str, int] | None:
        """FTS5 syntax for texts that may hold the tokens, and how many words it names.

        Empty where no text does; None where no token leads anywhere.
        """
        groups: list[list[Token]] = []
        for token in tokens:
            if token.follows and groups:
                groups[-1].append(token)
            else:
                groups.append([token])
        parts: list[str] = []
        size = 0
        for group in groups:
            expanded = [vocabulary.expand(self.connection, token) for token in group]
            if any(words == [] for words in expanded):
                return "", 0
            size += sum(len(words) for words in expanded if words)
            parts += _phrases(expanded)
        if not parts:
            return None
        return " AND ".join(parts), size

    def _by_reading(
        self, literal: Literal, fields: Sequence[str], condition: str, values: Iterable[Any] = ()
    ) -> Hits:
        """Compare the text of the concepts that satisfy `condition`, or of all."""
        values = list(values)
        if not condition:
            self._explain(literal, "by reading every text: it holds no word that the index could help with")
        if "%s" in condition:
            condition %= ", ".join("?" * len(values))
        columns, patterns = [], []
        for position, field in enumerate(fields):
            test, parameters = _test(f"s.{field}", literal)
            columns.append(f"(({test}) << {position})")  # `<<` and `|` bind alike in SQLite
            patterns += parameters
        within, scope = self.corpus.within("s.concept_id")
        where = " and ".join(part for part in (condition, within) if part)
        rows = self.connection.execute(
            "select id, hit from (select s.concept_id as id, "
            f"{' | '.join(columns)} as hit from search_text s where {where}) where hit > 0",
            (*patterns, *values, *scope),
        )
        hits: Hits = {field: set() for field in fields}
        sets = list(hits.values())
        # Most rows hit one field: look that up, and take the others apart.
        single = {1 << position: group for position, group in enumerate(sets)}
        for concept, mask in rows:
            group = single.get(mask)
            if group is not None:
                group.add(concept)
            else:
                for position, each in enumerate(sets):
                    if mask >> position & 1:
                        each.add(concept)
        return hits


def _close_edges(tokens: list[Token], literal: Literal) -> list[Token]:
    """White space at the ends of a term ends the words there."""
    if tokens and literal.spaced_before and literal.text.startswith(tokens[0].text):
        tokens[0] = tokens[0]._replace(open_before=False)
    if tokens and literal.spaced_after and literal.text.endswith(tokens[-1].text):
        tokens[-1] = tokens[-1]._replace(open_after=False)
    return tokens


def _phrases(expanded: list[list[str] | None]) -> list[str]:
    """FTS5 conditions for neighbouring words, each of which may be one of several; None may be any."""
    parts: list[str] = []
    run: list[list[str]] = []

    def finish() -> None:
        phrases = 1
        for words in run:
            phrases *= len(words)
        if run and phrases <= _PHRASES:
            texts = [""]
            for words in run:
                texts = [f"{text} {word}" if text else word for text in texts for word in words]
            parts.append(f"({' OR '.join(map(quoted, texts))})")
        else:
            parts.extend(f"({' OR '.join(map(quoted, words))})" for words in run)
        run.clear()

    for words in expanded:
        if words is None:
            finish()
        else:
            run.append(words)
    finish()
    return parts


def _test(column: str, literal: Literal) -> tuple[str, list[str]]:
    """SQL for "the column holds the literal", 1 or 0, and its values."""
    text = literal.text
    if len(text) > _GLOB_LIMIT:
        padded = f"{' ' * literal.spaced_before}{text}{' ' * literal.spaced_after}"
        before, after = "' ' || " * literal.spaced_before, " || ' '" * literal.spaced_after
        return f"instr({before}{column}{after}, ?) > 0", [padded]
    # GLOB runs at the speed of memory, twice as fast as instr.
    escaped = glob_escape(text)
    starts = [f"* {escaped}", escaped] if literal.spaced_before else [f"*{escaped}"]
    patterns = [f"{start}{end}" for start in starts for end in ([" *", ""] if literal.spaced_after else ["*"])]
    return " or ".join([f"{column} glob ?"] * len(patterns)), patterns


_PIECE = 64
"""Characters of a text that are folded at a time."""


def literal_anchor(literal: Literal) -> Anchor:
    """Finds the literal in text as written."""
    before, after = (r"(?:(?<=\s)|\A)" if literal.spaced_before else ""), (r"(?=\s|\Z)" if literal.spaced_after else "")
    return TextAnchor(re.compile(before + r"\s+".join(map(re.escape, literal.text.split(" "))) + after).search)


class TextAnchor:
    """Finds text in text as written by looking in the folded one."""

    ignores_spacing = True
    """It finds the same whether white space is written as single blanks or not."""

    def __init__(self, search: Callable[[str], re.Match[str] | None]) -> None:
        self._search = search

    def __call__(self, text: str) -> tuple[int, int] | None:
        """See `Anchor`."""
        folded, back = fold_with_positions(text)
        found = self._search(folded)
        return span(found, back) if found else None


def fold_with_positions(text: str) -> tuple[str, Callable[[int], int]]:
    """A text folded for comparing, and the way back from its positions to those of `text`."""
    if text.isascii():
        return text.lower().replace("\0", "\ufffd"), lambda position: position
    if is_normalized("NFC", text):
        folded = text.casefold()
        if is_normalized("NFC", folded):
            # Letter by letter, each to one or a few: the way back is short.
            growth = len(folded) - len(text)
            return folded.replace("\0", "\ufffd"), lambda position: _unfolded(text, position, growth)
    # Folding never looks across a blank, and most pieces are ASCII, which costs little.
    pieces: list[str] = []
    starts: list[int] = []
    folded_starts: list[int] = []
    start = size = 0
    while start < len(text):
        end = text.find(" ", start + _PIECE) + 1 or len(text)
        piece = text[start:end]
        folded = piece.lower() if piece.isascii() else fold(piece)
        pieces.append(folded)
        starts.append(start)
        folded_starts.append(size)
        start, size = end, size + len(folded)

    def back(position: int) -> int:
        """The longest beginning of `text` that folds to no more than `position` characters."""
        number = bisect_right(folded_starts, position) - 1
        start = starts[number]
        end = starts[number + 1] if number + 1 < len(starts) else len(text)
        return start + _within(text[start:end], position - folded_starts[number])

    return "".join(pieces).replace("\0", "\ufffd"), back


def _unfolded(text: str, position: int, growth: int) -> int:
    """The longest beginning of `text` that folds to no more than `position` characters; all of it grows by `growth`."""
    low, high = max(position - growth, 0), min(position, len(text))
    while low < high:
        middle = (low + high + 1) // 2
        if len(text[:middle].casefold()) <= position:
            low = middle
        else:
            high = middle - 1
    return low


def _within(line: str, position: int) -> int:
    if line.isascii():
        return min(position, len(line))
    # Letters fold to one or several characters, marks join the letter before: lengths only grow.
    low, high = 0, len(line)
    while low < high:
        middle = (low + high + 1) // 2
        if len(fold(line[:middle])) <= position:
            low = middle
        else:
            high = middle - 1
    return low


def span(found: re.Match[str], back: Callable[[int], int]) -> tuple[int, int]:
    """(position, length) in the text as written of what was found in the folded one."""
    start, end = back(found.start()), back(found.end())
    # A hit inside what one letter folds to is a hit of that letter.
    return start, max(end - start, 1 if found.end() > found.start() else 0)
