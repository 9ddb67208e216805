"""What a shell offers while a command line is typed: bundle names, types, tags.

A completion never complains: where the catalog or the registry cannot be read there is
nothing to offer.
"""

from __future__ import annotations

import os
import sqlite3

from okf_catalog.catalog import database
from okf_catalog.errors import CatalogError
from okf_catalog.format.values import fold

_MOST = 200


def bundles(incomplete: str) -> list[str]:
    """`@` names of registered and synced bundles and groups; otherwise directories."""
    if not incomplete.startswith("@"):
        import glob

        return [path + "/" for path in sorted(glob.glob(glob.escape(incomplete) + "*")) if os.path.isdir(path)]
    names: list[str] = []
    try:
        from okf_catalog import registry

        view = registry.open_view()
        names += [ref.slug for ref in view.bundles] + [group.slug for group in view.groups]
    except CatalogError:
        pass
    names += _column("select name from bundles order by name")
    return [f"@{name}" for name in dict.fromkeys(names) if f"@{name}".startswith(incomplete)]


def types(incomplete: str) -> list[str]:
    """Types in use."""
    return _beginning(incomplete, _column("select distinct type from concepts where type is not null order by type"))


def tags(incomplete: str) -> list[str]:
    """Tags in use, the most frequent first; the last one of a comma list."""
    done, comma, last = incomplete.rpartition(",")
    names = _column("select tag from tags group by folded order by count(*) desc, tag")
    return [done + comma + name for name in _beginning(last, names)]


def concepts(incomplete: str) -> list[str]:
    """Paths of concepts."""
    pattern = incomplete.replace("[", "[[]").replace("*", "[*]").replace("?", "[?]") + "*"
    return _column(f"select distinct path from concepts where path glob ? order by path limit {_MOST}", pattern)


def _beginning(incomplete: str, names: list[str]) -> list[str]:
    start = fold(incomplete)
    return [name for name in names if fold(name).startswith(start)][:_MOST]


def _column(sql: str, *values: str) -> list[str]:
    path = database.default_path()
    if not database.exists(path):
        return []
    try:
        connection = database.open_existing(path, read_only=True)
        return [row[0] for row in connection.execute(sql, values)]
    except (CatalogError, sqlite3.Error):
        return []
