"""A request in words comes to filters by a fixed table."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from okf_catalog.catalog.ask import Inferred, Vocabulary, infer
from okf_catalog.catalog.filters import Filters

BUNDLE = Vocabulary(
    types=("API Endpoint", "BigQuery Table", "Metric", "Policy", "Playbook", "Data Process"),
    tags=("finance", "pii", "Sales Ops"),
)
EMPTY = Vocabulary((), ())


def of(request: str, vocabulary: Vocabulary = BUNDLE) -> Filters:
    return infer(request, vocabulary).filters


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ("find all tables", Filters(types=("BigQuery Table",))),
        ("show tables", Filters(types=("BigQuery Table",))),
        ("find all metrics", Filters(types=("Metric",))),
        ("list metrics", Filters(types=("Metric",))),
        ("deprecated", Filters(statuses=("deprecated",))),
        ("archived", Filters(statuses=("deprecated",))),
        ("draft", Filters(statuses=("draft",))),
        ("in progress", Filters(statuses=("draft",))),
        ("not ready", Filters(statuses=("draft",))),
        ("stale", Filters(stale_only=True)),
        ("out of date", Filters(stale_only=True)),
        ("expired", Filters(stale_only=True)),
        ("unverified", Filters(trust_tiers=("unverified",))),
        ("not verified", Filters(trust_tiers=("unverified",))),
        ("machine-confirmed", Filters(trust_tiers=("machine-confirmed",))),
        ("auto-verified", Filters(trust_tiers=("machine-confirmed",))),
        ("human-reviewed", Filters(trust_tiers=("human-reviewed",))),
        ("human-verified", Filters(trust_tiers=("human-reviewed",))),
        ("revenue", Filters(text=("revenue",))),
        ("orders", Filters(text=("orders",))),
        ("tagged finance", Filters(tags=("finance",))),
        ("with tag finance", Filters(tags=("finance",))),
    ],
)
def test_the_table_of_the_skill(request_: str, expected: Filters) -> None:
    assert of(request_) == expected


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ("find all stale deprecated metrics", Filters(types=("Metric",), statuses=("deprecated",), stale_only=True)),
        ("stale deprecated metrics tagged finance",
         Filters(types=("Metric",), statuses=("deprecated",), stale_only=True, tags=("finance",))),
        ("Show me the DRAFT tables about revenue", Filters(text=("revenue",), types=("BigQuery Table",), statuses=("draft",))),
        ("unverified tables and metrics", Filters(types=("BigQuery Table", "Metric"), trust_tiers=("unverified",))),
        ("draft or deprecated policies", Filters(types=("Policy",), statuses=("draft", "deprecated"))),
        ("which API endpoints are out-of-date?", Filters(types=("API Endpoint",), stale_only=True)),
        ("human reviewed playbooks", Filters(types=("Playbook",), trust_tiers=("human-reviewed",))),
        ("data processes", Filters(types=("Data Process",))),
        ("orders revenue", Filters(text=("orders", "revenue"))),
    ],
)  # fmt: skip
def test_combined_requests(request_: str, expected: Filters) -> None:
    assert of(request_) == expected


@pytest.mark.parametrize(
    ("request_", "tags"),
    [
        ("tagged finance", ("finance",)),
        ("tagged with finance", ("finance",)),
        ("with the tag finance", ("finance",)),
        ("with tags finance, pii", ("finance", "pii")),
        ("tagged finance or pii", ("finance", "pii")),
        ("tagged finance, pii or hr", ("finance", "pii", "hr")),
        ("tagged finance, or pii", ("finance", "pii")),
        ('tagged "Sales Ops"', ("Sales Ops",)),
        ('tagged "Sales Ops" or pii', ("Sales Ops", "pii")),
        ("Tagged Finance", ("Finance",)),
        ("tag: pii", ("pii",)),
        ("tagged 財務", ("財務",)),
        ("tagged stale", ("stale",)),
    ],
)
def test_tags(request_: str, tags: tuple[str, ...]) -> None:
    assert of(request_) == Filters(tags=tags)


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        ('"net revenue"', ("net revenue",)),
        ('"stale bread"', ("stale bread",)),
        ('"tables" about orders', ("tables", "orders")),
        ("orders_daily v7.2.0", ("orders_daily", "v7.2.0")),
        ("customer-orders", ("customer-orders",)),
        ("stalemate undraft", ("stalemate", "undraft")),
        ("注文", ("注文",)),
        ("the a of", ()),
        ("", ()),
        ("???", ()),
    ],
)
def test_words_to_look_for(request_: str, text: tuple[str, ...]) -> None:
    assert of(request_) == Filters(text=text)


def test_types_without_any_in_the_bundle() -> None:
    assert of("all tables", EMPTY).types == ("BigQuery Table",)
    assert of("all metrics", EMPTY).types == ("Metric",)
    assert of("all policies", EMPTY) == Filters(text=("policies",))


def test_the_types_of_the_bundle_come_first() -> None:
    known = Vocabulary(("Snowflake Table", "Iceberg Table", "KPI"), ())
    assert of("all tables", known).types == ("Snowflake Table", "Iceberg Table")


def test_options_win_over_words() -> None:
    inferred = infer("stale draft metrics tagged a", BUNDLE)
    merged = inferred.merge(Filters(statuses=("stable",), tags=("b",)))
    assert merged == Filters(types=("Metric",), statuses=("stable",), tags=("b",), stale_only=True)


@pytest.mark.parametrize(
    ("filters", "words"),
    [
        (Filters(), "no filter; everything is listed"),
        (Filters(types=("BigQuery Table",), stale_only=True), "--type 'BigQuery Table' --stale-only"),
        (Filters(text=("it's",), tags=("a", "b c")), """--tags 'a,b c' --query 'it'"'"'s'"""),
        (Filters(statuses=("draft",), trust_tiers=("unverified",)), "--status draft --trust-tier unverified"),
    ],
)
def test_the_reading_is_told_as_options(filters: Filters, words: str) -> None:
    assert Inferred(filters).describe() == words


@given(st.text(max_size=40))
def test_any_request_can_be_read(request_: str) -> None:
    inferred = infer(request_, BUNDLE)
    assert inferred.describe()
    assert all(inferred.filters.tags)
    assert all(inferred.filters.text)


FILES = {
    "metrics/old.md": "---\ntype: Metric\ntitle: Old\nstatus: deprecated\nstale_after: 2020-01-01\ntags: [finance]\n---\n",
    "metrics/new.md": "---\ntype: Metric\ntitle: New\nstale_after: 2020-01-01\ntags: [finance]\n---\n",
    "tables/old.md": "---\ntype: BigQuery Table\ntitle: Old\nstatus: deprecated\nstale_after: 2020-01-01\ntags: [finance]\n---\n",
    "broken.md": "no frontmatter\n",
}


def test_find_ask_tells_what_it_inferred(bundle, run_cli) -> None:
    code, out, err = run_cli("find", bundle(FILES), "--ask", "stale deprecated metrics tagged finance", "--json")
    assert code == 0
    assert [row["path"] for row in json.loads(out)["concepts"]] == ["metrics/old.md"]
    assert err == "note: read as: --type Metric --status deprecated --stale-only --tags finance\n"


def test_find_ask_with_an_option(bundle, run_cli) -> None:
    _, out, err = run_cli("find", bundle(FILES), "--ask", "deprecated metrics", "--type", "BigQuery Table", "--json")
    assert [row["path"] for row in json.loads(out)["concepts"]] == ["tables/old.md"]
    assert err == "note: read as: --type Metric --status deprecated\n"


def test_find_ask_nothing_in_particular(bundle, run_cli) -> None:
    _, out, err = run_cli("find", bundle(FILES), "--ask", "show everything", "--json")
    assert len(json.loads(out)["concepts"]) == 4
    assert "no filter" in err
