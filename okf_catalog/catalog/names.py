r"""What the catalog calls a file whose name is not UTF-8: bytes that are none as `\xNN`."""

from __future__ import annotations

import os


def shown(path: str) -> str:
    r"""`path` as the tables hold it. `\udcXX` stands for a byte that is not UTF-8."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return os.fsencode(path).decode("utf-8", "backslashreplace")
    return path
