"""Run the whole campaign and write what was seen into docs/reliability.md.

    python -m tests.faults.campaign [--only WORD] [--small] [--dry-run] [--place DIR]

Takes about half an hour; most faults want root (mounting, becoming somebody else).
"""

from __future__ import annotations

import argparse
import platform
import sqlite3
import sys
import tempfile
import time
import traceback
from datetime import datetime, timezone
from pathlib import Path

from tests.faults import files, processes, sizes  # noqa: F401  # they register their faults
from tests.faults.place import FAULTS, Place, Skipped

PAGE = Path(__file__).parent.parent.parent / "docs" / "reliability.md"
BEGIN, END = "<!-- campaign: written by python -m tests.faults.campaign -->", "<!-- /campaign -->"


def main() -> int:
    """Returns 1 where a promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="faults whose function's name holds this")
    parser.add_argument("--small", action="store_true", help="as in the tests")
    parser.add_argument("--dry-run", action="store_true", help="leave docs/reliability.md as it is")
    parser.add_argument("--place", default=None, help="where to work")
    chosen = parser.parse_args()
    rows, broken = [], 0
    for each in FAULTS:
        if chosen.only not in each.attempt.__name__:
            continue
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="okf-fault-", dir=chosen.place) as directory:
            try:
                seen = each.attempt(Place(Path(directory)), not chosen.small)
            except Skipped as reason:
                seen = f"not tried: {reason}"
            except AssertionError as problem:
                traceback.print_exc()
                seen = f"BROKEN: {problem}"
                broken += 1
        took = time.monotonic() - began
        print(f"{each.name} ({took:.0f} s)\n    promised: {each.promised}\n    seen:     {seen}", flush=True)
        rows.append((each.name, each.promised, seen, took))
    if not chosen.only and not chosen.dry_run:
        write(rows)
    return int(broken > 0)


def write(rows: list[tuple[str, str, str, float]]) -> None:
    """Put the table between the marks of the page."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    machine = (f"{datetime.now(timezone.utc):%Y-%m-%d}, {platform.system()} {platform.release().split('-')[0]}, "
               f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}")  # fmt: skip
    lines = [BEGIN, "", f"Last run: {machine}; {sum(row[3] for row in rows) / 60:.0f} minutes.", "", "| fault | promised | seen |", "|---|---|---|"]
    lines += [f"| {' | '.join(text.replace('|', chr(92) + '|') for text in row[:3])} |" for row in rows]
    PAGE.write_text(before + "\n".join([*lines, "", END]) + after, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
