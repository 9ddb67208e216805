"""The registry of engines, the hook by which packages add one, and the conformance suite."""

from __future__ import annotations

import importlib.metadata
import json
import sqlite3
import sys
import types

import pytest

from okf_catalog.catalog.filters import Filters
from okf_catalog.errors import UsageError
from okf_catalog.search import conformance, engine
from okf_catalog.search.engine import Answer, Match, Registry
from okf_catalog.search.fts5 import FTS5
from okf_catalog.search.hooks import implementation
from okf_catalog.search.query import FUZZY, LITERAL, REGEXP, Corpus, Literal, Query
from okf_catalog.search.scan import Scan, literal_anchor
from tests.test_sync import note


class PlainPython:
    """A third party's engine: reads every text with Python, and needs nothing but the contract."""

    name = "plain"
    aliases = ("python",)
    capabilities = frozenset()

    def search(self, corpus, query):
        literals = [Literal.read(term) for term in query.words]
        if not literals:
            return Answer({})
        sql, values = corpus.scope()
        rows = corpus.connection.execute(
            f"select concept_id, {', '.join(query.fields)} from search_text where concept_id in ({sql})", values)  # fmt: skip
        matches = {}
        for concept, *texts in rows:
            fields = dict(zip(query.fields, texts, strict=True))
            hits = [{name for name, text in fields.items() if literal.is_in(text)} for literal in literals]
            if all(hits):
                matched = tuple(name for name in query.fields if any(name in hit for hit in hits))
                matches[concept] = Match(engine.points(matched), matched)
        return Answer(matches, [literal_anchor(literal) for literal in literals])


@pytest.mark.parametrize("one", [Scan(), FTS5(), PlainPython()], ids=lambda one: one.name)
def test_conformance(one):
    conformance.check(one)


class Careless(PlainPython):
    """Breaks a rule in each of several ways."""

    name = "Careless"
    capabilities = frozenset([REGEXP])

    def search(self, corpus, query):
        if '"' in query.terms:
            raise ValueError("syntax")
        answer = super().search(corpus, query._replace(fields=("title", "body"), mode=LITERAL))
        return Answer({concept: Match(0, match.fields[::-1]) for concept, match in answer.matches.items()})


def test_conformance_says_what_is_wrong():
    with pytest.raises(conformance.ConformanceError) as caught:
        conformance.check(Careless())
    for words in ("lower case", "`deep` in the id", "scores are positive", "raised ValueError", "patterns find text", "a bad pattern"):
        assert words in str(caught.value)


@pytest.fixture
def installed(monkeypatch):
    """A function that pretends a package with an entry point in the group `okf_catalog` is installed."""

    def install(*engines):
        module = types.ModuleType("okf_plain_search")
        module.register_search_engines = implementation(lambda: list(engines))
        monkeypatch.setitem(sys.modules, module.__name__, module)
        point = importlib.metadata.EntryPoint("plain", module.__name__, "okf_catalog")

        package = types.SimpleNamespace(metadata={"name": "okf-plain-search"}, entry_points=(point,))
        monkeypatch.setattr(importlib.metadata, "distributions", lambda: [package])
        monkeypatch.setattr(engine, "_registry", None)

    return install


def test_an_installed_engine_is_offered(installed, bundle, run_cli):
    installed(PlainPython())
    root = bundle({"a.md": note("Tide", "ebb"), "b.md": note("B", "the tide")})
    for name in ("plain", "python", "PL"):
        status, out, err = run_cli("search", root, "tide", "--engine", name, "--json")
        assert status == 0, err
        assert [(row["id"], row["score"], row["snippet"]) for row in json.loads(out)["matches"]] == [("a", 5, ""), ("b", 1, "the tide")]
    status, out, err = run_cli("search", root, "tide", "--engine", "bogus")
    assert "unknown search engine: bogus (available: fts5, plain, scan)" in err
    status, out, err = run_cli("search", root, "tide", "--fuzzy", "--engine", "plain")
    assert "--engine plain does not support --fuzzy (try --engine fts5)" in err


def test_a_capability_leads_to_an_installed_engine(installed):
    class Able(PlainPython):
        capabilities = frozenset([REGEXP])

    installed(Able())
    registry = Registry()
    registry.add(FTS5())
    assert registry.choose(Query(("x",), mode=REGEXP), None).name == "plain"
    assert registry.choose(Query(("x",)), None).name == "fts5"


def test_what_is_built_in_looks_for_no_packages(monkeypatch):
    monkeypatch.setattr(importlib.metadata, "distributions", lambda: pytest.fail("looked"))
    monkeypatch.setattr(engine, "_registry", None)
    registry = engine.registry()
    assert registry.choose(Query(("x",)), None).name == "scan"
    assert registry.choose(Query(("x",), mode=REGEXP), None).name == "scan"
    assert registry.choose(Query(("x",), mode=FUZZY), None).name == "fts5"
    assert registry.choose(Query(("x",)), "Index").name == "fts5"


def test_names_are_taken_once():
    registry = Registry()
    registry.add(FTS5())

    class Index(PlainPython):
        name = "index"

    with pytest.raises(UsageError, match="index is taken"):
        registry.add(Index())
    with pytest.raises(UsageError, match="no search engine supports"):
        Registry().choose(Query(("x",), mode=FUZZY), None)


def test_filters_do_not_ask_the_index_once_for_each_concept(bundle, run_cli, tmp_path):
    """The rows of a common word were read again for every concept that a filter leaves."""
    root = bundle({f"{number}.md": f"---\ntype: T{number % 2}\n---\n\norder\n" for number in range(20)})
    run_cli("sync", root, "--db", tmp_path / "kb.db")
    connection = sqlite3.connect(tmp_path / "kb.db")
    asked: list[str] = []
    connection.set_trace_callback(lambda sql: asked.append(sql) if "concepts_fts match" in sql and not sql.startswith("--") else None)
    answer = FTS5().search(Corpus(connection, ["bundle"], Filters(types=("T1",))), Query(("order",)))
    connection.set_trace_callback(None)
    assert len(answer.matches) == 10
    plans = [row[3] for sql in asked for row in connection.execute(f"explain query plan {sql}") if "concepts_fts" in row[3]]
    assert plans
    # SQLite writes `=` into the plan where the virtual table is asked for one rowid after another.
    assert [plan for plan in plans if "=" in plan.partition("INDEX")[2]] == []
