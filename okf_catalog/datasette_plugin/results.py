"""Search on the address of the landing page: results, the best first, and filters with counts."""

from __future__ import annotations

import heapq
import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from datasette.utils.asgi import Request, Response
from markupsafe import Markup, escape

from okf_catalog.catalog.filters import Filters
from okf_catalog.datasette_plugin import access
from okf_catalog.datasette_plugin.facets import MANY
from okf_catalog.datasette_plugin.functions import expression
from okf_catalog.errors import UsageError
from okf_catalog.search import result
from okf_catalog.search.engine import Anchor, Answer, Grouped, Match, registry
from okf_catalog.search.fts5 import FTS5, Reader, word_anchor
from okf_catalog.search.query import FIELDS, WEIGHTS, Corpus, Query
from okf_catalog.views.lists import Asked

if TYPE_CHECKING:
    from datasette.app import Datasette

PAGE = 20
"""Rows on a page of results."""
_COUNTED = 2_000
"""Results that the filters are counted over; a common word is in nearly all of a large catalog."""
_MANY = 5_000
"""Results from which on SQLite alone ranks them."""
_VALUES = 12
"""Values shown of each filter."""
_MOST_PAGES = 1_000_000
_ARGUMENTS = ("q", "engine", "bundle", "type", "tag", "trust", "status", "stale", "page")
_ASKS = ("q", "type", "tag", "trust", "status", "stale")
# The last is that of another table.
_FACETS = ("bundle", "type", "trust", "status", "stale", "tag")


def is_asked(request: Request) -> bool:
    """True where an address asks for results, false where it is that of the landing page."""
    return any(request.args.getlist(name) for name in _ASKS)


async def results_page(request: Request, datasette: Datasette, database: str) -> Response:
    """`/{db}/-/okf?q=…&type=…`: what was found."""
    arguments = {name: request.args.getlist(name) for name in _ARGUMENTS}
    words = " ".join(arguments["q"])
    engine = (arguments["engine"] or ["fts5"])[0]
    at = _number((arguments["page"] or ["1"])[0])
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
            lambda connection: search(connection, words, engine, arguments["bundle"], filters, moment, (at - 1) * PAGE),
        )  # fmt: skip
    except UsageError as problem:
        error = str(problem)
    given = {name: values for name, values in arguments.items() if values and name != "page"}
    base = access.home(datasette, database)

    def address(**changed: list[str]) -> str:
        return f"{base}?{urlencode({'q': '', **given, **changed}, doseq=True)}"

    for row in found["rows"]:
        row["url"] = access.place(datasette, database, row["bundle"], row["path"])
    facets = [
        {"name": name, "values": [
            {"value": value, "count": count, "chosen": value in given.get(name, []),
             "url": address(**{name: [] if value in given.get(name, []) else [value]})}
            for value, count in values
        ]}
        for name, values in found["facets"] if len(values) > 1 or name in given or name != "bundle"
    ]  # fmt: skip
    here = [crumb for crumb in (access.crumb(datasette, database, name) for name in arguments["bundle"][:1]) if crumb]
    return await access.page(
        datasette, request, "okf_search.html", database=database, words=words, engine=engine, error=error, found=found,
        facets=facets, home=base, given=given, trail=[{"label": "catalog", "url": base}, *here], at=at,
        more=address(page=[str(at + 1)]) if at * PAGE < found["total"] else None,
        before=address(page=[str(at - 1)]) if at > 1 else None,
        table=f"{datasette.urls.table(database, 'catalog')}?{urlencode({'_search': words})}" if words else None,
    )  # fmt: skip


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 8 and 0 < int(text) <= _MOST_PAGES else 1


def search(
    connection: sqlite3.Connection, words: str, engine: str, bundles: Sequence[str], filters: Filters, now: str, offset: int
) -> dict[str, Any]:
    """One page of results from `offset` on: `rows`, `total`, `facets` as (name, [(value, count)]), `remarks`.

    Raises `UsageError` for an engine that there is not, or that cannot read the words.
    """
    there = [row[0] for row in connection.execute("select name from bundles order by name")]
    asked = [name for name in there if name in bundles] or there
    query = Query(tuple(words.split()))
    if not query.words:
        return _listed(connection, asked, filters, now, offset)
    corpus = Corpus(connection, asked, filters, now)
    chosen = registry().choose(query, engine)
    many = _most(corpus, query) if chosen.name == FTS5.name and offset + PAGE <= _COUNTED else None
    if many is None:
        answer = chosen.search(corpus, query)
        total, most = len(answer.matches), max(_COUNTED, offset + PAGE)
        best = result.in_order(connection, corpus.slugs, _best(answer.matches, most), most, 0)
        shown = answer.matches
    else:
        total, answer = many
        best = list(answer.matches)
        shown = {
            concept: Match(answer.matches[concept].score, _fields(connection, concept, answer.anchors))
            for concept in best[offset : offset + PAGE]
        }
    rows = [
        {"bundle": row.slug, "path": row.path, "title": row.title, "type": row.type, "tags": row.tags, "score": row.score,
         "matched": row.matched, "snippet": highlighted(plain(row.snippet), answer.anchors)}
        for row in result.rows(connection, corpus.slugs, best[offset : offset + PAGE], shown, answer.anchors)
    ]  # fmt: skip
    remarks = list(answer.remarks)
    if total > _COUNTED:
        remarks.append(f"counts are those of the {_COUNTED:,} best")
    counts = _counts(connection, best[:_COUNTED], now)
    return {"rows": rows, "total": total, "facets": _frequent(counts), "remarks": remarks}


def _most(corpus: Corpus, query: Query) -> tuple[int, Answer] | None:
    """(how many concepts match, the best `_COUNTED` of them) for words that very many hold; None where they do not.

    The engine fts5 scores every concept that matches, a hundred thousand for a common word.
    Here SQLite's own bm25() chooses, by the words as they stand where enough have them, and
    `matched` is filled in for a page by `_fields`.
    """
    reader = Reader(corpus, is_fuzzy=False)
    groups = [phrases for word in query.words for phrases in reader.read(word) or []]
    within, values = corpus.within("+concepts_fts.rowid")
    source = f"from concepts_fts where concepts_fts match ? and {within}"
    count = corpus.connection.execute(f"select count(*) {source}", (expression(groups), *values)).fetchone()[0]
    if count <= _MANY:
        return None
    weights = ", ".join(str(WEIGHTS[field]) for field in FIELDS)
    best: list[tuple[int, float]] = []
    # Merging all longer words that begin alike takes as long as ranking them.
    whole = [[phrase._replace(goes_on=False) for phrase in phrases] for phrases in groups]
    for phrases in (whole, groups):
        best = corpus.connection.execute(
            f"select rowid, bm25(concepts_fts, {weights}) as rank {source} order by rank, rowid limit ?",
            (expression(phrases), *values, _COUNTED),
        ).fetchall()
        if len(best) == _COUNTED:
            break
    anchors = [word_anchor(phrase) for phrases in groups for phrase in phrases]
    return count, Answer({concept: Match(-rank, ()) for concept, rank in best}, anchors)


def _fields(connection: sqlite3.Connection, concept: int, anchors: Sequence[Anchor]) -> tuple[str, ...]:
    """Where in a concept any of the words stands."""
    texts = connection.execute(f"select {', '.join(FIELDS)} from search_text where concept_id = ?", (concept,)).fetchone()
    return tuple(field for field, text in zip(FIELDS, texts, strict=True) if any(anchor(text) for anchor in anchors))


def _best(matches: Mapping[int, Match], count: int) -> Mapping[int, Match]:
    """The matches that can be among the first `count`: to order all of a hundred thousand would be for nothing."""
    if len(matches) <= 2 * count or isinstance(matches, Grouped):
        return matches
    least = heapq.nlargest(count, (match.score for match in matches.values()))[-1]
    return {concept: match for concept, match in matches.items() if match.score >= least}


def _listed(connection: sqlite3.Connection, bundles: Sequence[str], filters: Filters, now: str, offset: int) -> dict[str, Any]:
    """Without words: the concepts that the filters leave, by path."""
    rows: list[dict[str, Any]] = []
    counts: dict[str, Counter[str]] = {name: Counter() for name in _FACETS}
    total = 0
    for bundle in bundles:
        asked = Asked(connection, bundle, filters, now)
        where, values = asked.where()
        ids = [row[0] for row in connection.execute(f"select c.id from concepts c where {where}", values)]
        size = len(ids)
        first = max(offset - total, 0)
        if len(rows) < PAGE and first < size:
            found = connection.execute(
                "select c.bundle, c.path, coalesce(c.title, c.stem), c.type, c.tags, coalesce(c.description, '') "
                f"from concepts c where {where} order by c.path limit ? offset ?",
                (*values, PAGE - len(rows), first),
            )
            rows += [
                {"bundle": row[0], "path": row[1], "title": row[2], "type": row[3], "tags": json.loads(row[4]), "matched": [], "snippet": row[5]}
                for row in found
            ]
        total += size
        for name, more in _counts(connection, ids, now).items():
            counts[name].update(more)
    return {"rows": rows, "total": total, "facets": _frequent(counts), "remarks": []}


def _counts(connection: sqlite3.Connection, ids: Sequence[int], now: str) -> dict[str, Counter[str]]:
    """How the concepts are spread over bundles, types, tiers, states and tags."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in _FACETS}
    chosen = json.dumps(ids)
    alike = Counter(connection.execute(
        "select c.bundle, c.type, c.trust_tier, c.effective_status, iif(c.stale_after_utc <= ?, 'stale', null) "
        "from json_each(?) i cross join concepts c on c.id = i.value", (now, chosen),
    ))  # fmt: skip
    for values, count in alike.items():
        for name, value in zip(_FACETS, values, strict=False):
            if value is not None:
                counts[name][value] += count
    if len(ids) < MANY:
        within = "json_each(?) i cross join tags t on t.concept_id = i.value"
    else:
        within = "tags t where +t.concept_id in (select value from json_each(?))"
    # By how they compare, which the index of tags holds in order; then how one of them is written.
    tags = connection.execute(
        "select (select tag from tags o where o.folded = n.folded limit 1), n.concepts from (select t.folded, count(*) as concepts "
        f"from {within} group by t.folded order by concepts desc, t.folded limit {10 * _VALUES}) n",
        (chosen,),
    )
    for tag, count in tags:
        counts["tag"][tag] += count
    return counts


def _frequent(counts: Mapping[str, Counter[str]]) -> list[tuple[str, list[tuple[str, int]]]]:
    return [(name, sorted(counts[name].items(), key=lambda item: (-item[1], item[0]))[:_VALUES]) for name in _FACETS]


_MARKUP = re.compile(
    r"!?\[([^\]]*)\]\([^)\s]*\)|[*`]{1,3}(?=\S)|(?<=\S)[*`]{1,3}|(?<!\w)_{1,2}(?=\S)|(?<=\S)_{1,2}(?!\w)"
    r"|(?:^|(?<=\s))(?:#{1,6}|>)\s|\[\^[^\]\s]*\]:?|(?:^|(?<=\s))\|?(?:\s*:?-{3,}:?\s*\|?)+(?=\s|$)|\s\|(?=\s|$)|^\|\s"
)
"""What a snippet of markdown holds for the renderer alone; a link leaves its text."""
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
