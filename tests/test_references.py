"""`references`: files below references/, who points at them, pointers that miss."""

from __future__ import annotations

import json
import os
import shutil

import pytest


@pytest.fixture
def root(bundle):
    return bundle({
        "metrics/m.md": "---\ntype: Attested Computation\nruntime: sql\nresource: https://e.org\n"
        "computation: /references/sql/m.sql\nexecutor: {resource: ../references/run.md}\n"
        "attester: {resource: references/check.py}\nsources:\n- {title: no resource}\n"
        "- {resource: '/references/sql/m.sql#L3'}\n- {resource: /references/gone.md}\n- {resource: ../other.md}\n---\n",
        "a.md": "---\ntype: T\nresource: references/run.md\n---\n",
        "references/run.md": "---\ntype: Skill\nsources: [{resource: sql/m.sql}]\n---\n",
        "references/sql/m.sql": "select 1", "references/check.py": "", "references/ü n.txt": "",
        "references/index.md": "# References", "references/broken.md": "no fence",
        "references/.hidden": "", "references/.git/x": "", "references/node_modules/x.js": "",
        "references/kept-out.txt": "", "references/sub/also.txt": "",
        ".okfignore": "kept-out.txt\n", "references/sub/.okfignore": "*.txt\n",
    })  # fmt: skip


def test_json(root, run_cli):
    status, out, err = run_cli("references", root, "--json")
    assert (status, err) == (0, f"note: 1 unusable file(s) are no concepts (okf-catalog validate {root} says why)\n")
    document = json.loads(out)
    assert list(document) == ["bundle", "dangling", "count", "references"]
    assert document["count"] == 6
    assert [(row["path"], row["dir"], row["kind"]) for row in document["references"]] == [
        ("references/broken.md", "references", "file"), ("references/check.py", "references", "file"),
        ("references/index.md", "references", "file"), ("references/run.md", "references", "concept"),
        ("references/sql/m.sql", "references/sql", "file"), ("references/ü n.txt", "references", "file"),
    ]  # fmt: skip
    users = {row["path"]: [(user["id"], user["field"]) for user in row["referenced_by"]] for row in document["references"]}
    assert users["references/sql/m.sql"] == [
        ("metrics/m", "computation"), ("metrics/m", "sources[1].resource"), ("references/run", "sources[0].resource")
    ]  # fmt: skip
    assert users["references/run.md"] == [("a", "resource"), ("metrics/m", "executor.resource")]
    assert users["references/check.py"] == []
    assert document["dangling"] == [
        {"id": "metrics/m", "field": "attester.resource", "raw": "references/check.py",
         "resolved": "metrics/references/check.py", "hint": "/references/check.py exists — is the leading slash missing?"},
        {"id": "metrics/m", "field": "sources[2].resource", "raw": "/references/gone.md",
         "resolved": "references/gone.md", "hint": None},
    ]  # fmt: skip


def test_for_people(root, run_cli):
    _, out, _ = run_cli("references", root)
    assert out == (
        f"References — {root} (6 files)\n\n  references/\n    broken.md  (unreferenced)\n    check.py   (unreferenced)\n"
        "    index.md   (unreferenced)\n    run.md     concept  ← a (resource), metrics/m (executor.resource)\n"
        "    ü n.txt    (unreferenced)\n"
        "\n  references/sql/\n"
        "    m.sql  ← metrics/m (computation), metrics/m (sources[1].resource), references/run (sources[0].resource)\n"
        "\n  dangling pointers:\n    metrics/m — attester.resource: references/check.py\n"
        "      leads to metrics/references/check.py, which does not exist — /references/check.py exists — "
        "is the leading slash missing?\n"
        "    metrics/m — sources[2].resource: /references/gone.md\n      leads to references/gone.md, which does not exist\n"
    )


def test_columns(root, run_cli):
    _, out, _ = run_cli("references", root, "--fields", "path,kind")
    assert json.loads(out)["references"][0] == {"path": "references/broken.md", "kind": "file"}
    status, out, err = run_cli("references", root, "--fields", "nothing")
    assert (status, out) == (2, "")
    assert err.splitlines()[-1].startswith("error: unknown field(s): nothing")


def test_links_and_odd_names(bundle, run_cli, tmp_path):
    root = bundle({"a.md": "---\ntype: T\n---\n", "references/x.txt": "x"})
    (tmp_path / "secret.txt").write_text("s")
    os.symlink(tmp_path / "secret.txt", root / "references" / "out.txt")
    os.symlink("x.txt", root / "references" / "in.txt")
    os.symlink(tmp_path, root / "references" / "dir")
    os.symlink("nothing", root / "references" / "dangling.txt")
    (root / "references" / os.fsdecode(b"\xff.txt")).write_text("")
    paths = [row["path"] for row in json.loads(run_cli("references", root, "--json")[1])["references"]]
    assert paths == ["references/in.txt", "references/x.txt", "references/\\xff.txt"]


def test_without_the_directory(bundle, run_cli):
    root = bundle({"a.md": "---\ntype: T\nresource: /references/gone.md\n---\n"})
    status, out, _ = run_cli("references", root)
    assert status == 0
    assert f"References — {root} (0 files)\n  (none)\n" in out
    assert "dangling" in out


def test_a_root_that_is_gone_is_answered_from_the_catalog(bundle, run_cli):
    root = bundle({"a.md": "---\ntype: T\n---\n", "references/r.md": "---\ntype: T\n---\n", "references/x.txt": ""})
    run_cli("sync", root)
    shutil.rmtree(root)
    _, out, _ = run_cli("references", "@bundle", "--no-sync", "--json")
    assert [row["path"] for row in json.loads(out)["references"]] == ["references/r.md"]
