"""Checks beyond the reference's: they run with `--extended` or by name, so that plain reports stay comparable."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256

from okf_catalog.checks.check import EDGES, INFO, WARN, Catalogue, Found, Subject, some
from okf_catalog.format.values import trim
from okf_catalog.format.vocabulary import KNOWN_KEYS, STATUSES

checks = Catalogue()
_CATEGORY = "Extended"
_NEAR = 0.8
"""Likeness (difflib) from which on a key counts as misspelt: one wrong letter in five."""


@checks("verification_outdated", WARN, _CATEGORY, "Whoever confirmed it saw another content (OKF §5.3).", extended=True)
def verification_outdated(subject: Subject) -> Iterator[Found]:
    # Only where trust was lost by it: a later confirmation of the same weight makes up for an earlier one.
    for path, by, at, generated_at in subject.rows("""
        select c.path, v.by, max(v.at_utc), c.generated_at from verifications v join concepts c on c.id = v.concept_id
        where c.bundle = :bundle and v.at_utc < c.generated_at_utc and c.trust_current <> 'human-reviewed'
          and (v.actor_kind = 'human' or c.trust_current = 'unverified')
        group by c.id order by c.path
    """):
        who = f" by {by}" if by else ""
        yield Found(path, f"its verification{who} on {at} is older than its content, generated on {generated_at}",
                    {"verified_at": at, "generated_at": generated_at})  # fmt: skip


@checks("source_newer", INFO, _CATEGORY, "What it rests on has changed since it was written (OKF §5.1).", extended=True)
def source_newer(subject: Subject) -> Iterator[Found]:
    for path, source, modified, generated_at in subject.rows("""
        select c.path, coalesce(s.source_id, s.resource, s.title), s.last_modified, c.generated_at
        from sources s join concepts c on c.id = s.concept_id
        where c.bundle = :bundle and s.last_modified_utc > c.generated_at_utc order by c.path, s.position
    """):
        yield Found(path, f"its source `{source}` was modified on {modified}, after it was generated on {generated_at}",
                    {"source": source, "last_modified": modified, "generated_at": generated_at})  # fmt: skip


@checks("deprecated_linked", WARN, _CATEGORY, "It sends the reader to what should no longer be used (OKF §5.4).", extended=True)
def deprecated_linked(subject: Subject) -> Iterator[Found]:
    # Its own replacement, and who it replaces, may be named.
    for path, target, line in subject.rows(f"""
        select c.path, t.path, min(l.line) from links l
        join concepts t on t.id = l.target_id join concepts c on c.id = l.concept_id
        where t.bundle = :bundle and t.effective_status = 'deprecated' and c.effective_status <> 'deprecated'
          and l.kind in {EDGES}
          and not exists (select 1 from links r where r.concept_id = t.id and r.target_id = c.id and r.kind = 'superseded_by')
        group by c.id, t.id order by c.path, t.path
    """):
        yield Found(path, f"links to {target}, which is deprecated", {"target": target}, line)


def _digest(body: str) -> bytes | None:
    """Stands for a body, so that SQLite need not sort whole texts; None for an empty one."""
    text = trim(body)
    return sha256(text.encode("utf-8", "surrogatepass")).digest() if text else None


@checks("duplicate_content", INFO, _CATEGORY, "Two copies drift apart.", extended=True)
def duplicate_content(subject: Subject) -> Iterator[Found]:
    subject.connection.create_function("okf_digest", 1, _digest, deterministic=True)
    for first, paths in subject.rows("""
        select min(c.path), json_group_array(c.path) from concepts c join bodies b on b.concept_id = c.id
        where c.bundle = :bundle and okf_digest(b.body) is not null
        group by okf_digest(b.body) having count(*) > 1 order by min(c.path)
    """):
        concepts = sorted(json.loads(paths))
        yield Found(None, f"{len(concepts)} concepts have the same body: {some(concepts)}", {"concepts": concepts},
                    place=first)  # fmt: skip


@checks("unknown_status", WARN, _CATEGORY, "Filters for stable, draft or deprecated do not find it (OKF §5.4).", extended=True)
def unknown_status(subject: Subject) -> Iterator[Found]:
    for path, status in subject.rows(
        "select path, status from concepts where bundle = :bundle "
        "and effective_status not in (select value from json_each(:known)) order by path",
        known=json.dumps(STATUSES),
    ):
        yield Found(path, f"status `{status}` is none of {', '.join(STATUSES)}", {"status": status})


@checks("misspelt_key", WARN, _CATEGORY, "Nobody reads a key that is almost one of the specification's (OKF §4).", extended=True)
def misspelt_key(subject: Subject) -> Iterator[Found]:
    from difflib import get_close_matches

    keys = [key for (key,) in subject.rows(
        "select distinct k.key from extra_keys k join concepts c on c.id = k.concept_id where c.bundle = :bundle"
    )]  # fmt: skip
    meant = {}
    for key in keys:
        word = key.strip().lower().replace("-", "_").replace(" ", "_")
        near = [word] if word in KNOWN_KEYS else get_close_matches(word[:40], sorted(KNOWN_KEYS), 1, _NEAR)
        if near:
            meant[key] = near[0]
    for path, key in subject.rows(
        "select c.path, k.key from extra_keys k join concepts c on c.id = k.concept_id "
        "where c.bundle = :bundle and k.key in (select value from json_each(:keys)) order by c.path, k.key",
        keys=json.dumps(list(meant)),
    ):
        yield Found(path, f"the key `{key}` is none of the specification; `{meant[key]}` is", {"key": key, "meant": meant[key]})
