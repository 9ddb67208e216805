"""`okf-catalog snapshot`: a copy of the catalog to publish or keep."""

from __future__ import annotations

import os
from typing import Annotated

from okf_catalog.catalog import database, maintenance
from okf_catalog.cli import options, output, upkeep
from okf_catalog.cli.declared import Argument, Option


def snapshot(
    file: Annotated[str, Argument(metavar="FILE", help="Where to write the copy.")],
    force: Annotated[bool, Option("--force", "-f", help="Replace FILE if it exists.")] = False,
    keep_roots: Annotated[bool, Option("--keep-roots", help="Keep the directories of the bundles: for a backup, not for publishing.")] = False,
    as_json: options.Json = False,
    pretty: options.Pretty = False,
    db: options.Database = None,
) -> int:
    """Write a consistent copy of the catalog, while it is in use.

    The copy is compact, has no write-ahead log and does not say where the bundles lie on this
    machine: `datasette -i FILE` serves it, from a read-only disk too. FILE appears complete
    or not at all, so a schedule may replace (`--force`) a copy that is being served.
    """
    path = options.database_path(db)
    target = os.path.expanduser(file)
    connection = database.open_existing(path, read_only=True)
    size = maintenance.snapshot(connection, path, target, replace=force, keep_roots=keep_roots)
    if as_json or pretty:
        output.dump_json({"catalog": path, "snapshot": os.path.abspath(target), "bytes": size}, pretty=pretty)
    else:
        print(f"{output.one_line(target)}: {upkeep.size(size)}")
    return 0
