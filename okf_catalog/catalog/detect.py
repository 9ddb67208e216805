"""Find out what changed on disk since the last sync, at the cost of a directory walk."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from okf_catalog.bundle import Directory, Skipped, Unreadable, walk
from okf_catalog.catalog import signature
from okf_catalog.catalog.plan import ADDED, CHANGED, REMOVED, Change, diff


class Detection(NamedTuple):
    """What a walk found, compared with what the catalog holds."""

    directories: dict[str, Directory]
    """Every directory that could be listed."""
    candidates: dict[str, list[Change]]
    """Files that may have changed, by directory."""
    differing: list[str]
    """Directories whose signature has to be written anew."""
    gone: list[str]
    """Directories that are no longer there."""
    unreadable: list[Unreadable]
    skipped: Skipped
    file_count: int

    @property
    def is_clean(self) -> bool:
        """True where nothing at all differs."""
        return not (self.candidates or self.differing or self.gone)


def stored_signatures(connection: sqlite3.Connection, bundle: str) -> dict[str, bytes]:
    """The signature of every directory as of the last sync."""
    rows = connection.execute("select dir, signature from directories where bundle = ?", (bundle,))
    return {signature.directory_of(key): blob for key, blob in rows}


def detect(
    root: str, stored: dict[str, bytes], *, include_hidden: bool = False, everything: bool = False,
    root_fd: int | None = None,
) -> Detection:  # fmt: skip
    """Walk a bundle and compare it with its stored signatures.

    `everything` makes a candidate of each file, whatever its stamp. Raises `BundleError`.
    """
    skipped = Skipped()
    directories: dict[str, Directory] = {}
    candidates: dict[str, list[Change]] = {}
    differing: list[str] = []
    unreadable: list[Unreadable] = []
    count = 0
    for found in walk(root, skipped, include_hidden=include_hidden, root_fd=root_fd):
        if isinstance(found, Unreadable):
            unreadable.append(found)
            continue
        path, names, stamps = found
        count += len(names)
        directories[path] = found
        before = stored.get(path)
        if before == signature.encode(names, stamps):
            if everything and names:
                candidates[path] = [Change(CHANGED, name) for name in names]
            continue
        if before is None and not names:
            continue  # a directory without markdown has no row
        differing.append(path)
        old = signature.decode(before) if before else []
        new = list(zip(names, zip(*[iter(stamps)] * 4, strict=True), strict=True))
        changes = list(diff(old, new))
        if everything:
            changed = {change.name for change in changes}
            changes += [Change(CHANGED, name) for name in names if name not in changed]
        if changes:
            candidates[path] = changes
    gone = [path for path in stored if path not in directories and not _is_below(path, unreadable)]
    for path in gone:
        candidates[path] = [Change(REMOVED, name) for name, _ in signature.decode(stored[path])]
    return Detection(directories, candidates, differing, gone, unreadable, skipped, count)


def all_files(detection: Detection, known: dict[str, bytes]) -> dict[str, list[Change]]:
    """Candidates for reading the whole bundle again, keeping what `detection` says is new or gone."""
    candidates = dict(detection.candidates)
    for path, directory in detection.directories.items():
        if directory.names:
            found = {change.name: change for change in candidates.get(path, [])}
            kind = CHANGED if path in known else ADDED
            for name in directory.names:
                found.setdefault(name, Change(kind, name))
            candidates[path] = sorted(found.values(), key=lambda change: change.name)
    return candidates


def _is_below(path: str, unreadable: list[Unreadable]) -> bool:
    return any(
        directory.path in (".", path) or path.startswith(directory.path + "/") for directory in unreadable
    )
