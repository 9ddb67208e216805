"""Reference links that do not come off: labels without a definition, definitions without a use.

CommonMark shows `[text][label]` as plain text where nothing defines the label, so the
reader never learns that a link was meant.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Any, NamedTuple

import pyromark

from okf_catalog.format.markdown import OPTIONS, line_counter
from okf_catalog.format.values import fold

_LABEL = rb"(?:[^\[\]\\]|\\.)"
_DEFINITION = re.compile(rb"^(?:[ \t]*>)*[ \t]{0,3}\[(?!\^)(" + _LABEL + rb"+)\]:", re.MULTILINE)
_USE = re.compile(rb"(?<![!\\])\[(" + _LABEL + rb"*)\](?=\[(" + _LABEL + rb"*)\])")


class Loose(NamedTuple):
    """One end of a reference link that has no other end."""

    label: str
    line: int
    """Line of the body, from 1."""


def may_hold(body: str) -> bool:
    """False where a look at two pairs of characters shows that there are no reference links. Cheap."""
    if "][" in body:
        return True
    at = body.find("]:")
    while at >= 0:
        # Footnotes are defined the same way and are much more common.
        if body.rfind("[^", 0, at) <= body.rfind("]", 0, at):
            return True
        at = body.find("]:", at + 1)
    return False


def loose(body: str) -> tuple[list[Loose], list[Loose]]:
    """(uses without definition, definitions without use), each label once, in order."""
    source = body.encode("utf-8")
    prose = bytearray(source)
    texts: list[tuple[int, int]] = []
    used: set[str] = set()
    # Every event is a name, or a mapping of one name to what belongs to it.
    events: Any = pyromark.events_with_range(body, options=OPTIONS, merge_text=True)
    in_code = 0
    for event, span in events:
        if type(event) is str:
            continue
        ((kind, value),) = event.items()
        start, end = span["start"], span["end"]
        if kind == "Text" and not in_code:
            texts.append((start, end))
        elif kind in ("Code", "Html", "InlineHtml") or (kind == "Start" and "CodeBlock" in value):
            prose[start:end] = bytes(10 if byte == 10 else 32 for byte in source[start:end])
            in_code += kind == "Start"
        elif kind == "End" and value == "CodeBlock":
            in_code -= 1
        elif kind == "Start" and type(value) is dict:
            link = value.get("Link") or value.get("Image")
            if link and link["link_type"] not in ("Inline", "Autolink", "Email"):
                used.add(_normal(link["id"]))
    texts.sort()
    starts = [start for start, _ in texts]

    def is_text(offset: int) -> bool:
        position = bisect_right(starts, offset) - 1
        return position >= 0 and offset < texts[position][1]

    line_at = line_counter(source)
    defined: dict[str, Loose] = {}
    for found in _DEFINITION.finditer(prose):
        # In the middle of a paragraph it is no definition but text.
        if not is_text(found.start(1)):
            label = found[1].decode("utf-8")
            defined.setdefault(_normal(label), Loose(label.strip(), line_at(found.start(1))))
    missing: dict[str, Loose] = {}
    for found in _USE.finditer(prose):
        label = (found[2].strip() or found[1]).decode("utf-8")
        if label.startswith("^") or not label.strip() or not is_text(found.end() - 1):
            continue
        if _normal(label) not in defined:
            missing.setdefault(_normal(label), Loose(label.strip(), line_at(found.start())))
    return list(missing.values()), [entry for key, entry in defined.items() if key not in used]


def _normal(label: str) -> str:
    return fold(" ".join(label.split()))
