"""Whether the catalog is what the files of a bundle say, without a sync."""

from __future__ import annotations

import os
import sqlite3

from okf_catalog.bundle import Content, open_directory, open_root, read
from okf_catalog.catalog.names import shown
from okf_catalog.catalog.plan import CHANGED
from okf_catalog.catalog.sync import DEFAULTS, Bundle, is_settled, look


def is_up_to_date(connection: sqlite3.Connection, known: Bundle) -> bool:
    """True where a sync would change nothing. Raises `BundleError` for a root that is gone.

    Files whose stamps say nothing, as those of files that were young when they were synced, are read.
    """
    if not is_settled(known, DEFAULTS, connection):
        return False
    root_fd = open_root(known.root)
    try:
        found = look(connection, known.root, known, DEFAULTS, root_fd)
        if any(change.kind != CHANGED for changes in found.candidates.values() for change in changes):
            return False
        return all(
            _is_as_known(connection, known, root_fd, directory, change.name)
            for directory, changes in found.candidates.items()
            for change in changes
        )
    finally:
        os.close(root_fd)


def _is_as_known(connection: sqlite3.Connection, known: Bundle, root_fd: int, directory: str, name: str) -> bool:
    from hashlib import sha256

    path = name if directory == "." else f"{directory}/{name}"
    stored = connection.execute(
        "select content_hash from files where bundle = ? and path = ?", (known.name, shown(path))
    ).fetchone()
    if stored is None:
        return False
    try:
        directory_fd = open_directory(root_fd, directory)
    except OSError:
        return False
    try:
        content = read(root_fd, known.root, directory_fd, path)
    finally:
        os.close(directory_fd)
    # What could not be read before has no hash, and cannot be read now.
    return (sha256(content.data).hexdigest() if isinstance(content, Content) else None) == stored[0] and content is not None
