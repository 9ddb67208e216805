"""`okf-catalog sync`: make the catalog follow bundle directories."""

from __future__ import annotations

import os
from typing import Annotated

from okf_catalog import registry
from okf_catalog.catalog import database
from okf_catalog.catalog import sync as syncing
from okf_catalog.cli import completion, options, output, upkeep
from okf_catalog.cli.declared import Argument, Option
from okf_catalog.cli.sync_run import Run, Target
from okf_catalog.errors import BundleError, UsageError
from okf_catalog.format import slugs

FORMATS = ("text", "json", "ndjson")


def sync(
    directories: Annotated[list[str], Argument(metavar="DIR...", help="Bundle directories, or @name, @group, @all of registered or synced bundles.", autocompletion=completion.bundles)],
    name: Annotated[str | None, Option("--name", metavar="NAME", help="What to call a new bundle. [default: from its directory]", show_default=False)] = None,
    full: Annotated[bool, Option("--full", help="Hash every file, whatever its time stamp says.")] = False,
    allow_removals: Annotated[bool, Option("--allow-removals", help="Sync even if more than half of the concepts, or all of them, would be removed.")] = False,
    include_hidden: Annotated[bool | None, Option("--include-hidden/--no-include-hidden", help="Read hidden files and node_modules too (never .git); remembered for the bundle.", show_default=False)] = None,
    fresh_after: Annotated[str | None, Option("--fresh-after", metavar="DURATION", help="Leave out what was synced less than this ago, such as 15m.", show_default=False)] = None,
    jobs: Annotated[int, Option("--jobs", "-j", metavar="N", min=1, max=64, help="Look at so many bundles at once; they are still written one by one.")] = 1,
    watch: Annotated[bool, Option("--watch", "-w", help="Go on: sync again whenever files change, until stopped.")] = False,
    wait: upkeep.Wait = 60.0,
    dry_run: Annotated[bool, Option("--dry-run", "-n", help="Say what would change; change nothing.")] = False,
    strict: Annotated[bool, Option("--strict", help="Exit status 1 where a file or directory of a bundle cannot be used.")] = False,
    quiet: Annotated[bool, Option("--quiet", "-q", help="Say nothing but errors.")] = False,
    form: Annotated[str | None, Option("--format", metavar="NAME", help=f"{', '.join(FORMATS)} (a line a bundle, as soon as it is done).", show_default=False)] = None,
    as_json: options.Json = False,
    pretty: options.Pretty = False,
    report: Annotated[str | None, Option("--report", metavar="FILE", help="Also write what the run did as JSON to FILE, replacing it.", show_default=False)] = None,
    db: options.Database = None,
) -> int:
    """Make the catalog follow one or more bundles.

    The first sync of a directory enrols it. Files that did not change are not read again.
    Broken files are reported and do not fail the run. Exit status: 0 all bundles are synced
    or recent enough, 1 (--strict) files that cannot be used, 2 a bundle could not be synced;
    the others are synced all the same.
    """
    chosen = output.choose_format(form, as_json=as_json, pretty=pretty, default="text", formats=FORMATS)
    name = _checked_name(name, directories)
    if watch and (dry_run or fresh_after is not None):
        raise UsageError(f"--watch and {'--dry-run' if dry_run else '--fresh-after'} contradict each other")
    if watch and chosen == "json":
        raise UsageError("--watch has no end to print one JSON document at; use --format ndjson")
    path = options.database_path(db)
    settings = syncing.Options(full, allow_removals, include_hidden, upkeep.seconds(wait), dry_run, patient=jobs > 1)
    recent = upkeep.length("--fresh-after", fresh_after) if fresh_after is not None else None
    targets = _targets(directories, path, quiet=quiet)
    if not watch and not any(os.path.isdir(root) for root, _ in targets):
        root = targets[0][0]
        if len(targets) == 1 and not (chosen == "ndjson" or report):
            raise BundleError(f"{root} is not a directory" if os.path.exists(root) else f"{root} does not exist")
    run = Run(path, settings, name, recent, chosen, pretty=pretty, quiet=quiet, jobs=jobs, report=report, strict=strict)
    if watch:
        from okf_catalog.cli.watching import follow

        return follow(run, dict(targets))
    return run.all(targets)


def _checked_name(name: str | None, directories: list[str]) -> str | None:
    if name is None:
        return None
    if len(directories) > 1:
        raise UsageError("--name names one bundle; sync the directories one by one")
    normal = slugs.normalize(name)
    if not normal or normal == slugs.RESERVED:
        raise UsageError(f"--name {name}: a name has letters or digits, and is not `{slugs.RESERVED}`")
    return normal


def _targets(arguments: list[str], path: str, *, quiet: bool) -> list[Target]:
    """(directory, slug in the registry) of everything that the arguments name, each directory once."""
    found: dict[str, str | None] = {}
    registered: registry.View | None = None
    for argument in arguments:
        if registry.is_ref(argument):
            for root, slug in _references(argument, path, quiet=quiet):
                found.setdefault(root, slug)
            continue
        root = options.directory(argument)
        if registered is None:
            registered = _registry()
        ref = registered.at(os.path.abspath(root)) if registered else None
        found.setdefault(root, ref.slug if ref else None)
    return list(found.items())


def _registry() -> registry.View | None:
    """The registry, where it can be read: a broken one is no reason not to sync a directory."""
    try:
        return registry.open_view()
    except registry.RegistryError as problem:
        output.note(str(problem))
        return None


def _references(argument: str, path: str, *, quiet: bool) -> list[Target]:
    """What `@name`, `@group` or `@all` leads to; `@all` means what the registry names and what the catalog holds."""
    slug = slugs.normalize(argument)
    known = _catalogued(path)
    if slug == slugs.RESERVED and not registry.open_view().bundles and known:
        return [(root, None) for root in known.values()]
    try:
        resolution = registry.resolve_many([argument])
    except registry.UnknownRefError:
        if slug in known:
            return [(known[slug], None)]
        raise
    for remark in resolution.notes if not quiet else ():
        output.note(remark)
    found: list[Target] = [(ref.path, ref.slug) for ref in resolution.refs]
    if slug == slugs.RESERVED:
        there = {os.path.realpath(root) for root, _ in found}
        found += [(root, None) for root in known.values() if os.path.realpath(root) not in there]
    return found


def _catalogued(path: str) -> dict[str, str]:
    """Name to directory of the bundles in the catalog; none where there is no catalog."""
    if not database.exists(path):
        return {}
    connection = database.open_existing(path)
    with database.reported(path):
        known = {bundle.name: bundle.root for bundle in syncing.bundles(connection)}
    connection.close()
    return known
