"""A concept and what is derived from its file (OKF §4, §5, §10)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from okf_catalog.format import concept
from okf_catalog.format.concept import Concept, is_concept, read, tags_of
from okf_catalog.format.frontmatter import Document, parse


def document(text: str) -> Document:
    found = parse(text.encode())
    assert isinstance(found, Document), found
    return found


def of(frontmatter: str, body: str = "", path: str = "tables/orders.md", rules: str = "0.2") -> Concept:
    return read(path, document(f"---\n{frontmatter}\n---\n\n{body}"), rules)


@pytest.mark.parametrize(
    ("path", "concept_id", "directory", "top", "stem"),
    [
        ("a.md", "a", ".", "(root)", "a"),
        ("tables/orders.md", "tables/orders", "tables", "tables", "orders"),
        ("a/b/c.d.md", "a/b/c.d", "a/b", "a", "c.d"),
        ("a/X.MD", "a/X", "a", "a", "X"),
        ("a/é 漢.md", "a/é 漢", "a", "a", "é 漢"),
        ("a/.md", "a/", "a", "a", ""),
    ],
)
def test_names_come_from_the_path(path: str, concept_id: str, directory: str, top: str, stem: str) -> None:
    found = of("id: something/else\ntype: T", path=path)
    assert (found.concept_id, found.dir, found.top_dir, found.stem) == (concept_id, directory, top, stem)
    assert found.extra == {"id": "something/else"}


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("title: Orders", "Orders"), ("title: no", "no"), ("title: 007", "007"), ("title: 2026-01-01", "2026-01-01"),
        ("title: ' x '", " x "), ("title: ''", None), ("title: '  '", None), ("title:", None), ("title: false", None),
        ("title: true", "true"), ("title: [a, 1]", '["a",1]'), ("title: []", None), ("titel: x", None),
    ],
)  # fmt: skip
def test_titles_are_text_as_written(line: str, title: str | None) -> None:
    found = of(line)
    assert found.title == title
    assert found.stem == "orders"


@pytest.mark.parametrize(
    ("value", "tags"),
    [
        ("[a, b]", ["a", "b"]),
        ("[a, b, a, ' a ', A]", ["a", "b", "A"]),
        ("[no, 007, 1.10, true, 2026-01-01]", ["no", "007", "1.10", "true", "2026-01-01"]),
        ("[~, '', ' ', a]", ["a"]),
        ("a", ["a"]),
        ("a, b,,c ", ["a", "b", "c"]),
        ("'[a, b]'", ["a", "b"]),
        ("'[a'", ["[a"]),
        ("'a,b]'", ["a", "b]"]),
        ("7", ["7"]),
        ("", []),
        ("[]", []),
        ("{a: b}", []),
        ("['x, y', z]", ["x, y", "z"]),
        ("[[a, b], {c: d}]", ['["a","b"]', '{"c":"d"}']),
        ("[é, 漢字, عربى, ß]", ["é", "漢字", "عربى", "ß"]),
        ("[\"a\\0b\"]", ["a\0b"]),
    ],
)
def test_tags(value: str, tags: list[str]) -> None:
    assert of(f"tags: {value}").tags == tags


@given(st.lists(st.text(max_size=6), max_size=6))
def test_tags_are_distinct_and_not_blank(items: list[str]) -> None:
    tags = tags_of(items)
    assert len(set(tags)) == len(tags)
    assert all(tag.strip(" \t\n\r\v\f\0") for tag in tags)
    assert tags_of(tags) == tags


@pytest.mark.parametrize(
    ("line", "status", "effective"),
    [
        ("status: draft", "draft", "draft"), ("status: ' Draft '", " Draft ", "draft"), ("status: DEPRECATED", "DEPRECATED", "deprecated"),
        ("status:", None, "stable"), ("status: ''", "", "stable"), ("status: ' '", " ", "stable"), ("type: T", None, "stable"),
        ("status: Retired", "Retired", "retired"), ("status: no", "no", "no"), ("status: [draft]", '["draft"]', '["draft"]'),
    ],
)  # fmt: skip
def test_status(line: str, status: str | None, effective: str) -> None:
    found = of(line)
    assert (found.status, found.effective_status) == (status, effective)


@pytest.mark.parametrize(
    ("line", "utc_02", "utc_03"),
    [
        ("stale_after: 2027-01-01", "2027-01-01T00:00:00Z", "2027-01-01T00:00:00Z"),
        ("stale_after: 2027-01-01T00:00:00+02:00", "2026-12-31T22:00:00Z", "2026-12-31T22:00:00Z"),
        ("stale_after: '2027-01-01T00:00:00'", "2027-01-01T00:00:00Z", "2027-01-01T00:00:00Z"),
        ("stale_after: soon", None, "0001-01-01T00:00:00Z"),
        ("stale_after: 2027-02-30", None, "0001-01-01T00:00:00Z"),
        ("stale_after:", None, None),
        ("stale_after: ''", None, None),
        ("type: T", None, None),
    ],
)
def test_stale_after(line: str, utc_02: str | None, utc_03: str | None) -> None:
    assert of(line).stale_after_utc == utc_02
    assert of(line, rules="0.1").stale_after_utc == utc_02
    assert of(line, rules="0.3").stale_after_utc == utc_03


def test_unknown_keys_are_kept() -> None:
    found = of("type: T\nowner: {team: [a, 007]}\nx-note: no\nid: 7\nsuperseded_by: b.md\nTitle: x")
    assert found.extra == {"owner": {"team": ["a", "007"]}, "x-note": "no", "id": "7", "Title": "x"}


def links(found: Concept) -> list[tuple[str, str, str | None, int | None]]:
    return [(link.kind, link.target, link.target_path, link.line) for link in found.links]


def test_links_of_the_body_have_lines_of_the_file() -> None:
    body = "See [a](a.md), [b](/b.md#x) and [c](../c.md).\n\n[out](../../d.md) <https://e.org> [pic](p.png)\n"
    assert links(of("type: T", body)) == [
        ("link", "a.md", "tables/a.md", 5),
        ("link", "/b.md#x", "b.md", 5),
        ("link", "../c.md", "c.md", 5),
        ("link", "../../d.md", "../../d.md", 7),  # no path of the bundle: a link to nothing
        ("autolink", "https://e.org", None, 7),
        ("link", "p.png", None, 7),
    ]


def test_pointers_in_the_frontmatter_are_links_of_their_own_kinds() -> None:
    frontmatter = """\
type: T
resource: /schemas/orders.json
superseded_by: [new.md, /newer.md, 7]
computation: ../sql/orders.sql
executor: {resource: run.md}
attester: {resource: https://e.org/attest}
sources: [{resource: s.md}, {resource: 'https://e.org/s'}, {title: none}]"""
    assert links(of(frontmatter)) == [
        ("source", "s.md", "tables/s.md", 8),
        ("superseded_by", "new.md", "tables/new.md", 4),
        ("superseded_by", "/newer.md", "newer.md", 4),
        ("superseded_by", "7", "tables/7", 4),
        ("resource", "/schemas/orders.json", "schemas/orders.json", 3),
        ("computation", "../sql/orders.sql", "sql/orders.sql", 5),
        ("executor", "run.md", "tables/run.md", 6),
    ]


@pytest.mark.parametrize("matter", ["resource: []", "resource: {a: b}", "superseded_by: {a: b}", "executor: x", "attester: []"])
def test_pointers_of_other_shapes_are_no_links(matter: str) -> None:
    assert links(of(matter)) == []


COMPUTED = "type: Attested Computation\nruntime: bigquery\n"


def test_a_computation_in_the_body() -> None:
    body = "# Computation\n\nAs follows.\n\n```sql params\nselect 1\n```\n\n```\nother\n```\n"
    found = of(COMPUTED + "parameters: [{name: day, default: 007}]\nexecutor: {resource: r.md, receipt: [a]}", body).computation
    assert found == ("bigquery", None, "select 1\n", "sql", '[{"name":"day","default":7}]', "r.md", '["a"]', None)


@pytest.mark.parametrize(
    ("frontmatter", "body", "code", "language"),
    [
        (COMPUTED, "```sql\nx\n```\n", None, None),
        (COMPUTED, "## computation\n```\nx\n```\n", "x\n", None),
        (COMPUTED, "# Computation\n# Next\n```\nx\n```\n", None, None),
        (COMPUTED, "# Computation\n\n    x\n", "x\n", None),
        (COMPUTED, "# Computation\n~~~python\nx\n~~~\n", "x\n", "python"),
        (COMPUTED, "The computation.\n```\nx\n```\n", None, None),
    ],
)
def test_where_the_code_stands(frontmatter: str, body: str, code: str | None, language: str | None) -> None:
    found = of(frontmatter, body).computation
    assert found is not None
    assert (found.code, found.language) == (code, language)


def test_a_computation_in_a_file() -> None:
    found = of(COMPUTED + "computation: q/orders.sql\nattester: {resource: b.md}\nexecutor: text").computation
    assert found is not None
    assert (found.computation, found.executor, found.attester) == ("q/orders.sql", None, "b.md")


@pytest.mark.parametrize(("kind", "is_one"), [(" Attested Computation\t", True), ("attested computation", False), ("Metric", False)])
def test_only_one_type_has_a_computation(kind: str, is_one: bool) -> None:
    assert (of(f'type: "{kind}"\nruntime: x'.replace("\t", "\\t")).computation is not None) is is_one


@pytest.mark.parametrize(
    ("line", "under_02", "under_03"),
    [("type: T", True, True), ("type: ''", True, False), ("title: x", True, False), ("type: false", True, False), ("", True, False)],
)
def test_0_3_asks_for_a_type(line: str, under_02: bool, under_03: bool) -> None:
    found = document(f"---\n{line}\n---\n")
    assert (is_concept(found, "0.2"), is_concept(found, "0.3")) == (under_02, under_03)


VALUES = st.recursive(
    st.none() | st.text(max_size=6) | st.sampled_from(["2026-01-01", "human:a", "[a](b.md)", "Attested Computation"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["by", "at", "resource", "id", "from", "receipt", "x"]), inner, max_size=3),
    max_leaves=6,
)


@given(
    st.dictionaries(st.sampled_from([*sorted(concept.KNOWN_KEYS), "owner"]), VALUES, max_size=8),
    st.text("[]()#`^ \nab:-Computation", max_size=40),
    st.sampled_from(["0.1", "0.2", "0.3"]),
)
def test_any_frontmatter_makes_a_concept(matter: dict[str, Any], body: str, rules: str) -> None:
    found = read("a/b.md", Document(matter, body, 9, {}, ()), rules)
    assert found.concept_id == "a/b"
    assert found.trust_tier in ("unverified", "machine-confirmed", "human-reviewed")
    for text in (found.type, found.title, found.description, found.status, found.generated_by, found.stale_after):
        assert text is None or type(text) is str
