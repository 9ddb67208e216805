"""`okf-catalog doctor`: is the catalog sound, and what to do where it is not."""

from __future__ import annotations

from typing import Annotated, Any

from okf_catalog.catalog import database
from okf_catalog.catalog.doctor import ERROR, NOTE, OK, WARNING, Finding, examine
from okf_catalog.catalog.repair import repair as mend
from okf_catalog.catalog.sync import system_clock
from okf_catalog.cli import options, output, upkeep
from okf_catalog.cli.declared import Option

_MARKS = {OK: "✓", NOTE: "·", WARNING: "!", ERROR: "✗"}


def doctor(
    repair: Annotated[bool, Option("--repair", help="Make anew what is wrong; the files of the bundles are never touched.")] = False,
    full: Annotated[bool, Option("--full", help="Also build every bundle afresh and compare all rows; takes as long as a first sync.")] = False,
    wait: upkeep.Wait = 60.0,
    as_json: options.Json = False,
    pretty: options.Pretty = False,
    db: options.Database = None,
) -> int:
    """Examine the catalog: the file, its search index, and what must hold between its tables.

    Exit status 1 where something is wrong. `--repair` makes anew what is derived, which is
    everything but row ids and the history of syncs; where the file itself is damaged it is
    built anew from the bundles, and the old one kept beside it.
    """
    path = options.database_path(db)
    connection = database.open_existing(path)
    with database.reported(path):
        found = list(examine(connection, path, clock=system_clock, full=full))
    done: list[str] = []
    if repair and any(finding.repair for finding in found):
        done = mend(connection, path, found, clock=system_clock, wait=upkeep.seconds(wait))
        connection = database.open_existing(path)
        with database.reported(path):
            found = list(examine(connection, path, clock=system_clock, full=full))
    connection.close()
    sound = not any(finding.level == ERROR for finding in found)
    if as_json or pretty:
        output.dump_json({"catalog": path, "sound": sound, "repaired": done, "checks": [_json(each) for each in found]}, pretty=pretty)
    else:
        _print(found, done, repairs=repair)
    return 0 if sound else 1


def _json(finding: Finding) -> dict[str, Any]:
    return {
        "check": finding.check, "level": finding.level, "message": finding.message, "examples": finding.examples,
        "bundles": list(finding.bundles), "repairable": finding.repair is not None,
    }  # fmt: skip


def _print(found: list[Finding], done: list[str], *, repairs: bool) -> None:
    for words in done:
        print(f"repaired: {output.one_line(words)}")
    for finding in found:
        print(f"{_MARKS[finding.level]} {finding.check}: {output.one_line(finding.message)}")
        for example in finding.examples:
            print(f"    {output.one_line(example)}")
    errors = sum(1 for finding in found if finding.level == ERROR)
    if not errors:
        print("The catalog is sound.")
    elif repairs:
        print(f"{output.plural(errors, 'error')} could not be repaired.")
    else:
        print(f"{output.plural(errors, 'error')}; okf-catalog doctor --repair makes anew what is wrong.")
