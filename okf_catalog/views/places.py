"""The directories of a bundle that a reader can go through, and the part of them that is asked for."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from okf_catalog.catalog.filters import ROOT, TOP_ROOT
from okf_catalog.format.values import fold

_ROOT_NAMES = ("", ROOT, "root")


class Place(NamedTuple):
    """A directory of an answer."""

    dir: str
    is_ancestor: bool
    """It is there only to show the way from the root."""


def top_of(path: str) -> str:
    """`concepts.top_dir` of a path: its first directory."""
    first, slash, _ = path.partition("/")
    return first if slash else TOP_ROOT


def depth_of(directory: str) -> int:
    """Levels below the root: 0 for `.`, 2 for `a/b`."""
    return 0 if directory == ROOT else directory.count("/") + 1


def parent_of(directory: str) -> str | None:
    """The directory above, None for the root."""
    if directory == ROOT:
        return None
    return directory.rpartition("/")[0] or ROOT


def with_ancestors(directories: Iterable[str]) -> list[str]:
    """The directories and all above them: the root first, then in byte order."""
    found: set[str] = set()
    for directory in directories:
        at: str | None = directory
        while at is not None and at not in found:
            found.add(at)
            at = parent_of(at)
    return sorted(found, key=lambda name: (name != ROOT, name))


def counts(connection: sqlite3.Connection, bundle: str) -> Counter[str]:
    """Concepts directly in each directory that holds one, in the order of their paths."""
    # The index of the paths says it all; the rows are twenty times its size.
    rows = connection.execute("select path from concepts where bundle = ? order by path", (bundle,))
    return Counter([path.rpartition("/")[0] or ROOT for (path,) in rows])


def directories(connection: sqlite3.Connection, bundle: str, own: Iterable[str] | None = None) -> list[str]:
    """Every directory that holds a concept, an `index.md` or a `log.md`, and all above; the root first.

    `own` are those of the concepts, where they are known.
    """
    rows = connection.execute(
        "select path from reserved_files where bundle = ? and kind in ('index', 'log')", (bundle,)
    )
    others = {path.rpartition("/")[0] or ROOT for (path,) in rows}
    return with_ancestors(others.union(counts(connection, bundle) if own is None else own))


def children(places: Iterable[str]) -> dict[str, list[str]]:
    """The directories directly below each one."""
    found: dict[str, list[str]] = {}
    for directory in places:
        parent = parent_of(directory)
        if parent is not None:
            found.setdefault(parent, []).append(directory)
    return found


def meaning(there: Iterable[str], wanted: str) -> str | None:
    """The folded directory that `--dir WANTED` names, None for the root.

    `root` is the root of the bundle, unless there is a real directory of that name.
    """
    name = fold(wanted).rstrip("/")
    is_real = name == "root" and any(fold(path) == name or fold(path).startswith("root/") for path in there)
    return None if name in _ROOT_NAMES and not is_real else name


def narrow(
    there: Sequence[str], wanted: Sequence[str], *, depth: int | None = None, ancestors: bool = True
) -> list[Place]:
    """The directories at or below each of `wanted`, at most `depth` levels below it.

    With nothing wanted, all of them, `depth` counted from the root. `ancestors` adds the way
    from the root to each wanted directory that exists.
    """
    if not wanted:
        return [Place(path, False) for path in there if depth is None or depth_of(path) <= depth]
    chosen: set[str] = set()
    above: set[str] = set()
    for name in wanted:
        start = meaning(there, name)
        if start is None:
            chosen.update(path for path in there if path == ROOT)
            continue
        levels = start.count("/") + 1
        for path in there:
            folded = fold(path)
            if folded != start and not folded.startswith(start + "/"):
                continue
            if depth is None or depth_of(path) - levels <= depth:
                chosen.add(path)
            if ancestors and folded == start:
                above.update(with_ancestors([path]))
    return [Place(path, path not in chosen) for path in there if path in chosen or path in above]
