"""What any search engine has to keep to, as a check that its own tests can call.

In the tests of a package that adds one: `conformance.check(MyEngine())`.
"""

from __future__ import annotations

import math
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from okf_catalog.catalog import database
from okf_catalog.catalog.filters import Filters
from okf_catalog.catalog.sync import sync, system_clock
from okf_catalog.errors import UsageError
from okf_catalog.search.engine import Answer, Engine
from okf_catalog.search.query import FIELDS, FUZZY, LITERAL, PREFIX, REGEXP, Corpus, Query

FILES = {
    "quartz.md": "---\ntype: Mineral\ntitle: Quartz\ntags: [hard]\n---\nA clear stone, found in granite.\n",
    "granite.md": "---\ntype: Rock\ntitle: Granite\ndescription: Coarse, with feldspar.\n"
    "sources:\n  - {title: Handbook of basalt, resource: 'https://example.com/igneous'}\n---\nHolds quartz.\n",
    "deep/pumice.md": "---\ntype: Rock\ntitle: Pumice\ntags: [light]\nstatus: draft\n---\nFloats. Straße, naïve, 寝台車.\n",
    "deep/empty.md": "---\ntype: Rock\n---\n",
}
OTHER_FILES = {"quartz.md": "---\ntype: Mineral\ntitle: Quartz elsewhere\n---\nquartz quartz quartz\n"}
HOSTILE = (
    '"', "'", '""', "*", "quartz*", "^quartz", "-quartz", "title:quartz", "{title} : quartz", "NEAR(quartz, 2)", "AND", "NOT quartz",
    "quartz OR pumice", "(", ")" * 300, "\\", "%", "_", "[a", "?", "; drop table concepts; --", "\ufffd", "\u200b", "\U0001f30b",
    "\ud800", "\u0301", " \u00a0 ", "x" * 70_000, "quartz " * 2_000,
)  # fmt: skip


class ConformanceError(AssertionError):
    """An engine breaks rules; the text lists them."""


@contextmanager
def catalog() -> Iterator[sqlite3.Connection]:
    """A catalog in memory with the bundles `stones` (`FILES`) and `other` (`OTHER_FILES`)."""
    connection = database.memory()
    with tempfile.TemporaryDirectory() as folder:
        for name, files in (("stones", FILES), ("other", OTHER_FILES)):
            for path, text in files.items():
                where = os.path.join(folder, name, path)
                os.makedirs(os.path.dirname(where), exist_ok=True)
                with open(where, "w", encoding="utf-8") as file:
                    file.write(text)
            sync(connection, ":memory:", os.path.join(folder, name), clock=system_clock, name=name)
    try:
        yield connection
    finally:
        connection.close()


def check(engine: Engine) -> None:
    """Try an engine on a small catalog. Raises `ConformanceError` with everything that is wrong."""
    with catalog() as connection:
        wrong = list(_Checks(engine, connection).run())
    if wrong:
        raise ConformanceError(f"the engine {engine.name} breaks {len(wrong)} rule(s):\n- " + "\n- ".join(wrong))


class _Checks:
    def __init__(self, engine: Engine, connection: sqlite3.Connection) -> None:
        self.engine, self.connection = engine, connection

    def run(self) -> Iterator[str]:
        """What is wrong, one line each."""
        before = self.connection.total_changes
        written = self.connection.execute("select count(*), max(id) from concepts").fetchone()
        for one in (self.names, self.words, self.terms, self.limits, self.hostile, self.capabilities):
            try:
                yield from one()
            except Exception as problem:  # noqa: BLE001  # a crash is one more finding
                yield f"{one.__name__}: raised {type(problem).__name__}: {problem}"
        if self.connection.execute("select count(*), max(id) from concepts").fetchone() != written:
            yield "a search changes no concept"
        if self.connection.in_transaction and self.connection.total_changes != before:
            yield "a search leaves no transaction open that wrote something"

    def ask(
        self, *terms: str, fields: tuple[str, ...] = FIELDS, mode: str = LITERAL, filters: Filters | None = None,
        bundles: tuple[str, ...] = ("stones",),
    ) -> Answer:  # fmt: skip
        return self.engine.search(Corpus(self.connection, bundles, filters), Query(terms, fields, mode))

    def paths(self, answer: Answer) -> list[str]:
        """`bundle/path` of everything found, sorted."""
        rows = {row[0]: f"{row[1]}/{row[2]}" for row in self.connection.execute("select id, bundle, path from concepts")}
        return sorted(rows.get(concept, f"an unknown id {concept}") for concept in answer.matches)

    def names(self) -> Iterator[str]:
        """Name, aliases, capabilities."""
        engine = self.engine
        if not engine.name or engine.name != engine.name.lower() or any(alias != alias.lower() for alias in engine.aliases):
            yield "name and aliases are lower case and not empty"
        if not engine.capabilities <= {REGEXP, FUZZY, PREFIX}:
            yield f"capabilities are among {REGEXP}, {FUZZY} and {PREFIX}"

    def words(self) -> Iterator[str]:
        """A whole word is found in each field, and the answer says where."""
        for word, path, field in (
            ("pumice", "deep/pumice.md", "title"), ("deep", "deep/empty.md", "id"), ("light", "deep/pumice.md", "tags"),
            ("mineral", "quartz.md", "type"), ("feldspar", "granite.md", "description"), ("basalt", "granite.md", "sources"),
            ("floats", "deep/pumice.md", "body"),
        ):  # fmt: skip
            answer = self.ask(word)
            where = dict(zip(self._unsorted(answer), answer.matches.values(), strict=True))
            match = where.get(f"stones/{path}")
            if match is None:
                yield f"`{word}` in the {field} of {path} is found"
            elif field not in match.fields:
                yield f"`{word}`: the fields of {path} name {field} (they are {match.fields})"
        for one in self.ask("quartz").matches.values():
            if list(one.fields) != [field for field in FIELDS if field in one.fields]:
                yield "fields are in the order of the weights"
            if not (one.score > 0 and math.isfinite(one.score)):
                yield f"scores are positive and finite (one is {one.score})"
        for word in ("QUARTZ", "STRASSE", "nai\u0308ve", "NAÏVE"):
            if len(self.ask(word).matches) != (2 if word == "QUARTZ" else 1):
                yield f"`{word}` is found whatever its case and normal form"

    def _unsorted(self, answer: Answer) -> list[str]:
        rows = {row[0]: f"{row[1]}/{row[2]}" for row in self.connection.execute("select id, bundle, path from concepts")}
        return [rows.get(concept, "?") for concept in answer.matches]

    def terms(self) -> Iterator[str]:
        """Every term has to match, in any field."""
        if self.paths(self.ask("quartz", "feldspar")) != ["stones/granite.md"]:
            yield "all terms have to match, each in any field"
        if self.ask("quartz", "zzqxqzz").matches:
            yield "a term that stands nowhere leaves nothing"
        for blank in ((), ("",), ("  ", "\t")):
            if self.ask(*blank).matches:
                yield "blank terms find nothing"
        if self.paths(self.ask("", "feldspar")) != ["stones/granite.md"]:
            yield "a blank term beside another asks for nothing"
        answer = self.ask("quartz")
        scores = dict(zip(self._unsorted(answer), (match.score for match in answer.matches.values()), strict=True))
        if not scores.get("stones/quartz.md", 0) > scores.get("stones/granite.md", 0):
            yield "a hit in title and id scores more than one in the body"
        if self.ask("quartz").matches != answer.matches:
            yield "the same question has the same answer"
        for anchor in answer.anchors:
            place = anchor("Some Quartz here")
            if place is not None and not (0 <= place[0] <= 16 and 0 <= place[1] <= 16 - place[0]):
                yield f"an anchor points into the text ({place})"

    def limits(self) -> Iterator[str]:
        """Fields, bundles and filters narrow the answer."""
        if self.paths(self.ask("quartz", fields=("body",))) != ["stones/granite.md"]:
            yield "only the fields asked for are searched"
        if self.paths(self.ask("quartz", bundles=("stones", "other"))) != ["other/quartz.md", "stones/granite.md", "stones/quartz.md"]:
            yield "several bundles are searched together"
        for filters, expected in (
            (Filters(types=("rock",)), ["stones/granite.md"]), (Filters(not_types=("rock",)), ["stones/quartz.md"]),
            (Filters(tags=("HARD",)), ["stones/quartz.md"]), (Filters(statuses=("draft",)), []), (Filters(dirs=("deep",)), []),
        ):  # fmt: skip
            if self.paths(self.ask("quartz", filters=filters)) != expected:
                yield f"filters leave out what does not satisfy them ({filters})"

    def hostile(self) -> Iterator[str]:
        """No text is syntax, and none makes an engine fall over."""
        for term in HOSTILE:
            try:
                found = self.paths(self.ask(term))
            except UsageError:
                continue  # it may refuse
            except Exception as problem:  # noqa: BLE001  # a crash is a finding
                yield f"{term[:20]!r} is plain text (raised {type(problem).__name__}: {problem})"
                continue
            if len(found) == len(FILES) and term[:1] not in "%_":
                yield f"{term[:20]!r} is plain text (found every concept)"
        if "stones/deep/empty.md" in self.paths(self.ask("NOT quartz")):
            yield "`NOT` is a word"

    def capabilities(self) -> Iterator[str]:
        """What it says it can do, it does."""
        able: tuple[tuple[str, Callable[[], bool], str], ...] = (
            (REGEXP, lambda: self.paths(self.ask("^fl[o]ats", mode=REGEXP)) == ["stones/deep/pumice.md"], "patterns find text"),
            (REGEXP, lambda: self._refuses("(", REGEXP), "a bad pattern is a UsageError"),
            (FUZZY, lambda: self.paths(self.ask("pumise", mode=FUZZY)) == ["stones/deep/pumice.md"], "a mistyped word is found"),
            (PREFIX, lambda: self.paths(self.ask("felds")) == ["stones/granite.md"], "a word is found by its beginning"),
        )
        for capability, test, rule in able:
            if capability in self.engine.capabilities and not test():
                yield f"{capability}: {rule}"

    def _refuses(self, term: str, mode: str) -> bool:
        try:
            self.ask(term, mode=mode)
        except UsageError:
            return True
        return False
