"""`okf-catalog compact`: a smaller and faster catalog file."""

from __future__ import annotations

from typing import Annotated

from okf_catalog.catalog import database, maintenance
from okf_catalog.catalog.sync import system_clock
from okf_catalog.cli import options, output, upkeep
from okf_catalog.cli.declared import Option
from okf_catalog.format.values import utc_text


def compact(
    keep_history: Annotated[str | None, Option("--keep-history", metavar="DURATION", help="Also drop what syncs changed longer ago than this, such as 90d.", show_default=False)] = None,
    wait: upkeep.Wait = 60.0,
    as_json: options.Json = False,
    pretty: options.Pretty = False,
    db: options.Database = None,
) -> int:
    """Make the catalog file compact.

    Merges the search index, gives free pages back to the disk and folds the write-ahead log
    into the file. Readers are not disturbed; the disk needs room for the file once more.
    """
    path = options.database_path(db)
    before = None
    if keep_history is not None:
        before = utc_text(system_clock() - upkeep.length("--keep-history", keep_history))
    connection = database.open_existing(path)
    done = maintenance.compact(
        connection, path, wait=upkeep.seconds(wait), on_wait=upkeep.waiting(path), before=before
    )
    if as_json or pretty:
        output.dump_json(
            {"catalog": path, "bytes_before": done.before, "bytes_after": done.after, "runs_dropped": done.runs_dropped},
            pretty=pretty,
        )
        return 0
    print(f"{output.one_line(path)}: {upkeep.size(done.before)} before, {upkeep.size(done.after)} now")
    if done.runs_dropped:
        print(f"  {output.plural(done.runs_dropped, 'sync')} of the history dropped")
    return 0
