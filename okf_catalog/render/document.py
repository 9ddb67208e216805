"""The HTML document: one template, our styles and scripts, the drawing library, and the data of a bundle."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import sqlite3
from collections.abc import Iterator
from importlib.resources import files
from string import Template
from typing import Any, NamedTuple

from okf_catalog import __version__
from okf_catalog.errors import UsageError
from okf_catalog.render.entries import entries
from okf_catalog.views import pages
from okf_catalog.views.body_html import is_safe_address

_SCRIPTS = ("base.js", "search.js", "list.js", "file.js", "graph.js", "main.js")
"""In the order in which they build on each other; they become one script."""
_LIBRARY = "datasette_plugin/static/cytoscape.min.js"
"""One copy for both: Datasette serves only what lies in its plugin."""
MOST_FILES = 20_000
MOST_BYTES = 64 * 1024 * 1024
"""What a browser opens within seconds; a page has each text twice, as written and laid out."""
MANY_FILES = 5_000
MANY_BYTES = 16 * 1024 * 1024
"""From here on a page takes a few seconds to open."""


class Options(NamedTuple):
    """What a caller may choose."""

    title: str
    link: str | None = None
    """Where the bundle comes from, shown beside the title."""
    layout: str | None = None
    """One of `views.drawing.LAYOUTS`; None takes what suits the number of concepts."""
    as_map: bool = False
    """Begin with the map: a box around each directory, the links of what is chosen."""


def weigh(connection: sqlite3.Connection, bundle: str) -> tuple[pages.Size, bool]:
    """The size of a bundle, and whether its page will be slow to open. Raises `UsageError` where it is too large for one."""
    size = pages.size(connection, bundle)
    if size.files > MOST_FILES or size.bytes > MOST_BYTES:
        raise UsageError(
            f"{bundle} is too large for one page: {size.files:,} files, {size.bytes / 1024**2:,.0f} MiB of text, where a browser "
            f"copes with {MOST_FILES:,} and {MOST_BYTES // 1024**2}; okf-catalog server shows bundles of any size"
        )
    return size, size.files > MANY_FILES or size.bytes > MANY_BYTES


def document(connection: sqlite3.Connection, bundle: str, options: Options) -> Iterator[str]:
    """The page, piece by piece; no more than one body is in memory."""
    here = files("okf_catalog.render") / "page"
    style = (here / "page.css").read_text("utf-8")
    parts = [(here / name).read_text("utf-8") for name in _SCRIPTS]
    script = "(() => {\n" + '"use strict";\n' + "".join(parts) + "})();\n"
    library = files("okf_catalog").joinpath(_LIBRARY).read_text("utf-8")
    settings = {
        "title": options.title, "layout": options.layout, "map": options.as_map,
        "synced_at": pages.synced_at(connection, bundle), "version": __version__,
    }  # fmt: skip
    # Nothing runs and nothing is fetched but what is named here: the last word if all else failed.
    policy = (
        f"default-src 'none'; script-src {_hash(library)} {_hash(script)}; style-src {_hash(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    source = options.link or ""
    is_address = is_safe_address(source)
    text = html.escape(source)
    head, tail = (here / "page.html").read_text("utf-8").split("$data")
    values = {
        "title": html.escape(options.title), "policy": policy, "style": style, "library": library, "script": script,
        "source": f'<a href="{text}" rel="noopener noreferrer">{text}</a>' if is_address else text,
        "address": f'<meta property="og:url" content="{text}">' if is_address else "",
        "generator": f"okf-catalog {__version__}", "settings": _json(settings),
    }  # fmt: skip
    yield Template(head).substitute(values)
    for facts, details in entries(connection, bundle):
        # Two elements: lists and the graph do not wait for the reading of all bodies.
        yield f'<script type="application/json" class="facts">{_json(facts)}</script>\n'
        yield f'<script type="application/json" class="details">{_json(details)}</script>\n'
    yield Template(tail).substitute(values)


_PAGE_MARK = b'<meta name="generator" content="okf-catalog '


def is_page(path: str) -> bool:
    """True for a file that begins as the pages do that are made here: it may be written over."""
    with open(path, "rb") as file:
        return _PAGE_MARK in file.read(4096)


def _json(value: Any) -> str:
    """JSON that cannot end the element that it stands in, nor begin a comment there."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
