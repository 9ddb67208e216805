"""`okf-catalog validate`: is a bundle legal OKF?"""

from __future__ import annotations

from typing import Any

from okf_catalog.checks import thresholds
from okf_catalog.checks.thresholds import Limits, Threshold
from okf_catalog.checks.validate import Finding, Validation
from okf_catalog.checks.validate import validate as judge
from okf_catalog.cli import judging, options, output
from okf_catalog.format.problem import FAILURE_CODES
from okf_catalog.format.vocabulary import rules_of

_ERROR_KEYS = ("path", "message")
_WARNING_KEYS = ("path", "message", "check", "source")


def validate(
    bundle: options.BundleArgument = None,
    max_errors: judging.MaxErrors = None,
    form: judging.Format = None,
    as_json: options.Json = False,
    pretty: options.Pretty = False,
    no_sync: options.NoSync = False,
    db: options.Database = None,
) -> int:
    """Say whether a bundle is legal OKF.

    Exit status 1 where it is not: a file without usable frontmatter, a concept without a
    type, a reserved file that breaks its rules. Everything else is a warning. `--json` is
    the reference tool's document; `--format json` adds checks and lines.
    """
    chosen = judging.choose_format(form, as_json=as_json, pretty=pretty)
    most = thresholds.limit("--max-errors", max_errors, number=True, percent=False)
    opened = options.open_bundle(bundle, db, no_sync=no_sync)
    view = opened.view
    found = judge(view.connection, view.bundle.name)
    held = thresholds.judge(view.connection, view.bundle.name, "", Limits(most)) if most else []
    judging.note_empty(opened, found.concepts + found.indexes + found.logs + len(found.errors))
    if chosen == judging.TEXT:
        _print(found, opened.label, rules_of((view.bundle.okf_version or "").strip() or None), held)
    elif chosen == judging.JSON:
        output.dump_json(_document(opened.head, found, held, lines=form is not None), pretty=pretty)
    else:
        judging.emit(chosen, _remarks(found), {}, opened, pretty=pretty)
    return int(held[0].crossed if held else not found.conformant)


def _document(head: dict[str, str], found: Validation, held: list[Threshold], *, lines: bool) -> dict[str, Any]:
    def rows(items: list[Finding], keys: tuple[str, ...]) -> list[Finding]:
        if lines:
            return [{key: item[key] for key in ("path", "line", "message", "check", "source") if key in item} for item in items]
        return [{key: item[key] for key in keys} for item in items]

    counts = {"concepts": found.concepts, "indexes": found.indexes, "logs": found.logs}
    document = {**head, "conformant": found.conformant, "counts": counts, "errors": rows(found.errors, _ERROR_KEYS),
                "warnings": rows(found.warnings, _WARNING_KEYS)}  # fmt: skip
    return document | ({"thresholds": [item.as_json() for item in held]} if held else {})


def _remarks(found: Validation) -> list[judging.Remark]:
    return [
        judging.Remark(level, item["check"], item["path"], item["line"], item["message"])
        for level, items in ((judging.ERROR, found.errors), (judging.WARNING, found.warnings))
        for item in items
    ]


def _print(found: Validation, label: str, rules: str, held: list[Threshold]) -> None:
    print(f"OKF v{rules} conformance — {label}")
    broken = sum(1 for item in found.errors if item["check"] in FAILURE_CODES)
    unusable = f" ({broken} of the files cannot be used)" if broken else ""
    print(f"  concepts: {found.concepts}   index.md: {found.indexes}   log.md: {found.logs}{unusable}")
    for mark, items in ((judging.paint("✗ ERROR", "red"), found.errors), (judging.paint("! warn ", "yellow"), found.warnings)):
        for item in items:
            place = f":{item['line']}" if item["line"] else ""
            print(f"  {mark}  {output.one_line(item['path'])}{place}: {output.one_line(item['message'])}")
    if found.errors:
        print(f"  {judging.paint('✗', 'red')} not conformant ({output.plural(len(found.errors), 'error')})")
    elif found.warnings:
        print(f"  {judging.paint('✓', 'green')} conformant ({output.plural(len(found.warnings), 'warning')})")
    else:
        print(f"  {judging.paint('✓', 'green')} conformant — no issues")
    judging.print_thresholds(held)
