"""Rows out: what the catalog knows, as plain dictionaries ready for any output format."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from typing import Any, NamedTuple

from okf_catalog.catalog.ask import Vocabulary
from okf_catalog.catalog.filters import Filters, conditions
from okf_catalog.format.values import search_fold
from okf_catalog.format.vocabulary import RESERVED

Row = dict[str, Any]


class Found(NamedTuple):
    """The answer of `find`."""

    concepts: list[Row]
    """`path, id, type, title, status, trust_tier, stale, tags, parse_error`, by path."""
    matches: int
    """Concepts that match, without the unusable files among `concepts`."""
    parse_errors: int
    """Unusable files of the bundle, whether they match or not, without the reserved ones."""


def find(connection: sqlite3.Connection, bundle: str, filters: Filters, now: str) -> Found:
    """The concepts of a bundle that satisfy the filters, by path.

    Unusable files are listed with them where no filter but text is set: nothing else
    could be said of them.
    """
    where, values = conditions(connection, filters, now)
    join = "join search_text s on s.concept_id = c.id" if filters.text else ""
    rows = connection.execute(
        "select c.path, c.concept_id, c.type, coalesce(c.title, c.stem), c.effective_status, c.trust_tier, "
        f"coalesce(c.stale_after_utc <= ?, 0), c.tags from concepts c {join} "
        f"where {' and '.join(['c.bundle = ?', *where])} order by c.path",
        (now, bundle, *values),
    )
    concepts: list[Row] = [
        {
            "path": path, "id": concept_id, "type": kind, "title": title, "status": status, "trust_tier": tier,
            "stale": bool(stale), "tags": json.loads(tags), "parse_error": False,
        }
        for path, concept_id, kind, title, status, tier, stale, tags in rows
    ]  # fmt: skip
    count = len(concepts)
    rows = connection.execute("select path, text from parse_errors where bundle = ? order by path", (bundle,))
    errors = [(path, text) for path, text in rows if path.rpartition("/")[2] not in RESERVED]
    if filters.only_text:
        wanted = [search_fold(text) for text in filters.text]
        broken = [path for path, text in errors if not wanted or _holds(text, wanted)]
        if broken:
            concepts += [_broken_row(path) for path in broken]
            concepts.sort(key=lambda row: str(row["path"]))
    return Found(concepts, count, len(errors))


def _holds(text: str | None, wanted: Iterable[str]) -> bool:
    folded = search_fold(text or "")
    return all(word in folded for word in wanted)


def _broken_row(path: str) -> Row:
    concept_id = path[:-3]
    return {
        "path": path, "id": concept_id, "type": None, "title": concept_id.rpartition("/")[2], "status": None,
        "trust_tier": None, "stale": False, "tags": [], "parse_error": True,
    }  # fmt: skip


def bundle_rows(connection: sqlite3.Connection, now: str) -> list[Row]:
    """One row a bundle: what it holds and when it was last synced, by name."""
    cursor = connection.execute(
        "select b.name, b.title, b.okf_version, b.concept_count as concepts, b.parse_error_count as parse_errors, "
        "b.reserved_count as reserved_files, "
        "(select count(*) from concepts c where c.bundle = b.name and c.stale_after_utc <= ?) as stale, "
        "(select count(*) from concepts c where c.bundle = b.name and c.trust_tier = 'human-reviewed') as reviewed, "
        "b.last_synced_at, r.root from bundles b join bundle_roots r on r.bundle = b.name order by b.name",
        (now,),
    )
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]


def locate(connection: sqlite3.Connection, wanted: str, bundle: str | None) -> list[tuple[str, str]]:
    """(bundle, path) of the files that `wanted` may mean: a path, or an id without `.md`."""
    path = wanted[2:] if wanted.startswith("./") else wanted
    candidates = [path.lstrip("/"), path.lstrip("/") + ".md"]
    clause = "and bundle = ?" if bundle is not None else ""
    extra = (bundle,) if bundle is not None else ()
    for candidate in candidates:
        rows = connection.execute(
            f"select bundle, path from files where path = ? {clause} order by bundle", (candidate, *extra)
        ).fetchall()
        if rows:
            return rows
    # The extension may be written in another case.
    return connection.execute(
        f"select bundle, path from concepts where concept_id = ? {clause} order by bundle, path",
        (candidates[0], *extra),
    ).fetchall()


def nearest(connection: sqlite3.Connection, wanted: str, bundle: str | None) -> list[str]:
    """Up to three ids that are spelled much like `wanted`."""
    from difflib import get_close_matches

    clause = "where bundle = ?" if bundle is not None else ""
    rows = connection.execute(f"select concept_id from concepts {clause}", (bundle,) if bundle is not None else ())
    ids = [row[0] for row in rows]
    close = get_close_matches(wanted.removesuffix(".md"), ids, 3)
    return close or [name for name in ids if name.rpartition("/")[2] == wanted.rpartition("/")[2]][:3]


def show(connection: sqlite3.Connection, bundle: str, path: str, now: str) -> Row | None:
    """Everything the catalog knows of one file: a concept, an unusable file or a reserved one."""
    row = _one(connection, "select * from concepts where bundle = ? and path = ?", bundle, path)
    if row is None:
        return _show_other(connection, bundle, path)
    concept_id = row["id"]

    def rows(sql: str) -> list[Row]:
        return _rows(connection, sql, concept_id)

    stale = row["stale_after_utc"] is not None and row["stale_after_utc"] <= now
    answer: Row = {
        "bundle": bundle, "path": path, "id": row["concept_id"], "kind": "concept", "type": row["type"],
        "title": row["title"] or row["stem"], "description": row["description"], "status": row["effective_status"],
        "trust_tier": row["trust_tier"], "trust_current": row["trust_current"], "stale": stale,
        "stale_after": row["stale_after"], "generated_by": row["generated_by"], "generated_at": row["generated_at"],
        "resource": row["resource"], "tags": json.loads(row["tags"]),
        "verifications": rows("select by, actor_kind, at, is_current from verifications where concept_id = ? order by position"),
        "sources": rows(
            "select source_id as id, resource, title, author, usage_count, last_modified, window_from, window_to, legacy "
            "from sources where concept_id = ? order by position"
        ),
        "computation": next(iter(rows(
            "select runtime, computation, code, language, parameters, executor, executor_receipt, attester "
            "from computations where concept_id = ?"
        )), None),
        "links": rows(
            "select l.kind, l.target, l.target_path as path, l.text, l.line, l.target_id is not null as resolved, "
            "l.target_path like '%.md' and l.target_id is null and "
            "not exists (select 1 from parse_errors f where f.bundle = c.bundle and f.path = l.target_path) and "
            "not exists (select 1 from reserved_files f where f.bundle = c.bundle and f.path = l.target_path) as missing "
            "from links l join concepts c on c.id = l.concept_id "
            "where l.concept_id = ? and l.kind not in ('undefined', 'unused') order by l.position"
        ),
        "linked_from": rows(
            "select distinct c.path, coalesce(c.title, c.stem) as title from links l "
            "join concepts c on c.id = l.concept_id where l.target_id = ? and c.id <> l.target_id order by c.path"
        ),
        "footnotes": rows(
            "select f.label, s.source_id as source, f.is_defined as defined, f.line from footnotes f "
            "left join sources s on s.concept_id = f.concept_id and s.position = f.source_position "
            "where f.concept_id = ? order by f.line, f.label"
        ),
        "problems": rows("select level, check_id, message, line from problems where concept_id = ? order by id"),
        "frontmatter": json.loads(row["frontmatter"]),
        "content_hash": row["content_hash"], "size": row["size"],
        "body": rows("select body from bodies where concept_id = ?")[0]["body"],
    }  # fmt: skip
    for key, flags in (("verifications", ("is_current",)), ("sources", ("legacy",)), ("links", ("resolved", "missing")),
                       ("footnotes", ("defined",))):  # fmt: skip
        for item in answer[key]:
            for flag in flags:
                item[flag] = bool(item[flag])
    if answer["computation"]:
        for key in ("parameters", "executor_receipt"):
            text = answer["computation"][key]
            answer["computation"][key] = json.loads(text) if text is not None else None
    return answer


def _show_other(connection: sqlite3.Connection, bundle: str, path: str) -> Row | None:
    row = _one(
        connection,
        'select code, message, advice, line, "column", excerpt, first_seen, last_seen, text from parse_errors '
        "where bundle = ? and path = ?", bundle, path,
    )  # fmt: skip
    head = {"bundle": bundle, "path": path}
    if row is not None:
        return {**head, "kind": "error", **row}
    row = _one(connection, "select kind, text from reserved_files where bundle = ? and path = ?", bundle, path)
    if row is None:
        return None
    problems = _rows(
        connection,
        "select level, check_id, message, line from problems where bundle = ? and path = ? order by id", bundle, path,
    )  # fmt: skip
    return {**head, "kind": row["kind"], "problems": problems, "text": row["text"]}


def _rows(connection: sqlite3.Connection, sql: str, *values: Any) -> list[Row]:
    cursor = connection.execute(sql, values)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]


def _one(connection: sqlite3.Connection, sql: str, *values: Any) -> Row | None:
    return next(iter(_rows(connection, sql, *values)), None)


def vocabulary(connection: sqlite3.Connection, bundle: str) -> Vocabulary:
    """The types and tags in use in a bundle."""
    types = connection.execute(
        "select distinct type from concepts where bundle = ? and type is not null order by type", (bundle,)
    )
    tags = connection.execute(
        "select distinct t.tag from tags t join concepts c on c.id = t.concept_id where c.bundle = ? order by t.tag",
        (bundle,),
    )
    return Vocabulary(tuple(row[0] for row in types), tuple(row[0] for row in tags))
