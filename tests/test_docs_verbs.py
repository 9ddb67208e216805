"""docs/verbs.md: every verb is shown at work, and what is shown is what happens."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import time

from okf_catalog.cli.app import MODULES
from tests.conftest import ROOT, process
from tests.test_readme import BLOCK, PAGES, sessions

PAGE = "docs/verbs.md"
UNTIL_STOPPED = {"server", "mcp"}
"""They run until somebody stops them; tests/test_site.py and tests/test_mcp.py start them."""


def test_each_verb_is_shown():
    shown = {command.split()[1] for page in (PAGE, *PAGES) for command, _ in sessions(page)}
    assert set(MODULES) - UNTIL_STOPPED <= shown
    text = (ROOT / PAGE).read_text()
    assert all(f"`{verb}`" in text for verb in MODULES)


def test_the_turn(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    time.sleep(2.1)  # files as young as these count as unsettled, which `bundles` would show
    told = iter(sessions(PAGE))
    for line in "\n".join(BLOCK.findall((ROOT / PAGE).read_text())).splitlines():
        if not line.startswith("$ "):
            continue
        words = shlex.split(line[2:])
        if words[0] != "okf-catalog":
            assert words[0] in ("sed", "mv")
            subprocess.run(words, check=True)
            continue
        _, shown = next(told)
        done = process(*words[1:])
        assert done.returncode == 0, (line, done.stderr)
        actual = (done.stderr + done.stdout).rstrip("\n").split("\n")
        at = 0
        for expected in shown:
            if expected.strip() != "…":
                assert expected in actual[at:], (line, expected, actual)
                at = actual.index(expected, at) + 1
        if "…" not in shown:
            assert actual == shown, line
