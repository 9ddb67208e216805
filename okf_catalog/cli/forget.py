"""`okf-catalog forget`: take bundles out of the catalog."""

from __future__ import annotations

import os
import sqlite3
from typing import Annotated

from okf_catalog.catalog import database, maintenance
from okf_catalog.catalog import sync as syncing
from okf_catalog.cli import completion, options, output, upkeep
from okf_catalog.cli.declared import Argument, Option
from okf_catalog.errors import UsageError
from okf_catalog.format import slugs


def forget(
    names: Annotated[list[str], Argument(metavar="NAME...", help="Bundles of the catalog: a name, @name, or the directory.", autocompletion=completion.bundles)],
    dry_run: Annotated[bool, Option("--dry-run", "-n", help="Say what would go; change nothing.")] = False,
    wait: upkeep.Wait = 60.0,
    as_json: options.Json = False,
    pretty: options.Pretty = False,
    db: options.Database = None,
) -> int:
    """Take bundles out of the catalog.

    Rows, words and history of a bundle go; its files and its name in the registry stay.
    Syncing the directory again brings it back, with new row ids.
    """
    path = options.database_path(db)
    connection = database.open_existing(path)
    with database.reported(path):
        known = [_bundle(connection, name) for name in dict.fromkeys(names)]
    results = []
    for bundle in dict.fromkeys(known):
        count = bundle.concept_count
        if not dry_run:
            count = maintenance.forget(connection, path, bundle, wait=upkeep.seconds(wait), on_wait=upkeep.waiting(path))
        results.append({"bundle": bundle.name, "root": bundle.root, "concepts": count})
    if as_json or pretty:
        output.dump_json({"catalog": path, "dry_run": dry_run, "forgotten": results}, pretty=pretty)
        return 0
    for result in results:
        said = "would forget" if dry_run else "forgot"
        print(f"{said} {result['bundle']}: {output.plural(int(str(result['concepts'])), 'concept')} ({output.one_line(str(result['root']))})")
    return 0


def _bundle(connection: sqlite3.Connection, name: str) -> syncing.Bundle:
    """The bundle of the catalog that a name or a directory means. Raises `UsageError`."""
    found = None
    # A name comes first; what looks like a path is one.
    if not name.startswith((".", "/", "~")):
        found = syncing.bundle_named(connection, slugs.normalize(name))
    if found is None and not name.startswith("@"):
        found = syncing.bundle_at(connection, os.path.expanduser(name))
    if found is None:
        there = ", ".join(bundle.name for bundle in syncing.bundles(connection)) or "none"
        raise UsageError(f"the catalog has no bundle {name} (it has: {there})")
    return found
