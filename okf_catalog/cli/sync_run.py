"""One run of `okf-catalog sync` over its bundles: one after the other or several at once."""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from typing import Any

from okf_catalog import trace
from okf_catalog.catalog import database, lock
from okf_catalog.catalog import sync as syncing
from okf_catalog.catalog.freshness import is_recent
from okf_catalog.cli import output, sync_report
from okf_catalog.cli.sync_report import Outcome
from okf_catalog.errors import CatalogError

Target = tuple[str, str | None]
"""(directory, slug in the registry)."""

_PROGRESS_FROM = 500
"""Files from which on a progress bar is worth its import."""


class Run:
    """One call of the verb: how to sync and how to tell of it."""

    def __init__(
        self, path: str, settings: syncing.Options, name: str | None, recent: timedelta | None, form: str, *,
        pretty: bool, quiet: bool, jobs: int, report: str | None, strict: bool,
    ) -> None:  # fmt: skip
        self.path, self.options, self.name, self.recent, self.form = path, settings, name, recent, form
        self.pretty, self.quiet, self.jobs, self.report_file, self.strict = pretty, quiet, jobs, report, strict

    def all(self, targets: list[Target]) -> int:
        """Sync all targets and tell of each as soon as it is done; the exit status."""
        started = syncing.system_clock()
        outcomes: list[Outcome] = []
        alone = len(targets) == 1
        for outcome in self._outcomes(targets):
            outcomes.append(outcome)
            if outcome.error is not None and alone and self.form != "ndjson" and self.report_file is None:
                raise outcome.error
            self.tell(outcome)
        if self.form == "json" and not self.quiet:
            rows = [sync_report.as_json(outcome) for outcome in outcomes]
            output.dump_json(rows[0] if alone else {"catalog": self.path, "syncs": rows}, pretty=self.pretty)
        status = self.status(outcomes)
        if self.report_file is not None:
            sync_report.write_run(self.report_file, self.path, outcomes, started, syncing.system_clock(), status)
        return status

    def status(self, outcomes: list[Outcome]) -> int:
        """2 where a bundle could not be synced, 1 (`--strict`) where files cannot be used, else 0."""
        if any(outcome.error is not None for outcome in outcomes):
            return 2
        return int(self.strict and any(outcome.is_flawed for outcome in outcomes))

    def tell(self, outcome: Outcome) -> None:
        """Say what became of a bundle: errors on stderr, the rest on stdout."""
        if outcome.error is not None:
            sys.stderr.write(f"error: {output.one_line(str(outcome.error))}\n")
        if self.quiet:
            return
        if self.form == "ndjson":
            output.dump_json(sync_report.as_json(outcome))
        elif self.form == "text":
            sync_report.show(outcome)
        sys.stdout.flush()

    def _outcomes(self, targets: list[Target]) -> Iterator[Outcome]:
        if self.jobs == 1 or len(targets) == 1 or (self.options.dry_run and not database.exists(self.path)):
            with self.opened() as connection:
                for target in targets:
                    yield self.one(connection, target)
            return
        from concurrent.futures import ThreadPoolExecutor

        with self.opened():  # made and migrated once
            pass
        with ThreadPoolExecutor(self.jobs) as pool:
            try:
                yield from pool.map(self._apart, targets)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _apart(self, target: Target) -> Outcome:
        try:
            with self.opened() as connection:
                return self.one(connection, target, alone=False)
        except CatalogError as problem:
            return Outcome(target[0], error=problem)

    def opened(self) -> closing[sqlite3.Connection]:
        """A connection to the catalog as a context that closes it."""
        if self.options.dry_run and not database.exists(self.path):
            return closing(database.memory())
        return closing(database.open_or_create(self.path))

    def one(self, connection: sqlite3.Connection, target: Target, *, alone: bool = True) -> Outcome:
        """Sync one bundle; errors are part of the outcome."""
        root, slug = target
        began = time.monotonic()
        started = syncing.system_clock()
        bar = _Bar(os.path.basename(os.path.abspath(root)), enabled=alone and not self.quiet)
        try:
            if self.recent is not None:
                with database.reported(self.path):
                    known = syncing.bundle_at(connection, root)
                    age = is_recent(connection, known, started, self.recent) if known else None
                if known is not None and age is not None:
                    return Outcome(root, recent=(known.name, age))
            report = syncing.sync(
                connection, self.path, root, clock=syncing.system_clock, name=self.name, slug=slug, options=self.options,
                progress=bar.advance, on_wait=self._waiting,
            )  # fmt: skip
            if report.sync_id is None and not self.options.dry_run:
                syncing.touch(connection, report.bundle, started)
        except CatalogError as problem:
            return Outcome(root, error=problem, seconds=time.monotonic() - began)
        finally:
            bar.close()
        trace.info("%s: %.2f s", report.bundle, time.monotonic() - began)
        return Outcome(root, report, seconds=time.monotonic() - began)

    def _waiting(self) -> None:
        if not self.quiet:
            output.note(f"another sync is writing this catalog{lock.described(self.path)}; waiting for it")


class _Bar:
    """A progress bar on a terminal's stderr, for syncs that take a while."""

    def __init__(self, label: str, *, enabled: bool) -> None:
        self.label = label
        self.bar: Any = None
        self.task: Any = None
        self.shown = 0.0
        self.enabled = enabled and sys.stderr.isatty()

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
