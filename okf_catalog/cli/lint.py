"""`okf-catalog lint`: is a bundle well kept?"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Annotated, Any

from okf_catalog.checks import thresholds
from okf_catalog.checks.check import CATEGORIES, SEVERITIES, WARN, Check, Finding, Settings, registry
from okf_catalog.checks.lint import Report
from okf_catalog.checks.lint import lint as judge
from okf_catalog.checks.thresholds import Limits, Threshold
from okf_catalog.cli import judging, options, output
from okf_catalog.cli.declared import Option
from okf_catalog.errors import UsageError
from okf_catalog.format.values import clock_instant, parse_instant, utc_text

NEVER = "never"
_AGE = re.compile(r"([0-9]{1,6})([dw])\Z")
_DAYS = {"d": 1, "w": 7}


def lint(
    bundle: options.BundleArgument = None,
    only: Annotated[str | None, Option("--only", metavar="LIST", help="Only these checks, separated by commas.", show_default=False)] = None,
    leave_out: Annotated[str | None, Option("--except", metavar="LIST", help="All checks but these.", show_default=False)] = None,
    extended: Annotated[bool, Option("--extended", help="The extended checks too, and those of other packages.")] = False,
    min_body: Annotated[int, Option("--min-body", metavar="N", help="Shorter bodies are stubs (characters).")] = 50,
    stale_after: Annotated[str | None, Option("--stale-after", metavar="AGE", help="Report content generated before this: 90d, 12w, or a date.", show_default=False)] = None,
    today: Annotated[str | None, Option("--today", "--as-of", metavar="DATE", help="Judge at the end of this day (or at an instant).", show_default=False)] = None,
    fail_on: Annotated[str, Option("--fail-on", metavar="SEVERITY", help="Exit status 1 where a finding is as bad: never, info, warn.", autocompletion=lambda: [NEVER, *SEVERITIES])] = NEVER,
    max_stale: Annotated[str | None, Option("--max-stale", metavar="N|P%", help="Exit status 1 where more concepts are stale.", show_default=False)] = None,
    min_reviewed: Annotated[str | None, Option("--min-reviewed", metavar="P%", help="Exit status 1 where fewer are human-reviewed.", show_default=False)] = None,
    max_errors: Annotated[str | None, Option("--max-errors", metavar="N", help="Exit status 1 where more errors break conformance.", show_default=False)] = None,
    list_checks: Annotated[bool, Option("--list", help="List the checks and why they matter, and stop.")] = False,
    form: judging.Format = None,
    as_json: options.Json = False,
    pretty: options.Pretty = False,
    no_sync: options.NoSync = False,
    db: options.Database = None,
) -> int:
    """Say whether a bundle is well kept: reachable, complete, fresh, well founded.

    Findings are advice: the exit status is 0 unless --fail-on or a threshold makes it 1.
    `--json` is the reference tool's document; `--format json` adds lines.
    """
    chosen_format = judging.choose_format(form, as_json=as_json, pretty=pretty)
    severity = _severity(fail_on)
    if list_checks:
        return _list(chosen_format, pretty=pretty)
    chosen = registry().select(_names(only), _names(leave_out), extended=extended)
    now = _now(today)
    settings = Settings(now, min_body, _cutoff(stale_after, now) if stale_after is not None else None)
    limits = Limits(
        thresholds.limit("--max-errors", max_errors, number=True, percent=False),
        thresholds.limit("--max-stale", max_stale, number=True, percent=True),
        thresholds.limit("--min-reviewed", min_reviewed, number=False, percent=True),
    )
    opened = options.open_bundle(bundle, db, no_sync=no_sync)
    view = opened.view
    report = judge(view.connection, view.bundle.name, chosen, settings)
    crossed = thresholds.judge(view.connection, view.bundle.name, now, limits)
    judging.note_skipped(opened)
    judging.note_empty(opened, sum(report.stats[key] for key in ("concepts", "indexes", "logs", "skipped")))
    if chosen_format == judging.TEXT:
        _print(report, opened.label, chosen, crossed, asked_by_name=_names(only) or [])
    elif chosen_format == judging.JSON:
        output.dump_json(_document(opened.head, report, crossed, lines=form is not None), pretty=pretty)
    else:
        remarks = [_remark(item) for item in report.findings]
        reasons = {check.id: check.reason for check in chosen}
        judging.emit(chosen_format, remarks + judging.threshold_remarks(crossed), reasons, opened, pretty=pretty)
    failed = (severity is not None and report.reaches(severity)) or any(item.crossed for item in crossed)
    return int(failed)


def _document(head: dict[str, str], report: Report, crossed: list[Threshold], *, lines: bool) -> dict[str, Any]:
    findings = []
    for item in report.findings:
        row: dict[str, Any] = {"check": item.check, "severity": item.severity, "path": item.path}
        if lines:
            row |= {"place": item.place, "line": item.line}
        findings.append(row | {"message": item.message, "metric": item.metric})
    document = {**head, "healthy": report.is_healthy, "stats": report.stats, "findings": findings}
    return document | ({"thresholds": [item.as_json() for item in crossed]} if crossed else {})


def _remark(item: Finding) -> judging.Remark:
    # Where the file to look at is not the one that the finding is about, the message has to name that one.
    about = f"{item.path}: " if item.path is not None and item.path != item.place else ""
    level = judging.WARNING if item.severity == WARN else judging.NOTE
    return judging.Remark(level, item.check, item.place, item.line, about + item.message)


# -- arguments -------------------------------------------------------------------------


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def _severity(text: str) -> str | None:
    matches = [known for known in (NEVER, *SEVERITIES) if text and known.startswith(text)]
    if len(matches) != 1:
        raise UsageError(f"--fail-on {text}: choose one of never, info, warn")
    return None if matches[0] == NEVER else matches[0]


def _now(text: str | None) -> str:
    if text is None:
        return options.moment(None)
    found = clock_instant(text)
    if found is None:
        raise UsageError(f"--today {text}: write a date (2027-01-01) or an instant (2027-01-01T12:00:00Z)")
    return found


def _cutoff(text: str, now: str) -> str:
    """The moment that `--stale-after` means: an age before `now`, or a date."""
    age = _AGE.match(text)
    if age is not None:
        try:
            return utc_text(datetime.fromisoformat(now[:-1]) - timedelta(days=int(age[1]) * _DAYS[age[2]]))
        except OverflowError:
            pass
    found = parse_instant(text) if age is None else None
    if found is None:
        raise UsageError(f"--stale-after {text}: write an age (90d, 12w) or a date (2026-01-01)")
    return found.utc


# -- for people ------------------------------------------------------------------------


def _list(form: str, *, pretty: bool) -> int:
    checks = registry()
    names = checks.names()
    rows = [
        {"check": name, "severity": checks.checks[name].severity, "category": checks.checks[name].category,
         "extended": checks.checks[name].extended, "why": checks.checks[name].reason}
        for name in names
    ]  # fmt: skip
    if form == judging.JSON:
        output.dump_json({"count": len(rows), "checks": rows}, pretty=pretty)
    else:
        output.emit_rows(rows, list(rows[0]), form if form in output.FORMATS else "table")
    return 0


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{output.one_line(name)} {count}" for name, count in counts.items())


def _print(report: Report, label: str, chosen: list[Check], crossed: list[Threshold], *, asked_by_name: list[str]) -> None:
    stats, findings = report.stats, report.findings
    print(f"OKF lint — {label}")
    print(f"  concepts: {stats['concepts']}   edges: {stats['edges']}   index.md: {stats['indexes']}   log.md: {stats['logs']}")
    hubs = ", ".join(f"{output.one_line(hub['id'])} (×{hub['in_degree']})" for hub in stats["hubs"])
    named = [f"{name}: {text}" for name, text in (("hubs", hubs), ("types", _counts(stats["types"]))) if text]
    if named:
        print("  " + "   ".join(named))
    if stats["concepts"]:
        print(f"  trust: {_counts(stats['trust'])}   status: {_counts(stats['status'])}")
    categories = list(dict.fromkeys([*CATEGORIES, *(check.category for check in chosen)]))
    belongs = {check.id: check.category for check in chosen}
    for category in categories:
        members = [item for item in findings if belongs[item.check] == category]
        if members:
            print(f"\n  {category}")
        for item in members:
            mark = judging.paint("! warn ", "yellow") if item.severity == WARN else "· info "
            line = f":{item.line}" if item.line and item.place == item.path else ""
            where = f"{output.one_line(item.path)}{line}: " if item.path is not None else ""
            print(f"    {mark} {where}{output.one_line(item.message)}")
    # Left out without a word, unless somebody asked for it.
    for name in stats["skipped_checks"]:
        if name in asked_by_name:
            print(f"  skipped: {name} (say from when on with --stale-after)")
    print()
    if not findings:
        print(f"  {judging.paint('✓', 'green')} healthy — no issues")
    else:
        warnings = report.warnings
        mark = judging.paint("⚠", "yellow") if warnings else judging.paint("✓", "green")
        print(f"  {mark} {warnings} warn, {len(findings) - warnings} info")
    judging.print_thresholds(crossed)
