"""`validate`: the three conditions, the warnings, and what it tells about them."""

from __future__ import annotations

import json

import pytest

CLEAN = "---\ntype: T\ntitle: t\ndescription: d\n---\n"


def verdict(run_cli, root):
    status, out, _ = run_cli("validate", root, "--format", "json")
    document = json.loads(out)
    assert status == (0 if document["conformant"] else 1)
    return document


@pytest.mark.parametrize(
    ("path", "text", "check"),
    [
        ("a.md", "---\ntitle: t\n---\n", "type_required"),
        ("a.md", "---\ntype: [\n---\n", "invalid_yaml"),
        ("a.md", b"---\ntype: \xff\n---\n", "not_utf8"),
        ("sub/index.md", "---\nokf_version: '0.2'\n---\n", "index_frontmatter"),
        ("index.md", "---\ntitle: t\n---\n", "index_frontmatter"),
        ("log.md", "## 2026-02-30\n", "log_date"),
        ("index.md", b"\xff", "not_utf8"),
    ],
)
def test_a_hard_condition_fails(path, text, check, bundle, run_cli):
    document = verdict(run_cli, bundle({"ok.md": CLEAN, path: text}))
    assert [(item["path"], item["check"]) for item in document["errors"]] == [(path, check)]


@pytest.mark.parametrize("line", [
    "tags: x", "timestamp: soon", "generated: x", "verified: x", "sources: x", "usage_window: x", "status: odd",
    "stale_after: 2026-01-01T00:00:00", "parameters: x", "executor: x", "attester: x", "tags: []\ntags: []",
])  # fmt: skip
def test_everything_else_is_a_warning(line, bundle, run_cli, catalog):
    root = bundle({"a.md": f"---\ntype: T\ntitle: t\ndescription: d\n{line}\n---\n[gone](gone.md)\n"})
    run_cli("sync", root)
    document = verdict(run_cli, root)
    assert document["conformant"]
    checks = [item["check"] for item in document["warnings"]]
    assert len(checks) == 2
    assert checks[-1] == "broken_link"
    assert {item["source"] for item in document["warnings"]} <= {"spec", "convention"}
    # The same in SQL.
    assert sorted(catalog("select check_id from problems")) == sorted(checks)


@pytest.mark.parametrize(("moment", "fine"), [("2026-01-01", True), ("2026-01-01T10:00:00+02:00", True),
                                             ("2026-01-01T10:00:00Z", True), ("2026-01-01T10:00:00", False)])  # fmt: skip
def test_moments(moment, fine, bundle, run_cli):
    root = bundle({"a.md": f"---\ntype: T\ntitle: t\ndescription: d\nstale_after: {moment}\n"
                   f"generated: {{by: x/1, at: '{moment}'}}\n---\n"})  # fmt: skip
    assert len(verdict(run_cli, root)["warnings"]) == (0 if fine else 2)


def test_a_link_out_of_the_bundle_is_a_broken_one(bundle, run_cli):
    root = bundle({"sub/a.md": CLEAN + "[up](../../b.md) [in](../sub/a.md)\n", "index.md": "[up](../x.md)\n"})
    found = verdict(run_cli, root)["warnings"]
    assert [(item["path"], item["line"], item["check"]) for item in found] == [
        ("sub/a.md", 6, "broken_link"), ("index.md", 1, "broken_link")
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["README.md", "AGENTS.md", "docs/CLAUDE.md", "CONTRIBUTING.md"])
def test_a_readme_is_told_both_ways_out(name, bundle, run_cli):
    root = bundle({"a.md": CLEAN, name: "# Read me\n"})
    (error,) = verdict(run_cli, root)["errors"]
    assert ".okfignore" in error["message"]
    assert 'okf_version: "0.3"' in error["message"]
    # Both work.
    bundle({"index.md": '---\nokf_version: "0.3"\n---\n'})
    assert verdict(run_cli, root)["conformant"]
    (root / "index.md").unlink()
    bundle({".okfignore": name + "\n"})
    assert verdict(run_cli, root)["conformant"]


def test_another_file_without_frontmatter_is_not(bundle, run_cli):
    (error,) = verdict(run_cli, bundle({"notes.md": "text\n"}))["errors"]
    assert "okf_version" not in error["message"]
