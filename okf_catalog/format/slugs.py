"""Names of bundles: lower-case letters, digits and single dashes."""

from __future__ import annotations

import re
from collections.abc import Callable

_OTHERS = re.compile(r"[^a-z0-9]+")
_PLACEHOLDER = "bundle"
RESERVED = "all"


def normalize(text: str) -> str:
    """The slug that `text` comes to; empty when nothing usable is left. Non-ASCII letters separate."""
    return _OTHERS.sub("-", text.strip().lower()).strip("-")


def label_of(root: str) -> str:
    """The part of a bundle's absolute directory that names it: `.okf` is named by its parent."""
    parts = [part for part in root.split("/") if part]
    while len(parts) > 1 and parts[-1] == ".okf":
        parts.pop()
    return parts[-1] if parts else _PLACEHOLDER


def mint(text: str, is_taken: Callable[[str], bool]) -> str:
    """A free slug for `text`: with `-2`, `-3`, … when it is taken or reserved."""
    base = normalize(text) or _PLACEHOLDER
    slug, number = base, 1
    while slug == RESERVED or is_taken(slug):
        number += 1
        slug = f"{base}-{number}"
    return slug


def title_of(path: str) -> str:
    """What people call the bundle at an absolute path: `parent/directory`, or the parent of a `.okf`.

    Without a parent to speak of it is the directory's name alone.
    """
    head, _, name = path.rstrip("/").rpartition("/")
    parent = head.rpartition("/")[2]
    if parent in ("", "."):
        return name or path
    return parent if name == ".okf" else f"{parent}/{name}"
