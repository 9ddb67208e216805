"""`okf-catalog sql`: a read-only query on the catalog."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from okf_catalog.catalog import database, readonly
from okf_catalog.cli import options, output
from okf_catalog.cli.declared import Argument, Option
from okf_catalog.errors import CatalogError, UsageError

USAGE_ERROR = CatalogError.status


def sql(
    query: Annotated[str, Argument(metavar="QUERY", help="One SELECT, or - to read it from standard input.")],
    parameter: Annotated[list[str] | None, Option("--param", "-p", metavar="NAME=VALUE", help="A value for :NAME in the query. Repeatable.", show_default=False)] = None,
    form: options.Format = None,
    as_json: options.Json = False,
    pretty: options.Pretty = False,
    limit: Annotated[int, Option("--limit", metavar="N", min=0, help="Rows at most; 0 for all.")] = 1000,
    timeout: Annotated[float, Option("--timeout", metavar="SECONDS", min=0.01, help="Stop a query that takes longer.")] = 30.0,
    db: options.Database = None,
) -> int:
    """Run a read-only SQL query on the catalog.

    The view `catalog` is the place to begin; docs/schema.md lists all tables. Nothing can be
    written, no other file opened.
    """
    if timeout != timeout:  # noqa: PLR0124  # NaN compares with nothing
        raise UsageError("--timeout: give a number of seconds")
    path = options.database_path(db)
    chosen = output.choose_format(form, as_json=as_json, pretty=pretty, default="table")
    if query == "-":
        if sys.stdin is None:
            raise UsageError("there is no standard input to read the query from")
        query = sys.stdin.read()
    values = dict(_pair(text) for text in parameter or ())
    with database.reported(path):
        connection = database.open_existing(path, read_only=True)
        readonly.guard(connection)
    with _watchdog(timeout):
        answer = readonly.query(connection, query, values, seconds=timeout, limit=limit)
    names = distinct(answer.columns)
    rows: list[dict[str, Any]] = [dict(zip(names, row, strict=True)) for row in answer.rows]
    if chosen == "json":
        output.dump_json([{name: json_value(value) for name, value in row.items()} for row in rows], pretty=pretty)
    else:
        if chosen == "ndjson":
            rows = [{name: json_value(value) for name, value in row.items()} for row in rows]
        output.emit_rows(rows, names, chosen)
    if answer.is_cut:
        output.note(f"only the first {limit} rows are shown (--limit 0 shows all)")
    return 0


_GRACE = 0.5
"""Seconds between SQLite's own look at the clock and the end of the process."""


@contextmanager
def _watchdog(seconds: float) -> Iterator[None]:
    """End the process where SQLite cannot be interrupted: inside one call of a function it never looks at the clock.

    Nothing is lost by that: the connection only reads, and nothing has been printed yet.
    """
    def stop() -> None:
        sys.stderr.write(f"error: {readonly.took_too_long(seconds)}\n")
        sys.stderr.flush()
        os._exit(USAGE_ERROR)

    timer = threading.Timer(min(seconds + _GRACE, threading.TIMEOUT_MAX), stop)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise UsageError(f"--param {text}: write NAME=VALUE")
    return name.strip().lstrip(":"), value


def distinct(columns: list[str]) -> list[str]:
    """Column names as keys: a repeated one gets a number, so that no value is lost."""
    names: list[str] = []
    for column in columns:
        name, number = column, 1
        while name in names:
            number += 1
            name = f"{column}_{number}"
        names.append(name)
    return names


def json_value(value: Any) -> Any:
    """A value of SQLite as JSON has it: bytes as hexadecimal digits, nothing for what is no number."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float) and value - value != 0:
        return None
    return value
