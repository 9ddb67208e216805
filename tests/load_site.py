"""Eight readers on all kinds of pages while syncs rewrite the bundle: is every page answered, is any stale?

    python -m tests.load_site [--seconds 60] [--clients 8] [--concepts 300] [--write]

Every text of the bundle names its version; a sync follows each rewriting. A page may not show a
version older than that of the last sync that had ended when it was asked for. `--write` puts the
figures into docs/reliability.md. Exit status 1 where a page failed or was stale.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from okf_catalog.catalog import database
from okf_catalog.catalog.sync import Options, sync, system_clock
from tests.faults.place import Place
from tests.soak import PAGE

BEGIN, END = "<!-- load: written by python -m tests.load_site --write -->", "<!-- /load -->"
VERSION = re.compile(r"\bversion(\d+)\b")
PAUSE_SECONDS = 0.05
LEAST_SYNCS = 2
KINDS = {
    "landing page": ["/-/okf"],
    "ranked search": ["/-/okf?q=text", "/-/okf?q=concept+text&type=T1", "/-/okf?q=text&page=2"],
    "literal search": ["/-/okf?q=text&engine=scan"],
    "listing with filters": ["/-/okf?tag=t1", "/-/okf?trust=unverified", "/-/okf?stale=1"],
    "concept": ["/-/okf/bundle/d1/c1.md", "/-/okf/bundle/d0/c42.md"],
    "concept as JSON and text": ["/-/okf/bundle/d1/c1.md.json", "/-/okf/bundle/d1/c1.md.txt"],
    "directory and log": ["/-/okf/bundle/", "/-/okf/bundle/d1/", "/-/okf/bundle/log.md"],
    "graph": ["/-/okf-graph/bundle", "/-/okf-graph/bundle.json", "/-/okf-graph/bundle.json?concept=d1/c1.md"],
    "table with facets": ["/catalog", "/catalog?type=T1", "/catalog?_tag=t1", "/catalog.json?_size=20&_shape=objects", "/concepts"],
    "table with search": ["/catalog?_search=text", "/concepts.json?_search=text&_shape=objects"],
    "other tables": ["/bundles", "/links", "/tags", "/problems", "/parse_errors", "/changes", "/sync_runs", ""],
    "ready-made question": ["/review", "/stale", "/search?q=text", "/most_linked", "/tag_counts", "/changes_since", "/orphans.json", "/tags_together"],
}  # fmt: skip
"""Addresses below that of the catalog."""
OLD_ON_PURPOSE = ("/changes",)
"""Pages that tell what was."""
HISTORY = "<h2>History</h2>"
"""From here on a page of a concept does."""


class Answer(NamedTuple):
    """What a reader saw."""

    kind: str
    seconds: float
    is_dated: bool
    """The page named a version."""
    complaint: str | None


def files(count: int, version: int) -> dict[str, str]:
    """The bundle in a version; a few files come, go and break."""
    found = {
        f"d{number % 7}/c{number}.md": (
            f"---\ntype: T{number % 5}\ntitle: Concept {number} version{version}\ntags: [t{number % 9}, all]\n"
            f"stale_after: 20{20 + number % 20}-01-01\n---\n\nThe text of version{version}, see [next](/d{(number + 1) % 7}/c{number + 1}.md).\n"
        )
        for number in range(count)
    }
    for extra in range(8):
        if (version + extra) % 3:
            fence = "---\ntype: T1\n" if (version + extra) % 4 else "no fence\n"
            found[f"d{extra % 7}/extra{extra}.md"] = f"{fence}title: Extra version{version}\n---\n\ntext\n"
    found["index.md"] = f"# Index version{version}\n\n* [one](d1/c1.md) - of version{version}\n"
    found["log.md"] = f"# Log\n\n## 2026-12-01\n\n* version{version} text\n"
    return found


def rewrite(root: Path, count: int, version: int) -> None:
    """Make the bundle that of a version."""
    wanted = files(count, version)
    for path, text in wanted.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    for extra in root.glob("d*/extra*.md"):
        if str(extra.relative_to(root)) not in wanted:
            extra.unlink()


class Load:
    """Readers and a writer on one catalog."""

    def __init__(self, place: Place, clients: int, count: int) -> None:
        self.place, self.clients, self.count = place, clients, count
        self.synced = 0
        """The version of the last sync that has ended."""
        self.answers: list[Answer] = []
        self.stop = threading.Event()

    def read(self, address: str, seed: int) -> None:
        """Ask for pages, one after the other, until told to stop."""
        chance = random.Random(seed)
        pages = [(kind, page) for kind, pages in KINDS.items() for page in pages]
        while not self.stop.is_set():
            chance.shuffle(pages)
            for kind, page in pages:
                if self.stop.is_set():
                    return
                self.answers.append(self.ask(address, kind, page))

    def ask(self, address: str, kind: str, page: str) -> Answer:
        """One page, and what is wrong with it."""
        least, began, complaint = self.synced, time.monotonic(), None
        seen: list[int] = []
        try:
            with urllib.request.urlopen(address + page, timeout=60) as answer:
                text = answer.read().decode()
            seen = [int(number) for number in VERSION.findall(text.partition(HISTORY)[0])]
            if seen and min(seen) < least and not page.startswith(OLD_ON_PURPOSE):
                complaint = f"{page} shows version {min(seen)} after the sync of {least}"
        except urllib.error.HTTPError as problem:
            complaint = f"{page} answers {problem.code}: {problem.read()[-300:]!r}"
        except OSError as problem:
            complaint = f"{page}: {problem}"
        return Answer(kind, time.monotonic() - began, bool(seen), complaint)

    def run(self, seconds: float) -> tuple[int, str]:
        """(syncs, what the server wrote to stderr); `answers` are filled in, with one at least of each kind of page."""
        root = self.place.directory / "bundle"
        rewrite(root, self.count, 0)
        self.place.sync(root)
        path = str(self.place.path)
        command = [sys.executable, "-m", "okf_catalog", "server", "--db", path, "-p", "0"]
        server = subprocess.Popen(command, env=self.place.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert server.stdout is not None
        line = server.stdout.readline()
        home = next(word for word in line.split() if word.startswith("http"))
        address = home.partition("/-/okf")[0]
        with urllib.request.urlopen(home, timeout=60):  # the socket listens, so this waits until it answers
            pass
        readers = [threading.Thread(target=self.read, args=(address, seed)) for seed in range(self.clients)]
        connection = database.open_existing(path)
        try:
            for reader in readers:
                reader.start()
            end, version = time.monotonic() + seconds, 0
            while time.monotonic() < end or version < LEAST_SYNCS or {answer.kind for answer in self.answers} < set(KINDS):
                version += 1
                rewrite(root, self.count, version)
                sync(connection, path, str(root), clock=system_clock, options=Options(allow_removals=True))
                self.synced = version
                time.sleep(PAUSE_SECONDS)
        finally:
            self.stop.set()
            for reader in readers:
                reader.join()
            connection.close()
            server.terminate()
            _, errors = server.communicate(timeout=60)
        assert server.returncode == 0, "the server stops cleanly"
        return version, errors


def report(load: Load, seconds: float, syncs: int) -> list[str]:
    """The figures as markdown."""
    by_kind: dict[str, list[float]] = defaultdict(list)
    for answer in load.answers:
        by_kind[answer.kind].append(answer.seconds)
    complaints = [answer.complaint for answer in load.answers if answer.complaint]
    rows = [
        f"| {kind} | {len(times):,} | {statistics.median(times) * 1000:.0f} | {max(times) * 1000:.0f} |" for kind, times in by_kind.items()
    ]  # fmt: skip
    return [
        f"{seconds:.0f} seconds, {load.clients} clients, {load.count:,} concepts of which every one was rewritten {syncs:,} times, each time followed by a sync: "
        f"{len(load.answers):,} pages, {len(complaints)} that failed or showed a version older than the last sync.",
        "", "| pages | asked for | median, ms | longest, ms |", "|---|---|---|---|", *rows,
    ]  # fmt: skip


def main() -> int:
    """Returns 1 where a page failed or was stale."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--concepts", type=int, default=300)
    parser.add_argument("--write", action="store_true", help="put the figures into docs/reliability.md")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="okf-load-") as directory:
        load = Load(Place(Path(directory)), chosen.clients, chosen.concepts)
        syncs, errors = load.run(chosen.seconds)
    lines = report(load, chosen.seconds, syncs)
    complaints = [answer.complaint for answer in load.answers if answer.complaint]
    print("\n".join([*lines, *complaints[:20], errors]))
    if chosen.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        PAGE.write_text(before + "\n".join([BEGIN, "", *lines, "", END]) + rest.partition(END)[2], encoding="utf-8")
    return int(bool(complaints or errors))


if __name__ == "__main__":
    sys.exit(main())
