"""docs/extending.md: the package it shows, installed as it stands there, does what it says."""

from __future__ import annotations

import json
import re

import pytest

from tests.conftest import ROOT, process

PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")


def block(language):
    found = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert len(found) == 1
    return found[0]


@pytest.fixture
def house(tmp_path, monkeypatch):
    """The module and the entry point of the page, as pip would lay them down."""
    points = re.search(r'\[project\.entry-points\.okf_catalog\]\n(\w+) = "(\w+)"', block("toml"))
    dist = tmp_path / "okf_house-1.dist-info"
    dist.mkdir()
    (dist / "METADATA").write_text("Metadata-Version: 2.1\nName: okf-house\nVersion: 1\n")
    (dist / "entry_points.txt").write_text(f"[okf_catalog]\n{points[1]} = {points[2]}\n")
    (tmp_path / f"{points[2]}.py").write_text(block("python"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.chdir(ROOT)


def test_the_engine(house):
    done = process("search", "examples/moonmoth", "--engine", "owner", "rolling-stock", "--json")
    assert done.returncode == 0, done.stderr
    ids = {row["id"] for row in json.loads(done.stdout)["matches"]}
    owned = process("find", "examples/moonmoth", "--json")
    assert ids and ids < {row["id"] for row in json.loads(owned.stdout)["concepts"]}
    assert all("owner: rolling-stock" in (ROOT / "examples" / "moonmoth" / f"{name}.md").read_text() for name in ids)


def test_the_check(house):
    done = process("lint", "examples/moonmoth", "--only", "ownerless", "--json")
    found = json.loads(done.stdout)["findings"]
    assert found and {row["message"] for row in found} == {"nobody owns it"}
    assert all("\nowner:" not in (ROOT / "examples" / "moonmoth" / row["path"]).read_text() for row in found)


def test_the_commands_of_the_page(house):
    for line in block("console").splitlines():
        done = process(*line.removeprefix("$ okf-catalog ").split())
        assert done.returncode == 0, (line, done.stderr)
