"""Cells of the table pages: titles lead to the pages of concepts, tags and tiers are seen at a glance."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from markupsafe import Markup, escape

from okf_catalog.datasette_plugin import access

if TYPE_CHECKING:
    from datasette.app import Datasette

_BADGES = {"trust_tier", "trust_current", "effective_status", "status", "level"}
_TABLES = {"catalog", "concepts", "problems", "parse_errors"}
_PATHS = {"path", "title"}


def cell(row: Any, value: Any, column: str, table: str | None, database: str, datasette: Datasette) -> Markup | None:
    """The HTML of a cell, None where Datasette's own will do."""
    if table not in _TABLES or value is None:
        return None
    names = set(row.keys()) if hasattr(row, "keys") else set()
    if column in _PATHS and {"bundle", "path"} <= names:
        bundle = row["bundle"]
        if isinstance(bundle, dict):  # a foreign key with its label
            bundle = bundle["value"]
        return Markup('<a href="{}">{}</a>').format(access.place(datasette, database, bundle, row["path"]), value)
    if column == "tags" and isinstance(value, str):
        return _chips(value, datasette, database, table)
    if column in _BADGES:
        return Markup('<span class="okf-badge okf-{}">{}</span>').format(quote(str(value), safe=""), value)
    if column == "is_stale":
        return Markup('<span class="okf-badge okf-stale">stale</span>') if value else Markup('<span class="okf-fresh">–</span>')
    return None


def _chips(value: str, datasette: Datasette, database: str, table: str) -> Markup | None:
    try:
        tags = json.loads(value)
    except ValueError:
        return None
    if not isinstance(tags, list):
        return None
    base = datasette.urls.table(database, table)
    return Markup(" ").join(
        Markup('<a class="okf-chip" href="{}?_tag={}">{}</a>').format(base, quote(str(tag), safe=""), escape(tag))
        for tag in tags
    )
