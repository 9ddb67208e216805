"""What is left over from v0.1 (OKF §13), and small disorders."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from okf_catalog.catalog.edges import KINDS
from okf_catalog.checks.check import INFO, WARN, Catalogue, Found, Subject, some

checks = Catalogue()


@checks("legacy_timestamp", INFO, "Migration", "v0.1's `timestamp` does not say who wrote it (OKF §13).")
def legacy_timestamp(subject: Subject) -> Iterator[Found]:
    paths = [path for (path,) in subject.rows("""
        select path from concepts
        where bundle = :bundle and frontmatter glob '*"timestamp"*' and json_type(frontmatter, '$.timestamp') is not null
        order by path
    """)]  # fmt: skip
    if paths:
        yield Found(None, f"{len(paths)} concept(s) have v0.1's `timestamp`; write generated: {{by: …, at: …}} ({some(paths)})",
                    {"concepts": paths}, place=paths[0])  # fmt: skip


@checks("legacy_citations", INFO, "Migration", "v0.1's `# Citations` cannot be tied to claims (OKF §13.1).")
def legacy_citations(subject: Subject) -> Iterator[Found]:
    if not subject.citing:
        return
    paths = [path for (path,) in subject.rows(
        "select path from concepts where id in (select value from json_each(:ids)) order by path",
        ids=json.dumps(sorted(subject.citing)),
    )]  # fmt: skip
    yield Found(None, f"{len(paths)} concept(s) have v0.1's `# Citations` section; list `sources` and cite them with "
                f"footnotes ({some(paths)})", {"concepts": paths}, place=paths[0])  # fmt: skip


@checks("duplicate_title", INFO, "Hygiene", "In a list the two look the same.")
def duplicate_title(subject: Subject) -> Iterator[Found]:
    # The bare columns are those of the row with the least path.
    for first, title, ids in subject.rows("""
        select min(path), trim(title), json_group_array(concept_id) from concepts
        where bundle = :bundle and title is not null
        group by okf_fold(trim(title)) having count(*) > 1 order by min(path)
    """):
        concepts = sorted(json.loads(ids))
        yield Found(None, f'{len(concepts)} concepts have the title "{title}": {some(concepts)}', {"title": title, "concepts": concepts},
                    place=first)  # fmt: skip


def _reference_links(subject: Subject, kind: str) -> Iterator[tuple[Any, ...]]:
    yield from subject.rows(
        f"select c.path, l.target, l.line from links l indexed by links_beside_graph join concepts c on c.id = l.concept_id "
        f"where c.bundle = :bundle and l.kind not in {KINDS} and l.kind = :kind order by c.path, l.position",
        kind=kind,
    )


@checks("unused_reference_def", INFO, "Hygiene", "It is left over, or its use is misspelt.")
def unused_reference_def(subject: Subject) -> Iterator[Found]:
    for path, label, line in _reference_links(subject, "unused"):
        yield Found(path, f"`[{label}]: …` is defined and never used", {"label": label}, line)


@checks("undefined_reference", WARN, "Hygiene", "It shows as plain text, so nobody learns that a link was meant.")
def undefined_reference(subject: Subject) -> Iterator[Found]:
    for path, label, line in _reference_links(subject, "undefined"):
        yield Found(path, f"nothing defines the label `[{label}]`: the link shows as text", {"label": label}, line)


@checks("self_link", INFO, "Hygiene", "It leads the reader nowhere.")
def self_link(subject: Subject) -> Iterator[Found]:
    for path, count, line in subject.rows("""
        select c.path, count(*), min(l.line) from links l join concepts c on c.id = l.concept_id
        where c.bundle = :bundle and l.target_id = l.concept_id and l.kind in ('link', 'reference')
        group by c.id order by c.path
    """):
        yield Found(path, "links to itself", {"count": count}, line)


_DAY = re.compile(r"^## +([0-9]{4}-[0-9]{2}-[0-9]{2})[ \t]*$", re.MULTILINE)


@checks("log_order", INFO, "Hygiene", "A log is read from the top, the newest first (OKF §9).")
def log_order(subject: Subject) -> Iterator[Found]:
    for path, text in subject.rows(
        "select path, text from reserved_files where bundle = :bundle and kind = 'log' order by path"
    ):
        headings = list(_DAY.finditer(text))
        days = [heading[1] for heading in headings]
        if days != sorted(days, reverse=True):
            wrong = next(place for place in range(1, len(days)) if days[place] > days[place - 1])
            line = text.count("\n", 0, headings[wrong].start()) + 1
            yield Found(path, f"its days are not newest first: {', '.join(days)}", {"dates": days}, line)
