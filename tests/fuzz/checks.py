"""What must hold for any bytes as a file and any bytes as a question."""

from __future__ import annotations

import json
import sqlite3
import tempfile
import time
from functools import cache
from pathlib import Path

from okf_catalog.catalog import database
from okf_catalog.catalog.ask import Vocabulary, infer
from okf_catalog.catalog.filters import Filters
from okf_catalog.catalog.sync import sync, system_clock
from okf_catalog.errors import CatalogError
from okf_catalog.format import concept, conformance, markdown, reserved, yaml_fast
from okf_catalog.format.frontmatter import Document, decode, parse_text, split
from okf_catalog.format.problem import Failure
from okf_catalog.format.values import dumps
from okf_catalog.format.yaml_values import YamlFailure, load
from okf_catalog.search.query import FIELDS, FUZZY, LITERAL, REGEXP, Literal, Query
from okf_catalog.search.query import Corpus as SearchCorpus
from okf_catalog.search.run import run

LIMIT = 4.0
"""CPU seconds for one small input; anything longer grows faster than its input."""
PATHS = ("a.md", "sub/deep/b.md", "index.md", "log.md", "README.md", "X.MD")


def check_format(data: bytes) -> None:
    """Every function of `format/` takes any bytes, answers the same twice, and its fast paths answer as the slow ones."""
    began = time.process_time()
    text = decode(data)
    if isinstance(text, Failure):
        encodable(text)
        return
    first, second = parse_text(text), parse_text(text)
    assert repr(first) == repr(second)
    check_fast_yaml(text)
    reserved.root_of(text)
    body, _ = reserved.body_of(text)
    for rules in ("0.2", "0.3"):
        for path in PATHS:
            kind = reserved.kind_of(path)
            if kind is not None:
                encodable(reserved.problems(path, text, rules))
            elif isinstance(first, Failure):
                encodable(reserved.advised(path, first))
            else:
                check_concept(path, first, rules)
    check_fast_markdown(first.body if isinstance(first, Document) else body)
    took = time.process_time() - began
    assert took < LIMIT, f"took {took:.1f} s"


def check_concept(path: str, document: Document, rules: str) -> None:
    concept.is_concept(document, rules)
    record = concept.read(path, document, rules)
    assert record == concept.read(path, document, rules)
    encodable(record[:], conformance.problems(path, document))
    assert len(set(record.tags)) == len(record.tags)
    # Strict JSON: no NaN, no lone surrogates, nothing that SQLite's functions would refuse.
    json.loads(dumps(record.frontmatter), parse_constant=refuse)
    assert judge().execute("select json_valid(?), json_valid(?)", (dumps(record.frontmatter), dumps(record.tags))).fetchone() == (1, 1)
    assert record.effective_status == record.effective_status.strip().lower()


def refuse(word: str) -> None:
    raise AssertionError(f"{word} is not JSON")


@cache
def judge() -> sqlite3.Connection:
    return sqlite3.connect(":memory:")


def encodable(*values: object) -> None:
    """All text can be stored: no surrogates."""
    for value in values:
        if isinstance(value, str):
            value.encode("utf-8")
        elif isinstance(value, dict):
            encodable(*value.keys(), *value.values())
        elif isinstance(value, (list, tuple)):
            encodable(*value)


def check_fast_yaml(text: str) -> None:
    parts = split(text)
    if isinstance(parts, Failure):
        return
    usual = yaml_fast.read(parts.yaml)
    if usual is None:
        return
    try:
        loaded = load(parts.yaml)
    except YamlFailure as failure:
        raise AssertionError(f"only the fast reader takes {parts.yaml!r}: {failure}") from None
    assert repr(usual) == repr(((loaded.value or {}), loaded.key_lines)), parts.yaml
    assert not loaded.problems, parts.yaml


def check_fast_markdown(body: str) -> None:
    found = markdown.read(body)
    encodable(found.links, found.footnotes)
    assert found == markdown.read_events(body)


FILES = {
    "orders.md": "---\ntype: Table\ntitle: Orders\ntags: [sales, Größe, a_b]\ndescription: one row an order\n---\n\nnet revenue 7.2.0 `snake_case`\nfoo-bar\n",
    "sub/straße.md": "---\ntype: metric\ntitle: Straße und Größe\nstatus: Draft\n---\n\nİstanbul ﬁne e\u0301 \u00e9 日本語の文 100%_done\n",
    "sub/quotes.md": "---\ntype: Note\ntitle: \"it's \\\"quoted\\\"\"\n---\n\nNEAR AND OR NOT * ^ ( ) { } : - + \" ' ; -- \\ [x] ?\n",
    "empty.md": "---\ntype: Note\n---\n",
    "broken.md": "no fence but text about revenue\n",
    "zeros.md": "---\ntype: Note\n---\n\na\u200bb \u00a0 tab\there\nnul\0nul \u2028line\n",
}  # fmt: skip


@cache
def catalog() -> sqlite3.Connection:
    """A small catalog that the questions are put to."""
    with tempfile.TemporaryDirectory() as place:
        for name, content in FILES.items():
            path = Path(place) / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(content, encoding="utf-8")
        connection = database.memory()
        sync(connection, ":memory:", place, clock=system_clock, name="b")
    return connection


ENGINES = (None, "scan", "fts5")
MODES = (LITERAL, LITERAL, LITERAL, REGEXP, FUZZY)


def check_query(data: bytes) -> None:
    """Any question is answered or refused with one sentence; the scan says what the text says.

    The first byte chooses mode and engine, the second fields and filters; the rest are
    terms, a line each.
    """
    began = time.process_time()
    choice, more, rest = (data + b"\0\0")[0], (data + b"\0\0")[1], data[2:]
    text = rest.decode("utf-8", "surrogateescape" if more & 128 else "replace")
    terms = tuple(text.split("\n"))[:8]
    fields = tuple(name for at, name in enumerate(FIELDS) if more >> (at % 7) & 1) or FIELDS
    mode, engine = MODES[choice % len(MODES)], ENGINES[choice // len(MODES) % len(ENGINES)]
    filters = Filters()
    if choice & 64 and not any(ord(character) >= 0xD800 and ord(character) < 0xE000 for character in text):
        filters = Filters(types=terms[:1], tags=terms[1:2], dirs=terms[2:3], not_types=terms[3:4], statuses=terms[4:5])
    query = Query(terms, fields, mode)
    try:
        found = run(SearchCorpus(catalog(), ["b"], filters, "2026-12-01T00:00:00Z"), query, engine=engine, explain=bool(choice & 128))
    except CatalogError as problem:
        assert str(problem)
        assert "\n" not in str(problem).strip()
    else:
        if mode == LITERAL and engine in (None, "scan") and filters == Filters() and query.words:
            assert {row.id for row in found.rows} == by_hand(query), terms
        if not more & 128:
            encodable([row[:] for row in found.rows], found.notes, found.explanation)
    infer(text, Vocabulary(types=("Table", "metric", "Note"), tags=("sales", "Größe")))
    took = time.process_time() - began
    assert took < LIMIT, f"took {took:.1f} s"


def by_hand(query: Query) -> set[str]:
    """The answer of a literal search by its definition: each term somewhere in the fields."""
    literals = [Literal.read(term) for term in query.words]
    found = set()
    columns = ", ".join(f"s.{name}" for name in query.fields)
    for row in catalog().execute(f"select c.concept_id, {columns} from search_text s join concepts c on c.id = s.concept_id"):
        if all(any(literal.is_in(field) for field in row[1:]) for literal in literals):
            found.add(row[0])
    return found


CHECKS = {"format": check_format, "query": check_query}
