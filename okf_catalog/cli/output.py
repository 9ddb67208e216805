"""Every output format in one place: JSON, NDJSON, CSV, TSV, markdown, terminal table."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from typing import Any

from okf_catalog.errors import UsageError

FORMATS = ("table", "markdown", "json", "ndjson", "csv", "tsv")

Row = dict[str, Any]

_COMPACT: dict[str, Any] = {"separators": (",", ":")}
_INDENTED: dict[str, Any] = {"indent": 2}
_ITEMS = 100
"""Items of a list that are written at once: encoding each by itself takes twice the time."""
_WIDE = 100_000
"""Columns of a table that does not go to a terminal."""


def prepare_streams() -> None:
    """UTF-8 in every locale; what cannot be written in it (a surrogate) is escaped."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")


def is_utf8(text: str) -> bool:
    """False for text that holds bytes which were no UTF-8 (surrogates)."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def usage(message: str) -> UsageError:
    """An error about how the command was called."""
    return UsageError(message)


_collected: ContextVar[list[str] | None] = ContextVar("okf_catalog_notes", default=None)


def note(message: str) -> None:
    """A remark on stderr that changes neither the answer nor the exit status."""
    notes = _collected.get()
    if notes is not None:
        notes.append(one_line(message))
    else:
        sys.stderr.write(f"note: {one_line(message)}\n")


@contextmanager
def collected() -> Iterator[list[str]]:
    """Inside the block notes go into the list: for answers that carry them."""
    notes: list[str] = []
    token = _collected.set(notes)
    try:
        yield notes
    finally:
        _collected.reset(token)


def warning(message: str) -> None:
    """A remark on stderr that something will not work for ever."""
    sys.stderr.write(f"warning: {one_line(message)}\n")


def one_line(text: str) -> str:
    """`text` without line breaks and control characters, for messages and cells."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else " " for character in text)


_STEERING = {
    **{code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if code not in (9, 10)},
    # They turn the direction of what follows, which can make text read as something else.
    **{code: f"\\u{code:04x}" for code in (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))},
}
"""Characters that do something to a terminal instead of being shown; line ends and tabs stay."""
_STEERING_JSON = {code: f"\\u{code:04x}" for code in _STEERING}


def safe(text: str) -> str:
    r"""`text` with the characters that steer a terminal written as `\x1b`."""
    return text if text.isascii() and text.isprintable() else text.translate(_STEERING)


def for_stdout(text: str) -> str:
    """Text of a bundle as it may go to stdout: as written, but `safe` where that is a terminal."""
    return safe(text) if sys.stdout.isatty() else text


def choose_format(
    name: str | None, *, as_json: bool, pretty: bool, default: str, formats: Sequence[str] = FORMATS
) -> str:
    """The format that `--format`, `--json` and `--pretty` ask for. Raises `UsageError`."""
    if name is None:
        return "json" if as_json or pretty else default
    matches = [known for known in formats if known == name.lower()] or [
        known for known in formats if known.startswith(name.lower())
    ]
    if len(matches) != 1:
        raise UsageError(f"--format {name}: choose one of {', '.join(formats)}")
    if (as_json or pretty) and matches[0] != "json":
        raise UsageError(f"{'--pretty' if pretty else '--json'} and --format {matches[0]} contradict each other: give one of them")
    return matches[0]


provenance: Callable[[], Row] | None = None
"""What `--provenance` adds to the head of the next JSON document."""


def _with_provenance(value: Row) -> Row:
    """`value` with what `--provenance` tells behind the keys that name the bundle."""
    global provenance  # told once a run
    if provenance is None:
        return value
    told, provenance = provenance(), None
    first: Row = {key: value[key] for key in ("bundle", "bundles", "slug") if key in value}
    return {**first, **told, **{key: item for key, item in value.items() if key not in first}}


def dump_json(value: Any, *, pretty: bool = False) -> None:
    """One JSON document: compact on one line, or indented by two spaces."""
    if isinstance(value, dict):
        value = _with_provenance(value)
    _write_json(value, pretty=pretty)


def _write_json(value: Any, *, pretty: bool = False) -> None:
    # Not `json.dump`: it never uses the encoder in C, which is several times faster.
    text = json.dumps(value, ensure_ascii=False, **(_INDENTED if pretty else _COMPACT))
    if sys.stdout.isatty():
        # The line ends are the document's own: JSON escapes those of its texts.
        text = text.translate(_STEERING_JSON)
    sys.stdout.write(text)
    sys.stdout.write("\n")


def stream_json(document: Row, *, pretty: bool = False) -> None:
    """`dump_json` of an object of which the values that are iterators are lists, written a few items at a time."""
    is_terminal = sys.stdout.isatty()
    encode = json.JSONEncoder(ensure_ascii=False, **(_INDENTED if pretty else _COMPACT)).encode
    line, colon, end = ("\n  ", ": ", -2) if pretty else ("", ":", -1)

    def write(text: str) -> None:
        sys.stdout.write(text.translate(_STEERING_JSON) if is_terminal else text)

    def inner(text: str) -> str:
        return text.replace("\n", line) if pretty else text  # JSON leaves no line end of a text as one

    for number, (key, value) in enumerate(_with_provenance(document).items()):
        write(f"{',' if number else '{'}{line}{encode(key)}{colon}")
        if not isinstance(value, Iterator):
            write(inner(encode(value)))
            continue
        before, after = "[", "[]"
        while items := list(islice(value, _ITEMS)):
            write(before + inner(encode(items)[1:end]))
            before, after = ",", f"{line}]"
        write(after)
    write("\n}\n" if pretty else "}\n")


def project(rows: Sequence[Row], names: Sequence[str], fields: str | None, leave_out: str | None) -> tuple[list[Row], list[str]]:
    """Keep or drop columns (`--fields`, `--except`); keys keep their own order. Raises `UsageError`."""
    if fields is None and leave_out is None:
        return list(rows), list(names)
    if fields is not None and leave_out is not None:
        raise UsageError("--fields and --except exclude each other")
    wanted = [item.lower() for item in (fields if fields is not None else leave_out or "").split(",") if item]
    unknown = list(dict.fromkeys(item for item in wanted if item not in names))
    if unknown:
        raise UsageError(f"unknown field(s): {', '.join(unknown)} (available: {', '.join(names)})")
    kept = [name for name in names if (name in wanted) == (fields is not None)]
    return [{name: row[name] for name in kept} for row in rows], kept


def emit_rows(rows: Iterable[Row], names: Sequence[str], form: str, headings: Sequence[str] | None = None) -> None:
    """Write rows in one of the tabular formats; `names` are the keys, `headings` their titles for people."""
    if form == "ndjson":
        encode = json.JSONEncoder(ensure_ascii=False, **_COMPACT).encode  # `json.dumps` would make one for each row
        is_terminal = sys.stdout.isatty()
        for row in rows:
            text = encode({name: row[name] for name in names})
            sys.stdout.write((text.translate(_STEERING_JSON) if is_terminal else text) + "\n")
    elif form == "csv":
        import csv

        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([for_stdout(cell(row[name], lists=",")) for name in names] for row in rows)
    elif form == "tsv":
        sys.stdout.write("\t".join(names) + "\n")
        for row in rows:
            sys.stdout.write("\t".join(one_line(cell(row[name], lists=",")) for name in names) + "\n")
    elif form == "markdown":
        _markdown(rows, names, headings or names)
    elif form == "table":
        _table(rows, names, headings or names)
    else:
        dump_json([{name: row[name] for name in names} for row in rows])


def cell(value: Any, *, lists: str = ", ") -> str:
    """A value as text: nothing for None, `1`/`0` words for booleans, lists joined, mappings as JSON."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return f"<{len(value)} bytes>"
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return lists.join(value)
    if isinstance(value, (list, dict)):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return str(value)


def _people(value: Any) -> str:
    """For people a flag is a mark or nothing."""
    if isinstance(value, bool):
        return "✓" if value else ""
    return one_line(cell(value))


def markdown_cell(value: Any) -> str:
    """Text for a cell of a markdown table: no line break or unescaped pipe can end it early."""
    text = " ".join(_people(value).split())
    return text.replace("\\", "\\\\").replace("|", "\\|") if "|" in text else text


def _markdown(rows: Iterable[Row], names: Sequence[str], headings: Sequence[str]) -> None:
    write = sys.stdout.write
    write(f"| {' | '.join(headings)} |\n")
    write(f"|{'|'.join('-' * (len(heading) + 2) for heading in headings)}|\n")
    for row in rows:
        write(f"| {' | '.join(markdown_cell(row[name]) for name in names)} |\n")


_TABLE = 1000
"""Rows of one table; more make a second one, so that memory does not grow with the answer."""


def _table(rows: Iterable[Row], names: Sequence[str], headings: Sequence[str]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    # Into a file or pipe nothing is folded or cut off: a row is a line.
    wide = not sys.stdout.isatty()
    console = Console(file=sys.stdout, no_color=bool(os.environ.get("NO_COLOR")))
    if wide:
        console.width = _WIDE
    left = iter(rows)
    shown = list(islice(left, _TABLE))
    while True:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
        for heading in headings:
            table.add_column(heading, overflow="fold", no_wrap=wide)
        for row in shown:
            table.add_row(*(Text(_people(row[name])) for name in names))
        console.print(table)
        shown = list(islice(left, _TABLE))
        if not shown:
            return
        console.print()


def plural(count: int, noun: str, many: str | None = None) -> str:
    """`1 concept`, `2 concepts`."""
    return f"{count} {noun if count == 1 else many or noun + 's'}"
