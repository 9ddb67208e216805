"""Clocks, stamps, names and directories that do not behave; files that change while they are read."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import threading
import time
from datetime import datetime, timedelta, timezone

from okf_catalog.catalog import database
from okf_catalog.catalog.sync import sync
from tests.faults.place import Place, fault, many, note


@fault("clock going back", "nothing is missed: stamps are compared for being equal, never for being newer")
def clock_back(place: Place, full: bool) -> str:
    root = place.bundle(many(100))
    connection = database.open_or_create(str(place.path))
    now = datetime.now(timezone.utc)
    rounds = 200 if full else 20
    for at in range(rounds):
        moment = now + timedelta(seconds=place.chance.randrange(-10**8, 10**8))
        path = root / f"d00/c{place.chance.randrange(100) // 40 * 40:05}.md"
        path.write_text(note(f"round {at}", "x" * place.chance.randrange(50)))
        os.utime(path, (moment.timestamp(), moment.timestamp()))
        sync(connection, str(place.path), str(root), clock=lambda moment=moment: moment)
        title = connection.execute("select title from concepts where path = ?", (str(path.relative_to(root)),)).fetchone()
        assert title == (f"round {at}",), (at, title)
    connection.close()
    return f"{rounds} syncs with clocks up to three years off in both directions, every edit seen; {place.equals_fresh()}"


@fault("mtimes that go back, or are set back after an edit", "an edit is seen by its ctime, size or inode")
def mtimes_back(place: Place, full: bool) -> str:
    root = place.bundle({f"{n}.md": note("a") for n in range(50)})
    place.sync(root)
    rounds = 40 if full else 5
    edits = 0
    for at in range(rounds):
        for number in range(50):
            path = root / f"{number}.md"
            before = path.stat()
            path.write_text(note(chr(ord("b") + at % 20)))  # the same size
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns - (at % 3) * 10**9))
            edits += 1
        place.sync(root)
        assert place.query("select distinct title from concepts") == [(chr(ord("b") + at % 20),)]
    return f"{edits:,} edits of the same size with the mtime set back, all seen; {place.equals_fresh()}"


@fault("same-size edits within the file system's grain", "an edit right after a sync is seen by the next one")
def within_the_grain(place: Place, full: bool) -> str:
    root = place.bundle({f"{n}.md": note("00000") for n in range(20)})
    connection = database.open_or_create(str(place.path))
    rounds = 2000 if full else 100
    for at in range(1, rounds + 1):
        path = root / f"{at % 20}.md"
        path.write_text(note(f"{at:05}"))
        sync(connection, str(place.path), str(root), clock=lambda: datetime.now(timezone.utc))
        assert connection.execute("select title from concepts where path = ?", (path.name,)).fetchone() == (f"{at:05}",)
        # And once more at once: as fast as this machine can.
        path.write_text(note(f"{at + 50000:05}"))
        sync(connection, str(place.path), str(root), clock=lambda: datetime.now(timezone.utc))
        assert connection.execute("select title from concepts where path = ?", (path.name,)).fetchone() == (f"{at + 50000:05}",)
    connection.close()
    return f"{rounds * 2:,} edits each followed by a sync at once, all seen; {place.equals_fresh()}"


@fault("git checkout between branches with 5,000 changed files", "what is checked out is what is found, moves keep their ids")
def git_branches(place: Place, full: bool) -> str:
    count = 5000 if full else 300
    root = place.directory / "bundle"
    root.mkdir()

    def git(*words: str) -> None:
        identity = ["-c", "user.name=n", "-c", "user.email=n@example.com", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", "-C", str(root), *identity, *words], check=True, capture_output=True)

    git("init", "-q", "-b", "one")
    place.bundle(many(count))
    git("add", "-A")
    git("commit", "-qm", "one")
    git("checkout", "-qb", "two")
    place.bundle(many(count, 1))
    git("commit", "-qam", "two")
    git("checkout", "-qb", "three", "one")
    (root / "d01").rename(root / "moved")
    git("add", "-A")
    git("commit", "-qm", "three")
    seconds = []
    for branch in ("one", "two", "one", "three", "one", "two"):
        git("checkout", "-q", branch)
        ids = dict(place.query("select substr(path, -9), id from concepts")) if place.path.exists() else {}
        began = time.monotonic()
        place.sync(root)
        seconds.append(time.monotonic() - began)
        if ids:
            assert dict(place.query("select substr(path, -9), id from concepts")) == ids
        place.equals_fresh()
    return f"{len(seconds)} checkouts of {count:,} files, ids kept, each sync {min(seconds):.1f} to {max(seconds):.1f} s; {place.equals_fresh()}"


@fault("case-only renames, and names that differ in case or normal form alone", "a move that keeps the id; different names stay different files")
def case_renames(place: Place, full: bool) -> str:
    root = place.bundle({"Readme.md": note("r", "unique text"), "sub/A.md": note("a", "other text"), "café.md": note("c", "one"),
                         "cafe\u0301.md": note("d", "two"), "X.MD": note("x", "big")})  # fmt: skip
    place.sync(root)
    ids = dict(place.query("select title, id from concepts"))
    for before, after in (("Readme.md", "README.md"), ("sub/A.md", "sub/a.md"), ("X.MD", "x.md"), ("café.md", "Café.md")):
        (root / before).rename(root / after)
    (root / "sub").rename(root / "SUB")
    place.sync(root)
    assert dict(place.query("select title, id from concepts")) == ids
    assert {row[0] for row in place.query("select path from concepts")} == {"README.md", "SUB/a.md", "Café.md", "cafe\u0301.md", "x.md"}
    return f"5 renames, all ids kept; {place.equals_fresh()}"


@fault("files that change while they are read", "no half-written file stays in the catalog once the writing ends")
def changing_files(place: Place, full: bool) -> str:
    root = place.bundle({f"{n}.md": note("start", "x" * 20_000) for n in range(60)})
    stop = threading.Event()
    writes = 0

    def scribble() -> None:
        nonlocal writes
        at = 0
        while not stop.is_set():
            at += 1
            number = place.chance.randrange(80)
            path = root / f"{number}.md"
            kind = place.chance.randrange(5)
            if kind == 0 and path.exists():
                path.unlink()
            elif kind == 1 and path.exists():
                path.rename(root / f"{place.chance.randrange(80)}.md")
            elif kind == 2:
                with open(path, "w") as file:  # slowly, in pieces
                    for piece in note(f"round {at}", "y" * 30_000).split("y" * 1000):
                        file.write(piece)
                        file.flush()
            else:
                path.write_text(note(f"round {at}", "z" * place.chance.randrange(20_000)))
            writes += 1

    writer = threading.Thread(target=scribble)
    writer.start()
    syncs = 0
    deadline = time.monotonic() + (60 if full else 4)
    try:
        while time.monotonic() < deadline:
            place.sync(root, "--allow-removals")
            syncs += 1
    finally:
        stop.set()
        writer.join()
    place.sync(root, "--allow-removals")
    return f"{writes:,} writes, renames and deletions under {syncs} syncs; {place.equals_fresh()}"


@fault("directories that become unreadable", "what the catalog holds of them is kept and reported; nothing is removed")
def unreadable(place: Place, full: bool) -> str:
    root = place.bundle(many(200))
    assert place.cli("sync", root, humbly=True).returncode == 0
    count = place.query("select count(*) from concepts")
    (root / "new.md").write_text(note("new"))
    for directory in ("d01", "d02", "d03"):
        os.chmod(root / directory, 0o000)
    os.chmod(root / "d04" / "c00004.md", 0o000)
    done = place.cli("sync", root, humbly=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("note: cannot list") == 3
    assert place.query("select count(*) from concepts") == [(count[0][0] + 1 - 1,)]  # one new, one that cannot be opened
    assert place.cli("sync", root, "--strict", humbly=True).returncode == 1
    assert place.cli("find", root, "--fresh", "require", humbly=True).returncode == 1
    os.chmod(root, 0o000)
    refused = place.cli("sync", root, humbly=True)
    assert (refused.returncode, refused.stdout) == (2, "")
    os.chmod(root, 0o755)
    for directory in ("d01", "d02", "d03"):
        os.chmod(root / directory, 0o755)
    os.chmod(root / "d04" / "c00004.md", 0o644)
    assert place.cli("sync", root, humbly=True).returncode == 0
    return f"3 directories and a file, then the root: nothing lost, --strict and --fresh require exit 1; {place.equals_fresh()}"


@fault("a network of symlinks", "no loop is followed, nothing outside is read")
def symlinks(place: Place, full: bool) -> str:
    count = 3000 if full else 200
    outside = place.bundle({"secret.md": note("SECRET")}, "outside")
    root = place.bundle({f"d{n % 20}/{n}.md": note(str(n)) for n in range(40)})
    links = 0
    targets = [".", "..", "../..", "d3", "../d4", "d5/5.md", "../d6/6.md", str(outside), str(outside / "secret.md"), "../../outside/secret.md",
               "/etc/passwd", "/proc/self/environ", "/dev/zero", "itself.md", "nowhere.md"]  # fmt: skip
    for number in range(count):
        directory = root / f"d{place.chance.randrange(20)}"
        name = f"link{number}" + place.chance.choice(["", ".md"])
        target = place.chance.choice([*targets, f"link{place.chance.randrange(count)}.md"])
        (directory / name).symlink_to(target)
        links += 1
    (root / "loop").symlink_to(".")
    began = time.monotonic()
    place.sync(root)
    took = time.monotonic() - began
    data = b"".join(path.read_bytes() for path in place.directory.glob("catalog.db*"))
    assert b"SECRET" not in data
    assert b"root:x:0" not in data
    codes = dict(place.query("select code, count(*) from parse_errors group by code"))
    assert set(codes) <= {"link_outside", "link_broken", "unreadable"}, codes
    place.sync(root)
    return f"{links:,} links read in {took:.1f} s, nothing from outside in the catalog ({codes}); {place.equals_fresh()}"


@fault("the root gone, empty, or another directory", "refused or reported, exit 2, the catalog keeps what it has")
def root_gone(place: Place, full: bool) -> str:
    root = place.bundle(many(100))
    place.sync(root)
    count = place.query("select count(*) from concepts")
    root.rename(place.directory / "away")
    assert place.cli("sync", root).returncode == 2
    root.mkdir()
    assert place.cli("sync", root).returncode == 2
    place.bundle({"other.md": note("other")})
    assert place.cli("sync", root).returncode == 2
    shutil.rmtree(root)
    root.write_text("a file")
    assert place.cli("sync", root).returncode == 2
    root.unlink()
    assert place.query("select count(*) from concepts") == count
    (place.directory / "away").rename(root)
    place.sync(root)
    connection = sqlite3.connect(place.path)
    assert connection.execute("select count(*) from sync_runs").fetchone() == (1,)
    connection.close()
    return f"missing, empty, strange and no directory: each refused, then as before; {place.equals_fresh()}"
