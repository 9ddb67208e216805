"""Processes that die, collide or run out of room: nothing is lost, nothing is half done."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import threading
import time

from tests.conftest import process
from tests.test_sync import note
from tests.test_sync_property import check_integrity, state

FILES = 3000
KILLS = 20


def write_version(root, version):
    for number in range(FILES):
        directory = root / f"d{number % 60:02}"
        directory.mkdir(parents=True, exist_ok=True)
        (directory / f"c{number:04}.md").write_text(
            f"---\ntype: Note\ntitle: version {version}\ntags: [v{version}]\n---\n\nversion {version} of {number}\n"
        )


# One row for each version that the tables hold; more than one means that a half-done sync can be seen.
SEEN = (
    "select c.title, t.tag, substr(b.body, 1, instr(b.body, ' of') - 1), substr(s.body, 1, instr(s.body, ' of') - 1), "
    "count(*) from concepts c join tags t on t.concept_id = c.id join bodies b on b.concept_id = c.id "
    "join search_text s on s.concept_id = c.id group by 1, 2, 3, 4"
)


class Reader(threading.Thread):
    """Looks at the catalog all the time, as a site or a query would."""

    def __init__(self, path):
        super().__init__()
        self.path, self.stopped, self.looks, self.wrong = path, threading.Event(), 0, []

    def run(self):
        connection = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, timeout=30)
        while not self.stopped.is_set():
            rows = connection.execute(SEEN).fetchall()
            self.looks += 1
            if len(rows) != 1 or rows[0][4] != FILES or len({rows[0][0], rows[0][2], rows[0][3]}) != 1:
                self.wrong.append(rows[:3])
            time.sleep(0.05)
        connection.close()


def test_killed_at_random_points(tmp_path):
    root, path = tmp_path / "b", tmp_path / "catalog.db"
    write_version(root, 0)
    assert process("sync", root).returncode == 0
    chance = random.Random(20261130)
    reader = Reader(path)
    reader.start()
    took = 3.0
    killed = 0
    try:
        for kill in range(1, KILLS + 1):
            write_version(root, kill)
            child = subprocess.Popen([sys.executable, "-m", "okf_catalog", "sync", str(root)],
                                     stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)  # fmt: skip
            try:
                child.wait(chance.uniform(0.1, took))
            except subprocess.TimeoutExpired:
                child.send_signal(signal.SIGKILL)
                killed += 1
            child.communicate()
            if kill % 4 == 0:
                # The sync that comes next has all the work to do, and does it.
                began = time.monotonic()
                done = process("sync", root, "--json")
                took = max(time.monotonic() - began, 1.0)
                assert done.returncode == 0, done.stderr
                connection = sqlite3.connect(path)
                assert [row[0] for row in connection.execute(SEEN)] == [f"version {kill}"]
                check_integrity(connection)
                connection.close()
    finally:
        reader.stopped.set()
        reader.join()
    assert killed > KILLS // 4
    assert reader.looks > 10
    assert reader.wrong == []


def test_two_first_syncs_at_once(tmp_path):
    """Two processes make, migrate and fill one new catalog; 30 times, in lots that share the start-up."""
    root = tmp_path / "b"
    root.mkdir()
    for number in range(5):
        (root / f"{number}.md").write_text(note(str(number), "[next](0.md)"))
    for attempt in range(30):
        path = tmp_path / f"race-{attempt}.db"
        start = tmp_path / f"start-{attempt}"
        code = (
            "import os, sys, time\n"
            "from okf_catalog.cli import app, sync\n"
            f"while not os.path.exists({str(start)!r}): time.sleep(0.001)\n"
            f"sys.exit(app.run(['sync', {str(root)!r}, '--json', '--db', {str(path)!r}]))\n"
        )
        children = [
            subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for _ in range(2)
        ]
        time.sleep(0.15)
        start.touch()
        results = [(*child.communicate(timeout=60), child.returncode) for child in children]
        assert [status for _, _, status in results] == [0, 0], results
        reports = [json.loads(out) for out, _, _ in results]
        assert sorted(report["counts"]["added"] for report in reports) == [0, 5], reports
        connection = sqlite3.connect(path)
        assert connection.execute("select count(*) from concepts").fetchone() == (5,)
        assert connection.execute("select count(*) from bundles").fetchone() == (1,)
        assert connection.execute("select count(*) from sync_runs").fetchone() == (1,)
        connection.close()


def test_waiting_and_giving_up(tmp_path, bundle):
    root = bundle({"a.md": note("A")})
    assert process("sync", root).returncode == 0
    bundle({"a.md": note("B")})
    holder = sqlite3.connect(tmp_path / "catalog.db", isolation_level=None)
    holder.execute("begin immediate")
    done = process("sync", root, "--wait", "0.3")
    assert (done.returncode, done.stdout) == (2, "")
    assert "note: another sync is writing" in done.stderr
    assert "gave up after 0.3 s" in done.stderr
    # A question does not wait for long: it answers from the state there is and says so.
    asked = process("find", root)
    assert asked.returncode == 0
    assert "| A |" in asked.stdout
    assert "note: bundle is answered as of" in asked.stderr
    timer = threading.Timer(1.0, lambda: None)
    timer.start()
    child = subprocess.Popen([sys.executable, "-m", "okf_catalog", "sync", str(root)], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)  # fmt: skip
    timer.join()
    holder.execute("commit")
    out, err = child.communicate(timeout=60)
    assert child.returncode == 0, err
    assert "~ 1 changed" in out


def test_full_disk(tmp_path, bundle):
    """`RLIMIT_FSIZE` stands for a disk without room: writes beyond it fail."""
    root = bundle({"a.md": note("A")})
    assert process("sync", root).returncode == 0
    connection = sqlite3.connect(tmp_path / "catalog.db")
    before = state(connection)
    connection.close()
    size = os.path.getsize(tmp_path / "catalog.db")
    for number in range(300):
        (root / f"{number}.md").write_text(note(str(number), f"word{number} " * 3000))

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 1_000_000, size + 1_000_000))

    done = process("sync", root, preexec_fn=limit)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "catalog.db" in done.stderr
    connection = sqlite3.connect(tmp_path / "catalog.db")
    assert state(connection) == before
    check_integrity(connection)
    connection.close()
    assert process("sync", root).returncode == 0
    connection = sqlite3.connect(tmp_path / "catalog.db")
    assert connection.execute("select count(*) from concepts").fetchone() == (301,)
    connection.close()


def test_closed_pipe_is_silent(bundle):
    root = bundle({f"{number:04}.md": note(str(number)) for number in range(2000)})
    assert process("sync", root).returncode == 0
    child = subprocess.Popen([sys.executable, "-m", "okf_catalog", "find", str(root)], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)  # fmt: skip
    assert child.stdout is not None
    child.stdout.readline()
    child.stdout.close()
    assert child.stderr is not None
    assert child.stderr.read() == ""
    child.wait(30)


def test_every_locale(bundle):
    root = bundle({"café.md": note("Café", "日本")})
    for extra in ({"LC_ALL": "C"}, {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}):
        environment = {**os.environ, **extra}
        done = process("find", root, "--query", "日本", "--format", "csv", env=environment)
        assert done.returncode == 0, done.stderr
        assert "café.md,café,Note,Café," in done.stdout


def test_many_syncs_in_one_process_leave_no_file_open(bundle, tmp_path):
    """A watch or a server syncs for years: one descriptor a sync is too many."""
    from okf_catalog.catalog import database
    from okf_catalog.catalog.current import is_up_to_date
    from okf_catalog.catalog.sync import bundle_at, sync, system_clock

    root = bundle({"a.md": note("0"), "sub/b.md": note("b"), ".okfignore": "x.md\n"})
    connection = database.open_or_create(str(tmp_path / "catalog.db"))
    opened = []
    for number in range(12):
        (root / "a.md").write_text(note(str(number)))
        if number % 3 == 2:
            (root / f"{number}.md").symlink_to("a.md")
        sync(connection, str(tmp_path / "catalog.db"), str(root), clock=system_clock)
        sync(connection, str(tmp_path / "catalog.db"), str(root), clock=system_clock)
        is_up_to_date(connection, bundle_at(connection, str(root)))
        opened.append(len(os.listdir("/proc/self/fd")))
    assert opened[-1] == opened[2], opened
    connection.close()
