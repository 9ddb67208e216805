"""Words of the catalog within an edit distance, without looking at all of them.

A word within k edits of another keeps at least one of any k + 1 pieces of it unchanged.
The trigrams over the vocabulary know the words that hold a piece; only those are compared.
"""

from __future__ import annotations

import sqlite3

from okf_catalog.search.vocabulary import glob_escape, quoted, trigrams

SHARE = 0.2
"""Edits for each character of the word."""
MOST = 6
_TRIGRAM = 3
_LONGEST = 250
"""Characters; nobody mistypes a longer word by a few letters."""


def tolerance(word: str) -> int:
    """The edits that a word of this length forgives: 0.2 a character, rounded."""
    return min(MOST, int(SHARE * len(word) + 0.5))


def distance(one: str, other: str, limit: int) -> int | None:
    """The Levenshtein distance, None where it is more than `limit`."""
    if abs(len(one) - len(other)) > limit:
        return None
    before = list(range(len(other) + 1))
    for row, character in enumerate(one, 1):
        # Beyond this band every way is longer than the limit.
        low, high = max(1, row - limit), min(len(other), row + limit)
        now = [limit + 1] * (len(other) + 1)
        if row <= limit:
            now[0] = row
        for column in range(low, high + 1):
            replaced = before[column - 1] + (character != other[column - 1])
            now[column] = min(replaced, before[column] + 1, now[column - 1] + 1)
        if min(now[low - 1 : high + 1]) > limit:
            return None
        before = now
    return before[-1] if before[-1] <= limit else None


def pieces(word: str, count: int) -> list[str]:
    """`word` in `count` pieces of nearly equal length."""
    size, rest = divmod(len(word), count)
    result, start = [], 0
    for number in range(count):
        end = start + size + (number < rest)
        result.append(word[start:end])
        start = end
    return result


def near(connection: sqlite3.Connection, word: str) -> dict[str, int]:
    """The indexed words within the tolerance of `word`, itself left out, with their distances."""
    limit = tolerance(word)
    if limit < 1 or len(word) > _LONGEST:
        return {}
    parts = pieces(word, limit + 1)
    window = "length(t.term) between ? and ?"
    lengths = (len(word) - limit, len(word) + limit)
    if all(len(part) >= _TRIGRAM for part in parts):
        wanted = " OR ".join(f"({' AND '.join(map(quoted, trigrams(part)))})" for part in parts)
        rows = connection.execute(
            "select t.term from terms_trigram x join terms t on t.id = x.rowid "
            f"where terms_trigram match ? and {window}", (wanted, *lengths),
        )  # fmt: skip
    else:
        held = " or ".join(["t.term glob ?"] * len(parts))
        rows = connection.execute(
            f"select t.term from terms t where {window} and ({held})",
            (*lengths, *(f"*{glob_escape(part)}*" for part in parts)),
        )
    found = {}
    for (term,) in rows:
        edits = distance(word, term, limit)
        if edits:
            found[term] = edits
    return found
