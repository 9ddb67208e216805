"""Search by words: FTS5 finds them by their beginnings and ranks with BM25.

Text of a user never becomes FTS5 syntax: a term is cut into words first, and only words
go into the query, quoted. Every term has to hit; the words of one term stand side by side.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import product
from typing import NamedTuple

from okf_catalog.format.values import search_fold
from okf_catalog.search import vocabulary
from okf_catalog.search.engine import Anchor, Answer, Match, combine, describe
from okf_catalog.search.fuzzy import near
from okf_catalog.search.query import FIELDS, FUZZY, PREFIX, WEIGHTS, Corpus, Literal, Query
from okf_catalog.search.vocabulary import Token, Words, glob_escape, quoted

_FUZZY_WEIGHT = 0.45
"""What a mistyped word counts beside the right one."""
_LEAST_IDF = 1e-6
"""What SQLite's bm25() takes for words that are in more than half of the rows (fts5_aux.c)."""
_DECIMALS = 4
_PHRASES = vocabulary.EXPANSIONS

# Scripts written without spaces: Thai, Lao, Tibetan, Myanmar, Khmer, kana, Han, Hangul and their relatives.
_UNSPACED = "\u0e00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fff\u3040-\ua4cf\uac00-\ud7af\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003ffff"


def _is_unspaced(character: str) -> bool:
    return character >= "\u0e00" and any(
        low <= character <= high for low, high in zip(_UNSPACED[::3], _UNSPACED[2::3], strict=True)
    )


class Phrase(NamedTuple):
    """Words that stand side by side."""

    text: str
    """Words, separated by single spaces."""
    goes_on: bool
    """The last word may be longer."""
    factor: float
    """What a hit counts; 1 for the words as asked."""

    @property
    def syntax(self) -> str:
        """As an FTS5 phrase."""
        return quoted(self.text) + " *" * self.goes_on


class FTS5:
    """Ranked search by words."""

    name = "fts5"
    aliases: tuple[str, ...] = ("index",)
    capabilities = frozenset([FUZZY, PREFIX])

    def search(self, corpus: Corpus, query: Query) -> Answer:
        """See `Engine.search`."""
        reader = Reader(corpus, is_fuzzy=query.mode == FUZZY)
        remarks: list[str] = []
        asked: list[list[Phrase]] = []
        anchors: list[Anchor] = []
        for term in query.words:
            if not Literal.read(term).is_encodable:
                return Answer({}, anchors, remarks, reader.explanation)
            groups = reader.read(term)
            if groups is None:
                remarks.append(f"{describe(term)} holds no letter or digit, so {self.name} leaves it out; --engine scan finds it")
                continue
            asked += groups
            anchors += [word_anchor(phrase) for group in groups for phrase in sorted(group, key=lambda one: -one.factor)]
        scores: dict[int, float] | None = None
        for phrases in asked:
            points = reader.score(phrases, query.fields)
            if scores is None:
                scores = points
            else:
                scores = {concept: scores[concept] + more for concept, more in points.items() if concept in scores}
            if not scores:
                return Answer({}, anchors, remarks, reader.explanation)
        if not scores:
            return Answer({}, anchors, remarks, reader.explanation)
        parts = combine([reader.hits(phrases, query.fields) for phrases in asked], query.fields)
        matches = {
            concept: Match(round(scores[concept], _DECIMALS) or 10**-_DECIMALS, fields)
            for fields, concepts in parts.items() for concept in concepts & scores.keys()
        }  # fmt: skip
        return Answer(matches, anchors, remarks, reader.explanation)


class Reader:
    """Turns terms into phrases, and phrases into scores."""

    def __init__(self, corpus: Corpus, *, is_fuzzy: bool) -> None:
        self.corpus, self.connection, self.is_fuzzy = corpus, corpus.connection, is_fuzzy
        self.words = Words(corpus.connection)
        self.explanation: list[str] = []
        self._total: int | None = None

    # -- terms to phrases ------------------------------------------------------------

    def read(self, term: str) -> list[list[Phrase]] | None:
        """What a term asks for: groups that all have to hit, by any of their phrases. None where it has no word."""
        folded = search_fold(term)
        tokens = self.words.cut(folded)
        if not tokens:
            return None
        groups: list[list[Phrase]] = []
        run: list[Token] = []
        for token in tokens:
            if run and not token.follows:
                groups += self._phrases(run, folded, is_last=False)
                run = []
            run.append(token)
        groups += self._phrases(run, folded, is_last=True)
        said = " ".join(token.text for token in tokens)
        self.explanation.append(f"fts5 reads {describe(term)} as the word{'s side by side' * (len(tokens) > 1)} {describe(said)}")
        extra = sorted({phrase.text for group in groups for phrase in group} - {said})
        if extra:
            self.explanation.append(f"fts5 takes for them, too: {', '.join(extra[:10])}{', …' * (len(extra) > 10)}")
        return groups

    def _phrases(self, tokens: list[Token], folded: str, *, is_last: bool) -> list[list[Phrase]]:
        alternatives: list[list[Phrase]] = []
        for position, token in enumerate(tokens):
            first = position == 0 and folded.startswith(token.text)
            last = is_last and position == len(tokens) - 1 and folded.endswith(token.text)
            alternatives.append(self._alternatives(token, begins=first, goes_on=last))
        count = math.prod(map(len, alternatives))
        if count > _PHRASES:
            # Too many to ask for side by side: each word alone still has to hit.
            return [sorted(words, key=lambda one: -one.factor)[:_PHRASES] for words in alternatives]
        return [[
            Phrase(" ".join(word.text for word in words), words[-1].goes_on, math.prod(word.factor for word in words))
            for words in product(*alternatives)
        ]]  # fmt: skip

    def _alternatives(self, token: Token, *, begins: bool, goes_on: bool) -> list[Phrase]:
        """The words that one word of a term may stand for. `begins`, `goes_on`: it begins or ends the term."""
        text = token.text
        before = token.open_before and (not begins or _is_unspaced(text[0]))
        after = token.open_after and not goes_on
        words = [Phrase(text, goes_on and token.open_after, 1.0)]
        more: Iterable[str] = ()
        if before or after:
            wide = token._replace(open_before=before or _is_unspaced(text[0]), open_after=True)
            more = vocabulary.expand(self.connection, wide) or ()
        elif begins:
            more = self._inner_beginnings(token)
        words += [Phrase(word, False, 1.0) for word in more if word != text and not (words[0].goes_on and word.startswith(text))]
        if self.is_fuzzy and not _is_unspaced(text[0]):
            known = {word.text for word in words}
            for word, edits in near(self.connection, text).items():
                if word not in known and not (words[0].goes_on and word.startswith(text)):
                    words.append(Phrase(word, False, _FUZZY_WEIGHT * len(word) / (len(word) + edits)))
        return words

    def _inner_beginnings(self, token: Token) -> list[str]:
        """Indexed words inside which `token` begins: digits after letters (v7), any script after one without spaces."""
        text = token.text
        classes = [f"[{_UNSPACED}]"]
        if text[0].isdigit():
            classes.append("[^0-9]")
        elif text.isascii():
            classes.append("[0-9]")
        found: dict[str, None] = {}
        for kind in classes:
            if len(text) == 1 and kind != "[^0-9]":
                continue  # one letter in running text says nothing
            pattern = f"*{kind}{glob_escape(text)}{'*' * token.open_after}"
            found.update(dict.fromkeys(vocabulary.holding(self.connection, text, pattern) or ()))
        return list(found)

    # -- phrases to scores -----------------------------------------------------------

    def score(self, phrases: Sequence[Phrase], fields: Sequence[str]) -> dict[int, float]:
        """BM25 of every concept that a phrase hits, added up over the phrases.

        SQLite gives words that are in more than half of the rows a weight of nearly nothing;
        here every word counts, by ln(1 + (N - n + 0.5) / (n + 0.5)).
        """
        if self._total is None:
            self._total = self.connection.execute("select count(*) from concepts").fetchone()[0]
        total = self._total or 0
        weights = ", ".join(str(float(WEIGHTS[field])) for field in FIELDS)
        within, values = self._within()
        scores: dict[int, float] = {}
        for phrase in phrases:
            match = _in_fields(phrase.syntax, fields)
            rows = self.connection.execute(
                f"select rowid, bm25(concepts_fts, {weights}) from concepts_fts where concepts_fts match ? and {within}",
                (match, *values),
            ).fetchall()
            if not rows:
                continue
            hits = len(rows)
            if not self.corpus.is_whole:
                hits = self.connection.execute("select count(*) from concepts_fts where concepts_fts match ?", (match,)).fetchone()[0]
            odds = (total - hits + 0.5) / (hits + 0.5)
            theirs = max(math.log(odds), _LEAST_IDF) if odds > 0 else _LEAST_IDF
            scale = -phrase.factor * math.log(1 + max(odds, 0.0)) / theirs
            for concept, rank in rows:
                scores[concept] = scores.get(concept, 0.0) + scale * rank
        return scores

    def hits(self, phrases: Sequence[Phrase], fields: Sequence[str]) -> dict[str, set[int]]:
        """For each field the concepts that any of the phrases hits in it, by the index itself."""
        wanted = " OR ".join(phrase.syntax for phrase in phrases)
        within, values = self._within()
        hits: dict[str, set[int]] = {}
        for field in fields:
            rows = self.connection.execute(
                f"select rowid from concepts_fts where concepts_fts match ? and {within}", (_in_fields(wanted, [field]), *values)
            )
            hits[field] = {row[0] for row in rows}
        return hits

    def _within(self) -> tuple[str, list[object]]:
        """A condition that a row of the index is a concept that may be found."""
        # The plus keeps SQLite from asking the index once for each such concept: that reads a common word's rows every time.
        return self.corpus.within("+concepts_fts.rowid")


def _in_fields(syntax: str, fields: Sequence[str]) -> str:
    return f"{{{' '.join(fields)}}} : ({syntax})"


def word_anchor(phrase: Phrase) -> Anchor:
    """Finds a phrase in text as written, at the beginning of a word where it can."""
    import re

    from okf_catalog.search.scan import TextAnchor

    inner = r"[\W_]+".join(map(re.escape, phrase.text.split(" ")))
    at_word = re.compile(rf"(?<![^\W_]){inner}" + ("" if phrase.goes_on else r"(?![^\W_])"))
    return TextAnchor(lambda folded: at_word.search(folded) or re.search(inner, folded))
