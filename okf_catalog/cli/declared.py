"""How a verb declares its options and arguments: once, for two readers.

`Annotated[str | None, Option("--db", metavar="FILE", help="…")]` says what typer's own `Option`
says, without loading typer, which takes longer than most answers. `quick` reads a well-formed
command line by these declarations; `typer_app` makes of them the application that reads all
others, prints help and words errors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, get_args

REQUIRED: Any = ...
"""The default of a parameter that has none."""


class Declared:
    """What a parameter is called on the command line, and what typer is to know of it."""

    __slots__ = ("is_argument", "names", "settings")

    def __init__(self, names: tuple[str, ...], settings: dict[str, Any], *, is_argument: bool) -> None:
        self.names = names
        self.settings = settings
        self.is_argument = is_argument


def Option(  # noqa: N802  # named as what it stands for in typer
    *names: str, metavar: str | None = None, help: str = "", show_default: bool = True, hidden: bool = False,  # noqa: A002
    count: bool = False, min: float | None = None, max: float | None = None,  # noqa: A002
    autocompletion: Callable[..., Any] | None = None,
) -> Declared:  # fmt: skip
    """An option under `names`; the settings mean what they mean to `typer.Option`."""
    return Declared(names, {"metavar": metavar, "help": help, "show_default": show_default, "hidden": hidden, "count": count,
                            "min": min, "max": max, "autocompletion": autocompletion}, is_argument=False)  # fmt: skip


def Argument(  # noqa: N802
    *, metavar: str | None = None, help: str = "", show_default: bool = True, hidden: bool = False,  # noqa: A002
    autocompletion: Callable[..., Any] | None = None,
) -> Declared:  # fmt: skip
    """An argument; the settings mean what they mean to `typer.Argument`."""
    return Declared((), {"metavar": metavar, "help": help, "show_default": show_default, "hidden": hidden,
                         "autocompletion": autocompletion}, is_argument=True)  # fmt: skip


class Parameter(NamedTuple):
    """One parameter of a verb's function."""

    name: str
    kind: Any
    """The type of its value, `str | None` for one that may be absent."""
    default: Any
    declared: Declared


class Group(NamedTuple):
    """A verb with subcommands; without one it is `default`."""

    help: str
    commands: dict[str, Callable[..., Any]]
    default: str


def parameter(name: str, annotation: Any, default: Any) -> Parameter:
    """The parameter that `Annotated[kind, declaration]` says. Raises `TypeError` for another annotation."""
    kind, declared = get_args(annotation) or (annotation, None)
    if not isinstance(declared, Declared):
        raise TypeError(f"{name}: {annotation} declares neither an Option nor an Argument")
    return Parameter(name, kind, default, declared)


def parameters(function: Callable[..., Any]) -> list[Parameter]:
    """What `function` declares, in its order; without `inspect`, which takes as long to load as to use."""
    code = function.__code__
    count = code.co_argcount
    names = code.co_varnames[: count + code.co_kwonlyargcount]
    given = function.__defaults__ or ()
    defaults = {**dict(zip(names[count - len(given) : count], given, strict=True)), **(function.__kwdefaults__ or {})}
    annotations = function.__annotations__
    known = function.__globals__
    return [
        parameter(name, _named(kind, known) if isinstance(kind, str) else kind, defaults.get(name, REQUIRED))
        for name in names
        for kind in (annotations[name],)
    ]


def _named(text: str, known: dict[str, Any]) -> Any:
    """What an annotation stands for: most are `options.Name`, which needs no compiling."""
    module, _, name = text.rpartition(".")
    if name.isidentifier() and module.isidentifier():
        return getattr(known[module], name)
    return known[name] if text.isidentifier() and text in known else eval(text, known)  # noqa: S307  # our own source
