"""Where a link target leads inside the bundle (OKF §6)."""

from __future__ import annotations

import re
from urllib.parse import unquote

_EXTERNAL = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*://|mailto:|//", re.IGNORECASE)
MARKDOWN_SUFFIX = ".md"


def is_external(target: str) -> bool:
    """True for targets with a scheme and for `//host/…`."""
    return _EXTERNAL.match(target) is not None


def is_markdown(path: str) -> bool:
    """True where the name ends in `.md`, in any case."""
    return path[-3:].lower() == MARKDOWN_SUFFIX


def normalize(path: str) -> str | None:
    """`path` without `.`, `..` and empty segments; None where it climbs out of the bundle."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def resolve_path(target: str, directory: str) -> str | None:
    """The bundle path that `target`, written in a file of `directory`, leads to.

    `directory` is `.` for the root. A leading `/` means from the root of the bundle,
    anything else from the file's own directory. The fragment is cut off, escapes such
    as `%20` are read. None for other places than files of the bundle.
    """
    if (":" in target or target[:2] == "//") and _EXTERNAL.match(target):
        return None
    path = target.partition("#")[0] if "#" in target else target
    if not path or path[-1] == "/":
        return None
    if "%" in path and _decodes(path):
        path = unquote(path)
    # The two usual ways to begin, which leave nothing to take out.
    if path[:2] == "./" and path[2:3] not in ("/", ""):
        path = path[2:]
    if path[0] != "/":
        if directory != ".":
            path = f"{directory}/{path}"
    elif path[1:2] not in ("/", ""):
        path = path[1:]
    # Only a path with one of these can have a segment to take out.
    if "./" in path or "//" in path or path[0] == "/" or path[-1] == ".":
        return normalize(path) or None
    return path


def _decodes(path: str) -> bool:
    try:
        return "\0" not in unquote(path, errors="strict")
    except UnicodeDecodeError:
        return False


def resolve_markdown(target: str, directory: str) -> str | None:
    """`resolve_path` for links between concepts: only targets that end in `.md` count."""
    path = target.partition("#")[0] if "#" in target else target
    return resolve_path(path, directory) if is_markdown(path) else None


def markdown_target(target: str, directory: str) -> str | None:
    """Where a link to a concept leads: `resolve_markdown`, or the text as written where it climbs out of the bundle.

    No path of a bundle looks like the latter, so such a link is one to a file that is not there.
    """
    path = resolve_markdown(target, directory)
    if path is None and escapes(target, directory):
        return target.partition("#")[0].lstrip("/")
    return path


def directory_of(path: str) -> str:
    """The directory part of a bundle path, `.` at the root."""
    head, slash, _ = path.rpartition("/")
    return head if slash else "."


def escapes(target: str, directory: str) -> bool:
    """True for a markdown target that climbs out of the bundle."""
    return (
        is_markdown(target.split("#", 1)[0])
        and not is_external(target)
        and resolve_path(target, directory) is None
    )
