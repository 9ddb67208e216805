r"""Names that stand for something else: of files that are not UTF-8, of roots that are not told."""

from __future__ import annotations

import os

HIDDEN_ROOT = "/dev/null/"
"""Begins the root of a bundle in a published copy: a directory that no machine can have."""


def shown(path: str) -> str:
    r"""`path` as the tables hold it. `\udcXX` stands for a byte that is not UTF-8."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return os.fsencode(path).decode("utf-8", "backslashreplace")
    return path
