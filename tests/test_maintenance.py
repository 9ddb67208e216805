"""`forget`, `compact` and `snapshot`: the file stays small, copies are consistent, nothing is left behind."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import threading

import pytest

from okf_catalog.catalog import maintenance
from tests.conftest import process
from tests.test_sync import note, sync
from tests.test_sync_property import check_integrity, state


def opened(path):
    return sqlite3.connect(path, isolation_level=None)


@pytest.mark.parametrize(("kept", "gone"), [(40, 3), (3, 40)], ids=["small one goes", "large one goes"])
def test_forgotten_bundle_leaves_nothing(bundle, run_cli, tmp_path, kept, gone):
    stays = bundle({f"{n}.md": note(f"Stay {n}", f"common word{n}") for n in range(kept)}, name="stays")
    leaves = bundle({f"{n}.md": note(f"Leave {n}", f"common zebrafish{n}") for n in range(gone)}
                    | {"index.md": "# Index\n\n[a](0.md) [b](nothing.md)\n", "bad.md": "no fence, a platypus"}, name="leaves")  # fmt: skip
    sync(run_cli, stays)
    sync(run_cli, leaves)
    status, out, _ = run_cli("forget", "@leaves", "--json")
    assert status == 0
    assert json.loads(out)["forgotten"] == [{"bundle": "leaves", "root": str(leaves), "concepts": gone}]
    connection = opened(tmp_path / "catalog.db")
    check_integrity(connection)
    tables = [row[0] for row in connection.execute("select name from sqlite_master where type = 'table'")]
    for table in tables:
        names = {row[1] for row in connection.execute(f"pragma table_info({table})")}
        if "bundle" in names:
            assert connection.execute(f"select count(*) from {table} where bundle = 'leaves'").fetchone() == (0,), table
    assert connection.execute("select count(*) from terms where term like 'zebra%' or term like 'platy%'").fetchone() == (0,)
    assert connection.execute("select count(*) from concepts_fts where concepts_fts match 'common'").fetchone() == (kept,)
    fresh = tmp_path / "fresh.db"
    assert run_cli("sync", stays, "--db", fresh)[0] == 0
    assert state(connection) == state(opened(fresh))
    assert (leaves / "0.md").exists()
    assert run_cli("search", "@stays", "common")[0] == 0


def test_forget_by_name_reference_and_directory(bundle, run_cli, catalog):
    for name in ("one", "two", "three"):
        sync(run_cli, bundle({"a.md": note()}, name=name))
    root = bundle({}, name="three")
    assert run_cli("forget", "-n", "one")[1].startswith("would forget one: 1 concept ")
    assert run_cli("forget", "one", "@two", root)[0] == 0
    assert catalog("select count(*) from bundles") == [0]
    status, out, err = run_cli("forget", "one")
    assert (status, out, err) == (2, "", "error: the catalog has no bundle one (it has: none)\n")


def test_forget_knows_a_directory_that_is_gone(bundle, run_cli, catalog):
    root = bundle({"a.md": note()})
    sync(run_cli, root)
    (root / "a.md").unlink()
    root.rmdir()
    assert run_cli("forget", root)[0] == 0
    assert catalog("select count(*) from bundles") == [0]


def test_compact_gives_room_back_and_changes_nothing(bundle, run_cli, tmp_path):
    sync(run_cli, bundle({f"{n}.md": note(str(n), f"word{n} " * 2000) for n in range(200)}, name="large"))
    sync(run_cli, bundle({"a.md": note()}, name="small"))
    assert run_cli("forget", "large")[0] == 0
    connection = opened(tmp_path / "catalog.db")
    before = state(connection)
    status, out, _ = run_cli("compact", "--json")
    done = json.loads(out)
    assert status == 0
    assert done["bytes_after"] * 3 < done["bytes_before"]
    assert done["bytes_after"] == maintenance.file_size(str(tmp_path / "catalog.db"))
    assert connection.execute("pragma freelist_count").fetchone() == (0,)
    assert state(connection) == before
    check_integrity(connection)


def test_compact_while_others_read(bundle, run_cli, tmp_path):
    sync(run_cli, bundle({f"{n}.md": note(str(n)) for n in range(50)}))
    reader = opened(tmp_path / "catalog.db")
    reader.execute("begin")
    assert reader.execute("select count(*) from concepts").fetchone() == (50,)
    assert run_cli("compact")[0] == 0
    assert reader.execute("select count(*) from concepts").fetchone() == (50,)
    reader.execute("commit")
    assert run_cli("compact")[0] == 0


def test_compact_drops_old_history_but_the_last_sync(bundle, run_cli, catalog, tmp_path):
    root = bundle({"a.md": note("A")})
    sync(run_cli, root)
    for title in ("B", "C"):
        bundle({"a.md": note(title)})
        sync(run_cli, root)
    connection = opened(tmp_path / "catalog.db")
    connection.execute("update sync_runs set finished_at = '2020-01-01T00:00:00Z'")
    connection.close()
    assert run_cli("compact", "--keep-history", "90d")[1].endswith("2 syncs of the history dropped\n")
    assert catalog("select r.id = b.last_sync_id from sync_runs r, bundles b") == [1]
    assert catalog("select count(distinct sync_id) from changes") == [1]
    assert run_cli("compact", "--keep-history", "soon")[0] == 2


def test_snapshot_can_be_published(bundle, run_cli, tmp_path):
    root = bundle({f"{n}.md": note(str(n), f"word{n}") for n in range(30)}, name="secret-place")
    sync(run_cli, root)
    target = tmp_path / "out" / "copy.db"
    target.parent.mkdir()
    assert run_cli("snapshot", target)[0] == 0
    assert os.listdir(target.parent) == ["copy.db"]
    data = target.read_bytes()
    assert str(root).encode() not in data
    assert data[18:20] == b"\x01\x01"  # no WAL: `datasette -i` and read-only disks can open it
    assert state(opened(target)) == state(opened(tmp_path / "catalog.db"))
    status, out, err = run_cli("find", "@secret-place", "--db", target, "--no-sync", "--json")
    assert json.loads(out)["count"] == 30
    # Nothing on any machine is taken for the bundle of a published copy.
    status, out, err = run_cli("find", "@secret-place", "--db", target, "--json")
    assert (status, json.loads(out)["count"]) == (0, 30)
    assert "is answered from a published copy, as of 2" in err
    assert run_cli("find", "@secret-place", "--db", target, "--fresh", "require")[0] == 1
    assert run_cli("snapshot", target)[0] == 2
    assert run_cli("snapshot", target, "--force")[0] == 0


def test_snapshot_from_a_read_only_copy(bundle, run_cli, tmp_path):
    sync(run_cli, bundle({"a.md": note()}))
    run_cli("snapshot", tmp_path / "copy.db", "--keep-roots")
    os.chmod(tmp_path / "copy.db", 0o444)
    assert run_cli("snapshot", tmp_path / "again.db", "--db", tmp_path / "copy.db")[0] == 0
    backup = opened(tmp_path / "copy.db")
    assert backup.execute("select root from bundle_roots").fetchone() == (str(tmp_path / "bundle"),)


def test_snapshot_refuses_what_makes_no_sense(bundle, run_cli, tmp_path):
    sync(run_cli, bundle({"a.md": note()}))
    (tmp_path / "link.db").symlink_to(tmp_path / "catalog.db")
    for target in (tmp_path / "catalog.db", tmp_path / "link.db", tmp_path, tmp_path / "no" / "where.db"):
        status, out, err = run_cli("snapshot", target, "--force")
        assert (status, out, err.count("\n")) == (2, "", 1), target
    assert run_cli("find", tmp_path / "bundle")[0] == 0


def test_snapshot_during_syncs_is_one_state(tmp_path):
    """Each copy holds one version of all files, however busy the catalog is."""
    root = tmp_path / "b"
    root.mkdir()

    def write(version):
        for number in range(300):
            (root / f"{number}.md").write_text(note(f"version {version}"))

    write(0)
    assert process("sync", root).returncode == 0
    stop = threading.Event()

    def keep_syncing():
        version = 0
        while not stop.is_set():
            version += 1
            write(version)
            process("sync", root)

    writer = threading.Thread(target=keep_syncing)
    writer.start()
    try:
        for number in range(6):
            target = tmp_path / f"copy{number}.db"
            done = process("snapshot", target)
            assert done.returncode == 0, done.stderr
            copy = opened(target)
            assert copy.execute("select count(distinct title), count(*) from concepts").fetchall() == [(1, 300)]
            check_integrity(copy)
    finally:
        stop.set()
        writer.join()


def test_killed_snapshot_leaves_the_old_copy(bundle, run_cli, tmp_path):
    sync(run_cli, bundle({f"{n}.md": note(str(n), f"word{n} " * 300) for n in range(500)}))
    target = tmp_path / "out" / "copy.db"
    target.parent.mkdir()
    assert run_cli("snapshot", target)[0] == 0
    before = target.read_bytes()
    for delay in (0.2, 0.25, 0.3, 0.4):
        child = subprocess.Popen([sys.executable, "-m", "okf_catalog", "snapshot", str(target), "--force"], stdout=subprocess.DEVNULL)
        try:
            child.wait(delay)
        except subprocess.TimeoutExpired:
            child.kill()
        child.wait()
        assert target.read_bytes()[100:] == before[100:]
