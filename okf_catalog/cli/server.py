"""`okf-catalog server`: the site of a catalog, for those who have never heard of Datasette."""

from __future__ import annotations

import os
import signal
import socket
import tempfile
import threading
from contextlib import ExitStack, suppress
from typing import Annotated

from okf_catalog import registry
from okf_catalog.catalog import database
from okf_catalog.catalog.sync import bundle_at, bundle_named, sync, system_clock
from okf_catalog.cli import completion, options, output
from okf_catalog.cli.declared import Argument, Option
from okf_catalog.errors import BundleError, CatalogError, UsageError
from okf_catalog.format import slugs
from okf_catalog.views.drawing import LAYOUTS

_PUBLIC = {
    "default_allow_sql": False, "allow_download": False, "allow_csv_stream": False, "max_returned_rows": 500,
    "sql_time_limit_ms": 1000, "facet_time_limit_ms": 1000, "default_cache_ttl": 60,
}  # fmt: skip
"""What a site that anybody can reach should not give away, and no query of it may take."""
_PRIVATE = {"sql_time_limit_ms": 5000, "facet_time_limit_ms": 3000}
"""One reader alone may wait; a busy machine is no reason to show less."""


def server(
    bundles: Annotated[list[str] | None, Argument(metavar="[BUNDLE]...", help="Directories, @names or groups. [default: all bundles of the catalog]", show_default=False, autocompletion=completion.bundles)] = None,
    port: Annotated[int, Option("--port", "-p", min=0, max=65535, help="Port to serve on; 0 takes a free one.")] = 8808,
    bind: Annotated[str, Option("--bind", metavar="ADDRESS", help="Address to listen on.")] = "127.0.0.1",
    public: Annotated[bool, Option("--public", help="For a site that others can reach: no SQL, no download, no CSV of everything, tight limits.")] = False,
    open_browser: Annotated[bool, Option("--open", help="Open a browser.")] = False,
    watch: Annotated[bool, Option("--watch", help="Follow the files while serving.")] = False,
    title: Annotated[str | None, Option("--title", "-t", metavar="TEXT", help="Title of the site.", show_default=False)] = None,
    link: Annotated[str | None, Option("--link", "-l", metavar="URL", help="Where the bundle comes from; shown on every page.", show_default=False)] = None,
    layout: Annotated[str | None, Option("--layout", metavar="NAME", help=f"How graphs are laid out at first: {', '.join(LAYOUTS)}.", show_default=False)] = None,
    as_map: Annotated[bool, Option("--map", help="Draw graphs with a box around each directory.")] = False,
    read_only: Annotated[bool, Option("--read-only", help="Nothing: the site never writes. Accepted for scripts that give it.", hidden=True)] = False,
    db: options.Database = None,
) -> int:
    """Serve a site to browse and search bundles, until Ctrl-C.

    Bundles of the catalog are served from it as it is (sync them first, or use --watch);
    directories that the catalog does not know are read into one that lasts as long as the server.
    """
    del read_only
    if layout is not None and layout not in LAYOUTS:
        raise UsageError(f"--layout {layout}: choose one of {', '.join(LAYOUTS)}")
    with ExitStack() as stack:
        path, names = catalog_of(bundles or [], options.database_path(db), stack)
        taken = listen(bind, port)
        address = f"http://{f'[{bind}]' if ':' in bind else bind}:{taken.getsockname()[1]}"
        stem = os.path.splitext(os.path.basename(path))[0]
        start = f"{address}/{stem}/-/okf" + (f"/{names[0]}/" if len(names) == 1 else "")
        if watch:
            stack.callback(_follow(path, names).set)
        print(f"serving {output.one_line(' '.join(names)) or 'no bundle yet'} at {start} (Ctrl-C stops)", flush=True)
        if open_browser:
            import webbrowser

            webbrowser.open(start)
        # uvicorn ends cleanly on both signals, then lets them have their way with us.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        with suppress(KeyboardInterrupt):
            _serve(path, taken, public=public, title=title, link=link, layout=layout, as_map=as_map)
    return 0


def catalog_of(wanted: list[str], path: str, stack: ExitStack, *, refresh: bool = True) -> tuple[str, list[str]]:
    """The catalog to serve and the bundles that were asked for. Raises `UsageError`, `BundleError`.

    `refresh` False leaves bundles that the catalog knows as they are.
    """
    if not wanted:
        connection = database.open_existing(path)
        names = [row[0] for row in connection.execute("select name from bundles order by name")]
        connection.close()
        return path, names
    places: list[tuple[str, str | None]] = []
    for argument in wanted:
        if registry.is_ref(argument):
            if slugs.normalize(argument) == "all":
                raise UsageError("@all is only for search and sync; without an argument, server serves the whole catalog")
            try:
                places += [(ref.path, ref.slug) for ref in registry.resolve_many([argument]).refs]
            except registry.UnknownRefError:
                known = _named(path, slugs.normalize(argument))
                if known is None:
                    raise
                places.append((known, None))
        else:
            directory = options.directory(argument)
            if not os.path.isdir(directory):
                raise BundleError(f"{directory} is not a directory (nor @name of a registered or synced bundle)")
            places.append((directory, None))
    there = _synced(path, places, refresh=refresh)
    if there is not None:
        return path, there
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="okf-catalog-"))
    passing = os.path.join(folder, database.FILE_NAME)
    connection = database.open_or_create(passing)
    try:
        return passing, [sync(connection, passing, root, clock=system_clock, slug=slug).bundle for root, slug in places]
    finally:
        connection.close()


def _named(path: str, name: str) -> str | None:
    if not database.exists(path):
        return None
    connection = database.open_existing(path)
    try:
        known = bundle_named(connection, name)
    finally:
        connection.close()
    return known.root if known else None


def _synced(path: str, places: list[tuple[str, str | None]], *, refresh: bool) -> list[str] | None:
    """The names of the bundles where the catalog knows them all; else None."""
    if not database.exists(path):
        return None
    connection = database.open_existing(path)
    try:
        known = [bundle_at(connection, root) for root, _ in places]
        if not all(known):
            return None
        if not refresh:
            return [bundle.name for bundle in known if bundle is not None]
        return [sync(connection, path, root, clock=system_clock, slug=slug).bundle for root, slug in places]
    finally:
        connection.close()


def listen(bind: str, port: int) -> socket.socket:
    """A listening socket. Raises `UsageError` where the port is taken or the address not ours."""
    family = socket.AF_INET6 if ":" in bind else socket.AF_INET
    taken = socket.socket(family, socket.SOCK_STREAM)
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        taken.bind((bind, port))
        taken.listen()
    except OSError as problem:
        taken.close()
        raise UsageError(f"cannot listen on {bind}:{port}: {problem.strerror or problem} (-p takes another port)") from None
    return taken


def _serve(
    path: str, taken: socket.socket, *, public: bool, title: str | None, link: str | None, layout: str | None, as_map: bool
) -> None:
    import uvicorn
    from datasette.app import Datasette

    # What a user asks for on this command line, in both versions' terms.
    metadata = {key: value for key, value in (("title", title), ("source_url", link), ("source", link)) if value}
    plugin = {"layout": layout, "map": as_map}
    metadata["plugins"] = {"okf-catalog": plugin}  # type: ignore[assignment]
    if public:  # where the files lie on this machine is nobody's business
        hidden = {"tables": {"bundle_roots": {"allow": False}}}
        metadata["databases"] = {os.path.splitext(os.path.basename(path))[0]: hidden}  # type: ignore[assignment]
    site = Datasette([path], metadata=metadata, settings=_PUBLIC if public else _PRIVATE)
    config = uvicorn.Config(site.app(), log_level="error", lifespan="on")
    uvicorn.Server(config).run(sockets=[taken])


def _follow(path: str, names: list[str]) -> threading.Event:
    """Sync the bundles whenever their files change, in a thread; the event that is returned stops it."""
    import watchfiles

    stop = threading.Event()
    connection = database.open_existing(path)
    roots = {row[0]: row[1] for row in connection.execute("select bundle, root from bundle_roots") if row[0] in names}
    connection.close()

    def run() -> None:
        for _ in watchfiles.watch(*roots.values(), stop_event=stop, debounce=500, ignore_permission_denied=True):
            own = database.open_existing(path)
            try:
                for root in roots.values():
                    sync(own, path, root, clock=system_clock)
            except CatalogError as problem:
                output.note(str(problem))
            finally:
                own.close()

    threading.Thread(target=run, daemon=True).start()
    return stop
