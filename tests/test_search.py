"""`okf-catalog search`: arguments, filters, envelopes, what is printed and what is loaded."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import time

import pytest

import okf_catalog
from okf_catalog.errors import BundleError, UsageError
from tests.conftest import EXAMPLE, process
from tests.test_sync import note

FILES = {
    "dedup-key.md": "---\ntype: Metric\ntitle: Dedup key\ntags: [events, Größe]\n---\nOne event, one key.\n",
    "tables/events.md": "---\ntype: Table\ntitle: Events\ndescription: Each row is one event.\nstatus: draft\n---\nThe dedup\nkey is `event_key`.\n",
    "tables/old.md": "---\ntype: Table\ntitle: Old events\nstatus: deprecated\nstale_after: 2026-01-01\n---\nHad no dedup.\n",
    "notes/plain.md": "---\ntype: Note\nsources:\n  - {title: Event handbook, resource: 'https://example.com/dedup'}\n---\nx\n",
    "notes/broken.md": "---\ntype: [Note\n---\nThe dedup key of a broken file.\n",
}


@pytest.fixture
def events(bundle):
    return bundle(FILES, name="events")


@pytest.fixture
def search(run_cli):
    """A function that searches and returns the JSON document."""

    def ask(*arguments):
        status, out, err = run_cli("search", *arguments, "--json")
        assert status == 0, err
        return json.loads(out)

    return ask


def found(document):
    return [row["id"] for row in document["matches"]]


def test_envelope_and_row(events, search):
    document = search(events, "dedup")
    assert list(document) == ["bundle", "query", "count", "matches"]
    assert document["bundle"] == str(events)
    assert document["query"] == ["dedup"]
    assert document["count"] == 4
    assert document["matches"][0] == {
        "id": "dedup-key", "title": "Dedup key", "type": "Metric", "dir": ".", "top_dir": "(root)",
        "tags": ["events", "Größe"], "matched": ["title", "id"], "score": 9, "snippet": "",
    }  # fmt: skip
    assert [(row["id"], row["score"], row["matched"]) for row in document["matches"][1:]] == [
        ("notes/plain", 1, ["sources"]), ("tables/events", 1, ["body"]), ("tables/old", 1, ["body"]),
    ]  # fmt: skip
    assert document["matches"][1]["title"] == "plain"
    assert document["matches"][2]["snippet"] == "The dedup key is `event_key`."


def test_every_term_has_to_match_somewhere(events, search):
    assert found(search(events, "dedup", "draft")) == []
    assert found(search(events, "dedup", "row")) == ["tables/events"]
    assert found(search(events, "dedup key")) == ["dedup-key", "tables/events"]
    assert found(search(events, "", "row")) == ["tables/events"]
    assert search(events, " ")["count"] == 0


def test_fields(events, search, run_cli):
    assert found(search(events, "dedup", "--in", "body,sources")) == ["notes/plain", "tables/events", "tables/old"]
    assert found(search(events, "event", "--in", "TITLE")) == ["tables/events", "tables/old"]
    status, out, err = run_cli("search", events, "x", "--in", "title,bogus")
    assert (status, out) == (2, "")
    assert "unknown field(s): bogus (searchable: title, id, tags, type, description, sources, body)" in err


@pytest.mark.parametrize(("options", "expected"), [
    (["--type", "TABLE"], ["tables/events", "tables/old"]),
    (["--type", "table", "--type", "note"], ["notes/plain", "tables/events", "tables/old"]),
    (["--not-type", "table"], ["dedup-key", "notes/plain"]),
    (["--dir", "tables/"], ["tables/events", "tables/old"]),
    (["--dir", "."], ["dedup-key"]),
    (["--dir", "root"], ["dedup-key"]),
    (["--tag", "GRÖSSE"], ["dedup-key"]),
    (["--not-tag", "events"], ["notes/plain", "tables/events", "tables/old"]),
    (["--status", "stable"], ["dedup-key", "notes/plain"]),
    (["--not-status", "Deprecated", "--not-status", "draft"], ["dedup-key", "notes/plain"]),
    (["--trust", "unverified", "--dir", "notes"], ["notes/plain"]),
    (["--stale-only"], ["tables/old"]),
    (["--stale-only", "--as-of", "2025-12-30"], []),
    (["--limit", "2"], ["dedup-key", "notes/plain"]),
    (["--limit", "2", "--offset", "1"], ["notes/plain", "tables/events"]),
    (["--limit", "0"], []),
    (["--offset", "9"], []),
])  # fmt: skip
@pytest.mark.parametrize("engine", ["scan", "fts5"])
def test_filters_and_paging(events, search, options, expected, engine):
    document = search(events, "dedup", *options, "--engine", engine)
    if engine == "scan" or not {"--limit", "--offset"} & {*options}:
        assert sorted(found(document)) == sorted(expected)
    assert document["count"] == (4 if {"--limit", "--offset"} & {*options} else len(expected))


def test_an_unknown_value_is_remarked_on(events, run_cli):
    for option, value, near in (
        ("--type", "metrik", "Metric"), ("--tag", "event", "events"), ("--status", "depricated", "deprecated"),
        ("--trust", "unverifed", "unverified"), ("--dir", "table", "tables"), ("--not-type", "tabel", "Table"),
    ):  # fmt: skip
        status, out, err = run_cli("search", events, "dedup", option, value, "--json")
        assert status == 0
        assert json.loads(out)["count"] == (4 if "not" in option else 0)
        assert f"`{value}`; near it: " in err
        assert near in err


def test_order_of_checks(events, run_cli):
    for arguments, words in (
        ([], "name a bundle and a term"),
        (["nowhere", "x"], "nowhere"),
        (["@nowhere"], "@nowhere"),
        ([str(events)], "no term to search for"),
        ([str(events), "x", "--in", "bogus", "-e", "--fuzzy"], "unknown field"),
        ([str(events), "x", "-e", "--fuzzy", "--engine", "bogus"], "mutually exclusive"),
        ([str(events), "(", "-e", "--engine", "bogus"], "unknown search engine: bogus (available: fts5, scan)"),
        ([str(events), "(", "-e", "--engine", "index"], "--engine fts5 does not support --regexp (try --engine scan)"),
        ([str(events), "x", "--fuzzy", "--engine", "scan"], "--engine scan does not support --fuzzy (try --engine fts5)"),
        ([str(events), "x", "--fields", "id", "--except", "id"], "exclude each other"),
        ([str(events), "x", "--fields", "id,slug"], "unknown field(s): slug (available: id, title, type"),
        ([str(events), "x", "--limit", "-1"], "--limit"),
    ):
        status, out, err = run_cli("search", *arguments)
        assert (status, out) == (2, ""), arguments
        assert words in err, err
        assert len([line for line in err.splitlines() if not line.startswith("note:")]) == 1


@pytest.mark.parametrize("pattern", ["(a", "[b", "a)", "*", "\\", "(?<n", "a{2,1}", "(?P<n>a)(?P<n", "[[:bogus:]]", "(?<=a*)b\\g<9>"])
def test_bad_patterns_are_one_line(events, run_cli, pattern):
    status, out, err = run_cli("search", events, "-e", pattern)
    lines = [line for line in err.splitlines() if not line.startswith("note:")]
    assert (status, out, len(lines)) in ((2, "", 1), (0, out, 0))


def test_patterns(events, search):
    assert found(search(events, "-e", "dedup$")) == ["notes/plain", "tables/events"]
    assert found(search(events, "-e", "^the dedup\\s+key")) == ["tables/events"]
    assert found(search(events, "-e", "event_[a-z]+")) == ["tables/events"]
    assert found(search(events, "-e", "gr(ö|oe)sse")) == ["dedup-key"]
    assert search(events, "-e", "dedup\nkey")["matches"][0]["snippet"] == "The dedup key is `event_key`."


def test_a_pattern_has_a_time_limit(events, monkeypatch, run_cli):
    from okf_catalog.search import patterns

    monkeypatch.setattr(patterns, "SECONDS", 0.2)
    (events / "evil.md").write_text(note("Evil", "a" * 40 + "!"))
    status, out, err = run_cli("search", events, "-e", "(a|aa)+$")
    assert (status, out) == (2, "")
    assert "takes more than 0.2 s on one text" in err
    monkeypatch.setattr(patterns, "ALL_SECONDS", -1)
    assert "give them a word they must hold" in run_cli("search", events, "-e", "x+")[2]


def test_engines_by_name(events, search):
    for name in ("fts5", "index", "FTS5", "ind", "f", " scan ", ""):
        assert "dedup-key" in found(search(events, "dedup", "--engine", name))
    assert found(search(events, "edup", "--engine", "index")) == []


def test_words_that_are_not_found_are_remarked_on(events, run_cli):
    status, out, err = run_cli("search", events, "edup", "--engine", "fts5", "--json", "--explain")
    assert (status, json.loads(out)["count"]) == (0, 0)
    assert "note: 4 concepts hold the text without being found by fts5; --engine scan finds them" in err
    assert "note: fts5 does not find dedup-key.md" in err


def test_explain_stays_on_stderr(events, run_cli):
    plain = run_cli("search", events, "dedup", "--json")
    explained = run_cli("search", events, "dedup", "--json", "--explain")
    assert explained[:2] == plain[:2]
    assert "dedup-key.md scores 9: title 5 + id 4" in explained[2]
    assert "scan reads the text `dedup`" in explained[2]


def test_unusable_files_are_told_of(events, run_cli, search):
    _, out, err = run_cli("search", events, "dedup key", "--json")
    assert "note: 1 unusable file(s)" in err
    assert "note: 1 unusable file holds the text, too: notes/broken.md" in err
    assert "notes/broken" not in found(json.loads(out))
    rows = search(events, "dedup key", "--fields", "path,parse_error")["matches"]
    assert rows == [
        {"path": "dedup-key.md", "parse_error": False}, {"path": "tables/events.md", "parse_error": False},
        {"path": "notes/broken.md", "parse_error": True},
    ]  # fmt: skip
    _, out, _ = run_cli("search", events, "dedup key")
    assert "notes/broken" in out
    assert "(parse error)" in out
    for options in (["--type", "note"], ["--in", "body"], ["--fuzzy"]):
        _, out, err = run_cli("search", events, "dedup key", *options)
        assert "notes/broken" not in out + err


def test_formats(events, run_cli):
    for form, first in (
        ("ndjson", '{"id":"dedup-key","title":"Dedup key"'), ("csv", "id,title,type"), ("tsv", "id\ttitle\ttype"),
        ("markdown", "| Concept | Title | Type | Matched | Score | Text |"), ("table", "Concept"), ("json", '{"bundle":'),
    ):  # fmt: skip
        status, out, _ = run_cli("search", events, "dedup", "--format", form)
        assert status == 0
        assert out.lstrip().startswith(first), form
    status, out, _ = run_cli("search", events, "dedup", "--fields", "path,score", "--format", "csv")
    assert out.splitlines()[:2] == ["score,path", "9,dedup-key.md"]
    _, out, _ = run_cli("search", events, "dedup", "--pretty", "--except", "snippet,tags")
    assert json.loads(out)["matches"][0].keys() == {"id", "title", "type", "dir", "top_dir", "matched", "score"}


def test_for_people(events, run_cli):
    _, out, _ = run_cli("search", events, "dedup", "--limit", "1")
    assert out.splitlines() == [
        f"Search — {events} · dedup (4 concepts)", "", "  dedup-key  Dedup key  ·  Metric  ·  title+id", "",
        "  … and 3 more (--limit, --offset)",
    ]  # fmt: skip
    _, out, _ = run_cli("search", events, "row")
    assert out.splitlines() == [
        f"Search — {events} · row (1 of 4 concepts)", "", "  tables/events  Events  ·  Table  ·  description", "    Each row is one event.",
    ]  # fmt: skip
    _, out, _ = run_cli("search", events, "zzqxqzz")
    assert out.splitlines()[0].endswith("· zzqxqzz (0 of 4 concepts)")
    assert "no matches" in out


def test_several_bundles_have_one_ranking(bundle, run_cli, search):
    one, two = bundle({"a.md": note("Tide"), "b.md": note("Ebb", "tide")}, "one"), bundle({"a.md": note("Flow", "tide")}, "two")
    run_cli("sync", one)
    run_cli("sync", two)
    document = search("@two", "@one", "tide")
    assert list(document) == ["bundles", "query", "count", "matches"]
    assert document["bundles"] == [{"slug": "two", "dir": str(two)}, {"slug": "one", "dir": str(one)}]
    assert [(row["slug"], row["id"], row["score"]) for row in document["matches"]] == [("one", "a", 5), ("one", "b", 1), ("two", "a", 1)]
    assert [bundle["slug"] for bundle in search("@all", "tide")["bundles"]] == ["one", "two"]
    assert [row["slug"] for row in search("@ONE", "tide")["matches"]] == ["one", "one"]
    status, out, err = run_cli("search", "@one", "tide", "@two", "--json")
    assert json.loads(out)["count"] == 0
    assert "'@two' searches as a literal term" in err
    status, out, err = run_cli("search", "@three", "tide")
    assert (status, out) == (2, "")
    assert "literal @-term" in err


def test_answers_follow_the_files(events, search, run_cli, catalog):
    run_cli("sync", events)
    (events / "tables" / "old.md").write_text(note("Old", "nothing here"))
    (events / "new.md").write_text(note("New", "dedup"))
    assert "tables/old" in found(search(events, "dedup", "--no-sync"))
    assert found(search(events, "dedup"))[1:] == ["new", "notes/plain", "tables/events"]
    assert "new.md" in catalog("select path from concepts")


def test_an_unknown_directory_leaves_no_trace(events, search, tmp_path):
    assert search(events, "dedup")["count"] == 4
    assert not (tmp_path / "catalog.db").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_catalog_that_cannot_be_written(events, search, run_cli, tmp_path):
    run_cli("sync", events)
    os.chmod(tmp_path / "catalog.db", stat.S_IREAD)
    assert search(events, "本文", "dedup")["count"] == 0


def test_the_python_face(events, run_cli, tmp_path):
    with okf_catalog.open(events) as bundle:
        rows = bundle.search(["dedup", "key"], type="metric")
        assert [row.id for row in rows] == ["dedup-key"]
        assert rows[0]._asdict()["matched"] == ["title", "id", "body"]
        assert (rows.total, rows.notes) == (1, [])
        assert rows[0].path == "dedup-key.md"
        assert [row.id for row in bundle.search("event", limit=1, offset=1, fields=["title"])] == ["tables/old"]
        assert [row.path for row in bundle.search("dedup key").broken] == ["notes/broken.md"]
        assert bundle.search("x", tag="event").notes == ["no concept has the tag `event`; near it: events"]
        assert [row.id for row in bundle.search("even+ts", regexp=True, stale_only=True, as_of="2026-06-01")] == ["tables/old"]
        with pytest.raises(UsageError):
            bundle.search("x", regexp=True, fuzzy=True)
        with pytest.raises(UsageError):
            bundle.search("x", as_of="someday")
    run_cli("sync", events)
    for place in ("@events", tmp_path / "catalog.db"):
        assert okf_catalog.open(place).search("dedup", engine="index").total == 4
    with pytest.raises(BundleError):
        okf_catalog.open(tmp_path / "nowhere")


def test_a_settled_bundle_is_searched_without_parsers(events):
    process("sync", events)
    time.sleep(2.1)  # until then the files count as unsettled and are read again
    process("sync", events)
    heavy = {"yaml", "sqlite_utils", "rich", "pyromark", "datasette", "pydantic", "markdown_it", "regex", "pluggy"}
    for options in ([], ["--engine", "fts5", "--json"], ["--fuzzy", "--type", "table", "--limit", "1"]):
        arguments = ["search", str(events), "dedup", *options]
        code = f"from okf_catalog.cli import main; assert main({arguments!r}) == 0; import sys; print(sorted(sys.modules), file=sys.stderr)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        modules = {name.strip("' ").split(".")[0] for name in done.stderr.splitlines()[-1].strip("[]").split(",")}
        assert "okf_catalog" in modules
        assert modules & heavy == set()


def test_a_closed_pipe_and_no_terminal(events):
    done = subprocess.run(f"{sys.executable} -m okf_catalog search {EXAMPLE} e --format ndjson | head -1", shell=True, capture_output=True, text=True, check=True)
    assert done.stdout.count("\n") == 1
    assert "Traceback" not in done.stderr


def test_the_shipped_example(run_cli, search):
    assert found(search(EXAMPLE, "wake-up knock"))[0] == "policies/quiet-hours"
    assert found(search(EXAMPLE, "conductor's master key")) == ["runbooks/evening/overbooked-wagon"]
    assert "references/depot-addresses" in found(search(EXAMPLE, "STRASSE"))
    assert found(search(EXAMPLE, "7.2.0", "--engine", "fts5")) == ["services/berth-board"]
    assert "glossary/shindai" in found(search(EXAMPLE, "夜行", "--engine", "fts5"))
