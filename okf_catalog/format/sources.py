"""What a concept rests on: `sources`, or v0.1's `# Citations` section (OKF §5.1, §13.1)."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from okf_catalog.format import markdown
from okf_catalog.format.values import Plain, filled, json_value, parse_instant

# Begins with a literal and spells both cases out, so that the engine can skip to it.
_CITATIONS = re.compile(r"#[ \t]+[Cc][Ii][Tt][Aa][Tt][Ii][Oo][Nn][Ss][ \t]*(?:\n|\Z)")
_BARE_URL = re.compile(r"[ \t]*(?:[-*+][ \t]+)?([A-Za-z][A-Za-z0-9+.\-]*://\S+)[ \t]*\Z")
_AUTOLINK = re.compile(r"[ \t]*(?:[-*+][ \t]+)?<([A-Za-z][A-Za-z0-9+.\-]*:[^\s<>]+)>[ \t]*\Z")


class Source(NamedTuple):
    """One entry of `sources` (OKF §5.1)."""

    source_id: str | None
    resource: str | None
    title: str | None
    author: str | None
    usage_count: int | None
    last_modified: str | None
    last_modified_utc: str | None
    window_from: str | None
    window_to: str | None
    legacy: bool
    """Read from a `# Citations` section."""


def read(frontmatter: dict[str, Any], body: str) -> list[Source]:
    """The mappings of `sources`; where there is not one, the legacy citations of the body."""
    value = frontmatter.get("sources")
    if isinstance(value, dict):
        value = [value]
    window = frontmatter.get("usage_window")
    if isinstance(value, list):
        entries = [_entry(item, window) for item in value if isinstance(item, dict)]
        if entries:
            return entries
    return citations(body)


def _entry(item: dict[str, Any], outer_window: Any) -> Source:
    modified = filled(item.get("last_modified"))
    moment = parse_instant(modified) if modified else None
    count = item.get("usage_count")
    number = json_value(count) if type(count) is Plain else None
    # The concept's `usage_window` speaks for sources that give none of their own.
    window = item.get("usage_window", outer_window)
    window = window if isinstance(window, dict) else {}
    return Source(
        filled(item.get("id")), filled(item.get("resource")), filled(item.get("title")), filled(item.get("author")),
        number if type(number) is int else None, modified, moment.utc if moment else None,
        filled(window.get("from")), filled(window.get("to")), False,
    )  # fmt: skip


def has_citations(body: str) -> bool:
    """True where a `# Citations` heading may stand (it may still be inside a code block)."""
    return _CITATIONS.search(body) is not None


_PLAIN_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+citations[ \t]*$", re.IGNORECASE | re.MULTILINE)


def has_citations_section(body: str) -> bool:
    """True where a heading `Citations` of any rank stands outside of code (OKF §13.1)."""
    if not has_citations(body):
        return False
    # Nothing in the text can hide a heading: no need for the parser.
    if _PLAIN_HEADING.search(body) and not any(mark in body for mark in ("```", "~~~", "<")):
        return True
    return any(head.title.lower() == "citations" for head in markdown.sections(body)[0])


def citations(body: str) -> list[Source]:
    """The entries of the first `# Citations` section, in document order."""
    if not has_citations(body):
        return []
    heads, blocks = markdown.sections(body)
    section = next((head for head in heads if head.title.lower() == "citations"), None)
    if section is None:
        return []
    found: list[tuple[int, str, str]] = []
    rows = body.split("\n")
    bare: set[int] = set()
    for number in range(section.line + 1, min(section.end, len(rows) + 1)):
        if any(start <= number < end for start, end, _, _ in blocks):
            continue
        match = _AUTOLINK.match(rows[number - 1]) or _BARE_URL.match(rows[number - 1])
        if match:
            bare.add(number)
            found.append((number, match[1], ""))
    found += [
        (link.line, link.target, link.text)
        for link in markdown.read_events(body).links
        if section.line < link.line < section.end and link.line not in bare and link.kind != "autolink"
    ]
    found.sort(key=lambda entry: entry[0])
    return [
        Source(None, target, text or None, None, None, None, None, None, None, True) for _, target, text in found
    ]
