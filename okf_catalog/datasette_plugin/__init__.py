"""The Datasette plugin: a site for people who want to browse a catalog.

One code base for Datasette 0.65 and 1.0: hooks that one of them does not know are ignored
by it, and what differs is asked for in `access.py` and `settings.py`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from datasette import hookimpl
from markupsafe import Markup

from okf_catalog.datasette_plugin import access, cells, concept, facets, graph, landing, settings

if TYPE_CHECKING:
    from datasette.app import Datasette

_LONGEST_VALUE = 40_000_000
"""Bytes of a text or blob: the largest file of a bundle fits, `hex(zeroblob(…))` that eats the memory does not."""


_SQLITE_LIMIT_LENGTH = 0
"""SQLite's number for that limit; Python names it since 3.11."""


@hookimpl
def register_routes() -> list[tuple[str, Callable[..., Awaitable[Any]]]]:
    """Our pages. They come before Datasette's own."""
    return [
        (r"^/(?P<db>[^/]+)/-/okf/?$", landing.home_page),
        (r"^/(?P<db>[^/]+)/-/okf-graph/(?P<bundle>[^/]+)\.json$", graph.graph_data),
        (r"^/(?P<db>[^/]+)/-/okf-graph/(?P<bundle>[^/]+)$", graph.graph_page),
        (r"^/(?P<db>[^/]+)/-/okf/(?P<bundle>[^/]+)(?P<slash>/?)(?P<path>.*)$", concept.bundle_page),
    ]


@hookimpl
def render_cell(row: Any, value: Any, column: str, table: str | None, database: str, datasette: Datasette) -> Markup | None:
    """Links, badges and chips on the table pages of a catalog."""
    return cells.cell(row, value, column, table, database, datasette)


@hookimpl
def extra_css_urls(datasette: Datasette) -> list[str]:
    """The stylesheet."""
    return [datasette.urls.static_plugins("okf-catalog", "okf.css")]


@hookimpl
def menu_links(datasette: Datasette, actor: Any, request: Any) -> Callable[[], Awaitable[list[dict[str, str]]]]:  # noqa: ARG001
    """A way to the landing page from everywhere."""

    async def links() -> list[dict[str, str]]:
        return [{"href": access.home(datasette, name), "label": f"Browse {name}"} for name in await access.catalogs(datasette)]

    return links


@hookimpl
def extra_template_vars(datasette: Datasette, view_name: str) -> Callable[[], Awaitable[dict[str, Any]]]:
    """The same ways for the root page of the site."""

    async def found() -> dict[str, Any]:
        if view_name != "index":
            return {}
        return {"okf_homes": [
            {"href": access.home(datasette, name), "label": f"Browse {name}"} for name in await access.catalogs(datasette)
        ]}  # fmt: skip

    return found


@hookimpl
def table_actions(datasette: Datasette, actor: Any, database: str, table: str, request: Any) -> Callable[[], Awaitable[list[dict[str, str]]]]:  # noqa: ARG001
    """From what a table's search box holds to ranked results, in the menu beside the title."""

    async def links() -> list[dict[str, str]]:
        if table not in facets.TABLES or database not in await access.catalogs(datasette):
            return []
        words = request.args.get("_search") if request else ""
        address = access.home(datasette, database) + (f"?q={quote(words)}" if words else "")
        return [{"href": address, "label": f"Ranked search for {words}" if words else "Ranked search"}]

    return links


@hookimpl
def view_actions(datasette: Datasette, actor: Any, database: str, view: str, request: Any) -> Callable[[], Awaitable[list[dict[str, str]]]]:
    """The same for views, in Datasette 1.0."""
    found: Callable[[], Awaitable[list[dict[str, str]]]] = table_actions(datasette, actor, database, view, request)
    return found


@hookimpl
def prepare_connection(conn: sqlite3.Connection, database: str, datasette: Datasette) -> None:  # noqa: ARG001
    """Bound the memory of a query; let Datasette's own search box find what our index holds; SQL functions."""
    from okf_catalog.datasette_plugin import functions

    is_ours = functions.register(conn)
    if hasattr(conn, "setlimit") and (is_ours or database == "_memory"):
        conn.setlimit(_SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)


@hookimpl
def startup(datasette: Datasette) -> Callable[[], Awaitable[None]]:
    """Datasette 1.0 takes metadata and queries here; both, how hard facets may work."""
    from datasette import handle_exception

    # Where rich is installed (typer brings it), Datasette has it print a traceback for every missing page,
    # and fails over an address without a route, because then there is none to print.
    handle_exception.rich = None

    async def describe() -> None:
        await settings.tune(datasette)
        if hasattr(datasette, "set_database_metadata"):
            await settings.for_new(datasette)

    return describe


@hookimpl
def get_metadata(datasette: Datasette, key: Any, database: str | None, table: str | None) -> dict[str, Any]:  # noqa: ARG001
    """Datasette 0.65 asks here; what a user's own file says wins."""
    return settings.for_old(datasette, [name for name in datasette.databases if name != "_internal" and _looks_like_one(datasette, name)])


@hookimpl
def canned_queries(datasette: Datasette, database: str, actor: Any) -> Callable[[], Awaitable[dict[str, Any]]]:  # noqa: ARG001
    """Datasette 0.65 asks here."""

    async def found() -> dict[str, Any]:
        return settings.queries() if database in await access.catalogs(datasette) else {}

    return found


@hookimpl
def register_facet_classes() -> list[type]:
    """The facets of concepts, tags among them."""
    return [facets.CatalogFacet]


@hookimpl
def filters_from_request(request: Any, database: str, table: str, datasette: Datasette) -> Callable[[], Awaitable[Any]]:
    """`?_tag=` on the tables of a catalog."""

    async def chosen() -> Any:
        return facets.with_tags(request, table) if database in await access.catalogs(datasette) else None

    return chosen


_KNOWN: dict[str, bool] = {}


def _looks_like_one(datasette: Datasette, name: str) -> bool:
    """`access.is_catalog` for a hook that cannot wait; asked once for a file."""
    path = datasette.databases[name].path
    if path is None:
        return False
    if path not in _KNOWN:
        from contextlib import closing

        try:
            with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as connection:
                _KNOWN[path] = access.is_catalog(connection)
        except sqlite3.Error:
            return False
    return _KNOWN[path]
