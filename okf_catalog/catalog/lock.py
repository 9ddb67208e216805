"""Who is writing the catalog: a note beside it that names the holder of SQLite's lock.

The lock itself is SQLite's. This note only lets those who wait say for whom. It is written
after the lock is taken and removed before it is given up, so a note whose process is gone
was left by one that was killed; the next writer replaces it.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from datetime import datetime, timezone
from typing import NamedTuple

SUFFIX = ".lock"
_COMMAND_LENGTH = 120
_SIZE = 4096
"""Bytes read of a note; ours are far smaller."""

in_process = threading.RLock()
"""Writers of one process take turns here, so that waiting for each other is not counted as waiting for SQLite."""


class Holder(NamedTuple):
    """The process that holds the write lock."""

    pid: int
    host: str
    started: str
    """When the process began, as the kernel counts it: tells a process from a later one of the same number."""
    since: str
    """UTC."""
    command: str

    @property
    def label(self) -> str:
        """The holder in words."""
        place = "" if self.host == _host() else f" on {self.host}"
        return f"process {self.pid}{place}, since {self.since}: {self.command}"


def _host() -> str:
    return os.uname().nodename


def _start_of(pid: int) -> str:
    """Start time in clock ticks since boot; empty where the kernel does not say."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[19].decode("ascii")
    except (OSError, IndexError):
        return ""


def _command() -> str:
    words = ["okf-catalog" if os.path.basename(sys.argv[0]) == "__main__.py" else os.path.basename(sys.argv[0] or "python")]
    import shlex

    text = shlex.join([*words, *sys.argv[1:]])
    return text if len(text) <= _COMMAND_LENGTH else text[: _COMMAND_LENGTH - 1] + "…"


def note(path: str) -> None:
    """Leave the note; where that cannot be done, waiters only learn less."""
    pid = os.getpid()
    since = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    holder = Holder(pid, _host(), _start_of(pid), since, _command())
    try:
        descriptor = os.open(path + SUFFIX, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    except OSError:
        return
    try:
        os.write(descriptor, json.dumps(holder._asdict()).encode("utf-8", "backslashreplace"))
    except OSError:
        pass  # a full disk: SQLite will say so
    finally:
        os.close(descriptor)


def clear(path: str) -> None:
    """Take the note away."""
    try:
        os.unlink(path + SUFFIX)
    except OSError:
        return


def holder(path: str) -> Holder | None:
    """Whom the note names, whether it still runs or not."""
    try:
        descriptor = os.open(path + SUFFIX, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        found = json.loads(os.read(descriptor, _SIZE))
        return Holder(int(found["pid"]), *(str(found[name]) for name in Holder._fields[1:]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    finally:
        os.close(descriptor)


def is_running(found: Holder) -> bool:
    """False where the process of a note is surely gone. Another machine's is taken to run."""
    if found.host != _host():
        return True
    try:
        os.kill(found.pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    except (OverflowError, ValueError):
        return False
    return not found.started or _start_of(found.pid) in ("", found.started)


def described(path: str) -> str:
    """` (process 4711, …)` for messages; empty where nobody is named."""
    found = holder(path)
    return f" ({found.label})" if found is not None and is_running(found) else ""
