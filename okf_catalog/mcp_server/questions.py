"""The tools: each asks what the verb of its name asks, of the same functions, and gives the verb's JSON.

Every answer has `page`, `notes`, `synced_at` and `fresh` besides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from okf_catalog.catalog import freshness, queries
from okf_catalog.catalog.filters import Filters
from okf_catalog.catalog.freshness import Asking
from okf_catalog.checks.validate import Finding
from okf_catalog.checks.validate import validate as judge
from okf_catalog.cli import changes as changes_verb
from okf_catalog.cli import judging, output
from okf_catalog.cli import related as related_verb
from okf_catalog.cli import search as search_verb
from okf_catalog.cli.options import moment
from okf_catalog.mcp_server import texts
from okf_catalog.mcp_server.serving import Question, Serving, as_text, debug, page, question, told
from okf_catalog.search.library import read_mode, tiers
from okf_catalog.search.query import Corpus, Query, read_fields
from okf_catalog.search.run import run, unknown_values
from okf_catalog.views import changes as changes_view
from okf_catalog.views import index as index_view
from okf_catalog.views import related as related_view
from okf_catalog.views.places import directories, narrow

Document = dict[str, Any]
LISTED = 100
"""Concepts of one directory that `index` lists; `count` has them all."""


def ask(serving: Serving, tool: str, arguments: Document) -> tuple[bool, str]:
    """(True, the answer as JSON), or (False, one line that says what is wrong)."""
    try:
        with output.collected() as notes, freshness.asking(serving.policy) as asking:
            if tool == "sql":
                answer = texts.sql(serving, **arguments)
            else:
                with question(serving) as asked:
                    answer = TOOLS[tool](asked, **arguments)
            return True, as_text({**_age(asking), **answer, "notes": list(notes)})
    except Exception as problem:  # the last resort between an exception and the user
        if debug():
            raise
        return False, told(problem)


def _age(asking: Asking) -> Document:
    rests = list(asking.rests.values())
    moments = [rest.synced_at for rest in rests if rest.synced_at]
    # An answer is as old as the oldest state in it.
    return {"synced_at": min(moments, default=None), "fresh": bool(rests) and all(rest.is_fresh for rest in rests)}


def search(
    asked: Question, *, terms: list[str], bundles: list[str], fields: list[str], regexp: bool, fuzzy: bool, engine: str | None,
    types: list[str], tags: list[str], statuses: list[str], trust: list[str], dirs: list[str], stale_only: bool,
    not_types: list[str], not_tags: list[str], not_statuses: list[str], as_of: str | None, limit: int, offset: int,
) -> Document:  # fmt: skip
    """Concepts by their text, best first."""
    now = moment(as_of)
    query = Query(tuple(terms), read_fields(fields), read_mode(regexp=regexp, fuzzy=fuzzy))
    filters = Filters(
        types=tuple(types), tags=tuple(tags), statuses=tuple(statuses), trust_tiers=tiers(trust), dirs=tuple(dirs),
        stale_only=stale_only, not_types=tuple(not_types), not_tags=tuple(not_tags), not_statuses=tuple(not_statuses),
    )  # fmt: skip
    wanted = [asked.bundle(name) for name in bundles] or asked.served()
    called = {bundle.name: bundle for bundle in wanted}
    for bundle in called.values():
        asked.refresh(bundle)
    search_verb.skip_notes(asked.connection, {name: f"@{name}" for name in called})
    corpus = Corpus(asked.connection, {name: name for name in called}, filters, now)
    found = run(corpus, query, engine=engine, limit=limit, offset=offset)
    for remark in (*found.notes, *unknown_values(corpus)):
        output.note(remark)
    search_verb.note_broken(found.broken_paths)
    matches = [{key: getattr(row, key) for key in ("slug", *search_verb.KEYS)} for row in found.rows]
    return {
        "bundles": [{"slug": bundle.name, "dir": bundle.root} for bundle in called.values()], "query": terms, "count": found.total,
        "matches": matches, "page": page(offset, limit, len(matches), found.total),
    }  # fmt: skip


def find(
    asked: Question, *, bundle: str | None, query: list[str], types: list[str], tags: list[str], status: str | None,
    trust_tier: str | None, trust_current: str | None, stale_only: bool, ask: str | None, as_of: str | None, limit: int, offset: int,
) -> Document:  # fmt: skip
    """Concepts by filters, by path."""
    filters = Filters(
        text=tuple(query), types=tuple(types), tags=tuple(tags), statuses=_one(status), trust_tiers=_one(trust_tier),
        trust_current=_one(trust_current), stale_only=stale_only,
    )  # fmt: skip
    now = moment(as_of)
    opened = asked.open(bundle)
    name = opened.view.bundle.name
    if ask is not None:
        from okf_catalog.catalog.ask import infer

        inferred = infer(ask, queries.vocabulary(asked.connection, name))
        filters = inferred.merge(filters)
        output.note(f"read as: {inferred.describe()}")
    found = queries.find(asked.connection, name, filters, now)
    if not found.concepts:
        for remark in unknown_values(Corpus(asked.connection, {name: ""}, filters, now)):
            output.note(remark)
    concepts = found.concepts[offset : offset + limit]
    return {
        **opened.head, "count": found.matches, "parse_errors": found.parse_errors, "concepts": concepts,
        "page": page(offset, limit, len(concepts), len(found.concepts)),
    }  # fmt: skip


def _one(value: str | None) -> tuple[str, ...]:
    return () if value is None else (value,)


def index(
    asked: Question, *, bundle: str | None, dirs: list[str], depth: int | None, ancestors: bool, body: bool, limit: int, offset: int
) -> Document:
    """The map of a bundle, directory by directory."""
    opened = asked.open(bundle)
    judging.note_skipped(opened)
    name = opened.view.bundle.name
    places = narrow(directories(asked.connection, name), dirs, depth=depth, ancestors=ancestors)
    rows = index_view.index_rows(asked.connection, name, places[offset : offset + limit], bodies=body)
    for row in rows:
        if not body:
            del row["body"]
        if len(row["listing"]) > LISTED:
            output.note(f"{row['dir']}: the first {LISTED} of {row['count']} concepts are listed; search and find have all")
            row["listing"] = row["listing"][:LISTED]
    return {**opened.head, "count": len(places), "directories": rows, "page": page(offset, limit, len(rows), len(places))}


def dirs(
    asked: Question, *, bundle: str | None, dirs: list[str], depth: int | None, ancestors: bool, limit: int, offset: int
) -> Document:
    """The directories of a bundle and how many concepts lie in them."""
    opened = asked.open(bundle)
    judging.note_skipped(opened)
    rows = index_view.dir_rows(asked.connection, opened.view.bundle.name, dirs, depth=depth, ancestors=ancestors)
    total = sum(row["count"] for row in rows if not row["ancestor"])
    shown = rows[offset : offset + limit]
    return {**opened.head, "total": total, "count": len(rows), "dirs": shown, "page": page(offset, limit, len(shown), len(rows))}


def related(asked: Question, *, concept: str, bundle: str | None, by: list[str], limit: int, offset: int) -> Document:
    """What has to do with a concept, the closest first."""
    name, path = asked.locate(concept, bundle)
    rows = related_view.related(asked.connection, name, path)
    if rows is None:
        raise related_verb.unrelated(path)
    found = [row for row in rows if any(related_verb.is_tied(row, tie) for tie in by or related_verb.TIES)]
    shown = found[offset : offset + limit]
    return {
        "bundle": name, "path": path, "count": len(found), "related": [{key: row[key] for key in related_view.KEYS} for row in shown],
        "page": page(offset, limit, len(shown), len(found)),
    }  # fmt: skip


def changes(
    asked: Question, *, bundle: str | None, since: str | None, kinds: list[str], fields: list[str], as_of: str | None, limit: int,
    offset: int,
) -> Document:  # fmt: skip
    """What syncs changed, newest first."""
    wanted = changes_verb.known_fields(fields)
    start = changes_verb.since_of(since, moment(as_of))
    opened = asked.open(bundle)
    changes_verb.note_future(opened, start)
    found = list(changes_view.changes(asked.connection, opened.view.bundle.name, start, kinds=kinds, fields=wanted))
    shown = found[offset : offset + limit]
    return {
        **opened.head, "since": start.moment if start.sync is None else start.sync, "count": len(found), "changes": shown,
        "page": page(offset, limit, len(shown), len(found)),
    }  # fmt: skip


def validate(asked: Question, *, bundle: str | None, limit: int, offset: int) -> Document:
    """Whether a bundle is legal OKF; the page goes through the errors, then through the warnings."""
    opened = asked.open(bundle)
    found = judge(asked.connection, opened.view.bundle.name)
    judging.note_empty(opened, found.concepts + found.indexes + found.logs + len(found.errors))
    after = max(offset - len(found.errors), 0)
    errors = found.errors[offset : offset + limit]
    warnings = found.warnings[after : after + limit - len(errors)]
    counts = {"concepts": found.concepts, "indexes": found.indexes, "logs": found.logs}
    total = len(found.errors) + len(found.warnings)
    return {
        **opened.head, "conformant": found.conformant, "counts": counts, "errors": _findings(errors), "warnings": _findings(warnings),
        "page": page(offset, limit, len(errors) + len(warnings), total),
    }  # fmt: skip


def _findings(items: Sequence[Finding]) -> list[Finding]:
    return [{key: item[key] for key in ("path", "line", "message", "check", "source") if key in item} for item in items]


TOOLS: dict[str, Callable[..., Document]] = {
    "search": search, "find": find, "show": texts.show, "index": index, "dirs": dirs, "related": related, "changes": changes,
    "validate": validate, "resources": texts.resources, "resource": texts.resource,
}  # fmt: skip
"""The questions that a process may be asked; `sql` has a connection of its own."""
