"""The two ways to a client: standard input and output, or HTTP on this machine alone."""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any

import anyio
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings

LOOPBACK = "127.0.0.1"
PATH = "/mcp"
_NAMES = (LOOPBACK, "localhost")
_SESSIONS = 100
"""Clients at once; each is kept for half an hour after its last request."""


def serve_stdio(server: Server[Any], leave: Callable[[], object]) -> None:
    """Serve one client on stdin and stdout until its end closes; a signal calls `leave` and ends the process.

    Raises `OSError` where nothing can be written, `BrokenPipeError` where nobody reads any more.
    """
    _quiet()

    async def run() -> None:
        async with stdio_server() as (receiving, sending):
            stopped = False
            async with anyio.create_task_group() as tasks:

                async def stop() -> None:
                    nonlocal stopped
                    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
                        async for _ in signals:
                            stopped = True
                            tasks.cancel_scope.cancel()

                tasks.start_soon(stop)
                await server.run(receiving, sending, server.create_initialization_options())
                tasks.cancel_scope.cancel()
            if stopped:
                # A thread waits for the next line and cannot be called back: nothing less ends it.
                leave()
                os._exit(0)

    try:
        anyio.run(run)
    except Exception as problem:  # noqa: BLE001  # out of its groups it goes on
        raise _first(problem) from None


def _first(problem: Exception) -> Exception:
    """What went wrong first, out of the groups that tasks make of it."""
    within = getattr(problem, "exceptions", None)
    return _first(within[0]) if within else problem


def serve_http(server: Server[Any], taken: socket.socket) -> None:
    """Serve on a listening socket of `LOOPBACK` until a signal comes.

    Requests whose `Host` is not this machine are refused (421), and those that a page of
    another origin makes a browser send (403).
    """
    _quiet()
    import uvicorn

    port = taken.getsockname()[1]
    hosts = [f"{name}:{port}" for name in _NAMES]
    app = server.streamable_http_app(
        streamable_http_path=PATH, max_sessions=_SESSIONS,
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=True, allowed_hosts=hosts, allowed_origins=[f"http://{host}" for host in hosts]
        ),
    )  # fmt: skip
    uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="on", timeout_graceful_shutdown=1)).run(sockets=[taken])


def _quiet() -> None:
    """The SDK logs what peers send and how it fails, with tracebacks; stderr is for people."""
    if os.environ.get("OKF_CATALOG_DEBUG"):
        logging.basicConfig(stream=sys.stderr)
        return
    for name in ("mcp", "uvicorn", "asyncio"):
        logger = logging.getLogger(name)
        logger.addHandler(logging.NullHandler())
        logger.propagate = False
