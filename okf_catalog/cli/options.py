"""Options that several verbs share, and the way from a bundle argument to a bundle."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from okf_catalog.catalog import database
from okf_catalog.catalog.freshness import View, view_bundle, view_directory
from okf_catalog.catalog.sync import system_clock
from okf_catalog.cli import output
from okf_catalog.errors import BundleError, UsageError
from okf_catalog.format.values import clock_instant, utc_text

Database = Annotated[str | None, typer.Option("--db", metavar="FILE", help="The catalog file. [default: $OKF_CATALOG_DB, else ~/.okf/catalog.db]", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on one line.")]
Pretty = Annotated[bool, typer.Option("--pretty", help="Indented JSON.")]
Format = Annotated[str | None, typer.Option("--format", metavar="NAME", help=f"{', '.join(output.FORMATS)}.", show_default=False)]
Fields = Annotated[str | None, typer.Option("--fields", metavar="LIST", help="Only these columns, separated by commas.", show_default=False)]
Except = Annotated[str | None, typer.Option("--except", metavar="LIST", help="All columns but these.", show_default=False)]
NoSync = Annotated[bool, typer.Option("--no-sync", help="Answer from the catalog as it is; do not look at the files.")]
AsOf = Annotated[str | None, typer.Option("--as-of", metavar="INSTANT", help="Judge staleness at this moment; a bare date means the end of that day.", show_default=False)]
BundleArgument = Annotated[str | None, typer.Argument(metavar="[BUNDLE]", help="A directory, or @name of a bundle in the catalog.", show_default=False)]


def database_path(chosen: str | None) -> str:
    """The catalog file of this call."""
    return os.path.expanduser(chosen) if chosen else database.default_path()


def moment(as_of: str | None) -> str:
    """The moment of judgement, `YYYY-MM-DDTHH:MM:SSZ`: `--as-of`, else now. Raises `UsageError`."""
    if as_of is None:
        return utc_text(system_clock())
    found = clock_instant(as_of)
    if found is None:
        raise UsageError(f"--as-of {as_of}: write a date (2027-01-01) or an instant (2027-01-01T12:00:00Z)")
    return found


def directory(argument: str | None) -> str:
    """The directory that a bundle argument names (DESIGN §7). Raises `UsageError` where there is no argument."""
    if not argument:
        default = os.environ.get("OKF_DEFAULT_BUNDLE_DIR")
        if not default:
            raise UsageError(
                "name a bundle: a directory, @name of a bundle in the catalog, or set OKF_DEFAULT_BUNDLE_DIR"
            )
        return os.path.expanduser(default)
    base = os.environ.get("OKF_DEFAULT_DIR")
    if argument.startswith("~"):
        return os.path.expanduser(argument)
    if base and not os.path.isabs(argument) and not argument.startswith("."):
        return os.path.join(os.path.expanduser(base), argument)
    return argument


def open_bundle(argument: str | None, db: str | None, *, no_sync: bool = False) -> tuple[View, str]:
    """The bundle that an argument names, refreshed, and the words by which the answer calls it.

    Prints the notes. Raises `UsageError`, `BundleError`, `DatabaseError`.
    """
    path = database_path(db)
    if argument and argument.startswith("@"):
        view = view_bundle(argument[1:], path, clock=system_clock, refresh=not no_sync)
        label = view.bundle.root
    else:
        label = directory(argument)
        if os.path.exists(label) and not os.path.isdir(label):
            raise BundleError(f"{label} is a file, not a directory; name the bundle's directory")
        if not os.path.isdir(label):
            raise BundleError(f"{label} is not a directory (and not @name of a bundle in the catalog)")
        view = view_directory(label, path, clock=system_clock, refresh=not no_sync)
    for remark in view.notes:
        output.note(remark)
    return view, label
