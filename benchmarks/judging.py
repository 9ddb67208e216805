"""What `validate` and `lint` cost on a synced bundle, beside a Python loop over the same files.

    python benchmarks/judging.py                        # 10,000 concepts
    python benchmarks/judging.py --sizes 10000,100000 --rounds 5
    python benchmarks/judging.py --bundle DIR --catalog FILE    # a bundle that is synced already

The loop (`judging.py loop DIR`) is what a script without a catalog does: read every file, parse its frontmatter with
`yaml.CSafeLoader`, look for type, title and description, and hold the targets of inline links against the set of
paths. It does a fraction of the checks. Ours and the loop take turns (rounds; medians are shown); CPU is user and system time of whole processes.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from statistics import median

HERE = Path(__file__).parent
VERBS = ("validate", "lint", "lint --extended", "loose", "references")
TARGETS = {("validate", 10_000): 0.3, ("lint", 10_000): 1.0, ("lint", 100_000): 8.0}
"""CPU seconds."""
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s#]+\.md)[^)]*\)")


def loop(root: str) -> str:
    """Judge the files of a bundle without a catalog; returns the counts of what is wrong."""
    import yaml
    from floors import md_paths, read_bytes

    texts: dict[str, str] = {}
    counts = dict.fromkeys(("unusable", "type", "title", "description", "links"), 0)
    for path in md_paths(root):
        relative = os.path.relpath(path, root)
        try:
            text = read_bytes(path).decode("utf-8").replace("\r\n", "\n")
        except UnicodeDecodeError:
            counts["unusable"] += 1
            texts[relative] = ""
            continue
        texts[relative] = text
        if os.path.basename(path) in ("index.md", "log.md"):
            continue
        end = text.find("\n---\n", 3) if text.startswith("---\n") else -1
        try:
            matter = yaml.load(text[4 : end + 1], Loader=yaml.CSafeLoader) if end >= 0 else None
        except (yaml.YAMLError, ValueError):
            matter = None
        if not isinstance(matter, dict):
            counts["unusable"] += 1
            continue
        for key in ("type", "title", "description"):
            counts[key] += not matter.get(key)
    for path, text in texts.items():
        directory = os.path.dirname(path)
        for target in _LINK.findall(text):
            if "://" not in target:
                where = target.lstrip("/") if target.startswith("/") else os.path.normpath(os.path.join(directory, target))
                counts["links"] += where not in texts
    return ", ".join(f"{key} {count}" for key, count in counts.items())


def main(argv: list[str]) -> int:
    """Measure, and print a markdown table."""
    if argv[:1] == ["loop"]:
        print(loop(argv[1]))
        return 0
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--sizes", default="10000", help="concepts, separated by commas")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--work", type=Path, default=HERE / ".work", help="where generated bundles and catalogs are kept")
    options.add_argument("--bundle", type=Path, help="judge this bundle instead")
    options.add_argument("--catalog", type=Path, help="a catalog in which --bundle is synced")
    options.add_argument("--cmd", default="okf-catalog")
    chosen = options.parse_args(argv)
    if (chosen.bundle is None) != (chosen.catalog is None):
        options.error("--bundle and --catalog go together")
    pairs = [(chosen.bundle, chosen.catalog)] if chosen.bundle else [prepare(int(size), chosen) for size in chosen.sizes.split(",")]
    print("| verb | concepts | CPU | with `--no-sync` | peak memory | CPU / loop | target |")
    print("|---|---:|---:|---:|---:|---:|---|")
    for bundle, catalog in pairs:
        report(bundle, catalog, chosen)
    return 0


def prepare(size: int, chosen: argparse.Namespace) -> tuple[Path, Path]:
    """A generated bundle and a catalog at which a sync finds nothing to do."""
    chosen.work.mkdir(parents=True, exist_ok=True)
    bundle, catalog = chosen.work / str(size), chosen.work / f"{size}-judging.db"
    if not bundle.exists():
        subprocess.run([sys.executable, str(HERE / "generate.py"), str(size), str(bundle)], check=True, stdout=subprocess.DEVNULL)
    sync = [*shlex.split(chosen.cmd), "sync", str(bundle), "--db", str(catalog)]
    for _ in range(2):  # files younger than two seconds are read again
        subprocess.run(sync, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return bundle, catalog


def report(bundle: Path, catalog: Path, chosen: argparse.Namespace) -> None:
    """Print the rows of one bundle."""
    from run import Usage, clean_environment, measure

    env = clean_environment(catalog.parent)
    python_loop = [sys.executable, str(HERE / "judging.py"), "loop", str(bundle)]
    measure(python_loop, env)  # fills the page cache
    concepts = sum(1 for path in bundle.rglob("*.md") if path.name not in ("index.md", "log.md"))
    theirs = []
    ours: dict[str, list[tuple[Usage, Usage]]] = {verb: [] for verb in VERBS}
    for number in range(chosen.rounds):
        theirs.append(measure(python_loop, env))
        for verb in VERBS:
            command = [*shlex.split(chosen.cmd), *verb.split(), str(bundle), "--db", str(catalog), "--json"]
            # Exit status 1 is a verdict, not a failure.
            ours[verb].append((measure(command, env, (0, 1)), measure([*command, "--no-sync"], env, (0, 1))))
        print(f"{concepts}: round {number + 1} of {chosen.rounds}", file=sys.stderr)
    loop_cpu = median(used.cpu for used in theirs)
    print(f"| the loop | {concepts:,} | {loop_cpu:.2f} s | - | {max(used.peak_mb for used in theirs):.0f} MB | - | - |")
    for verb, rounds in ours.items():
        cpu = median(used.cpu for used, _ in rounds)
        limit = next((value for (name, size), value in TARGETS.items() if name == verb and abs(size - concepts) < size / 50), None)
        verdict = "-" if limit is None else f"≤ {limit} s: {'ok' if cpu <= limit else 'over'}"
        print(
            f"| `{verb}` | {concepts:,} | {cpu:.2f} s [{min(used.cpu for used, _ in rounds):.2f} - "
            f"{max(used.cpu for used, _ in rounds):.2f}] | {median(used.cpu for _, used in rounds):.2f} s "
            f"| {max(used.peak_mb for pair in rounds for used in pair):.0f} MB | {cpu / loop_cpu:.3f} x | {verdict} |",
            flush=True,
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
