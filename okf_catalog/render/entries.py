"""Each file of a bundle as the page wants it: facts for lists and the graph, details for its own view."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, unquote

from okf_catalog.catalog import queries
from okf_catalog.format.links import directory_of, is_external, normalize, resolve_path
from okf_catalog.format.reserved import body_of
from okf_catalog.format.vocabulary import GRAPH_KINDS
from okf_catalog.views import pages
from okf_catalog.views.body_html import is_safe_address, to_html
from okf_catalog.views.places import with_ancestors

Row = dict[str, Any]
_ALIGNED = re.compile(r'style="text-align:(left|center|right)"')
_SHOWN_ELSEWHERE = frozenset([
    "type", "title", "description", "tags", "status", "stale_after", "generated", "verified", "sources", "resource",
    "runtime", "parameters", "computation", "executor", "attester", "superseded_by",
])  # fmt: skip
_LINKS_OF_NO_FILE = ("undefined", "unused")


def entries(connection: sqlite3.Connection, bundle: str) -> Iterator[tuple[Row, Row]]:
    """(facts, details) of every file by path, one after the other: no more than one body is in memory.

    Facts have `path, kind, title`, concepts also `type, description, tags, status, trust, current,
    stale_at` and `out`, the positions among the files of those that a concept links to.
    """
    files = list(pages.files(connection, bundle))
    position = {file.path: number for number, file in enumerate(files)}
    folders = with_ancestors(directory_of(path) for path in position)
    places = {*position, "/", *(f"{name}/" for name in folders)}
    for file in files:
        found = queries.show(connection, bundle, file.path, "")
        if found is None:  # `files` is a view of the same tables
            raise LookupError(file.path)
        place = _placer(directory_of(file.path), places)
        if found["kind"] == "concept":
            facts = _facts(found, position)
            if file.stale_at is not None:
                facts["stale_at"] = file.stale_at
            yield facts, _details(found, place)
        else:
            yield _other(found, place)


def _facts(found: Row, position: Mapping[str, int]) -> Row:
    targets = dict.fromkeys(
        position[link["path"]] for link in found["links"]
        if link["resolved"] and link["kind"] in GRAPH_KINDS and link["path"] != found["path"]
    )  # fmt: skip
    return {
        "path": found["path"], "kind": "concept", "title": found["title"], "type": found["type"],
        "description": found["description"], "tags": found["tags"], "status": found["status"],
        "trust": found["trust_tier"], "current": found["trust_current"], "out": list(targets),
    }  # fmt: skip


def _details(found: Row, place: Callable[[str], str | None]) -> Row:
    def link(target: Any) -> str | None:
        if not isinstance(target, str):
            return None
        return target if is_safe_address(target) else place(target)

    heir = found["frontmatter"].get("superseded_by")
    return {
        "text": found["body"], "html": _html(found["body"], place, _notes(found)),
        "resource": _named(found["resource"], link), "heir": _named(heir, link),
        "generated_by": found["generated_by"], "generated_at": found["generated_at"], "stale_after": found["stale_after"],
        "verified": [{"by": event["by"], "at": event["at"], "current": event["is_current"]} for event in found["verifications"]],
        "sources": [{**_source(source), "url": link(source["resource"])} for source in found["sources"]],
        "broken": [{"text": item["text"], "target": item["target"]} for item in found["links"]
                   if item["missing"] and item["kind"] not in _LINKS_OF_NO_FILE],
        "problems": [{key: problem[key] for key in ("level", "message", "line")} for problem in found["problems"]],
        "computation": _texts(found["computation"] or {}),
        "others": _texts({key: value for key, value in found["frontmatter"].items() if key not in _SHOWN_ELSEWHERE}),
    }  # fmt: skip


def _source(source: Row) -> Row:
    return {key: source[key] for key in ("id", "title", "resource", "author", "usage_count", "last_modified")}


def _named(value: Any, link: Callable[[Any], str | None]) -> Row | None:
    return {"text": _text(value), "url": link(value)} if value is not None else None


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    return {str(key): _text(value) for key, value in values.items() if value is not None}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _other(found: Row, place: Callable[[str], str | None]) -> tuple[Row, Row]:
    """An unusable file, or a reserved one."""
    path, text = found["path"], found.get("text") or ""
    name = path.rpartition("/")[2]
    facts = {"path": path, "kind": found["kind"], "title": name[:-3] if name[-3:].lower() == ".md" else name}
    if found["kind"] == "error":
        keys = ("message", "advice", "line", "excerpt")
        return facts, {"text": text, **{key: found[key] for key in keys}}
    return facts, {"text": text, "html": _html(body_of(text)[0], place)}


def _notes(found: Row) -> dict[str, str]:
    """What each footnote label stands for that names a source."""
    sources = {source["id"]: source for source in found["sources"] if source["id"]}
    return {note["label"]: _cited(sources[note["source"]]) for note in found["footnotes"] if note["source"] in sources}


def _cited(source: Row) -> str:
    parts = [source["title"] or source["resource"] or source["id"], source["author"]]
    return " · ".join(part for part in parts if part)


def _html(body: str, place: Callable[[str], str | None], notes: Mapping[str, str] | None = None) -> str:
    # The page allows no styles but its own; text cannot look like this, its quotation marks are escaped.
    return _ALIGNED.sub(r'class="okf-\1"', to_html(body, place, notes))


def _placer(directory: str, places: set[str]) -> Callable[[str], str | None]:
    """From a link in a file of `directory` to the address of the view in the page; None where there is none."""

    def place(target: str) -> str | None:
        name, _, fragment = target.partition("#")
        path = resolve_path(name, directory)
        if path is not None and path in places:
            return f"#/file/{quote(path)}" + (f"#{quote(fragment)}" if fragment else "")
        if is_external(name) or not name:
            return None
        folder = normalize(unquote(name) if name[0] == "/" else f"{directory}/{unquote(name)}")
        if folder is None or f"{folder}/" not in places:
            return None
        return f"#/dir/{quote(folder)}/" if folder else "#/dir/"

    return place
