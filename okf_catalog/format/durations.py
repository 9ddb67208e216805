"""Lengths of time as people write them: `90s`, `15m`, `2h`, `1d`, `1w`."""

from __future__ import annotations

import re
from datetime import timedelta

_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]*)", re.ASCII)
_SECONDS = {"s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}
_LONGEST = 100 * 365 * 86_400
"""Seconds: a century, so that no date arithmetic overflows."""


def duration(text: str) -> timedelta | None:
    """The length of time that `text` names; None where it names none. A bare number means seconds.

    Parts add up: `1h30m` is ninety minutes.
    """
    rest = text.strip().lower()
    seconds = 0.0
    if not rest:
        return None
    while rest:
        found = _PART.match(rest)
        unit = _SECONDS.get(found[2] or "s") if found else None
        if found is None or unit is None:
            return None
        seconds += float(found[1]) * unit
        rest = rest[found.end() :].lstrip()
    return timedelta(seconds=seconds) if seconds <= _LONGEST else None


def age(seconds: float) -> str:
    """A length of time for people: `12 s`, `5 min`, `3 h`, `2 days`."""
    for size, unit in ((86_400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"
