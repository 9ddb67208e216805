"""What the reading verbs cost on a synced bundle, as whole processes.

    python benchmarks/reading.py [--sizes 10000,100000] [--rounds 3] [--work DIR] [--cmd okf-catalog]

The bundles are those of `run.py`. CPU is user and system time with `--no-sync`; the last column says what the walk
that looks for changes adds. Peak memory shows whether a stream stays flat: it must not grow with the bundle.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import run

HERE = Path(__file__).resolve().parent
QUERIES = (
    "stats", "types", "tags", "dirs", "index --no-body --depth 1", "facets", "facets --by type,trust", "graph --hubs",
    "graph --traffic", "graph --format dot", "files --format ndjson", "catalog --format ndjson", "review --limit 50",
    "changes --limit 50", "sources --limit 50", "actors", "bundles --digest", "export --format ndjson --table concepts",
    "export --format csv --table links",
)  # fmt: skip
TARGETS = {("stats", 100_000): 0.6, ("types", 100_000): 0.6, ("tags", 100_000): 0.6, ("dirs", 100_000): 0.6,
           ("graph --hubs", 100_000): 2.0}  # fmt: skip
"""CPU seconds with --no-sync."""

def command_of(query: str, bench: run.Bench, catalog: Path) -> list[str]:
    """The command line of a query."""
    verb, *options = query.split()
    bundle = [] if verb == "bundles" else [str(bench.bundle)]
    return [*bench.command, verb, *bundle, *options, "--db", str(catalog)]


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, and print a markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="10000", help="bundle sizes in concepts, comma-separated")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--work", type=Path, default=HERE / ".work", help="where bundles are made and kept")
    parser.add_argument("--cmd", default="okf-catalog", help="the command to measure")
    given = parser.parse_args(argv)
    work = given.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    options = run.read_options(["--rounds", str(given.rounds), "--work", str(work), "--cmd", given.cmd])
    lines = ["| query | concepts | CPU, median [min - max] | peak memory | target | with refresh |", "|---|---:|---:|---:|---|---:|"]
    with run.only_user_of(work), tempfile.TemporaryDirectory(dir=work, prefix="run-") as scratch:
        for size in map(int, given.sizes.split(",")):
            bench = run.Bench(size, work, Path(scratch), options)
            for query in QUERIES:
                command = command_of(query, bench, bench.catalog)
                can_skip = query.split()[0] != "bundles"
                run.measure(command, bench.env)
                ours = [run.measure([*command, *["--no-sync"] * can_skip], bench.env) for _ in range(given.rounds)]
                whole = run.measure(command, bench.env)
                cpu = [used.cpu for used in ours]
                limit = TARGETS.get((query, size))
                verdict = "-" if limit is None else f"≤ {limit} s: {'ok' if statistics.median(cpu) <= limit else 'over'}"
                lines.append(
                    f"| `{query}` | {size:,} | {statistics.median(cpu):.2f} s [{min(cpu):.2f} - {max(cpu):.2f}] "
                    f"| {max(used.peak_mb for used in ours):.0f} MB | {verdict} | {whole.cpu:.2f} s |"
                )
                run.say(lines[-1])
    print("\n".join(lines))
    print("\n" + ", ".join(f"{name} {value}" for name, value in run.machine_facts(options).items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
