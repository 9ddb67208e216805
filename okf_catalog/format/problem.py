"""The two records of bad input: a file that cannot be used, and a flaw in one that can."""

from __future__ import annotations

from typing import NamedTuple


class Failure(NamedTuple):
    """Why a file has no usable frontmatter. It becomes a row of `parse_errors`."""

    code: str
    """One of `FAILURE_CODES`."""
    message: str
    advice: str
    """What to do about it, one sentence."""
    line: int | None = None
    """Line in the file, from 1."""
    column: int | None = None
    """Character in the line, from 1."""
    excerpt: str | None = None


FAILURE_CODES = {
    "unreadable": "the file cannot be opened or read",
    "too_large": "the file or its frontmatter is over the size limit",
    "link_outside": "a symbolic link that leaves the bundle",
    "link_broken": "a symbolic link to nothing",
    "file_name": "the file name is not valid UTF-8",
    "not_utf8": "the content is not valid UTF-8",
    "no_frontmatter": "the first line is not a `---` fence",
    "unclosed_frontmatter": "no closing `---` line",
    "invalid_yaml": "the frontmatter is not YAML",
    "yaml_limits": "the YAML is too deep, or its aliases expand too far",
    "not_a_mapping": "the frontmatter is not a mapping",
}


class Problem(NamedTuple):
    """A flaw in a usable file (or in a reserved one). It becomes a row of `problems`."""

    level: str
    """`error` (the file is not conformant, OKF §11) or `warning`."""
    check: str
    """Stable id of the check."""
    source: str
    """`spec` where the specification states the rule, else `convention`."""
    message: str
    line: int | None = None
    """Line in the file, from 1."""


def warning(check: str, message: str, line: int | None = None, *, source: str = "spec") -> Problem:
    """A `Problem` that does not touch conformance."""
    return Problem("warning", check, source, message, line)


def error(check: str, message: str, line: int | None = None) -> Problem:
    """A `Problem` that makes the bundle non-conformant (OKF §11)."""
    return Problem("error", check, "spec", message, line)
