"""docs/commands.md is what the commands say of themselves (`make docs-check`)."""

from __future__ import annotations

import subprocess
import sys

import pytest

from okf_catalog.cli.app import MODULES
from tests.conftest import ROOT, process

PAGE = ROOT / "docs" / "commands.md"
SCRIPT = ROOT / "docs" / "commands.py"


def check() -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(SCRIPT), "--check"], capture_output=True, text=True, encoding="utf-8", check=False)


def test_the_page_is_up_to_date():
    done = check()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), "python docs/commands.py writes it"


@pytest.mark.parametrize("columns", ["40", "200"])
def test_it_is_the_same_in_every_terminal(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    assert check().returncode == 0


def test_a_difference_is_told(tmp_path):
    """In a copy, so that no page of the repository is touched."""
    (tmp_path / "commands.py").write_text(SCRIPT.read_text())
    (tmp_path / "commands.md").write_text(PAGE.read_text().replace("## okf-catalog\n", "## okf\n", 1))
    done = subprocess.run([sys.executable, str(tmp_path / "commands.py"), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "-## okf\n" in done.stdout
    assert "+## okf-catalog\n" in done.stdout


def test_every_verb_has_its_section():
    text = PAGE.read_text()
    assert [verb for verb in MODULES if f"\n### okf-catalog {verb}\n" not in text] == []


@pytest.mark.parametrize("words", [["find"], ["registry", "set"], []])
def test_it_shows_what_a_terminal_shows(monkeypatch, words):
    monkeypatch.setenv("COLUMNS", "80")
    shown = process(*words, "--help").stdout
    assert "\n".join(line.rstrip() for line in shown.strip().splitlines()) in PAGE.read_text()


@pytest.mark.parametrize("verb", MODULES)
def test_the_readme_knows_every_verb(verb):
    assert f"`{verb}" in (ROOT / "README.md").read_text()
