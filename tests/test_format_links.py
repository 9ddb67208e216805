"""Where a link target leads inside the bundle (OKF §6)."""

from __future__ import annotations

import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from okf_catalog.format import links


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a.md", "a.md"),
        ("./a.md", "a.md"),
        ("a/./b.md", "a/b.md"),
        ("a//b.md", "a/b.md"),
        ("a/../b.md", "b.md"),
        ("a/b/../../c.md", "c.md"),
        ("/a.md", "a.md"),
        ("", ""),
        ("..", None),
        ("../a.md", None),
        ("a/../../b.md", None),
        ("a/../../a/b.md", None),  # no way back in by the name of the directory
        ("...md", "...md"),
        (".../a.md", ".../a.md"),
    ],
)
def test_normalize(path: str, expected: str | None) -> None:
    assert links.normalize(path) == expected


@given(st.lists(st.sampled_from(["a", "b.md", "..", ".", ""]), max_size=8).map("/".join))
def test_normalize_agrees_with_posixpath(path: str) -> None:
    expected = posixpath.normpath("/top/" + path).removeprefix("/top").removeprefix("/")
    inside = links.normalize(path)
    if inside is not None:
        assert inside == expected
    else:
        assert ".." in path


@pytest.mark.parametrize(
    ("target", "directory", "expected"),
    [
        pytest.param("b.md", ".", "b.md", id="beside, at the root"),
        pytest.param("b.md", "tables", "tables/b.md", id="beside"),
        pytest.param("./b.md", "tables", "tables/b.md", id="dot"),
        pytest.param("../b.md", "tables", "b.md", id="up"),
        pytest.param("../metrics/b.md", "tables/raw", "tables/metrics/b.md", id="up and down"),
        pytest.param("/tables/b.md", "metrics", "tables/b.md", id="from the root"),
        pytest.param("/a/../b.md", "metrics", "b.md", id="from the root with dots"),
        pytest.param("../b.md", ".", None, id="out of the bundle"),
        pytest.param("/../b.md", "tables", None, id="out of the bundle from the root"),
        pytest.param("../../bundle/b.md", "tables", None, id="out and in again"),
        pytest.param("b.md#part", "tables", "tables/b.md", id="fragment"),
        pytest.param("b.md#a#b.md", "tables", "tables/b.md", id="two number signs"),
        pytest.param("#part", "tables", None, id="fragment alone"),
        pytest.param("b.md?raw=1", "tables", None, id="query"),
        pytest.param("b.MD", "tables", "tables/b.MD", id="capitals"),
        pytest.param("b.markdown", "tables", None, id="another extension"),
        pytest.param("", "tables", None, id="nothing"),
        pytest.param("https://example.org/b.md", "tables", None, id="scheme"),
        pytest.param("HTTPS://example.org/b.md", "tables", None, id="scheme in capitals"),
        pytest.param("x-y+z.1://example.org/b.md", "tables", None, id="odd scheme"),
        pytest.param("mailto:b.md", "tables", None, id="mailto"),
        pytest.param("MailTo:b.md", "tables", None, id="mailto in capitals"),
        pytest.param("//example.org/b.md", "tables", None, id="host without scheme"),
        pytest.param("~nobody/b.md", "tables", "tables/~nobody/b.md", id="tilde is a name"),
        pytest.param("~/b.md", ".", "~/b.md", id="tilde alone"),
        pytest.param("2026:b.md", "tables", "tables/2026:b.md", id="colon in a name"),
        pytest.param("big%20table.md", "tables", "tables/big table.md", id="escaped blank"),
        pytest.param("caf%C3%A9.md", ".", "café.md", id="escaped letter"),
        pytest.param("a%2Fb.md", ".", "a/b.md", id="escaped slash"),
        pytest.param("%2e%2e/b.md", "tables", "b.md", id="escaped dots"),
        pytest.param("%2e%2e/b.md", ".", None, id="escaped dots out of the bundle"),
        pytest.param("100%.md", ".", "100%.md", id="a per cent sign alone"),
        pytest.param("a%FF.md", ".", "a%FF.md", id="escapes that are not UTF-8"),
        pytest.param("a%00.md", ".", "a%00.md", id="an escaped NUL"),
        pytest.param("b(1).md", ".", "b(1).md", id="parentheses"),
        pytest.param("[b].md", ".", "[b].md", id="brackets"),
        pytest.param("a b.md", ".", "a b.md", id="blank"),
        pytest.param(".md", "tables", "tables/.md", id="extension alone"),
    ],
)
def test_resolve_markdown(target: str, directory: str, expected: str | None) -> None:
    assert links.resolve_markdown(target, directory) == expected


@pytest.mark.parametrize(
    ("target", "directory", "expected"),
    [
        ("queries/orders.sql", "metrics", "metrics/queries/orders.sql"),
        ("/queries/orders.sql", "metrics", "queries/orders.sql"),
        ("orders.sql#L10", ".", "orders.sql"),
        ("queries/", ".", None),
        ("/", "metrics", None),
        (".", "metrics", "metrics"),
        ("..", "metrics", None),
        ("..", "metrics/raw", "metrics"),
        ("", ".", None),
        ("bigquery://project/set/table", ".", None),
        ("https://example.org/x", ".", None),
    ],
)
def test_resolve_path_takes_any_file(target: str, directory: str, expected: str | None) -> None:
    assert links.resolve_path(target, directory) == expected


@given(st.text(max_size=30), st.sampled_from([".", "a", "a/b"]))
def test_a_resolved_path_is_plain_and_inside(target: str, directory: str) -> None:
    path = links.resolve_path(target, directory)
    if path is not None:
        assert path
        assert not path.startswith("/")
        assert not {"", ".", ".."} & set(path.split("/"))


@pytest.mark.parametrize(
    ("target", "expected"),
    [("../b.md", True), ("b.md", False), ("https://e.org/../b.md", False), ("../b.txt", False), ("/../b.md#x", True)],
)
def test_escapes(target: str, expected: bool) -> None:
    assert links.escapes(target, ".") is expected


def test_directory_of() -> None:
    assert [links.directory_of(path) for path in ("a.md", "x/a.md", "x/y/a.md")] == [".", "x", "x/y"]


@pytest.mark.parametrize(
    ("target", "directory", "expected"),
    [
        ("b.md#x", "sub", "sub/b.md"),
        ("../../b.md#x", "sub", "../../b.md"),
        ("/../b.md", "sub", "../b.md"),
        ("../../b.png", "sub", None),
        ("https://e.org/b.md", "sub", None),
    ],
)
def test_a_target_that_climbs_out_keeps_its_text(target: str, directory: str, expected: str | None) -> None:
    assert links.markdown_target(target, directory) == expected
