"""Split a file into frontmatter and body, and read the frontmatter (OKF §4)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from okf_catalog.format import yaml_fast
from okf_catalog.format.problem import Failure, Problem, warning

if TYPE_CHECKING:
    from okf_catalog.format.yaml_values import YamlFailure

MAX_FRONTMATTER = 1024 * 1024
"""Characters between the fences."""
EXCERPT = 120
"""Characters of the offending line that a `Failure` quotes."""

_OPENING = re.compile(r"---[ \t]*(?:\n|\Z)")
_CLOSING = re.compile(r"\n---[ \t]*(?:\n|\Z)")
_TOML = re.compile(r"\+\+\+[ \t]*\n")
_DOTS = re.compile(r"^\.\.\.[ \t]*$", re.MULTILINE)

_RESERVED_ADVICE = "or list the file in .okfignore"


class Document(NamedTuple):
    """A file with usable frontmatter."""

    frontmatter: dict[str, Any]
    body: str
    body_line: int
    """Line of the file on which `body` begins, from 1."""
    key_lines: dict[str, int]
    """Line of the file of each top-level key, from 1."""
    problems: tuple[Problem, ...]


class Split(NamedTuple):
    """The two parts of a text that begins with a fence."""

    yaml: str
    body: str
    body_line: int


def decode(data: bytes) -> str | Failure:
    """UTF-8 bytes to text: no byte-order mark, LF line ends, NUL as U+FFFD."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as problem:
        return _not_utf8(data, problem)
    return clean(text)


def clean(text: str) -> str:
    """`text` without byte-order mark, with LF line ends, NUL as U+FFFD."""
    if text.startswith("\ufeff"):
        text = text[1:]
    if "\r\n" in text:
        text = text.replace("\r\n", "\n")
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    return text


def _not_utf8(data: bytes, problem: UnicodeDecodeError) -> Failure:
    before = data[: problem.start]
    line = before.count(b"\n") + 1
    start = before.rfind(b"\n") + 1
    end = data.find(b"\n", problem.start)
    shown = data[start : end if end >= 0 else len(data)].decode("utf-8", "replace")
    encoding = "UTF-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "Latin-1 or Windows-1252"
    return Failure(
        "not_utf8",
        f"byte 0x{data[problem.start]:02X} at offset {problem.start} is not valid UTF-8",
        f"save the file as UTF-8 (it looks like {encoding})",
        line,
        len(before[start:].decode("utf-8", "replace")) + 1,
        _excerpt(shown),
    )


def _excerpt(line: str) -> str:
    line = line.rstrip()
    return line if len(line) <= EXCERPT else line[: EXCERPT - 1] + "…"


def split(text: str) -> Split | Failure:
    """Find the fences: `---` on the first line, and the next line of exactly `---` (OKF §4)."""
    opening = _OPENING.match(text)
    if opening is None:
        return _no_frontmatter(text)
    # A search for the line feed and the dashes is ten times faster than `^---` alone.
    closing = _CLOSING.search(text, opening.end() - 1) if text[opening.end() - 1] == "\n" else None
    if closing is None:
        hint = "end the frontmatter with a line of exactly `---`"
        if _DOTS.search(text):
            hint += " (`...` does not close it)"
        return Failure("unclosed_frontmatter", "the frontmatter that begins on line 1 has no closing `---` line",
                       hint, 1, 1, "---")
    body_start = closing.end()
    line = text.count("\n", 0, body_start) + 1
    if text.startswith("\n", body_start):
        body_start += 1
        line += 1
    return Split(text[opening.end() : closing.start() + 1], text[body_start:], line)


def _no_frontmatter(text: str) -> Failure:
    first = text.split("\n", 1)[0]
    if not text.strip():
        return Failure("no_frontmatter", "the file is empty", f"begin it with `---`, `type: …`, `---` {_RESERVED_ADVICE}",
                       1, 1, "")
    if _TOML.match(text):
        advice = "OKF frontmatter is YAML between `---` lines, not TOML between `+++`"
    elif _CLOSING.search(text) and first.strip() == "":
        advice = "the `---` has to be on the very first line"
    elif first.startswith("----"):
        advice = "the fence has exactly three dashes"
    else:
        advice = f"begin the file with `---`, `type: …`, `---` {_RESERVED_ADVICE}"
    return Failure("no_frontmatter", "the file does not begin with a `---` line", advice, 1, 1, _excerpt(first))


def parse_text(text: str) -> Document | Failure:
    """Read `clean` text of a concept file. Never raises."""
    parts = split(text)
    if isinstance(parts, Failure):
        return parts
    if len(parts.yaml) > MAX_FRONTMATTER:
        return Failure("too_large", f"the frontmatter has more than {MAX_FRONTMATTER:,} characters",
                       "move long text into the body", 1)
    usual = yaml_fast.read(parts.yaml)
    if usual is not None:
        # Line 1 is the opening fence, so line 0 of the YAML is line 2 of the file.
        return Document(usual[0], parts.body, parts.body_line, {key: line + 2 for key, line in usual[1].items()}, ())
    return _parse_yaml(parts)


def _parse_yaml(parts: Split) -> Document | Failure:
    # PyYAML takes a third of the start-up of a sync; one of a few usual files does without.
    from okf_catalog.format.yaml_values import YamlFailure, load

    try:
        loaded = load(parts.yaml)
    except YamlFailure as failure:
        return _yaml_failure(parts.yaml, failure)
    value = loaded.value
    if value is None:
        value = {}
    if not isinstance(value, dict):
        kind = "a list" if isinstance(value, list) else "a single value"
        return Failure("not_a_mapping", f"the frontmatter is {kind}, not `key: value` lines",
                       "write one `key: value` a line between the fences", 2, 1, _excerpt(parts.yaml.split("\n", 1)[0]))
    problems = tuple(warning(p.check, p.message, p.line + 2) for p in loaded.problems)
    lines = {key: line + 2 for key, line in loaded.key_lines.items()}
    return Document(value, parts.body, parts.body_line, lines, problems)


def parse(data: bytes) -> Document | Failure:
    """Read a concept file's bytes. Never raises."""
    text = decode(data)
    return text if isinstance(text, Failure) else parse_text(text)


def _yaml_failure(source: str, failure: YamlFailure) -> Failure:
    line = column = excerpt = None
    if failure.line is not None:
        rows = source.split("\n")
        index = min(failure.line, len(rows) - 1)
        # libyaml reports the end of a block on the empty line behind it.
        if failure.column == 0 and not rows[index].strip() and index:
            index -= 1
        line, excerpt = index + 2, _excerpt(rows[index])
        column = failure.column + 1 if failure.column is not None and index == failure.line else None
    return Failure(failure.code, failure.message, _yaml_advice(failure, excerpt or ""), line, column, excerpt)


def _yaml_advice(failure: YamlFailure, excerpt: str) -> str:
    message = failure.message
    if "mapping values are not allowed" in message:
        return 'put quotes around a value that contains ": "'
    if "\t" in excerpt:
        return "indent with spaces; YAML does not allow tabs there"
    if "asks for an object" in message or "undefined alias" in message:
        return "put quotes around a value that begins with `!`, `*` or `&`"
    if "scalar" in message and "{" in excerpt:
        return "put quotes around a value that begins with `{`"
    if failure.code == "yaml_limits":
        return "write the values out, without nesting or aliases on this scale"
    if re.search(r"[:\s][@`%]", excerpt):
        return "put quotes around a value that begins with `@`, `%` or a backtick"
    if "flow" in message:
        return "close the bracket, or put quotes around a value that begins with `[` or `{`"
    return "correct the YAML on this line, or put quotes around the value"
