"""`okf-catalog skill`: where the agent skill goes, and that what it teaches works."""

from __future__ import annotations

import re
import shlex

import pytest
import yaml

from okf_catalog import agent_skill
from tests.conftest import process

FILES = agent_skill.files()
COMMANDS = [
    pytest.param(line[2:], id=f"{name}: {line[2:]}")
    for name, content in FILES.items()
    for block in re.findall(r"```console\n(.*?)```", content.decode(), re.DOTALL)
    for line in block.splitlines() if line.startswith("$ ")
]  # fmt: skip


@pytest.mark.parametrize(
    ("destination", "options", "expected"),
    [
        pytest.param("project", [], "project/skills/okf-catalog", id="a project"),
        pytest.param("agent/skills", [], "agent/skills/okf-catalog", id="a directory of skills"),
        pytest.param("agent/skills/", [], "agent/skills/okf-catalog", id="with a slash"),
        pytest.param("x/okf-catalog", [], "x/okf-catalog", id="the directory of the skill"),
        pytest.param("anywhere", ["--here"], "anywhere", id="here"),
    ],
)
def test_where_it_goes(tmp_path, run_cli, destination, options, expected):
    status, out, err = run_cli("skill", f"{tmp_path}/{destination}", *options)
    assert (status, err) == (0, "")
    assert out.startswith("installed the okf-catalog skill")
    installed = {path.relative_to(tmp_path / expected).as_posix(): path.read_bytes() for path in (tmp_path / expected).rglob("*.md")}
    assert installed == FILES
    written = {path for path in tmp_path.rglob("*") if path.is_file() and "home" not in path.parts}
    assert written == {tmp_path / expected / name for name in FILES}


def test_it_does_not_write_over_anything(tmp_path, run_cli):
    target = tmp_path / "skills" / "okf-catalog"
    target.mkdir(parents=True)
    (target / "mine.md").write_text("mine")
    status, out, err = run_cli("skill", tmp_path)
    assert (status, out) == (2, "")
    assert "not empty" in err
    assert [path.name for path in target.iterdir()] == ["mine.md"]
    assert run_cli("skill", tmp_path, "--force")[0] == 0
    assert (target / "mine.md").read_text() == "mine"
    assert (target / "SKILL.md").read_bytes() == FILES["SKILL.md"]


def test_two_skills_for_one_job_are_refused(tmp_path, run_cli):
    (tmp_path / "skills" / "okf").mkdir(parents=True)
    assert run_cli("skill", tmp_path)[0] == 0, "an empty directory is none"
    (tmp_path / "skills" / "okf" / "SKILL.md").write_text("x")
    (tmp_path / "b" / "skills" / "okf").mkdir(parents=True)
    (tmp_path / "b" / "skills" / "okf" / "SKILL.md").write_text("x")
    status, _, err = run_cli("skill", tmp_path / "b")
    assert status == 2
    assert "two for one job" in err
    assert run_cli("skill", tmp_path / "b", "--force")[0] == 0


def test_a_file_in_the_way(tmp_path, run_cli):
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "okf-catalog").write_text("x")
    status, _, err = run_cli("skill", tmp_path)
    assert status == 2
    assert "is not a directory" in err
    (tmp_path / "file").write_text("x")
    status, _, err = run_cli("skill", tmp_path / "file")
    assert status == 2
    assert "Traceback" not in err


def test_the_page_is_a_skill():
    text = FILES["SKILL.md"].decode()
    matter = yaml.safe_load(text.split("---\n")[1])
    assert matter["name"] == agent_skill.NAME
    assert len(matter["description"]) < 1024
    assert len(text.splitlines()) < 500
    linked = set(re.findall(r"\]\((references/[^)]+)\)", text))
    assert linked == set(FILES) - {"SKILL.md"}


METRIC = """\
---
type: Metric
title: Revenue
description: Money in, net of refunds.
tags: [finance]
status: deprecated
stale_after: 2026-01-01
verified: {by: human:ada, at: 2025-06-01}
sources:
- {resource: /sources/ledger.md, title: The ledger}
---

Net revenue as the [ledger](/sources/ledger.md) has it.
"""


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_of_the_pages_runs(bundle, monkeypatch, command):
    root = bundle({"metrics/revenue.md": METRIC, "sources/ledger.md": "---\ntype: Source\ntitle: Ledger\n---\n"})
    monkeypatch.chdir(root)
    monkeypatch.setenv("OKF_DEFAULT_BUNDLE_DIR", str(root))
    assert process("sync", root).returncode == 0
    arguments = shlex.split(command)
    assert arguments[0] == "okf-catalog"
    done = process(*arguments[1:])
    # validate and lint may judge with 1; every question has an answer.
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_the_request_of_the_page_gives_the_filters_of_the_page(bundle, monkeypatch):
    root = bundle({"metrics/revenue.md": METRIC})
    monkeypatch.setenv("OKF_DEFAULT_BUNDLE_DIR", str(root))
    done = process("find", "--ask", "stale deprecated metrics tagged finance", "--as-of", "2026-02-01")
    assert "--type Metric --status deprecated --stale-only --tags finance" in done.stderr
    assert "metrics/revenue.md" in done.stdout
