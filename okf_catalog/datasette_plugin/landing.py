"""The landing page of a catalog, and ranked search on the same address."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from datasette.utils.asgi import Request, Response
from markupsafe import Markup, escape

from okf_catalog.catalog.filters import Filters
from okf_catalog.datasette_plugin import access
from okf_catalog.errors import UsageError
from okf_catalog.format.trust import TIERS
from okf_catalog.search import result
from okf_catalog.search.engine import Anchor, registry
from okf_catalog.search.query import Corpus, Query
from okf_catalog.views.facets import facet
from okf_catalog.views.lists import Asked

if TYPE_CHECKING:
    from datasette.app import Datasette

PAGE = 20
"""Rows on a page of results."""
_COUNTED = 2_000
"""Results that the filters are counted over; a common word is in nearly all of a large catalog."""
_NEWEST = 12
_REVIEWED = 8
_FACETS = ("type", "trust", "status", "tag")
_MARKUP = re.compile(r"!?\[([^\]]*)\]\([^)\s]*\)|[*`]{1,3}(?=\S)|(?<=\S)[*`]{1,3}|(?<!\w)_{1,2}(?=\S)|(?<=\S)_{1,2}(?!\w)|(?:^|(?<=\s))(?:#{1,6}|>)\s")
"""What a snippet of markdown holds for the renderer alone; a link leaves its text."""


async def home_page(request: Request, datasette: Datasette) -> Response:
    """`/{db}/-/okf`: the landing page, or results where something is asked for."""
    database = await access.allowed(datasette, request)
    arguments = {name: request.args.getlist(name) for name in ("q", "engine", "bundle", "type", "tag", "trust", "status", "page", "stale")}
    if any(arguments[name] for name in ("q", "type", "tag", "trust", "status", "stale")):
        return await _results(request, datasette, database, arguments)
    moment = access.now()
    bundles = await access.ask(datasette, database, lambda connection: _bundles(connection, moment))
    for row in bundles:
        row["url"] = access.place(datasette, database, row["name"])
        row["graph"] = f"{datasette.urls.database(database)}/-/okf-graph/{quote(row['name'])}"
    news = await access.ask(datasette, database, _newest)
    for row in news:
        row["url"] = access.place(datasette, database, row["bundle"], row["path"])
    review = await access.ask(datasette, database, lambda connection: _review(connection, moment))
    for row in review:
        row["url"] = access.place(datasette, database, row["bundle"], row["path"])
    return await access.page(
        datasette, request, "okf_home.html", database=database, bundles=bundles, news=news, review=review, tiers=TIERS,
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


async def _results(request: Request, datasette: Datasette, database: str, arguments: dict[str, list[str]]) -> Response:
    words = " ".join(arguments["q"])
    engine = (arguments["engine"] or ["fts5"])[0]
    number = (arguments["page"] or ["1"])[0]
    at = int(number) if number.isascii() and number.isdigit() and 0 < int(number[:6]) < 10_000 else 1
    filters = Filters(
        types=tuple(arguments["type"]), tags=tuple(arguments["tag"]), trust_tiers=tuple(arguments["trust"]),
        statuses=tuple(arguments["status"]), stale_only=bool(arguments["stale"]),
    )  # fmt: skip
    moment = access.now()
    error = None
    found: dict[str, Any] = {"rows": [], "total": 0, "facets": [], "remarks": []}
    try:
        found = await access.ask(
            datasette, database,
            lambda connection: _search(connection, words, engine, arguments["bundle"], filters, moment, (at - 1) * PAGE),
        )  # fmt: skip
    except UsageError as problem:
        error = str(problem)
    given = {name: values for name, values in arguments.items() if values and name != "page"}
    base = access.home(datasette, database)

    def address(**changed: list[str]) -> str:
        return f"{base}?{urlencode({**given, **changed}, doseq=True)}"

    for row in found["rows"]:
        row["url"] = access.place(datasette, database, row["bundle"], row["path"])
    facets = [
        {"name": name, "values": [
            {"value": value, "count": count, "chosen": value in given.get(name, []),
             "url": address(**{name: [] if value in given.get(name, []) else [value]})}
            for value, count in values
        ]}
        for name, values in found["facets"]
    ]  # fmt: skip
    return await access.page(
        datasette, request, "okf_search.html", database=database, words=words, engine=engine, error=error, found=found,
        facets=facets, home=base, given=given, trail=[{"label": "catalog", "url": base}], at=at,
        more=address(page=[str(at + 1)]) if at * PAGE < found["total"] else None,
        before=address(page=[str(at - 1)]) if at > 1 else None,
        table=f"{datasette.urls.database(database)}/catalog?{urlencode({'_search': words})}" if words else None,
    )  # fmt: skip


def _search(
    connection: sqlite3.Connection, words: str, engine: str, bundles: list[str], filters: Filters, now: str, offset: int
) -> dict[str, Any]:
    there = [row[0] for row in connection.execute("select name from bundles order by name")]
    asked = [name for name in there if name in bundles] or there
    corpus = Corpus(connection, asked, filters, now)
    query = Query(tuple(words.split()))
    if not query.words:
        return _listed(connection, asked, filters, now, offset)
    answer = registry().choose(query, engine).search(corpus, query)
    best = result.in_order(connection, corpus.slugs, answer.matches, max(_COUNTED, offset + PAGE), 0)
    order = best[offset : offset + PAGE]
    rows = [
        {"bundle": row.slug, "path": row.path, "title": row.title, "type": row.type, "tags": row.tags, "score": row.score,
         "matched": row.matched, "snippet": highlighted(plain(row.snippet), answer.anchors)}
        for row in result.rows(connection, corpus.slugs, order, answer.matches, answer.anchors)
    ]  # fmt: skip
    remarks = list(answer.remarks)
    if len(answer.matches) > _COUNTED:
        remarks.append(f"counts are those of the {_COUNTED:,} best")
    return {"rows": rows, "total": len(answer.matches), "facets": _counts(connection, best[:_COUNTED]), "remarks": remarks}


def _listed(connection: sqlite3.Connection, bundles: list[str], filters: Filters, now: str, offset: int) -> dict[str, Any]:
    """Without words: the concepts that the filters leave, by path."""
    rows: list[dict[str, Any]] = []
    counts: dict[str, dict[str, int]] = {name: {} for name in _FACETS}
    total = 0
    for bundle in bundles:
        asked = Asked(connection, bundle, filters, now)
        where, values = asked.where()
        total += asked.size()
        if len(rows) < offset + PAGE:
            rows += _rows(
                connection,
                "select c.bundle, c.path, coalesce(c.title, c.stem) as title, c.type, c.tags, '' as matched, "
                f"coalesce(c.description, '') as snippet from concepts c where {where} order by c.path limit ?",
                (*values, offset + PAGE - len(rows)),
            )
        for name in _FACETS:
            for count in facet(asked, (name,)).counts:
                if count.values[0] is not None:
                    counts[name][str(count.values[0])] = counts[name].get(str(count.values[0]), 0) + count.concepts
    import json

    for row in rows:
        row["tags"] = json.loads(row["tags"])
    facets = [(name, sorted(values.items(), key=lambda item: (-item[1], item[0]))[:12]) for name, values in counts.items()]
    return {"rows": rows[offset : offset + PAGE], "total": total, "facets": facets, "remarks": []}


def _counts(connection: sqlite3.Connection, ids: list[int]) -> list[tuple[str, list[tuple[str, int]]]]:
    """How the concepts found are spread over types, tiers, states and tags."""
    import json

    chosen = json.dumps(ids)
    columns = {"type": "c.type", "trust": "c.trust_tier", "status": "c.effective_status", "tag": "t.tag"}
    found = []
    for name, column in columns.items():
        join = "cross join tags t on t.concept_id = c.id" if name == "tag" else ""
        rows = connection.execute(
            f"select {column}, count(*) as n from json_each(?) i cross join concepts c on c.id = i.value {join} "
            f"where {column} is not null group by 1 order by n desc, 1 limit 12",
            (chosen,),
        ).fetchall()
        found.append((name, rows))
    return found


_CUT_OFF = re.compile(r"^(…[^\[\]()]*)\]\([^)\s]*\)|^…\(?[^\s()\[\]]*\)(?=\s)|!?\[([^\[\]]*)(?:\]\([^)\s]*)?…$")
"""A link of which a snippet holds only the end, or only the beginning."""


def plain(text: str) -> str:
    """A snippet without markdown's marks."""
    whole = _MARKUP.sub(lambda match: match[1] or "", text)
    return _CUT_OFF.sub(lambda match: match[1] or (match[2] + "…" if match[2] is not None else "…"), whole)


def highlighted(text: str, anchors: Iterable[Anchor]) -> Markup:
    """The text with what was found marked; everything else escaped."""
    spans: list[tuple[int, int]] = []
    for anchor in anchors:
        at = 0
        while len(spans) < 50:
            found = anchor(text[at:])
            if found is None or found[1] <= 0:
                break
            spans.append((at + found[0], at + found[0] + found[1]))
            at += found[0] + found[1]
    pieces: list[Markup] = []
    at = 0
    for start, end in sorted(spans):
        if start >= at:
            pieces += [escape(text[at:start]), Markup("<mark>"), escape(text[start:end]), Markup("</mark>")]
            at = end
    return Markup("").join([*pieces, escape(text[at:])])
