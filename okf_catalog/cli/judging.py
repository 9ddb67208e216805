"""What `validate` and `lint` share: their formats, SARIF and GitHub annotations, thresholds, an empty bundle."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, NamedTuple
from urllib.parse import quote

from okf_catalog import __version__
from okf_catalog.checks.thresholds import Threshold
from okf_catalog.cli import options, output
from okf_catalog.cli.declared import Option
from okf_catalog.errors import UsageError

TEXT, JSON, SARIF, GITHUB = "text", "json", "sarif", "github"
FORMATS = (TEXT, JSON, SARIF, GITHUB, *(name for name in output.FORMATS if name != JSON))

Format = Annotated[str | None, Option("--format", metavar="NAME", help=f"{', '.join(FORMATS)}.", show_default=False)]
MaxErrors = Annotated[str | None, Option("--max-errors", metavar="N", help="Fail only where more errors than this break conformance.", show_default=False)]

ERROR, WARNING, NOTE = "error", "warning", "note"
_GITHUB = {ERROR: "error", WARNING: "warning", NOTE: "notice"}
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_HOME = "https://pypi.org/project/okf-catalog/"
COLUMNS = ("level", "check", "path", "line", "message")


class Remark(NamedTuple):
    """One thing to tell about one place, in the terms of the tools that show it."""

    level: str
    """`error`, `warning` or `note`."""
    check: str
    path: str | None
    """The file, relative to the bundle."""
    line: int | None
    message: str


def choose_format(name: str | None, *, as_json: bool, pretty: bool) -> str:
    """The format that `--format`, `--json` and `--pretty` ask for. Raises `UsageError`."""
    if name is None:
        return JSON if as_json or pretty else TEXT
    matches = [known for known in FORMATS if known == name.lower()] or [
        known for known in FORMATS if known.startswith(name.lower())
    ]
    if len(matches) != 1:
        raise UsageError(f"--format {name}: choose one of {', '.join(FORMATS)}")
    if (as_json or pretty) and matches[0] not in (JSON, SARIF):
        raise UsageError(f"--format {matches[0]} and --json exclude each other")
    return matches[0]


def emit(form: str, remarks: Sequence[Remark], reasons: dict[str, str], opened: options.Opened, *, pretty: bool) -> None:
    """Write the remarks as SARIF, GitHub annotations or rows. `reasons` has a sentence for each check that ran."""
    if form == SARIF:
        output.dump_json(sarif(remarks, reasons, opened.directory), pretty=pretty)
    elif form == GITHUB:
        for remark in remarks:
            sys.stdout.write(annotation(remark, opened.directory) + "\n")
    else:
        output.emit_rows([remark._asdict() for remark in remarks], COLUMNS, form)


def shown_path(path: str, directory: str) -> str:
    """The file as seen from the working directory, where CI runs; an absolute path where it does not lie below."""
    whole = os.path.join(os.path.abspath(directory), path)
    below = os.path.relpath(whole, os.getcwd())
    return whole if below.startswith("..") else below


def annotation(remark: Remark, directory: str) -> str:
    """One workflow command of GitHub Actions."""
    facts = {"title": remark.check}
    if remark.path is not None:
        facts = {"file": shown_path(remark.path, directory), "line": str(remark.line or 1), **facts}
    listed = ",".join(f"{key}={_escape(value).replace(':', '%3A').replace(',', '%2C')}" for key, value in facts.items())
    return f"::{_GITHUB[remark.level]} {listed}::{_escape(output.one_line(remark.message))}"


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def sarif(remarks: Iterable[Remark], reasons: dict[str, str], directory: str) -> dict[str, Any]:
    """A SARIF 2.1.0 log with one run."""
    remarks = list(remarks)
    rules = list(dict.fromkeys([*reasons, *(remark.check for remark in remarks)]))
    index = {rule: position for position, rule in enumerate(rules)}
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "okf-catalog", "version": __version__, "informationUri": _HOME,
                "rules": [{"id": rule, "shortDescription": {"text": reasons.get(rule, rule.replace("_", " "))}} for rule in rules],
            }},
            "columnKind": "unicodeCodePoints",
            "results": [
                {"ruleId": remark.check, "ruleIndex": index[remark.check], "level": remark.level,
                 "message": {"text": remark.message}, **_locations(remark, directory)}
                for remark in remarks
            ],
        }],
    }  # fmt: skip


def _locations(remark: Remark, directory: str) -> dict[str, Any]:
    if remark.path is None:
        return {}
    shown = shown_path(remark.path, directory)
    uri = ("file://" if os.path.isabs(shown) else "") + quote(shown)
    place: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    if remark.line:
        place["region"] = {"startLine": remark.line}
    return {"locations": [{"physicalLocation": place}]}


def paint(text: str, colour: str) -> str:
    """`text` in a colour, on a terminal only."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return text
    import typer

    return typer.style(text, fg=colour)


def threshold_remarks(thresholds: Iterable[Threshold]) -> list[Remark]:
    """The limits that were crossed."""
    return [Remark(ERROR, item.name, None, None, item.message) for item in thresholds if item.crossed]


def print_thresholds(thresholds: Iterable[Threshold]) -> None:
    """The limits, for people."""
    for item in thresholds:
        print(f"  {paint('✗', 'red') if item.crossed else paint('✓', 'green')} {item.message}")


def note_empty(opened: options.Opened, files: int) -> None:
    """Say so where a bundle of `files` markdown files holds nothing: a wrong directory must not look like a clean one."""
    if files:
        return
    root = opened.view.bundle.root
    try:
        with os.scandir(root) as entries:
            is_empty = next(entries, None) is None
    except OSError:
        return
    output.note(f"{root} is empty" if is_empty else f"{root} holds no markdown that counts: nothing was judged")


def note_skipped(opened: options.Opened) -> None:
    """The remark of every verb that reads a bundle with unusable files."""
    view = opened.view
    count = view.connection.execute("select count(*) from parse_errors where bundle = ?", (view.bundle.name,)).fetchone()[0]
    if count:
        called = f"@{opened.slug}" if opened.slug is not None else opened.directory
        output.note(f"{count} unusable file(s) are no concepts (okf-catalog validate {called} says why)")
