"""`okf-catalog version`."""

from __future__ import annotations

from typing import Annotated

import typer

from okf_catalog import __version__


def version(
    rest: Annotated[list[str] | None, typer.Argument(hidden=True)] = None,  # noqa: ARG001  # ignored, as asked
) -> int:
    """Print the version."""
    print(__version__)
    return 0
