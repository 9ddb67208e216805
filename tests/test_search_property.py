"""The scan with its accelerator finds what a plain reading of the files finds, and nothing else."""

from __future__ import annotations

import shutil
import tempfile
import unicodedata
from pathlib import Path
from typing import NamedTuple

import regex
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from okf_catalog.catalog import database
from okf_catalog.catalog.filters import Filters
from okf_catalog.catalog.sync import Options, sync, system_clock
from okf_catalog.search.engine import points
from okf_catalog.search.patterns import FLAGS, required_literal
from okf_catalog.search.query import FIELDS, REGEXP, Corpus, Query
from okf_catalog.search.run import run
from okf_catalog.search.scan import Scan

# Where tokenizers, folding and normal forms disagree.
HAZARDS = (
    "aAbB77 \n\n_-.,/`$+*?[]%\\'\"#~^" "ßſKİıΣσςﬁﬆ" "éÉe\u0301\u0308\u0307\u0338=<ñ" "本文の寝台" "한\u1100\u1161\u11a8" "спА"
    "\u00a0\u2003\u2028\u3000\u200b\u0000\u00ad" "٣²𝔘🌋\u0e01\u0e34\u0e19ไทย\u0939\u093f"
)  # fmt: skip
texts = st.one_of(
    st.text(HAZARDS, max_size=30),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=20),
    st.lists(st.sampled_from(["dedup", "key", "Dedup_Key", "7.2.0", "v7.2.0", "Straße", "strasse", "本文", "customers"]), max_size=6).map(" ".join),
)
names = st.text("abAB7-.é本", min_size=1, max_size=6).map(lambda name: unicodedata.normalize("NFC", name.strip(".-") or "x"))


class Written(NamedTuple):
    """A concept as it stands in its file."""

    title: str
    type: str
    description: str
    tags: tuple[str, ...]
    sources: tuple[str, ...]
    body: str


concepts = st.builds(
    Written, texts, st.sampled_from(["Note", "note", "Metric", "Größe"]), texts,
    st.lists(st.sampled_from(["red", "Red", "Straße", "x_y", "本"]), max_size=3, unique=True).map(tuple),
    st.lists(texts, max_size=2).map(tuple), texts,
)  # fmt: skip
bundles = st.dictionaries(st.one_of(names, st.tuples(st.sampled_from(["sub", "Sub/deep", "root"]), names).map("/".join)), concepts, min_size=1, max_size=6)


def scalar(text: str) -> str:
    return '"' + "".join(c if c.isascii() and (c.isalnum() or c == " ") else f"\\U{ord(c):08X}" for c in text) + '"'


def write(root: Path, files: dict[str, Written]) -> None:
    for name, concept in files.items():
        path = root / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        sources = "".join(f"\n- title: {scalar(title)}" for title in concept.sources)
        head = (
            f"---\ntype: {scalar(concept.type)}\ntitle: {scalar(concept.title)}\ndescription: {scalar(concept.description)}\n"
            f"tags: [{', '.join(map(scalar, concept.tags))}]\nsources:{sources or ' []'}\n---\n"
        )
        path.write_bytes((head + concept.body).encode())


def filled(text: str) -> str:
    return text if text.strip(" \t\n\v\f\r\0") else ""


def raw(name: str, concept: Written) -> dict[str, str]:
    """The seven fields of a concept, as written."""
    return {
        "title": filled(concept.title), "id": name, "tags": " ".join(concept.tags), "type": concept.type,
        "description": filled(concept.description), "sources": " ".join(filter(None, map(filled, concept.sources))),
        "body": concept.body,
    }  # fmt: skip


def plain(text: str) -> str:
    """Independent of the package: NFC, full case folding, runs of white space as one space, NUL as U+FFFD."""
    text = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    return " ".join(text.split()).replace("\0", "\ufffd")


def holds(text: str, term: str) -> bool:
    before, after = " " * term[:1].isspace(), " " * term[-1:].isspace()
    return before + plain(term) + after in before + plain(text) + after


def expected(files: dict[str, Written], terms: list[str], fields: tuple[str, ...], hits=holds) -> dict[str, tuple[float, tuple[str, ...]]]:
    asked = [term for term in terms if plain(term)]
    found = {}
    for name, concept in files.items():
        by_term = [{field for field in fields if hits(raw(name, concept)[field], term)} for term in asked]
        if by_term and all(by_term):
            matched = tuple(field for field in FIELDS if any(field in hit for hit in by_term))
            found[name] = points(matched), matched
    return found


def passes(name: str, concept: Written, filters: Filters) -> bool:
    directory = name.rpartition("/")[0].casefold() or "."
    types, tags = {plain(kind) for kind in filters.types}, {plain(tag) for tag in filters.tags}
    return (
        (not types or plain(concept.type) in types)
        and (not tags or any(plain(tag) in tags for tag in concept.tags))
        and not any(plain(tag) in {plain(one) for one in filters.not_tags} for tag in concept.tags)
        and (not filters.dirs or any(directory == one or directory.startswith(one + "/") for one in filters.dirs))
    )


filter_sets = st.tuples(
    st.sampled_from([(), (), ("NOTE",), ("GRÖSSE", "metric")]), st.sampled_from([(), (), ("RED",), ("strasse", "本")]),
    st.sampled_from([(), (), ("red",)]), st.sampled_from([(), (), ("sub",), (".",)]),
).map(lambda drawn: Filters(types=drawn[0], tags=drawn[1], not_tags=drawn[2], dirs=drawn[3]))  # fmt: skip


@st.composite
def questions(draw, files: dict[str, Written]) -> list[str]:
    """Terms: mostly pieces of what is there, in another case or form."""
    terms = []
    for _ in range(draw(st.integers(1, 2))):
        name = draw(st.sampled_from(sorted(files)))
        text = draw(st.sampled_from([text for text in raw(name, files[name]).values() if text] + ["x"]))
        start = draw(st.integers(0, len(text) - 1))
        piece = text[start : start + draw(st.integers(1, 12))]
        change = draw(st.sampled_from([str, str, str.upper, str.casefold, lambda t: unicodedata.normalize("NFD", t), lambda t: f" {t}", lambda t: f"{t}\n"]))
        terms.append(draw(st.one_of(st.just(change(piece)), texts)))
    return terms


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(st.data())
def test_scan_equals_reading_the_files(data):
    root = Path(tempfile.mkdtemp())
    connection = database.memory()
    try:
        files: dict[str, Written] = {}
        for _ in range(2):  # write, then edit
            new = data.draw(bundles)
            keep = {name: concept for name, concept in files.items() if data.draw(st.booleans())}
            files = {**keep, **new}
            shutil.rmtree(root)
            write(root, files)
            sync(connection, ":memory:", str(root), clock=system_clock, name="b", options=Options(full=True, allow_removals=True))
            paths = dict(connection.execute("select id, concept_id from concepts"))
            assert sorted(paths.values()) == sorted(files)
            for _ in range(6):
                terms = data.draw(questions(files))
                fields = data.draw(st.sampled_from([FIELDS, FIELDS, ("body",), ("title", "tags"), ("id", "sources")]))
                filters = data.draw(filter_sets)
                answer = Scan().search(Corpus(connection, ["b"], filters), Query(tuple(terms), fields))
                there = {name: concept for name, concept in files.items() if passes(name, concept, filters)}
                found = {paths[concept]: tuple(match) for concept, match in answer.matches.items()}
                assert found == expected(there, terms, fields), (terms, fields, answer.explanation)
                rows = run(Corpus(connection, ["b"], filters), Query(tuple(terms), fields), limit=3, offset=1).rows
                order = sorted(found, key=lambda name: (-found[name][0], name))
                assert [row.id for row in rows] == order[1:4]
    finally:
        connection.close()
        shutil.rmtree(root, ignore_errors=True)


PATTERNS = ["dedup", "7\\.2\\.0", "^[a-z]+ key", "v7\\.2\\.\\d+", "stra(ss|ß)e", "strasse", "key$", "d.dup", "dedup_?key", "(?<=v)7", "customers?", "cust|dedup", "\\bkey\\b", "é", "[[:upper:]]edup", "ﬁ", "dedup+ ?key", "x{0}strasse"]  # fmt: skip


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_patterns_equal_reading_the_files(data):
    root = Path(tempfile.mkdtemp())
    connection = database.memory()
    try:
        files = data.draw(bundles)
        write(root, files)
        sync(connection, ":memory:", str(root), clock=system_clock, name="b")
        paths = dict(connection.execute("select id, concept_id from concepts"))
        literals = questions(files).map(lambda terms: [regex.escape(term, literal_spaces=True) + r"\w*" for term in terms])
        for _ in range(6):
            terms = data.draw(st.one_of(st.lists(st.sampled_from(PATTERNS), min_size=1, max_size=2), literals))
            answer = Scan().search(Corpus(connection, ["b"]), Query(tuple(terms), mode=REGEXP))
            found = {paths[concept]: tuple(match) for concept, match in answer.matches.items()}
            # A missing title or description is no text at all, so that even `x*` cannot hit it.
            read = expected(files, terms, FIELDS, hits=lambda text, term: bool(regex.search(term, text.replace("\0", "\ufffd"), FLAGS)))
            assert found.keys() == read.keys(), (terms, answer.explanation)
    finally:
        connection.close()
        shutil.rmtree(root, ignore_errors=True)


def test_required_literals():
    proven = {
        "v7\\.2\\.\\d+": "v7.2", "strasse\\s+\\w+": "strass", "abcd+e": "abc", "abcd*efgh": "efg", "(xyz)+abcdef": "abcde",
        "^# Runbook$": "runboo", "[abc]defgh": "defg", "abc{2}defg": "def", "ABCD": "abc", "customer_id\\b": "customer_",
    }  # fmt: skip
    for pattern, literal in proven.items():
        assert required_literal(pattern) == literal, pattern
    for pattern in ("abcd|efgh", "(?i)abcd", "(?:abcd)?", "a.b", "\\Qabcd", "\\x41bcd", "[[:alpha:]]abcd", "abc", "\\p{L}abcd", "(abcd"):
        assert required_literal(pattern) is None, pattern
