"""How old an answer is, how fresh it has to be, and what `-v` tells."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from datetime import datetime, timedelta, timezone

import pytest

from okf_catalog.catalog import database
from okf_catalog.catalog.freshness import asking, is_recent, view_directory
from okf_catalog.catalog.sync import bundle_named, system_clock
from tests.conftest import process
from tests.test_sync import note, sync

MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
QUESTIONS = [["find"], ["validate"], ["search", ..., "note"], ["stats"], ["types"], ["lint"]]


@pytest.fixture
def synced(bundle, run_cli):
    root = bundle({"a.md": note("A"), "b.md": note("B")})
    sync(run_cli, root)
    return root


def with_bundle(question, root):
    return [root if word is ... else word for word in question] if ... in question else [*question, root]


def age_by(tmp_path, seconds):
    moment = (datetime.now(timezone.utc) - timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")
    connection = sqlite3.connect(tmp_path / "catalog.db")
    connection.execute("update bundles set last_synced_at = ?", (moment,))
    connection.commit()
    connection.close()
    return moment


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question[0])
def test_provenance_stands_in_the_head(synced, run_cli, tmp_path, question):
    words = with_bundle(question, synced)
    plain = json.loads(run_cli(*words, "--json")[1])
    told = json.loads(run_cli(*words, "--json", "--provenance")[1])
    assert list(told)[:3] == ["bundle", "synced_at", "provenance"]
    (rest,) = told.pop("provenance")
    assert rest["fresh"] is True
    assert rest["root"] == str(synced)
    assert MOMENT.fullmatch(told.pop("synced_at"))
    assert told == plain
    moment = age_by(tmp_path, 7200)
    told = json.loads(run_cli(*words, "--json", "--provenance", "--fresh", "never")[1])
    assert told["synced_at"] == moment
    assert told["provenance"][0]["fresh"] is False


def test_provenance_of_other_formats_is_a_note(synced, run_cli, tmp_path):
    status, out, err = run_cli("find", synced, "--provenance", "--format", "csv")
    assert status == 0
    assert out == run_cli("find", synced, "--format", "csv")[1]
    assert re.fullmatch(r"note: bundle is answered as of \S+Z \(looked at now\)\n", err)
    moment = age_by(tmp_path, 7230)
    assert run_cli("find", synced, "--provenance", "--fresh=never")[2] == f"note: bundle is answered as of {moment} (2 h ago)\n"
    for line in run_cli("find", synced, "--provenance", "--format", "ndjson")[1].splitlines():
        assert "synced_at" not in json.loads(line)


def test_fresh_never_does_not_look(synced, run_cli):
    (synced / "c.md").write_text(note("C"))
    assert json.loads(run_cli("find", synced, "--json", "--fresh", "never")[1])["count"] == 2
    assert json.loads(run_cli("find", synced, "--json", "--fresh", "auto")[1])["count"] == 3


@pytest.mark.parametrize("question", [*QUESTIONS, ["show", "a", "--bundle"]], ids=lambda question: question[0])
def test_fresh_require_fails_where_the_answer_would_be_old(synced, run_cli, tmp_path, question):
    words = with_bundle(question, "@bundle")
    assert run_cli(*words, "--fresh", "require")[0] == 0
    shutil.move(synced, tmp_path / "away")
    status, _, err = run_cli(*words)
    assert status == 0
    assert "is answered as of" in err
    status, out, err = run_cli(*words, "--fresh", "require")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert err.startswith("error: bundle could only be answered as of 2")


def test_fresh_require_while_another_writes(synced, run_cli, tmp_path):
    (synced / "c.md").write_text(note("C"))
    holder = sqlite3.connect(tmp_path / "catalog.db", isolation_level=None)
    holder.execute("begin immediate")
    assert run_cli("find", synced, "--fresh", "require")[0] == 1
    holder.execute("rollback")
    assert run_cli("find", synced, "--fresh", "require")[0] == 0


def test_fresh_is_checked(synced, run_cli):
    assert run_cli("find", synced, "--fresh", "soon") == (2, "", "error: --fresh soon: choose one of auto, never, require\n")
    assert run_cli("find", synced, "--no-sync", "--fresh", "require")[0] == 2


def test_directory_that_no_catalog_knows_is_always_fresh(bundle, run_cli):
    root = bundle({"a.md": note()}, name="unknown")
    told = json.loads(run_cli("find", root, "--json", "--provenance", "--fresh", "require")[1])
    assert [rest["fresh"] for rest in told["provenance"]] == [True]


def test_several_bundles_are_as_old_as_the_oldest(bundle, run_cli, tmp_path):
    for name in ("one", "two"):
        sync(run_cli, bundle({"a.md": note()}, name=name))
    connection = sqlite3.connect(tmp_path / "catalog.db")
    connection.execute("update bundles set last_synced_at = '2026-01-01T00:00:00Z' where name = 'two'")
    connection.commit()
    told = json.loads(run_cli("search", "@one", "@two", "note", "--json", "--provenance", "--no-sync")[1])
    assert told["synced_at"] == "2026-01-01T00:00:00Z"
    assert len(told["provenance"]) == 2


def test_what_a_library_call_rests_on(synced, tmp_path):
    with asking("never") as question:
        view_directory(str(synced), str(tmp_path / "catalog.db"), clock=system_clock)
    assert [rest.is_fresh for rest in question.rests.values()] == [False]


def test_recent_or_not(synced, tmp_path):
    connection = database.open_existing(str(tmp_path / "catalog.db"))
    known = bundle_named(connection, "bundle")
    now = datetime.now(timezone.utc)
    assert is_recent(connection, known, now + timedelta(minutes=5), timedelta(minutes=10)) > 290
    assert is_recent(connection, known, now + timedelta(minutes=15), timedelta(minutes=10)) is None
    # The clock went back: a sync in the future proves nothing.
    assert is_recent(connection, known, now - timedelta(hours=1), timedelta(minutes=10)) is None
    assert is_recent(connection, known._replace(extraction_version=0), now, timedelta(minutes=10)) is None


def test_verbose_goes_to_stderr_only(synced):
    plain = process("find", synced)
    told = process("find", synced, "-v")
    assert told.stdout == plain.stdout
    assert "note: bundle is answered as of" in told.stderr
    detailed = process("find", "-vv", synced)
    assert detailed.stdout == plain.stdout
    assert re.search(r"^\d\d:\d\d:\d\d\.\d{3} (info|debug): ", detailed.stderr, re.MULTILINE)
    assert process("-v").stdout == process("version").stdout
