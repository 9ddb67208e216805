"""The words that the specification fixes. Costs nothing to import."""

from __future__ import annotations

DEFAULT_STATUS = "stable"
STATUSES = ("draft", "stable", "deprecated")
"""The values of `status` (OKF §5.4)."""
RESERVED = {"index.md": "index", "log.md": "log"}
"""File names that are never concepts, at any depth, exactly so spelled (OKF §3.1)."""
ATTESTED_COMPUTATION = "Attested Computation"
"""The type of OKF §10."""

KNOWN_KEYS = frozenset([
    "type", "title", "description", "resource", "tags", "status", "stale_after", "generated", "verified",
    "sources", "usage_window", "timestamp", "superseded_by", "runtime", "parameters", "computation", "executor",
    "attester",
])  # fmt: skip
"""The frontmatter keys that the specification names (OKF §4, §5, §10)."""

GRAPH_KINDS = ("link", "reference", "source", "superseded_by")
"""The kinds of `links` that are edges of the graph: written in the body, given as a source or as the replacement."""

KNOWN_VERSIONS = ("0.1", "0.2", "0.3")
NEWEST_VERSION = KNOWN_VERSIONS[-1]


def rules_of(version: str | None) -> str:
    """The version whose rules apply: unknown ones are read by the newest rules known."""
    if version is None:
        return "0.2"
    return version if version in KNOWN_VERSIONS else NEWEST_VERSION
