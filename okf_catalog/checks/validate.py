"""Is this a legal OKF bundle? The three conditions of OKF §11, and everything else as warnings.

The sync has noted every flaw in `problems`; here they are put in the order of the report.
"""

from __future__ import annotations

import sqlite3
from typing import Any, NamedTuple

from okf_catalog.format.vocabulary import RESERVED

Finding = dict[str, Any]


class Validation(NamedTuple):
    """The verdict on a bundle."""

    concepts: int
    """Concepts and unusable files, without those that are not text."""
    indexes: int
    logs: int
    errors: list[Finding]
    """`path, message`, and `check, line` where they are known."""
    warnings: list[Finding]
    """`path, message, check, source, line`."""

    @property
    def conformant(self) -> bool:
        """True where nothing breaks a condition of OKF §11."""
        return not self.errors


def validate(connection: sqlite3.Connection, bundle: str) -> Validation:
    """Judge a bundle of the catalog by what its last sync found."""

    def count(sql: str) -> int:
        return int(connection.execute(sql, (bundle,)).fetchone()[0])

    parse_errors = connection.execute(
        "select path, code, message, advice, line from parse_errors where bundle = ? order by path", (bundle,)
    ).fetchall()
    errors, warnings = [], []
    # Concepts first, then reserved files, then files that cannot be used.
    rows = connection.execute(
        "select p.path, p.level, p.check_id, p.source, p.message, p.line from problems p where p.bundle = ? "
        "order by case when p.concept_id is not null then 0 "
        "when exists (select 1 from parse_errors e where e.bundle = p.bundle and e.path = p.path) then 2 else 1 end, "
        "p.path, p.check_id = 'broken_link', p.id",
        (bundle,),
    )
    for path, level, check, source, message, line in rows:
        if level == "error":
            errors.append({"path": path, "message": message, "check": check, "line": line})
        else:
            warnings.append({"path": path, "message": message, "check": check, "source": source, "line": line})
    errors += [
        {"path": path, "message": f"{message}; {advice}", "check": code, "line": line}
        for path, code, message, advice, line in parse_errors
    ]
    # Unusable files count as what their names say, unless they are not text at all.
    unusable = [RESERVED.get(path.rpartition("/")[2]) for path, code, *_ in parse_errors if code != "not_utf8"]
    return Validation(
        count("select count(*) from concepts where bundle = ?") + unusable.count(None),
        count("select count(*) from reserved_files where bundle = ? and kind = 'index'") + unusable.count("index"),
        count("select count(*) from reserved_files where bundle = ? and kind = 'log'") + unusable.count("log"),
        errors,
        warnings,
    )
