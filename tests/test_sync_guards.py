"""What looks like an accident is refused, and what cannot be read is kept."""

import json
import os
import sqlite3

import pytest

# A child that gives up its rights may not be able to import what this user can.
import okf_catalog.catalog.ingest
import okf_catalog.catalog.queries
import okf_catalog.cli.find
import okf_catalog.cli.sync  # noqa: F401
from tests.test_sync import note, sync

SKIP_ROOT = os.geteuid() == 0


def test_missing_root(bundle, run_cli, catalog):
    root = bundle({"a.md": note("A"), "b.md": note("B")})
    sync(run_cli, root)
    root.rename(root.with_name("elsewhere"))
    status, out, err = run_cli("sync", root)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert str(root) in err
    assert catalog("select count(*) from concepts") == [2]
    status, _, _ = run_cli("sync", "@bundle")
    assert status == 2
    root.with_name("elsewhere").rename(root)
    assert sync(run_cli, root)["sync_id"] is None


def test_a_file_instead_of_a_directory(tmp_path, run_cli):
    (tmp_path / "x.md").write_text("x")
    status, out, err = run_cli("sync", tmp_path / "x.md")
    assert (status, out) == (2, "")
    assert "is not a directory" in err


def test_suddenly_empty_root(bundle, run_cli, catalog):
    root = bundle({"a.md": note("A")})
    sync(run_cli, root)
    (root / "a.md").unlink()
    status, out, err = run_cli("sync", root)
    assert (status, out) == (2, "")
    assert "--allow-removals" in err
    assert catalog("select path from concepts") == ["a.md"]
    assert sync(run_cli, root, "--allow-removals")["removed"] == ["a.md"]
    assert catalog("select count(*) from concepts") == [0]


def test_new_empty_directory_is_no_accident(bundle, run_cli):
    root = bundle({}, name="fresh")
    status, _, err = run_cli("sync", root)
    assert status == 0
    assert "holds no markdown" in err


@pytest.mark.parametrize(("total", "gone", "refused"), [(20, 11, True), (20, 10, False), (19, 18, False)])
def test_mass_removal(bundle, run_cli, catalog, total, gone, refused):
    root = bundle({f"{number:02}.md": note(f"N{number}", f"text {number}") for number in range(total)})
    sync(run_cli, root)
    for number in range(gone):
        (root / f"{number:02}.md").unlink()
    status, _, err = run_cli("sync", root)
    assert status == (2 if refused else 0), err
    assert catalog("select count(*) from concepts") == [total if refused else total - gone]
    if refused:
        assert f"{gone} of the {total}" in err
        assert sync(run_cli, root, "--allow-removals")["counts"]["removed"] == gone


def test_moving_everything_is_no_removal(bundle, run_cli, catalog):
    root = bundle({f"{number:02}.md": note(f"N{number}", f"text {number}") for number in range(30)})
    sync(run_cli, root)
    (root / "sub").mkdir()
    for number in range(30):
        (root / f"{number:02}.md").rename(root / "sub" / f"{number:02}.md")
    report = sync(run_cli, root)
    assert report["counts"]["moved"] == 30
    assert report["counts"]["removed"] == 0


def as_nobody(action):
    """Run `action` in a child that may not read everything; returns what it printed, fails as it fails."""
    if not SKIP_ROOT:
        action()
        return
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.setgid(65534)
            os.setuid(65534)
            action()
            status = 0
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


@pytest.fixture
def open_tmp(tmp_path, monkeypatch):
    """A directory that every user can reach and write, with the catalog in it."""
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory(prefix="okf-test-") as name:
        os.chmod(name, 0o777)
        monkeypatch.setenv("OKF_CATALOG_DB", f"{name}/catalog.db")
        monkeypatch.setenv("OKF_HOME", f"{name}/home")
        yield Path(name)


def test_unreadable_directory_keeps_its_concepts(open_tmp, run_cli):
    (open_tmp / "b" / "sub" / "deep").mkdir(parents=True)
    (open_tmp / "b" / "a.md").write_text(note("A"))
    (open_tmp / "b" / "sub" / "s.md").write_text(note("S"))
    (open_tmp / "b" / "sub" / "deep" / "d.md").write_text(note("D"))

    def check():
        sync(run_cli, open_tmp / "b")
        parent_changes_mode(0o000)
        report = sync(run_cli, open_tmp / "b")
        assert report["removed"] == []
        assert [place["dir"] for place in report["unreadable"]] == ["sub"]
        parent_changes_mode(0o755)
        report = sync(run_cli, open_tmp / "b")
        assert report["sync_id"] is None
        assert report["concepts"] == 3

    def parent_changes_mode(mode):
        os.chmod(open_tmp / "b" / "sub", mode)

    for path in (open_tmp / "b", open_tmp / "b" / "sub", open_tmp / "b" / "sub" / "deep"):
        os.chmod(path, 0o777)
        if SKIP_ROOT:
            os.chown(path, 65534, 65534)
    as_nobody(check)


def test_unreadable_file_is_tried_again(open_tmp, run_cli):
    (open_tmp / "b").mkdir()
    path = open_tmp / "b" / "a.md"
    path.write_text(note("A"))
    if SKIP_ROOT:
        os.chown(path, 65534, 65534)
        os.chown(open_tmp / "b", 65534, 65534)

    def check():
        os.chmod(path, 0)
        report = sync(run_cli, open_tmp / "b")
        assert report["failed"][0]["code"] == "unreadable"
        os.chmod(path, 0o644)
        report = sync(run_cli, open_tmp / "b")
        assert report["repaired"] == ["a.md"]

    as_nobody(check)


def test_catalog_of_a_newer_version(bundle, run_cli, tmp_path):
    root = bundle({"a.md": note()})
    sync(run_cli, root)
    connection = sqlite3.connect(tmp_path / "catalog.db")
    connection.execute("update meta set value = '99' where key = 'schema_version'")
    connection.commit()
    connection.close()
    for arguments in (["sync", root], ["find", root], ["bundles"], ["sql", "select 1"], ["show", "a"]):
        status, out, err = run_cli(*arguments)
        assert (status, out) == (2, "")
        assert err.count("\n") == 1
        assert "newer" in err
        assert "upgrade" in err


def test_other_files_in_place_of_the_catalog(bundle, run_cli, tmp_path):
    root = bundle({"a.md": note()})
    (tmp_path / "catalog.db").write_text("this is no database, but long enough to be looked at" * 30)
    for arguments in (["sync", root], ["find", root], ["bundles"]):
        status, out, err = run_cli(*arguments)
        assert (status, out, err.count("\n")) == (2, "", 1)
    (tmp_path / "catalog.db").unlink()
    connection = sqlite3.connect(tmp_path / "catalog.db")
    connection.execute("create table somebody_elses (x)")
    connection.commit()
    connection.close()
    status, out, err = run_cli("sync", root)
    assert (status, out) == (2, "")
    assert "not a catalog" in err


def test_empty_catalog_file_is_filled(bundle, run_cli, tmp_path):
    (tmp_path / "catalog.db").touch()
    assert sync(run_cli, bundle({"a.md": note()}))["concepts"] == 1


def test_truncated_catalog_is_one_line(bundle, run_cli, tmp_path):
    root = bundle({f"{number}.md": note(body="text " * 500) for number in range(50)})
    sync(run_cli, root)
    path = tmp_path / "catalog.db"
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    status, out, err = run_cli("sync", root, "--full")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "catalog.db" in err


def test_directory_that_cannot_be_written(open_tmp, run_cli, bundle, monkeypatch):
    (open_tmp / "b").mkdir()
    (open_tmp / "b" / "a.md").write_text(note())
    (open_tmp / "locked").mkdir()
    if SKIP_ROOT:
        os.chmod(open_tmp / "locked", 0o555)
    else:
        os.chmod(open_tmp / "locked", 0o500)
    monkeypatch.setenv("OKF_CATALOG_DB", str(open_tmp / "locked" / "new" / "catalog.db"))

    def check():
        status, out, err = run_cli("sync", open_tmp / "b")
        assert (status, out, err.count("\n")) == (2, "", 1)
        # A question needs no catalog.
        status, out, err = run_cli("find", open_tmp / "b")
        assert (status, err) == (0, "")

    as_nobody(check)


def test_question_to_a_catalog_that_cannot_be_written(open_tmp, run_cli):
    (open_tmp / "b").mkdir()
    (open_tmp / "b" / "a.md").write_text(note("Before"))
    sync(run_cli, open_tmp / "b")
    (open_tmp / "b" / "a.md").write_text(note("After"))
    if not SKIP_ROOT:
        pytest.skip("needs another user to own the catalog")

    def check():
        status, out, err = run_cli("find", open_tmp / "b")
        assert status == 0
        assert "Before" in out
        assert err.startswith("note: ")

    os.chmod(open_tmp / "catalog.db", 0o444)
    os.chmod(open_tmp, 0o755)
    as_nobody(check)


def concepts_of(number):
    return {f"{n:02}.md": note(f"{n}") for n in range(number)}


def test_files_that_all_become_empty_are_refused(bundle, run_cli, catalog):
    """A disk that ran full, or a botched copy, leaves files of no length."""
    root = bundle(concepts_of(30))
    sync(run_cli, root)
    before = catalog("select id, path, title from concepts order by id")
    for path in root.glob("*.md"):
        path.write_text("")
    status, out, err = run_cli("sync", root)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "30 of the 30 concepts" in err
    assert "--allow-removals" in err
    assert run_cli("sync", root, "--dry-run")[0] == 2
    assert catalog("select id, path, title from concepts order by id") == before
    assert catalog("select count(*) from parse_errors") == [0]
    # A question is answered as of the last sync, and says so.
    status, out, err = run_cli("find", root, "--json")
    assert json.loads(out)["count"] == 30
    assert "is answered as of" in err
    assert sync(run_cli, root, "--allow-removals")["broken"] != []
    assert catalog("select count(*) from parse_errors") == [30]
    bundle(concepts_of(30))
    sync(run_cli, root)
    assert catalog("select id, path, title from concepts order by id") == before


def test_newer_rules_that_leave_no_concept_are_refused(bundle, run_cli, catalog):
    """OKF 0.3 does not count a file without a type: declaring it must not empty a bundle by accident."""
    root = bundle({f"{n:02}.md": f"---\ntitle: {n}\n---\n" for n in range(25)})
    sync(run_cli, root)
    (root / "index.md").write_text('---\nokf_version: "0.3"\n---\n')
    assert run_cli("sync", root)[0] == 2
    assert catalog("select count(*) from concepts") == [25]
    assert sync(run_cli, root, "--allow-removals")["concepts"] == 0


@pytest.mark.parametrize(("there", "broken", "status"), [(20, 10, 0), (20, 11, 2), (19, 19, 0), (40, 20, 0), (40, 21, 2)])
def test_breaking_is_refused_from_more_than_half_of_twenty(bundle, run_cli, there, broken, status):
    root = bundle(concepts_of(there))
    sync(run_cli, root)
    for number in range(broken):
        (root / f"{number:02}.md").write_text("no fence")
    assert run_cli("sync", root)[0] == status


def test_removed_and_broken_count_together(bundle, run_cli):
    root = bundle(concepts_of(30))
    sync(run_cli, root)
    for number in range(8):
        (root / f"{number:02}.md").unlink()
        (root / f"{number + 10:02}.md").write_text("no fence")
    assert run_cli("sync", root)[0] == 2


def test_repairing_and_adding_is_never_refused(bundle, run_cli):
    root = bundle(concepts_of(30) | {f"bad{n}.md": "no fence" for n in range(30)})
    sync(run_cli, root)
    bundle({f"bad{n}.md": note("good") for n in range(30)} | {f"new{n}.md": note("new") for n in range(30)})
    (root / "00.md").write_text("no fence")
    (root / "01.md").rename(root / "moved.md")
    assert run_cli("sync", root)[0] == 0
