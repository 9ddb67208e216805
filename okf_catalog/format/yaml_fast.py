"""Frontmatter of the usual shape, read line by line: a third of the cost of a YAML parser.

The usual shape is `key: value` on a line of its own, with values that are plain or quoted
text, `[a, b]` or `{a: b}`, continued on indented lines, and below a bare `key:` a list or a mapping of such values.
Anything else, and anything in doubt, is left to the parser (`yaml_values.py`). Where
this module answers, it answers the same: `tests/test_format_yaml_fast.py` compares both.
"""

from __future__ import annotations

import re
from typing import Any

from okf_catalog.format.values import MAY_BE_SPECIAL, plain_value

# Indent, dash of a list item, key, value. Every line matches.
_LINE = re.compile(r"^( *)(- )?(?:([A-Za-z_][A-Za-z0-9_-]*):(?: +|$))?(.*)$", re.MULTILINE)
_INDICATORS = frozenset(" -?:,[]{}#&*!|>'\"%@`")
"""A value that begins with one of these is not plain text."""
_QUOTED = re.compile(r"""'([^']*)'\Z|"([^"\\]*)"\Z""")
# Text inside brackets: words with nothing between them that YAML could see as structure.
_WORDS = r"[\w/][\w/.+@-]*(?:[: ][\w/][\w/.+@-]*)*"
_FLOW_LIST = re.compile(rf"\[ *(?:{_WORDS}(?:, *{_WORDS})*)? *\]\Z")
# Quoted text without anything that would have to be looked at twice.
_QUOTED_WORDS = r"""'[^'",{}\[\]]*'|"[^'",{}\[\]\\]*\""""
_PAIR = rf"[A-Za-z_][A-Za-z0-9_-]*: +(?:{_WORDS}|{_QUOTED_WORDS})"
_FLOW_MAPPING = re.compile(rf"\{{ *{_PAIR}(?:, *{_PAIR})* *\}}\Z")

_Rows = list[tuple[str, str, str, str]]


class _UnusualError(Exception):
    """The text is not of the usual shape."""


def read(text: str) -> tuple[dict[str, Any], dict[str, int]] | None:
    """The mapping and the line (from 0) of each of its keys; None where the text is not of the usual shape."""
    # Tabs, YAML's other line breaks and what it does not allow at all count as not printable.
    if text[-1:] != "\n" or not text.replace("\n", "").isprintable():
        return None
    rows = _LINE.findall(text)
    rows[-1] = ("", "", "", "")  # behind the last line feed; ends every block
    result: dict[str, Any] = {}
    lines: dict[str, int] = {}
    try:
        at, end = 0, len(rows) - 1
        while at < end:
            indent, dash, key, value = rows[at]
            if indent or dash or not key or key in result:
                return None
            lines[key] = at
            at += 1
            if value:
                if rows[at][0]:
                    value, at = _folded(rows, at, value)
                result[key] = _value(value)
            elif rows[at][1]:
                result[key], at = _list(rows, at)
            elif rows[at][0]:
                result[key] = {}
                at = _pairs(rows, at, rows[at][0], result[key])
            else:
                result[key] = None
    except _UnusualError:
        return None
    return result, lines


def _value(text: str) -> Any:
    if text[0] not in _INDICATORS:
        if ": " in text or " #" in text or text[-1] in ": ":
            raise _UnusualError
        return plain_value(text) if text[0] in MAY_BE_SPECIAL else text
    quoted = _QUOTED.match(text)
    if quoted:
        return quoted[1] if quoted[2] is None else quoted[2]
    if _FLOW_LIST.match(text):
        inner = text[1:-1].strip(" ")
        return [plain_value(item.strip(" ")) for item in inner.split(",")] if inner else []
    if _FLOW_MAPPING.match(text):
        pairs = [part.partition(":") for part in text[1:-1].split(",")]
        mapping = {key.strip(" "): _flow_value(value.strip(" ")) for key, _, value in pairs}
        if len(mapping) == len(pairs):
            return mapping
    raise _UnusualError


def _flow_value(text: str) -> Any:
    return text[1:-1] if text[0] in "'\"" else plain_value(text)


def _folded(rows: _Rows, at: int, text: str) -> tuple[str, int]:
    """`text` with the lines from `at` on that continue it, and the line behind them."""
    parts = [text]
    if text[0] in "[{" or text[-1] in ": ":
        raise _UnusualError
    while rows[at][0]:
        _, dash, key, value = rows[at]
        if dash or key or not value or value[0] in _INDICATORS or value[-1] in ": ":
            raise _UnusualError
        parts.append(value)
        at += 1
    return " ".join(parts), at


def _list(rows: _Rows, at: int) -> tuple[list[Any], int]:
    """The list whose first item is on line `at`, and the line behind it."""
    items: list[Any] = []
    margin = rows[at][0]
    while rows[at][1] and rows[at][0] == margin:
        _, _, key, value = rows[at]
        if not value:
            raise _UnusualError
        at += 1
        if key:
            item = {key: _value(value)}
            at = _pairs(rows, at, margin + "  ", item)
            items.append(item)
        else:
            items.append(_value(value))
    return items, at


def _pairs(rows: _Rows, at: int, margin: str, mapping: dict[str, Any]) -> int:
    """Add the pairs that stand at `margin`, from line `at` on; returns the line behind them."""
    while rows[at][0] == margin:
        _, dash, key, value = rows[at]
        if dash or not key or not value or key in mapping:
            raise _UnusualError
        mapping[key] = _value(value)
        at += 1
    return at
