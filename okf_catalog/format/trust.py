"""Who checked a concept, when, and what tier of trust that gives (OKF §5.2, §5.3)."""

from __future__ import annotations

from typing import Any, NamedTuple

from okf_catalog.format.values import filled, is_blank, parse_instant, trim

UNVERIFIED, MACHINE, HUMAN = "unverified", "machine-confirmed", "human-reviewed"
TIERS = (UNVERIFIED, MACHINE, HUMAN)
"""From the least to the most trusted."""


class Verification(NamedTuple):
    """One event of `verified` (OKF §5.2)."""

    by: str | None
    actor_kind: str
    """`human`, `process`, `team`, `agent` (`name/version`) or `unknown` (OKF §7)."""
    at: str | None
    at_utc: str | None
    """`YYYY-MM-DDTHH:MM:SSZ`, None where `at` is missing or unreadable."""
    is_current: bool
    """The event is not older than the content: `at` on or after `generated.at`."""


def entries(value: Any) -> list[dict[str, Any]]:
    """The usable events of `verified`: a bare mapping is a list of one (OKF §5.2)."""
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list):
        return []
    return [entry for entry in value if isinstance(entry, dict) and entry]


def actor_kind(actor: str | None) -> str:
    """The kind of actor that the text names (OKF §7). Prefixes are lower case and literal."""
    name = trim(actor or "")
    for kind in ("human", "process", "team"):
        if name.startswith(kind + ":"):
            return kind
    return "agent" if "/" in name and " " not in name else "unknown"


def verifications(value: Any, generated_utc: str | None) -> list[Verification]:
    """The events of `verified`, each judged against the moment the content was generated.

    Without `generated.at` every event counts as current; an event without a readable
    `at` does not, once there is a `generated.at` to compare with.
    """
    events = []
    for entry in entries(value):
        by, at = filled(entry.get("by")), filled(entry.get("at"))
        moment = parse_instant(at) if at else None
        at_utc = moment.utc if moment else None
        current = generated_utc is None or (at_utc is not None and at_utc >= generated_utc)
        events.append(Verification(by, actor_kind(by), at, at_utc, current))
    return events


def tier(events: list[Verification]) -> str:
    """`unverified`, `machine-confirmed` or `human-reviewed` (OKF §5.3)."""
    if not events:
        return UNVERIFIED
    return HUMAN if any(event.actor_kind == "human" for event in events) else MACHINE


def current_tier(events: list[Verification]) -> str:
    """The tier from events that are not older than the content (OKF 0.3 §5.3)."""
    return tier([event for event in events if event.is_current])


def generated(frontmatter: dict[str, Any]) -> tuple[str | None, str | None]:
    """Who wrote the content and when: `generated`, with v0.1's `timestamp` where it gives no moment."""
    record = frontmatter.get("generated")
    by = at = None
    if isinstance(record, dict):
        by, at = filled(record.get("by")), filled(record.get("at"))
    if at is None and not is_blank(frontmatter.get("timestamp")):
        at = filled(frontmatter.get("timestamp"))
    return by, at

