"""`validate` and `lint` in CI: thresholds, SARIF, GitHub annotations, exit codes."""

from __future__ import annotations

import json

import pytest
import yaml

from tests.conftest import ROOT

FILES = {
    "good.md": '---\ntype: T\ntitle: t\ndescription: d\nverified: {by: "human:a"}\n---\n',
    "stale.md": "---\ntype: T\ntitle: t\ndescription: d\nstale_after: 2026-01-01\n---\n[x](gone.md)\n",
    "a, b: 100%.md": "---\ntitle: t\ndescription: d\n---\n",
    "broken.md": "no fence",
}


@pytest.fixture
def root(bundle, monkeypatch):
    """A bundle with faults, below the working directory."""
    root = bundle(FILES, "docs")
    monkeypatch.chdir(root.parent)
    return root


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["--max-stale", "1"], 0), (["--max-stale", "0"], 1), (["--max-stale", "33%"], 1), (["--max-stale", "34%"], 0),
        (["--max-errors", "2"], 0), (["--max-errors", "1"], 1),
        (["--min-reviewed", "33%"], 0), (["--min-reviewed", "33.4%"], 1), (["--min-reviewed", "0%"], 0),
        (["--max-stale", "1", "--max-errors", "1"], 1),
    ],
)  # fmt: skip
def test_thresholds(arguments, status, root, run_cli):
    for form in ([], ["--json"], ["--format", "sarif"], ["--format", "github"], ["--format", "csv"]):
        assert run_cli("lint", "docs", "--today", "2026-06-01", *arguments, *form)[0] == status


def test_thresholds_are_told(root, run_cli):
    arguments = ["lint", "docs", "--today", "2026-06-01", "--max-stale", "20%", "--min-reviewed", "30%", "--only", ""]
    assert run_cli(*arguments)[1].splitlines()[-2:] == [
        "  ✗ 1 of 3 concept(s) are stale, more than --max-stale 20%",
        "  ✓ 1 of 3 concept(s) are human-reviewed, within --min-reviewed 30%",
    ]
    assert json.loads(run_cli(*arguments, "--json")[1])["thresholds"] == [
        {"name": "max-stale", "limit": "20%", "value": 1, "crossed": True},
        {"name": "min-reviewed", "limit": "30%", "value": 1, "crossed": False},
    ]
    assert run_cli(*arguments, "--format", "github")[1] == (
        "::error title=max-stale::1 of 3 concept(s) are stale, more than --max-stale 20%25\n"
    )


def test_validate_may_tolerate_a_number_of_errors(root, run_cli):
    assert run_cli("validate", "docs")[0] == 1
    assert run_cli("validate", "docs", "--max-errors", "2")[0] == 0
    assert run_cli("validate", "docs", "--max-errors", "1")[0] == 1
    document = json.loads(run_cli("validate", "docs", "--max-errors", "2", "--json")[1])
    assert (document["conformant"], document["thresholds"][0]["value"]) == (False, 2)


def test_github_annotations(root, run_cli):
    status, out, err = run_cli("validate", "docs", "--format", "github")
    assert (status, err) == (1, "")
    lines = out.splitlines()
    assert lines[0].startswith("::error file=docs/a%2C b%3A 100%25.md,line=1,title=type_required::")
    assert lines[1].startswith("::error file=docs/broken.md,line=1,title=no_frontmatter::")
    assert lines[2].startswith("::warning file=docs/stale.md,line=7,title=broken_link::")
    assert len(lines) == 3
    out = run_cli("lint", "docs", "--only", "missing_concept", "--format", "github")[1]
    assert out.startswith("::notice file=docs/stale.md,line=7,title=missing_concept::")


def test_sarif(root, run_cli):
    for verb in ("validate", "lint"):
        log = json.loads(run_cli(verb, "docs", "--format", "sarif")[1])
        assert log["version"] == "2.1.0"
        (run,) = log["runs"]
        rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
        assert all(rule["shortDescription"]["text"] for rule in run["tool"]["driver"]["rules"])
        for result in run["results"]:
            assert rules[result["ruleIndex"]] == result["ruleId"]
            assert result["level"] in ("error", "warning", "note")
            assert result["message"]["text"]
            (location,) = result["locations"]
            assert location["physicalLocation"]["artifactLocation"]["uri"].startswith("docs/")
    results = json.loads(run_cli("validate", "docs", "--format", "sarif")[1])["runs"][0]["results"]
    place = results[0]["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "docs/a%2C%20b%3A%20100%25.md"}, "region": {"startLine": 1}}


def test_a_bundle_elsewhere_has_absolute_places(root, run_cli, monkeypatch, tmp_path):
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    assert f"file={root}/broken.md," in run_cli("validate", root, "--format", "github")[1]
    results = json.loads(run_cli("validate", root, "--format", "sarif")[1])["runs"][0]["results"]
    uris = [result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in results]
    assert f"file://{root}/broken.md" in uris


@pytest.mark.parametrize("form", ["ndjson", "csv", "tsv", "markdown", "table"])
def test_listings(form, root, run_cli):
    status, out, _ = run_cli("validate", "docs", "--format", form)
    assert status == 1
    assert "broken_link" in out


def test_format_json_adds_lines(root, run_cli):
    plain = json.loads(run_cli("validate", "docs", "--json")[1])
    more = json.loads(run_cli("validate", "docs", "--format", "json")[1])
    assert [list(item) for item in plain["errors"]] == [["path", "message"]] * 2
    assert [(item["check"], item["line"]) for item in more["errors"]] == [("type_required", 1), ("no_frontmatter", 1)]
    assert more["warnings"][0]["line"] == 7


def test_the_hooks_for_pre_commit():
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert [hook["id"] for hook in hooks] == ["okf-validate", "okf-lint"]
    for hook in hooks:
        assert hook["language"] == "python"
        assert hook["entry"].split()[0] == "okf-catalog"
        assert hook["pass_filenames"] is False
        assert hook["types"] == ["markdown"]
