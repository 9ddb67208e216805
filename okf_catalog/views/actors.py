"""Who wrote and who checked: one row an actor (OKF §7)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

from okf_catalog.format.trust import actor_kind

Row = dict[str, Any]

KEYS = ("actor", "kind", "generated", "verified", "current", "stale", "last_at")
"""`generated` and `verified` count concepts, `current` those of the verified whose verification still holds, `stale` those
of the generated that are stale; `last_at` is the newest moment of either, UTC."""

_ACTORS = """
select actor, sum(generated), sum(verified), sum(current), sum(stale), max(at) from (
  select generated_by as actor, count(*) as generated, 0 as verified, 0 as current,
    sum(coalesce(stale_after_utc <= ?2, 0)) as stale, max(generated_at_utc) as at
  from concepts where bundle = ?1 and generated_by is not null group by generated_by
  union all
  select v.by, 0, count(distinct v.concept_id), count(distinct case when v.is_current then v.concept_id end), 0, max(v.at_utc)
  from verifications v join concepts c on c.id = v.concept_id where c.bundle = ?1 and v.by is not null group by v.by
) group by actor order by sum(generated) + sum(verified) desc, actor
"""


def actors(connection: sqlite3.Connection, bundle: str, now: str) -> Iterator[Row]:
    """The actors of a bundle, the busiest first; rows have `KEYS`. `now` is `YYYY-MM-DDTHH:MM:SSZ`, for staleness."""
    for actor, generated, verified, current, stale, at in connection.execute(_ACTORS, (bundle, now)):
        yield {
            "actor": actor, "kind": actor_kind(actor), "generated": generated, "verified": verified, "current": current,
            "stale": stale, "last_at": at,
        }  # fmt: skip
