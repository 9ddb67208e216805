"""Files and directories that are renamed while a sync runs: the next sync is right again."""

from __future__ import annotations

import pytest

from okf_catalog.catalog import ingest
from tests.test_sync import note, settle_clock, sync


@pytest.fixture
def between(monkeypatch):
    """A function that lets something happen after moves are matched and before files are read, once."""

    def arrange(action):
        original = ingest._Ingest

        class Racing(original):
            def _guard(self, removed, moves):
                super()._guard(removed, moves)
                monkeypatch.setattr(ingest, "_Ingest", original)
                action()

        monkeypatch.setattr(ingest, "_Ingest", Racing)

    return arrange


@pytest.mark.parametrize("end", ["d", "q", "z"])
def test_directory_renamed_back_while_its_move_is_followed(bundle, run_cli, catalog, monkeypatch, between, end):
    root = bundle({"d/a.md": note("A", "one"), "d/b.md": note("B", "two"), "keep.md": note("K")})
    settle_clock(monkeypatch)
    sync(run_cli, root)
    (root / "d").rename(root / "q")
    between(lambda: (root / "q").rename(root / "d"))
    sync(run_cli, root)
    if end != "d":
        (root / "d").rename(root / end)
    sync(run_cli, root)
    assert catalog("select path from concepts order by path") == sorted([f"{end}/a.md", f"{end}/b.md", "keep.md"])
    assert sync(run_cli, root)["sync_id"] is None


def test_new_directory_that_is_away_while_it_should_be_read(bundle, run_cli, catalog, monkeypatch, between):
    root = bundle({"keep.md": note("K")})
    settle_clock(monkeypatch)
    sync(run_cli, root)
    bundle({"n/a.md": note("A")})
    between(lambda: (root / "n").rename(root.with_name("away")))
    sync(run_cli, root)
    root.with_name("away").rename(root / "n")
    sync(run_cli, root)
    assert catalog("select path from concepts order by path") == ["keep.md", "n/a.md"]


def test_file_renamed_back_while_its_move_is_followed(bundle, run_cli, catalog, monkeypatch, between):
    root = bundle({"a.md": note("A", "one"), "keep.md": note("K")})
    settle_clock(monkeypatch)
    sync(run_cli, root)
    (root / "a.md").rename(root / "c.md")
    between(lambda: (root / "c.md").rename(root / "a.md"))
    sync(run_cli, root)
    sync(run_cli, root)
    assert catalog("select path from concepts order by path") == ["a.md", "keep.md"]


def test_ignored_root_index_declares_nothing(bundle, run_cli, catalog):
    root = bundle({"index.md": '---\nokf_version: "0.3"\n---\n', ".okfignore": "index.md\n", "a.md": note("A")})
    sync(run_cli, root)
    assert catalog("select okf_version from bundles") == [None]


def test_broken_link_of_an_index_survives_a_change_of_version(bundle, run_cli, catalog):
    root = bundle({"index.md": '---\nokf_version: "0.3"\n---\n', "d/index.md": "[l](nope.md)\n", "d/a.md": note("A")})
    sync(run_cli, root)
    bundle({"index.md": '---\nokf_version: "0.1"\n---\n'})
    sync(run_cli, root)
    assert catalog("select path from problems where check_id = 'broken_link'") == ["d/index.md"]


def test_broken_file_that_moves_is_still_the_concept_it_was(bundle, run_cli, catalog):
    root = bundle({"a.md": note("A"), "keep.md": note("K")})
    sync(run_cli, root)
    before = catalog("select id from concepts where path = 'a.md'")
    bundle({"a.md": "broken\n"})
    sync(run_cli, root)
    (root / "a.md").rename(root / "c.md")
    sync(run_cli, root)
    assert catalog("select path from parse_errors") == ["c.md"]
    bundle({"c.md": note("A")})
    sync(run_cli, root)
    assert catalog("select id from concepts where path = 'c.md'") == before
