"""Look for inputs that break a check of `checks.py`, guided by coverage.

    pip install atheris
    python -m tests.fuzz.fuzz format --seconds 600
    python -m tests.fuzz.fuzz query --seconds 600

An input that breaks something is kept in `found/` (where the tests try it from then on) and
ends the run with status 1. The corpus of inputs that reached new code is kept in `--corpus`.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parent
FOUND = HERE / "found"
# Words that random bytes would take long to find.
WORDS = ["---\n", "type: ", "title: ", "tags: [", "verified:", "sources:", "- ", "{by: human:x, at: 2026-01-01}", "&a ", "*a", "<<: ", "!!", "? ",
         "| ", "> ", "[a](b.md)", "[^1]", "[^1]: ", "](", "![", "```", "`", "# ", "<!-- ", "<a href=", "\\", "okf_version: ", "0.3", "stale_after: ",
         "\r\n", "\ufeff", "\0", "é", "e\u0301", "İ", "ß", "日本", "NEAR(", "\"", "*", " AND ", "(?i)", "[^]", "\\p{L}", "{2,}", "(?<x>", "%", "_"]  # fmt: skip


def main() -> int:
    """Returns 1 where an input was found."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("target", choices=["format", "query"])
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--corpus", default=None)
    chosen = parser.parse_args()
    try:
        import atheris
    except ImportError:
        print("atheris is not installed (pip install atheris)", file=sys.stderr)
        return 2
    with atheris.instrument_imports(include=["okf_catalog"]):
        for package in ("format", "search"):  # some are only imported when they are needed
            for path in (HERE.parent.parent / "okf_catalog" / package).glob("[a-z]*.py"):
                importlib.import_module(f"okf_catalog.{package}.{path.stem}")
        from tests.fuzz import checks
    check = checks.CHECKS[chosen.target]

    def once(data: bytes) -> None:
        try:
            check(data)
        except BaseException as problem:
            keep(chosen.target, data, check)
            traceback.print_exception(problem)
            raise

    with tempfile.TemporaryDirectory() as place:
        corpus = Path(chosen.corpus or place) / chosen.target
        corpus.mkdir(parents=True, exist_ok=True)
        for number, seed in enumerate(seeds(chosen.target)):
            (corpus / f"seed-{number:03}").write_bytes(seed)
        words = Path(place) / "words.txt"
        words.write_text("".join(f'"{"".join(f"{chr(92)}x{byte:02x}" for byte in word.encode())}"\n' for word in WORDS))
        atheris.Setup([sys.argv[0], f"-max_total_time={chosen.seconds}", "-max_len=4096", "-timeout=30", "-rss_limit_mb=4096",
                       f"-dict={words}", f"-artifact_prefix={place}/", "-print_final_stats=1", str(corpus)], once)  # fmt: skip
        atheris.Fuzz()
    return 0


def seeds(target: str) -> list[bytes]:
    """Inputs to begin with: the files of the example, and questions of each kind."""
    if target == "format":
        example = HERE.parent.parent / "examples" / "moonmoth"
        return [path.read_bytes() for path in sorted(example.rglob("*.md"))]
    return [bytes([mode, fields]) + text.encode() for mode in range(15) for fields in (0, 3) for text in ("net revenue", "straße\nORDERS", "7.2.0", "a_b*")]


def keep(target: str, data: bytes, check: Callable[[bytes], None]) -> None:
    """Store an input, made smaller where that is easy."""
    smaller = shrunk(data, check)
    name = hashlib.sha256(smaller).hexdigest()[:12]
    (FOUND / target / name).write_bytes(smaller)
    print(f"kept as tests/fuzz/found/{target}/{name}: {smaller[:200]!r}", file=sys.stderr)


def shrunk(data: bytes, check: Callable[[bytes], None]) -> bytes:
    """Leave out pieces as long as the check still fails."""
    size = len(data) // 2
    while size:
        at = 0
        while at < len(data):
            less = data[:at] + data[at + size :]
            try:
                check(less)
            except Exception:
                data = less
            else:
                at += size
        size //= 2
    return data


if __name__ == "__main__":
    sys.exit(main())
