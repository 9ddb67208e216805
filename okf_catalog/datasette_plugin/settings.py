"""What `datasette-metadata.yml` says, for every catalog whatever its file is called, in both versions of Datasette."""

from __future__ import annotations

import copy
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from okf_catalog.datasette_plugin import access

if TYPE_CHECKING:
    from datasette.app import Datasette

FILE = Path(__file__).parent / "datasette-metadata.yml"
"""The same text as the file at the top of the repository."""
_CONFIGURED = ("facets", "sort", "sort_desc", "size", "sortable_columns", "label_column", "hidden", "fts_table", "fts_pk",
               "searchmode", "facet_size")  # fmt: skip
"""Keys of a table that are configuration, not description, in Datasette 1.0."""


@lru_cache(maxsize=1)
def packaged() -> dict[str, Any]:
    """The metadata of a catalog: `description_html`, `tables`, `queries`."""
    import yaml

    found: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))["databases"]["catalog"]
    return found


def queries() -> dict[str, Any]:
    """The canned queries."""
    return copy.deepcopy(packaged()["queries"])


def for_old(names: list[str]) -> dict[str, Any]:
    """The metadata of these databases, as the hook `get_metadata` of 0.65 gives it."""
    return {"databases": {name: copy.deepcopy(packaged()) for name in names}}


async def for_new(datasette: Datasette) -> None:
    """Describe and configure the catalogs through the interfaces of Datasette 1.0."""
    for name in await access.catalogs(datasette):
        known = packaged()
        existing = await datasette.get_database_metadata(name)
        if "description_html" not in existing:
            await datasette.set_database_metadata(name, "description_html", known["description_html"])
        config = datasette.config.setdefault("databases", {}).setdefault(name, {})
        tables = config.setdefault("tables", {})
        for table, facts in known["tables"].items():
            for key in ("title", "description"):
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
