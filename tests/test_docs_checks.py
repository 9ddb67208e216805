"""docs/checks.md names every check as it is."""

from __future__ import annotations

from okf_catalog.checks.check import registry
from tests.conftest import ROOT


def test_the_table_of_checks_is_the_registry():
    text = (ROOT / "docs" / "checks.md").read_text()
    rows = [f"| {check.category} | `{check.id}` | {check.severity} | {check.reason} |" for check in registry().checks.values()]
    assert "\n".join(rows) in text


def test_the_readme_counts_the_checks():
    assert f"{len(registry().checks)} checks" in (ROOT / "README.md").read_text()
