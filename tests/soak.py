"""Half an hour of edits, syncs, searches and a server: does anything grow, does anything go wrong?

    python -m tests.soak [--seconds 1800] [--concepts 1000] [--write]

A server (Datasette), a watching sync and this process work on one catalog, while files are
edited, added, removed, moved and broken. Memory and open files of all three are sampled. At
the end the catalog is compared with a fresh build. `--write` puts the figures into
docs/reliability.md. Exit status 1 where something grew or differs.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from okf_catalog.catalog import database
from okf_catalog.catalog.sync import Options, bundles, sync, system_clock
from okf_catalog.search.query import Corpus, Query
from okf_catalog.search.run import run
from tests.faults.place import Place, many, note
from tests.faults.processes import server_process, status_of

PAGE = Path(__file__).parent.parent / "docs" / "reliability.md"
BEGIN, END = "<!-- soak: written by python -m tests.soak --write -->", "<!-- /soak -->"
SAMPLE_SECONDS = 5.0
GROWTH = 1.10
"""Times that the memory of the last quarter may be that of the second: the first one warms up."""
SLACK = 8 * 2**20
"""Bytes that are no growth whatever the share."""
WORDS = ["version", "text", "next", "gone", "fence", "edited", "no such word"]
PAGES = ["/catalog/concepts.json?_size=20", "/catalog/catalog.json?_size=20&_facet=type", "/catalog/bundles.json", "/catalog",
         "/catalog/concepts.json?_size=0&_facet=top_dir", "/catalog.json?sql=select+count(*)+from+links"]  # fmt: skip


class Sample:
    """Memory and open files of a process over time."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.memory: list[int] = []
        self.files: list[int] = []

    def take(self) -> None:
        with open(f"/proc/{self.pid}/status", encoding="ascii", errors="replace") as file:
            self.memory += [int(line.split()[1]) * 1024 for line in file if line.startswith("VmRSS:")]
        self.files.append(len(os.listdir(f"/proc/{self.pid}/fd")))

    def quarter(self, number: int) -> tuple[float, float]:
        """(median memory, median open files) of a quarter of the time, from 1."""
        size = max(len(self.memory) // 4, 1)
        part = slice((number - 1) * size, number * size)
        return statistics.median(self.memory[part]), statistics.median(self.files[part])

    @property
    def is_flat(self) -> bool:
        (before, files_before), (after, files_after) = self.quarter(2), self.quarter(4)
        return after <= max(before * GROWTH, before + SLACK) and files_after <= files_before + 2

    def words(self, name: str) -> str:
        quarters = [self.quarter(number) for number in (1, 2, 3, 4)]
        memory = ", ".join(f"{memory / 1e6:.1f}" for memory, _ in quarters)
        files = ", ".join(f"{files:.0f}" for _, files in quarters)
        return f"| {name} | {memory} | {files} | {'flat' if self.is_flat else 'GREW'} |"


def edit(place: Place, root: Path, at: int) -> None:
    """A few changes of every kind."""
    chance = place.chance
    for _ in range(chance.randrange(1, 12)):
        paths = sorted(root.rglob("*.md"))
        path = chance.choice(paths)
        kind = chance.randrange(7)
        if kind == 0 and len(paths) > 100:
            path.unlink()
        elif kind == 1:
            target = root / f"d{chance.randrange(40):02}" / f"moved{at}-{chance.randrange(10**6)}.md"
            target.parent.mkdir(exist_ok=True)
            path.rename(target)
        elif kind == 2:
            path.write_text(f"no fence at {at}\n")
        elif kind == 3:
            (root / f"d{chance.randrange(40):02}" / f"new{at}.md").write_text(note(f"new {at}", f"edited word{at}", f"tags: [t{at % 50}]\n"))
        else:
            path.write_text(note(f"edited {at}", f"edited text{at} see [x](c{chance.randrange(1000):05}.md) " + "word " * chance.randrange(300)))


def main() -> int:
    """Returns 1 where something grew or went wrong."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=1800)
    parser.add_argument("--concepts", type=int, default=1000)
    parser.add_argument("--write", action="store_true", help="put the figures into docs/reliability.md")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="okf-soak-") as directory:
        return soak(Place(Path(directory)), chosen.seconds, chosen.concepts, write=chosen.write)


def soak(place: Place, seconds: float, count: int, *, write: bool = False) -> int:
    """Run for so long and report; 1 where something grew or went wrong."""
    root = place.bundle(many(count))
    place.sync(root)
    command = [sys.executable, "-m", "okf_catalog", "sync", str(root), "--watch", "--quiet", "--allow-removals"]
    watcher = subprocess.Popen(command, env=place.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    path = str(place.path)
    connection = database.open_existing(path)
    counts = {"syncs": 0, "searches": 0, "pages": 0, "edits": 0, "unanswered": 0}
    began = time.monotonic()
    with server_process(place) as (address, child):
        samples = {"server": Sample(child.pid), "watching sync": Sample(watcher.pid), "library": Sample(os.getpid())}
        sampled = 0.0
        while time.monotonic() - began < seconds:
            counts["edits"] += 1
            edit(place, root, counts["edits"])
            sync(connection, path, str(root), clock=system_clock, options=Options(allow_removals=True))
            counts["syncs"] += 1
            for word in place.chance.sample(WORDS, 3):
                corpus = Corpus(connection, [bundle.name for bundle in bundles(connection)], now="2026-12-01T00:00:00Z")
                run(corpus, Query((word,)), engine=place.chance.choice([None, "fts5"]), limit=20)
                counts["searches"] += 1
            for page in place.chance.sample(PAGES, 3):
                if status_of(address + page) != 200:
                    counts["unanswered"] += 1
                counts["pages"] += 1
            if time.monotonic() - sampled > SAMPLE_SECONDS:
                sampled = time.monotonic()
                for sample in samples.values():
                    sample.take()
            time.sleep(0.2)
    watcher.send_signal(signal.SIGTERM)
    _, errors = watcher.communicate(timeout=60)
    connection.close()
    place.sync(root)
    compared = place.equals_fresh()
    took = time.monotonic() - began
    lines = [
        f"{took / 60:.0f} minutes, {count:,} concepts at first: {counts['edits']:,} rounds of edits, {counts['syncs']:,} syncs by the library besides "
        f"those of the watch, {counts['searches']:,} searches, {counts['pages']:,} pages ({counts['unanswered']} without an answer). "
        f"At the end the catalog is {compared}.",
        "", "| process | memory, MB, by quarters of the time | open files | |", "|---|---|---|---|",
        *(sample.words(name) for name, sample in samples.items()),
    ]  # fmt: skip
    print("\n".join(lines))
    if errors:
        print(errors)
    if write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        PAGE.write_text(before + "\n".join([BEGIN, "", *lines, "", END]) + rest.partition(END)[2], encoding="utf-8")
    return int(bool(errors) or watcher.returncode != 0 or counts["unanswered"] > 0 or not all(sample.is_flat for sample in samples.values()))


if __name__ == "__main__":
    sys.exit(main())
