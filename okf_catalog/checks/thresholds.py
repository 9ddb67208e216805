"""Limits that a keeper sets for a bundle in CI: how many errors, how much stale, how much reviewed."""

from __future__ import annotations

import re
import sqlite3
from typing import Any, NamedTuple

from okf_catalog.errors import UsageError
from okf_catalog.format.trust import HUMAN

_LIMIT = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)(%?)\Z")
_ALL = 100


class Limit(NamedTuple):
    """A number of things, or a share of all concepts."""

    text: str
    value: float
    is_percent: bool

    def of(self, total: int) -> float:
        """The limit as a number, where there are `total` concepts."""
        return self.value * total / _ALL if self.is_percent else self.value


class Threshold(NamedTuple):
    """A limit held against a bundle."""

    name: str
    """The option without its dashes."""
    limit: str
    value: int
    """What was counted."""
    crossed: bool
    message: str

    def as_json(self) -> dict[str, Any]:
        """`name, limit, value, crossed`."""
        return {"name": self.name, "limit": self.limit, "value": self.value, "crossed": self.crossed}


class Limits(NamedTuple):
    """The limits that were set; None where there is none."""

    max_errors: Limit | None = None
    max_stale: Limit | None = None
    min_reviewed: Limit | None = None


def limit(option: str, text: str | None, *, number: bool, percent: bool) -> Limit | None:
    """Read `N` or `P%`. Raises `UsageError` that says which of the two are allowed."""
    if text is None:
        return None
    found = _LIMIT.match(text.strip())
    is_percent = found is not None and bool(found[2])
    if (
        found is None
        or (is_percent and (not percent or float(found[1]) > _ALL))
        or (not is_percent and (not number or "." in found[1]))
    ):
        forms = " or ".join(form for form, allowed in (("a number (5)", number), ("a share (5%)", percent)) if allowed)
        raise UsageError(f"{option} {text}: write {forms}")
    return Limit(text.strip(), float(found[1]), is_percent)


def judge(connection: sqlite3.Connection, bundle: str, now: str, limits: Limits) -> list[Threshold]:
    """Hold the limits against a bundle of the catalog as of `now` (`YYYY-MM-DDTHH:MM:SSZ`)."""

    def count(sql: str, *values: str) -> int:
        return int(connection.execute(sql, (bundle, *values)).fetchone()[0])

    total = count("select count(*) from concepts where bundle = ?")
    found: list[Threshold] = []
    if limits.max_errors:
        errors = count("select count(*) from problems where bundle = ? and level = 'error'")
        errors += count("select count(*) from parse_errors where bundle = ?")
        found.append(_at_most("max-errors", limits.max_errors, errors, total, f"{errors} error(s) of conformance"))
    if limits.max_stale:
        stale = count("select count(*) from concepts where bundle = ? and stale_after_utc <= ?", now)
        found.append(_at_most("max-stale", limits.max_stale, stale, total, f"{stale} of {total} concept(s) are stale"))
    if limits.min_reviewed:
        least = limits.min_reviewed
        reviewed = count("select count(*) from concepts where bundle = ? and trust_tier = ?", HUMAN)
        crossed = reviewed < least.of(total)
        found.append(Threshold(
            "min-reviewed", least.text, reviewed, crossed,
            f"{reviewed} of {total} concept(s) are human-reviewed, {'fewer than' if crossed else 'within'} "
            f"--min-reviewed {least.text}",
        ))  # fmt: skip
    return found


def _at_most(name: str, most: Limit, value: int, total: int, what: str) -> Threshold:
    crossed = value > most.of(total)
    return Threshold(name, most.text, value, crossed, f"{what}, {'more than' if crossed else 'within'} --{name} {most.text}")
