"""What a concept's frontmatter gets wrong: each check fires on a small file, none on a clean one."""

from __future__ import annotations

import pytest

from okf_catalog.format import conformance, reserved
from okf_catalog.format.frontmatter import Document, parse
from okf_catalog.format.problem import Problem

CLEAN = """\
type: Attested Computation
title: Net revenue
description: Revenue without refunds.
resource: https://example.org/revenue
tags: [finance, "no", 7]
status: Stable
timestamp: 2026-01-01
generated: {by: writer/1.0, at: 2026-01-01T10:00:00Z}
verified:
- {by: "human:ana", at: 2026-01-02}
- {by: checker/2, at: "2026-01-03T00:00:00+02:00"}
usage_window: {from: 2025-01-01, to: 2025-12-31T23:59:59Z}
sources:
- {id: a, resource: a.sql, last_modified: 2026-01-01T00:00:00Z, usage_count: 3, usage_window: {from: 2025-01-01}}
stale_after: 2027-01-01T00:00:00-05:00
runtime: bigquery
parameters: [{name: day}]
executor: {resource: run.md}
attester: {resource: attest.md}
owner: anybody
"""


def problems(frontmatter: str, path: str = "a.md") -> list[Problem]:
    found = parse(f"---\n{frontmatter}\n---\n".encode())
    assert isinstance(found, Document), found
    return conformance.problems(path, found)


def checks(frontmatter: str, path: str = "a.md") -> list[str]:
    return [problem.check for problem in problems(frontmatter, path)]


BASE = "type: T\ntitle: t\ndescription: d\n"


def test_a_clean_file_has_no_problem() -> None:
    assert problems(CLEAN) == []


@pytest.mark.parametrize("key", [line.split(":")[0] for line in CLEAN.splitlines() if line[0].isalpha()])
def test_a_null_is_no_instant_that_is_wrong(key: str) -> None:
    found = checks(BASE + f"{key}:\n") if key not in ("type", "title", "description") else []
    assert [check for check in found if check.endswith(("_format", "_date"))] == []


@pytest.mark.parametrize(
    "line", ["type:", "type: ''", "type: '  '", "type: []", "type: {}", "type: false", "type: ~", "titel: x", "Type: T"]
)
def test_a_missing_type_is_an_error(line: str) -> None:
    found = problems(f"{line}\ntitle: t\ndescription: d")
    assert [(p.level, p.check, p.source) for p in found] == [("error", "type_required", "spec")]
    assert ("`Type`" in found[0].message) == (line == "Type: T")


@pytest.mark.parametrize(
    ("check", "source", "lines"),
    [
        ("tags_shape", "spec", "tags: a, b"),
        ("tags_shape", "spec", "tags: {a: b}"),
        ("tags_shape", "spec", "tags: [a, [b]]"),
        ("tags_shape", "spec", "tags:"),
        ("timestamp_format", "spec", "timestamp: yesterday"),
        ("timestamp_format", "spec", "timestamp: 2026-01-01T10:00:00"),
        ("timestamp_format", "spec", "timestamp: 2026-01-01T25:00:00Z"),
        ("generated_shape", "spec", "generated: writer/1"),
        ("generated_shape", "spec", "generated: [{by: a}]"),
        ("generated_by", "spec", "generated: {at: 2026-01-01}"),
        ("generated_by", "spec", "generated: {by: ' '}"),
        ("generated_at_format", "spec", "generated: {by: a, at: soon}"),
        ("generated_at_format", "spec", "generated: {by: a, at: [2026-01-01]}"),
        ("verified_shape", "spec", "verified: true"),
        ("verified_shape", "spec", "verified: human:ana"),
        ("verified_shape", "convention", "verified: []"),
        ("verified_entry_shape", "spec", "verified: [human:ana]"),
        ("verified_entry_by", "convention", "verified: {at: 2026-01-01}"),
        ("verified_entry_by", "convention", "verified: [{by: ''}]"),
        ("verified_entry_at_format", "spec", "verified: [{by: a, at: soon}]"),
        ("sources_shape", "spec", "sources: a.md"),
        ("sources_shape", "spec", "sources: {resource: a}"),
        ("source_entry_shape", "spec", "sources: [a.md]"),
        ("source_resource", "spec", "sources: [{title: a}]"),
        ("source_last_modified", "spec", "sources: [{resource: a, last_modified: May}]"),
        ("source_usage_count", "convention", "sources: [{resource: a, usage_count: many}]"),
        ("source_usage_count", "convention", "sources: [{resource: a, usage_count: '3'}]"),
        ("source_usage_count", "convention", "sources: [{resource: a, usage_count: 1.5}]"),
        ("source_usage_count", "convention", "sources: [{resource: a, usage_count: 99999999999999999999}]"),
        ("source_usage_window_shape", "convention", "sources: [{resource: a, usage_window: May}]"),
        ("usage_window_date", "spec", "sources: [{resource: a, usage_window: {from: May}}]"),
        ("usage_window_shape", "spec", "usage_window: 2026"),
        ("usage_window_date", "spec", "usage_window: {from: May}"),
        ("usage_window_date", "spec", "usage_window: {to: 2026-02-30}"),
        ("status_vocabulary", "spec", "status: retired"),
        ("status_vocabulary", "spec", "status: ''"),
        ("status_vocabulary", "spec", "status: [draft]"),
        ("stale_after_format", "spec", "stale_after: in May"),
        ("stale_after_format", "spec", "stale_after: 2026-02-30"),
        ("stale_after_format", "spec", "stale_after: {at: 2026-01-01}"),
        ("stale_after_format", "spec", "stale_after: 2026-05-01T10:00:00"),
        ("parameters_shape", "spec", "parameters: {name: a}"),
        ("parameter_entry_shape", "spec", "parameters: [a]"),
        ("parameter_name", "convention", "parameters: [{type: a}]"),
        ("executor_shape", "spec", "executor: run.md"),
        ("executor_resource", "convention", "executor: {}"),
        ("attester_shape", "spec", "attester: [a]"),
        ("attester_resource", "convention", "attester: {resource: ''}"),
        ("resource_shape", "spec", "resource: [a]"),
        ("duplicate_key", "spec", "owner: a\nowner: b"),
        ("yaml_tag", "spec", "owner: !who a"),
    ],
)
def test_each_check_fires_alone(check: str, source: str, lines: str) -> None:
    found = problems(BASE + lines)
    assert [(p.level, p.check, p.source) for p in found] == [("warning", check, source)]
    assert found[0].message
    assert found[0].line == 5 + lines.count("\n")


@pytest.mark.parametrize(
    ("frontmatter", "check"),
    [
        ("type: T\ndescription: d", "recommended_title"),
        ("type: T\ntitle: ''\ndescription: d", "recommended_title"),
        ("type: T\ntitle: t", "recommended_description"),
        ("type: T\ntitle: t\ndescription: '  '", "recommended_description"),
        ("type: [T]\ntitle: t\ndescription: d", "type_shape"),
        ("type: T\ntitle: [t]\ndescription: d", "title_shape"),
        ("type: T\ntitle: t\ndescription: {d: e}", "description_shape"),
        ("type: Attested Computation\ntitle: t\ndescription: d", "runtime_required"),
        ("type: ' Attested Computation '\ntitle: t\ndescription: d\nruntime: ''", "runtime_required"),
    ],
)
def test_keys_that_should_be_there(frontmatter: str, check: str) -> None:
    assert checks(frontmatter) == [check]


@pytest.mark.parametrize("kind", ["attested computation", "Attested computation", "Attested Computations"])
def test_only_an_attested_computation_needs_a_runtime(kind: str) -> None:
    assert checks(f"type: {kind}\ntitle: t\ndescription: d") == []


@pytest.mark.parametrize(
    "lines",
    [
        "status: ' Draft '", "status:", "stale_after: 2026-05-01", "stale_after: '2026-05-01T00:00:00Z'", "tags: []",
        "tags: [true, 7, ~]", "sources: []", "verified: {by: x}", "resource:", "timestamp: 2026-01-01T10:00Z",
    ],
)  # fmt: skip
def test_what_is_no_flaw(lines: str) -> None:
    assert checks(BASE + lines) == []


@pytest.mark.parametrize(("path", "expected"), [("INDEX.md", 1), ("a/Log.MD", 1), ("index.MD", 1), ("indexes.md", 0)])
def test_almost_reserved_names(path: str, expected: int) -> None:
    assert checks(BASE, path) == ["reserved_spelling"] * expected


def test_entries_are_numbered_and_values_quoted_in_part() -> None:
    found = problems(BASE + f"sources: [{{resource: a}}, {{resource: b, last_modified: {'x' * 100}}}]")
    assert "`sources[1].last_modified`" in found[0].message
    assert "x" * 39 + "…" in found[0].message
    assert "x" * 40 not in found[0].message


def test_problems_come_in_the_order_of_the_report() -> None:
    frontmatter = "stale_after: x\nstatus: x\nverified: 1\ntags: x\ngenerated: x\ntimestamp: x\nsources: x\nowner: 1\nowner: 2"
    assert checks(frontmatter) == [
        "type_required", "recommended_title", "recommended_description", "tags_shape", "timestamp_format",
        "generated_shape", "verified_shape", "sources_shape", "status_vocabulary", "stale_after_format", "duplicate_key",
    ]  # fmt: skip


def test_the_three_conditions_of_conformance_are_errors() -> None:
    """Frontmatter that parses, a type, reserved files by their rules (OKF §11)."""
    assert not isinstance(parse(b"# no frontmatter\n"), Document)
    assert problems("title: t")[0].level == "error"
    assert reserved.problems("a/index.md", "---\na: b\n---\n", "0.2")[0].level == "error"
    assert reserved.problems("log.md", "## soon\n", "0.2")[0].level == "error"


def test_problems_know_their_lines() -> None:
    found = problems("# first\ntype: T\n\ntags: x\nstatus: y\n")
    assert {p.check: p.line for p in found} == {
        "recommended_title": None,
        "recommended_description": None,
        "tags_shape": 5,
        "status_vocabulary": 6,
    }
