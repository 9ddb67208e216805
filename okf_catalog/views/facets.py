"""How many concepts share a value, for one property or for two at once."""

from __future__ import annotations

from typing import Any, NamedTuple

from okf_catalog.views.lists import Asked

Value = str | bool | None


class _Dimension(NamedTuple):
    column: str
    join: str = ""
    option: str | None = None
    """The filter option that narrows to one value."""


_ACTORS = (
    "left join (select id as concept_id, generated_by as name from concepts where generated_by is not null "
    "union select concept_id, by from verifications where by is not null) a on a.concept_id = c.id"
)
DIMENSIONS = {
    "type": _Dimension("c.type", option="--type"),
    "status": _Dimension("c.effective_status", option="--status"),
    "trust": _Dimension("c.trust_tier", option="--trust"),
    "stale": _Dimension("coalesce(c.stale_after_utc <= ?, 0)"),
    "tag": _Dimension("t.tag", "left join tags t on t.concept_id = c.id", "--tag"),
    "dir": _Dimension("c.dir", option="--dir"),
    "source": _Dimension("coalesce(s.resource, s.title)", "left join sources s on s.concept_id = c.id"),
    "actor": _Dimension("a.name", _ACTORS),
    "year": _Dimension("substr(c.generated_at_utc, 1, 4)"),
}
"""What can be counted: `actor` is who generated or verified, `year` that of `generated.at`."""
USUAL = ("type", "status", "trust", "stale", "tag", "dir")


class Count(NamedTuple):
    """A value, or a pair of values, and the concepts that have it. None stands for concepts without a value."""

    values: tuple[Value, ...]
    concepts: int


class Facet(NamedTuple):
    """The values of one property or of two, the most frequent first."""

    by: tuple[str, ...]
    counts: list[Count]


def facet(asked: Asked, by: tuple[str, ...]) -> Facet:
    """Count the concepts by the properties `by`, one or two of `DIMENSIONS`.

    A concept with two tags counts for both, so a column may add up to more than there are
    concepts; it counts once for a value that it has twice.
    """
    where, values = asked.where()
    found = [DIMENSIONS[name] for name in by]
    moments = [asked.now for name in by if name == "stale"]
    columns = ", ".join(f"{dimension.column} as v{number}" for number, dimension in enumerate(found))
    joins = " ".join(dict.fromkeys(dimension.join for dimension in found if dimension.join))
    groups = ", ".join(f"v{number}" for number in range(len(found)))
    rows = asked.connection.execute(
        f"select {groups}, count(distinct id) as n from (select c.id, {columns} from concepts c {joins} where {where}) "
        f"group by {groups} order by n desc, {groups}",
        (*moments, *values),
    )
    return Facet(by, [Count(tuple(_value(name, value) for name, value in zip(by, row[:-1], strict=True)), row[-1]) for row in rows])


def _value(name: str, value: Any) -> Value:
    return bool(value) if name == "stale" else value


def option_for(name: str, value: Value) -> str | None:
    """The option that narrows to a value, ready for a shell; None where there is none."""
    import shlex

    if name == "stale":
        return "--stale-only" if value else None
    option = DIMENSIONS[name].option
    return f"{option} {shlex.quote(str(value))}" if option and value is not None else None
