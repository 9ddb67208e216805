"""The hook by which other packages add checks to `lint`.

    from okf_catalog.checks.check import INFO, Check, Found
    from okf_catalog.checks.hooks import implementation

    def long_title(subject):
        rows = subject.rows("select path, length(title) from concepts where bundle = :bundle and length(title) > 80")
        return [Found(path, f"the title has {length} characters") for path, length in rows]

    @implementation
    def register_checks():
        return [Check("long_title", INFO, "House style", "A title has to fit into a table.", long_title)]

with an entry point in the group `okf_catalog` that names the module. Such checks run with
`lint --extended`, or by name with `--only`.
"""

from __future__ import annotations

from collections.abc import Iterable

import pluggy

from okf_catalog.checks.check import GROUP, Check

specification = pluggy.HookspecMarker(GROUP)
implementation = pluggy.HookimplMarker(GROUP)


@specification
def register_checks() -> Iterable[Check]:  # type: ignore[empty-body]
    """Return checks (see `okf_catalog.checks.check.Check`) for `lint --extended`."""
