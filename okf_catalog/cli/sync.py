"""`okf-catalog sync`: make the catalog follow bundle directories."""

from __future__ import annotations

import os
import sys
import time
from typing import Annotated, Any

import typer

from okf_catalog import registry
from okf_catalog.catalog import database
from okf_catalog.catalog import sync as syncing
from okf_catalog.cli import completion, options, output
from okf_catalog.errors import BundleError, UsageError
from okf_catalog.format import slugs

_SHOWN = 40
"""Lines of each kind of change that people are shown."""
_PROGRESS_FROM = 500
"""Files from which on a progress bar is worth its import."""


def sync(
    directories: Annotated[list[str], typer.Argument(metavar="DIR...", help="Bundle directories, or @name, @group, @all of registered or synced bundles.", autocompletion=completion.bundles)],
    name: Annotated[str | None, typer.Option("--name", metavar="NAME", help="What to call a new bundle. [default: from its directory]", show_default=False)] = None,
    full: Annotated[bool, typer.Option("--full", help="Hash every file, whatever its time stamp says.")] = False,
    allow_removals: Annotated[bool, typer.Option("--allow-removals", help="Sync even if more than half of the concepts, or all of them, would be removed.")] = False,
    include_hidden: Annotated[bool | None, typer.Option("--include-hidden/--no-include-hidden", help="Read hidden files and node_modules too (never .git); remembered for the bundle.", show_default=False)] = None,
    wait: Annotated[float, typer.Option("--wait", metavar="SECONDS", min=0, help="How long to wait for another sync of this catalog.")] = 60.0,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Say what would change; change nothing.")] = False,
    as_json: options.Json = False,
    pretty: options.Pretty = False,
    db: options.Database = None,
) -> int:
    """Make the catalog follow one or more bundles.

    The first sync of a directory enrols it. Files that did not change are not read again.
    Broken files are reported and do not fail the run.
    """
    if name is not None:
        if len(directories) > 1:
            raise UsageError("--name names one bundle; sync the directories one by one")
        if not slugs.normalize(name) or slugs.normalize(name) == slugs.RESERVED:
            raise UsageError(f"--name {name}: a name has letters or digits, and is not `{slugs.RESERVED}`")
        name = slugs.normalize(name)
    if wait != wait:  # noqa: PLR0124  # NaN compares with nothing
        raise UsageError("--wait: give a number of seconds")
    path = options.database_path(db)
    reports = []
    settings = syncing.Options(full, allow_removals, include_hidden, wait, dry_run)
    targets = _targets(directories, path)
    if dry_run and not database.exists(path):
        connection = database.memory()
    else:
        connection = database.open_or_create(path)
    for root, slug in targets:
        bar = _Bar(os.path.basename(os.path.abspath(root)))
        try:
            started = syncing.system_clock()
            report = syncing.sync(
                connection, path, root, clock=syncing.system_clock, name=name, slug=slug, options=settings,
                progress=bar.advance, on_wait=lambda: output.note("another sync is writing this catalog; waiting for it"),
            )  # fmt: skip
        finally:
            bar.close()
        if report.sync_id is None and not dry_run:
            syncing.touch(connection, report.bundle, started)
        reports.append(report)
        if not (as_json or pretty):
            _print(report)
    if as_json or pretty:
        rows = [_json(report) for report in reports]
        output.dump_json(rows[0] if len(rows) == 1 else {"catalog": path, "syncs": rows}, pretty=pretty)
    return 0


def _targets(arguments: list[str], path: str) -> list[tuple[str, str | None]]:
    """(directory, slug in the registry) of everything that the arguments name, each directory once."""
    found: dict[str, str | None] = {}
    registered: registry.View | None = None
    for argument in arguments:
        if registry.is_ref(argument):
            for root, slug in _references(argument, path):
                found.setdefault(root, slug)
            continue
        root = options.directory(argument)
        if not os.path.isdir(root):
            raise BundleError(f"{root} is not a directory" if os.path.exists(root) else f"{root} does not exist")
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


def _references(argument: str, path: str) -> list[tuple[str, str | None]]:
    try:
        resolution = registry.resolve_many([argument])
    except registry.UnknownRefError:
        if database.exists(path):
            connection = database.open_existing(path)
            with database.reported(path):
                known = syncing.bundle_named(connection, slugs.normalize(argument))
            connection.close()
            if known is not None:
                return [(known.root, None)]
        raise
    for remark in resolution.notes:
        output.note(remark)
    return [(ref.path, ref.slug) for ref in resolution.refs]


class _Bar:
    """A progress bar on a terminal's stderr, for syncs that take a while."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.bar: Any = None
        self.task: Any = None
        self.shown = 0.0
        self.enabled = sys.stderr.isatty()

    def advance(self, done: int, total: int) -> None:
        if not self.enabled or total < _PROGRESS_FROM:
            return
        if self.bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            self.bar = Progress(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
                                TimeRemainingColumn(), console=Console(stderr=True), transient=True)  # fmt: skip
            self.bar.start()
            self.task = self.bar.add_task(self.label, total=total)
        now = time.monotonic()
        if now - self.shown > 0.1 or done == total:
            self.shown = now
            self.bar.update(self.task, completed=done)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.stop()


def _print(report: syncing.Report) -> None:
    """The report for people: a line for each change, a line that counts."""
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
    for line in lines[:_SHOWN]:
        print(f"  {sign} {output.one_line(line)}")
    if len(lines) > _SHOWN:
        print(f"  {sign} … and {len(lines) - _SHOWN} more")


def _json(report: syncing.Report) -> dict[str, Any]:
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
