"""What a sync did, for people and for programs."""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from datetime import datetime
from typing import Any, NamedTuple

from okf_catalog import __version__
from okf_catalog.catalog.sync import Report
from okf_catalog.cli import output
from okf_catalog.cli.sink import sink_for
from okf_catalog.errors import BundleError, BusyError, CatalogError, DatabaseError, GuardError
from okf_catalog.format.durations import age
from okf_catalog.format.values import utc_text

SHOWN = 40
"""Lines of each kind of change that people are shown."""
_KINDS = ((BusyError, "busy"), (GuardError, "refused"), (BundleError, "bundle"), (DatabaseError, "catalog"))


class Outcome(NamedTuple):
    """What became of one bundle: a report, an error, or the age of a sync that is recent enough."""

    root: str
    report: Report | None = None
    error: CatalogError | None = None
    recent: tuple[str, float] | None = None
    """(bundle, seconds since its last sync)."""
    seconds: float = 0.0

    @property
    def is_flawed(self) -> bool:
        """True where files or directories of the bundle cannot be used."""
        return self.report is not None and bool(self.report.parse_errors or self.report.unreadable)


def kind_of(problem: CatalogError) -> str:
    """A word for an error that a scheduler can act on: `busy`, `refused`, `bundle`, `catalog`, `usage`."""
    return next((kind for known, kind in _KINDS if isinstance(problem, known)), "usage")


def as_json(outcome: Outcome) -> dict[str, Any]:
    """The outcome as one JSON object."""
    if outcome.error is not None:
        return {"root": outcome.root, "error": str(outcome.error), "kind": kind_of(outcome.error)}
    if outcome.recent is not None:
        return {"bundle": outcome.recent[0], "root": outcome.root, "skipped": True, "age_seconds": round(outcome.recent[1])}
    assert outcome.report is not None  # noqa: S101  # one of the three is there
    return _report(outcome.report)


def _report(report: Report) -> dict[str, Any]:
    return {
        "bundle": report.bundle, "root": report.root, "sync_id": report.sync_id, "dry_run": report.dry_run,
        "new": report.is_new, "concepts": report.concepts, "parse_errors": report.parse_errors,
        "counts": {
            "added": len(report.added), "changed": len(report.changed), "moved": len(report.moved),
            "removed": len(report.removed), "failed": len(report.failed), "unchanged": report.unchanged,
            "skipped_hidden": report.skipped.hidden, "skipped_ignored": report.skipped.ignored,
        },
        "added": [] if report.is_new else report.added,
        "changed": [{"path": path, "fields": fields} for path, fields in report.changed.items()],
        "moved": [{"from": old, "to": new} for old, new in report.moved],
        "removed": report.removed,
        "failed": [
            {"path": path, "code": failure.code, "line": failure.line, "column": failure.column,
             "message": failure.message, "advice": failure.advice}
            for path, failure in report.failed
        ],
        "broken": report.broken,
        "repaired": report.repaired,
        "unreadable": [{"dir": place.path, "reason": place.reason} for place in report.unreadable],
    }  # fmt: skip


def show(outcome: Outcome) -> None:
    """The outcome for people: a line for each change, a line that counts."""
    if outcome.recent is not None:
        print(f"{outcome.recent[0]}: synced {age(outcome.recent[1])} ago, left as it is")
    if outcome.report is None:
        return
    report = outcome.report
    out = sys.stdout.write
    if not report.is_new:
        _lines("+", report.added)
        _lines("~", [f"{path}{_fields(fields)}" for path, fields in report.changed.items()])
        _lines(">", [f"{old} → {new}" for old, new in report.moved])
        _lines("-", report.removed)
    _lines("!", [_failure(path, failure) for path, failure in report.failed])
    _lines("*", [f"{path} is repaired" for path in report.repaired])
    counts = [
        ("+", len(report.added), "added"), ("~", len(report.changed), "changed"), (">", len(report.moved), "moved"),
        ("-", len(report.removed), "removed"), ("!", len(report.failed), "failed"),
    ]  # fmt: skip
    said = "  ".join(f"{sign} {count} {word}" for sign, count, word in counts if count) or "nothing changed"
    if report.broken:
        said += f"  ({output.plural(len(report.broken), 'concept')} broke)"
    if report.repaired:
        said += f"  * {len(report.repaired)} repaired"
    prefix = "would be: " if report.dry_run else ""
    out(f"{report.bundle}: {prefix}{said}\n")
    state = output.plural(report.concepts, "concept")
    if report.parse_errors:
        state += f", {output.plural(report.parse_errors, 'broken file')}"
    skipped = []
    if report.skipped.hidden:
        skipped.append(f"{report.skipped.hidden} hidden or vendored")
    if report.skipped.ignored:
        skipped.append(f"{report.skipped.ignored} named by .okfignore")
    out(f"  {state}{'; left out: ' + ', '.join(skipped) if skipped else ''}\n")
    if report.concepts == 0 and report.parse_errors == 0:
        output.note(f"{report.root} holds no markdown files that could be concepts")
    for place in report.unreadable:
        output.note(f"cannot list {place.path}: {place.reason}; what the catalog holds of it is kept")


def _failure(path: str, failure: Any) -> str:
    place = f":{failure.line}" if failure.line else ""
    return f"{path}{place}  {failure.message}; {failure.advice}"


def _fields(fields: list[str]) -> str:
    return f"  ({', '.join(fields)})" if fields else ""


def _lines(sign: str, lines: list[str]) -> None:
    for line in lines[:SHOWN]:
        print(f"  {sign} {output.one_line(line)}")
    if len(lines) > SHOWN:
        print(f"  {sign} … and {len(lines) - SHOWN} more")


def write_run(path: str, catalog: str, outcomes: list[Outcome], started: datetime, finished: datetime, status: int) -> None:
    """Write the report of a whole run as one JSON file, complete or not at all. Raises `UsageError`."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    run = {
        "okf_catalog": __version__, "catalog": catalog, "pid": os.getpid(), "started_at": utc_text(started),
        "finished_at": utc_text(finished), "seconds": round((finished - started).total_seconds(), 3),
        "cpu_seconds": round(time.process_time(), 3),
        "max_rss_bytes": usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024),
        "status": status, "failed": sum(1 for outcome in outcomes if outcome.error is not None),
        "skipped": sum(1 for outcome in outcomes if outcome.recent is not None),
        "syncs": [{**as_json(outcome), "seconds": round(outcome.seconds, 3)} for outcome in outcomes],
    }  # fmt: skip
    with sink_for(path) as file:
        json.dump(run, file, ensure_ascii=False, indent=2)
        file.write("\n")
