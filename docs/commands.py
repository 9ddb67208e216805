"""Write docs/commands.md: the help texts of all verbs, as the command prints them.

`python docs/commands.py` writes it; `python docs/commands.py --check` says whether it is what would be
written, with exit status 1 where not.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from okf_catalog.cli.app import MODULES
from okf_catalog.cli.typer_app import build

PAGE = Path(__file__).resolve().parent / "commands.md"
WIDTH = 78
"""Columns of the texts: what a terminal of 80 or more shows."""
HEAD = """\
# Every command and option

What `okf-catalog COMMAND --help` prints. `python docs/commands.py` writes this page; `make docs-check` compares it.
[README.md](../README.md) says which command is for what.
"""


def sections(command: Any, name: str, level: int, above: Any = None) -> Iterator[str]:
    """Heading and help of a command, then of its subcommands."""
    # A context by itself, not the parsing of a command line: what is required need not be there.
    context = command.context_class(command, parent=above, info_name=name, terminal_width=WIDTH, **command.context_settings)
    text = "\n".join(line.rstrip() for line in str(command.get_help(context)).strip().splitlines())
    yield f"{'#' * level} {context.command_path}\n\n```text\n{text}\n```\n"
    for word, below in getattr(command, "commands", {}).items():
        yield from sections(below, word, level + 1, context)


def page() -> str:
    """The whole page."""
    app = build(MODULES, completes=True)
    return "\n".join([HEAD, *sections(app, "okf-catalog", 2)])


def main(arguments: list[str]) -> int:
    """Write the page, or compare it."""
    text = page()
    if arguments == ["--check"]:
        there = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
        sys.stdout.writelines(difflib.unified_diff(there.splitlines(True), text.splitlines(True), "docs/commands.md", "what the commands say"))
        return int(there != text)
    if arguments:
        sys.stderr.write("usage: python docs/commands.py [--check]\n")
        return 2
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
