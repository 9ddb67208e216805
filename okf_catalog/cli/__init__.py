"""The command line: arguments in, one library call, one writer out."""

from __future__ import annotations

import os
import sys


def main(argv: list[str] | None = None) -> int:
    """Run `okf-catalog`; returns the exit status (0 success, 1 judgement, 2 usage or environment)."""
    if argv is None and os.environ.get("PYTHONUTF8") != "1" and sys.getfilesystemencoding().lower().replace("-", "") != "utf8":
        # File names are UTF-8 whatever the locale says; Python can only be told so at its start.
        os.environ["PYTHONUTF8"] = "1"
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606
    from okf_catalog.cli.app import run

    return run(sys.argv[1:] if argv is None else argv)
