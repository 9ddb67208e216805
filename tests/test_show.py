"""`show`: everything known of one file."""

from __future__ import annotations

import json
import os

import pytest

FILES = {
    "index.md": "---\nokf_version: 0.2\ntitle: x\n---\n# Contents\n",
    "log.md": "# Log\n\n## 2026-01-01\n- Began.\n",
    "tables/orders.md": """\
---
type: BigQuery Table
title: Orders
description: One row per order.
resource: https://example.org/orders
tags: [sales, finance]
status: Draft
stale_after: 2026-05-01
generated: {by: writer/1.0, at: 2026-03-01T00:00:00Z}
verified:
- {by: "human:ana", at: 2026-02-01}
- {by: checker/2, at: 2026-04-01}
sources:
- {id: erp, resource: /sources/erp.md, title: ERP, author: "team:x", usage_count: 12, last_modified: 2026-01-01}
- {resource: "https://example.org/s"}
superseded_by: orders2.md
owner: {team: Data, since: 007}
---

Every order.[^erp] See [customers](customers.md) and [nothing](gone.md).

[^erp]: The ERP.
""",
    "tables/customers.md": "---\ntype: BigQuery Table\ntitle: Customers\n---\n\nSee [orders](orders.md), [twice](orders.md).\n",
    "metrics/net.md": "---\ntype: Attested Computation\nruntime: bigquery\nparameters: [{name: day}]\n"
                      "executor: {resource: run.md}\n---\n\n# Computation\n\n```sql\nselect 1\n```\n",
    "broken.md": "---\ntype: T\ntitle: a: b\n---\nbody\n",
    "UPPER.MD": "---\ntype: T\n---\n",
}  # fmt: skip


@pytest.fixture
def shown(bundle, run_cli):
    """`shown(concept, option, …)` gives the JSON of `show` in a bundle that no catalog knows."""
    root = bundle(FILES)

    def run(*arguments: str):
        code, out, err = run_cli("show", "--bundle", root, "--json", *arguments)
        assert code == 0, err
        return json.loads(out)

    return run


def test_everything_of_a_concept(shown) -> None:
    row = shown("tables/orders.md", "--as-of", "2026-04-30")
    digest = row.pop("content_hash")
    assert len(digest) == 64
    assert row.pop("body").startswith("Every order.[^erp]")
    assert row.pop("frontmatter")["owner"] == {"team": "Data", "since": 7}
    assert row.pop("size") == len(FILES["tables/orders.md"])
    assert [problem["check_id"] for problem in row.pop("problems")] == ["broken_link"]
    assert row == {
        "bundle": "bundle", "path": "tables/orders.md", "id": "tables/orders", "kind": "concept", "type": "BigQuery Table",
        "title": "Orders", "description": "One row per order.", "status": "draft", "trust_tier": "human-reviewed",
        "trust_current": "machine-confirmed", "stale": False, "stale_after": "2026-05-01", "generated_by": "writer/1.0",
        "generated_at": "2026-03-01T00:00:00Z", "resource": "https://example.org/orders", "tags": ["sales", "finance"],
        "verifications": [
            {"by": "human:ana", "actor_kind": "human", "at": "2026-02-01", "is_current": False},
            {"by": "checker/2", "actor_kind": "agent", "at": "2026-04-01", "is_current": True},
        ],
        "sources": [
            {"id": "erp", "resource": "/sources/erp.md", "title": "ERP", "author": "team:x", "usage_count": 12,
             "last_modified": "2026-01-01", "window_from": None, "window_to": None, "legacy": False},
            {"id": None, "resource": "https://example.org/s", "title": None, "author": None, "usage_count": None,
             "last_modified": None, "window_from": None, "window_to": None, "legacy": False},
        ],
        "computation": None,
        "links": [
            {"kind": "link", "target": "customers.md", "path": "tables/customers.md", "text": "customers", "line": 20, "resolved": True, "missing": False},
            {"kind": "link", "target": "gone.md", "path": "tables/gone.md", "text": "nothing", "line": 20, "resolved": False, "missing": True},
            {"kind": "source", "target": "/sources/erp.md", "path": "sources/erp.md", "text": None, "line": 13, "resolved": False, "missing": True},
            {"kind": "superseded_by", "target": "orders2.md", "path": "tables/orders2.md", "text": None, "line": 16,
             "resolved": False, "missing": True},
        ],
        "linked_from": [{"path": "tables/customers.md", "title": "Customers"}],
        "footnotes": [{"label": "erp", "source": "erp", "defined": True, "line": 20}],
    }  # fmt: skip


def test_staleness_follows_the_clock(shown) -> None:
    assert [shown("tables/orders", "--as-of", day)["stale"] for day in ("2026-04-30", "2026-05-01")] == [False, True]


@pytest.mark.parametrize(
    "spelled", ["tables/orders.md", "tables/orders", "/tables/orders.md", "./tables/orders.md", "/tables/orders"]
)
def test_ways_to_name_a_concept(shown, spelled: str) -> None:
    assert shown(spelled)["path"] == "tables/orders.md"


def test_an_extension_in_capitals(shown) -> None:
    assert shown("UPPER")["path"] == shown("UPPER.MD")["path"] == "UPPER.MD"


def test_a_computation(shown) -> None:
    assert shown("metrics/net")["computation"] == {
        "runtime": "bigquery", "computation": None, "code": "select 1\n", "language": "sql",
        "parameters": [{"name": "day"}], "executor": "run.md", "executor_receipt": None, "attester": None,
    }  # fmt: skip
    assert shown("metrics/net")["title"] == "net"


def test_a_broken_file(shown) -> None:
    row = shown("broken.md")
    assert row.pop("first_seen") == row.pop("last_seen")
    assert "quotes" in row.pop("advice")
    assert row.pop("message")
    assert row == {
        "bundle": "bundle", "path": "broken.md", "kind": "error", "code": "invalid_yaml", "line": 3, "column": 9,
        "excerpt": "title: a: b", "text": FILES["broken.md"],
    }  # fmt: skip


def test_reserved_files(shown) -> None:
    log = shown("log.md")
    assert (log["kind"], log["text"], log["problems"]) == ("log", FILES["log.md"], [])
    index = shown("index")
    assert [(p["level"], p["check_id"], p["line"]) for p in index["problems"]] == [("error", "index_frontmatter", 3)]


@pytest.mark.parametrize(("path", "key"), [("tables/orders", "body"), ("broken", "text"), ("log", "text")])
def test_without_the_body(shown, path: str, key: str) -> None:
    assert key in shown(path)
    row = shown(path, "--no-body")
    assert key not in row
    assert {*shown(path)} == {*row, key}


def test_the_page_for_people(bundle, run_cli) -> None:
    _, out, _ = run_cli("show", "tables/orders", "-b", bundle(FILES), "--as-of", "2026-05-01")
    lines = out.splitlines()
    assert lines[:2] == ["Orders", "tables/orders.md  ·  BigQuery Table  ·  draft, stale  ·  human-reviewed  ·  @bundle"]
    for line in [
        "One row per order.", "Tags:        sales, finance", "Trust now:   machine-confirmed", "Stale after: 2026-05-01",
        "  human:ana  2026-02-01  (before the content was generated)",
        "  [erp] ERP  /sources/erp.md  (team:x, used 12 times, modified 2026-01-01)", "  tables/customers.md",
        "  tables/customers.md  Customers",
    ]:  # fmt: skip
        assert line in lines
    assert out.endswith("[^erp]: The ERP.\n")
    assert "Every order" not in run_cli("show", "tables/orders", "-b", bundle(FILES), "--no-body")[1]


def test_the_page_of_a_broken_file(bundle, run_cli) -> None:
    _, out, _ = run_cli("show", "broken", "-b", bundle(FILES))
    assert out.splitlines()[0] == "broken.md  ·  (parse error)  ·  @bundle"
    assert "(line 3, column 9)" in out
    assert "    title: a: b\n" in out
    assert "What to do: put quotes" in out


def test_control_characters_do_not_reach_the_terminal(bundle, run_cli) -> None:
    root = bundle({"a.md": '---\ntype: "T\\x1b[2J"\ntitle: "x\\e]0;y\\a"\ntags: ["\\x1b[31m"]\nowner: 1\n---\n'})
    _, out, _ = run_cli("show", "a", "-b", root)
    assert "\x1b" not in out
    assert "\a" not in out


@pytest.mark.parametrize(
    ("wanted", "near"),
    [("tables/order", "tables/orders"), ("orders", "tables/orders"), ("tables/custmers.md", "tables/customers"), ("zzzzzz", None)],
)
def test_an_unknown_concept_suggests(bundle, run_cli, wanted: str, near: str | None) -> None:
    code, out, err = run_cli("show", wanted, "-b", bundle(FILES))
    assert (code, out) == (2, "")
    assert err.startswith(f"error: there is no {wanted} in bundle")
    assert ("near it" in err) == (near is not None)
    assert (near or "") in err


def test_in_the_catalog_by_path_id_and_file(bundle, run_cli, monkeypatch) -> None:
    root = bundle(FILES)
    run_cli("sync", root, "--name", "shop")
    monkeypatch.chdir(root / "tables")
    for wanted in ("tables/orders.md", "tables/orders", "orders.md", "./orders.md", "../tables/orders.md", f"{root}/tables/orders.md"):
        code, out, err = run_cli("show", wanted, "--json")
        assert code == 0, err
        assert json.loads(out)["path"] == "tables/orders.md"


def test_a_file_reached_through_a_link_to_the_bundle(tmp_path, bundle, run_cli) -> None:
    root = bundle(FILES)
    os.symlink(root, tmp_path / "link")
    run_cli("sync", tmp_path / "link")
    for place in (root, tmp_path / "link"):
        code, out, err = run_cli("show", place / "tables/orders.md", "--json")
        assert code == 0, err
        assert json.loads(out)["path"] == "tables/orders.md"


def test_a_path_in_two_bundles_asks_which(bundle, run_cli) -> None:
    one, two = bundle({"a.md": "---\ntype: One\n---\n"}, name="one"), bundle({"a.md": "---\ntype: Two\n---\n"}, name="two")
    run_cli("sync", one, two)
    code, out, err = run_cli("show", "a")
    assert (code, out) == (2, "")
    assert "@one a.md" in err
    assert "@two a.md" in err
    assert "--bundle" in err
    assert json.loads(run_cli("show", "a", "--bundle", "@two", "--json")[1])["type"] == "Two"
    assert json.loads(run_cli("show", "a", "--bundle", one, "--json")[1])["type"] == "One"
    assert json.loads(run_cli("show", two / "a.md", "--json")[1])["type"] == "Two"


def test_a_shown_concept_is_as_the_file_is_now(bundle, run_cli) -> None:
    root = bundle({"a.md": "---\ntype: T\ntitle: Old\n---\n"})
    run_cli("sync", root)
    (root / "a.md").write_text("---\ntype: T\ntitle: New\n---\n")
    (root / "b.md").write_text("---\ntype: T\ntitle: Added\n---\n")
    assert json.loads(run_cli("show", "a", "--no-sync", "--json")[1])["title"] == "Old"
    assert json.loads(run_cli("show", "a", "--json")[1])["title"] == "New"
    assert json.loads(run_cli("show", "b", "--json")[1])["title"] == "Added"
    (root / "b.md").unlink()
    assert run_cli("show", "b")[0] == 2


@pytest.mark.parametrize("arguments", [["a"], ["a", "--bundle", "@nope"], ["a", "--bundle", "/nowhere"], [], ["a", "--as-of", "x"]])
def test_what_cannot_be_shown(run_cli, arguments: list[str]) -> None:
    code, out, err = run_cli("show", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1


def test_closed_output_and_arguments_that_are_no_text(bundle):
    import subprocess
    import sys

    root = bundle({"a.md": "---\ntype: N\n---\n"})
    for closing in (">&-", ">&- 2>&-", "<&-"):
        command = f"{sys.executable} -m okf_catalog find '{root}' {closing}"
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60, check=False)
        assert "Traceback" not in done.stderr + done.stdout
    done = subprocess.run([sys.executable, "-m", "okf_catalog", "show", b"\xff"], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.count(b"\n") == 1
