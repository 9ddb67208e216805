"""Is a bundle well kept? Runs the chosen checks and counts what they rest on."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from okf_catalog.catalog.edges import among_others
from okf_catalog.checks.check import INFO, WARN, Check, Finding, Settings, Subject
from okf_catalog.errors import CatalogError
from okf_catalog.format.trust import TIERS
from okf_catalog.format.vocabulary import rules_of

_HUBS = 5
UNTYPED = "Untyped"


class Report(NamedTuple):
    """What `lint` found."""

    stats: dict[str, Any]
    findings: list[Finding]

    @property
    def warnings(self) -> int:
        """How many findings are of severity `warn`."""
        return sum(1 for finding in self.findings if finding.severity == WARN)

    @property
    def is_healthy(self) -> bool:
        """True where nothing is worse than `info`."""
        return not self.warnings

    def reaches(self, severity: str) -> bool:
        """True where a finding is of this severity or heavier."""
        return bool(self.findings) if severity == INFO else not self.is_healthy


def lint(connection: sqlite3.Connection, bundle: str, checks: Iterable[Check], settings: Settings) -> Report:
    """Run `checks` on a bundle of the catalog.

    Findings come in the order of the checks, inside a check as it gives them (by path).
    Raises `CatalogError` where a check of another package fails.
    """
    # One state for all statements, whatever a sync commits meanwhile.
    begun = not connection.in_transaction
    if begun:
        connection.execute("begin")
    try:
        return _lint(connection, bundle, checks, settings)
    finally:
        if begun:
            connection.rollback()


def _lint(connection: sqlite3.Connection, bundle: str, checks: Iterable[Check], settings: Settings) -> Report:
    row = connection.execute("select okf_version from bundles where name = ?", (bundle,)).fetchone()
    subject = Subject(connection, bundle, settings, rules_of(row[0].strip() if row and row[0] else None))
    findings: list[Finding] = []
    skipped: list[str] = []
    for check in checks:
        if check.needs_cutoff and settings.cutoff is None:
            skipped.append(check.id)
            continue
        try:
            findings += [
                Finding(check.id, check.severity, found.path, found.message, found.metric, found.line, found.place or found.path)
                for found in check.run(subject)
            ]
        except sqlite3.OperationalError:
            raise
        except Exception as problem:
            raise CatalogError(f"the check {check.id} failed: {type(problem).__name__}: {problem}") from problem
    return Report(_stats(subject, findings, skipped), findings)


def _stats(subject: Subject, findings: list[Finding], skipped: list[str]) -> dict[str, Any]:
    counts = Counter(finding.check for finding in findings)

    def number(sql: str) -> int:
        return int(next(subject.rows(sql))[0])

    reserved = "select count(*) from reserved_files where bundle = :bundle and kind"
    def grouped(column: str) -> Counter[str]:
        # Each of these columns has an index that holds the bundle, too.
        rows = subject.rows(f"select {column}, count(*) from concepts where bundle = :bundle group by {column}")
        return Counter(dict(rows))

    types: Counter[str] = Counter()
    for kind, count in grouped("type").items():
        types[kind or UNTYPED] += count
    trust, status = grouped("trust_tier"), grouped("effective_status")
    among, values = among_others(subject.connection, subject.bundle)
    tags = dict(subject.connection.execute(f"select tag, count(*) from tags where 1 {among} group by folded, tag", values))
    graph = subject.graph
    return {
        "concepts": len(graph.nodes),
        "edges": graph.edges,
        "indexes": number(f"{reserved} = 'index'"),
        "logs": number(f"{reserved} = 'log'"),
        "skipped": number("select count(*) from parse_errors where bundle = :bundle"),
        "skipped_checks": skipped,
        "orphans": counts["orphan"],
        "loose": counts["unlinked"],
        "stubs": counts["stub"],
        "backlog": counts["missing_concept"],
        "components": len(graph.components),
        "hubs": graph.hubs(_HUBS),
        "types": by_frequency(types),
        "tags": by_frequency(tags),
        "trust": {tier: trust[tier] for tier in TIERS},
        "status": by_frequency(status),
    }


def by_frequency(counts: Mapping[str, int]) -> dict[str, int]:
    """The most frequent first, names in byte order among equals."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
