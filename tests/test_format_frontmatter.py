"""Fences, decoding and the shape of the frontmatter (OKF §4)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from okf_catalog.format.frontmatter import MAX_FRONTMATTER, Document, decode, parse, parse_text, split
from okf_catalog.format.problem import FAILURE_CODES, Failure


def document(data: bytes | str) -> Document:
    found = parse(data.encode() if isinstance(data, str) else data)
    assert isinstance(found, Document), found
    return found


def failure(data: bytes | str) -> Failure:
    found = parse(data.encode() if isinstance(data, str) else data)
    assert isinstance(found, Failure), found
    return found


@pytest.mark.parametrize(
    ("data", "body", "body_line"),
    [
        pytest.param("---\ntype: T\n---\n\ntext\n", "text\n", 5, id="plain"),
        pytest.param("---\ntype: T\n---\ntext\n", "text\n", 4, id="no blank line before the body"),
        pytest.param("---\ntype: T\n---\n\n\ntext", "\ntext", 5, id="only one leading line feed goes"),
        pytest.param("---\ntype: T\n---", "", 3, id="ends right behind the fence"),
        pytest.param("---\ntype: T\n---\n", "", 4, id="ends with the fence's line feed"),
        pytest.param("---\r\ntype: T\r\n---\r\n\r\none\r\ntwo\r\n", "one\ntwo\n", 5, id="CRLF"),
        pytest.param("\ufeff---\ntype: T\n---\ntext", "text", 4, id="byte-order mark"),
        pytest.param("\ufeff---\r\ntype: T\r\n---\r\ntext", "text", 4, id="byte-order mark and CRLF"),
        pytest.param("--- \t \ntype: T\n---\t \ntext", "text", 4, id="blanks behind both fences"),
        pytest.param("---\ntype: T\nx: |\n  ---\n  a\n---\ntext", "text", 7, id="an indented fence is YAML text"),
        pytest.param("---\ntype: T\n---\none\n---\ntwo\n---\n", "one\n---\ntwo\n---\n", 4, id="later fences are body"),
        pytest.param("---\ntype: T\n...\n---\ntext", "text", 5, id="three dots end the YAML, not the block"),
    ],
)  # fmt: skip
def test_fences(data: str, body: str, body_line: int) -> None:
    found = document(data)
    assert found.frontmatter == {"type": "T"} or "x" in found.frontmatter
    assert (found.body, found.body_line) == (body, body_line)


@pytest.mark.parametrize("data", ["---\n---\n", "---\n\n---\n", "---\n# a remark\n---\n", "---\n~\n---\n", "---\n---"])
def test_an_empty_block_is_an_empty_mapping(data: str) -> None:
    assert document(data).frontmatter == {}


@pytest.mark.parametrize(
    ("data", "code", "line", "column", "excerpt", "advice"),
    [
        pytest.param("", "no_frontmatter", 1, 1, "", "begin it with", id="empty"),
        pytest.param(" \n\t\n", "no_frontmatter", 1, 1, "", "begin it with", id="blank"),
        pytest.param("# Orders\n", "no_frontmatter", 1, 1, "# Orders", ".okfignore", id="plain markdown"),
        pytest.param("\n---\ntype: T\n---\n", "no_frontmatter", 1, 1, "", "very first line", id="blank first line"),
        pytest.param(" ---\ntype: T\n---\n", "no_frontmatter", 1, 1, " ---", "begin the file", id="indented fence"),
        pytest.param("----\ntype: T\n----\n", "no_frontmatter", 1, 1, "----", "three dashes", id="four dashes"),
        pytest.param("--\ntype: T\n--\n", "no_frontmatter", 1, 1, "--", "begin the file", id="two dashes"),
        pytest.param("--- yaml\ntype: T\n---\n", "no_frontmatter", 1, 1, "--- yaml", "begin the file", id="words"),
        pytest.param("\u2014\u2014\u2014\ntype: T\n", "no_frontmatter", 1, 1, "\u2014\u2014\u2014", "begin", id="em dashes"),
        pytest.param("+++\ntype = 'T'\n+++\n", "no_frontmatter", 1, 1, "+++", "TOML", id="TOML"),
        pytest.param('{\n"type": "T"\n}\n', "no_frontmatter", 1, 1, "{", "begin the file", id="JSON"),
        pytest.param("---", "unclosed_frontmatter", 1, 1, "---", "exactly `---`", id="one fence alone"),
        pytest.param("---\n", "unclosed_frontmatter", 1, 1, "---", "exactly `---`", id="one fence line alone"),
        pytest.param("---\ntype: T\n\nbody\n", "unclosed_frontmatter", 1, 1, "---", "exactly `---`", id="never closed"),
        pytest.param("---\ntype: T\n----\n", "unclosed_frontmatter", 1, 1, "---", "exactly `---`", id="closed by four"),
        pytest.param("---\ntype: T\n--- #\n", "unclosed_frontmatter", 1, 1, "---", "exactly", id="closed with a remark"),
        pytest.param("---\ntype: T\n...\nbody\n", "unclosed_frontmatter", 1, 1, "---", "`...` does not", id="dots"),
        pytest.param("---\ntype: T\n\u00a0---\n", "unclosed_frontmatter", 1, 1, "---", "exactly", id="no-break space"),
    ],
)  # fmt: skip
def test_missing_fences(data: str, code: str, line: int, column: int, excerpt: str, advice: str) -> None:
    found = failure(data)
    assert (found.code, found.line, found.column, found.excerpt) == (code, line, column, excerpt)
    assert advice in found.advice


def test_a_long_line_is_quoted_in_part() -> None:
    excerpt = failure("x" * 500).excerpt
    assert excerpt == "x" * 119 + "…"


@pytest.mark.parametrize(
    ("data", "offset", "line", "column", "excerpt", "advice"),
    [
        (b"---\ntype: caf\xe9\n---\n", 13, 2, 10, "type: caf\ufffd", "Windows-1252"),
        (b"\xff", 0, 1, 1, "\ufffd", "Latin-1"),
        ("---\nt: \u00e9\u00e9".encode() + b"\x80\n", 11, 2, 6, "t: éé\ufffd", "UTF-8"),
        (b"---\nt: \xe2\x82", 7, 2, 4, "t: \ufffd", "UTF-8"),  # cut off inside a character
        (b"a\xc0\xaf", 1, 1, 2, "a\ufffd\ufffd", "UTF-8"),  # an overlong form
        (b"a\xed\xa0\x80", 1, 1, 2, "a\ufffd\ufffd\ufffd", "UTF-8"),  # half of a surrogate pair
    ],
)
def test_bytes_that_are_not_utf8(
    data: bytes, offset: int, line: int, column: int, excerpt: str, advice: str
) -> None:
    found = failure(data)
    assert found.code == "not_utf8"
    assert f"offset {offset}" in found.message
    assert f"0x{data[offset]:02X}" in found.message
    assert (found.line, found.column, found.excerpt) == (line, column, excerpt)
    assert advice in found.advice


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf16_with_a_mark_is_named(encoding: str) -> None:
    mark = {"utf-16": b"", "utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}[encoding]
    found = failure(mark + "---\ntype: T\n---\n".encode(encoding))
    assert found.code == "not_utf8"
    assert "UTF-16" in found.advice


def test_utf16_without_a_mark_has_no_fence() -> None:
    assert failure("---\ntype: T\n---\n".encode("utf-16-le")).code == "no_frontmatter"


def test_nul_becomes_the_replacement_character() -> None:
    found = document(b"---\ntype: a\0b\n---\nc\0d")
    assert found.frontmatter == {"type": "a\ufffdb"}
    assert found.body == "c\ufffdd"


def test_a_lone_carriage_return_in_the_body_stays() -> None:
    assert document("---\na: b\n---\none\rtwo").body == "one\rtwo"


def test_only_the_first_mark_is_dropped() -> None:
    assert decode("\ufeff\ufeffa".encode()) == "\ufeffa"


@pytest.mark.parametrize(
    ("block", "kind"), [("- a\n- b\n", "a list"), ("[]\n", "a list"), ("text\n", "a single value"), ("7\n", "a single value")]
)
def test_frontmatter_has_to_be_a_mapping(block: str, kind: str) -> None:
    found = failure(f"---\n{block}---\n")
    assert (found.code, found.line, found.column) == ("not_a_mapping", 2, 1)
    assert kind in found.message
    assert found.excerpt == block.split("\n", 1)[0]


@pytest.mark.parametrize(
    ("block", "line", "column", "excerpt", "advice"),
    [
        ("type: T\ntitle: a: b\n", 3, 9, "title: a: b", 'contains ": "'),
        ("type: T\n\ttitle: x\n", 3, 1, "\ttitle: x", "tabs"),
        ("type: T\ntitle: @x\n", 3, 8, "title: @x", "`@`"),
        ("type: T\ntitle: `x`\n", 3, 8, "title: `x`", "backtick"),
        ("type: T\ntitle: %x\n", 3, 8, "title: %x", "`%`"),
        ("type: T\ntitle: *x\n", 3, 8, "title: *x", "`*`"),
        ("type: !!python/object:os.system x\n", 2, 7, "type: !!python/object:os.system x", "`!`"),
        ("type: T\ntags: [a, b\n", None, None, None, "bracket"),
        ("type: T\ntitle: \"open\n", None, None, None, ""),
        ("type: T\ntitle: {{ x }}\n", None, None, None, ""),
    ],
)
def test_where_the_yaml_is_wrong(
    block: str, line: int | None, column: int | None, excerpt: str | None, advice: str
) -> None:
    found = failure(f"---\n{block}---\nbody\n")
    assert found.code == "invalid_yaml"
    assert advice in found.advice
    if line is not None:
        assert (found.line, found.column, found.excerpt) == (line, column, excerpt)
    else:
        # libyaml notices these only at the end of the block; the line named is one of it.
        assert found.line is not None
        assert 2 <= found.line <= 1 + block.count("\n")


def test_key_lines_count_from_the_top_of_the_file() -> None:
    found = document("---\n# remark\ntype: T\n\ntags:\n  - a\ntitle: x\n---\n")
    assert found.key_lines == {"type": 3, "tags": 5, "title": 7}


def test_a_duplicate_key_is_reported_with_its_line() -> None:
    found = document("---\ntype: A\ntitle: x\ntype: B\n---\n")
    assert found.frontmatter["type"] == "B"
    assert [(p.level, p.check, p.line) for p in found.problems] == [("warning", "duplicate_key", 4)]


def test_more_than_a_mebibyte_between_the_fences_is_refused() -> None:
    fits = "---\nx: " + "a" * (MAX_FRONTMATTER - 4) + "\n---\n"
    assert len(document(fits).frontmatter["x"]) == MAX_FRONTMATTER - 4
    found = failure(fits.replace("\n---\n", "a\n---\n"))
    assert found.code == "too_large"
    assert "body" in found.advice


def test_a_large_body_is_no_matter() -> None:
    assert len(document("---\na: b\n---\n" + "x" * (MAX_FRONTMATTER + 10)).body) == MAX_FRONTMATTER + 10


@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda text: ("---\n" + text + "\n---\n").encode("utf-8", "replace")))
def test_any_bytes_give_a_document_or_a_failure_with_a_way_out(data: bytes) -> None:
    found = parse(data)
    if isinstance(found, Failure):
        assert found.code in FAILURE_CODES
        assert found.message
        assert found.advice
        assert found.line is None or found.line >= 1
        assert found.column is None or found.column >= 1
    else:
        assert all(isinstance(key, str) for key in found.frontmatter)


@given(st.text(alphabet="-. \tab:\n", max_size=40))
def test_a_split_loses_nothing(text: str) -> None:
    parts = split(text)
    if isinstance(parts, Failure):
        assert isinstance(parse_text(text), Failure)
        return
    lines = text.split("\n")
    closing = next(n for n, line in enumerate(lines) if n and line.rstrip(" \t") == "---")
    assert parts.yaml == "".join(line + "\n" for line in lines[1:closing])
    rest = "\n".join(lines[closing + 1 :])
    assert parts.body == (rest[1:] if rest.startswith("\n") else rest)
    assert "\n".join(lines[parts.body_line - 1 :]) == parts.body or not parts.body
