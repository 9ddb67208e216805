"""Links, footnotes and headings of a markdown body, as CommonMark reads them (OKF §6).

pyromark does the parsing. Making Python objects of its events is what costs, so most
bodies are read from the HTML that it writes; `tests/test_format_markdown.py` compares
both ways on arbitrary text.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from collections.abc import Callable
from html import unescape
from typing import Any, NamedTuple

import pyromark

OPTIONS = pyromark.Options.ENABLE_FOOTNOTES | pyromark.Options.ENABLE_TABLES


class Link(NamedTuple):
    """A link as written. Images are not links; the target of an autolink is its text."""

    kind: str
    """`link` (inline), `reference` (through a definition) or `autolink`."""
    target: str
    text: str
    line: int
    """Line of the body, from 1."""


class Footnote(NamedTuple):
    """A footnote label (OKF §13.1), in order of first appearance."""

    label: str
    is_defined: bool
    is_referenced: bool
    line: int
    """Line of the body where it first appears, from 1."""


class Markdown(NamedTuple):
    """What a body says about other places."""

    links: list[Link]
    footnotes: list[Footnote]


# What only the event stream can tell apart: raw HTML, autolinks, definitions, images.
# Each pattern begins with a literal, which the regex engine skips to.
_HTML = re.compile(r"<[A-Za-z!?/]")
_UNUSUAL_TARGET = re.compile(r"[()\s<>&%]")
_TARGET_ENDS = (")", " ", "\n")
_HTML_LINK = '<a href="'
_HTML_NOTE = '<sup class="footnote-reference">'
_HTML_TAG = re.compile(r"<[^>]*>")
_HTML_DEFINITION = '<div class="footnote-definition" id="'
_FOOTNOTE = re.compile(rb"(?<![!\\])\[\^([^\]\s]+)\](?!:)")
_MARKUP = dict.fromkeys(map(ord, "`*_ "))
_PLAIN_LABEL = re.compile(r"[\w.\-]+\Z", re.ASCII)
_KINDS = {"Autolink": "autolink", "Email": "autolink", "Inline": "link"}
_EMPTY = Markdown([], [])


def read(body: str) -> Markdown:
    """Links and footnotes of a body, in document order."""
    if "[" not in body and "<" not in body:
        return _EMPTY
    if is_simple(body):
        found = read_html(body)
        if found is not None:
            return found
    return read_events(body)


def is_simple(body: str) -> bool:
    """True where the text holds no raw HTML, autolink, image or link definition."""
    if "![" in body or "\r" in body or ("<" in body and _HTML.search(body)):
        return False
    # `[^label]:` defines a footnote; any other `]:` may define a link.
    at = body.find("]:")
    while at >= 0:
        if body.rfind("[^", 0, at) <= body.rfind("]", 0, at):
            return False
        at = body.find("]:", at + 1)
    return True


def read_html(body: str) -> Markdown | None:
    """The same as `read_events` at a third of its cost, or None where that cannot be known.

    pyromark writes HTML without making a Python object for each event. A link of the
    HTML is the one in the text when the targets behind each `](` of the text are those
    of the HTML, one for one and in order. That leaves nothing to confuse: no raw HTML,
    definition, image, autolink or code span with a link in it gets this far.
    """
    html = pyromark.html(body, options=OPTIONS)
    if "[^" in html:
        return None  # a footnote without definition, or one in code
    # Cut at fixed text and looked at from there: much cheaper than patterns over the whole.
    anchors, places = html.split(_HTML_LINK), body.split("](")
    links: list[Link] = []
    referenced: set[str] = set()
    line, position, references = 1, 0, 0
    for number in range(1, len(anchors)):
        head, _, tail = anchors[number].partition('">')
        target = head.partition('"')[0]  # a title may follow
        if anchors[number - 1].endswith(_HTML_NOTE):
            referenced.add(target[1:])
            references += 1
            continue
        position += 1
        if position == len(places) or _UNUSUAL_TARGET.search(target):
            return None
        before, behind = places[position - 1], places[position]
        if not behind.startswith(target) or behind[len(target) : len(target) + 1] not in _TARGET_ENDS:
            return None
        inner = tail.partition("</a>")[0]
        text = unescape(_HTML_TAG.sub("", inner)) if "<" in inner or "&" in inner else inner
        # The same text behind the nearest bracket: so the link begins there, on this line.
        above, bracket, written = before.rpartition("[")
        if not bracket or (written != text and written.translate(_MARKUP) != text.translate(_MARKUP)):
            return None
        links.append(Link("link", target, text.replace("\n", " ").strip(), line + above.count("\n")))
        line += before.count("\n")
    if position != len(places) - 1:
        return None
    if "[^" not in body:
        return Markdown(links, [])
    defined = [part.partition('"')[0] for part in html.split(_HTML_DEFINITION)[1:]]
    parts = body.split("[^")
    # Each one in the text is a reference or a definition, and there are no others.
    if len(parts) - 1 != len(defined) + references:
        return None
    labels = set(defined)
    notes: dict[str, Footnote] = {}
    line = 1
    for before, behind in itertools.pairwise(parts):
        line += before.count("\n")
        label, bracket, _ = behind.partition("]")
        if not bracket or not _PLAIN_LABEL.match(label):
            return None
        if label not in notes:
            notes[label] = Footnote(label, label in labels, label in referenced, line)
    return Markdown(links, list(notes.values())) if referenced.issubset(notes) else None


def line_counter(source: bytes) -> Callable[[int], int]:
    """From an offset to its line, from 1.

    A change log may hold thousands of links: counting from the top for each would cost more than all else.
    """
    ends: list[int] | None = None

    def line_at(offset: int) -> int:
        nonlocal ends
        if ends is None:
            ends = [found.start() for found in re.finditer(b"\n", source)]
        return bisect_left(ends, offset) + 1

    return line_at


def read_events(body: str) -> Markdown:
    """Links and footnotes from the parser's events: always right, three times the cost."""
    source = body.encode("utf-8")
    line_at = line_counter(source)
    links: list[Link] = []
    seen: dict[str, list[Any]] = {}
    texts: list[str] = []  # of the link that is open
    open_link: tuple[str, str, int] | None = None
    in_code = False

    def note(label: str, offset: int, *, defines: bool = False) -> None:
        facts = seen.setdefault(label, [False, False, offset])
        facts[0] |= defines
        facts[1] |= not defines
        facts[2] = min(facts[2], offset)

    # Every event is a name, or a mapping of one name to what belongs to it.
    events: Any = pyromark.events_with_range(body, options=OPTIONS, merge_text=True)
    for event, span in events:
        if type(event) is str:
            if open_link and event in ("SoftBreak", "HardBreak"):
                texts.append(" ")
            continue
        ((kind, value),) = event.items()
        if kind == "Text":
            if open_link:
                texts.append(value)
            if "[^" in value and not in_code:
                for found in _FOOTNOTE.finditer(source, span["start"], span["end"]):
                    note(found[1].decode("utf-8"), found.start())
        elif kind == "Code":
            if open_link:
                texts.append(value)
        elif kind == "Start":
            if type(value) is not dict:
                in_code = in_code or value == "CodeBlock"
            elif "Link" in value:
                link = value["Link"]
                form = _KINDS.get(link["link_type"], "reference")
                open_link, texts = (form, link["dest_url"], line_at(span["start"])), []
            elif "FootnoteDefinition" in value:
                note(value["FootnoteDefinition"], span["start"], defines=True)
            elif "CodeBlock" in value:
                in_code = True
        elif kind == "End":
            if value == "Link" and open_link:
                form, target, line = open_link
                links.append(Link(form, target, "".join(texts).strip(), line))
                open_link = None
            elif value == "CodeBlock":
                in_code = False
        elif kind == "FootnoteReference":
            note(value, span["start"])
    order = sorted(seen.items(), key=lambda item: item[1][2])
    return Markdown(
        links, [Footnote(label, defined, used, line_at(offset)) for label, (defined, used, offset) in order]
    )


class Section(NamedTuple):
    """A heading of a body and the lines down to the next heading of its rank."""

    level: int
    title: str
    line: int
    """Line of the heading, from 1."""
    end: int
    """First line behind the section."""


def sections(body: str) -> tuple[list[Section], list[tuple[int, int, str, str]]]:
    """The headings of a body, and its code blocks as (first line, line behind, info, code)."""
    line_at = line_counter(body.encode("utf-8"))
    heads: list[tuple[int, str, int]] = []
    blocks: list[tuple[int, int, str, str]] = []
    texts: list[str] | None = None
    info = ""
    # Every event is a name, or a mapping of one name to what belongs to it.
    events: Any = pyromark.events_with_range(body, options=OPTIONS, merge_text=True)
    for event, span in events:
        if type(event) is str:
            continue
        ((kind, value),) = event.items()
        if kind in ("Text", "Code"):
            if texts is not None:
                texts.append(value)
        elif kind == "Start" and type(value) is dict:
            if "Heading" in value:
                texts = []
            elif "CodeBlock" in value:
                block = value["CodeBlock"]
                texts, info = [], block["Fenced"] if isinstance(block, dict) else ""
        elif kind == "Start" and value == "CodeBlock":
            texts, info = [], ""
        elif kind == "End":
            line = line_at(span["start"])
            if type(value) is dict and "Heading" in value:
                heads.append((int(value["Heading"][1]), "".join(texts or []).strip(), line))
                texts = None
            elif value == "CodeBlock":
                end = line_at(span["end"])
                blocks.append((line, end, info, "".join(texts or [])))
                texts = None
    last = body.count("\n") + 2
    result = []
    for position, (level, title, line) in enumerate(heads):
        end = next((other[2] for other in heads[position + 1 :] if other[0] <= level), last)
        result.append(Section(level, title, line, end))
    return result, blocks
