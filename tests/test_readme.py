"""What the README and docs/ show is what happens: the commands run, the output is compared.

A line of `…` stands for lines left out.
"""

from __future__ import annotations

import re
import shlex

import pytest

from tests.conftest import ROOT, process

BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)


PAGES = ["README.md", "docs/start.md", "docs/reading.md", "docs/agents.md", "docs/render.md"]


def sessions(page):
    """(command, shown output) of every `$ okf-catalog` line in a page, in order."""
    found = []
    for block in BLOCK.findall((ROOT / page).read_text()):
        command, shown = "", []
        for line in [*block.splitlines(), "$ "]:
            if line.startswith("$ "):
                if command.startswith("okf-catalog "):
                    found.append((command, shown))
                command, shown = line[2:], []
            else:
                shown.append(line)
    return found


@pytest.mark.parametrize("page", PAGES)
def test_the_page_shows_commands(page):
    assert len(sessions(page)) >= 4


@pytest.mark.parametrize("page", PAGES)
def test_the_session_of_the_page(monkeypatch, page):
    monkeypatch.chdir(ROOT)
    for command, shown in sessions(page):
        done = process(*shlex.split(command)[1:])
        assert done.returncode == 0, (command, done.stderr)
        # Notes stand above the answer in a terminal, too.
        actual = (done.stderr + done.stdout).rstrip("\n").split("\n")
        if not shown:
            continue
        at = 0
        for line in shown:
            if line.strip() == "…":
                continue
            assert line in actual[at:], (command, line)
            at = actual.index(line, at) + 1
        if not any(line.strip() == "…" for line in shown):
            assert actual == shown, command


@pytest.mark.parametrize("page", ["docs/meaning.md", "docs/sync.md", "docs/schema.md", "docs/performance.md", "docs/registry.md", "docs/search.md", "docs/reading.md", "docs/agents.md", "docs/python.md", "docs/render.md"])
def test_linked_pages_exist(page):
    assert (ROOT / page).is_file()
    assert page in (ROOT / "README.md").read_text()
