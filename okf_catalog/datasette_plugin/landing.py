"""The landing page of a catalog. Where something is asked for, its address shows results."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from datasette.utils.asgi import Request, Response

from okf_catalog.datasette_plugin import access, results
from okf_catalog.format.trust import TIERS

if TYPE_CHECKING:
    from datasette.app import Datasette

_NEWEST = 12
_REVIEWED = 8


async def home_page(request: Request, datasette: Datasette) -> Response:
    """`/{db}/-/okf`: the landing page, or results where something is asked for."""
    database = await access.allowed(datasette, request)
    if results.is_asked(request):
        return await results.results_page(request, datasette, database)
    moment = access.now()
    bundles = await access.ask(datasette, database, lambda connection: _bundles(connection, moment))
    for row in bundles:
        row["url"] = access.place(datasette, database, row["name"])
        row["graph"] = f"{datasette.urls.database(database)}/-/okf-graph/{quote(row['name'])}"
    news = await access.ask(datasette, database, _newest)
    written = [] if news else await access.ask(datasette, database, _latest)
    for row in news + written:
        row["url"] = access.place(datasette, database, row["bundle"], row["path"])
    review = await access.ask(datasette, database, lambda connection: _review(connection, moment))
    for row in review:
        row["url"] = access.place(datasette, database, row["bundle"], row["path"])
    return await access.page(
        datasette, request, "okf_home.html", database=database, bundles=bundles, news=news, written=written, review=review, tiers=TIERS,
        home=access.home(datasette, database), table=f"{datasette.urls.database(database)}/catalog",
        queries=f"{datasette.urls.database(database)}#queries",
    )  # fmt: skip


def _rows(connection: sqlite3.Connection, sql: str, values: Iterable[Any] = ()) -> list[dict[str, Any]]:
    cursor = connection.execute(sql, tuple(values))
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]


def _bundles(connection: sqlite3.Connection, now: str) -> list[dict[str, Any]]:
    found = {
        row["name"]: {**row, "trust": dict.fromkeys(reversed(TIERS), 0), "stale": 0}
        for row in _rows(connection, "select name, title, concept_count, parse_error_count, last_synced_at from bundles order by name")
    }
    for bundle, tier, count, stale in connection.execute(
        "select bundle, trust_tier, count(*), sum(coalesce(stale_after_utc <= ?, 0)) from concepts group by bundle, trust_tier", (now,)
    ):
        found[bundle]["trust"][tier] = count
        found[bundle]["stale"] += stale
    return list(found.values())


def _newest(connection: sqlite3.Connection) -> list[dict[str, Any]]:
    return _rows(
        connection,
        "select c.bundle, c.path, c.kind, group_concat(distinct c.field) as fields, r.finished_at from changes c "
        "join sync_runs r on r.id = c.sync_id where c.sync_id in (select id from sync_runs order by id desc limit 20) "
        "group by c.sync_id, c.bundle, c.path, c.kind order by c.sync_id desc, c.path limit ?",
        (_NEWEST,),
    )


def _latest(connection: sqlite3.Connection) -> list[dict[str, Any]]:
    """What was generated last, for a catalog that has seen no change yet."""
    return _rows(
        connection,
        "select bundle, path, coalesce(title, stem) as title, generated_at_utc as at, generated_by from concepts "
        "where generated_at_utc is not null order by generated_at_utc desc, path limit ?",
        (_REVIEWED,),
    )


def _review(connection: sqlite3.Connection, now: str) -> list[dict[str, Any]]:
    """What wants a person's eye first: stale or unverified, by how many links lead to it."""
    return _rows(
        connection,
        "select c.bundle, c.path, coalesce(c.title, c.stem) as title, c.trust_current, coalesce(c.stale_after_utc <= ?1, 0) as stale, "
        "(select count(*) from links l where l.target_id = c.id) as links_in from concepts c "
        "where c.id in (select id from concepts where stale_after_utc <= ?1 order by stale_after_utc limit 500) "
        "or c.id in (select id from concepts where trust_current = 'unverified' limit 500) "
        "order by stale desc, links_in desc, c.path limit ?2",
        (now, _REVIEWED),
    )
