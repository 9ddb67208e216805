"""What a search costs beside ripgrep and a plain Python scan of the same files, as whole processes.

    python benchmarks/search.py [--sizes 1000,10000] [--rounds 5] [--work DIR] [--rg rg] [--cmd okf-catalog]
    python benchmarks/search.py --substrings 10000 --sizes 10000    # compare instead of measure

The bundles are those of `run.py`, synced once. For each query, ours with `--no-sync`, ours with the refresh that a
search does unasked, `rg -i -l` and the scan take turns. The words are chosen from the bundle: one that a handful of
concepts hold, one that one in fifteen holds, and the most common one. CPU is user and system time.

With `--substrings N`, N random pieces of the texts are searched with the index and by reading every text in Python,
and every difference is printed; exit status 1 if there is one.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import run

HERE = Path(__file__).resolve().parent
TARGETS = {"rare": {10_000: 1.2, 100_000: 0.2}, "middle": {10_000: 1.2}, "common": {10_000: 1.2, 100_000: 0.35}}
"""Ours with --no-sync over ripgrep, by query and size."""
MEMORY_LIMIT = 150
"""MB, at any size."""


class Query(NamedTuple):
    """One question and the command lines that answer it."""

    name: str
    ours: list[str]
    """Arguments behind `okf-catalog`, with BUNDLE for the bundle."""
    ripgrep: list[str] | None
    """Arguments of ripgrep, without the directory; None where it has no such question."""
    word: str | None
    """For the Python scan."""


def words_of(catalog: Path) -> dict[str, str]:
    """A rare, a middle and the most common word of a synced bundle."""
    with sqlite3.connect(f"{catalog.absolute().as_uri()}?mode=ro", uri=True) as connection:
        total = connection.execute("select count(*) from concepts").fetchone()[0]
        terms = [row for row in connection.execute("select term, doc from concepts_fts_terms") if row[0].isascii() and row[0].isalpha()]
    rare = min(term for term, count in terms if count == 3 and len(term) >= 7)
    middle = min((abs(count - total / 15), term) for term, count in terms if len(term) >= 5)[1]
    common = max((count, term) for term, count in terms if len(term) >= 5)[1]
    return {"rare": rare, "middle": middle, "common": common}


def queries(catalog: Path) -> list[Query]:
    """The questions that are asked of every bundle."""
    words = words_of(catalog)
    found = [
        Query(name, ["search", "BUNDLE", word, "--limit", "20"], ["-i", "-l", "-F", word], word)
        for name, word in words.items()
    ]
    pattern = rf"{words['middle'][:4]}\w+\s+the"
    return [
        *found,
        Query("absent", ["search", "BUNDLE", "zzqxqzz"], ["-i", "-l", "-F", "zzqxqzz"], "zzqxqzz"),
        Query("-e", ["search", "BUNDLE", "-e", pattern, "--limit", "20"], ["-i", "-l", "-U", pattern], None),
        Query("fts5", ["search", "BUNDLE", words["middle"], "--engine", "fts5", "--limit", "20"], None, None),
        Query("fts5, common", ["search", "BUNDLE", words["common"], "--engine", "fts5", "--limit", "20"], None, None),
        Query("--fuzzy", ["search", "BUNDLE", words["middle"][:-1] + "x", "--fuzzy", "--limit", "20"], None, None),
        Query("filter alone", ["find", "BUNDLE", "--type", "Metric", "--stale-only"], None, None),
        Query("all rows", ["search", "BUNDLE", words["common"], "--format", "ndjson"], None, None),
    ]


class Result(NamedTuple):
    """The figures of one question, in CPU seconds; the peak memory of ours in MB."""

    query: str
    size: int
    ours: list[float]
    refreshed: list[float]
    ripgrep: list[float]
    scan: list[float]
    peak: float


def ask(query: Query, bench: run.Bench, catalog: Path) -> Result:
    """Measure one question."""
    argv = [*bench.command, *(str(bench.bundle) if part == "BUNDLE" else part for part in query.ours), "--db", str(catalog)]
    figures: dict[str, list[float]] = {"ours": [], "refreshed": [], "ripgrep": [], "scan": []}
    peak = 0.0
    for number in range(bench.rounds + 1):
        usages = {"ours": run.measure([*argv, "--no-sync"], bench.env), "refreshed": run.measure(argv, bench.env)}
        if query.ripgrep is not None and bench.rg is not None:
            usages["ripgrep"] = run.measure([bench.rg, *query.ripgrep, str(bench.bundle)], bench.env, (0, 1))
        if query.word is not None:
            usages["scan"] = run.measure(
                [sys.executable, "-I", "-S", str(HERE / "floors.py"), "scan", str(bench.bundle), query.word], bench.env
            )
        if number:  # the first round warms the page cache
            for name, usage in usages.items():
                figures[name].append(usage.cpu)
            peak = max(peak, usages["ours"].peak_mb, usages["refreshed"].peak_mb)
    run.say(f"{bench.size}: {query.name}: {statistics.median(figures['ours']):.3f} s")
    return Result(query.name, bench.size, **figures, peak=peak)


def table(results: Sequence[Result]) -> str:
    """The results as a markdown table."""
    lines = [
        "| query | concepts | ours, --no-sync | with refresh | ripgrep | Python scan | ours / ripgrep | target | peak |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for result in results:
        ratio, target = "-", "-"
        if result.ripgrep:
            value = statistics.median(a / b for a, b in zip(result.ours, result.ripgrep, strict=True))
            ratio = f"{value:.2f} x"
            limit = TARGETS.get(result.query, {}).get(result.size)
            if limit is not None:
                target = f"≤ {limit} x: {'ok' if value <= limit else 'over'}"
        cells = [run.median_of(figure, " s") for figure in (result.ours, result.refreshed, result.ripgrep, result.scan)]
        over = "" if result.peak <= MEMORY_LIMIT else " (over)"
        lines.append(f"| {result.query} | {result.size:,} | {' | '.join(cells)} | {ratio} | {target} | {result.peak:.0f} MB{over} |")
    return "\n".join(lines)


def compare(catalog: Path, count: int, seed: int) -> int:
    """Search random pieces of the texts both ways; returns the number of differences and prints them."""
    from okf_catalog.search.query import FIELDS, Corpus, Literal
    from okf_catalog.search.query import Query as Asked
    from okf_catalog.search.scan import Scan

    connection = sqlite3.connect(f"{catalog.absolute().as_uri()}?mode=ro", uri=True)
    texts = {row[0]: row[1:] for row in connection.execute(f"select concept_id, {', '.join(FIELDS)} from search_text")}
    # A field between blanks holds ` word` where the field itself begins with the word.
    whole = {row_id: "\0".join(f" {field} " for field in fields) for row_id, fields in texts.items()}
    bundles = [row[0] for row in connection.execute("select name from bundles")]
    corpus, engine, chance = Corpus(connection, bundles), Scan(), random.Random(seed)
    ids = list(texts)
    differences = 0
    for number in range(count):
        text = ""
        while not text.strip():
            field = chance.choice(texts[chance.choice(ids)])
            start = chance.randrange(len(field) or 1)
            text = field[start : start + chance.randint(1, 30)]
        if chance.random() < 0.2:
            text = text[::-1]  # most of these are nowhere
        literal = Literal.read(text)
        needle = f"{' ' * literal.spaced_before}{literal.text}{' ' * literal.spaced_after}"
        wanted = {row_id for row_id, joined in whole.items() if needle in joined}
        found = set(engine.search(corpus, Asked((text,))).matches)
        if found != wanted:
            differences += 1
            print(f"{text!r}: {len(found - wanted)} too many, {len(wanted - found)} missing")
        if number % 500 == 499:
            run.say(f"{number + 1} of {count}, {differences} differences")
    return differences


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000,10000", help="bundle sizes in concepts, comma-separated")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--work", type=Path, default=HERE / ".work", help="where bundles are made and kept")
    parser.add_argument("--rg", default="rg", help="ripgrep")
    parser.add_argument("--cmd", default="okf-catalog", help="the command to measure")
    parser.add_argument("--only", default="", help="only these queries, comma-separated")
    parser.add_argument("--substrings", type=int, default=0, metavar="N", help="compare the index with the texts instead")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(argv)
    work = given.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    options = run.read_options(["--rounds", str(given.rounds), "--work", str(work), "--rg", given.rg, "--cmd", given.cmd])
    if options.rg is None:
        run.say("no ripgrep here: its columns stay empty (Debian: apt install ripgrep)")
    results: list[Result] = []
    differences = 0
    with run.only_user_of(work), tempfile.TemporaryDirectory(dir=work, prefix="run-") as scratch:
        for size in map(int, given.sizes.split(",")):
            bench = run.Bench(size, work, Path(scratch), options)
            if given.substrings:
                differences += compare(bench.catalog, given.substrings, given.seed)
                continue
            only = [name for name in given.only.split(",") if name]
            results += [ask(query, bench, bench.catalog) for query in queries(bench.catalog) if not only or query.name in only]
    if given.substrings:
        print(f"{differences} differences in {given.substrings} pieces of text (seed {given.seed})")
        return int(differences > 0)
    print(table(results))
    print("\n" + ", ".join(f"{name} {value}" for name, value in run.machine_facts(options).items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
