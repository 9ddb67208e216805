"""Due dates as a calendar (RFC 5545), through the package `icalendar`."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from okf_catalog import __version__
from okf_catalog.errors import UsageError


def calendar(rows: Iterable[dict[str, Any]], bundle: str, stamp: str) -> bytes:
    """The rows of `views.review.queue` that are due some day, as events of a calendar.

    `stamp` is the moment of the state they tell of, `YYYY-MM-DDTHH:MM:SSZ`: the same content gives the same bytes.
    An event keeps its UID as long as the concept its path. Raises `UsageError` where `icalendar` is not installed.
    """
    try:
        from icalendar import Calendar, Event
    except ImportError:
        raise UsageError("--format ics needs the package icalendar: pip install 'okf-catalog[calendar]'") from None
    made = Calendar()
    made.add("prodid", f"-//okf-catalog//{__version__}//EN")
    made.add("version", "2.0")
    made.add("x-wr-calname", f"Reviews due: {bundle}")
    for row in rows:
        if row["due"] is None:
            continue
        event = Event()
        event.add("uid", str(uuid5(NAMESPACE_URL, f"okf:{bundle}/{row['path']}")) + "@okf-catalog")
        event.add("dtstamp", _moment(stamp))
        # The moment from which it is stale, with no length: RFC 5545 §3.6.1.
        event.add("dtstart", _moment(row["due"]))
        event.add("summary", _plain(f"Review: {row['title']}"))
        facts = [f"@{bundle} {row['path']}", f"stale from {row['due']}", f"trust now: {row['trust_current']}",
                 f"linked from {row['links_in']}"]  # fmt: skip
        event.add("description", _plain("\n".join(facts)))
        if row["type"]:
            event.add("categories", [_plain(row["type"])])
        event.add("transp", "TRANSPARENT")  # nobody is busy then
        made.add_component(event)
    return bytes(made.to_ical())


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def _plain(text: str) -> str:
    """`text` without the control characters that RFC 5545 §3.1 does not allow in values."""
    return "".join(character if character in "\n\t" or character.isprintable() or character > "\x9f" else " " for character in text)
