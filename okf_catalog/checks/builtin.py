"""The checks that come with the package, in the order of the report."""

from __future__ import annotations

from okf_catalog.checks import attestation, completeness, extended, hygiene, links, provenance
from okf_catalog.checks.check import CATEGORIES

CHECKS = sorted(
    (check for module in (links, completeness, provenance, attestation, hygiene, extended) for check in module.checks.checks),
    key=lambda check: CATEGORIES.index(check.category),
)
