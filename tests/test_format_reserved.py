"""`index.md`, `log.md` and what they declare (OKF §8, §9)."""

from __future__ import annotations

import pytest

from okf_catalog.format import reserved
from okf_catalog.format.vocabulary import rules_of


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("index.md", "index"), ("a/index.md", "index"), ("log.md", "log"), ("a/b/log.md", "log"), ("INDEX.md", None),
        ("Log.md", None), ("index.MD", None), ("my-index.md", None), ("index.md/a.md", None), ("logs.md", None),
    ],
)  # fmt: skip
def test_reserved_names(path: str, kind: str | None) -> None:
    assert reserved.kind_of(path) == kind


@pytest.mark.parametrize(
    ("text", "version", "title"),
    [
        ("---\nokf_version: 0.2\n---\n", "0.2", None),
        ("---\nokf_version: '0.3'\ntitle: Sales\n---\n", "0.3", "Sales"),
        ("---\nokf_version: 0.10\n---\n", "0.10", None),
        ("---\nokf_version:\n---\n", None, None),
        ("# Contents\n", None, None),
        ("---\nokf_version: [\n---\n", None, None),
        ("---\nokf_version: 0.3\n", None, None),
        ("--- \t\nokf_version: 0.3\n---\n", "0.3", None),
        ("---\n- okf_version: 0.3\n---\n", None, None),
    ],
)
def test_what_the_root_index_declares(text: str, version: str | None, title: str | None) -> None:
    assert reserved.root_of(text) == (version, title)


@pytest.mark.parametrize(
    ("version", "rules"),
    [(None, "0.2"), ("0.1", "0.1"), ("0.2", "0.2"), ("0.3", "0.3"), ("0.4", "0.3"), ("1.0", "0.3"), ("newest", "0.3")],
)
def test_which_rules_a_version_has(version: str | None, rules: str) -> None:
    assert rules_of(version) == rules


def found(path: str, text: str, rules: str = "0.2") -> list[tuple[str, str, int | None]]:
    return [(p.level, p.check, p.line) for p in reserved.problems(path, text, rules)]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("index.md", "# Contents\n"),
        ("index.md", ""),
        ("index.md", "---\nokf_version: 0.2\n---\n# Contents\n"),
        ("index.md", "---\n---\n"),
        ("a/index.md", "# Tables\n\n---\n"),
        ("log.md", "# Log\n\n## 2026-05-01\n- x\n\n### later\n"),
        ("log.md", "---\nany: thing\n---\n## 2026-05-01  \n"),
        ("a/log.md", ""),
    ],
)
def test_clean_reserved_files(path: str, text: str) -> None:
    assert found(path, text) == []


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        pytest.param("a/index.md", "---\ntitle: x\n---\n", [("error", "index_frontmatter", 1)], id="below the root"),
        pytest.param("a/index.md", "---\n\ntext\n", [("error", "index_frontmatter", 1)], id="a rule on the first line"),
        pytest.param("index.md", "---\nokf_version: 0.2\nowner: x\n---\n", [("error", "index_frontmatter", 3)],
                     id="another key"),
        pytest.param("index.md", "---\na: b: c\n---\n", [("error", "index_frontmatter", 2)], id="no YAML"),
        pytest.param("index.md", "---\na: b\n", [("error", "index_frontmatter", 1)], id="never closed"),
        pytest.param("index.md", "---\n- a\n---\n", [("error", "index_frontmatter", 2)], id="a list"),
        pytest.param("index.md", "---\nokf_version: 9.9\n---\n", [("warning", "okf_version_unknown", 2)], id="version"),
        pytest.param("log.md", "## May 2026\n", [("error", "log_date", 1)], id="a month"),
        pytest.param("log.md", "## 2026-02-30\n", [("error", "log_date", 1)], id="no such day"),
        pytest.param("log.md", "## 2026-5-1\n", [("error", "log_date", 1)], id="short numbers"),
        pytest.param("log.md", "x\n## 2026-05-01 release\n## 2026-05-02\n##\u00a02026-05-03\n## \n",
                     [("error", "log_date", 2), ("error", "log_date", 5)], id="several, with their lines"),
    ],
)  # fmt: skip
def test_flaws_of_reserved_files(path: str, text: str, expected: list[tuple[str, str, int | None]]) -> None:
    assert found(path, text) == expected


def test_0_3_allows_more_keys_in_the_root_index() -> None:
    text = "---\nokf_version: 0.3\ntitle: a\ndescription: b\nlicense: c\n---\n"
    assert found("index.md", text, "0.3") == []
    assert found("index.md", text, "0.2") == [("error", "index_frontmatter", 3)]
    assert found("index.md", text.replace("license", "owner"), "0.3") == [("error", "index_frontmatter", 5)]


@pytest.mark.parametrize(
    ("text", "body", "line"),
    [
        ("# A\n", "# A\n", 1),
        ("---\nokf_version: 0.2\n---\n\n# A\n", "# A\n", 5),
        ("---\nnever closed\n", "---\nnever closed\n", 1),
    ],
)
def test_the_text_behind_the_frontmatter(text: str, body: str, line: int) -> None:
    assert reserved.body_of(text) == (body, line)
