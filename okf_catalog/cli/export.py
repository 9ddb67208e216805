"""`okf-catalog export`: the tables of the catalog as CSV, NDJSON, Parquet or SQL, byte-stable for the same content."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Annotated, Any

from okf_catalog.cli import listing, options, output
from okf_catalog.cli.declared import Option
from okf_catalog.cli.sink import sink_for
from okf_catalog.errors import UsageError
from okf_catalog.views import export as view
from okf_catalog.views.export import Column

CSV, NDJSON, PARQUET, SQL = FORMATS = ("csv", "ndjson", "parquet", "sql")
_SUFFIXES = {".csv": CSV, ".ndjson": NDJSON, ".jsonl": NDJSON, ".parquet": PARQUET, ".sql": SQL}
_GROUP = 2000
"""Rows of a Parquet row group: what is held in memory at a time."""

Rows = Iterator[tuple[Any, ...]]
_encode: Callable[[str], str] = json.encoder.encode_basestring
"""Text as JSON, in C: a third of what `json.dumps` costs for each value."""


def export(
    bundle: options.BundleArgument = None,
    form: Annotated[str | None, Option("--format", metavar="NAME", help=f"{', '.join(FORMATS)}. [default: by the suffix of --output, else {CSV}]", show_default=False)] = None,
    table: Annotated[str | None, Option("--table", metavar="NAME", help=f"Which table: {', '.join(view.TABLES)}. [default: catalog; for sql all]", show_default=False, autocompletion=lambda: list(view.TABLES))] = None,
    target: Annotated[str | None, Option("--output", "-o", metavar="FILE", help="Write there, all or nothing. [default: standard output]", show_default=False)] = None,
    fields: options.Fields = None,
    leave_out: options.Except = None,
    limit: options.Limit = None,
    offset: options.Offset = 0,
    as_of: Annotated[str | None, Option("--as-of", metavar="INSTANT", help="Add is_stale at this moment to the table catalog.", show_default=False)] = None,
    no_sync: options.NoSync = False,
    db: options.Database = None,
) -> int:
    """Write the content of a bundle as a table, or all of it as SQL.

    The same content gives the same bytes, on any machine and after any syncs: no row ids, no
    moments of syncs; concepts go by their paths.
    """
    chosen = _format(form, target)
    if table is not None and table.lower() not in view.TABLES:
        raise UsageError(f"--table {table}: choose one of {', '.join(view.TABLES)}")
    if table is None and chosen == SQL and (fields is not None or leave_out is not None or limit is not None or offset):
        raise UsageError("--fields, --except, --limit and --offset need one --table")
    now = options.moment(as_of) if as_of is not None else None
    names = list(view.TABLES) if table is None and chosen == SQL else [(table or "catalog").lower()]
    columns = {name: view.columns(name, judged=now is not None) for name in names}
    if len(names) == 1:
        kept = listing.names_of([column.name for column in columns[names[0]]], fields, leave_out)
        columns[names[0]] = tuple(column for column in columns[names[0]] if column.name in kept)
        if not kept:
            raise UsageError("no column is left to export")
    writer = _WRITERS[chosen]
    if chosen == PARQUET:
        _pyarrow()
        if target is None and sys.stdout.isatty():
            raise UsageError("Parquet is nothing to look at: name a file with --output, or send it to one")
    opened = options.open_bundle(bundle, db, no_sync=no_sync)
    connection, owner = opened.view.connection, opened.view.bundle.name
    connection.execute("begin")  # one state of the catalog for all tables
    with sink_for(target, binary=chosen == PARQUET) as sink:
        if chosen == SQL:
            sink.write("BEGIN;\n")
        for name in names:
            found = view.rows(connection, owner, name, columns[name], now or "", limit=limit, offset=offset)
            writer(sink, name, columns[name], found)
        if chosen == SQL:
            sink.write("COMMIT;\n")
    connection.execute("rollback")
    return 0


def _format(name: str | None, target: str | None) -> str:
    if name is None:
        return _SUFFIXES.get(os.path.splitext(target or "")[1].lower(), CSV)
    return output.choose_format(name, as_json=False, pretty=False, default=CSV, formats=FORMATS)


# -- formats -----------------------------------------------------------------------------


def _csv(sink: IO[str], _: str, columns: Sequence[Column], rows: Rows) -> None:
    import csv

    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow([column.name for column in columns])
    writer.writerows(rows)  # JSON stays text, flags are 0 and 1, null is nothing


def _ndjson(sink: IO[str], _: str, columns: Sequence[Column], rows: Rows) -> None:
    keys = [_encode(column.name) + ":" for column in columns]
    kinds = [column.kind for column in columns]
    texts = [kind == view.TEXT for kind in kinds]
    for row in rows:
        parts = [
            key + (_encode(value) if is_text and value is not None else _json(value, kind))
            for key, value, kind, is_text in zip(keys, row, kinds, texts, strict=True)
        ]
        sink.write("{" + ",".join(parts) + "}\n")


def _json(value: Any, kind: str) -> str:
    """What is no text, as JSON."""
    if value is None:
        return "null"
    if kind == view.FLAG:
        return "true" if value else "false"
    return str(value)  # JSON already


_TYPES = {view.TEXT: "TEXT", view.JSON: "TEXT", view.INTEGER: "INTEGER", view.FLAG: "INTEGER"}


def _sql(sink: IO[str], name: str, columns: Sequence[Column], rows: Rows) -> None:
    """Plain SQL, without what only SQLite knows."""
    key = view.TABLES[name].key
    lines = [f'  "{column.name}" {"BIGINT" if column.kind == view.INTEGER else _TYPES[column.kind]}' for column in columns]
    if key and {column.name for column in columns} >= {*key}:
        lines.append(f"  PRIMARY KEY ({', '.join(_quoted(part) for part in key)})")
    sink.write(f"CREATE TABLE {_quoted(name)} (\n" + ",\n".join(lines) + "\n);\n")
    for row in rows:
        sink.write(f"INSERT INTO {_quoted(name)} VALUES ({','.join(map(_literal, row))});\n")


def _quoted(name: str) -> str:
    return f'"{name}"'


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, int):
        return str(value)
    return "'" + str(value).replace("'", "''") + "'"


def _pyarrow() -> Any:
    """The package that writes Parquet. Raises `UsageError` where it is missing."""
    try:
        import pyarrow  # noqa: ICN001
        import pyarrow.parquet
    except ImportError:
        raise UsageError("--format parquet needs the package pyarrow: pip install 'okf-catalog[parquet]'") from None
    return pyarrow


def _parquet(sink: IO[bytes], _: str, columns: Sequence[Column], rows: Rows) -> None:
    from itertools import islice

    arrow = _pyarrow()
    types = {view.INTEGER: arrow.int64(), view.FLAG: arrow.bool_()}
    schema = arrow.schema([(column.name, types.get(column.kind, arrow.string())) for column in columns])
    flags = [position for position, column in enumerate(columns) if column.kind == view.FLAG]
    with arrow.parquet.ParquetWriter(sink, schema) as writer:
        while group := list(islice(rows, _GROUP)):
            values = [list(column) for column in zip(*group, strict=True)]
            for position in flags:
                values[position] = [None if value is None else bool(value) for value in values[position]]
            writer.write_batch(arrow.record_batch(values, schema=schema))


_WRITERS: dict[str, Callable[[Any, str, Sequence[Column], Rows], None]] = {
    CSV: _csv, NDJSON: _ndjson, PARQUET: _parquet, SQL: _sql,
}  # fmt: skip
