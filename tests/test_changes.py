"""`changes` and `history`: what syncs changed, as rows, for people, as a digest to mail."""

from __future__ import annotations

import csv
import io
import json
from collections import defaultdict

import pytest

from okf_catalog.catalog import writer
from okf_catalog.views import changes as view

OLD = "---\ntype: Note\ntitle: Old [x](http://e.org) <b>\ntags: [a]\n---\ntext\n"


@pytest.fixture
def lived(bundle, run_cli):
    """A bundle after four syncs that changed something."""
    root = bundle({"a.md": OLD, "b.md": "---\ntype: Note\n---\nb\n", "keep.md": "---\ntype: Note\n---\n"})
    assert run_cli("sync", root)[0] == 0  # 1
    (root / "a.md").write_text(OLD.replace("Old", "New").replace("[a]\n", "[a, b]\nstatus: deprecated\n").replace("text", "words"))
    (root / "b.md").write_text("broken")
    run_cli("sync", root)  # 2
    (root / "sub").mkdir()
    (root / "a.md").rename(root / "sub" / "z.md")
    (root / "b.md").write_text("---\ntype: Note\n---\nb\n")
    (root / "c.md").write_text("---\ntype: Note\n---\nc\n")
    run_cli("sync", root)  # 3
    (root / "c.md").unlink()
    run_cli("sync", root)  # 4
    return root


def rows(run_cli, *arguments) -> list[dict]:
    status, out, err = run_cli(*arguments, "--json")
    assert status == 0, err
    return json.loads(out)["changes"]


def test_newest_first_by_concept_and_field(lived, run_cli):
    found = [(row["sync"], row["path"], row["kind"], row["field"]) for row in rows(run_cli, "changes", lived)]
    assert found == [
        (4, "c.md", "removed", None),
        (3, "b.md", "repaired", None),
        (3, "c.md", "added", None),
        (3, "sub/z.md", "moved", "path"),
        (2, "a.md", "changed", "title"),
        (2, "a.md", "changed", "tags"),
        (2, "a.md", "changed", "effective_status"),
        (2, "a.md", "changed", "body"),
        (2, "b.md", "broken", None),
    ]


def test_values_before_and_after(lived, run_cli):
    by_field = {row["field"]: (row["old"], row["new"]) for row in rows(run_cli, "changes", lived, "--kind", "changed")}
    assert by_field["effective_status"] == ("stable", "deprecated")
    assert by_field["tags"] == (["a"], ["a", "b"])
    assert by_field["body"] == (None, None)
    assert rows(run_cli, "changes", lived, "--kind", "moved")[0]["old"] == "a.md"


@pytest.mark.parametrize(
    ("asked", "syncs"),
    [
        (["--since", "2"], {3, 4}),
        (["--since", "4"], set()),
        (["--since", "0"], {2, 3, 4}),
        (["--since", "1h"], {2, 3, 4}),
        (["--since", "7d", "--as-of", "2199-01-01"], set()),
        (["--since", "5000w", "--as-of", "0001-02-01"], {2, 3, 4}),
        (["--since", "2020-01-01"], {2, 3, 4}),
        (["--since", "2199-01-01T00:00:00+02:00"], set()),
        (["--kind", "removed", "--kind", "ADDED"], {3, 4}),
        (["--field", "status", "--field", "path"], {2, 3}),
        (["--field", "effective_status", "--kind", "moved"], set()),
        (["--offset", "1", "--limit", "3"], {3}),
    ],
)
def test_narrowed(lived, run_cli, asked, syncs):
    assert {row["sync"] for row in rows(run_cli, "changes", lived, *asked)} == syncs


def test_an_instant_counts_the_sync_that_ended_then(lived, run_cli, catalog):
    ((at,),) = [(row,) for row in catalog("select finished_at from sync_runs where id = 4")]
    assert 4 in {row["sync"] for row in rows(run_cli, "changes", lived, "--since", at)}


def test_a_number_beyond_the_last_sync_is_remarked_on(lived, run_cli):
    status, out, err = run_cli("changes", lived, "--since", "99")
    assert (status, err) == (0, "note: the newest sync that changed something is 4\n")
    assert out == f"Changes — {lived} since sync 99 (none)\n"


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (["--since", "yesterday"], "--since yesterday: write a date (2027-01-01), an instant, a time back (7d, 12h) or the number of a sync"),
        (["--kind", "edited"], "--kind edited: choose one of added, changed, moved, removed, broken, repaired, failed"),
        (["--field", "colour"], "--field colour: choose one of type, title, description, tags, status, trust_tier, trust_current, "
                                "verified_at, generated_by, generated_at, stale_after, resource, runtime, body, frontmatter, path"),
        (["--fields", "who"], "unknown field(s): who (available: sync, at, path, title, kind, field, old, new)"),
        (["--format", "ics"], "--format ics: choose one of table, markdown, json, ndjson, csv, tsv"),
    ],
)  # fmt: skip
def test_usage_errors(lived, run_cli, asked, message):
    assert run_cli("changes", lived, *asked) == (2, "", f"error: {message}\n")


def test_a_second_bundle_is_a_usage_error(lived, run_cli):
    status, out, err = run_cli("changes", lived, lived)
    assert (status, out, err.count("\n")) == (2, "", 1)


def test_the_fields_are_those_that_the_writer_notes():
    assert set(view.FIELDS) == {*writer._COMPARED, "body", "frontmatter", "path"}


def test_the_digest_shows_text_as_text(lived, run_cli):
    status, out, _ = run_cli("changes", lived, "--format", "markdown")
    assert status == 0
    assert out.startswith(f"# What changed in {lived.name}\n\n1 added, 1 changed, 1 moved, 1 removed, 1 broken, 1 repaired.\n\n## ")
    assert "\nMoved:\n\n- **New \\[x\\]\\(http://e.org\\) \\<b\\>** (`sub/z.md`): moved from a.md\n" in out
    assert "status: stable → deprecated; body changed\n" in out
    from markdown_it import MarkdownIt

    page = MarkdownIt("commonmark").render(out)
    assert "<b>" not in page
    assert "href" not in page
    assert "New [x](http://e.org) &lt;b&gt;" in page


def test_the_digest_counts_files_and_says_what_it_leaves_out(lived, run_cli):
    assert run_cli("changes", lived, "--format", "markdown", "--limit", "2")[1].endswith("\n… and 7 more.\n")
    assert run_cli("changes", lived, "--format", "markdown", "--since", "4")[1] == f"# What changed in {lived.name} since sync 4\n\nNothing.\n"


def test_rows_for_programs(lived, run_cli):
    out = run_cli("changes", lived, "--format", "csv", "--fields", "path,old,new", "--field", "tags")[1]
    assert list(csv.reader(io.StringIO(out))) == [["path", "old", "new"], ["a.md", "a", "a,b"]]
    lines = run_cli("changes", lived, "--format", "ndjson")[1].splitlines()
    assert [json.loads(line)["sync"] for line in lines] == [4, 3, 3, 3, 2, 2, 2, 2, 2]


def test_a_bundle_that_was_only_added_has_no_changes(bundle, run_cli):
    root = bundle({"a.md": OLD})
    assert run_cli("changes", root) == (0, f"Changes — {root} (none)\n", "")  # in memory
    run_cli("sync", root)
    assert rows(run_cli, "changes", root) == []


# -- one concept -------------------------------------------------------------------------


def test_history_follows_moves_back(lived, run_cli):
    found = defaultdict(list)
    for row in rows(run_cli, "history", "sub/z"):
        found[row["path"]].append(row["field"])
    assert found == {"sub/z.md": ["path"], "a.md": ["title", "tags", "effective_status", "body"]}


def test_history_through_several_names(bundle, run_cli):
    root = bundle({"a.md": OLD})
    run_cli("sync", root)
    for old, new in (("a.md", "b.md"), ("b.md", "c.md"), ("c.md", "a.md")):
        (root / old).rename(root / new)
        run_cli("sync", root)
    assert [(row["old"], row["new"]) for row in rows(run_cli, "history", "a.md")] == [("c.md", "a.md"), ("b.md", "c.md"), ("a.md", "b.md")]


def test_history_of_what_is_gone(lived, run_cli):
    assert [row["kind"] for row in rows(run_cli, "history", "c.md")] == ["removed", "added"]
    status, out, err = run_cli("history", "a")
    assert (status, err) == (0, "note: a.md is sub/z.md now\n")
    assert out.startswith(f"History — a.md  ·  @{lived.name} (4 changes)\n\n  sync 2  ")


def test_history_of_what_never_changed(lived, run_cli):
    status, out, _ = run_cli("history", "keep")
    assert status == 0
    assert "nothing changed since the first sync, 20" in out
    whole = json.loads(run_cli("history", "keep", "--json")[1])
    assert (whole["count"], whole["changes"], whole["path"]) == (0, [], "keep.md")


def test_history_of_nothing(lived, run_cli):
    assert run_cli("history", "nowhere") == (2, "", "error: there is no nowhere in the catalog\n")
    assert run_cli("history", "c.md", "--bundle", lived)[0] == 0
