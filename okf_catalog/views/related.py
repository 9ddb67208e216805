"""What has to do with a concept: links both ways, tags and sources in common."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from okf_catalog.views.sources import KEYED

Row = dict[str, Any]

KEYS = ("path", "id", "title", "type", "status", "links_to", "linked_from", "tags", "sources", "also")
"""`links_to` and `linked_from` are flags seen from the concept that was asked about, `tags` and `sources` what the two
have in common, `also` other ties, read from the one asked about to the other: `rests_on` (the other is a source of it), `source_of`,
`superseded_by`, `supersedes`, `computation`, `computation_of`, and so for `resource`, `executor` and `attester`."""
_ALSO = {("source", "to"): "rests_on", ("superseded_by", "from"): "supersedes"}

_TIES = """
select l.target_id, 'to', l.kind from links l where l.concept_id = ?1 and l.target_id is not null and l.target_id <> ?1
union
select l.concept_id, 'from', l.kind from links l where l.target_id = ?1 and l.concept_id <> ?1
"""
_TAGS = """
select o.concept_id, json_group_array(m.tag) from tags m join tags o on o.folded = m.folded and o.concept_id <> m.concept_id
join concepts c on c.id = o.concept_id where m.concept_id = ?1 and c.bundle = ?2 group by o.concept_id
"""
_KEYED = "select concept_id, coalesce(place, resource, title) as source from ({})"
_SOURCES = f"""
with mine as materialized ({_KEYED.format(KEYED + " and s.concept_id = ?2")}),
alike as materialized (
  select s.concept_id, s.position from sources s where s.concept_id <> ?2 and s.resource in
    (select resource from sources where concept_id = ?2 union all select source from mine)
  union
  select s.concept_id, s.position from mine m cross join links l on l.target_path = m.source and l.kind = 'source'
  join sources s on s.concept_id = l.concept_id and s.resource = l.target where s.concept_id <> ?2
  union
  select s.concept_id, s.position from sources s where s.resource is null and s.title in (select source from mine) and s.concept_id <> ?2
)
select concept_id, json_group_array(distinct source) from (
  {_KEYED.format(KEYED + " and (s.concept_id, s.position) in (select concept_id, position from alike)")}
) where source in (select source from mine) group by concept_id
"""


def related(connection: sqlite3.Connection, bundle: str, path: str) -> list[Row] | None:
    """The concepts that have to do with the one at `path`, the closest first; rows have `KEYS`.

    Linked ones come first (both ways before one), then those with most sources, then most tags in common.
    None where there is no concept at `path`.
    """
    one = connection.execute("select id from concepts where bundle = ? and path = ?", (bundle, path)).fetchone()
    if one is None:
        return None
    found: dict[int, Row] = {}

    def row(row_id: int) -> Row:
        return found.setdefault(row_id, {"links_to": False, "linked_from": False, "tags": [], "sources": [], "also": []})

    for row_id, way, kind in connection.execute(_TIES, one):
        other = row(row_id)
        if kind in ("link", "reference", "autolink"):
            other["links_to" if way == "to" else "linked_from"] = True
        else:
            name = _ALSO.get((kind, way), kind if way == "to" else f"{kind}_of")
            other["also"] = sorted({*other["also"], name})
    for row_id, tags in connection.execute(_TAGS, (*one, bundle)):
        row(row_id)["tags"] = sorted(json.loads(tags))
    for row_id, shared in connection.execute(_SOURCES, (bundle, *one)):
        row(row_id)["sources"] = sorted(json.loads(shared))
    names = connection.execute(
        "select id, path, concept_id, coalesce(title, stem), type, effective_status from concepts "
        "where id in (select value from json_each(?))",
        (json.dumps(list(found)),),
    )
    rows = [
        {"path": place, "id": name, "title": title, "type": kind, "status": status, **found[row_id]}
        for row_id, place, name, title, kind, status in names
    ]
    rows.sort(key=lambda each: (-each["links_to"] - each["linked_from"] - len(each["also"]), -len(each["sources"]),
                                -len(each["tags"]), each["path"]))  # fmt: skip
    return rows
