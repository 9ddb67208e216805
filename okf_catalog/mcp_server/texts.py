"""Questions whose answers are texts of a bundle or rows of a query: `show`, resources, `sql`."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any
from urllib.parse import quote, unquote

from okf_catalog.catalog import database, queries, readonly
from okf_catalog.cli import sql as sql_verb
from okf_catalog.cli.options import moment
from okf_catalog.errors import UsageError
from okf_catalog.mcp_server.serving import Question, Serving, page

Document = dict[str, Any]
SCHEME = "okf://"
RESOURCES = 100
"""Resources on a page."""
_FIRST = ""


def show(asked: Question, *, concept: str, bundle: str | None, body: bool, as_of: str | None, limit: int, offset: int) -> Document:
    """Everything known of one file; the page goes through the characters of its text."""
    now = moment(as_of)
    name, path = asked.locate(concept, bundle)
    row = queries.show(asked.connection, name, path, now)
    assert row is not None  # noqa: S101  # it was just located
    key = "body" if "body" in row else "text"
    text = row.pop(key)
    if not body:
        return {**row, "page": page(0, limit, 0, len(text or ""))}
    shown = text if text is None else text[offset : offset + limit]
    return {**row, key: shown, "page": page(offset, limit, len(shown or ""), len(text or ""))}


def sql(serving: Serving, *, query: str, params: Document, limit: int, timeout: float, offset: int) -> Document:
    """A read-only query on the catalog."""
    with database.reported(serving.path):
        connection = database.open_existing(serving.path, read_only=True)
        readonly.guard(connection)
    try:
        since = connection.execute("select min(last_synced_at) from bundles").fetchone()[0]
        answer = readonly.query(connection, query, params, seconds=timeout, limit=offset + limit)
    finally:
        connection.close()
    names = sql_verb.distinct(answer.columns)
    rows = [{name: sql_verb.json_value(value) for name, value in zip(names, row, strict=True)} for row in answer.rows[offset:]]
    total = None if answer.is_cut else len(answer.rows)
    return {"columns": names, "rows": rows, "synced_at": since, "page": {
        "offset": offset, "limit": limit, "returned": len(rows), "total": total,
        "next_offset": offset + len(rows) if answer.is_cut else None,
    }}  # fmt: skip


def uri_of(bundle: str, path: str) -> str:
    """`okf://bundle/path`, what is no letter of a URI percent-encoded."""
    return f"{SCHEME}{quote(bundle, safe='')}/{quote(path, safe='/')}"


_KEYS = ("path", "kind", "title", "description", "size")
_PAGE = """
select path, kind, title, description, size from (
  select path, 'concept' as kind, coalesce(title, stem) as title, description, size from concepts
  where bundle = ?1 and path > ?2
  union all
  select path, 'error', null, message, null from parse_errors where bundle = ?1 and path > ?2
  union all
  select path, kind, null, null, null from reserved_files where bundle = ?1 and path > ?2
) order by path limit ?3
"""


def resources(asked: Question, *, cursor: str | None) -> Document:
    """A page of the files that are served, by bundle and path, and the cursor of the next one."""
    after, last = _read_cursor(cursor)
    found: list[Document] = []
    for bundle in asked.served():
        if bundle.name < after or len(found) > RESOURCES:
            continue
        if cursor is None or bundle.name != after:
            asked.refresh(bundle)  # once a walk
        start = last if bundle.name == after else _FIRST
        rows = asked.connection.execute(_PAGE, (bundle.name, start, RESOURCES + 1 - len(found)))
        found += [{"bundle": bundle.name, **dict(zip(_KEYS, row, strict=True))} for row in rows]
    shown = found[:RESOURCES]
    more = len(found) > RESOURCES
    return {
        "resources": [{**row, "uri": uri_of(row["bundle"], row["path"])} for row in shown],
        "next": _cursor(shown[-1]["bundle"], shown[-1]["path"]) if more else None,
    }  # fmt: skip


def _cursor(bundle: str, path: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([bundle, path]).encode()).decode()


def _read_cursor(cursor: str | None) -> tuple[str, str]:
    if cursor is None:
        return _FIRST, _FIRST
    try:
        bundle, path = json.loads(base64.b64decode(cursor.encode(), altchars=b"-_", validate=True))
    except (ValueError, TypeError, binascii.Error):
        raise UsageError("that cursor was not given out by this server") from None
    if not (isinstance(bundle, str) and isinstance(path, str)):
        raise UsageError("that cursor was not given out by this server")
    return bundle, path


def resource(asked: Question, *, uri: str) -> Document:
    """The text of a file and what is known of it. Raises `UsageError`."""
    name, slash, path = uri.removeprefix(SCHEME).partition("/")
    if not uri.startswith(SCHEME) or not slash or not path:
        raise UsageError(f"{uri} is no resource of this server: write okf://bundle/path")
    bundle, path = asked.locate(unquote(path), unquote(name))
    row = queries.show(asked.connection, bundle, path, moment(None))
    assert row is not None  # noqa: S101  # it was just located
    text = row.pop("body" if "body" in row else "text")
    return {"uri": uri_of(bundle, path), "text": text, "facts": row}
