"""Between Datasette's two versions and our pages: permissions, connections, addresses, responses."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, unquote
from weakref import WeakSet

from datasette.utils.asgi import Forbidden, NotFound, Request, Response

from okf_catalog.catalog.sync import system_clock
from okf_catalog.format.values import utc_text

if TYPE_CHECKING:
    from datasette.app import Datasette

T = TypeVar("T")

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; script-src 'self' 'unsafe-inline'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'self'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "max-age=1",
}
"""Whatever a bundle says, its pages run no script of its own and fetch nothing from elsewhere."""

_TABLES = {"concepts", "bundles", "search_text", "directories", "problems"}


def is_catalog(connection: sqlite3.Connection) -> bool:
    """True for a database that okf-catalog made."""
    names = {row[0] for row in connection.execute("select name from sqlite_master where type = 'table'")}
    return names >= _TABLES


_CATALOGS: WeakSet[Any] = WeakSet()
"""Databases that were found to be catalogs. Datasette asks dozens of times for one page."""


async def catalogs(datasette: Datasette) -> list[str]:
    """The names of the databases that are catalogs."""
    for name, db in datasette.databases.items():
        if name != "_internal" and db not in _CATALOGS and await db.execute_fn(is_catalog):
            _CATALOGS.add(db)
    return [name for name, db in datasette.databases.items() if db in _CATALOGS]


async def allowed(datasette: Datasette, request: Request) -> str:
    """The name of the database that a page is about, if it is a catalog that the visitor may read.

    Raises `NotFound`, `Forbidden`.
    """
    from datasette.utils import tilde_decode

    name: str = tilde_decode(unquote(request.url_vars["db"]))
    if name not in datasette.databases or not await datasette.get_database(name).execute_fn(is_catalog):
        raise NotFound(f"no catalog named {name}")
    for table in ("concepts", "bodies"):
        if not await _may_view(datasette, request.actor, name, table):
            raise Forbidden(f"you may not read {name}")
    return name


async def _may_view(datasette: Datasette, actor: Any, database: str, table: str) -> bool:
    if hasattr(datasette, "ensure_permissions"):  # 0.65
        try:
            await datasette.ensure_permissions(
                actor, [("view-table", (database, table)), ("view-database", database), "view-instance"]
            )
        except Forbidden:
            return False
        return True
    from datasette.resources import TableResource

    return bool(await datasette.allowed(action="view-table", resource=TableResource(database, table), actor=actor))


async def ask(datasette: Datasette, database: str, question: Callable[[sqlite3.Connection], T]) -> T:
    """Run a function of the library on a connection of the catalog, in a thread of Datasette's pool.

    Whatever it reads is of one state of the catalog, even while a sync writes.
    """

    def at_once(connection: sqlite3.Connection) -> T:
        is_outer = not connection.in_transaction
        if is_outer:
            connection.execute("begin")
        try:
            return question(connection)
        finally:
            if is_outer and connection.in_transaction:
                connection.execute("rollback")

    found: T = await datasette.get_database(database).execute_fn(at_once)
    return found


def now() -> str:
    """The moment of judgement of a page."""
    return utc_text(system_clock())


def home(datasette: Datasette, database: str) -> str:
    """The address of the landing page of a catalog."""
    return f"{datasette.urls.database(database)}/-/okf"


def place(datasette: Datasette, database: str, bundle: str, path: str = "") -> str:
    """The address of a file or directory (ending in `/`) of a bundle."""
    return f"{home(datasette, database)}/{quote(bundle, safe='')}/{quote(path, safe='/')}"


def crumb(datasette: Datasette, database: str, bundle: str) -> dict[str, str] | None:
    """A bundle in the trail above a page."""
    return {"label": bundle, "url": place(datasette, database, bundle)} if bundle else None


async def page(datasette: Datasette, request: Request, template: str, status: int = 200, **context: Any) -> Response:
    """An HTML page."""
    html = await datasette.render_template(template, context, request=request)
    return Response.html(html, status=status, headers=dict(HEADERS))


def part(request: Request, name: str) -> str:
    """A part of the address, decoded."""
    return unquote(request.url_vars[name])
