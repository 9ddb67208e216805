"""The hook by which other packages add search engines.

    from okf_catalog.search.hooks import implementation

    @implementation
    def register_search_engines():
        return [MyEngine()]

with an entry point in the group `okf_catalog` that names the module.
"""

from __future__ import annotations

from collections.abc import Iterable

import pluggy

from okf_catalog.search.engine import GROUP, Engine

specification = pluggy.HookspecMarker(GROUP)
implementation = pluggy.HookimplMarker(GROUP)


@specification
def register_search_engines() -> Iterable[Engine]:  # type: ignore[empty-body]
    """Return engines (see `okf_catalog.search.engine.Engine`) to be offered by `--engine` and by capability."""
