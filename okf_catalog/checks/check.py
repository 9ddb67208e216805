"""What a check of `lint` is, and the list of those there are."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from okf_catalog.checks.graph import Graph, read_graph
from okf_catalog.errors import UsageError
from okf_catalog.format.values import fold
from okf_catalog.format.vocabulary import GRAPH_KINDS

if TYPE_CHECKING:
    import pluggy

GROUP = "okf_catalog"
"""The entry-point group and the pluggy project whose hooks are called."""
WARN, INFO = "warn", "info"
_NAMED = 3
SEVERITIES = (INFO, WARN)
"""From the lighter to the heavier."""
EDGES = f"({', '.join(repr(kind) for kind in GRAPH_KINDS)})"
"""The kinds of `links` that are edges, for SQL."""
CATEGORIES = ("Reachability", "Backlog", "Completeness", "Freshness", "Provenance", "Attestation", "Migration", "Hygiene",
              "Extended")  # fmt: skip
"""In the order of the report; those of other packages follow."""


class Found(NamedTuple):
    """What a check has to say about one place."""

    path: str | None
    """The file; None for what concerns several."""
    message: str
    metric: dict[str, Any] | None = None
    """The facts of the message, for programs."""
    line: int | None = None
    """Line of `place`, from 1, where it is known."""
    place: str | None = None
    """The file to look at, where it is not `path`."""


class Finding(NamedTuple):
    """One entry of the report."""

    check: str
    severity: str
    path: str | None
    message: str
    metric: dict[str, Any] | None
    line: int | None
    place: str | None
    """The file to look at: `path`, or another one where `path` is not there."""


class Settings(NamedTuple):
    """What whoever asks has to say."""

    now: str
    """The moment of judgement, `YYYY-MM-DDTHH:MM:SSZ`."""
    min_body: int = 50
    """Characters; a shorter body is a stub."""
    cutoff: str | None = None
    """Content generated before this moment (`YYYY-MM-DDTHH:MM:SSZ`) is `stale`; None: nobody asked."""


class Subject:
    """The bundle that is judged, and what several checks want to know of it."""

    def __init__(self, connection: sqlite3.Connection, bundle: str, settings: Settings, rules: str) -> None:
        self.connection, self.bundle, self.settings, self.rules = connection, bundle, settings, rules
        connection.create_function("okf_fold", 1, fold, deterministic=True)

    def rows(self, sql: str, **values: Any) -> Iterator[tuple[Any, ...]]:
        """Rows of a statement; `:bundle`, `:now`, `:cutoff` and `:min_body` are bound."""
        settings = self.settings
        return self.connection.execute(
            sql, {"bundle": self.bundle, "now": settings.now, "cutoff": settings.cutoff, "min_body": settings.min_body} | values
        )

    @cached_property
    def graph(self) -> Graph:
        """The links between the concepts of the bundle."""
        return read_graph(self.connection, self.bundle)

    @cached_property
    def citing(self) -> set[int]:
        """Row ids of the concepts with a `# Citations` section (OKF §13.1)."""
        from okf_catalog.format.sources import has_citations_section

        certain = {row[0] for row in self.rows(
            "select distinct s.concept_id from sources s join concepts c on c.id = s.concept_id "
            "where c.bundle = :bundle and s.legacy"
        )}  # fmt: skip
        # The word index knows who may have one at all.
        candidates = self.rows(
            "select b.concept_id, b.body from concepts_fts f join bodies b on b.concept_id = f.rowid "
            "join concepts c on c.id = f.rowid where concepts_fts match 'body : citations' and c.bundle = :bundle"
        )
        return certain | {row_id for row_id, body in candidates if row_id not in certain and has_citations_section(body)}


def some(names: list[str]) -> str:
    """The first few of some names, for a message."""
    return ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")


Run = Callable[[Subject], Iterable[Found]]


class Check(NamedTuple):
    """A check of `lint`."""

    id: str
    """Stable, lower case, with `_`."""
    severity: str
    """`warn` or `info`; fixed for good, because others' CI rests on it."""
    category: str
    reason: str
    """One sentence: why anybody should care."""
    run: Run
    """Finds every place; reads only. Raises nothing for what a bundle may hold."""
    extended: bool = False
    """Runs only with `--extended` or by name."""
    needs_cutoff: bool = False
    """Runs only where a cutoff is set."""


class Registry:
    """The checks by id, in the order of the report. Those of other packages are looked for when somebody asks for more."""

    def __init__(self, checks: Iterable[Check] = ()) -> None:
        self.checks: dict[str, Check] = {}
        self._is_complete = False
        for check in checks:
            self.add(check)

    def add(self, check: Check) -> None:
        """Add a check. Raises `UsageError` where its id is taken or its severity unknown."""
        if check.id in self.checks or check.id != check.id.lower() or check.severity not in SEVERITIES:
            raise UsageError(f"the check {check.id} cannot be added: its id is taken or not lower case, or its severity unknown")
        self.checks[check.id] = check

    def complete(self) -> None:
        """Add the checks of installed packages (hook `register_checks`, entry points `okf_catalog`), as extended ones."""
        if self._is_complete:
            return
        self._is_complete = True
        manager = plugin_manager()
        # Entry points cost tens of milliseconds to read; a plain report does without.
        manager.load_setuptools_entrypoints(GROUP)
        for checks in manager.hook.register_checks():
            for check in checks:
                self.add(check._replace(extended=True))

    def names(self) -> list[str]:
        """All ids, in the order of the report."""
        self.complete()
        return list(self.checks)

    def select(self, only: list[str] | None, leave_out: list[str] | None, *, extended: bool = False) -> list[Check]:
        """The checks of a report. Raises `UsageError` for names that no check has."""
        named = [*(only or ()), *(leave_out or ())]
        if extended or any(name not in self.checks for name in named):
            self.complete()
        unknown = list(dict.fromkeys(name for name in named if name not in self.checks))
        if unknown:
            from difflib import get_close_matches

            near = get_close_matches(unknown[0], self.checks, 1)
            hint = f" (did you mean {near[0]}?)" if near else " (lint --list names them)"
            raise UsageError(f"unknown check(s): {', '.join(unknown)}{hint}")
        chosen = [
            check for check in self.checks.values()
            if (check.id in only if only is not None else extended or not check.extended)
        ]  # fmt: skip
        return [check for check in chosen if check.id not in (leave_out or ())]


def plugin_manager() -> pluggy.PluginManager:
    """A pluggy manager that knows the hook of the checks."""
    import pluggy

    from okf_catalog.checks import hooks

    manager = pluggy.PluginManager(GROUP)
    manager.add_hookspecs(hooks)
    return manager


_registry: Registry | None = None


def registry() -> Registry:
    """The checks of this process."""
    global _registry  # noqa: PLW0603  # made when first asked for: importing must stay cheap
    if _registry is None:
        from okf_catalog.checks import builtin

        _registry = Registry(builtin.CHECKS)
    return _registry


class Catalogue:
    """Gathers the checks of a module: `@checks("orphan", WARN, "Reachability", "why")` above each function."""

    def __init__(self) -> None:
        self.checks: list[Check] = []

    def __call__(self, name: str, severity: str, category: str, reason: str, **more: bool) -> Callable[[Run], Run]:
        """The decorator; `more` are the flags of `Check`."""

        def add(run: Run) -> Run:
            self.checks.append(Check(name, severity, category, reason, run, **more))
            return run

        return add
