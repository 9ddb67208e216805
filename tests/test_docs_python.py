"""docs/python.md: every block runs, and prints what stands below it."""

from __future__ import annotations

import contextlib
import io
import re

import pytest

from tests.conftest import ROOT

PAGE = ROOT / "docs" / "python.md"
BLOCK = re.compile(r"```python\n(?P<code>.*?)```\n(?:\n```text\n(?P<shown>.*?)```)?", re.DOTALL)


def runs(monkeypatch):
    """(code, what it prints, what the page says it prints) of every block, in one namespace."""
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {}
    for found in BLOCK.finditer(PAGE.read_text()):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(found["code"], str(PAGE), "exec"), names)
        yield found["code"], out.getvalue(), found["shown"]
    for name in ("connection", "guarded"):
        names[name].close()


def test_the_blocks_print_what_is_shown(monkeypatch):
    count = 0
    for code, printed, shown in runs(monkeypatch):
        assert printed == (shown or ""), code
        count += 1
    assert count >= 8


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_links_of_the_page_lead_somewhere(page):
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", prose):
        assert (page.parent / target).exists(), target
