"""What the project knows about itself, in `.okf/`, is kept as it tells others to keep theirs."""

from __future__ import annotations

import json

import pytest

from tests.conftest import ROOT, process

BUNDLE = ROOT / ".okf"


@pytest.mark.parametrize("command", [["validate"], ["lint", "--fail-on", "warn"]], ids=lambda command: command[0])
def test_the_bundle_passes(command):
    done = process(command[0], BUNDLE, *command[1:])
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_its_index_leads_everywhere():
    rows = json.loads(process("index", BUNDLE, "--json").stdout)["directories"]
    assert len(rows) == 4
    assert all(row["present"] for row in rows)
    assert sum(row["count"] for row in rows) == len([path for path in BUNDLE.rglob("*.md") if path.name not in ("index.md", "log.md")])
