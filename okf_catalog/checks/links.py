"""Can a reader get everywhere, and does everything that is linked exist? (OKF §6, §8)"""

from __future__ import annotations

import json
from collections.abc import Iterator

from okf_catalog.checks.check import INFO, WARN, Catalogue, Found, Subject, some
from okf_catalog.checks.graph import id_of

checks = Catalogue()

MISSING = " and ".join(
    f"not exists (select 1 from {table} e where e.bundle = :bundle and e.path = {{path}})"
    for table in ("concepts", "reserved_files", "parse_errors")
)
"""SQL: no file of the bundle has this path. One by one, for nearly everything that is linked is a concept."""


@checks("orphan", WARN, "Reachability", "Nobody who follows links and indexes ever gets to it.")
def orphan(subject: Subject) -> Iterator[Found]:
    graph = subject.graph
    unreached = [graph.nodes[node] for node, degree in graph.in_degree.items() if not degree]
    for (path,) in subject.rows("""
        select u.value from json_each(:paths) u where u.value not in (
          select f.target_path from file_links f join reserved_files r on r.bundle = f.bundle and r.path = f.path
          where f.bundle = :bundle and r.kind = 'index' and f.target_path is not null)
        order by u.key
    """, paths=json.dumps(unreached)):  # fmt: skip
        yield Found(path, "no concept links here and no index.md lists it")


@checks("not_in_index", WARN, "Reachability", "Who opens the index of the directory does not learn of it.")
def not_in_index(subject: Subject) -> Iterator[Found]:
    for index, path in subject.rows("""
        select r.path, c.path from concepts c cross join reserved_files r
          on r.bundle = c.bundle and r.kind = 'index' and r.path = iif(c.dir = '.', '', c.dir || '/') || 'index.md'
        where c.bundle = :bundle
        except
        select f.path, f.target_path from file_links f where f.bundle = :bundle
        order by 1, 2
    """):
        yield Found(path, f"its directory has an index ({index}) that does not list it", {"index": index})


@checks("disconnected_component", INFO, "Reachability", "No link leads from the rest of the bundle to these, or back.")
def disconnected_component(subject: Subject) -> Iterator[Found]:
    nodes, parts = subject.graph.nodes, subject.graph.components
    if len(parts) < 2:
        return
    mainland = max(parts, key=len)  # the first of equals
    for part in parts:
        if part is not mainland and len(part) > 1:
            members = sorted(id_of(nodes[node]) for node in part)
            yield Found(None, f"{len(members)} concepts are linked with each other and with nothing else: {some(members)}",
                        {"size": len(members), "members": members}, place=nodes[part[0]])  # fmt: skip


@checks("unlinked", INFO, "Reachability", "It has no links in either direction: it floats.")
def unlinked(subject: Subject) -> Iterator[Found]:
    nodes = subject.graph.nodes
    for part in subject.graph.components:
        if len(part) == 1:
            yield Found(nodes[part[0]], "no links in or out")


@checks("missing_concept", INFO, "Backlog", "Somebody counted on it: the more links, the more it is worth writing.")
def missing_concept(subject: Subject) -> Iterator[Found]:
    for target, references, concepts, place, line in subject.rows(f"""
        select l.target_path, count(*), count(distinct l.concept_id), min(c.path), l.line
        from links l join concepts c on c.id = l.concept_id
        where c.bundle = :bundle and l.kind in ('link', 'reference')
          and l.target_id is null and l.target_path is not null and {MISSING.format(path="l.target_path")}
        group by l.target_path
        order by count(*) desc, l.target_path
    """):
        yield Found(
            target, f"does not exist, but {references} link(s) in {concepts} concept(s) lead to it",
            {"references": references, "sources": concepts}, line, place,
        )  # fmt: skip


@checks("broken_index_entry", WARN, "Backlog", "An index promises what is not there.")
def broken_index_entry(subject: Subject) -> Iterator[Found]:
    for index, target, path, line in subject.rows(f"""
        select f.path, f.target, f.target_path, f.line
        from file_links f join reserved_files r on r.bundle = f.bundle and r.path = f.path
        where f.bundle = :bundle and r.kind = 'index' and f.target_path is not null
          and {MISSING.format(path="f.target_path")}
        order by f.path, f.position
    """):
        yield Found(index, f"lists `{target}`, which does not exist", {"target": path}, line)
