"""Can a reader see what a concept rests on, and who stands for it? (OKF §5.1, §7, §13)"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import chain

from okf_catalog.checks.check import INFO, WARN, Catalogue, Found, Subject
from okf_catalog.checks.links import MISSING
from okf_catalog.format import links
from okf_catalog.format.values import trim

checks = Catalogue()


@checks("uncited_external", INFO, "Provenance", "It leans on the outside world without naming it as a source (OKF §5.1).")
def uncited_external(subject: Subject) -> Iterator[Found]:
    subject.connection.create_function("okf_is_external", 1, links.is_external, deterministic=True)
    for row_id, path, count, line in subject.rows("""
        select c.id, c.path, count(*), min(l.line) from concepts c join links l on l.concept_id = c.id
        where c.bundle = :bundle and c.source_count = 0 and l.kind in ('link', 'reference') and l.target_path is null
          and okf_is_external(l.target)
        group by c.id order by c.path
    """):
        if row_id not in subject.citing:
            yield Found(path, "links to external places but names no sources", {"external_count": count}, line)


@checks("broken_source", WARN, "Provenance", "What it rests on cannot be looked up (OKF §5.1).")
def broken_source(subject: Subject) -> Iterator[Found]:
    named = (
        Found(path, f"its source `{target}` does not exist in the bundle", {"target": target_path}, line)
        for path, target, target_path, line in subject.rows(f"""
            select c.path, l.target, l.target_path, coalesce(min(l.line), (
              select min(b.line) from links b where b.concept_id = c.id and b.target = l.target))
            from links l join concepts c on c.id = l.concept_id
            where c.bundle = :bundle and l.kind = 'source' and l.target_id is null and l.target_path is not null
              and l.target_path like '%.md' and {MISSING.format(path="l.target_path")}
            group by c.id, l.target order by c.path, min(l.position)
        """)
    )
    seen: set[tuple[str | None, str]] = set()
    # `sorted` is stable: inside a concept, sources come before what is left of citations.
    for found in sorted(chain(named, _leftovers(subject)), key=lambda item: item.path or ""):
        if (found.path, found.message) not in seen:
            seen.add((found.path, found.message))
            yield found


def _leftovers(subject: Subject) -> Iterator[Found]:
    """Broken targets in a `# Citations` section that a concept with `sources` still has."""
    if not subject.citing:
        return
    from okf_catalog.format import sources  # loads the markdown parser

    for row_id in sorted(subject.citing):
        for path, directory, body in subject.rows(
            "select c.path, c.dir, b.body from concepts c join bodies b on b.concept_id = c.id "
            "where c.id = :id and exists (select 1 from sources s where s.concept_id = c.id and not s.legacy)",
            id=row_id,
        ):
            for entry in sources.citations(body):
                target = entry.resource or ""
                target_path = links.markdown_target(target, directory)
                missing = f"select 1 where {MISSING.format(path=':path')}"
                if target_path is not None and next(subject.rows(missing, path=target_path), None):
                    message = f"its source `{target}` does not exist in the bundle"
                    line = next(subject.rows("select min(line) from links where concept_id = :id and target = :target",
                                             id=row_id, target=target))[0]  # fmt: skip
                    yield Found(path, message, {"target": target_path}, line)


@checks("unattributed_claim", WARN, "Provenance", "A footnote names a source that is not there: the claim hangs in the air (OKF §13.1).")
def unattributed_claim(subject: Subject) -> Iterator[Found]:
    for path, label, line in subject.rows("""
        select c.path, f.label, f.line from footnotes f join concepts c on c.id = f.concept_id
        where c.bundle = :bundle and f.source_position is null and not f.is_defined
          and exists (select 1 from sources s where s.concept_id = c.id and s.source_id is not null)
        order by c.path, f.line, f.label
    """):
        yield Found(path, f"the footnote `[^{label}]` is the id of none of its sources", {"label": label}, line)


@checks("unused_source", INFO, "Provenance", "Nobody can tell which claim it supports (OKF §13.1).")
def unused_source(subject: Subject) -> Iterator[Found]:
    # Two sources may have one id; a footnote then names both.
    for path, source_id, line in subject.rows("""
        select c.path, s.source_id,
          (select min(l.line) from links l where l.concept_id = c.id and l.kind = 'source' and l.target = s.resource)
        from sources s join concepts c on c.id = s.concept_id
        where c.bundle = :bundle and s.source_id is not null and not exists (
          select 1 from footnotes f join sources o on o.concept_id = f.concept_id and o.position = f.source_position
          where f.concept_id = s.concept_id
            and (o.source_id = s.source_id or okf_fold(o.source_id) = okf_fold(s.source_id)))
        order by c.path, s.position
    """):
        yield Found(path, f"no footnote refers to its source `{source_id}`", {"id": source_id}, line)


_FORMS = re.compile(r"[^\s/]\S*/\S+|(?:human|process):\S+")
_TEAM = re.compile(r"team:\S+")


def _is_actor(name: str, rules: str) -> bool:
    """True for the forms of OKF §7; 0.3 adds `team:`."""
    return bool(_FORMS.fullmatch(name) or (rules == "0.3" and _TEAM.fullmatch(name)))


@checks("unprefixed_actor", INFO, "Provenance", "A person cannot be told from a program (OKF §7).")
def unprefixed_actor(subject: Subject) -> Iterator[Found]:
    # Few actors write most concepts: first the names, then the places of the odd ones.
    names = subject.rows("""
        select generated_by from concepts where bundle = :bundle and generated_by is not null
        union
        select v.by from verifications v join concepts c on c.id = v.concept_id where c.bundle = :bundle and v.by is not null
    """)
    odd = json.dumps([name for (name,) in names if not _is_actor(trim(name), subject.rules)])
    for path, field, actor, _ in subject.rows("""
        select path, 'generated.by', generated_by, -1 from concepts
        where bundle = :bundle and generated_by in (select value from json_each(:odd))
        union all
        select c.path, 'verified.by', v.by, v.position from verifications v join concepts c on c.id = v.concept_id
        where c.bundle = :bundle and v.by in (select value from json_each(:odd))
        order by 1, 4
    """, odd=odd):  # fmt: skip
        yield Found(path, _actor_message(field, actor), {"by": actor, "field": field})


def _actor_message(field: str, actor: str) -> str:
    forms = f"{field} `{actor}` is not written `producer/version`, `human:id` or `process:id`"
    if field == "generated.by":
        return f"{forms}: a person cannot be told from a program"
    if trim(actor).startswith("human:"):
        return f"{forms}: it counts as human-reviewed, but its id has blanks"
    return f"{forms}: it counts as machine-confirmed; if a person confirmed it, write human:id"
