"""Options that several verbs share, and the way from a bundle argument to a bundle."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Annotated, NamedTuple

from okf_catalog.catalog import database
from okf_catalog.catalog.filters import Filters
from okf_catalog.catalog.freshness import View, view_bundle, view_directory
from okf_catalog.catalog.sync import system_clock
from okf_catalog.cli import completion, output
from okf_catalog.cli.declared import Argument, Option
from okf_catalog.errors import BundleError, CatalogError, StaleError, UsageError
from okf_catalog.format import slugs
from okf_catalog.format.trust import TIERS
from okf_catalog.format.values import clock_instant, utc_text
from okf_catalog.format.vocabulary import STATUSES

Database = Annotated[str | None, Option("--db", metavar="FILE", help="The catalog file. [default: $OKF_CATALOG_DB, else ~/.okf/catalog.db]", show_default=False)]
Json = Annotated[bool, Option("--json", help="One JSON document on one line.")]
Pretty = Annotated[bool, Option("--pretty", help="Indented JSON.")]
Format = Annotated[str | None, Option("--format", metavar="NAME", help=f"{', '.join(output.FORMATS)}.", show_default=False)]
Fields = Annotated[str | None, Option("--fields", metavar="LIST", help="Only these columns, separated by commas.", show_default=False)]
Except = Annotated[str | None, Option("--except", metavar="LIST", help="All columns but these.", show_default=False)]
NoSync = Annotated[bool, Option("--no-sync", help="Answer from the catalog as it is; do not look at the files.")]
AsOf = Annotated[str | None, Option("--as-of", metavar="INSTANT", help="Judge staleness at this moment; a bare date means the end of that day.", show_default=False)]
BundleArgument = Annotated[str | None, Argument(metavar="[BUNDLE]", help="A directory, or @name of a registered or synced bundle. [default: $OKF_DEFAULT_BUNDLE_DIR, else the registry's]", show_default=False, autocompletion=completion.bundles)]

ConceptArgument = Annotated[str, Argument(metavar="PATH-OR-ID", help="A path in the bundle, its id (the path without .md), or a file on disk.", autocompletion=completion.concepts)]
InBundle = Annotated[str | None, Option("--bundle", "-b", metavar="BUNDLE", help="Look only there: a directory or @name. [default: all bundles of the catalog]", show_default=False, autocompletion=completion.bundles)]
Limit = Annotated[int | None, Option("--limit", metavar="N", min=0, help="Show at most N.", show_default=False)]
Offset = Annotated[int, Option("--offset", metavar="N", min=0, help="Leave out the first N.", show_default=False)]

# Filters. All can be repeated; values of one option are alternatives.
List = list[str] | None
Types = Annotated[List, Option("--type", metavar="TYPE", help="Of this type, whatever its case. Repeatable: any of them.", show_default=False, autocompletion=completion.types)]
Tags = Annotated[List, Option("--tag", metavar="TAG", help="With this tag.", show_default=False, autocompletion=completion.tags)]
Statuses = Annotated[List, Option("--status", metavar="STATUS", help="Of this status; a concept without one is stable.", show_default=False, autocompletion=lambda: list(STATUSES))]
Trusts = Annotated[List, Option("--trust", "--trust-tier", metavar="TIER", help="Of this trust tier.", show_default=False, autocompletion=lambda: list(TIERS))]
StaleOnly = Annotated[bool, Option("--stale-only", help="Only what is past its stale_after.")]
Dirs = Annotated[List, Option("--dir", metavar="DIR", help="In this directory or below; `.` is the root alone.", show_default=False)]
Area = Annotated[List, Option("--area", metavar="NAME", help="Deprecated: use --dir.", show_default=False, hidden=True)]
NotTypes = Annotated[List, Option("--not-type", metavar="TYPE", help="Not of this type.", show_default=False, autocompletion=completion.types)]
NotTags = Annotated[List, Option("--not-tag", metavar="TAG", help="Without this tag.", show_default=False, autocompletion=completion.tags)]
NotStatuses = Annotated[List, Option("--not-status", metavar="STATUS", help="Not of this status.", show_default=False)]


Depth = Annotated[str | None, Option("--depth", metavar="N", help="At most N levels below each --dir, or below the root.", show_default=False)]
Ancestors = Annotated[bool, Option("--ancestors/--no-ancestors", help="With the directories on the way to each --dir.")]


def tiers(values: List) -> tuple[str, ...]:
    """Trust tiers as the catalog spells them."""
    return tuple(value.lower().replace("_", "-") for value in values or ())


def filters(
    *, types: List = None, tags: List = None, statuses: List = None, trusts: Sequence[str] = (), stale_only: bool = False,
    dirs: List = None, area: List = None, not_types: List = None, not_tags: List = None, not_statuses: List = None,
) -> Filters:  # fmt: skip
    """The filters that the options above ask for."""
    if area:
        output.warning("--area is deprecated, use --dir")
    return Filters(
        types=tuple(types or ()), tags=tuple(tags or ()), statuses=tuple(statuses or ()), trust_tiers=tuple(trusts),
        stale_only=stale_only, dirs=tuple(dirs or ()), top_dirs=tuple(area or ()), not_types=tuple(not_types or ()),
        not_tags=tuple(not_tags or ()), not_statuses=tuple(not_statuses or ()),
    )  # fmt: skip


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
    """The directory that a bundle argument names. Raises `UsageError` where nothing names one.

    Without an argument: `$OKF_DEFAULT_BUNDLE_DIR`, else the registry's default.
    """
    if not argument:
        default = os.environ.get("OKF_DEFAULT_BUNDLE_DIR")
        if default:
            return os.path.expanduser(default)
        from okf_catalog import registry

        registered = registry.open_view().default
        if registered is None or registered.is_missing:
            raise UsageError(
                "name a bundle: a directory or @name; or set OKF_DEFAULT_BUNDLE_DIR; "
                "or register one (okf-catalog registry set DIR)"
            )
        return registered.path
    base = os.environ.get("OKF_DEFAULT_DIR")
    if argument.startswith("~"):
        return os.path.expanduser(argument)
    if base and not os.path.isabs(argument) and not argument.startswith("."):
        return os.path.join(os.path.expanduser(base), argument)
    return argument


class Opened(NamedTuple):
    """A bundle, ready to be asked, under the identity by which the caller named it."""

    view: View
    directory: str
    """The directory as typed, or the absolute one of a reference."""
    slug: str | None
    """The name, where the caller used one."""

    @property
    def head(self) -> dict[str, str]:
        """The first keys of a JSON answer: `bundle` is a directory, `slug` a name."""
        return {"bundle": self.directory} if self.slug is None else {"bundle": self.directory, "slug": self.slug}

    @property
    def label(self) -> str:
        """What headings for people call the bundle."""
        return self.directory if self.slug is None else f"@{self.slug} ({self.directory})"


def open_bundle(argument: str | None, db: str | None, *, no_sync: bool = False) -> Opened:
    """The bundle that an argument names, refreshed. Prints the notes.

    Raises `UsageError`, `BundleError`, `DatabaseError`, and the registry's errors.
    """
    path = database_path(db)
    slug: str | None = None
    if argument and argument.startswith("@"):
        from okf_catalog import registry

        try:
            ref = registry.resolve_one(argument)
        except registry.UnknownRefError as unknown:
            # Synced but never registered: the catalog has a name of its own for it.
            try:
                view = view_bundle(slugs.normalize(argument), path, clock=system_clock, refresh=not no_sync)
            except StaleError:
                raise
            except CatalogError:
                raise unknown from None
            label, slug = view.bundle.root, view.bundle.name
        else:
            view = view_directory(ref.path, path, clock=system_clock, refresh=not no_sync)
            label, slug = ref.path, ref.slug
    else:
        label = directory(argument)
        if os.path.exists(label) and not os.path.isdir(label):
            raise BundleError(f"{label} is a file, not a directory; name the bundle's directory")
        if not os.path.isdir(label):
            raise BundleError(f"{label} is not a directory (nor @name of a registered or synced bundle)")
        view = view_directory(label, path, clock=system_clock, refresh=not no_sync)
    for remark in view.notes:
        output.note(remark)
    return Opened(view, label, slug)
