"""Text of YAML values, case folding, instants: the small rules everything else uses."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple

# What `trim` takes off (ASCII white space and NUL; a no-break space stays).
ASCII_SPACE = " \t\n\v\f\r\0"

# YAML 1.2 core schema (https://yaml.org/spec/1.2.2/#103-core-schema).
_INTEGER = re.compile(r"[-+]?[0-9]+\Z")
_OCTAL = re.compile(r"0o[0-7]+\Z")
_HEX = re.compile(r"0x[0-9a-fA-F]+\Z")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_INFINITE = re.compile(r"[-+]?\.(inf|Inf|INF)\Z|\.(nan|NaN|NAN)\Z")
_TYPED = re.compile("|".join(f"(?:{part.pattern})" for part in (_FLOAT, _INFINITE, _OCTAL, _HEX)))
_NULLS = frozenset(["", "~", "null", "Null", "NULL"])
_MAY_BE_TYPED = frozenset("+-.0123456789tTfF")
MAY_BE_SPECIAL = _MAY_BE_TYPED | frozenset("~nN")
"""The first characters of unquoted scalars that are not just text."""
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT64 = 2**63
# No 64-bit integer has more digits, in any of the three bases.
_MAX_INTEGER_TEXT = 30
_SHORT_INTEGER = 19
"""Fewer digits than this always fit into 64 bits."""


class Plain(str):
    """An unquoted scalar that YAML's core schema reads as a number or boolean.

    It *is* the text as written; only `json_value` looks at what else it could be.
    """

    __slots__ = ()


def is_typed_scalar(text: str) -> bool:
    """True when the core schema reads an unquoted `text` as a number or a boolean."""
    return _TYPED.match(text) is not None or text in _BOOLEANS


def plain_value(text: str) -> Any:
    """What an unquoted scalar is: None for null, `Plain` for a number or boolean, else the text."""
    if text in _NULLS:
        return None
    return Plain(text) if text[0] in _MAY_BE_TYPED and is_typed_scalar(text) else text


def _typed(text: str) -> Any:
    """The JSON value of a `Plain` scalar.

    Integers outside 64 bits and decimals beyond a double stay text; NaN and the
    infinities, which JSON cannot hold, become None.
    """
    if text.isdecimal() and text.isascii() and len(text) < _SHORT_INTEGER:
        return int(text)  # nearly all of them, without a pattern
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _INFINITE.match(text):
        return None
    if len(text) <= _MAX_INTEGER_TEXT:
        number: int | None = None
        if _INTEGER.match(text):
            number = int(text)
        elif _OCTAL.match(text):
            number = int(text[2:], 8)
        elif _HEX.match(text):
            number = int(text[2:], 16)
        if number is not None:
            return number if -_INT64 <= number < _INT64 else str(text)
    if _INTEGER.match(text) or not _FLOAT.match(text):
        return str(text)
    value = float(text)
    return value if value - value == 0 else str(text)


def json_value(value: Any) -> Any:
    """`value` as something `json.dumps` writes as valid JSON."""
    if type(value) is str or value is None:
        return value
    if type(value) is Plain:
        return _typed(value)
    # Nearly all items are text: asking here saves a call for each.
    if type(value) is dict:
        return {key: item if type(item) is str else json_value(item) for key, item in value.items()}
    return [item if type(item) is str else json_value(item) for item in value]


def _chunks_encoder() -> Callable[[Any, int], Iterable[str]]:
    """The C encoder of `json`, made once: `JSONEncoder.encode` makes a new one for each call, half of its cost here."""
    plain = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
    make: Any = getattr(json.encoder, "c_make_encoder", None)
    quote: Any = getattr(json.encoder, "encode_basestring", None)
    try:
        encode: Callable[[Any, int], Iterable[str]] = make(None, plain.default, quote, None, ":", ",", False, False, True)
        if "".join(encode({"a": [1, "é"]}, 0)) == '{"a":[1,"é"]}':
            return encode
    except TypeError:  # another Python, another signature
        pass
    return lambda value, _: (plain.encode(value),)


_chunks = _chunks_encoder()


def dumps(value: Any) -> str:
    """Compact JSON text of a frontmatter value, always valid JSON."""
    return "".join(_chunks(json_value(value), 0))


def trim(text: str) -> str:
    """`text` without ASCII white space and NUL at its ends."""
    return text.strip(ASCII_SPACE)


def text_of(value: Any) -> str | None:
    """The text of a scalar as written; None for null; lists and mappings as JSON text."""
    if value is None:
        return None
    if isinstance(value, str):
        return str(value) if type(value) is Plain else value
    return dumps(value)


def filled(value: Any) -> str | None:
    """`text_of(value)`, or None where it is blank (null, blank text, empty collection, `false`)."""
    if value is None or (type(value) is str and value[:1] > " "):
        return value  # the common cases, without a call
    return None if is_blank(value) else text_of(value)


def is_blank(value: Any) -> bool:
    """Null, `false`, text of nothing but ASCII white space, an empty list or mapping."""
    if value is None:
        return True
    if isinstance(value, str):
        return not trim(value) or (type(value) is Plain and _BOOLEANS.get(value) is False)
    return not value


def fold(text: str) -> str:
    """`text` for comparing: NFC and full Unicode case folding."""
    if text.isascii():
        return text.lower()
    if not unicodedata.is_normalized("NFC", text):
        text = unicodedata.normalize("NFC", text)
    text = text.casefold()
    if not unicodedata.is_normalized("NFC", text):
        text = unicodedata.normalize("NFC", text)
    return text


def search_fold(text: str) -> str:
    """`text` as the search compares it: folded, white space as single spaces, NUL as U+FFFD."""
    if "\n" not in text:
        text = fold(text)
    elif text.isascii():
        text = text.lower().replace("\n\n", " ").replace("\n", " ")
    else:
        # Folding never looks across a line feed, and most lines are ASCII, which is ten times cheaper.
        lines = text.split("\n")
        text = " ".join([line.lower() if line.isascii() else fold(line) for line in lines if line])
    while "  " in text:
        text = text.replace("  ", " ")
    text = text.strip(" ")
    # `" ".join(text.split())` makes an object of every word; most texts do not need it: all white space
    # but the space counts as not printable.
    if not text.isprintable():
        text = " ".join(text.split())
    return text.replace("\0", "\ufffd") if "\0" in text else text


class Instant(NamedTuple):
    """A point in time (OKF §5), in UTC."""

    utc: str
    """`YYYY-MM-DDTHH:MM:SSZ`; fractions of a second are dropped."""
    kind: str
    """`date` (that day's 00:00 UTC), `offset`, or `naive` (no offset; read as UTC)."""


_INSTANT = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
    r"(?:[Tt ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,][0-9]+)?)?"
    r"[ ]?(?:([Zz])|([+-])([0-9]{2}):?([0-9]{2})?)?)?\Z"
)
# The two usual spellings in UTC, which need no arithmetic.
_USUAL_INSTANT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:Z|\+00:00))?\Z"
)
FIRST_INSTANT = "0001-01-01T00:00:00Z"
LAST_INSTANT = "9999-12-31T23:59:59Z"
_DAY_ENDS = "T23:59:59Z"
_LEAP_SECOND = 60


@lru_cache(maxsize=4096)
def parse_instant(text: str) -> Instant | None:
    """Read ISO 8601 text (OKF §5): a date, or a datetime with or without offset.

    None where it is neither, or no such moment exists (2026-02-30). A moment that an
    offset moves out of the years 1 to 9999 is kept as the nearest one inside.
    """
    if _USUAL_INSTANT.match(text):
        try:
            date.fromisoformat(text[:10])
        except ValueError:
            return None
        return Instant(text[:19] + "Z", "offset") if len(text) > 10 else Instant(text + "T00:00:00Z", "date")
    found = _INSTANT.match(trim(text))
    if found is None:
        return None
    year, month, day, hour, minute, second, zulu, sign, off_hour, off_minute = found.groups()
    leap = second is not None and int(second) == _LEAP_SECOND
    try:
        moment = datetime(  # noqa: DTZ001  # UTC throughout
            int(year), int(month), int(day), int(hour or 0), int(minute or 0), 59 if leap else int(second or 0)
        )
    except ValueError:
        return None
    if hour is None:
        return Instant(_spell(moment), "date")
    if zulu or not sign:
        return Instant(_spell(moment), "offset" if zulu else "naive")
    if int(off_hour) > 23 or int(off_minute or 0) > 59:
        return None
    offset = timedelta(hours=int(off_hour), minutes=int(off_minute or 0))
    try:
        moment = moment - offset if sign == "+" else moment + offset
    except OverflowError:
        return Instant(FIRST_INSTANT if sign == "+" else LAST_INSTANT, "offset")
    return Instant(_spell(moment), "offset")


def _spell(moment: datetime) -> str:
    # Not strftime: it does not pad years below 1000 on every platform.
    return f"{moment.replace(tzinfo=None).isoformat(timespec='seconds')}Z"


def utc_text(moment: datetime) -> str:
    """`YYYY-MM-DDTHH:MM:SSZ` of an aware or naive-UTC datetime."""
    offset = moment.utcoffset()
    return _spell(moment.replace(tzinfo=None) - offset if offset else moment)


def clock_instant(text: str) -> str | None:
    """Read `--as-of`/`--today` text; a bare date means the end of that day."""
    found = parse_instant(text)
    if found is None:
        return None
    return found.utc[:10] + _DAY_ENDS if found.kind == "date" else found.utc
