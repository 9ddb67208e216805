"""What the verbs that write the catalog share: options with a unit, and a word for those who wait."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Annotated

from okf_catalog.catalog import lock
from okf_catalog.cli import output
from okf_catalog.cli.declared import Option
from okf_catalog.errors import UsageError
from okf_catalog.format.durations import duration

Wait = Annotated[float, Option("--wait", metavar="SECONDS", min=0, help="How long to wait for another process that writes this catalog.")]


def seconds(value: float) -> float:
    """`--wait`, checked. Raises `UsageError`."""
    if value != value:  # noqa: PLR0124  # NaN compares with nothing
        raise UsageError("--wait: give a number of seconds")
    return value


def length(option: str, text: str) -> timedelta:
    """The length of time that an option names. Raises `UsageError`."""
    found = duration(text)
    if found is None:
        raise UsageError(f"{option} {text}: write a length of time such as 90s, 15m, 2h or 7d")
    return found


def waiting(path: str) -> Callable[[], None]:
    """Says, once there is something to wait for, who holds the catalog."""
    return lambda: output.note(f"another sync is writing this catalog{lock.described(path)}; waiting for it")


def size(count: float) -> str:
    """Bytes for people: `812 B`, `4.2 MB`."""
    if count < 1000:
        return f"{count:.0f} B"
    for unit in ("kB", "MB"):
        count /= 1000
        if count < 1000:
            return f"{count:.1f} {unit}"
    return f"{count / 1000:.2f} GB"
