"""`sync --watch`: sync again whenever files change, until somebody stops it."""

from __future__ import annotations

import signal
import sys
import threading

from okf_catalog import trace
from okf_catalog.catalog import database
from okf_catalog.catalog import sync as syncing
from okf_catalog.catalog.watch import Watcher
from okf_catalog.cli import output, sync_report
from okf_catalog.cli.sync_report import Outcome
from okf_catalog.cli.sync_run import Run
from okf_catalog.errors import CatalogError


def follow(run: Run, targets: dict[str, str | None]) -> int:
    """Watch directories until SIGTERM (exit status 0) or an interrupt from the keyboard (130).

    A bundle that cannot be synced is tried again, and each cause is told once. The catalog
    is opened anew for each round: it may have been replaced.
    """
    stop = threading.Event()
    before = signal.signal(signal.SIGTERM, lambda *_: stop.set())
    watcher = Watcher(list(targets), stop, on_trouble=output.note)
    told: dict[str, str] = {}
    try:
        if not run.quiet:
            sys.stderr.write(f"watching {output.plural(len(targets), 'bundle')}; stop with Ctrl-C\n")
        for roots in watcher.changes():
            if not database.exists(run.path):
                roots = list(targets)  # everything has to be read again
            started = syncing.system_clock()
            outcomes = _round(run, [(root, targets[root]) for root in roots])
            for outcome in outcomes:
                _tell(run, outcome, told, is_first=not watcher.has_synced(outcome.root))
                if outcome.error is None:
                    watcher.succeeded(outcome.root)
                else:
                    watcher.failed(outcome.root)
            if run.report_file is not None:
                finished = syncing.system_clock()
                sync_report.write_run(run.report_file, run.path, outcomes, started, finished, run.status(outcomes))
            if stop.is_set():
                break
    finally:
        signal.signal(signal.SIGTERM, before)
    trace.info("stopped")
    return 0


def _round(run: Run, targets: list[tuple[str, str | None]]) -> list[Outcome]:
    try:
        with run.opened() as connection:
            return [run.one(connection, target) for target in targets]
    except CatalogError as problem:
        return [Outcome(root, error=problem) for root, _ in targets]


def _tell(run: Run, outcome: Outcome, told: dict[str, str], *, is_first: bool) -> None:
    """Say what is new: an error that was not told last time, a sync that changed something."""
    if outcome.error is not None:
        if told.get(outcome.root) != str(outcome.error):
            told[outcome.root] = str(outcome.error)
            run.tell(outcome)
        return
    was_failing = told.pop(outcome.root, None) is not None
    assert outcome.report is not None  # noqa: S101  # `--fresh-after` is not for watching
    if is_first or was_failing or not outcome.report.is_empty:
        run.tell(outcome)
