"""`index.md` and `log.md`: what they may hold and what they declare (OKF §8, §9)."""

from __future__ import annotations

import re
from datetime import date
from typing import Any, NamedTuple

from okf_catalog.format.frontmatter import Document, parse_text, split
from okf_catalog.format.problem import Failure, Problem, error, warning
from okf_catalog.format.values import filled
from okf_catalog.format.vocabulary import KNOWN_VERSIONS, NEWEST_VERSION, RESERVED

_ROOT_KEYS_03 = ("okf_version", "title", "description", "license")
_DATE_HEADING = re.compile(r"^## (.*)$", re.MULTILINE)
_ISO_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")
_OPENING = re.compile(r"---[ \t]*\n")


class Root(NamedTuple):
    """What the root `index.md` declares."""

    version: str | None
    """`okf_version` as written, None where there is none."""
    title: str | None


def kind_of(path: str) -> str | None:
    """`index` or `log` for the reserved names, exactly so spelled, at any depth (OKF §3.1)."""
    return RESERVED.get(path.rpartition("/")[2])


_FOR_READERS = re.compile(
    r"(README|AGENTS?|CLAUDE|GEMINI|CONTRIBUTING|CHANGELOG|CODE_OF_CONDUCT|SECURITY|SUPPORT|LICENSE|NOTICE|AUTHORS|"
    r"GOVERNANCE|MAINTAINERS|TODO|SKILL)\.md\Z",
    re.IGNORECASE,
)


def advised(path: str, failure: Failure) -> Failure:
    """`failure` with the ways out for files such as README.md, which nobody meant as a concept."""
    if failure.code != "no_frontmatter" or not _FOR_READERS.match(path.rpartition("/")[2]):
        return failure
    advice = 'if it is no concept, list it in .okfignore, or declare okf_version: "0.3" in the root index.md'
    return failure._replace(advice=advice)


def root_of(text: str) -> Root:
    """Read the root `index.md`."""
    parsed = parse_text(text) if _OPENING.match(text) else None
    if not isinstance(parsed, Document):
        return Root(None, None)
    return Root(filled(parsed.frontmatter.get("okf_version")), filled(parsed.frontmatter.get("title")))


def body_of(text: str) -> tuple[str, int]:
    """The text behind the frontmatter and its first line; all of it where there is none."""
    if _OPENING.match(text):
        parts = split(text)
        if not isinstance(parts, Failure):
            return parts.body, parts.body_line
    return text, 1


def problems(path: str, text: str, rules: str) -> list[Problem]:
    """What is wrong with a reserved file (OKF §8, §9, §11.3)."""
    if kind_of(path) == "log":
        return _log_problems(text)
    if not _OPENING.match(text):
        return []
    if "/" in path:
        return [error("index_frontmatter", "an index.md below the root must not have frontmatter", 1)]
    return _root_problems(parse_text(text), rules)


def _root_problems(parsed: Document | Failure, rules: str) -> list[Problem]:
    if isinstance(parsed, Failure):
        return [error("index_frontmatter", parsed.message, parsed.line)]
    allowed = _ROOT_KEYS_03 if rules == "0.3" else ("okf_version",)
    found: list[Problem] = []
    extra: list[Any] = [key for key in parsed.frontmatter if key not in allowed]
    if extra:
        found.append(error(
            "index_frontmatter",
            f"the frontmatter of the root index.md may only hold {', '.join(allowed)}, not {', '.join(extra)}",
            parsed.key_lines.get(extra[0]),
        ))
    version = filled(parsed.frontmatter.get("okf_version"))
    if version is not None and version.strip() not in KNOWN_VERSIONS:
        found.append(warning(
            "okf_version_unknown",
            f"okf_version `{version}` is not known here; read by the rules of {NEWEST_VERSION}",
            parsed.key_lines.get("okf_version"),
        ))
    return found


def _log_problems(text: str) -> list[Problem]:
    found = []
    for heading in _DATE_HEADING.finditer(text):
        words = heading[1].strip()
        if not is_day(words):
            line = text.count("\n", 0, heading.start()) + 1
            found.append(error("log_date", f"the log heading `{words[:40]}` is not a day written YYYY-MM-DD", line))
    return found


def is_day(text: str) -> bool:
    """True for `YYYY-MM-DD` of a day that exists."""
    if not _ISO_DAY.match(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
