"""What a concept rests on: `sources`, legacy citations, footnotes (OKF §5.1, §13.1)."""

from __future__ import annotations

import pytest

from okf_catalog.format.concept import Concept, read
from okf_catalog.format.frontmatter import Document, parse
from okf_catalog.format.sources import Source, citations


def concept(frontmatter: str, body: str = "") -> Concept:
    found = parse(f"---\n{frontmatter}\n---\n\n{body}".encode())
    assert isinstance(found, Document), found
    return read("metrics/a.md", found, "0.2")


def named(resource: str | None, **fields: object) -> Source:
    empty = Source(None, resource, None, None, None, None, None, None, None, legacy=False)
    return empty._replace(**fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("frontmatter", "expected"),
    [
        pytest.param("sources: [{resource: /a.md}]", [named("/a.md")], id="a resource alone"),
        pytest.param("sources: {resource: /a.md}", [named("/a.md")], id="a bare mapping"),
        pytest.param(
            "sources:\n- {id: S1, resource: 'https://e.org', title: T, author: 'team:x', usage_count: 12, "
            "last_modified: 2026-05-01T00:00:00+02:00}",
            [named("https://e.org", source_id="S1", title="T", author="team:x", usage_count=12,
                   last_modified="2026-05-01T00:00:00+02:00", last_modified_utc="2026-04-30T22:00:00Z")],
            id="everything",
        ),
        pytest.param("sources: [{id: 007, resource: 1.10, title: no}]", [named("1.10", source_id="007", title="no")],
                     id="text as written"),
        pytest.param("sources: [text, {resource: a}, 7, [b]]", [named("a")], id="only mappings count"),
        pytest.param("sources: [{}]", [named(None)], id="an empty mapping"),
        pytest.param("sources: [{resource: a, usage_count: '12'}]", [named("a")], id="a quoted count"),
        pytest.param("sources: [{resource: a, usage_count: 1.5}]", [named("a")], id="a broken count"),
        pytest.param("sources: [{resource: a, usage_count: many}]", [named("a")], id="a count in words"),
        pytest.param("sources: [{resource: a, usage_count: true}]", [named("a")], id="a count that is true"),
        pytest.param("sources: [{resource: a, usage_count: 9223372036854775808}]", [named("a")], id="a count too large"),
        pytest.param("sources: [{resource: a, usage_count: -3}]", [named("a", usage_count=-3)], id="a negative count"),
        pytest.param("sources: [{resource: a, last_modified: lately}]", [named("a", last_modified="lately")],
                     id="an unreadable moment"),
        pytest.param("sources: [{resource: a, usage_window: {from: 2026-01-01, to: 2026-02-01}}]",
                     [named("a", window_from="2026-01-01", window_to="2026-02-01")], id="a window of its own"),
        pytest.param("usage_window: {from: 2026-01-01}\nsources: [{resource: a}, {resource: b, usage_window: {to: 2026-03-01}}]",
                     [named("a", window_from="2026-01-01"), named("b", window_to="2026-03-01")], id="the concept's window"),
        pytest.param("usage_window: {from: 2026-01-01}\nsources: [{resource: a, usage_window: soon}]", [named("a")],
                     id="a window that is no mapping"),
    ],
)  # fmt: skip
def test_sources(frontmatter: str, expected: list[Source]) -> None:
    assert concept(frontmatter).sources == expected


@pytest.mark.parametrize("frontmatter", ["type: T", "sources:", "sources: []", "sources: text", "sources: [a, b]"])
def test_citations_stand_in_where_no_source_is_a_mapping(frontmatter: str) -> None:
    found = concept(frontmatter, "# Citations\n\n- [Guide](https://e.org/g)\n")
    assert [(s.title, s.resource, s.legacy) for s in found.sources] == [("Guide", "https://e.org/g", True)]


def test_citations_do_not_join_real_sources() -> None:
    found = concept("sources: [{resource: a}]", "# Citations\n\n- [Guide](https://e.org/g)\n")
    assert [(s.resource, s.legacy) for s in found.sources] == [("a", False)]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param("# Citations\n[a](b.md)\n", [("a", "b.md")], id="a link"),
        pytest.param("# Citations", [], id="nothing below"),
        pytest.param("## citations  \n\n- [a](b.md)\n", [("a", "b.md")], id="another rank, lower case"),
        pytest.param("####### Citations\n- [a](b.md)\n", [], id="seven number signs"),
        pytest.param("#Citations\n- [a](b.md)\n", [], id="no blank"),
        pytest.param("# Citations and more\n- [a](b.md)\n", [], id="more words"),
        pytest.param("```\n# Citations\n```\n[a](b.md)\n", [], id="heading in a fence"),
        pytest.param("# Citations\n- <https://e.org/x>\n", [(None, "https://e.org/x")], id="autolink"),
        pytest.param("# Citations\n* https://e.org/x\n", [(None, "https://e.org/x")], id="bare address"),
        pytest.param("# Citations\nhttps://e.org/x\n", [(None, "https://e.org/x")], id="bare address, no list"),
        pytest.param("# Citations\n- <mailto:a@e.org>\n", [(None, "mailto:a@e.org")], id="mail"),
        pytest.param("# Citations\n1. https://e.org/x\n", [], id="bare address in a numbered list"),
        pytest.param("# Citations\n- see https://e.org/x\n", [], id="bare address in a sentence"),
        pytest.param("# Citations\n1. [a](b.md), [c](d.md)\n", [("a", "b.md"), ("c", "d.md")], id="two on a line"),
        pytest.param("# Citations\n- [a][r]\n\n[r]: b.md\n", [("a", "b.md")], id="reference"),
        pytest.param("# Citations\n- [](b.md)\n", [(None, "b.md")], id="no text"),
        pytest.param("# Citations\n```\n[a](b.md)\nhttps://e.org\n```\n", [], id="fenced entries"),
        pytest.param("[z](z.md)\n\n# Citations\n[a](b.md)\n\n# Next\n[c](d.md)\n", [("a", "b.md")], id="up to the next heading"),
        pytest.param("## Citations\n[a](b.md)\n### Below\n[c](d.md)\n# Above\n[e](f.md)\n",
                     [("a", "b.md"), ("c", "d.md")], id="with lower headings"),
        pytest.param("# Citations\n[a](b.md)\n# Citations\n[c](d.md)\n", [("a", "b.md")], id="only the first section"),
        pytest.param("# Citations\n- https://e.org/x\n- [a](b.md)\n- <https://e.org/y>\n",
                     [(None, "https://e.org/x"), ("a", "b.md"), (None, "https://e.org/y")], id="in document order"),
    ],
)  # fmt: skip
def test_citations(body: str, expected: list[tuple[str | None, str]]) -> None:
    assert [(source.title, source.resource) for source in citations(body)] == expected


def test_footnotes_name_sources_by_id() -> None:
    found = concept(
        "sources:\n- {id: wiki, resource: a}\n- {id: Finanz, resource: b}\n- {id: WIKI, resource: c}\n- {resource: d}",
        "One.[^wiki] Two.[^FINANZ] Three.[^gone]\n\n[^wiki]: The wiki.\n[^extra]: More.\n",
    )
    assert [tuple(note) for note in found.footnotes] == [
        ("wiki", 0, True, 9),
        ("FINANZ", 1, False, 9),
        ("gone", None, False, 9),
        ("extra", None, True, 12),
    ]


def test_footnotes_do_not_name_citations() -> None:
    found = concept("type: T", "One.[^a]\n\n# Citations\n- [a](b.md)\n")
    assert [note.source_position for note in found.footnotes] == [None]
