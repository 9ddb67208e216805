"""The pages of a bundle: concepts, directories, logs; each as HTML, JSON and as written."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from datasette.utils.asgi import NotFound, Request, Response

from okf_catalog.catalog import queries
from okf_catalog.datasette_plugin import access
from okf_catalog.format.links import directory_of, is_markdown, resolve_path
from okf_catalog.format.reserved import body_of
from okf_catalog.views import changes
from okf_catalog.views.body_html import is_safe_address, to_html
from okf_catalog.views.index import index_rows
from okf_catalog.views.places import Place, directories, parent_of

if TYPE_CHECKING:
    from datasette.app import Datasette

_SUFFIXES = (".json", ".txt")


async def bundle_page(request: Request, datasette: Datasette) -> Response:
    """`/{db}/-/okf/{bundle}/{path}`: what lies there."""
    database = await access.allowed(datasette, request)
    bundle, path = access.part(request, "bundle"), access.part(request, "path")
    if not await access.ask(datasette, database, lambda connection: _has_bundle(connection, bundle)):
        raise NotFound(f"the catalog has no bundle {bundle}")
    if not request.url_vars["slash"]:  # relative links on the page need it
        return Response.redirect(access.place(datasette, database, bundle))
    suffix = next((end for end in _SUFFIXES if path.lower().endswith(f".md{end}")), "")
    path = path.removesuffix(suffix)
    if path == "" or path.endswith("/"):
        return await _directory(request, datasette, database, bundle, path.rstrip("/") or ".")
    moment = access.now()
    found = await access.ask(datasette, database, lambda connection: queries.show(connection, bundle, path, moment))
    if found is None:
        there = await access.ask(datasette, database, lambda connection: directories(connection, bundle))
        if path in there:
            return Response.redirect(access.place(datasette, database, bundle, path + "/"))
        return await _missing(request, datasette, database, bundle, path)
    if suffix == ".json":
        text = json.dumps(found, ensure_ascii=False)
        return Response(text, content_type="application/json; charset=utf-8", headers=dict(access.HEADERS))
    if suffix == ".txt":
        text = _as_written(found)
        return Response(text, content_type="text/plain; charset=utf-8", headers=dict(access.HEADERS))
    return await _file(request, datasette, database, bundle, path, found)


def _has_bundle(connection: sqlite3.Connection, bundle: str) -> bool:
    return connection.execute("select 1 from bundles where name = ?", (bundle,)).fetchone() is not None


def _as_written(found: dict[str, Any]) -> str:
    if found["kind"] != "concept":
        return str(found.get("text") or "")
    matter = json.dumps(found["frontmatter"], ensure_ascii=False, indent=2)
    # JSON is YAML: the file itself is not kept, what it says is.
    return f"---\n{matter}\n---\n\n{found['body']}"


async def _missing(request: Request, datasette: Datasette, database: str, bundle: str, path: str) -> Response:
    close = await access.ask(datasette, database, lambda connection: queries.nearest(connection, path, bundle))
    return await access.page(
        datasette, request, "okf_missing.html", status=404, database=database, bundle=bundle, path=path,
        close=[{"id": name, "url": access.place(datasette, database, bundle, name + ".md")} for name in close],
        trail=crumbs(datasette, database, bundle, directory_of(path)),
    )  # fmt: skip


async def _file(
    request: Request, datasette: Datasette, database: str, bundle: str, path: str, found: dict[str, Any]
) -> Response:
    place = _placer(datasette, database, bundle, directory_of(path))
    here = access.place(datasette, database, bundle, path)
    context: dict[str, Any] = {
        "database": database, "bundle": bundle, "path": path, "it": found, "here": here,
        "trail": crumbs(datasette, database, bundle, directory_of(path)), "home": access.home(datasette, database),
        "graph": f"{datasette.urls.database(database)}/-/okf-graph/{bundle}?concept={quote(path)}",
        "history": await access.ask(datasette, database, lambda connection: changes.history(connection, bundle, path)),
    }  # fmt: skip
    if found["kind"] == "concept":
        for source in found["sources"]:
            target = source["resource"] or ""
            source["url"] = target if is_safe_address(target) else place(target) if target else None
            source["label"] = source["title"] or source["resource"] or source["id"] or "(unnamed)"
        for link in found["linked_from"]:
            link["url"] = access.place(datasette, database, bundle, link["path"])
        for link in found["links"]:
            link["url"] = access.place(datasette, database, bundle, link["path"]) if link["resolved"] else None
        resource = found["resource"] or ""
        heir = found["frontmatter"].get("superseded_by")
        context |= {
            "body": to_html(found["body"], place, _notes(found)),
            "heir": heir if isinstance(heir, str) else None, "heir_url": place(heir) if isinstance(heir, str) else None,
            "resource_url": resource if is_safe_address(resource) else None,
            "others": {key: value for key, value in found["frontmatter"].items() if key not in _SHOWN_ELSEWHERE},
            "tag_url": f"{access.home(datasette, database)}?tag=",
        }
    else:
        text = found.get("text") or ""
        context["body"] = to_html(body_of(text)[0], place) if found["kind"] != "error" else None
    return await access.page(datasette, request, "okf_concept.html", **context)


_SHOWN_ELSEWHERE = frozenset([
    "type", "title", "description", "tags", "status", "stale_after", "generated", "verified", "sources", "resource",
    "runtime", "parameters", "computation", "executor", "attester",
])  # fmt: skip


def _notes(found: dict[str, Any]) -> dict[str, str]:
    """What the source is that each footnote label names (OKF §13.1)."""
    sources = {source["id"]: source for source in found["sources"] if source["id"]}
    told: dict[str, str] = {}
    for note in found["footnotes"]:
        source = sources.get(note["source"])
        if source is not None:
            parts = [source["label"], source["author"], f"used {source['usage_count']} times" if source["usage_count"] else None,
                     f"last modified {source['last_modified']}" if source["last_modified"] else None]  # fmt: skip
            told[note["label"]] = " · ".join(part for part in parts if part)
    return told


async def _directory(request: Request, datasette: Datasette, database: str, bundle: str, directory: str) -> Response:
    there = await access.ask(datasette, database, lambda connection: directories(connection, bundle))
    if directory not in there and there:
        return await _missing(request, datasette, database, bundle, directory + "/")
    rows = await access.ask(
        datasette, database, lambda connection: index_rows(connection, bundle, [Place(directory, False)] if there else [])
    )
    row = rows[0] if rows else {"listing": [], "subdirs": [], "body": None, "present": False, "types": {}}
    prefix = "" if directory == "." else directory + "/"
    has_log = await access.ask(
        datasette, database,
        lambda connection: connection.execute(
            "select 1 from reserved_files where bundle = ? and path = ?", (bundle, prefix + "log.md")
        ).fetchone() is not None,
    )  # fmt: skip
    return await access.page(
        datasette, request, "okf_directory.html", database=database, bundle=bundle, directory=directory, row=row,
        body=to_html(row["body"], _placer(datasette, database, bundle, directory)) if row["body"] else None,
        listing=[{**item, "url": access.place(datasette, database, bundle, item["id"] + ".md")} for item in row["listing"]],
        subdirs=[{"name": name.rpartition("/")[2], "url": access.place(datasette, database, bundle, name + "/")} for name in row["subdirs"]],
        log=access.place(datasette, database, bundle, prefix + "log.md") if has_log else None,
        graph=f"{datasette.urls.database(database)}/-/okf-graph/{quote(bundle)}", home=access.home(datasette, database),
        trail=crumbs(datasette, database, bundle, parent_of(directory) or ""),
    )  # fmt: skip


def _placer(datasette: Datasette, database: str, bundle: str, directory: str) -> Any:
    def place(target: str) -> str | None:
        folder = target.partition("#")[0].endswith("/")
        path = resolve_path(target.rstrip("/") if folder else target, directory)
        if path is None or not (folder or is_markdown(path) or "." not in path.rpartition("/")[2]):
            return None  # files that are no markdown are not in the catalog
        fragment = target.partition("#")[2]
        return access.place(datasette, database, bundle, path + "/" * folder) + (f"#{quote(fragment)}" if fragment else "")

    return place


def crumbs(datasette: Datasette, database: str, bundle: str, directory: str) -> list[dict[str, str]]:
    """The way from the landing page to a directory (`.` is the root of the bundle, empty for nothing below it)."""
    found = [{"label": "catalog", "url": access.home(datasette, database)}]
    if directory == "":
        return found
    found.append({"label": bundle, "url": access.place(datasette, database, bundle)})
    at = ""
    for name in directory.split("/") if directory != "." else []:
        at += name + "/"
        found.append({"label": name, "url": access.place(datasette, database, bundle, at)})
    return found
