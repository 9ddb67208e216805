"""`okf-catalog validate`: is a bundle legal OKF?"""

from __future__ import annotations

from okf_catalog.checks.validate import Validation
from okf_catalog.checks.validate import validate as judge
from okf_catalog.cli import options, output
from okf_catalog.format.problem import FAILURE_CODES
from okf_catalog.format.reserved import rules_of


def validate(
    bundle: options.BundleArgument = None,
    as_json: options.Json = False,
    pretty: options.Pretty = False,
    no_sync: options.NoSync = False,
    db: options.Database = None,
) -> int:
    """Say whether a bundle is legal OKF.

    Exit status 1 where it is not: a file without usable frontmatter, a concept without a
    type, a reserved file that breaks its rules. Everything else is a warning.
    """
    opened = options.open_bundle(bundle, db, no_sync=no_sync)
    view = opened.view
    found = judge(view.connection, view.bundle.name)
    if as_json or pretty:
        counts = {"concepts": found.concepts, "indexes": found.indexes, "logs": found.logs}
        output.dump_json(
            {**opened.head, "conformant": found.conformant, "counts": counts,
             "errors": [{key: item[key] for key in ("path", "message")} for item in found.errors],
             "warnings": [{key: item[key] for key in ("path", "message", "check", "source")} for item in found.warnings]},
            pretty=pretty,
        )  # fmt: skip
    else:
        _print(found, opened.label, rules_of(view.bundle.okf_version))
    return 0 if found.conformant else 1


def _print(found: Validation, label: str, rules: str) -> None:
    print(f"OKF v{rules} conformance — {label}")
    broken = sum(1 for item in found.errors if item["check"] in FAILURE_CODES)
    unusable = f" ({broken} of the files cannot be used)" if broken else ""
    print(f"  concepts: {found.concepts}   index.md: {found.indexes}   log.md: {found.logs}{unusable}")
    for mark, items in (("✗ ERROR", found.errors), ("! warn ", found.warnings)):
        for item in items:
            place = f":{item['line']}" if item["line"] else ""
            print(f"  {mark}  {output.one_line(item['path'])}{place}: {output.one_line(item['message'])}")
    if found.errors:
        print(f"  ✗ not conformant ({output.plural(len(found.errors), 'error')})")
    elif found.warnings:
        print(f"  ✓ conformant ({output.plural(len(found.warnings), 'warning')})")
    else:
        print("  ✓ conformant — no issues")
