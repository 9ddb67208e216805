"""`bundles --digest`: equal for the same content, whatever the machine, the name and the syncs before."""

from __future__ import annotations

import json
import os
import shutil

import pytest

from tests.conftest import process

FILES = {
    "index.md": "# Contents\n",
    "a.md": "---\ntype: N\n---\na\n",
    "sub/b.md": "---\ntype: N\n---\nb\n",
    "sub/é.md": "---\ntype: N\n---\nc\n",
    "broken.md": "x\n",
    "picture.png": b"\x89PNG",
}


def digest(run_cli, root) -> str:
    assert run_cli("sync", root)[0] in (0, 1)
    status, out, err = run_cli("bundles", root, "--digest", "--json")
    assert status == 0, err
    (row,) = json.loads(out)["bundles"]
    return row["digest"]


def test_the_same_content_at_another_place_with_another_history(bundle, run_cli):
    first = digest(run_cli, bundle(FILES))
    assert len(first) == 64
    # Elsewhere, in pieces, with detours: edits, a move, a removal, a broken file repaired.
    root = bundle({"broken.md": "---\ntype: N\n---\n", "sub/b.md": "other", "z.md": FILES["a.md"]}, "other")
    second = digest(run_cli, root)
    assert second != first
    (root / "z.md").rename(root / "a.md")
    (root / "extra.md").write_text("---\ntype: N\n---\n")
    digest(run_cli, root)
    (root / "extra.md").unlink()
    bundle(FILES, "other")
    assert digest(run_cli, root) == first


@pytest.mark.parametrize(
    "edit",
    [
        lambda root: (root / "a.md").write_text("---\ntype: N\n---\nb\n"),
        lambda root: (root / "a.md").rename(root / "c.md"),
        lambda root: (root / "a.md").unlink(),
        lambda root: (root / "broken.md").write_text("y\n"),
        lambda root: (root / "index.md").write_text("# Other\n"),
        lambda root: (root / "new.md").write_text("z"),
    ],
    ids=["text", "move", "removal", "broken", "index", "added"],
)
def test_any_change_of_content_changes_it(bundle, run_cli, edit):
    root = bundle(FILES)
    before = digest(run_cli, root)
    edit(root)
    assert digest(run_cli, root) != before


def test_what_is_no_content_does_not(bundle, run_cli):
    root = bundle(FILES)
    before = digest(run_cli, root)
    os.utime(root / "a.md", (1, 1))
    (root / "picture.png").write_bytes(b"other")
    (root / ".hidden.md").write_text("x")
    run_cli("sync", root, "--full")
    assert digest(run_cli, root) == before


def test_a_digest_does_not_hang_on_the_order_of_rows(bundle, run_cli, tmp_path):
    many = {f"{name}.md": f"---\ntype: N\n---\n{name}\n" for name in "cab"}
    first = digest(run_cli, bundle(many, "one"))
    root = tmp_path / "two"
    root.mkdir()
    for name in "bca":
        (root / f"{name}.md").write_text(many[f"{name}.md"])
        run_cli("sync", root)
    assert digest(run_cli, root) == first


def test_only_where_asked_for(bundle, run_cli):
    run_cli("sync", bundle(FILES))
    assert "digest" not in json.loads(run_cli("bundles", "--json")[1])["bundles"][0]
    assert run_cli("bundles", "--fields", "digest", "--format", "csv")[0] == 2
    status, out, _ = run_cli("bundles", "--digest", "--fields", "name,digest", "--format", "tsv")
    assert (status, out.splitlines()[0], len(out.splitlines()[1])) == (0, "name\tdigest", len("bundle\t") + 64)


def test_names_narrow_the_list(bundle, run_cli):
    run_cli("sync", bundle(FILES), bundle({"a.md": FILES["a.md"]}, "second"), bundle({}, "third"))
    names = lambda *asked: [row["name"] for row in json.loads(run_cli("bundles", *asked, "--json")[1])["bundles"]]  # noqa: E731
    assert names("@second") == ["second"]
    assert names("@second", "@BUNDLE") == ["bundle", "second"]
    assert names("--limit", "1", "--offset", "1") == ["second"]
    assert run_cli("bundles", "@nobody") == (2, "", "error: @nobody is no bundle of the catalog or the registry (okf-catalog bundles lists them)\n")


def test_a_process_of_its_own_gives_the_same(bundle, run_cli, tmp_path):
    root = bundle(FILES)
    first = digest(run_cli, root)
    copy = tmp_path / "copies" / "bündel"
    shutil.copytree(root, copy)
    there = ["--db", tmp_path / "another.db"]
    assert process("sync", copy, *there).returncode == 0
    assert json.loads(process("bundles", "--digest", "--json", *there).stdout)["bundles"][0]["digest"] == first
