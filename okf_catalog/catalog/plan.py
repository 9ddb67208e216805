"""What changed, as a pure function of two listings. No disk, no SQL, no clock."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from okf_catalog.bundle import Stamp

ADDED, CHANGED, REMOVED = "added", "changed", "removed"


class Change(NamedTuple):
    """A name that differs between two listings."""

    kind: str
    """`added`, `changed` (another stamp; the content may still be the same) or `removed`."""
    name: str


def diff(old: Iterable[tuple[str, Stamp]], new: Iterable[tuple[str, Stamp]]) -> Iterator[Change]:
    """Merge two listings, each sorted by name, and yield what differs, sorted by name."""
    before, after = iter(old), iter(new)
    left, right = next(before, None), next(after, None)
    while left is not None or right is not None:
        if right is None or (left is not None and left[0] < right[0]):
            assert left is not None  # noqa: S101  # for the type checker: one of the two is there
            yield Change(REMOVED, left[0])
            left = next(before, None)
        elif left is None or right[0] < left[0]:
            yield Change(ADDED, right[0])
            right = next(after, None)
        else:
            if left[1] != right[1]:
                yield Change(CHANGED, left[0])
            left, right = next(before, None), next(after, None)


def pair_moves(removed: Iterable[tuple[str, str]], added: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Match removed and added (path, content hash) pairs: {new path: old path}.

    The same content at a new path while the old path is gone is a move. Among several
    candidates the one with the same file name wins, then byte order.
    """
    candidates: dict[str, list[str]] = {}
    for path, digest in sorted(removed):
        candidates.setdefault(digest, []).append(path)
    moves: dict[str, str] = {}
    if not candidates:
        return moves
    arrivals = sorted(item for item in added if item[1] in candidates)
    for same_name in (True, False):
        for path, digest in arrivals:
            if path in moves:
                continue
            pool = candidates[digest]
            match = next((old for old in pool if not same_name or _file_name(old) == _file_name(path)), None)
            if match is not None:
                pool.remove(match)
                moves[path] = match
    return moves


def _file_name(path: str) -> str:
    return path.rpartition("/")[2]


def removes_too_much(total: int, removed: int) -> bool:
    """True for a sync that would remove more than half of at least 20 concepts."""
    return total >= MASS_REMOVAL_FROM and removed * 2 > total


MASS_REMOVAL_FROM = 20
