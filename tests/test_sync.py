"""The catalog follows the files: what each kind of change on disk does to the rows."""

import json
import os
import shutil

import pytest

from tests.conftest import EXAMPLE

NOTE = "---\ntype: Note\ntitle: {0}\n---\n\n{1}\n"


def note(title="T", body="body"):
    return NOTE.format(title, body)


def sync(run_cli, root, *options):
    status, out, err = run_cli("sync", root, "--json", *options)
    assert status == 0, err
    return json.loads(out)


def age(root, seconds=10):
    """Let the files look settled: the sync reads files again that are younger than two seconds."""
    for directory, _, names in os.walk(root):
        for name in names:
            path = os.path.join(directory, name)
            moment = os.stat(path).st_mtime_ns - seconds * 10**9
            os.utime(path, ns=(moment, moment))


def test_first_sync_enrols_the_directory(bundle, run_cli, catalog):
    root = bundle({"a.md": note("A"), "sub/b.md": note("B"), "index.md": "# Index\n"}, name="Sales Desk")
    report = sync(run_cli, root)
    assert report["bundle"] == "sales-desk"
    assert report["new"] is True
    assert report["counts"]["added"] == 2
    assert catalog("select path from concepts order by path") == ["a.md", "sub/b.md"]
    assert catalog("select path, kind from reserved_files") == [("index.md", "index")]
    assert catalog("select name, concept_count from bundles") == [("sales-desk", 2)]
    assert catalog("select root from bundle_roots") == [str(root)]


def test_second_sync_changes_nothing(bundle, run_cli, tmp_path):
    root = bundle({"a.md": note(), "bad.md": "no fences\n", "index.md": "# I\n\n* [a](a.md)\n"})
    sync(run_cli, root)
    before = dump(tmp_path / "catalog.db")
    report = sync(run_cli, root)
    assert report["counts"]["unchanged"] == 3
    assert report["sync_id"] is None
    assert dump(tmp_path / "catalog.db") == before


def test_full_sync_of_unchanged_files_changes_nothing(bundle, run_cli, tmp_path):
    root = bundle({"a.md": note(), "bad.md": "no fences\n"})
    sync(run_cli, root)
    before = dump(tmp_path / "catalog.db")
    sync(run_cli, root, "--full")
    assert dump(tmp_path / "catalog.db") == before


def dump(path):
    """All rows of all tables, but for the moments of the last sync."""
    import sqlite3

    connection = sqlite3.connect(path)
    names = [row[0] for row in connection.execute("select name from sqlite_master where type = 'table'")]
    skipped = ("directories", "sqlite_", "concepts_fts", "terms_trigram")
    result = {}
    for name in names:
        if not name.startswith(skipped):
            cursor = connection.execute(f"select * from {name}")
            keys = [column[0] for column in cursor.description]
            hidden = {"last_synced_at", "last_seen"}
            result[name] = sorted(
                repr([(key, value) for key, value in zip(keys, row, strict=True) if key not in hidden]) for row in cursor
            )
    connection.close()
    return result


def test_edit_is_reported_by_field(bundle, run_cli, catalog):
    root = bundle({"a.md": "---\ntype: Metric\ntitle: Old\nstatus: stable\n---\n\ntext\n"})
    sync(run_cli, root)
    bundle({"a.md": "---\ntype: Metric\ntitle: New\nstatus: deprecated\n---\n\ntext\n"})
    report = sync(run_cli, root)
    assert report["changed"] == [{"path": "a.md", "fields": ["title", "effective_status"]}]
    assert catalog("select field, old, new from changes order by id") == [
        ("title", "Old", "New"),
        ("effective_status", "stable", "deprecated"),
    ]


def test_edit_of_the_body_only_and_of_an_unknown_key_only(bundle, run_cli):
    root = bundle({"a.md": note("A", "one"), "b.md": "---\ntype: Note\nowner: x\n---\n\nb\n"})
    sync(run_cli, root)
    bundle({"a.md": note("A", "two"), "b.md": "---\ntype: Note\nowner: y\n---\n\nb\n"})
    report = sync(run_cli, root)
    assert report["changed"] == [{"path": "a.md", "fields": ["body"]}, {"path": "b.md", "fields": ["frontmatter"]}]


def test_edit_keeps_the_row_id_and_replaces_the_children(bundle, run_cli, catalog):
    root = bundle({"a.md": "---\ntype: Note\ntags: [x, y]\nverified: {by: human:eva, at: 2026-01-01}\n---\n\n[b](b.md)\n"})
    sync(run_cli, root)
    before = catalog("select id from concepts")
    bundle({"a.md": "---\ntype: Note\ntags: [z]\n---\n\nno link\n"})
    sync(run_cli, root)
    assert catalog("select id from concepts") == before
    assert catalog("select tag from tags") == ["z"]
    assert catalog("select count(*) from verifications") == [0]
    assert catalog("select count(*) from links") == [0]
    assert catalog("select count(*) from problems where check_id = 'broken_link'") == [0]


def test_move_keeps_the_row_id(bundle, run_cli, catalog):
    root = bundle({"a.md": note("A"), "b.md": note("B", "[a](a.md)")})
    sync(run_cli, root)
    before = catalog("select id from concepts where path = 'a.md'")
    (root / "deep").mkdir()
    (root / "a.md").rename(root / "deep" / "c.md")
    report = sync(run_cli, root)
    assert report["moved"] == [{"from": "a.md", "to": "deep/c.md"}]
    assert report["counts"]["added"] == report["counts"]["removed"] == 0
    assert catalog("select id from concepts where path = 'deep/c.md'") == before
    assert catalog("select concept_id, dir, stem from concepts where path = 'deep/c.md'") == [("deep/c", "deep", "c")]
    # The link still says a.md, which is gone.
    assert catalog("select path, check_id from problems where check_id = 'broken_link'") == [("b.md", "broken_link")]


def test_move_resolves_the_links_of_the_moved_file_anew(bundle, run_cli, catalog):
    root = bundle({"a.md": note("A", "[b](b.md)"), "b.md": note("B"), "sub/b.md": note("Other")})
    sync(run_cli, root)
    (root / "a.md").rename(root / "sub" / "a.md")
    sync(run_cli, root)
    assert catalog(
        "select t.path from links l join concepts t on t.id = l.target_id join concepts c on c.id = l.concept_id "
        "where c.path = 'sub/a.md'"
    ) == ["sub/b.md"]


def test_copy_is_not_a_move(bundle, run_cli):
    root = bundle({"a.md": note("A")})
    sync(run_cli, root)
    shutil.copy(root / "a.md", root / "copy.md")
    report = sync(run_cli, root)
    assert (report["added"], report["moved"]) == (["copy.md"], [])


def test_case_only_rename(bundle, run_cli, catalog):
    root = bundle({"Petrel.md": note("A", "one"), "Ref/x.md": note("X", "two")})
    sync(run_cli, root)
    (root / "Petrel.md").rename(root / "petrel.md")
    (root / "Ref").rename(root / "ref")
    sync(run_cli, root)
    assert catalog("select path from concepts order by path") == ["petrel.md", "ref/x.md"]


def test_removed_file_leaves_no_trace(bundle, run_cli, catalog):
    root = bundle({"a.md": note("A"), "b.md": note("B", "[a](a.md) alone")})
    sync(run_cli, root)
    (root / "a.md").unlink()
    report = sync(run_cli, root)
    assert report["removed"] == ["a.md"]
    assert catalog("select path from concepts") == ["b.md"]
    assert catalog("select count(*) from bodies") == [1]
    assert catalog("select target_id from links") == [None]
    assert catalog("select path from problems where check_id = 'broken_link'") == ["b.md"]


def test_row_ids_are_never_used_twice(bundle, run_cli, catalog):
    root = bundle({"a.md": note("A"), "old.md": "---\ntype: Note\ntags: [secret]\n---\nx\n"})
    sync(run_cli, root)
    old = catalog("select id from concepts where path = 'old.md'")
    (root / "old.md").unlink()
    sync(run_cli, root)
    bundle({"new.md": note("New")})
    sync(run_cli, root)
    assert catalog("select id from concepts where path = 'new.md'") != old
    assert catalog("select count(*) from tags") == [0]


def test_a_file_that_breaks_and_is_repaired_keeps_its_id(bundle, run_cli, catalog):
    root = bundle({"a.md": note("A"), "b.md": note("B", "[a](a.md)")})
    sync(run_cli, root)
    before = catalog("select id from concepts where path = 'a.md'")
    bundle({"a.md": "---\ntype: Note\ntitle: A: B\n---\n"})
    report = sync(run_cli, root)
    assert report["broken"] == ["a.md"]
    assert report["failed"][0]["line"] == 3
    assert catalog("select path, code, line from parse_errors") == [("a.md", "invalid_yaml", 3)]
    # An unusable file is still there: a link to it is not broken.
    assert catalog("select count(*) from problems where check_id = 'broken_link'") == [0]
    bundle({"a.md": note("A again")})
    report = sync(run_cli, root)
    assert report["repaired"] == ["a.md"]
    assert catalog("select id from concepts where path = 'a.md'") == before
    assert catalog("select count(*) from parse_errors") == [0]
    assert catalog("select t.path from links l join concepts t on t.id = l.target_id") == ["a.md"]


def test_parse_error_keeps_the_day_it_was_first_seen(bundle, run_cli, catalog):
    root = bundle({"bad.md": "one\n"})
    sync(run_cli, root)
    first = catalog("select first_seen from parse_errors")
    bundle({"bad.md": "two\n", "a.md": note()})
    sync(run_cli, root)
    assert catalog("select first_seen from parse_errors") == first
    assert catalog("select excerpt from parse_errors") == ["two"]
    assert catalog("select last_seen >= first_seen from parse_errors") == [1]


def test_link_to_a_file_that_comes_later(bundle, run_cli, catalog):
    root = bundle({"a.md": note("A", "[b](b.md) [i](sub/index.md)")})
    sync(run_cli, root)
    assert len(catalog("select message from problems where check_id = 'broken_link'")) == 2
    bundle({"b.md": note("B"), "sub/index.md": "# I\n"})
    sync(run_cli, root)
    assert catalog("select count(*) from problems where check_id = 'broken_link'") == [0]
    assert catalog("select c.path from links l join concepts c on c.id = l.target_id") == ["b.md"]


def test_broken_links_of_index_and_of_unusable_files(bundle, run_cli, catalog):
    root = bundle({"index.md": "# I\n\n* [gone](gone.md)\n", "bad.md": "no fence, [gone](gone.md)\n", "a.md": note()})
    sync(run_cli, root)
    where = "select path, line from problems where check_id = 'broken_link' order by path"
    assert catalog(where) == [("bad.md", 1), ("index.md", 3)]
    bundle({"gone.md": note("Here")})
    sync(run_cli, root)
    assert catalog(where) == []


def test_same_size_edit_with_the_old_time_stamp_is_seen_in_the_racy_window(bundle, run_cli, catalog):
    root = bundle({"a.md": note("A", "AAAA")})
    sync(run_cli, root)
    path = root / "a.md"
    stamp = path.stat().st_mtime_ns
    path.write_text(note("A", "BBBB"))
    os.utime(path, ns=(stamp, stamp))
    sync(run_cli, root)
    assert catalog("select body from bodies") == ["BBBB\n"]


def test_edit_with_restored_time_stamp_is_seen_by_its_change_time(bundle, run_cli, catalog, monkeypatch):
    root = bundle({"a.md": note("A", "AAAA")})
    age(root)
    settle_clock(monkeypatch)
    sync(run_cli, root)
    path = root / "a.md"
    stamp = path.stat().st_mtime_ns
    path.write_text(note("A", "BBBB"))
    os.utime(path, ns=(stamp, stamp))
    sync(run_cli, root)
    assert catalog("select body from bodies") == ["BBBB\n"]


def settle_clock(monkeypatch):
    """Let the syncs run in a minute, when today's files are no longer racy."""
    from datetime import timedelta

    from okf_catalog.catalog import sync as syncing

    clock = syncing.system_clock
    monkeypatch.setattr(syncing, "system_clock", lambda: clock() + timedelta(minutes=1))


def test_settled_files_are_not_opened_again(bundle, run_cli, monkeypatch):
    root = bundle({"a.md": note("A"), "sub/b.md": note("B")})
    settle_clock(monkeypatch)
    sync(run_cli, root)
    from okf_catalog import bundle as files

    def refuse(*_arguments):
        raise AssertionError("a file was read")

    monkeypatch.setattr(files, "read_at", refuse)
    assert sync(run_cli, root)["counts"]["unchanged"] == 2
    with pytest.raises(AssertionError, match="a file was read"):
        bundle({"a.md": note("A2")})
        monkeypatch.setenv("OKF_CATALOG_DEBUG", "1")
        run_cli("sync", root)


def test_touched_file_with_the_same_content_is_no_change(bundle, run_cli, monkeypatch):
    root = bundle({"a.md": note("A")})
    settle_clock(monkeypatch)
    sync(run_cli, root)
    os.utime(root / "a.md", (1_000_000_000, 1_000_000_000))
    report = sync(run_cli, root)
    assert report["changed"] == []
    assert report["sync_id"] is None


def test_time_stamp_in_the_future(bundle, run_cli, catalog):
    root = bundle({"a.md": note("A", "first")})
    path = root / "a.md"
    os.utime(path, (4_070_908_800, 4_070_908_800))
    sync(run_cli, root)
    path.write_text(note("A", "second"))
    os.utime(path, (4_070_908_800, 4_070_908_800))
    sync(run_cli, root)
    assert catalog("select body from bodies") == ["second\n"]
    path.write_text(note("A", "secand"))
    sync(run_cli, root)
    assert catalog("select body from bodies") == ["secand\n"]


def test_name_and_its_refusals(bundle, run_cli):
    one, two = bundle({"a.md": note()}, name="one"), bundle({"b.md": note()}, name="two")
    assert sync(run_cli, one, "--name", "Team Notes")["bundle"] == "team-notes"
    status, out, err = run_cli("sync", two, "--name", "team notes")
    assert (status, out) == (2, "")
    assert "team-notes" in err
    assert run_cli("sync", one, "--name", "other")[0] == 2
    assert run_cli("sync", one, two, "--name", "x")[0] == 2
    assert run_cli("sync", one, "--name", "all")[0] == 2
    assert run_cli("sync", one, "--name", "***")[0] == 2


def test_two_directories_of_one_name(tmp_path, bundle, run_cli):
    first, second = bundle({"x/notes/a.md": note()}) / "x" / "notes", bundle({"y/notes/a.md": note()}) / "y" / "notes"
    assert sync(run_cli, first)["bundle"] == "notes"
    assert sync(run_cli, second)["bundle"] == "notes-2"
    assert sync(run_cli, first)["bundle"] == "notes"


def test_hidden_root_is_named_by_its_parent(bundle, run_cli):
    root = bundle({".okf/a.md": note()}, name="handbook") / ".okf"
    assert sync(run_cli, root)["bundle"] == "handbook"


def test_root_through_a_link_is_the_same_bundle(bundle, run_cli, tmp_path):
    root = bundle({"a.md": note()}, name="real")
    (tmp_path / "current").symlink_to(root)
    assert sync(run_cli, root)["bundle"] == "real"
    report = sync(run_cli, tmp_path / "current")
    assert (report["bundle"], report["new"]) == ("real", False)


def test_dry_run_changes_nothing(bundle, run_cli, tmp_path):
    root = bundle({"a.md": note("A")})
    report = sync(run_cli, root, "--dry-run")
    assert report["counts"]["added"] == 1
    assert not (tmp_path / "catalog.db").exists()
    sync(run_cli, root)
    before = dump(tmp_path / "catalog.db")
    bundle({"a.md": note("A2"), "b.md": note("B")})
    report = sync(run_cli, root, "--dry-run")
    assert (report["counts"]["added"], report["counts"]["changed"]) == (1, 1)
    assert dump(tmp_path / "catalog.db") == before


def test_human_report(bundle, run_cli):
    root = bundle({"a.md": note("A"), "b.md": note("B", "old"), "c.md": note("C"), "bad.md": "x\n", ".hidden/h.md": "x"})
    status, out, _ = run_cli("sync", root)
    assert status == 0
    assert "bundle: + 3 added  ! 1 failed" in out
    assert "bad.md:1" in out
    assert "1 hidden or vendored" in out
    bundle({"b.md": note("B", "new"), "d.md": note("D"), "bad.md": note("Good")})
    (root / "a.md").unlink()
    (root / "c.md").rename(root / "e.md")
    _, out, _ = run_cli("sync", root)
    for line in ("  + d.md\n", "  ~ b.md  (body)\n", "  > c.md → e.md\n", "  - a.md\n", "  * bad.md is repaired\n"):
        assert line in out
    assert "+ 1 added  ~ 1 changed  > 1 moved  - 1 removed  * 1 repaired" in out


def test_include_hidden_is_remembered(bundle, run_cli, catalog):
    root = bundle({"a.md": note(), ".notes/b.md": note(), "node_modules/p/c.md": note(), ".git/d.md": note()})
    sync(run_cli, root)
    assert catalog("select path from concepts") == ["a.md"]
    sync(run_cli, root, "--include-hidden")
    everything = [".notes/b.md", "a.md", "node_modules/p/c.md"]
    assert catalog("select path from concepts order by path") == everything
    sync(run_cli, root)
    assert catalog("select path from concepts order by path") == everything
    sync(run_cli, root, "--no-include-hidden")
    assert catalog("select path from concepts") == ["a.md"]


def test_a_changed_ignore_file_takes_files_in_and_out(bundle, run_cli, catalog):
    root = bundle({"a.md": note("A"), "drafts/b.md": note("B")})
    sync(run_cli, root)
    bundle({".okfignore": "drafts/\n"})
    assert sync(run_cli, root)["removed"] == ["drafts/b.md"]
    (root / ".okfignore").unlink()
    assert sync(run_cli, root)["added"] == ["drafts/b.md"]


def test_version_change_reads_the_bundle_by_the_new_rules(bundle, run_cli, catalog):
    checked = "generated: {by: bot/1, at: 2026-08-01T00:00:00Z}\nverified: {by: human:ira, at: 2026-02-01T00:00:00Z}\n"
    root = bundle({
        "index.md": '---\nokf_version: "0.2"\n---\n# I\n',
        "a.md": f"---\ntype: Metric\n{checked}---\n\nA\n",
        "plain.md": "just text\n",
        "untyped.md": "---\ntitle: No type\n---\n\nB\n",
    })
    sync(run_cli, root)
    assert catalog("select path, trust_tier, trust_current from concepts order by path") == [
        ("a.md", "human-reviewed", "unverified"), ("untyped.md", "unverified", "unverified"),
    ]
    assert catalog("select path from parse_errors") == ["plain.md"]
    bundle({"index.md": '---\nokf_version: "0.3"\n---\n# I\n'})
    sync(run_cli, root)
    assert catalog("select path, trust_tier from concepts") == [("a.md", "unverified")]
    assert catalog("select path from reserved_files where kind = 'other' order by path") == ["plain.md", "untyped.md"]
    assert catalog("select count(*) from parse_errors") == [0]
    (root / "index.md").unlink()
    sync(run_cli, root)
    assert catalog("select path from concepts order by path") == ["a.md", "untyped.md"]
    assert catalog("select path from parse_errors") == ["plain.md"]


def test_new_extraction_version_reads_everything_again(bundle, run_cli, catalog, monkeypatch, tmp_path):
    root = bundle({"a.md": note("A"), "bad.md": "x\n"})
    settle_clock(monkeypatch)
    sync(run_cli, root)
    import sqlite3

    connection = sqlite3.connect(tmp_path / "catalog.db")
    connection.execute("update bundles set extraction_version = 0")
    connection.execute("update concepts set title = 'what an older release made of it'")
    connection.commit()
    connection.close()
    report = sync(run_cli, root)
    assert report["changed"] == [{"path": "a.md", "fields": ["title"]}]
    assert catalog("select title from concepts") == ["A"]
    assert sync(run_cli, root)["sync_id"] is None


def test_the_example_bundle_matches_its_description(run_cli, catalog):
    sync(run_cli, EXAMPLE)
    assert catalog("select count(*) from concepts") == [55]
    assert catalog("select count(*) from parse_errors") == [6]
    assert catalog("select count(*) from reserved_files") == [20]
    assert catalog("select trust_tier, count(*) from concepts group by 1 order by 1") == [
        ("human-reviewed", 22), ("machine-confirmed", 11), ("unverified", 22),
    ]
    assert catalog("select effective_status, count(*) from concepts group by 1 order by 1") == [
        ("deprecated", 3), ("draft", 4), ("stabel", 1), ("stable", 47),
    ]
    assert catalog("select count(*) from concepts where stale_after_utc <= '2026-12-01T00:00:00Z'") == [7]
    assert catalog("select distinct path from problems where check_id = 'broken_link'") == ["services/wake-up.md"]


def test_every_json_column_is_valid(bundle, run_cli, catalog):
    root = bundle({"a.md": "---\ntype: N\nx: .nan\ny: .inf\nz: 99999999999999999999\nw: 1e400\nparameters: [{name: .nan}]\n"
                           "tags: [2024, .inf]\n---\n"})  # fmt: skip
    sync(run_cli, root)
    assert catalog("select json_extract(frontmatter, '$.z') from concepts") == ["99999999999999999999"]
    assert catalog("select key, value from extra_keys order by key") == [
        ("w", '"1e400"'), ("x", "null"), ("y", "null"), ("z", '"99999999999999999999"'),
    ]
    assert catalog("select tags from concepts") == ['["2024",".inf"]']


def test_bundle_given_by_name(bundle, run_cli):
    root = bundle({"a.md": note("A")})
    sync(run_cli, root)
    bundle({"b.md": note("B")})
    assert sync(run_cli, "@bundle")["added"] == ["b.md"]
    status, out, err = run_cli("sync", "@nobody")
    assert (status, out) == (2, "")
    assert "nobody" in err
