"""From a piece of text to the words of the catalog that hold it, through trigrams over the vocabulary.

Trigrams over the words cost a hundredth of trigrams over the bodies, and lead to the same
places: a literal is cut into words as the index cuts text, the words at its edges expand
to all indexed words that end, begin or hold them so, and the index knows where those stand.
"""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

EXPANSIONS = 400
"""Words that one piece may stand for; beyond, reading the text is as fast."""
_TRIGRAM = 3
LONG_TOKEN = 32_000
"""Bytes. FTS5 cuts words off at 32,768 (FTS5_MAX_TOKEN_SIZE): of longer ones the index does not know the end."""
TOKENIZER = "unicode61 remove_diacritics 0"
"""Of `concepts_fts`."""


class Token(NamedTuple):
    """A word of a query, as the index would cut it."""

    text: str
    open_before: bool
    """The word in the text may begin earlier."""
    open_after: bool
    """The word in the text may go on."""
    follows: bool
    """Stands directly after the token before it: the two are neighbours in the index, too."""


class Words:
    """How the index cuts text into words; asks SQLite's own tokenizer about characters beyond ASCII."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self._kinds: dict[str, str] = {}
        self._has_table = False

    def kind(self, character: str) -> str:
        """`word` (kept as it is), `gap` (separates), or `unsure` (changed, or only sometimes a word's part)."""
        if character.isascii():
            return "word" if character.isalnum() else "gap"
        if character not in self._kinds:
            self._kinds[character] = self._ask(character)
        return self._kinds[character]

    def _ask(self, character: str) -> str:
        if not self._has_table:
            self.connection.execute(
                f"create virtual table if not exists temp.okf_probe using fts5 (text, content='', tokenize='{TOKENIZER}')"
            )
            self.connection.execute(
                "create virtual table if not exists temp.okf_probe_words using fts5vocab ('temp', 'okf_probe', 'row')"
            )
            self._has_table = True
        cut = []
        for text in (f"a{character}a", f"{character}a"):
            self.connection.execute("insert into temp.okf_probe (okf_probe) values ('delete-all')")
            self.connection.execute("insert into temp.okf_probe (text) values (?)", (text,))
            cut.append({row[0] for row in self.connection.execute("select term from temp.okf_probe_words")})
        if cut == [{f"a{character}a"}, {f"{character}a"}]:
            return "word"
        return "gap" if cut == [{"a"}, {"a"}] else "unsure"

    def cut(self, folded: str) -> list[Token]:
        """The words of a folded piece of text that may stand anywhere inside a longer one.

        Characters that the tokenizer might treat in two ways end a word and leave it open.
        """
        tokens: list[Token] = []
        start, before, follows = 0, "edge", False
        for position in range(len(folded) + 1):
            kind = self.kind(folded[position]) if position < len(folded) else "edge"
            if kind == "word":
                continue
            if position > start:
                tokens.append(Token(folded[start:position], before != "gap", kind != "gap", follows))
                follows = kind == "gap"
            elif kind == "unsure":
                follows = False
            if kind == "unsure":
                follows = False
            start, before = position + 1, kind
        return tokens


def quoted(text: str) -> str:
    """`text` as an FTS5 string: never syntax, whatever it holds."""
    return '"' + text.replace('"', '""') + '"'


def glob_escape(text: str) -> str:
    """`text` for GLOB, matching itself."""
    return text.replace("[", "[[]").replace("*", "[*]").replace("?", "[?]")


def trigrams(text: str) -> list[str]:
    """Every three characters in a row, without repeats."""
    return list(dict.fromkeys(text[at : at + _TRIGRAM] for at in range(len(text) - _TRIGRAM + 1)))


_SHORT = f"length(cast(t.term as blob)) < {LONG_TOKEN}"


def holding(connection: sqlite3.Connection, piece: str, pattern: str, limit: int = EXPANSIONS) -> list[str] | None:
    """The indexed words that match the GLOB `pattern` and hold `piece`; None where there are more than `limit`.

    Words beyond `LONG_TOKEN` are left out, see `blind_spots`.
    """
    pieces = trigrams(piece)
    if pieces:
        rows = connection.execute(
            "select t.term from terms_trigram x join terms t on t.id = x.rowid "
            f"where terms_trigram match ? and t.term glob ? and {_SHORT} limit ?",
            (" ".join(map(quoted, pieces)), pattern, limit + 1),
        )
    else:
        rows = connection.execute(f"select t.term from terms t where t.term glob ? and {_SHORT} limit ?", (pattern, limit + 1))
    found = [row[0] for row in rows]
    return found if len(found) <= limit else None


def expand(connection: sqlite3.Connection, token: Token, limit: int = EXPANSIONS) -> list[str] | None:
    """The indexed words that a token of a query may stand for; None where there are more than `limit`."""
    if not (token.open_before or token.open_after):
        return [token.text]
    if len(token.text) < _TRIGRAM and token.text.isascii() and token.open_before:
        return None  # nearly always too many, and reading all words to learn that is not free
    if len(token.text) > LONG_TOKEN // 4:
        return None  # GLOB takes patterns of 50,000 bytes at most
    pattern = f"{'*' * token.open_before}{glob_escape(token.text)}{'*' * token.open_after}"
    return holding(connection, token.text, pattern, limit)


def blind_spots(connection: sqlite3.Connection) -> set[int]:
    """Concepts with words so long that the index does not know them whole. Nearly always none."""
    # An index on just these words would answer at once; without one this reads the vocabulary (10 ms at 40,000 words).
    rows = connection.execute(
        f"select cast(t.term as blob) from terms t where length(cast(t.term as blob)) >= {LONG_TOKEN}"
    )
    found: set[int] = set()
    for (word,) in rows.fetchall():
        # A cut may go through a character, so the last one is not to be trusted.
        text = word.decode("utf-8", "ignore")[: LONG_TOKEN // 4]
        found.update(
            row[0] for row in connection.execute("select rowid from concepts_fts where concepts_fts match ?", (quoted(text) + " *",))
        )
    return found
