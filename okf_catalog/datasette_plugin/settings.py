"""What `datasette-metadata.yml` says, for every catalog whatever its file is called, in both versions of Datasette."""

from __future__ import annotations

import copy
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import escape

from okf_catalog.datasette_plugin import access
from okf_catalog.datasette_plugin.facets import ours

if TYPE_CHECKING:
    from datasette.app import Datasette

FILE = Path(__file__).parent / "datasette-metadata.yml"
"""The same text as the file at the top of the repository."""
_CONFIGURED = ("facets", "sort", "sort_desc", "size", "sortable_columns", "label_column", "hidden", "fts_table", "fts_pk",
               "searchmode", "facet_size")  # fmt: skip
"""Keys of a table that are configuration, not description, in Datasette 1.0."""


_FACET_MILLISECONDS = 2000
"""Not what a facet takes, but what it may on a busy machine."""


@lru_cache(maxsize=1)
def _packaged() -> dict[str, Any]:
    import yaml

    found: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))["databases"]["catalog"]
    _count_ourselves(found["tables"])
    return found


def _count_ourselves(tables: dict[str, Any]) -> None:
    for table, facts in tables.items():
        if facts and facts.get("facets"):
            facts["facets"] = [ours(table, facet) for facet in facts["facets"]]


def _copy(value: dict[str, Any]) -> dict[str, Any]:
    """A copy as far as Datasette changes what it is given: the dictionaries.

    It asks hundreds of times for one page; copying everything was half of the time of that page.
    """
    return {key: _copy(part) if isinstance(part, dict) else part for key, part in value.items()}


def metadata_of(datasette: Datasette, name: str) -> dict[str, Any]:
    """The metadata of a catalog: `description_html`, `tables`, `queries`."""
    found = _copy(_packaged())
    # In the file the catalog is called `catalog`.
    database = datasette.urls.database(name)
    found["description_html"] = found["description_html"].replace('href="catalog/', f'href="{escape(database)}/')
    return found


def queries() -> dict[str, Any]:
    """The canned queries."""
    return _copy(_packaged()["queries"])


def for_old(datasette: Datasette, names: list[str]) -> dict[str, Any]:
    """The metadata of these databases, as the hook `get_metadata` of 0.65 gives it."""
    return {"databases": {name: metadata_of(datasette, name) for name in names}}


async def tune(datasette: Datasette) -> None:
    """Where nothing but catalogs is served: no time for facets that nobody asked for, more for those that are shown.

    Datasette looks at each of two dozen columns, three times, for facets to suggest, whenever a table
    is opened; our stylesheet does not show them. Its settings cannot be set by a plugin in any other way.
    """
    from datasette.app import DEFAULT_SETTINGS

    known = getattr(datasette, "_settings", {})
    catalogs = await access.catalogs(datasette)
    if catalogs and set(datasette.databases) <= {*catalogs, "_internal", "_memory"} and "suggest_facets" in known:
        known["suggest_facets"] = False
        if known["facet_time_limit_ms"] == DEFAULT_SETTINGS["facet_time_limit_ms"]:
            known["facet_time_limit_ms"] = _FACET_MILLISECONDS
    for given in (getattr(datasette, "_metadata_local", None), getattr(datasette, "config", None)):
        # What a user's own file asks for (ours, say, with -m) is counted in the same way.
        databases = (given or {}).get("databases") or {}
        for name in catalogs:
            _count_ourselves((databases.get(name) or {}).get("tables") or {})


async def for_new(datasette: Datasette) -> None:
    """Describe and configure the catalogs through the interfaces of Datasette 1.0."""
    for name in await access.catalogs(datasette):
        known = metadata_of(datasette, name)
        existing = await datasette.get_database_metadata(name)
        if "description_html" not in existing:
            await datasette.set_database_metadata(name, "description_html", known["description_html"])
        config = datasette.config.setdefault("databases", {}).setdefault(name, {})
        tables = config.setdefault("tables", {})
        for table, facts in known["tables"].items():
            for key in ("title", "description", "description_html"):
                if key in facts:
                    await datasette.set_resource_metadata(name, table, key, facts[key])
            for column, text in facts.get("columns", {}).items():
                await datasette.set_column_metadata(name, table, column, "description", text)
            own = tables.setdefault(table, {})
            for key in _CONFIGURED:
                if key in facts:
                    own.setdefault(key, copy.deepcopy(facts[key]))
        if hasattr(datasette, "add_query"):
            for query, facts in queries().items():
                if query not in config.get("queries", {}):
                    await datasette.add_query(
                        name, query, facts["sql"], title=facts.get("title"), description=facts.get("description"), is_trusted=True
                    )
