"""The typer application, made of what the verbs declare: it reads what `quick` does not, and writes help."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from okf_catalog.cli import output
from okf_catalog.cli.common import Verb
from okf_catalog.cli.declared import REQUIRED, Group, Parameter
from okf_catalog.errors import UsageError

HELP = "A SQLite catalog of OKF bundles: sync directories of markdown, then find, read and query what they say."
_SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"]}
_HELP_WORDS = ("--help", "-h", "help")


Call = Callable[[Verb, dict[str, Any]], Any]
"""What becomes of a command line that was read."""


def _call(verb: Verb, arguments: dict[str, Any]) -> Any:
    return verb(**arguments)


def build(modules: Mapping[str, str], *, completes: bool = False, call: Call = _call) -> Any:
    """The command over the verbs of `modules` (verb → module of `okf_catalog.cli`); fewer verbs start faster."""
    app = typer.Typer(
        name="okf-catalog", help=HELP, no_args_is_help=False, add_completion=completes,
        pretty_exceptions_enable=False, rich_markup_mode=None, context_settings=_SETTINGS,
    )  # fmt: skip

    @app.callback()
    def top() -> None:
        """Stands for the options before a verb; there are none."""

    for name, module in modules.items():
        verb = getattr(importlib.import_module(f"okf_catalog.cli.{module}"), name.replace("-", "_"))
        if isinstance(verb, Group):
            app.add_typer(_group(verb, call), name=name)
        else:
            app.command(name, short_help=(verb.__doc__ or "").strip().split("\n")[0])(_for_typer(verb, call))
    return typer.main.get_command(app)


def help_text(command: Any) -> str:
    """The help page of all verbs."""
    return str(command.get_help(command.make_context("okf-catalog", [], resilient_parsing=True)))


class _Subcommands(TyperGroup):
    """The subcommands of a verb; without one it is the default."""

    default: str

    def arrange(self, argv: list[str]) -> list[str]:
        """`argv` (beginning with the verb) with its subcommand in second place. Raises `UsageError`."""
        verb, *rest = argv
        if not rest:
            return [verb, self.default]
        if rest[0] in _HELP_WORDS:
            return [verb, "--help"]
        if rest[0] in self.commands:
            return argv
        if rest[0].startswith("-"):
            later = next((word for word in rest if word in self.commands), None)
            if later:
                raise UsageError(f"the subcommand comes first and its options after it: okf-catalog {verb} {later} …")
            return [verb, self.default, *rest]
        raise UsageError(f"{verb} has no subcommand `{rest[0]}`; it has {', '.join(self.commands)}")


def _group(group: Group, call: Call) -> typer.Typer:
    kind = type("Subcommands", (_Subcommands,), {"default": group.default})
    app = typer.Typer(cls=kind, rich_markup_mode=None, no_args_is_help=False, context_settings=_SETTINGS)

    def overview() -> None: ...

    overview.__doc__ = group.help
    app.callback()(overview)
    for name, function in group.commands.items():
        app.command(name)(_for_typer(function, call))
    return app


def _for_typer(function: Callable[..., Any], call: Call) -> Callable[..., Any]:
    """`function` with what it declares in typer's words."""
    verb = Verb(function)

    @functools.wraps(function)
    def run(**arguments: Any) -> Any:
        return call(verb, arguments)

    parameters = [_parameter(one) for one in verb.parameters]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def _parameter(one: Parameter) -> inspect.Parameter:
    settings = {name: value for name, value in one.declared.settings.items() if value is not None}
    settings["help"] = settings.get("help") or None
    info = typer.Argument(**settings) if one.declared.is_argument else typer.Option(*one.declared.names, **settings)
    return inspect.Parameter(
        one.name, inspect.Parameter.KEYWORD_ONLY, annotation=Annotated[one.kind, info],
        default=inspect.Parameter.empty if one.default is REQUIRED else one.default,
    )  # fmt: skip


def spell_out(argv: list[str], command: Any) -> list[str]:
    """`argv` for `command` with long options in full: any prefix that only one of them has will do.

    Raises `UsageError` for a prefix that several have.
    """
    arrange = getattr(command, "arrange", None)
    if arrange is not None:  # a verb with subcommands: the options are those of the subcommand
        argv = arrange(argv)
        command = command.commands.get(argv[1], command)
    # Each with what it is the same as: two names of one option leave no doubt.
    options = {name: (parameter.name, name in parameter.secondary_opts) for parameter in command.params
               for name in (*parameter.opts, *parameter.secondary_opts) if name.startswith("--")}  # fmt: skip
    options = dict(sorted({**options, "--help": ("help", False)}.items()))
    takes_value = {name for parameter in command.params
                   if not getattr(parameter, "is_flag", True) and not getattr(parameter, "count", False)
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
                if len({options[match] for match in matches}) > 1:
                    raise output.usage(f"`{name}` may mean {' or '.join(matches)}")
                name = matches[0] if matches else name
                argument = name + equals + value
            value_follows = name in takes_value and not equals
        elif argument.startswith("-") and len(argument) == 2:
            value_follows = argument in takes_value
        result.append(argument)
    return result
