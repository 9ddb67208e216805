"""What the concepts of a bundle rest on: one row a source, whoever names it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

Row = dict[str, Any]

CONCEPT, FILE, OTHER = "concept", "file", "other"
KEYS = ("source", "kind", "title", "author", "concepts", "last_modified", "usage_count", "outdated", "outdated_concepts")
"""`source` is the path in the bundle, else the resource, else the title; `kind` says what lies there: `concept`, `file`
(a path that is none) or `other`; `last_modified` is the newest that any concept gives, UTC; `outdated` counts the
concepts that were generated before it, `outdated_concepts` are their paths."""

# A path means another file in each directory: the link of the concept says which.
KEYED = """
select s.concept_id, c.path, c.generated_at_utc, s.title, s.author, s.usage_count, s.last_modified_utc,
  (select l.target_path from links l where l.concept_id = s.concept_id and l.kind = 'source' and l.target = s.resource) as place,
  s.resource, s.source_id
from sources s join concepts c on c.id = s.concept_id
where c.bundle = ?1
"""
_SOURCES = f"""
with named as materialized (
  select *, coalesce(place, resource, title, source_id) as source from ({KEYED})
), newest as materialized (
  select source, max(place is not null) as inside, max(title) as title, max(author) as author,
    count(distinct concept_id) as concepts, max(last_modified_utc) as modified, max(usage_count) as used
  from named where source is not null group by source
), late as (
  select n.source, count(distinct n.path) as outdated, json_group_array(distinct n.path) as paths
  from named n join newest w on w.source = n.source where n.generated_at_utc < w.modified group by n.source
)
select w.source, w.inside,
  w.inside and exists (select 1 from concepts t where t.bundle = ?1 and t.path = w.source) as is_concept,
  w.title, w.author, w.concepts, w.modified, w.used, coalesce(l.outdated, 0), l.paths
from newest w left join late l on l.source = w.source
{{where}} order by w.concepts desc, w.source
"""


def sources(connection: sqlite3.Connection, bundle: str, *, only_newer: bool = False) -> Iterator[Row]:
    """The distinct sources of a bundle, the most used first; rows have `KEYS`.

    `only_newer` leaves those that were modified after a concept that rests on them was generated.
    """
    import json

    sql = _SOURCES.format(where="where l.outdated > 0" if only_newer else "")
    for source, inside, is_concept, title, author, concepts, modified, used, outdated, paths in connection.execute(sql, (bundle,)):
        yield {
            "source": source, "kind": CONCEPT if is_concept else FILE if inside else OTHER, "title": title, "author": author,
            "concepts": concepts, "last_modified": modified, "usage_count": used, "outdated": outdated,
            "outdated_concepts": sorted(json.loads(paths)) if paths else [],
        }  # fmt: skip
