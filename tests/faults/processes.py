"""Processes that are killed, disks that are full or cannot be written, catalogs that are damaged under a server."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator

from tests.faults.place import Place, Skipped, fault, many, note

# One row for each version that can be seen; more than one means a half-done sync.
VERSIONS = "select c.title, count(*) from concepts c join bodies b on b.concept_id = c.id where b.body like c.title || ' of %' group by 1"


@fault("kill -9 of a sync at random points", "readers see the old state or the new one; the next sync does the work")
def killed_syncs(place: Place, full: bool) -> str:
    kills, count = (200, 2000) if full else (6, 300)
    root = place.bundle(many(count))
    place.sync(root)
    usable = place.query("select count(*) from concepts")[0][0]
    took, killed, at = 2.0, 0, 0
    while killed < kills:
        at += 1
        place.bundle(many(count, at))
        child = place.start("sync", root)
        try:
            child.wait(place.chance.uniform(0.1, took))
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGKILL)
            killed += 1
        child.communicate()
        seen = place.query(VERSIONS)
        assert len(seen) == 1, seen
        assert seen[0][1] == usable, seen
        if at % 10 == 0:
            began = time.monotonic()
            place.sync(root)
            took = max(time.monotonic() - began, 0.5)
            assert [row[0] for row in place.query(VERSIONS)] == [f"version {at}"]
        assert at < kills * 5, "nearly every sync was over before it could be killed"
    place.sync(root)
    return f"{killed} kills in {at} syncs of {count:,} changed files, no half state; {place.equals_fresh()}"


@fault("kill -9 of compact, forget, snapshot and doctor --repair", "the catalog is as before or done; nothing else breaks")
def killed_upkeep(place: Place, full: bool) -> str:
    kills = 40 if full else 4
    count = 1500 if full else 200
    place.sync(place.bundle(many(count), "stays"))
    goes = place.bundle(many(count), "goes")
    place.sync(goes)
    killed = dict.fromkeys(("compact", "forget", "snapshot", "doctor"), 0)
    for at in range(kills):
        for words in (["compact"], ["snapshot", place.directory / "copy.db", "--force"], ["forget", "goes"]):
            child = place.start(*words)
            try:
                child.wait(place.chance.uniform(0.1, 0.8))
            except subprocess.TimeoutExpired:
                child.send_signal(signal.SIGKILL)
                killed[str(words[0])] += 1
            child.communicate()
            names = [row[0] for row in place.query("select name from bundles order by name")]
            assert names in (["goes", "stays"], ["stays"]), names
        connection = sqlite3.connect(place.path, isolation_level=None)
        connection.execute("delete from tags where concept_id % 3 = 0")
        connection.execute("update search_text set body = '' where concept_id % 5 = 0")
        connection.close()
        child = place.start("doctor", "--repair")
        try:
            child.wait(place.chance.uniform(0.1, 1.5))
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGKILL)
            killed["doctor"] += 1
        child.communicate()
        assert place.cli("doctor", "--repair").returncode == 0
        place.sync(goes)
        if at % 5 == 0:
            place.equals_fresh()
    left = [name for name in os.listdir(place.directory) if ".damaged" in name]
    assert left == []
    return f"{sum(killed.values())} kills ({', '.join(f'{name} {number}' for name, number in killed.items())}); {place.equals_fresh()}"


@fault("disk full (`RLIMIT_FSIZE`) at many sizes", "one line on stderr, exit 2, the old state; works again with room")
def file_size_limit(place: Place, full: bool) -> str:
    root = place.bundle(many(200))
    place.sync(root)
    place.cli("compact")
    size = os.path.getsize(place.path)
    refused = done = 0
    steps = 40 if full else 5
    for step in range(steps):
        place.bundle({f"e{step}/{n}.md": note("large", f"word{n} " * 2000) for n in range(40)})
        allowed = place.chance.randrange(4096, size * 12)

        def limit(allowed: int = allowed) -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (allowed, allowed))

        before = place.query("select count(*), max(id) from concepts")
        status = place.cli("sync", root, preexec_fn=limit).returncode
        if status == 2:
            refused += 1
            assert place.query("select count(*), max(id) from concepts") == before
        else:
            done += 1
        if step % 4 == 3:
            place.sync(root)
    place.sync(root)
    assert refused
    return f"{refused} syncs refused, {done} had room enough; {place.equals_fresh()}"


@fault("disk full (a small tmpfs)", "as above, for sync, compact and snapshot")
def small_disk(place: Place, full: bool) -> str:
    disk = place.directory / "disk"
    disk.mkdir()
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(disk)], capture_output=True, check=False).returncode:
        raise Skipped("mounting needs root")
    seen: dict[str, int] = {}
    try:
        place.environment["OKF_CATALOG_DB"] = str(disk / "catalog.db")
        place.path = disk / "catalog.db"
        root = place.bundle(many(200))
        place.sync(root)
        for step in range(30 if full else 8):
            place.bundle({f"e{step}/{n}.md": note("large", " ".join(f"w{step}x{n}x{k}" for k in range(400))) for n in range(25)})
            for words in (["sync", root], ["compact"], ["snapshot", disk / "copy.db", "--force"]):
                status = place.cli(*words).returncode
                assert status in (0, 2)
                seen[f"{words[0]} {'done' if status == 0 else 'refused'}"] = seen.get(f"{words[0]} {'done' if status == 0 else 'refused'}", 0) + 1
            assert sorted(set(os.listdir(disk)) - {"catalog.db-wal", "catalog.db-shm", "copy.db"}) == ["catalog.db"], os.listdir(disk)
        assert seen.get("sync refused")
        shutil.rmtree(root)
        place.bundle(many(200))
        (disk / "copy.db").unlink(missing_ok=True)
        place.sync(root, "--allow-removals")
        moved = place.directory / "catalog.db"
        shutil.copy(place.path, moved)
        place.path = moved
        place.environment["OKF_CATALOG_DB"] = str(moved)
        return f"{', '.join(f'{number} × {name}' for name, number in sorted(seen.items()))}; {place.equals_fresh()}"
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=False)


@fault("catalog that cannot be written", "questions are answered as of the last sync with a note; sync says why, exit 2")
def read_only(place: Place, full: bool) -> str:
    root = place.bundle(many(50))
    place.sync(root)
    place.bundle(many(50, 1))
    home = place.directory / "readonly"
    home.mkdir()
    shutil.copy(place.path, home / "catalog.db")
    os.chmod(home / "catalog.db", 0o444)
    os.chmod(home, 0o555)
    place.environment["OKF_CATALOG_DB"] = str(home / "catalog.db")

    try:
        asked = place.cli("find", root, "--json", humbly=True)
        assert asked.returncode == 0, asked.stderr
        assert "is answered as of" in asked.stderr
        assert {concept["title"] for concept in json.loads(asked.stdout)["concepts"] if concept["type"]} == {"version 0"}
        assert place.cli("find", root, "--fresh", "require", humbly=True).returncode == 1
        for words in (["sync", root], ["forget", "bundle"], ["compact"]):
            done = place.cli(*words, humbly=True)
            assert (done.returncode, done.stdout) == (2, ""), words
        assert place.cli("doctor", humbly=True).returncode == 0
    finally:
        os.chmod(home, 0o755)
    place.environment["OKF_CATALOG_DB"] = str(place.path)
    place.sync(root)
    return f"find answers with a note, --fresh require exits 1, sync, forget and compact exit 2; {place.equals_fresh()}"


@contextlib.contextmanager
def server(place: Place) -> Iterator[str]:
    """A Datasette on the catalog; yields its address."""
    with server_process(place) as (address, _):
        yield address


@contextlib.contextmanager
def server_process(place: Place) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A Datasette on the catalog; yields its address and its process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "datasette", "serve", str(place.path), "-p", str(port)]
    child = subprocess.Popen(command, env=place.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            if status_of(address + "/-/versions.json") == 200:
                break
            time.sleep(0.1)
        yield address, child
        assert child.poll() is None, "the server ended"
    finally:
        child.terminate()
        child.wait(20)


def status_of(url: str) -> int | None:
    try:
        with urllib.request.urlopen(url, timeout=20) as answer:
            answer.read()
            return int(answer.status)
    except urllib.error.HTTPError as problem:
        return problem.code
    except OSError:
        return None


@fault("catalog deleted, truncated or bit-flipped under a running server",
       "the server goes on; doctor or sync says what is wrong in one line; a repair gives a right catalog")
def damaged_under_a_server(place: Place, full: bool) -> str:
    root = place.bundle(many(300))
    rounds = 30 if full else 3
    outcomes: dict[str, int] = {}
    for at in range(rounds):
        for left in place.directory.glob("catalog.db*"):
            left.unlink()
        place.sync(root)
        with server(place) as address:
            page = address + "/catalog/concepts.json?_size=5"
            assert status_of(page) == 200
            kind = ("deleted", "truncated", "flipped")[at % 3]
            size = os.path.getsize(place.path)
            if kind == "deleted":
                for left in place.directory.glob("catalog.db*"):
                    left.unlink()
            elif kind == "truncated":
                os.truncate(place.path, place.chance.randrange(size))
            else:
                with open(place.path, "r+b") as file:
                    for _ in range(30):
                        file.seek(place.chance.randrange(100, size))
                        file.write(bytes([place.chance.randrange(256)]))
            for _ in range(5):
                assert status_of(page) is not None
            place.bundle(many(300, at + 1))
            synced = place.cli("sync", root).returncode
            examined = place.cli("doctor", "--full")
            word = f"{kind}: sync exit {synced}, doctor exit {examined.returncode}"
            outcomes[word] = outcomes.get(word, 0) + 1
            if examined.returncode and place.cli("doctor", "--repair", "--full").returncode:
                # Not even the list of bundles can be read: the message says to move the file away.
                for left in place.directory.glob("catalog.db*"):
                    left.unlink()
            place.sync(root)
            assert status_of(page) is not None  # it still answers, if only that its file is damaged
        place.equals_fresh()
        with server(place) as address:
            assert status_of(address + "/catalog/concepts.json?_size=5") == 200
    return f"{rounds} rounds, the server never ended ({'; '.join(f'{word}: {number}' for word, number in sorted(outcomes.items()))}); {place.equals_fresh()}"
