"""`okf-catalog version`."""

from __future__ import annotations

from typing import Annotated

from okf_catalog import __version__
from okf_catalog.cli.declared import Argument


def version(
    rest: Annotated[list[str] | None, Argument(hidden=True)] = None,  # noqa: ARG001  # ignored, as asked
) -> int:
    """Print the version."""
    print(__version__)
    return 0
