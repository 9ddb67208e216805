"""The catalog's schema for sqlite-utils: `sqlite-utils migrate catalog.db migrations/`.

Each `NNNN_name.sql` beside this file is one migration, in the order of the names.
"""

from __future__ import annotations

from pathlib import Path

from sqlite_utils import Migrations
from sqlite_utils.db import Database

migrations = Migrations("okf_catalog")


def statements(script: str) -> list[str]:
    """The statements of an SQL script. `executescript` is no help: it commits first."""
    import sqlite3

    found: list[str] = []
    buffer = ""
    for line in script.splitlines(keepends=True):
        buffer += line
        if sqlite3.complete_statement(buffer):
            found.append(buffer.strip())
            buffer = ""
    return found


def scripts() -> list[tuple[str, str]]:
    """(name, SQL) of every migration, in order."""
    return [(path.stem, path.read_text(encoding="utf-8")) for path in sorted(Path(__file__).parent.glob("[0-9]*.sql"))]


def _register(name: str, script: str) -> None:
    @migrations(name=name)
    def apply(db: Database) -> None:
        for statement in statements(script):
            db.execute(statement)


for _name, _script in scripts():
    _register(_name, _script)
