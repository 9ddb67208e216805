"""What wants a person's eye: stale or soon to be, never checked, checked before it was written, broken."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from okf_catalog.catalog.filters import Filters, below, conditions

Row = dict[str, Any]

BROKEN, STALE, DUE, UNVERIFIED, OUTRUN = "broken", "stale", "due", "unverified", "verified-before-generated"
REASONS = (BROKEN, STALE, DUE, UNVERIFIED, OUTRUN)
KEYS = ("path", "id", "title", "type", "status", "reasons", "due", "days", "trust_tier", "trust_current", "verified_at",
        "generated_at", "links_in", "message")  # fmt: skip
"""`due` is the UTC moment from which the concept is stale, `days` the whole days until then (negative: since then),
`links_in` the number of concepts that link to it, `message` what is wrong with a broken file."""

# Everything but the reasons, most linked first; of equals, what is due first.
# `links` grouped by its index, once: a look-up for each concept would cost four times as much.
_CONCEPTS = """
select c.path, c.concept_id, coalesce(c.title, c.stem) as title, c.type, c.effective_status, c.stale_after_utc as due,
  c.trust_tier, c.trust_current, c.verified_at, c.generated_at, coalesce(l.n, 0) as links_in, null as message,
  v.concept_id is null as never, coalesce(v.human, 0) as human
from concepts c
left join (select target_id, count(distinct concept_id) as n from links
           where target_id is not null and concept_id <> target_id group by target_id) l on l.target_id = c.id
left join (select concept_id, max(actor_kind = 'human') as human from verifications group by concept_id) v
  on v.concept_id = c.id
where c.bundle = ? and {where} and (c.stale_after_utc <= ? or c.trust_current <> 'human-reviewed')
"""
_BROKEN = """
select e.path, substr(e.path, 1, length(e.path) - 3), null, null, null, null, null, null, null, null,
  (select count(distinct l.concept_id) from links l join concepts c on c.id = l.concept_id
   where l.target_id is null and l.target_path = e.path and c.bundle = e.bundle), e.message, 0, 0
from parse_errors e where e.bundle = ? and {where}
"""


def queue(
    connection: sqlite3.Connection, bundle: str, filters: Filters, now: str, until: str | None,
    reasons: frozenset[str] = frozenset(REASONS),
) -> Iterator[Row]:  # fmt: skip
    """The concepts and broken files of a bundle that have one of `reasons`; rows have `KEYS`.

    The most linked first. `now` is the moment of judgement, `until` the end of what counts as
    soon due (None: no end), both `YYYY-MM-DDTHH:MM:SSZ`. A broken file has no type, tag or status: it is in the
    queue where `filters` asks for none.
    """
    where, values = conditions(connection, filters, now, [bundle])
    end = until if until is not None else "9999-12-31T23:59:59Z"
    sql, parameters = _CONCEPTS.format(where=" and ".join(where) or "true"), [bundle, *values, end]
    if BROKEN in reasons and filters._replace(dirs=()) == Filters():
        place = "true"
        broken: list[Any] = [bundle]
        if filters.dirs:
            place = "rtrim(rtrim(e.path, replace(e.path, '/', '')), '/') in (select value from json_each(?))"
            broken.append(json.dumps(["" if path == "." else path for path in below(connection, filters.dirs, [bundle])]))
        sql += " union all " + _BROKEN.format(where=place)
        parameters += broken
    rows = connection.execute(f"select * from ({sql}) order by links_in desc, due is null, due, path", parameters)
    moment = _datetime(now)
    for path, name, title, kind, status, due, tier, current, verified, generated, links_in, message, never, human in rows:
        found = [BROKEN] if message is not None else _reasons(due, current, now, end, never=never, human=human)
        if reasons.isdisjoint(found):
            continue
        yield {
            "path": path, "id": name, "title": title if title is not None else name.rpartition("/")[2], "type": kind,
            "status": status, "reasons": found, "due": due, "days": (_datetime(due) - moment).days if due else None,
            "trust_tier": tier, "trust_current": current, "verified_at": verified, "generated_at": generated,
            "links_in": links_in, "message": message,
        }  # fmt: skip


def _reasons(due: str | None, current: str, now: str, end: str, *, never: bool, human: bool) -> list[str]:
    found = []
    if due is not None and due <= end:
        found.append(STALE if due <= now else DUE)
    if never:
        found.append(UNVERIFIED)
    # The tier of all events, whatever the bundle's version counts, against that of the current ones.
    elif current == "unverified" or (human and current != "human-reviewed"):
        found.append(OUTRUN)
    return found


def _datetime(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def last_change(connection: sqlite3.Connection, bundle: str) -> str:
    """When a sync last changed something in a bundle, `YYYY-MM-DDTHH:MM:SSZ`."""
    row = connection.execute(
        "select coalesce((select r.finished_at from sync_runs r where r.id = b.last_sync_id), b.created_at) "
        "from bundles b where b.name = ?",
        (bundle,),
    ).fetchone()
    return str(row[0])
