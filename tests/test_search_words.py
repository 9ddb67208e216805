"""fts5: recall against the scan, hostile text, scores, and the words that --fuzzy forgives."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from okf_catalog.catalog import database
from okf_catalog.catalog.sync import sync, system_clock
from okf_catalog.format.values import search_fold
from okf_catalog.search.conformance import HOSTILE
from okf_catalog.search.fts5 import FTS5
from okf_catalog.search.fuzzy import distance, near, tolerance
from okf_catalog.search.query import FUZZY, Corpus, Query
from okf_catalog.search.scan import Scan
from tests.conftest import write_files
from tests.test_sync import note


@pytest.fixture
def memory(tmp_path):
    """A function that reads files into a catalog in memory: its corpus."""

    def make(files):
        connection = database.memory()
        sync(connection, ":memory:", str(write_files(tmp_path / "b", files)), clock=system_clock, name="b")
        return Corpus(connection, ["b"])

    return make


def ids(corpus, engine, *terms, mode="literal"):
    answer = engine.search(corpus, Query(terms, mode=mode))
    names = dict(corpus.connection.execute("select id, concept_id from concepts"))
    return sorted(names[concept] for concept in answer.matches)


HAZARDS = {
    "span.md": note("Code span", "Write `minifts` in backticks, and ``two `ticks` ``."),
    "snake.md": note("Snake", "The column customer_id, the function json_for_script()."),
    "camel.md": note("Camel", "The field customerId and the class JsonWriter."),
    "apart.md": note("Apart", "The customer table has an id column; 0 downtime, 7 regions, 2 zones."),
    "version.md": note("Version", "Since 7.2.0; v7.2.1 is broken, python3.11 is fine."),
    "kebab.md": note("Kebab", "Use roll-back, not rollback. See low-tide/high_tide."),
    "shell.md": note("Shell", "Set $OKF_HOME and ${OKF_DB}; 100% of x^2, a~b, c++ and C#."),
    "fence.md": note("Fence", "```sql\nselect net_amount from orders;\n```"),
    "wrapped.md": note("Wrapped", "The dedup\nkey of an event."),
    "tabs.md": note("Tabs", "one\ttwo\tthree"),
    "plural.md": note("Plural", "Customers and deduplication."),
    "cjk.md": note("寝台車", "この本文は長い。使用SQLite数据库。"),
    "hangul.md": note("한국어", "데이터베이스를 동기화합니다"),
    "thai.md": note("Thai", "ระบบค้นหาข้อมูลภาษาไทย"),
    "greek.md": note("Greek", "ΟΔΟΣ και οδός, ΣΊΣΥΦΟΣ"),
    "german.md": note("German", "Straße, STRASSE, Größe"),
    "accents.md": note("Accents", "Éclair, cafe\u0301, naïve"),
    "quotes.md": note("Quotes", "the pilot's “own” words: don’t"),
    "url.md": note("Link", "[x](https://example.com/a-b/c?d=e#f) and a@example.com"),
    "emoji.md": note("Emoji", "🚀 launch, it’s fine ✅done"),
    "number.md": note("Number", "1,234.50 and 2026-01-01T00:00:00Z, id-00042"),
}
QUERIES = (
    "minifts", "`minifts`", "customer_id", "customer", "json_for_script", "json_for_script()", "for_script", "script", "7.2.0", "7.2",
    "v7.2.1", "7.2.1", "3.11", "python3", "roll-back", "roll", "low-tide/high_tide", "high_tide", "$OKF_HOME", "OKF_HOME", "okf_db",
    "net_amount", "amount", "dedup key", "dedup", "two", "deduplic", "Customers", "寝台", "寝台車", "台車", "本文", "長い", "sqlite",
    "数据库", "数据", "한국", "데이터", "베이스", "동기화", "ค้นหา", "ข้อมูล", "ภาษาไทย", "οδος", "οδός", "σίσυφος", "strasse", "straße",
    "GRÖSSE", "éclair", "café", "naïve", "pilot's", "don’t", "own", "example.com", "https://example.com/a-b", "a@example.com", "launch",
    "done", "1,234.50", "2026-01-01", "00042", "id-00042", "c++", "C#", "x^2", "100%",
    # What follows is inside words, or holds none.
    "ustomer", "edup", "Id", "Writer", "++", "->", "🚀", "eclair", "minif ts",
)  # fmt: skip
LOSSES = {
    "ustomer": {"apart", "camel", "plural", "snake"},
    "edup": {"plural", "wrapped"},
    "Id": {"camel", "kebab"},
    "own": {"apart"},
    "Writer": {"camel"},
    "++": {"shell"},
    "🚀": {"emoji"},
}


def test_recall_of_words_against_the_scan(memory):
    """What fts5 does not find of what is there. Change the list with the tokenizer, knowingly, in either direction."""
    corpus = memory(HAZARDS)
    lost = {}
    for query in QUERIES:
        there, found = set(ids(corpus, Scan(), query)), set(ids(corpus, FTS5(), query))
        if there - found:
            lost[query] = there - found
    assert lost == LOSSES


def test_words_side_by_side_are_no_words_apart(memory):
    corpus = memory(HAZARDS)
    assert ids(corpus, FTS5(), "7.2.0") == ["version"]
    assert ids(corpus, FTS5(), "customer_id") == ["snake"]
    assert ids(corpus, FTS5(), "dedup key") == ["wrapped"]
    assert ids(corpus, FTS5(), "customer", "id") == ["apart", "snake"]


@pytest.mark.parametrize("engine", [Scan(), FTS5()], ids=lambda engine: engine.name)
def test_hostile_terms(memory, engine):
    corpus = memory(HAZARDS)
    for mode in ("literal", "fuzzy") if engine.name == "fts5" else ("literal",):
        for term in (*HOSTILE, "a\0b", "'; --", "/* x", "-- x", "NEAR/3", "{", "}", ":", "+x", "a AND", "OR", "\x7f", "\u202e"):
            ids(corpus, engine, term, mode=mode)
            ids(corpus, engine, "customer", term, mode=mode)
        assert ids(corpus, engine, *[f"w{number}" for number in range(2_000)], mode=mode) == []
        assert ids(corpus, engine, *["customer"] * 2_000, mode=mode) == ids(corpus, engine, "customer", mode=mode)


def test_scores_mean_something_on_nine_concepts(memory):
    files = {f"m{number}.md": note(f"Metric {number}", "revenue " * (number % 3 + 1) + "filler " * 20) for number in range(8)}
    corpus = memory({**files, "revenue.md": note("Revenue", "What came in.")})
    answer = FTS5().search(corpus, Query(("revenue",)))
    scores = sorted((match.score for match in answer.matches.values()), reverse=True)
    assert len(scores) == 9
    assert scores[-1] > 0.001
    assert len(set(scores)) >= 4
    best = max(answer.matches, key=lambda concept: answer.matches[concept].score)
    assert corpus.connection.execute("select path from concepts where id = ?", (best,)).fetchone() == ("revenue.md",)


def test_one_term_is_ordered_as_bm25_orders_it(memory):
    chance = random.Random(5)
    files = {}
    for number in range(60):
        words = [chance.choice(["ebb", "flow", "tide", "rock", "sand", "pier", f"w{number}"]) for _ in range(chance.randint(3, 60))]
        files[f"c{number:02}.md"] = note(" ".join(words[:2]), " ".join(words) + (" kestrel" * chance.randint(1, 4) if number % 3 == 0 else ""))
    corpus = memory(files)
    theirs = [row[0] for row in corpus.connection.execute(
        "select rowid from concepts_fts where concepts_fts match 'kestrel' order by bm25(concepts_fts, 5, 4, 3, 2, 2, 1, 1), rowid")]  # fmt: skip
    matches = FTS5().search(corpus, Query(("kestrel",))).matches
    assert sorted(matches, key=lambda concept: (-matches[concept].score, concept)) == theirs


def test_matched_comes_from_the_index(memory):
    corpus = memory({"a.md": "---\ntype: Note\ntitle: Tide\ntags: [tide]\ndescription: The tide.\n---\nebb\n", "b.md": note("B", "tide")})
    matches = FTS5().search(corpus, Query(("tide", "ebb"))).matches
    assert [match.fields for match in matches.values()] == [("title", "tags", "description", "body")]
    assert [match.fields for match in FTS5().search(corpus, Query(("tide",), ("body",))).matches.values()] == [("body",)]


def vocabulary(words):
    connection = database.memory()
    connection.executemany("insert into terms (term) values (?)", ((word,) for word in sorted(set(words))))
    connection.execute("insert into terms_trigram (rowid, term) select id, term from terms")
    return connection


def levenshtein(one, other):
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        before, row[0] = row[0], i
        for j, b in enumerate(other, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (a != b))
    return row[-1]


word_lists = st.lists(st.text("abcé寝", min_size=1, max_size=16), min_size=1, max_size=40)


@settings(max_examples=150, deadline=None)
@given(word_lists, st.text("abcé寝", min_size=1, max_size=16))
def test_fuzzy_equals_levenshtein_over_all_words(words, word):
    words = {search_fold(one) for one in words} | {word[1:] or "a", word + "a", word[::-1]}
    plain = {one: levenshtein(word, one) for one in words}
    assert near(vocabulary(words), word) == {one: edits for one, edits in plain.items() if 1 <= edits <= tolerance(word)}


def test_fuzzy_equals_levenshtein_over_a_real_vocabulary(memory):
    corpus = memory(HAZARDS)
    words = [row[0] for row in corpus.connection.execute("select term from terms")]
    for word in ("custmer", "deduplicaton", "custommers", "minfts", "sqlit", "javascirpt", "downtmie", "a", "ab", "οδοσ", "strase"):
        plain = {one: levenshtein(word, one) for one in words}
        assert near(corpus.connection, word) == {one: edits for one, edits in plain.items() if 1 <= edits <= tolerance(word)}


@given(st.text("ab", max_size=9), st.text("ab", max_size=9), st.integers(0, 5))
def test_distance_with_a_limit(one, other, limit):
    edits = levenshtein(one, other)
    assert distance(one, other, limit) == (edits if edits <= limit else None)


def test_tolerance_is_a_fifth_rounded():
    assert [tolerance("x" * length) for length in (1, 2, 3, 7, 8, 12, 13, 32, 33, 90)] == [0, 0, 1, 1, 2, 2, 3, 6, 6, 6]


def test_fuzzy_ranks_the_right_spelling_first(memory):
    corpus = memory({"right.md": note("A", "retrieval"), "wrong.md": note("B", "retreival")})
    matches = FTS5().search(corpus, Query(("retrieval",), mode=FUZZY)).matches
    names = dict(corpus.connection.execute("select id, concept_id from concepts"))
    assert [names[one] for one in sorted(matches, key=lambda one: -matches[one].score)] == ["right", "wrong"]


@pytest.mark.parametrize("word", ["ab7" * 20_000, "本文" * 20_000, "é" * 16_384])
def test_words_too_long_for_the_index_are_still_scanned(memory, word):
    corpus = memory({"long.md": note("Long", f"x{word}needle tail"), "other.md": note("Other", "need")})
    assert ids(corpus, Scan(), "needle") == ["long"]
    assert ids(corpus, Scan(), f"x{word[:50]}") == ["long"]
    assert ids(corpus, Scan(), f"{word[-50:]}needle t") == ["long"]
    assert ids(corpus, Scan(), f"x{word}needle") == ["long"]
    assert ids(corpus, Scan(), f"x{word}noodle") == []


def test_scan_without_an_index(memory):
    corpus = memory(HAZARDS)
    corpus.connection.execute("drop table terms")
    assert ids(corpus, Scan(), "ustomer") == ["apart", "camel", "plural", "snake"]
