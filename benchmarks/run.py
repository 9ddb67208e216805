"""Measure okf-catalog against floors on generated bundles, as whole processes.

    python benchmarks/run.py [--sizes 1000,10000] [--rounds 5] [--only cold,changed] [--work DIR]
                             [--json FILE] [--cmd okf-catalog] [--check]

CPU seconds are user + system time of a process and of the children it waited for, from os.wait4. Ours and the
floor take turns, and each ratio is that of two neighbours in time, so a load that comes and goes hits both. See
README.md. Linux and macOS; standard library only (the floor `parse` needs PyYAML with libyaml, one case git).
"""

from __future__ import annotations

import argparse
import fcntl
import importlib.metadata
import json
import os
import platform
import re
import shlex
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import generate


class Target(NamedTuple):
    """What a case compares, the unit of its figure, and the highest figure that is `ok`, by bundle size."""

    what: str
    unit: str
    limits: Mapping[int, float]


TARGETS: dict[str, Target] = {
    "cold": Target("cold sync / read and parse with CSafeLoader", "x", {10_000: 1.5, 100_000: 1.4}),
    "cold-memory": Target("cold sync, peak memory", "MB", {100_000: 160}),
    "file-size": Target("catalog file / text of the bundle", "x", {10_000: 3.2, 100_000: 3.2}),
    "unchanged": Target("nothing changed / scandir and stat", "x", {}),
    "unchanged-git": Target("nothing changed / git status", "x", {100_000: 4.0}),
    "unchanged-cpu": Target("nothing changed, CPU", "s", {10_000: 0.3}),
    "unchanged-memory": Target("nothing changed, peak memory", "MB", {100_000: 160}),
    "detect": Target("detection alone / scandir and stat, in process", "x", {10_000: 1.1, 100_000: 1.1}),
    "changed": Target("1 % changed, over nothing changed", "ms/concept", {10_000: 1.5, 100_000: 1.5}),
}
"""Every case with its target, in the order they run. A size without a limit is measured and not judged."""

HERE = Path(__file__).resolve().parent
EDITED_SHARE = 0.01
YOUNG_SECONDS = 2.5
"""Files younger than 2 s are hashed again at the next sync, by design (git's racy rule). Their ctime counts and
cannot be set, so there is nothing for it but to wait."""
MB = 1_000_000
RSS_UNIT = 1 if sys.platform == "darwin" else 1024
"""Bytes in a unit of `ru_maxrss`."""


class Usage(NamedTuple):
    """What one process used: CPU and wall in seconds, peak resident memory in MB (10^6 bytes)."""

    cpu: float
    wall: float
    peak_mb: float


Pair = tuple[Usage, Usage]
"""Ours and the floor, measured one after the other."""


class CommandError(Exception):
    """A command ended with an error; the message has its exit status and the end of its stderr."""


class UnavailableError(Exception):
    """A case cannot be measured here; the message says why."""


@dataclass
class Figures:
    """The result of a case: a value for each round in the unit of its target; CPU and wall seconds of both."""

    values: list[float]
    ours: list[float] = field(default_factory=list)
    floor: list[float] = field(default_factory=list)
    note: str = ""
    wall_ours: list[float] = field(default_factory=list)
    wall_floor: list[float] = field(default_factory=list)


@dataclass
class Row:
    """A case at one bundle size. `verdict` is ok, over, failed, skipped, or `-` where no target is set."""

    case: str
    what: str
    size: int
    unit: str
    target: float | None
    verdict: str
    figures: Figures


def measure(command: Sequence[str], env: Mapping[str, str], accept: Sequence[int] = (0,)) -> Usage:
    """Run a command to its end, its output thrown away; `accept` are the exit statuses that are no failure.

    The kernel counts into a child's peak memory what its parent held when it was started: about 23 MB here, which
    no figure can fall below. This process stays small, bundles are made and edited in processes of their own.
    """
    with tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        # Popen has to know, or it would wait for the process a second time.
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in accept:
            errors.seek(0)
            tail = errors.read().decode(errors="replace").strip().splitlines()[-1:]
            raise CommandError(f"exit {process.returncode}: {' '.join(tail) or shlex.join(command)}")
    return Usage(used.ru_utime + used.ru_stime, wall, used.ru_maxrss * RSS_UNIT / MB)


def ratios(pairs: Sequence[Pair], note: str = "") -> Figures:
    """CPU of ours over CPU of the floor, pair by pair."""
    ours = [pair[0].cpu for pair in pairs]
    floor = [pair[1].cpu for pair in pairs]
    values = [a / b for a, b in zip(ours, floor, strict=True)]
    return Figures(values, ours, floor, note, [pair[0].wall for pair in pairs], [pair[1].wall for pair in pairs])


class Bench:
    """One generated bundle, and what the cases measure on it. Samples that several cases use are taken once."""

    def __init__(self, size: int, work: Path, scratch: Path, options: Options) -> None:
        self.size = size
        self.rounds = options.rounds
        self.command = options.command
        self.rg = options.rg
        self.work = work
        self.scratch = scratch
        self.bundle = work / str(size)
        self.env = clean_environment(scratch)
        # Files that somebody else made may be young, too.
        self.written = time.monotonic()
        self._make_bundle()

    def _make_bundle(self) -> None:
        stamp = generate.read_stamp(self.bundle)
        wanted = (generate.VERSION, self.size, generate.DEFAULT_SEED)
        if stamp is not None and stamp[:3] == wanted:
            if stamp.edited:
                self.restore()
            return
        if stamp is not None:
            shutil.rmtree(self.bundle)
        say(f"{self.size}: making {self.bundle}")
        partial = self.work / f"{self.size}.partial"
        shutil.rmtree(partial, ignore_errors=True)
        self._generate(partial)
        # Fails where a directory of that name holds something else than a generated bundle.
        partial.rename(self.bundle)

    # Steps that cases are made of

    def sync(self, catalog: Path) -> Usage:
        """One `sync` of the bundle into this catalog."""
        return measure([*self.command, "sync", str(self.bundle), "--db", str(catalog)], self.env)

    def floor(self, name: str) -> Usage:
        """One of the floors of floors.py."""
        flags = ["-I", "-S"] if name == "stat" else ["-I"]
        return measure([sys.executable, *flags, str(HERE / "floors.py"), name, str(self.bundle)], self.env)

    def change(self, *arguments: str) -> int:
        """Change files of the bundle by options of generate.py; the number of files that it wrote."""
        return self._generate(self.bundle, *arguments)

    def _generate(self, bundle: Path, *arguments: str) -> int:
        command = [sys.executable, str(HERE / "generate.py"), str(self.size), str(bundle), *arguments]
        done = subprocess.run(command, env=self.env, capture_output=True, text=True, check=False)
        self.written = time.monotonic()
        if done.returncode != 0:
            raise CommandError(done.stderr.strip())
        return int(done.stdout.split()[0])

    def restore(self) -> None:
        """Undo all edits of the bundle."""
        self.change("--restore")

    def wait_until_old(self) -> None:
        """Return when no file of the bundle is young any more."""
        time.sleep(max(0.0, self.written + YOUNG_SECONDS - time.monotonic()))

    def take_turns(self, name: str, ours: Callable[[], Usage], floor: Callable[[], Usage]) -> list[Pair]:
        """Measure both, in turns, once for each round; one floor beforehand fills the page cache."""
        floor()
        pairs: list[Pair] = []
        for number in range(1, self.rounds + 1):
            pairs.append((ours(), floor()))
            self.tell(name, number, pairs[-1])
        return pairs

    def tell(self, name: str, number: int, pair: Pair) -> None:
        """Say on stderr what a round gave."""
        ours, floor = pair
        say(f"{self.size}: {name} {number}/{self.rounds}: {ours.cpu:.3f} s / {floor.cpu:.3f} s CPU")

    # Samples that cases share

    @cached_property
    def text_bytes(self) -> int:
        """Bytes of all .md files of the bundle."""
        return sum(path.stat().st_size for path in self.bundle.rglob("*.md"))

    @cached_property
    def cold_pairs(self) -> list[Pair]:
        """Cold syncs, each into a new catalog, and the floor `parse`."""
        self.wait_until_old()

        def cold() -> Usage:
            catalog = self.scratch / f"{self.size}-cold.db"
            remove_catalog(catalog)
            return self.sync(catalog)

        return self.take_turns("cold sync / parse", cold, lambda: self.floor("parse"))

    @cached_property
    def catalog(self) -> Path:
        """A catalog of the bundle at which a sync finds nothing to do."""
        path = self.scratch / f"{self.size}.db"
        self.wait_until_old()
        self.sync(path)
        self.sync(path)
        return path

    @cached_property
    def unchanged_pairs(self) -> list[Pair]:
        """Syncs that find nothing to do, and the floor `stat`."""
        catalog = self.catalog
        return self.take_turns("nothing changed / stat", lambda: self.sync(catalog), lambda: self.floor("stat"))

    @cached_property
    def git_status(self) -> list[str]:
        """The command `git status` on a repository of the bundle's files, its index up to date.

        The repository lies beside the bundle and is kept: the bundle stays as it was made.
        """
        if shutil.which("git") is None:
            raise UnavailableError("no git")
        repository = self.work / f"{self.size}.git"
        git = ["git", f"--git-dir={repository}", f"--work-tree={self.bundle}"]
        status = [*git, "status", "--porcelain"]
        self.wait_until_old()
        if (repository / "complete").exists():
            done = subprocess.run(status, env=self.env, capture_output=True, check=False)
            if done.returncode == 0 and not done.stdout:
                return status
        shutil.rmtree(repository, ignore_errors=True)
        say(f"{self.size}: making {repository}")
        measure([*git, "init", "--quiet"], self.env)
        # The stamp of the generator changes with each edit and is no file of the bundle.
        (repository / "info" / "exclude").write_text(f"{generate.STAMP}\n", "utf-8")
        measure([*git, "add", "--all"], self.env)
        measure([*git, "commit", "--quiet", "--message=bundle"], self.env)
        (repository / "complete").touch()
        measure(status, self.env)
        return status


Case = Callable[[Bench], Figures]
CASES: dict[str, Case] = {}


def case(name: str) -> Callable[[Case], Case]:
    """Register a function as the case of this name, which must have its line in TARGETS."""
    if name not in TARGETS:
        raise KeyError(name)

    def register(function: Case) -> Case:
        CASES[name] = function
        return function

    return register


@case("cold")
def cold(bench: Bench) -> Figures:
    """Everything is new."""
    pairs = bench.cold_pairs
    return ratios(pairs, concepts_note(bench.scratch / f"{bench.size}-cold.db", bench.size))


@case("cold-memory")
def cold_memory(bench: Bench) -> Figures:
    """Peak memory of the cold syncs."""
    return Figures([ours.peak_mb for ours, _ in bench.cold_pairs])


@case("file-size")
def file_size(bench: Bench) -> Figures:
    """Size of a catalog that was just filled, after a checkpoint."""
    _ = bench.cold_pairs
    catalog = bench.scratch / f"{bench.size}-cold.db"
    with closing(sqlite3.connect(catalog)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return Figures([catalog.stat().st_size / bench.text_bytes])


@case("unchanged")
def unchanged(bench: Bench) -> Figures:
    """Nothing changed, beside the cheapest walk that Python can do."""
    run = last_run(bench.catalog)
    return ratios(bench.unchanged_pairs, changes_note(bench.catalog, run, 0))


@case("unchanged-git")
def unchanged_git(bench: Bench) -> Figures:
    """Nothing changed, beside what git needs to find that out."""
    status = bench.git_status
    catalog = bench.catalog
    pairs = bench.take_turns(
        "nothing changed / git status", lambda: bench.sync(catalog), lambda: measure(status, bench.env)
    )
    return ratios(pairs)


@case("unchanged-cpu")
def unchanged_cpu(bench: Bench) -> Figures:
    """The same syncs, in seconds."""
    return Figures([ours.cpu for ours, _ in bench.unchanged_pairs])


@case("unchanged-memory")
def unchanged_memory(bench: Bench) -> Figures:
    """Peak memory of the same syncs."""
    return Figures([ours.peak_mb for ours, _ in bench.unchanged_pairs])


@case("detect")
def detect(bench: Bench) -> Figures:
    """The walk and comparison of a sync without its start-up, measured by detect.py inside one process.

    `detect.py BUNDLE CATALOG ROUNDS` prints {"ours": [...], "floor": [...]}, CPU seconds, taken in turns.
    """
    script = HERE / "detect.py"
    if not script.exists():
        raise UnavailableError("no detect.py")
    command = [sys.executable, str(script), str(bench.bundle), str(bench.catalog), str(bench.rounds)]
    done = subprocess.run(command, env=bench.env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CommandError(f"exit {done.returncode}: {' '.join(done.stderr.strip().splitlines()[-1:])}")
    result = json.loads(done.stdout)
    ours, floor = result["ours"], result["floor"]
    return Figures([a / b for a, b in zip(ours, floor, strict=True)], ours, floor)


@case("changed")
def changed(bench: Bench) -> Figures:
    """1 % of the files edited: what the sync costs over one that finds nothing, for each edited file."""
    catalog = bench.catalog
    figures = Figures([])
    try:
        for number in range(1, bench.rounds + 1):
            before = bench.sync(catalog)
            run = last_run(catalog)
            edited = bench.change("--edit", str(EDITED_SHARE), "--seed", str(number))
            bench.wait_until_old()
            after = bench.sync(catalog)
            figures.note = figures.note or changes_note(catalog, run, edited)
            figures.ours.append(after.cpu)
            figures.floor.append(before.cpu)
            figures.values.append((after.cpu - before.cpu) * 1000 / edited)
            bench.tell(f"{edited} changed", number, (after, before))
            figures.wall_ours.append(after.wall)
            figures.wall_floor.append(before.wall)
    finally:
        bench.restore()
        bench.wait_until_old()
        # Cases that come later find the catalog at rest again.
        bench.sync(catalog)
    return figures


# Did the command do the work? Something that skips half the files must not look fast.


def concepts_note(catalog: Path, size: int) -> str:
    """What is odd about the number of concepts in the catalog, or nothing. One file in a hundred is malformed."""
    found = query_row(catalog, "SELECT count(*) FROM concepts")
    if found is None:
        return "not verified: no table `concepts`"
    return "" if 0.985 * size <= found[0] <= size else f"{found[0]} concepts in the catalog of a bundle of {size}"


def last_run(catalog: Path) -> int:
    """The id of the last sync that the catalog has on record; one with nothing to do need not leave a record."""
    found = query_row(catalog, "SELECT coalesce(max(id), 0) FROM sync_runs")
    return found[0] if found else 0


def changes_note(catalog: Path, run: int, edited: int) -> str:
    """What is odd about what the syncs after `run` did by their own count, or nothing."""
    counts = "SELECT coalesce(sum(added + removed), 0), coalesce(sum(changed), 0) FROM sync_runs WHERE id > ?"
    found = query_row(catalog, counts, run)
    if found is None:
        return "not verified: no table `sync_runs`"
    if found == (0, edited):
        return ""
    return f"{edited} files were edited; the sync counted {found[1]} changed, {found[0]} added or removed"


def query_row(catalog: Path, sql: str, *values: int) -> tuple[int, ...] | None:
    """The first row, or None when the catalog cannot answer."""
    try:
        with closing(sqlite3.connect(f"{catalog.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            row: tuple[int, ...] | None = connection.execute(sql, values).fetchone()
            return row
    except sqlite3.DatabaseError:
        return None


# Surroundings


def say(text: str) -> None:
    """Progress, on stderr."""
    print(text, file=sys.stderr, flush=True)


def remove_catalog(path: Path) -> None:
    """Remove a catalog and the files that SQLite keeps beside it."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)


def clean_environment(scratch: Path) -> dict[str, str]:
    """The environment of measured processes: no settings of the user for git, Python or okf-catalog.

    `PYTHONDONTWRITEBYTECODE` above all would have a development install compile itself at each start,
    which an installed package never does.
    """
    env = {name: value for name, value in os.environ.items() if not name.startswith(("OKF_", "GIT_", "PYTHON"))}
    env.update(
        OKF_HOME=str(scratch / "home"),
        NO_COLOR="1",
        LC_ALL="C.UTF-8",
        GIT_CONFIG_NOSYSTEM="1",
        GIT_CONFIG_GLOBAL=os.devnull,
        GIT_AUTHOR_NAME="bench",
        GIT_AUTHOR_EMAIL="bench@example.com",
        GIT_AUTHOR_DATE="2026-01-01T00:00:00Z",
        GIT_COMMITTER_NAME="bench",
        GIT_COMMITTER_EMAIL="bench@example.com",
        GIT_COMMITTER_DATE="2026-01-01T00:00:00Z",
        GIT_CONFIG_COUNT="1",
        GIT_CONFIG_KEY_0="gc.auto",
        GIT_CONFIG_VALUE_0="0",
    )
    return env


@contextmanager
def only_user_of(work: Path) -> Iterator[None]:
    """Hold the work directory: a second run would edit files under the hands of the first."""
    with (work / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SystemExit(f"another run uses {work}") from None
        yield


def first_line(command: Sequence[str]) -> str:
    """The first line that a command prints, or nothing."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    except OSError:
        return ""
    return done.stdout.partition("\n")[0].strip() if done.returncode == 0 else ""


def cpu_model() -> str:
    """The processor's name."""
    try:
        found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    if found:
        return found[1]
    return first_line(["sysctl", "-n", "machdep.cpu.brand_string"]) or platform.machine()


def machine_facts(options: Options) -> dict[str, str]:
    """What figures depend on. Python, SQLite and PyYAML are those that run this script."""
    try:
        pyyaml = importlib.metadata.version("PyYAML")
    except importlib.metadata.PackageNotFoundError:
        pyyaml = "none"
    return {
        "cpu": cpu_model(),
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "pyyaml": pyyaml,
        "git": first_line(["git", "--version"]).removeprefix("git version "),
        "ripgrep": first_line([options.rg, "--version"]).removeprefix("ripgrep ") if options.rg else "none",
        "command": shlex.join([Path(options.command[0]).name, *options.command[1:]]),
        "version": first_line([*options.command, "--version"]) or "unknown",
        "commit": first_line(["git", "-C", str(HERE), "describe", "--always", "--dirty"]) or "unknown",
        "load": " ".join(f"{load:.1f}" for load in os.getloadavg()),
        "rounds": str(options.rounds),
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


# Results


def run_case(name: str, bench: Bench) -> Row:
    """Measure a case and judge it."""
    target = TARGETS[name]
    limit = target.limits.get(bench.size)
    try:
        figures = CASES[name](bench)
    except UnavailableError as reason:
        figures = Figures([], note=str(reason))
        return Row(name, target.what, bench.size, target.unit, limit, "skipped", figures)
    except (CommandError, OSError, ValueError, sqlite3.Error) as error:
        # The other cases may still have something to say.
        figures = Figures([], note=f"{type(error).__name__}: {error}")
        return Row(name, target.what, bench.size, target.unit, limit, "failed", figures)
    verdict = "-" if limit is None else "ok" if statistics.median(figures.values) <= limit else "over"
    return Row(name, target.what, bench.size, target.unit, limit, verdict, figures)


def shown(value: float) -> str:
    """Three significant digits, without an exponent."""
    return f"{value:.0f}" if round(abs(value)) > 99 else f"{value:.3g}"


def median_of(values: Sequence[float], unit: str = "") -> str:
    """The median with its unit, or a dash."""
    return f"{shown(statistics.median(values))}{unit}" if values else "-"


def table(rows: Sequence[Row]) -> str:
    """The rows as a markdown table, notes below."""
    lines = [
        "| case | concepts | CPU ours | CPU floor | figure, median [min - max] | target | |",
        "|---|---:|---:|---:|---:|---:|---|",
    ]
    notes: list[str] = []
    for row in rows:
        figures, unit = row.figures, f" {row.unit}"
        figure = median_of(figures.values, unit)
        if len(figures.values) > 1:
            figure += f" [{shown(min(figures.values))} - {shown(max(figures.values))}]"
        target = "-" if row.target is None else f"≤ {shown(row.target)}{unit}"
        cells = [
            f"{row.what} (`{row.case}`)",
            f"{row.size:,}",
            median_of(figures.ours, " s"),
            median_of(figures.floor, " s"),
            figure,
            target,
            row.verdict,
        ]
        lines.append(f"| {' | '.join(cells)} |")
        if figures.note:
            notes.append(f"- `{row.case}`, {row.size:,}: {figures.note}")
    return "\n".join(lines) + ("\n\n" + "\n".join(notes) if notes else "")


@dataclass(frozen=True)
class Options:
    """The command line, read."""

    sizes: list[int]
    rounds: int
    only: list[str]
    work: Path
    json: Path | None
    command: list[str]
    rg: str | None
    check: bool


def read_options(argv: Sequence[str] | None) -> Options:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000,10000", help="bundle sizes in concepts, comma-separated")
    parser.add_argument("--rounds", type=int, default=5, help="pairs measured for each case (default 5)")
    parser.add_argument("--only", default="", metavar="NAMES", help=f"of these cases: {', '.join(TARGETS)}")
    parser.add_argument("--work", type=Path, default=HERE / ".work", help="where bundles are made and kept")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all samples here, too")
    parser.add_argument("--cmd", default="okf-catalog", help="the command to measure, with its first arguments")
    parser.add_argument("--rg", default="rg", metavar="PATH", help="ripgrep, for cases that compare with it")
    parser.add_argument("--check", action="store_true", help="exit 1 when a case failed or is over its target")
    given = parser.parse_args(argv)
    only = [name for name in given.only.split(",") if name]
    unknown = set(only) - set(TARGETS)
    if unknown:
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    command = shlex.split(given.cmd)
    # The interpreter's own scripts come second, so that a virtual environment need not be activated.
    found = shutil.which(command[0]) or shutil.which(command[0], path=str(Path(sys.executable).parent))
    if found is None:
        parser.error(f"no command {command[0]}")
    return Options(
        sizes=[int(size) for size in given.sizes.split(",")],
        rounds=max(1, given.rounds),
        only=only or list(TARGETS),
        work=given.work.resolve(),
        json=given.json,
        command=[found, *command[1:]],
        rg=shutil.which(given.rg),
        check=given.check,
    )


def run_cases(options: Options) -> list[Row]:
    """Every case asked for, at every size."""
    if set(CASES) != set(TARGETS):
        raise KeyError(set(TARGETS) - set(CASES))
    for left in options.work.glob("run-*"):
        # A run that was killed could not clean up.
        shutil.rmtree(left)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(dir=options.work, prefix="run-") as scratch:
        for size in options.sizes:
            bench = Bench(size, options.work, Path(scratch), options)
            rows += [run_case(name, bench) for name in TARGETS if name in options.only]
    return rows


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print the table, write the JSON. Exit 1 only with --check."""
    options = read_options(argv)
    options.work.mkdir(parents=True, exist_ok=True)
    facts = machine_facts(options)
    with only_user_of(options.work):
        rows = run_cases(options)
    facts["load_after"] = " ".join(f"{load:.1f}" for load in os.getloadavg())
    print(table(rows))
    print("\n" + ", ".join(f"{name} {value}" for name, value in facts.items()))
    if options.json:
        result = {"machine": facts, "rows": [asdict(row) for row in rows]}
        options.json.write_text(json.dumps(result, indent=2) + "\n", "utf-8")
    return int(options.check and any(row.verdict in ("over", "failed") for row in rows))


if __name__ == "__main__":
    sys.exit(main())
