"""Links, footnotes and headings of a body, as CommonMark reads them (OKF §6, §13.1)."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from okf_catalog.format import markdown

# What a body of markdown is made of, in pieces that combine in many ways.
PIECES = [
    "[", "]", "(", ")", "](", "![", "<", ">", "`", "``", "\\", "*", "_", "!", "#", "&", "&amp;", "%20", "\"t\"", "'t'",
    "\n", "\n\n", " ", "    ", "\t", "- ", "> ", "1. ", "# ", "```\n", "~~~\n", "|", "\n|-|-|\n", "[^1]", "[^1]: ", "[^é]",
    "[^a b]", "[^", "]:", "[a]", "[a][]", "[b][a]", "\n[a]: d.md\n", "[x](y.md)", "[x](y.md \"t\")", "[x\ny](z.md)", "<a.md>",
    "<https://e.org>", "<b>", "<!-- ", "-->", "![i](p.png)", "[![i](p)](q.md)", "(c(d).md)", "[`c`](d.md)", "[*e*](f.md)",
    "[](g.md)", "a.md", "word", "é", "漢", "\u00a0", "\u2003", "\r", "\v", "\f", "\ufeff",
]  # fmt: skip
BODIES = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


def links(body: str) -> list[tuple[str, str, str, int]]:
    return [tuple(link) for link in markdown.read(body).links]


def targets(body: str) -> list[str]:
    return [link.target for link in markdown.read(body).links]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param("see [Orders](orders.md).", ("link", "orders.md", "Orders", 1), id="inline"),
        pytest.param("[a](b.md 'one')", ("link", "b.md", "a", 1), id="title in single quotes"),
        pytest.param('[a](b.md "one")', ("link", "b.md", "a", 1), id="title in double quotes"),
        pytest.param("[a](b.md (one))", ("link", "b.md", "a", 1), id="title in parentheses"),
        pytest.param("[a](b(1).md)", ("link", "b(1).md", "a", 1), id="balanced parentheses"),
        pytest.param("[a](<b c.md>)", ("link", "b c.md", "a", 1), id="angle brackets"),
        pytest.param("[a]( b.md )", ("link", "b.md", "a", 1), id="blanks inside"),
        pytest.param("[a](b%20c.md)", ("link", "b%20c.md", "a", 1), id="percent escape stays as written"),
        pytest.param("[a](b\\(1.md)", ("link", "b(1.md", "a", 1), id="escaped parenthesis"),
        pytest.param("[a](b&amp;c.md)", ("link", "b&c.md", "a", 1), id="character reference"),
        pytest.param("[](b.md)", ("link", "b.md", "", 1), id="no text"),
        pytest.param("[a [b] c](d.md)", ("link", "d.md", "a [b] c", 1), id="brackets in the text"),
        pytest.param("[a *b* `c`](d.md)", ("link", "d.md", "a b c", 1), id="markup in the text"),
        pytest.param("[one\ntwo](d.md)", ("link", "d.md", "one two", 1), id="text over two lines"),
        pytest.param("[one\n  two](d.md)", ("link", "d.md", "one two", 1), id="text over two lines, indented"),
        pytest.param("[one  \ntwo](d.md)", ("link", "d.md", "one two", 1), id="hard break in the text"),
        pytest.param("- [a](b.md)", ("link", "b.md", "a", 1), id="in a list"),
        pytest.param("> [a](b.md)", ("link", "b.md", "a", 1), id="in a quotation"),
        pytest.param("## [a](b.md)", ("link", "b.md", "a", 1), id="in a heading"),
        pytest.param("| x |\n|---|\n| [a](b.md) |", ("link", "b.md", "a", 3), id="in a table"),
        pytest.param("<div>\n\n[a](b.md)\n</div>", ("link", "b.md", "a", 3), id="between HTML lines"),
        pytest.param("<b>[a](b.md)</b>", ("link", "b.md", "a", 1), id="inside an HTML element"),
        pytest.param("\n\n\n[a](b.md)\n", ("link", "b.md", "a", 4), id="line number"),
        pytest.param("ä\n漢\n[é](b.md)\n", ("link", "b.md", "é", 3), id="line number behind wide characters"),
        pytest.param("[![pic](p.png)](b.md)", ("link", "b.md", "pic", 1), id="an image in a link"),
        pytest.param("[a][b]\n\n[b]: c.md", ("reference", "c.md", "a", 1), id="reference"),
        pytest.param("[A  b][]\n\n[a B]: c.md", ("reference", "c.md", "A  b", 1), id="collapsed reference"),
        pytest.param("[b]\n\n[b]: c.md 'title'", ("reference", "c.md", "b", 1), id="shortcut reference"),
        pytest.param("[b]: c.md\n[b]: d.md\n\n[b]", ("reference", "c.md", "b", 4), id="the first definition counts"),
        pytest.param("[b]: <c d.md>\n\n[b]", ("reference", "c d.md", "b", 3), id="definition in angle brackets"),
        pytest.param("<https://example.org/x>", ("autolink", "https://example.org/x", "https://example.org/x", 1),
                     id="autolink"),
        pytest.param("<me@example.org>", ("autolink", "me@example.org", "me@example.org", 1), id="mail autolink"),
        pytest.param("\\\\[a](b.md)", ("link", "b.md", "a", 1), id="an escaped backslash before it"),
        pytest.param("\\![a](b.md)", ("link", "b.md", "a", 1), id="an escaped exclamation mark"),
    ],
)  # fmt: skip
def test_one_link(body: str, expected: tuple[str, str, str, int]) -> None:
    assert links(body) == [expected]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("![a](b.md)", id="image"),
        pytest.param("\\[a](b.md)", id="escaped bracket"),
        pytest.param("[a\\](b.md)", id="escaped closing bracket"),
        pytest.param("[a] (b.md)", id="a blank between"),
        pytest.param("[a](b c.md)", id="a blank in the target"),
        pytest.param("[a][b]", id="no such definition"),
        pytest.param("[a]", id="brackets"),
        pytest.param("[ ] to do", id="task"),
        pytest.param("`[a](b.md)`", id="code span"),
        pytest.param("``x ` [a](b.md)``", id="code span of two backticks"),
        pytest.param("`one\n[a](b.md) two`", id="code span over two lines"),
        pytest.param("    [a](b.md)", id="indented code"),
        pytest.param("```\n[a](b.md)\n```", id="fence"),
        pytest.param("~~~ sql\n[a](b.md)\n~~~", id="tilde fence"),
        pytest.param("```\n[a](b.md)\n~~~\n[a](b.md)", id="tildes do not close backticks"),
        pytest.param("````\n```\n[a](b.md)\n````", id="three do not close four"),
        pytest.param("```\n[a](b.md)", id="a fence never closed"),
        pytest.param("> ```\n> [a](b.md)\n> ```", id="a fence in a quotation"),
        pytest.param("- ```\n  [a](b.md)\n  ```", id="a fence in a list"),
        pytest.param("<!-- [a](b.md) -->", id="comment"),
        pytest.param("<!--\n[a](b.md)\n\n[a](b.md)\n-->", id="comment over lines"),
        pytest.param("<div>\n[a](b.md)\n</div>", id="HTML block"),
        pytest.param('<a href="b.md">a</a>', id="HTML anchor"),
        pytest.param("https://example.org/b.md", id="bare address"),
        pytest.param("a <b.md>", id="angle brackets without a scheme"),
        pytest.param("[^1]: [x\n\n", id="unfinished"),
    ],
)
def test_no_link(body: str) -> None:
    assert links(body) == []


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("```\nx\n```\n[a](b.md)", id="behind a fence"),
        pytest.param("```` \n```\n````\n[a](b.md)", id="behind a fence of four"),
        pytest.param("```x``` [a](b.md)", id="backticks within a line are no fence"),
        pytest.param("` [a](b.md)", id="a lone backtick"),
        pytest.param("> ```\n> x\n\n[a](b.md)", id="the quotation ends the fence"),
    ],
)
def test_a_link_near_code(body: str) -> None:
    assert targets(body) == ["b.md"]


def test_links_come_in_document_order_with_their_lines() -> None:
    body = "# Orders\n\nFrom [a](a.md) and [b][], twice [a](a.md).\n\n- <https://e.org>\n\n[b]: b.md\n"
    assert links(body) == [
        ("link", "a.md", "a", 3),
        ("reference", "b.md", "b", 3),
        ("link", "a.md", "a", 3),
        ("autolink", "https://e.org", "https://e.org", 5),
    ]


def test_an_outer_link_wins_over_an_image_but_not_over_a_link() -> None:
    assert targets("[x [y](in.md) z](out.md)") == ["in.md"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param("It is so.[^a]\n\n[^a]: The source.\n", [("a", True, True, 1)], id="reference and definition"),
        pytest.param("It is so.[^a]\n", [("a", False, True, 1)], id="reference alone"),
        pytest.param("text\n\n[^a]: The source.\n", [("a", True, False, 3)], id="definition alone"),
        pytest.param("x[^b] y[^a]\n\n[^a]: A\n[^b]: B\n", [("b", True, True, 1), ("a", True, True, 1)], id="order"),
        pytest.param("x[^a]\ny[^a]\n\n[^a]: A\n", [("a", True, True, 1)], id="referenced twice"),
        pytest.param("`x[^a]`\n", [], id="in code"),
        pytest.param("```\nx[^a]\n```\n", [], id="in a fence"),
        pytest.param("a\n\n    x[^a]\n\ny[^b]\n", [("b", False, True, 5)], id="in indented code"),
        pytest.param("x\\[^a]\n", [], id="escaped"),
        pytest.param("x[^é漢]\n\n[^é漢]: A\n", [("é漢", True, True, 1)], id="another script"),
        pytest.param("[^a]: see [^b]\n\n[^b]: B\n", [("a", True, False, 1), ("b", True, True, 1)], id="in a definition"),
        pytest.param("x[^a b]\n", [], id="a blank in the label"),
    ],
)
def test_footnotes(body: str, expected: list[tuple[str, bool, bool, int]]) -> None:
    assert [tuple(note) for note in markdown.read(body).footnotes] == expected


def test_links_in_footnotes_count() -> None:
    assert links("x[^a]\n\n[^a]: see [b](b.md)\n") == [("link", "b.md", "b", 3)]


@pytest.mark.parametrize(
    "body",
    [
        "",
        "no brackets at all",
        "[a](b.md) and [c](d.md)\n\nx[^1]\n\n[^1]: note\n",
        "[two\nlines](b.md)",
        "[a](b.md)\n[two\n\tlines](c.md)\n[d](e.md)",
        "[](a.md)[](a.md)",
        "[\n]()",
        "[a](b.md)`[a](b.md)`",
        "`[a](b.md)`[a](b.md)",
        "[a](&amp;.md)",
        "[[a](b.md)](c.md)",
        "[^1][^1]: x",
        "*[a](b.md)*[a*](b.md)",
    ],
)
def test_the_short_way_reads_what_the_long_way_reads(body: str) -> None:
    assert markdown.read(body) == markdown.read_events(body)


@settings(max_examples=2000)
@given(BODIES)
@example("[one\ntwo](three.md)")
def test_the_short_way_reads_what_the_long_way_reads_in_any_text(body: str) -> None:
    assert markdown.read(body) == markdown.read_events(body)


@settings(max_examples=1000)
@given(st.text(max_size=60))
def test_any_text_can_be_read(body: str) -> None:
    found = markdown.read(body)
    last = body.count("\n") + 1
    assert all(1 <= link.line <= last for link in found.links)
    assert all(1 <= note.line <= last for note in found.footnotes)
    markdown.sections(body)


def test_most_bodies_go_the_short_way() -> None:
    body = "# Orders\n\nSee [a](a.md), [b\nc](b.md) and `code`.[^1]\n\n- **x**: [d](/d.md)\n\n[^1]: S\n"
    assert markdown.is_simple(body)
    assert markdown.read_html(body) == markdown.read_events(body)


def test_sections_end_at_the_next_heading_of_their_rank() -> None:
    body = "# One\n\n## Two `x`\n\ntext\n\nThree\n=====\n\n#### Four ####"
    heads, _ = markdown.sections(body)
    assert [tuple(head) for head in heads] == [
        (1, "One", 1, 7),
        (2, "Two x", 3, 7),
        (1, "Three", 7, 11),
        (4, "Four", 10, 11),
    ]


def test_headings_in_code_are_none() -> None:
    assert markdown.sections("```\n# x\n```\n    # y\n")[0] == []


def test_code_blocks_have_lines_info_and_code() -> None:
    body = "a\n\n```sql params\nselect 1;\nselect 2;\n```\n\n    indented\n"
    _, blocks = markdown.sections(body)
    assert [(start, info, code) for start, _, info, code in blocks] == [
        (3, "sql params", "select 1;\nselect 2;\n"),
        (8, "", "indented\n"),
    ]
    assert blocks[0][1] > 5
