"""From `argv` to a verb: registration, the spelling of options, errors in one line."""

from __future__ import annotations

import gc
import importlib
import os
import sqlite3
import sys
from typing import Any

from okf_catalog.cli import output, quick
from okf_catalog.cli.common import Verb
from okf_catalog.cli.declared import Group
from okf_catalog.errors import CatalogError

USAGE_ERROR = 2
_INTERRUPTED = 130
_PIPE_CLOSED = 141
DEBUG_VARIABLE = "OKF_CATALOG_DEBUG"
COMPLETION_VARIABLE = "_OKF_CATALOG_COMPLETE"
"""Set by a shell that asks what may come next."""


_VERBS = (
    "sync", "find", "search", "show", "bundles", "registry", "sql",
    "index", "dirs", "stats", "types", "tags", "files", "catalog", "graph", "facets",
    "review", "changes", "history", "related", "sources", "actors", "export", "render",
    "validate", "lint", "loose", "references", "doctor", "compact", "snapshot", "forget", "server", "mcp", "skill", "version",
)  # fmt: skip
MODULES = {verb: verb.replace("-", "_") for verb in _VERBS}
"""The verbs in the order of the help page, and the module of `okf_catalog.cli` that holds the function of the same name."""


_LASTING = ("sync", "server", "mcp")
"""Verbs that may run for days."""


def run(argv: list[str]) -> int:
    """Run one command line; every error ends as one line on stderr."""
    if not gc.isenabled() or (argv and argv[0] in _LASTING):
        return _run_line(argv)
    # Answers are many small rows without a cycle among them: looking for one again and again
    # takes up to a third of the time of a large answer, and finds nothing.
    gc.disable()
    try:
        return _run_line(argv)
    finally:
        gc.enable()


def _run_line(argv: list[str]) -> int:
    if sys.stdout is None or sys.stderr is None:
        # Closed by whoever started us: nobody is there to read, and nothing may fail on that.
        sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    output.prepare_streams()
    for argument in argv:
        if not output.is_utf8(argument):
            return _fail(f"the argument {argument.encode('utf-8', 'backslashreplace').decode()} is not valid UTF-8")
    if argv and argv[0] in ("--version", "-v", "-V"):
        argv = ["version"]
    if COMPLETION_VARIABLE in os.environ:
        return _run(argv, None)
    if not argv:
        from okf_catalog.cli.typer_app import build, help_text

        sys.stderr.write(help_text(build(MODULES)) + "\n")
        return USAGE_ERROR
    if argv[0] == "help":
        argv = ["--help"]
    verb = argv[0] if argv[0] in MODULES else None
    if verb is None and not argv[0].startswith("-"):
        return _fail(f"there is no command `{argv[0]}`{_suggest(argv[0])}; okf-catalog --help lists them")
    streams = sys.stdout, sys.stderr
    try:
        status = _run(argv, verb)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output has enough; writing the rest at exit must not complain either.
        sys.stdout, sys.stderr = streams
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _PIPE_CLOSED
    except KeyboardInterrupt:
        return _INTERRUPTED
    return status


def _run(argv: list[str], verb: str | None) -> int:
    try:
        call = quickly(argv) if verb is not None else None
        status = call[0](**call[1]) if call is not None else _by_typer(argv, verb)
    except CatalogError as problem:
        return _fail(str(problem), problem.status)
    except sqlite3.Error as problem:
        if os.environ.get(DEBUG_VARIABLE):
            raise
        return _fail(f"the database says: {problem}")
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except SystemExit as end:
        # What typer and rich make of a closed pipe: exit status 1, which means a judgement here.
        if isinstance(end.__context__, BrokenPipeError):
            raise end.__context__ from None
        raise
    except OSError as problem:
        if os.environ.get(DEBUG_VARIABLE):
            raise
        return _fail(f"{problem.filename + ': ' if isinstance(problem.filename, str) else ''}{problem.strerror or problem}")
    except Exception as problem:
        if type(problem).__name__ == "Abort":  # typer's word for an interrupt
            return _INTERRUPTED
        # Typer's own usage errors; which of its two click flavours they come from depends on its version.
        message = getattr(problem, "format_message", None)
        if message is not None:
            where = getattr(getattr(problem, "ctx", None), "command_path", None) or "okf-catalog"
            return _fail(f"{message()} ({where} --help)".replace("\n", " "))
        if os.environ.get(DEBUG_VARIABLE):
            raise
        return _fail(f"unexpected {type(problem).__name__}: {problem} (set {DEBUG_VARIABLE}=1 to see where, and report it)")
    return status if isinstance(status, int) else 0


def quickly(argv: list[str]) -> tuple[Verb, dict[str, Any]] | None:
    """The verb of `argv` and its arguments; None where typer has to read them."""
    name, *rest = argv
    function = getattr(importlib.import_module(f"okf_catalog.cli.{MODULES[name]}"), MODULES[name])
    if isinstance(function, Group):
        word = rest.pop(0) if rest else function.default
        if word not in function.commands:
            return None
        function = function.commands[word]
    verb = Verb(function)
    arguments = quick.read(verb.parameters, rest)
    return None if arguments is None else (verb, arguments)


def _by_typer(argv: list[str], verb: str | None) -> Any:
    from okf_catalog.cli.typer_app import build, spell_out

    command = build(MODULES if verb is None else {verb: MODULES[verb]}, completes=verb is None)
    if verb is not None:
        argv = spell_out(argv, command.commands[verb])
    return command.main(args=argv, prog_name="okf-catalog", standalone_mode=False)


def _fail(message: str, status: int = USAGE_ERROR) -> int:
    sys.stderr.write(f"error: {output.one_line(message)}\n")
    return status


def _suggest(word: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(word, MODULES, 1)
    return f" (did you mean `{close[0]}`?)" if close else ""
