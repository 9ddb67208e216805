"""A digest of a bundle's content, the same on any machine whatever the sync history."""

from __future__ import annotations

import sqlite3
from hashlib import sha256

_VERSION = b"okf-bundle-digest 1\n"
"""Part of what is hashed: another rule has to give other digests."""
# By path in byte order, as the primary keys have them. The hashes stand in `concepts` after long columns, but there is
# no index of them to keep.
_FILES = """
select path, content_hash from concepts where bundle = ?1
union all select path, coalesce(content_hash, code) from parse_errors where bundle = ?1
union all select path, content_hash from reserved_files where bundle = ?1
order by path
"""


def digest(connection: sqlite3.Connection, bundle: str) -> str:
    """SHA-256, in hexadecimal, over the paths and contents of the files that the catalog holds of a bundle.

    A file that cannot be read counts with the code of its failure. Files that are no markdown do not count, nor do
    the bundle's name, its place, row ids, the order of edits and the moments of syncs.
    """
    found = sha256(_VERSION)
    for path, mark in connection.execute(_FILES, (bundle,)):
        found.update(f"{path}\0{mark}\n".encode("utf-8", "surrogatepass"))
    return found.hexdigest()
