"""The command line: arguments in, one library call, one writer out."""

from __future__ import annotations

import sys


def main(argv: list[str] | None = None) -> int:
    """Run `okf-catalog`; returns the exit status (0 success, 1 judgement, 2 usage or environment)."""
    from okf_catalog.cli.app import run

    return run(sys.argv[1:] if argv is None else argv)
