"""Verified, generated, tiers of trust (OKF §5.2, §5.3, §7)."""

from __future__ import annotations

import pytest

from okf_catalog.format import trust
from okf_catalog.format.concept import Concept, read
from okf_catalog.format.frontmatter import Document, parse

HUMAN, MACHINE, NONE = "human-reviewed", "machine-confirmed", "unverified"


def concept(frontmatter: str, rules: str = "0.2") -> Concept:
    found = parse(f"---\n{frontmatter}\n---\n".encode())
    assert isinstance(found, Document), found
    return read("a.md", found, rules)


@pytest.mark.parametrize(
    ("frontmatter", "tier"),
    [
        pytest.param("title: x", NONE, id="no verified"),
        pytest.param("verified:", NONE, id="null"),
        pytest.param("verified: []", NONE, id="empty list"),
        pytest.param("verified: {}", NONE, id="empty mapping"),
        pytest.param("verified: [{}]", NONE, id="a list of an empty mapping"),
        pytest.param("verified: true", NONE, id="true"),
        pytest.param("verified: human:ana", NONE, id="text"),
        pytest.param("verified: [human:ana]", NONE, id="a list of text"),
        pytest.param("verified: {by: checker/1.0}", MACHINE, id="a bare mapping"),
        pytest.param("verified: {by: 'human:ana'}", HUMAN, id="a bare mapping of a person"),
        pytest.param("verified: [{by: 'human:ana'}, text]", HUMAN, id="text beside an event"),
        pytest.param("verified: [{by: a/1}, {by: 'human:ana'}]", HUMAN, id="a person beside a machine"),
        pytest.param("verified: [{by: a/1}, {by: b/2}]", MACHINE, id="machines"),
        pytest.param("verified: [{at: 2026-01-01}]", MACHINE, id="an event by nobody"),
        pytest.param("verified: [{by: ' human:ana '}]", HUMAN, id="blanks around"),
        pytest.param("verified: [{by: 'human:'}]", HUMAN, id="the prefix alone"),
        pytest.param("verified: [{by: 'Human:ana'}]", MACHINE, id="capital"),
        pytest.param("verified: [{by: 'HUMAN:ana'}]", MACHINE, id="capitals"),
        pytest.param("verified: [{by: 'human ana'}]", MACHINE, id="no colon"),
        pytest.param("verified: [{by: 'humans:ana'}]", MACHINE, id="another word"),
        pytest.param("verified: [{by: 'human\uff1aana'}]", MACHINE, id="full-width colon"),
        pytest.param("verified: [{by: 'hum\u0430n:ana'}]", MACHINE, id="a Cyrillic letter"),
        pytest.param("verified: [{by: '\u00a0human:ana'}]", MACHINE, id="a no-break space before"),
        pytest.param("verified: [{by: '\u200bhuman:ana'}]", MACHINE, id="a zero-width space before"),
        pytest.param("verified: [{by: 'x human:ana'}]", MACHINE, id="in the middle"),
        pytest.param("verified: [{by: ['human:ana']}]", MACHINE, id="a list of names"),
        pytest.param("verified: [{By: 'human:ana'}]", MACHINE, id="another key"),
        pytest.param("verified: [{by: 'team:data'}]", MACHINE, id="a team is no person"),
    ],
)  # fmt: skip
def test_tiers(frontmatter: str, tier: str) -> None:
    assert concept(frontmatter).trust_tier == tier


@pytest.mark.parametrize(
    ("actor", "kind"),
    [
        ("human:ana", "human"), ("process:nightly", "process"), ("team:data", "team"), ("indexer/2.1", "agent"),
        ("  human:ana\n", "human"), ("human", "unknown"), ("Process:x", "unknown"), ("a b/1", "unknown"), ("", "unknown"),
        (None, "unknown"), ("https://e.org", "agent"),
    ],
)  # fmt: skip
def test_actor_kinds(actor: str | None, kind: str) -> None:
    assert trust.actor_kind(actor) == kind


GENERATED = "generated: {by: writer/1, at: 2026-03-01T12:00:00+02:00}\n"


@pytest.mark.parametrize(
    ("frontmatter", "current"),
    [
        pytest.param(GENERATED + "verified: {by: 'human:a', at: 2026-03-01T10:00:00Z}", HUMAN, id="the same moment"),
        pytest.param(GENERATED + "verified: {by: 'human:a', at: 2026-03-01T09:59:59Z}", NONE, id="a second before"),
        pytest.param(GENERATED + "verified: {by: 'human:a', at: 2026-03-02}", HUMAN, id="a day after"),
        pytest.param(GENERATED + "verified: {by: 'human:a', at: 2026-03-01}", NONE, id="the same day, from its start"),
        pytest.param(GENERATED + "verified: {by: 'human:a'}", NONE, id="no moment"),
        pytest.param(GENERATED + "verified: {by: 'human:a', at: lately}", NONE, id="an unreadable moment"),
        pytest.param(GENERATED + "verified: [{by: 'human:a', at: 2025-01-01}, {by: b/1, at: 2027-01-01}]", MACHINE,
                     id="an old person, a new machine"),
        pytest.param("verified: {by: 'human:a', at: 2020-01-01}", HUMAN, id="nothing to compare with"),
        pytest.param("generated: {at: lately}\nverified: {by: 'human:a'}", HUMAN, id="generated at an unreadable moment"),
        pytest.param("timestamp: 2026-03-01\nverified: {by: 'human:a', at: 2026-02-01}", NONE, id="legacy timestamp"),
    ],
)  # fmt: skip
def test_the_current_tier_and_the_rules_of_0_3(frontmatter: str, current: str) -> None:
    old, new = concept(frontmatter), concept(frontmatter, "0.3")
    assert old.trust_current == new.trust_current == new.trust_tier == current
    assert old.trust_tier in (HUMAN, MACHINE)


def test_events_keep_their_text_and_order() -> None:
    found = concept(GENERATED + "verified:\n- {by: b/1, at: 2026-03-01T11:00:00Z}\n- {by: 'human:a', at: 1 May}\n- {at: 2026-05-01}")
    assert [tuple(event) for event in found.verifications] == [
        ("b/1", "agent", "2026-03-01T11:00:00Z", "2026-03-01T11:00:00Z", True),
        ("human:a", "human", "1 May", None, False),
        (None, "unknown", "2026-05-01", "2026-05-01T00:00:00Z", True),
    ]
    assert found.verified_at == "2026-05-01T00:00:00Z"


@pytest.mark.parametrize(
    ("frontmatter", "by", "at", "utc"),
    [
        ("title: x", None, None, None),
        ("generated: {by: w/1, at: 2026-01-01}", "w/1", "2026-01-01", "2026-01-01T00:00:00Z"),
        ("generated: {by: w/1}\ntimestamp: 2026-02-01", "w/1", "2026-02-01", "2026-02-01T00:00:00Z"),
        ("generated: {at: 2026-01-01}\ntimestamp: 2026-02-01", None, "2026-01-01", "2026-01-01T00:00:00Z"),
        ("generated: {at: ''}\ntimestamp: 2026-02-01", None, "2026-02-01", "2026-02-01T00:00:00Z"),
        ("generated: w/1\ntimestamp: 2026-02-01", None, "2026-02-01", "2026-02-01T00:00:00Z"),
        ("timestamp: '2026-02-01T00:00:00+01:00'", None, "2026-02-01T00:00:00+01:00", "2026-01-31T23:00:00Z"),
        ("timestamp: ''", None, None, None),
        ("timestamp: false", None, None, None),
        ("generated: {by: '', at: soon}", None, "soon", None),
    ],
)
def test_generated(frontmatter: str, by: str | None, at: str | None, utc: str | None) -> None:
    found = concept(frontmatter)
    assert (found.generated_by, found.generated_at, found.generated_at_utc) == (by, at, utc)
