"""`okf-catalog mcp`: the catalog as tools and resources for agents that speak MCP."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import ExitStack, suppress
from typing import Annotated

from okf_catalog.catalog import database, freshness
from okf_catalog.catalog.sync import bundles as bundles_of
from okf_catalog.cli import completion, options, output
from okf_catalog.cli.declared import Argument, Option
from okf_catalog.cli.server import catalog_of, listen
from okf_catalog.errors import UsageError

PORT = 8809


def mcp(
    bundles: Annotated[list[str] | None, Argument(metavar="[BUNDLE]...", help="Directories, @names or groups; nothing else can be asked about. [default: all bundles of the catalog]", show_default=False, autocompletion=completion.bundles)] = None,
    http: Annotated[bool, Option("--http", help="Streamable HTTP on 127.0.0.1 instead of stdin and stdout.")] = False,
    port: Annotated[int | None, Option("--port", "-p", min=0, max=65535, help=f"Port for --http; 0 takes a free one. [default: {PORT}]", show_default=False)] = None,
    no_sync: options.NoSync = False,
    db: options.Database = None,
) -> int:
    """Serve tools and resources to an agent over MCP, read-only, until its end closes.

    The tools ask what the verbs search, find, show, index, dirs, related, changes, validate and
    sql ask. Bundles of the catalog are refreshed before each answer; directories that the catalog
    does not know are read into one that lasts as long as the server.
    """
    if port is not None and not http:
        raise UsageError("--port goes with --http")
    try:
        from okf_catalog.mcp_server import server, transports
    except ImportError as problem:
        if (problem.name or "").startswith("okf_catalog"):
            raise
        raise UsageError("mcp needs the package mcp, version 2: pip install 'okf-catalog[mcp]'") from None
    from okf_catalog.mcp_server.serving import Serving

    if sys.stdin is None and not http:
        raise UsageError("there is no standard input to speak through")
    with ExitStack() as stack:
        default = _default()
        path, named = catalog_of(_wanted(bundles or [], default, db), options.database_path(db), stack, refresh=False)
        names = tuple(named) if bundles else None
        policy = freshness.NEVER if no_sync else freshness.policy()
        serving = Serving(os.path.abspath(path), names, os.path.abspath(default) if default else None, policy)
        built = server.build(serving, with_sql=names is None or _holds_only(path, names))
        taken = listen(transports.LOOPBACK, PORT if port is None else port) if http else None
        # Python looks for modules where a process starts: not in the directory of whoever started this one.
        os.chdir("/")
        with suppress(KeyboardInterrupt):
            if taken is None:
                if sys.stdin.isatty():
                    output.note("an MCP client is to speak here, a line of JSON a message (Ctrl-C stops)")
                transports.serve_stdio(built, stack.close)
            else:
                # uvicorn ends cleanly on both signals, then lets them have their way with us.
                signal.signal(signal.SIGTERM, signal.default_int_handler)
                sys.stderr.write(f"serving MCP at http://{transports.LOOPBACK}:{taken.getsockname()[1]}{transports.PATH} (Ctrl-C stops)\n")
                sys.stderr.flush()
                transports.serve_http(built, taken)
    return 0


def _default() -> str | None:
    """The directory that is meant where no bundle is named, if there is one."""
    with suppress(UsageError):
        return options.directory(None)
    return None


def _wanted(bundles: list[str], default: str | None, db: str | None) -> list[str]:
    """What to serve: the bundles named, else the catalog, else the default bundle."""
    if bundles or database.exists(options.database_path(db)) or default is None:
        return bundles
    return [default]


def _holds_only(path: str, names: tuple[str, ...]) -> bool:
    connection = database.open_existing(path)
    try:
        return {bundle.name for bundle in bundles_of(connection)} <= set(names)
    finally:
        connection.close()
