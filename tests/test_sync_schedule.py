"""What a scheduler needs of `sync`: several bundles, recent ones left out, output for programs, exit statuses."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import pytest

from okf_catalog.catalog import database, lock
from okf_catalog.errors import BusyError
from tests.conftest import process
from tests.test_sync import note, sync


@pytest.fixture
def three(bundle):
    return [bundle({"a.md": note(name), f"{name}.md": note(name)}, name=name) for name in ("one", "two", "three")]


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


def test_one_that_fails_does_not_stop_the_others(three, run_cli, catalog, tmp_path):
    status, out, err = run_cli("sync", three[0], tmp_path / "gone", three[2])
    assert status == 2
    assert err == f"error: {tmp_path / 'gone'} does not exist\n"
    assert catalog("select name from bundles order by name") == ["one", "three"]
    status, out, _ = run_cli("sync", three[0], tmp_path / "gone", "--json")
    assert [item.get("kind") for item in json.loads(out)["syncs"]] == [None, "bundle"]


def test_nothing_is_made_for_a_directory_that_is_not_there(run_cli, tmp_path):
    status, out, err = run_cli("sync", tmp_path / "gone")
    assert (status, out, err) == (2, "", f"error: {tmp_path / 'gone'} does not exist\n")
    assert not (tmp_path / "catalog.db").exists()


@pytest.mark.parametrize("jobs", [1, 3])
def test_all_bundles_of_the_catalog(three, run_cli, catalog, jobs):
    for root in three:
        sync(run_cli, root)
        (root / "new.md").write_text(note("new"))
    status, out, err = run_cli("sync", "@all", "--jobs", jobs, "--format", "ndjson")
    assert (status, err) == (0, "")
    assert sorted((row["bundle"], row["counts"]["added"]) for row in lines(out)) == [("one", 1), ("three", 1), ("two", 1)]
    assert catalog("select count(*) from concepts where path = 'new.md'") == [3]


def test_all_is_what_is_registered_and_what_was_synced(three, run_cli, catalog):
    sync(run_cli, three[0])
    assert run_cli("registry", "set", three[1])[0] == 0
    assert run_cli("sync", "@all", "-q") == (0, "", "")
    assert catalog("select name from bundles order by name") == ["one", "two"]
    shutil.rmtree(three[0])
    status, _, err = run_cli("sync", "@all", "-q")
    assert (status, err) == (2, f"error: {three[0]} does not exist\n")


def test_jobs_equal_one_job(bundle, run_cli, tmp_path):
    from tests.test_sync_property import state

    roots = [bundle({f"{n}.md": note(f"{n}", f"word{n} [x](1.md)") for n in range(40)}, name=f"b{at}") for at in range(6)]
    for jobs, path in ((1, tmp_path / "serial.db"), (4, tmp_path / "parallel.db")):
        assert run_cli("sync", *roots, "-j", jobs, "--db", path, "-q") == (0, "", "")
    assert state(sqlite3.connect(tmp_path / "serial.db")) == state(sqlite3.connect(tmp_path / "parallel.db"))


def test_recent_bundles_are_left_out(three, run_cli, catalog, tmp_path):
    sync(run_cli, three[0])
    (three[0] / "new.md").write_text(note("new"))
    status, out, _ = run_cli("sync", *three, "--fresh-after", "15m", "--format", "ndjson")
    rows = lines(out)
    assert status == 0
    assert rows[0] == {"bundle": "one", "root": str(three[0]), "skipped": True, "age_seconds": rows[0]["age_seconds"]}
    assert [row["new"] for row in rows[1:]] == [True, True]
    assert run_cli("sync", three[0], "--fresh-after", "1h")[1].startswith("one: synced ")
    assert catalog("select count(*) from concepts where path = 'new.md'") == [0]
    connection = sqlite3.connect(tmp_path / "catalog.db")
    connection.execute("update bundles set last_synced_at = '2020-01-01T00:00:00Z'")
    connection.commit()
    assert run_cli("sync", three[0], "--fresh-after", "1h")[1].startswith("  + new.md\n")
    # In the future: the clock went back, so nothing is known.
    connection.execute("update bundles set last_synced_at = '2999-01-01T00:00:00Z'")
    connection.commit()
    (three[0] / "newer.md").write_text(note("newer"))
    assert run_cli("sync", three[0], "--fresh-after", "1h")[1].startswith("  + newer.md\n")


@pytest.mark.parametrize("text", ["", "soon", "-1h", "1x", "10m!", "9" * 30 + "w"])
def test_durations_are_checked(three, run_cli, text):
    status, out, err = run_cli("sync", three[0], f"--fresh-after={text}")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "such as 90s, 15m, 2h or 7d" in err


def test_quiet_says_errors_only(three, run_cli, tmp_path):
    (three[0] / "bad.md").write_text("no fence")
    assert run_cli("sync", *three, "--quiet") == (0, "", "")
    assert run_cli("sync", three[0], tmp_path / "gone", "-q") == (2, "", f"error: {tmp_path / 'gone'} does not exist\n")
    assert run_cli("sync", three[0], "-q", "--json") == (0, "", "")


def test_strict_is_for_files_that_cannot_be_used(three, run_cli):
    assert run_cli("sync", three[0], "--strict")[0] == 0
    (three[0] / "bad.md").write_text("no fence")
    assert run_cli("sync", three[0])[0] == 0
    assert run_cli("sync", three[0], "--strict")[0] == 1
    assert run_cli("sync", *three, "--strict", "-q")[0] == 1


def test_kinds_of_errors(bundle, run_cli, tmp_path):
    root = bundle({f"{n}.md": note(str(n)) for n in range(30)})
    sync(run_cli, root)
    for path in root.glob("*.md"):
        path.unlink()
    status, out, err = run_cli("sync", root, "--format", "ndjson")
    assert (status, lines(out)[0]["kind"]) == (2, "refused")
    assert err.startswith("error: ")
    bundle({f"{n}.md": note(str(n)) for n in range(31)})
    holder = sqlite3.connect(tmp_path / "catalog.db", isolation_level=None)
    holder.execute("begin immediate")
    status, out, err = run_cli("sync", root, "--format", "ndjson", "--wait", "0.1", "-j", "2")
    assert (status, lines(out)[0]["kind"]) == (2, "busy")


def test_report_of_the_run(three, run_cli, tmp_path):
    target = tmp_path / "report.json"
    assert run_cli("sync", *three, "--report", target, "-q")[0] == 0
    run = json.loads(target.read_text())
    assert (run["status"], run["failed"], run["skipped"]) == (0, 0, 0)
    assert [item["counts"]["added"] for item in run["syncs"]] == [2, 2, 2]
    assert run["max_rss_bytes"] > 1_000_000
    assert run["cpu_seconds"] > 0
    assert run["started_at"] <= run["finished_at"]
    status, _, err = run_cli("sync", tmp_path / "gone", "--report", target)
    run = json.loads(target.read_text())
    assert (status, run["status"], run["failed"]) == (2, 2, 1)
    assert "does not exist" in run["syncs"][0]["error"]
    assert [path.name for path in tmp_path.glob(".okf-catalog-*")] == []
    status, _, err = run_cli("sync", three[0], "--report", tmp_path / "no" / "where.json")
    assert (status, err.count("\n")) == (2, 1)


def test_waiting_names_the_holder(bundle, tmp_path):
    root = bundle({f"{n:04}.md": note(str(n), "word " * 300) for n in range(20)})
    assert process("sync", root).returncode == 0
    path = tmp_path / "catalog.db"
    code = (
        "import sys, time\n"
        "from okf_catalog.catalog import database\n"
        "connection = database.open_existing(sys.argv[1])\n"
        "with database.transaction(connection, sys.argv[1]):\n"
        "    print('held', flush=True)\n"
        "    time.sleep(float(sys.argv[2]))\n"
    )
    holder = subprocess.Popen([sys.executable, "-c", code, str(path), "3"], stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == "held\n"
    assert lock.holder(str(path)).pid == holder.pid
    (root / "new.md").write_text(note("new"))
    gave_up = process("sync", root, "--wait", "0.2")
    assert gave_up.returncode == 2
    assert f"note: another sync is writing this catalog (process {holder.pid}, since 2" in gave_up.stderr
    assert f"(process {holder.pid}, " in gave_up.stderr.splitlines()[-1]
    waited = process("sync", root, "-q")
    assert (waited.returncode, waited.stdout, waited.stderr) == (0, "", "")
    holder.wait()
    assert not os.path.exists(str(path) + ".lock")
    # One that was killed is not named: its lock went with it.
    holder = subprocess.Popen([sys.executable, "-c", code, str(path), "60"], stdout=subprocess.PIPE, text=True)
    holder.stdout.readline()
    holder.kill()
    holder.wait()
    assert lock.holder(str(path)).pid == holder.pid
    assert lock.described(str(path)) == ""
    (root / "newer.md").write_text(note("newer"))
    assert process("sync", root, "-q").returncode == 0
    assert not os.path.exists(str(path) + ".lock")


def test_threads_of_one_process_take_turns(bundle, run_cli, tmp_path):
    """A server whose own sync runs answers as of the last one in time; `--jobs` waits for its turn however long it takes."""
    path = str(tmp_path / "catalog.db")
    sync(run_cli, bundle({"a.md": note()}))
    held, done = threading.Event(), threading.Event()

    def hold():
        connection = database.open_existing(path)
        with database.transaction(connection, path):
            held.set()
            done.wait(20)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    connection = database.open_existing(path)
    with pytest.raises(BusyError), database.transaction(connection, path, wait=0.2):
        pass
    threading.Timer(0.5, done.set).start()
    with database.transaction(connection, path, wait=0.1, patient=True):
        assert done.is_set()
    thread.join()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"pid": "x"}', b"\xff" * 10000, b'{"pid": 1}'])
def test_note_of_a_holder_may_be_anything(content, tmp_path):
    (tmp_path / "c.db.lock").write_bytes(content)
    assert lock.holder(str(tmp_path / "c.db")) is None
    assert lock.described(str(tmp_path / "c.db")) == ""


def test_note_is_not_written_through_a_link(tmp_path):
    (tmp_path / "precious").write_text("keep")
    (tmp_path / "c.db.lock").symlink_to(tmp_path / "precious")
    lock.note(str(tmp_path / "c.db"))
    assert (tmp_path / "precious").read_text() == "keep"


class Watching:
    """`sync --watch` as a process; its lines as they come."""

    def __init__(self, *arguments, command=None):
        command = command or [sys.executable, "-m", "okf_catalog", "sync", *map(str, arguments), "--watch", "--format", "ndjson"]
        self.child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.rows, self.errors = [], []
        for stream, into in ((self.child.stdout, self.rows), (self.child.stderr, self.errors)):
            threading.Thread(target=self._read, args=(stream, into), daemon=True).start()

    def _read(self, stream, into):
        for line in stream:
            into.append(line)

    def until(self, condition, seconds=30):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            rows = [json.loads(row) for row in self.rows]
            if condition(rows, self.errors):
                return
            time.sleep(0.05)
        raise AssertionError((self.rows, self.errors))

    def stop(self, number=signal.SIGTERM):
        # A signal that comes in the middle of a clean-up of the interpreter may be lost; people press Ctrl-C again.
        for _ in range(3):
            self.child.send_signal(number)
            try:
                return self.child.wait(15)
            except subprocess.TimeoutExpired:
                continue
        self.child.kill()
        raise AssertionError(f"it does not stop on signal {number}")


def test_watch_follows_edits_and_stops(three, catalog):
    watching = Watching(*three)
    try:
        watching.until(lambda rows, _: len(rows) == 3)
        (three[1] / "sub").mkdir()
        (three[1] / "sub" / "deep.md").write_text(note("deep"))
        watching.until(lambda rows, _: "sub/deep.md" in rows[-1]["added"])
        (three[0] / "a.md").write_text(note("edited"))
        watching.until(lambda rows, _: any(change["path"] == "a.md" for change in rows[-1].get("changed", [])))
        (three[2] / "three.md").unlink()
        watching.until(lambda rows, _: rows[-1].get("removed") == ["three.md"])
        os.rename(three[1] / "sub", three[1] / "other")
        watching.until(lambda rows, _: rows[-1].get("moved") == [{"from": "sub/deep.md", "to": "other/deep.md"}])
        count = len(watching.rows)
        (three[0] / "notes.txt").write_text("not markdown")
        (three[0] / ".git").mkdir()
        (three[0] / ".git" / "x.md").write_text(note("x"))
        (three[0] / "last.md").write_text(note("last"))
        watching.until(lambda rows, _: rows[-1].get("added") == ["last.md"])
        assert len(watching.rows) == count + 1
    finally:
        assert watching.stop() == 0
    assert catalog("select count(*) from concepts where path in ('last.md', 'other/deep.md')") == [2]
    assert [line for line in watching.errors if "watching" not in line] == []


def test_watch_survives_a_root_that_goes_and_comes_back(bundle, catalog, tmp_path):
    root = bundle({f"{n}.md": note(str(n)) for n in range(3)})
    watching = Watching(root)
    try:
        watching.until(lambda rows, _: rows and rows[0]["new"])
        root.rename(tmp_path / "away")
        watching.until(lambda rows, errors: any("does not exist" in line for line in errors))
        (tmp_path / "away" / "while-away.md").write_text(note("x"))
        (tmp_path / "away").rename(root)
        watching.until(lambda rows, _: rows[-1].get("added") == ["while-away.md"])
        (root / "later.md").write_text(note("later"))
        watching.until(lambda rows, _: rows[-1].get("added") == ["later.md"])
    finally:
        assert watching.stop(signal.SIGINT) == 130
    assert catalog("select count(*) from concepts") == [5]


def may_limit_watches():
    """True where a namespace of one's own can have fewer watches than the machine."""
    command = ["unshare", "-Ur", "sh", "-c", "echo 3 > /proc/sys/user/max_inotify_watches"]
    return shutil.which("unshare") is not None and subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not may_limit_watches(), reason="cannot limit the watches of a process here")
def test_watch_without_events_looks_now_and_then(bundle):
    """A large tree on a machine with few watches, or a disk without events."""
    root = bundle({f"d{n}/a.md": note(str(n)) for n in range(10)})
    code = (
        "import sys\n"
        "from okf_catalog.catalog import watch\n"
        "watch.UNWATCHED_SECONDS = 1.0\n"
        "from okf_catalog.cli import main\n"
        f"sys.exit(main(['sync', {str(root)!r}, '--watch', '--format', 'ndjson']))\n"
    )
    limited = ["unshare", "-Ur", "sh", "-c", 'echo 3 > /proc/sys/user/max_inotify_watches; exec "$@"', "sh", sys.executable, "-c", code]
    watching = Watching(command=limited)
    try:
        watching.until(lambda _, errors: any("OS file watch limit reached); looking every 1 s" in line for line in errors))
        (root / "d3" / "new.md").write_text(note("new"))
        watching.until(lambda rows, _: rows[-1]["added"] == ["d3/new.md"])
    finally:
        watching.stop()


@pytest.mark.skipif(os.geteuid() == 0 and not shutil.which("setpriv"), reason="runs as root, and setpriv is missing")
def test_watch_with_a_directory_that_may_not_be_read(bundle):
    root = bundle({"a.md": note("a"), "locked/b.md": note("b"), "open/c.md": note("c")})
    os.chmod(root / "locked", 0o000)
    command = [sys.executable, "-m", "okf_catalog", "sync", str(root), "--watch", "--format", "ndjson"]
    if os.geteuid() == 0:
        command = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", *command]
    watching = Watching(command=command)
    try:
        watching.until(lambda rows, _: rows and rows[0]["unreadable"] == [{"dir": "locked", "reason": "Permission denied"}])
        (root / "open" / "new.md").write_text(note("new"))
        watching.until(lambda rows, _: rows[-1]["added"] == ["open/new.md"])
    finally:
        os.chmod(root / "locked", 0o755)
        assert watching.stop() == 0


def test_watch_begins_before_the_root_is_there(bundle, tmp_path):
    watching = Watching(tmp_path / "bundle")
    try:
        watching.until(lambda _, errors: any("does not exist" in line for line in errors))
        bundle({"a.md": note()})
        watching.until(lambda rows, _: rows[-1].get("new") is True)
    finally:
        watching.stop()


def test_watch_survives_a_catalog_that_is_deleted(bundle, tmp_path, catalog):
    root = bundle({"a.md": note()})
    watching = Watching(root)
    try:
        watching.until(lambda rows, _: rows and rows[0]["new"])
        for name in ("catalog.db", "catalog.db-wal", "catalog.db-shm"):
            if (tmp_path / name).exists():
                (tmp_path / name).unlink()
        (root / "b.md").write_text(note("b"))
        watching.until(lambda rows, _: len(rows) == 2 and rows[1]["new"])
    finally:
        watching.stop()
    assert catalog("select count(*) from concepts") == [2]


def test_watch_tries_again_after_a_failure(bundle, tmp_path):
    root = bundle({f"{n}.md": note(str(n)) for n in range(30)})
    watching = Watching(root, "--wait", "0.2")
    try:
        watching.until(lambda rows, _: rows and rows[0]["new"])
        holder = sqlite3.connect(tmp_path / "catalog.db", isolation_level=None, timeout=10)
        holder.execute("begin immediate")
        (root / "new.md").write_text(note("new"))
        watching.until(lambda rows, _: rows[-1].get("kind") == "busy")
        holder.execute("rollback")
        watching.until(lambda rows, _: rows[-1].get("added") == ["new.md"])
        assert sum("gave up" in line for line in watching.errors) == 1
    finally:
        watching.stop()


@pytest.mark.parametrize("options", [["--dry-run"], ["--json"], ["--fresh-after", "1h"]], ids=lambda words: words[0])
def test_watch_contradicts(three, run_cli, options):
    status, out, err = run_cli("sync", three[0], "--watch", *options)
    assert (status, out, err.count("\n")) == (2, "", 1)
