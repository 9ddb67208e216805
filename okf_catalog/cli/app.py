"""From `argv` to a verb: registration, the spelling of options, errors in one line."""

from __future__ import annotations

import importlib
import os
import sqlite3
import sys
from typing import Any, NamedTuple

import typer

from okf_catalog.cli import output
from okf_catalog.cli.common import with_common_options
from okf_catalog.errors import CatalogError

USAGE_ERROR = 2
_INTERRUPTED = 130
_PIPE_CLOSED = 141
DEBUG_VARIABLE = "OKF_CATALOG_DEBUG"
COMPLETION_VARIABLE = "_OKF_CATALOG_COMPLETE"
"""Set by a shell that asks what may come next."""


class Verb(NamedTuple):
    """A command: the module of `okf_catalog.cli` that holds the function of the same name."""

    name: str
    module: str
    function: str


def _verb(name: str, module: str | None = None) -> Verb:
    word = name.replace("-", "_")
    return Verb(name, module or word, word)


# In the order of the help page.
VERBS = {verb.name: verb for verb in (
    _verb("sync"), _verb("find"), _verb("search"), _verb("show"), _verb("bundles"), _verb("registry"), _verb("sql"),
    _verb("index"), _verb("dirs"), _verb("stats"), _verb("types"), _verb("tags"), _verb("files"), _verb("catalog"), _verb("graph"), _verb("facets"),
    _verb("review"), _verb("changes"), _verb("history"), _verb("related"), _verb("sources"), _verb("actors"), _verb("export"),
    _verb("validate"), _verb("lint"), _verb("loose"), _verb("references"), _verb("doctor"), _verb("compact"), _verb("snapshot"), _verb("forget"), _verb("server"), _verb("skill"), _verb("version"),
)}  # fmt: skip

HELP = "A SQLite catalog of OKF bundles: sync directories of markdown, then find, read and query what they say."


def build(only: str | None = None) -> typer.Typer:
    """The typer application; with `only` just that verb, which starts faster."""
    app = typer.Typer(
        name="okf-catalog", help=HELP, no_args_is_help=False, add_completion=only is None,
        pretty_exceptions_enable=False, rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )  # fmt: skip

    @app.callback()
    def top() -> None:
        """Stands for the options before a verb; there are none."""

    for verb in VERBS.values() if only is None else [VERBS[only]]:
        module = importlib.import_module(f"okf_catalog.cli.{verb.module}")
        function = getattr(module, verb.function)
        if isinstance(function, typer.Typer):  # a verb with subcommands
            app.add_typer(function, name=verb.name)
            continue
        app.command(verb.name, short_help=(function.__doc__ or "").strip().split("\n")[0])(with_common_options(function))
    return app


def _command(app: typer.Typer) -> Any:
    return typer.main.get_command(app)


def run(argv: list[str]) -> int:
    """Run one command line; every error ends as one line on stderr."""
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
        sys.stderr.write(_command(build()).get_help(_context()))
        sys.stderr.write("\n")
        return USAGE_ERROR
    if argv[0] == "help":
        argv = ["--help"]
    verb = argv[0] if argv[0] in VERBS else None
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
    command = _command(build(verb))
    try:
        if verb is not None:
            argv = _spell_out(argv, command.commands[verb])
        status = command.main(args=argv, prog_name="okf-catalog", standalone_mode=False)
    except CatalogError as problem:
        return _fail(str(problem), problem.status)
    except typer.Abort:
        return _INTERRUPTED
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
        # Typer's own usage errors; which of its two click flavours they come from depends on its version.
        message = getattr(problem, "format_message", None)
        if message is not None:
            where = getattr(getattr(problem, "ctx", None), "command_path", None) or "okf-catalog"
            return _fail(f"{message()} ({where} --help)".replace("\n", " "))
        if os.environ.get(DEBUG_VARIABLE):
            raise
        return _fail(f"unexpected {type(problem).__name__}: {problem} (set {DEBUG_VARIABLE}=1 to see where, and report it)")
    return status if isinstance(status, int) else 0


def _context() -> Any:
    command = _command(build())
    return command.make_context("okf-catalog", [], resilient_parsing=True)


def _fail(message: str, status: int = USAGE_ERROR) -> int:
    sys.stderr.write(f"error: {output.one_line(message)}\n")
    return status


def _suggest(word: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(word, VERBS, 1)
    return f" (did you mean `{close[0]}`?)" if close else ""


def _spell_out(argv: list[str], command: Any) -> list[str]:
    """Long options may be shortened to any prefix that only one of them has."""
    arrange = getattr(command, "arrange", None)
    if arrange is not None:  # a verb with subcommands: the options are those of the subcommand
        argv = arrange(argv)
        command = command.commands.get(argv[1], command)
    options = sorted({name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)
                      if name.startswith("--")} | {"--help"})  # fmt: skip
    takes_value = {name for parameter in command.params if not getattr(parameter, "is_flag", True)
                   for name in parameter.opts if name.startswith("-")}  # fmt: skip
    result: list[str] = []
    value_follows = False
    for position, argument in enumerate(argv):
        if value_follows:
            value_follows = False
        elif argument == "--":
            return result + argv[position:]
        elif argument.startswith("--"):
            name, equals, value = argument.partition("=")
            if name not in options:
                matches = [option for option in options if option.startswith(name)]
                if len(matches) > 1:
                    raise output.usage(f"`{name}` may mean {' or '.join(matches)}")
                name = matches[0] if matches else name
                argument = name + equals + value
            value_follows = name in takes_value and not equals
        elif argument.startswith("-") and len(argument) == 2:
            value_follows = argument in takes_value
        result.append(argument)
    return result
