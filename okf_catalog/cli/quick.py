"""Reads a well-formed command line by the declarations alone.

Typer costs a tenth of a second before a verb begins. What needs none of it (every option
spelt out and known, every value of its type) is read here; anything else is left to typer,
which completes short spellings, prints help and words what is wrong. A test holds the two to
the same reading.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from okf_catalog.cli.declared import REQUIRED, Parameter


class _NotPlain(Exception):
    """For typer to read."""


class _Spelling(NamedTuple):
    """What one spelling of an option does."""

    parameter: Parameter
    takes_value: bool
    flag: bool = True


def read(parameters: list[Parameter], argv: list[str]) -> dict[str, Any] | None:
    """The arguments of a verb by name, as typer would give them; None where typer has to look itself."""
    spellings = _spellings(parameters)
    values: dict[str, Any] = {}
    words: list[str] = []
    rest = iter(argv)
    try:
        for word in rest:
            if word == "--":
                words.extend(rest)
            elif not word.startswith("-"):
                words.append(word)
            else:
                _option(spellings, word, rest, values)
        _arguments([one for one in parameters if one.declared.is_argument], words, values)
    except _NotPlain:
        return None
    for name, _, default, _ in parameters:
        if name not in values:
            if default is REQUIRED:
                return None
            values[name] = default
    return values


def _spellings(parameters: list[Parameter]) -> dict[str, _Spelling]:
    found: dict[str, _Spelling] = {}
    for one in parameters:
        takes_value = not (_is(one.kind, bool) or one.declared.settings.get("count"))
        for name in one.declared.names:
            on, slash, off = name.partition("/")
            found[on] = _Spelling(one, takes_value)
            if slash:
                found[off] = _Spelling(one, takes_value=False, flag=False)
    return found


def _is(kind: Any, of: type) -> bool:
    return bool(kind == of or kind == of | None)


def _option(spellings: dict[str, _Spelling], word: str, rest: Any, values: dict[str, Any]) -> None:
    name, equals, text = word.partition("=") if word.startswith("--") else (word, "", "")
    spelling = spellings.get(name)
    if spelling is None:
        raise _NotPlain
    one = spelling.parameter
    if not spelling.takes_value:
        if equals:
            raise _NotPlain
        values[one.name] = values.get(one.name, 0) + 1 if one.declared.settings.get("count") else spelling.flag
        return
    if not equals:
        text = next(rest, "-")
        if text.startswith("-"):  # perhaps a value, perhaps an option whose value was forgotten
            raise _NotPlain
    if _is(one.kind, list[str]):
        values.setdefault(one.name, []).append(text)
    else:
        values[one.name] = _value(one, text)


def _value(one: Parameter, text: str) -> Any:
    if _is(one.kind, str):
        return text
    if not (_is(one.kind, int) or _is(one.kind, float)) or not text.isascii() or not text.isdecimal() or len(text) > 9:
        raise _NotPlain
    number = int(text)
    least, most = one.declared.settings.get("min"), one.declared.settings.get("max")
    if (least is not None and number < least) or (most is not None and number > most):
        raise _NotPlain
    return float(number) if _is(one.kind, float) else number


def _arguments(arguments: list[Parameter], words: list[str], values: dict[str, Any]) -> None:
    left = list(words)
    for one in arguments:
        if _is(one.kind, list[str]):
            if one is not arguments[-1]:
                raise _NotPlain
            if left:
                values[one.name] = left
            left = []
        elif left:
            values[one.name] = _value(one, left.pop(0))
    if left:
        raise _NotPlain
