"""Facets of the table pages and of results: counted in few readings, and alike with few and with many concepts.

Runs under Datasette 0.65 and 1.0 alike.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from contextlib import closing
from urllib.parse import quote

import pytest
import yaml

from okf_catalog.catalog import database
from okf_catalog.catalog.filters import Filters
from okf_catalog.datasette_plugin import facets, results
from tests.conftest import EXAMPLE, ROOT
from tests.test_site import Page, site

__all__ = ["site"]
NOW = "2026-12-01T00:00:00Z"
TAGGED = {
    "a.md": "---\ntype: Metric\ntags: [Finance, daily]\n---\n",
    "b.md": "---\ntype: Metric\ntags: [finance, 'a b&c']\nstale_after: 2020-01-01\n---\n",
    "c.md": "---\ntype: Table\ntags: [FINANCE]\nstatus: draft\n---\n",
    "d.md": "---\ntype: Table\n---\n",
}


def counted(text, name):
    """The counts of a facet in the JSON of a table page, in both versions' form."""
    found = json.loads(text)["facet_results"]
    assert not found.get("timed_out")
    found = found.get("results", found)
    return {row["value"]: (row["count"], row["selected"], row["toggle_url"]) for row in found[name]["results"]}


def counts(text, name):
    return {value: count for value, (count, _, _) in counted(text, name).items()}


@pytest.mark.parametrize("many", [facets.MANY, 0])
def test_facets_count_what_is_there(site, bundle, monkeypatch, many):
    monkeypatch.setattr(facets, "MANY", many)
    whole, some, concepts = site(
        [bundle(TAGGED)], "/kb/catalog.json?_extra=facet_results", "/kb/catalog.json?_extra=facet_results&type=Metric",
        "/kb/concepts.json?_extra=facet_results&type__not=Metric",
    )  # fmt: skip
    assert counts(whole[1], "type") == {"Metric": 2, "Table": 2}
    assert counts(whole[1], "effective_status") == {"stable": 3, "draft": 1}
    assert counts(whole[1], "is_stale") == {0: 3, 1: 1}
    assert counts(whole[1], "bundle") == {"bundle": 4}
    assert sorted(counts(whole[1], "tags").values()) == [1, 1, 3], "Finance, finance and FINANCE are one tag"
    assert counts(some[1], "type") == {"Metric": 2}
    assert counted(some[1], "type")["Metric"][1], "it is chosen"
    assert counts(some[1], "is_stale") == {0: 1, 1: 1}
    assert sorted(counts(some[1], "tags").values()) == [1, 1, 2]
    assert counts(concepts[1], "effective_status") == {"draft": 1, "stable": 1}


def test_a_value_of_a_facet_leads_to_what_it_counted(site, bundle):
    ((_, text, _),) = site([bundle(TAGGED)], "/kb/catalog.json?_extra=facet_results&_shape=objects")
    for name in ("type", "tags", "is_stale"):
        for value, (count, chosen, url) in counted(text, name).items():
            assert not chosen
            path = re.sub("^https?://[^/]+", "", url)
            ((status, narrowed, _),) = site([], path)
            assert status == 200
            assert len(json.loads(narrowed)["rows"]) == count, (name, value)
            count, chosen, back = counted(narrowed, name)[value]
            assert chosen
            ((_, again, _),) = site([], re.sub("^https?://[^/]+", "", back))
            assert len(json.loads(again)["rows"]) == 4
    linked, stale = site([], "/kb/catalog.json?links_in=0&_shape=objects", "/kb/catalog.json?is_stale=1&_shape=objects")
    assert [row["path"] for row in json.loads(stale[1])["rows"]] == ["b.md"]
    assert len(json.loads(linked[1])["rows"]) == 4


def test_tags_narrow_a_table(site, bundle):
    one, two, none, page = site(
        [bundle(TAGGED)], "/kb/catalog.json?_tag=fiNance&_shape=objects", "/kb/catalog.json?_tag=finance&_tag=a+b%26c&_shape=objects",
        "/kb/catalog.json?_tag=x'--&_shape=objects", "/kb/catalog?_tag=finance",
    )  # fmt: skip
    assert [row["path"] for row in json.loads(one[1])["rows"]] == ["a.md", "b.md", "c.md"]
    assert [row["path"] for row in json.loads(two[1])["rows"]] == ["b.md"]
    assert json.loads(none[1])["rows"] == []
    assert 'tagged "finance"' in Page(page[1]).text


def test_facets_that_a_file_of_ones_own_asks_for_are_counted_alike(site, bundle):
    given = yaml.safe_load((ROOT / "datasette-metadata.yml").read_text())
    ((status, text, _),) = site(
        [bundle(TAGGED)], "/catalog/catalog.json?_extra=facet_results", name="catalog.db", metadata=given,
        **({"config": given} if "1.0" in _version() else {}),
    )  # fmt: skip
    assert status == 200
    assert sorted(counts(text, "tags").values()) == [1, 1, 3]


def _version():
    import datasette

    return datasette.__version__


@pytest.mark.parametrize("address", ["/kb/tags?_facet_okf=tags", "/kb/catalog?_facet_okf=nope", "/kb/catalog?_facet_okf=id;drop", "/kb/bundles?_tag=x", "/kb/catalog?_tag="])
def test_odd_facets_are_answered(site, bundle, address):
    ((status, text, _),) = site([bundle(TAGGED)], address)
    assert status == 200, text[-300:]


WORDS = ["order", "orders", "ordering", "berth", "night", "revenue"]


def test_words_that_very_many_hold_find_what_few_do(bundle, run_cli, tmp_path, monkeypatch):
    """SQLite alone ranks a common word; the answer is that of the engine."""
    files = {
        f"{number:03}.md": f"---\ntype: T{number % 3}\ntitle: {WORDS[number % 6]} {number}\ntags: [g{number % 2}]\n---\n\n"
        + " ".join(WORDS[(number * step) % 6] for step in range(number % 17))
        for number in range(120)
    }
    run_cli("sync", bundle(files), "--db", tmp_path / "kb.db")
    with closing(database.open_existing(str(tmp_path / "kb.db"))) as connection:
        for words in ("order", "berth night", "revenue ordering"):
            for filters in (Filters(), Filters(types=("T1",))):
                monkeypatch.setattr(results, "_MANY", 5_000)
                few = results.search(connection, words, "fts5", [], filters, NOW, 0)
                monkeypatch.setattr(results, "_MANY", 0)
                many = results.search(connection, words, "fts5", [], filters, NOW, 0)
                assert few["total"] > 5
                assert many["total"] == few["total"]
                assert dict(many["facets"]) == dict(few["facets"])
                assert all(row["matched"] for row in many["rows"])
                if " " not in words and few["total"] <= results.PAGE:
                    assert {row["path"] for row in many["rows"]} == {row["path"] for row in few["rows"]}
                assert many["rows"][0]["path"] in {row["path"] for row in few["rows"][:5]}


def test_the_counts_of_results_are_those_of_the_concepts(site, tmp_path, monkeypatch):
    for many in (facets.MANY, 0):
        monkeypatch.setattr(results, "MANY", many)
        ((status, text, _),) = site([EXAMPLE], "/kb/-/okf?trust=unverified")
        assert status == 200
        with closing(database.open_existing(str(tmp_path / "kb.db"))) as connection:
            rows = connection.execute("select id, type from concepts where trust_tier = 'unverified'").fetchall()
            tags = Counter(
                row[0] for concept, _ in rows for row in connection.execute("select tag from tags where concept_id = ?", (concept,))
            )
        kinds = Counter(kind for _, kind in rows)
        page = Page(text)
        for value, count in [*kinds.most_common(2), *tags.most_common(2)]:
            assert value in page.links
            assert re.search(rf">{re.escape(value)}</a> <span class=\"okf-muted\">{count}<", text), value
        assert page.links[kinds.most_common(1)[0][0]].endswith(f"type={quote(kinds.most_common(1)[0][0])}")
