"""`doctor` finds each kind of damage, and `--repair` leaves a catalog equal to a fresh one."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3

import pytest

from okf_catalog.catalog import lock
from tests.conftest import EXAMPLE, process
from tests.test_sync import note
from tests.test_sync_property import check_integrity, state


@pytest.fixture
def settled(tmp_path, run_cli):
    """The example, synced: (root, catalog file, state)."""
    root = tmp_path / "moonmoth"
    shutil.copytree(EXAMPLE, root)
    # A process of its own closes the file, so that no log is left beside it.
    assert process("sync", root).returncode == 0
    connection = sqlite3.connect(tmp_path / "catalog.db")
    before = state(connection)
    connection.close()
    return root, tmp_path / "catalog.db", before


def damage(path, *statements):
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()


def errors(run_cli, *arguments):
    status, out, _ = run_cli("doctor", "--json", *arguments)
    found = json.loads(out)
    wrong = {each["check"] for each in found["checks"] if each["level"] == "error"}
    assert (status == 0) == found["sound"] == (not wrong)
    return wrong


def test_sound_catalog(settled, run_cli):
    assert errors(run_cli) == set()
    assert errors(run_cli, "--full") == set()
    status, out, err = run_cli("doctor")
    assert (status, err) == (0, "")
    assert out.endswith("The catalog is sound.\n")


SOME = "(select id from concepts limit 5)"
KINDS = {
    "body lost": (["delete from bodies where concept_id in " + SOME], {"bodies"}),
    "search text lost": (["delete from search_text where concept_id in " + SOME], {"search text", "index"}),
    "search text changed": (["update search_text set body = 'something else' where concept_id in " + SOME], {"index"}),
    "index row lost": (["insert into concepts_fts (concepts_fts, rowid, title, id, tags, type, description, sources, body) "
                        "select 'delete', concept_id, title, id, tags, type, description, sources, body from search_text limit 1"], {"index"}),
    "index dropped": (["drop table concepts_fts"], {"index"}),
    "index data lost": (["delete from concepts_fts_data where id > 10"], {"index"}),
    "trigrams lost": (["insert into terms_trigram (terms_trigram) values ('delete-all')"], {"index"}),
    "words lost": (["delete from terms where id % 7 = 0"], {"index", "vocabulary"}),
    "tags lost": (["delete from tags where concept_id in " + SOME], {"tags"}),
    "sources lost": (["delete from sources"], {"sources"}),
    "links unresolved": (["update links set target_id = null"], {"unresolved links"}),
    "links wrong": (["update links set target_id = (select max(id) from concepts) where target_id is not null"], {"link targets"}),
    "link to nowhere": (["update links set target_id = 99999 where target_id is not null"], {"link targets"}),
    "counts wrong": (["update bundles set concept_count = 7"], {"counts"}),
    "rows without parent": (["insert into tags values (99999, 0, 'x', 'x')", "insert into bodies values (99999, 'x')"], {"foreign keys"}),
    "concept lost": (["pragma foreign_keys = on", "delete from concepts where id in " + SOME], {"index", "counts", "link targets"}),
    "ghost": (["insert into concepts (bundle, path, concept_id, dir, top_dir, stem, effective_status, trust_tier, trust_current, "
               "frontmatter, content_hash, size) values ('moonmoth', 'ghost.md', 'ghost', '.', '(root)', 'ghost', 'stable', "
               "'unverified', 'unverified', '{}', '', 0)"], {"files", "counts", "bodies", "search text"}),
    "two places": (["insert into reserved_files select bundle, path, 'other', '', '' from concepts limit 2"], {"one place", "counts"}),
    "signature lost": (["delete from directories where dir = '.'"], {"files"}),
    "signature broken": (["update directories set signature = x'00ff'"], {"files"}),
    "json broken": (["pragma ignore_check_constraints = on", "update concepts set frontmatter = '{', tags = '[' where id in " + SOME],
                    {"json", "tags", "integrity"}),
    "id wrong": (["update concepts set concept_id = 'x' || id where id in " + SOME], {"ids"}),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_damage_is_found_and_mended(settled, run_cli, kind):
    _, path, before = settled
    statements, expected = KINDS[kind]
    damage(path, *statements)
    assert expected - errors(run_cli) <= {"tags", "integrity"}
    assert bool(errors(run_cli)) == bool(expected)
    status, out, err = run_cli("doctor", "--repair")
    assert (status, err) == (0, ""), out
    connection = sqlite3.connect(path)
    assert state(connection) == before
    check_integrity(connection)
    connection.close()
    assert errors(run_cli, "--full") == set()


def test_full_finds_what_only_a_fresh_build_tells(settled, run_cli):
    _, path, before = settled
    damage(path, "update concepts set title = 'Forged' where id = (select min(id) from concepts)")
    assert errors(run_cli) == set()
    assert errors(run_cli, "--full") == {"fresh build"}
    assert run_cli("doctor", "--repair", "--full")[0] == 0
    connection = sqlite3.connect(path)
    assert state(connection) == before


def test_row_ids_survive_a_repair(settled, run_cli, catalog):
    ids = catalog("select id, path from concepts order by id")
    damage(settled[1], "delete from bodies", "delete from search_text", "delete from links")
    assert run_cli("doctor", "--repair")[0] == 0
    assert catalog("select id, path from concepts order by id") == ids
    assert catalog("select count(*) from sync_runs") >= [1]


@pytest.mark.parametrize("seed", range(6))
def test_flipped_pages_are_built_anew_or_never_mattered(settled, run_cli, seed):
    """Whatever a bad disk does to the pages: no traceback, and after a repair the catalog is right."""
    root, path, before = settled
    chance = random.Random(seed)
    with open(path, "r+b") as file:
        size = os.path.getsize(path)
        for _ in range(6):
            file.seek(chance.randrange(16384, size))
            file.write(bytes(chance.randrange(256) for _ in range(200)))
    status, out, err = run_cli("doctor", "--repair", "--full")
    assert "Traceback" not in err
    if status == 2:  # not even the list of bundles can be read: the message says what to do
        assert "move" in err
        os.rename(path, str(path) + ".bad")
        assert run_cli("sync", root)[0] == 0
    else:
        assert status == 0, out + err
    connection = sqlite3.connect(path)
    assert state(connection) == before
    check_integrity(connection)


def test_damaged_file_is_kept_and_needs_its_bundles(settled, run_cli):
    root, path, before = settled
    connection = sqlite3.connect(path)
    page = connection.execute("select rootpage from sqlite_master where name = 'bodies'").fetchone()[0]
    size = connection.execute("pragma page_size").fetchone()[0]
    connection.close()
    with open(path, "r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)
    os.rename(root, str(root) + "-away")
    status, out, err = run_cli("doctor", "--repair")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "bring it back" in err
    os.rename(str(root) + "-away", root)
    assert run_cli("doctor", "--repair")[0] == 0
    assert os.path.exists(str(path) + ".damaged")
    connection = sqlite3.connect(path)
    assert state(connection) == before


def test_lock_of_a_process_that_is_gone(settled, run_cli):
    _, path, _ = settled
    gone = {"pid": 2**22 + 5, "host": os.uname().nodename, "started": "1", "since": "2026-01-01T00:00:00Z", "command": "okf-catalog sync x"}
    (path.parent / "catalog.db.lock").write_text(json.dumps(gone))
    assert lock.described(str(path)) == ""
    assert "was killed while it wrote" in run_cli("doctor")[1]
    assert run_cli("doctor", "--repair")[0] == 0
    assert not (path.parent / "catalog.db.lock").exists()


def test_doctor_tells_what_to_do_about_the_files(settled, run_cli):
    root = settled[0]
    (root / "new.md").write_text(note())
    assert "has files that changed since the last sync" in run_cli("doctor")[1]
    shutil.rmtree(root)
    status, out, _ = run_cli("doctor")
    assert status == 0
    assert f"! disk files: moonmoth: {root} does not exist" in out


def test_doctor_without_a_catalog(run_cli, tmp_path):
    status, out, err = run_cli("doctor")
    assert (status, out, err.count("\n")) == (2, "", 1)
    (tmp_path / "catalog.db").write_bytes(b"nothing of the kind" * 100)
    assert run_cli("doctor", "--repair")[0] == 2
