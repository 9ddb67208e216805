"""Where a verb with `--output` writes: a file that appears when all of it is there, or standard output."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from okf_catalog.cli import output
from okf_catalog.errors import UsageError


@contextmanager
def sink_for(target: str | None, *, binary: bool = False) -> Iterator[Any]:
    """A file object for text, or for bytes: of the file `target`, or of standard output for None.

    A file keeps its old content until all is written, whatever happens in between. Raises
    `UsageError` where it cannot be written.
    """
    if target is None:
        yield sys.stdout.buffer if binary else _Terminal() if sys.stdout.isatty() else sys.stdout
        return
    place = os.path.realpath(os.path.expanduser(target))
    if os.path.exists(place) and not os.path.isfile(place) and not os.path.isdir(place):  # a pipe or device has no other way
        with _opened(place, binary=binary) as sink:
            yield sink
        return
    if os.path.isdir(place):
        raise UsageError(f"cannot write {target}: Is a directory")
    try:
        import tempfile

        descriptor, partial = tempfile.mkstemp(prefix=".okf-catalog-", dir=os.path.dirname(place))
    except OSError as problem:
        raise UsageError(f"cannot write {target}: {problem.strerror}") from None
    try:
        os.fchmod(descriptor, 0o666 & ~_umask())
        with _opened(descriptor, binary=binary) as sink:
            yield sink
        os.replace(partial, place)
    except BaseException as problem:
        os.unlink(partial)
        if isinstance(problem, OSError) and not isinstance(problem, BrokenPipeError):  # a full disk, for one
            raise UsageError(f"cannot write {target}: {problem.strerror or problem}") from None
        raise


def _opened(place: str | int, *, binary: bool) -> IO[Any]:
    if binary:
        return open(place, "wb")
    return open(place, "w", encoding="utf-8", errors="backslashreplace", newline="")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


class _Terminal:
    """Standard output, where that is a terminal."""

    def write(self, text: str) -> None:
        sys.stdout.write(output.safe(text))
