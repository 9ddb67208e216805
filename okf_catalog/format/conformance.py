"""What a concept's frontmatter gets wrong: the rules of OKF §11 and of each key's section.

One function a rule family; the order is the order of the report. Only a missing `type`
is an error, everything else a warning.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from okf_catalog.format.concept import effective_status, spelling_problem
from okf_catalog.format.frontmatter import Document
from okf_catalog.format.problem import Problem, error, warning
from okf_catalog.format.values import Plain, filled, is_blank, json_value, parse_instant, text_of, trim
from okf_catalog.format.vocabulary import ATTESTED_COMPUTATION, STATUSES

CONVENTION = "convention"
_QUOTED = 40


def problems(path: str, document: Document) -> list[Problem]:
    """Everything that the frontmatter of one file gets wrong, in the order of its report."""
    matter, lines = document.frontmatter, document.key_lines
    found: list[Problem] = []
    if is_blank(matter.get("type")):
        hint = next((key for key in matter if key.lower() == "type" and key != "type"), None)
        message = "the frontmatter must include a non-empty `type`"
        found.append(error("type_required", message + (f" (keys are in lower case: `{hint}`)" if hint else ""),
                           lines.get(hint or "type", 1)))
    elif not isinstance(matter["type"], str):
        found.append(warning("type_shape", "`type` should be text", lines.get("type")))
    for key in ("title", "description"):
        if is_blank(matter.get(key)):
            found.append(warning(f"recommended_{key}", f"the frontmatter should include `{key}`", lines.get(key)))
        elif not isinstance(matter[key], str):
            found.append(warning(f"{key}_shape", f"`{key}` should be text", lines.get(key)))
    if "resource" in matter and matter["resource"] is not None and not isinstance(matter["resource"], str):
        found.append(warning("resource_shape", "`resource` should be text", lines.get("resource")))
    # Most concepts use few of these keys; asking first keeps the loop cheap.
    for key, rule in _RULES.items():
        if key in matter:
            found += rule(matter, lines.get(key))
    if trim(filled(matter.get("type")) or "") == ATTESTED_COMPUTATION and is_blank(matter.get("runtime")):
        found.append(warning("runtime_required", "`runtime` is required for an Attested Computation"))
    odd = spelling_problem(path)
    if odd:
        found.append(odd)
    return [*found, *document.problems]


def _quote(value: Any) -> str:
    text = text_of(value) or ""
    return f"`{text if len(text) <= _QUOTED else text[: _QUOTED - 1] + '…'}`"


def _instant(check: str, name: str, value: Any, line: int | None) -> Iterator[Problem]:
    """A moment is a date or a datetime with offset."""
    if value is None:
        return
    moment = parse_instant(value) if isinstance(value, str) else None
    if moment is None:
        yield warning(check, f"{name} {_quote(value)} should be an ISO 8601 date or datetime with offset", line)
    elif moment.kind == "naive":
        yield warning(check, f"{name} {_quote(value)} has no offset; it is read as UTC", line)


def _tags(matter: dict[str, Any], line: int | None) -> Iterator[Problem]:
    value = matter["tags"]
    if not isinstance(value, list):
        yield warning("tags_shape", "`tags` should be a list", line)
    elif any(isinstance(tag, (dict, list)) for tag in value):
        yield warning("tags_shape", "each of `tags` should be text", line)


def _timestamp(matter: dict[str, Any], line: int | None) -> Iterator[Problem]:
    yield from _instant("timestamp_format", "`timestamp`", matter["timestamp"], line)


def _generated(matter: dict[str, Any], line: int | None) -> Iterator[Problem]:
    value = matter["generated"]
    if not isinstance(value, dict):
        yield warning("generated_shape", "`generated` should be a mapping", line)
        return
    if is_blank(value.get("by")):
        yield warning("generated_by", "`generated` should include `by`", line)
    if "at" in value:
        yield from _instant("generated_at_format", "`generated.at`", value["at"], line)


def _verified(matter: dict[str, Any], line: int | None) -> Iterator[Problem]:
    value = matter["verified"]
    entries = [value] if isinstance(value, dict) else value
    if not isinstance(entries, list):
        yield warning("verified_shape", "`verified` should be a mapping or a list of mappings", line)
        return
    if not entries:
        yield warning("verified_shape", "`verified` is empty: nothing was verified", line, source=CONVENTION)
    for position, entry in enumerate(entries):
        name = f"verified[{position}]"
        if not isinstance(entry, dict):
            yield warning("verified_entry_shape", f"`{name}` should be a mapping", line)
            continue
        if is_blank(entry.get("by")):
            yield warning("verified_entry_by", f"`{name}` should include `by`", line, source=CONVENTION)
        if "at" in entry:
            yield from _instant("verified_entry_at_format", f"`{name}.at`", entry["at"], line)


def _sources(matter: dict[str, Any], line: int | None) -> Iterator[Problem]:
    value = matter["sources"]
    if not isinstance(value, list):
        yield warning("sources_shape", "`sources` should be a list", line)
        return
    for position, entry in enumerate(value):
        name = f"sources[{position}]"
        if not isinstance(entry, dict):
            yield warning("source_entry_shape", f"`{name}` should be a mapping", line)
            continue
        if is_blank(entry.get("resource")):
            yield warning("source_resource", f"`{name}` should include `resource`", line)
        if "last_modified" in entry:
            yield from _instant("source_last_modified", f"`{name}.last_modified`", entry["last_modified"], line)
        if "usage_count" in entry and not _is_integer(entry["usage_count"]):
            yield warning("source_usage_count", f"`{name}.usage_count` {_quote(entry['usage_count'])} should be an "
                          "integer of at most 64 bits", line, source=CONVENTION)
        if "usage_window" in entry:
            window = entry["usage_window"]
            if isinstance(window, dict):
                yield from _window(f"{name}.usage_window", window, line)
            else:
                yield warning("source_usage_window_shape", f"`{name}.usage_window` should be a mapping", line,
                              source=CONVENTION)


def _is_integer(value: Any) -> bool:
    return type(value) is Plain and type(json_value(value)) is int


def _window(name: str, window: dict[str, Any], line: int | None) -> Iterator[Problem]:
    for end in ("from", "to"):
        if end in window:
            yield from _instant("usage_window_date", f"`{name}.{end}`", window[end], line)


def _usage_window(matter: dict[str, Any], line: int | None) -> Iterator[Problem]:
    if isinstance(matter["usage_window"], dict):
        yield from _window("usage_window", matter["usage_window"], line)
    else:
        yield warning("usage_window_shape", "`usage_window` should be a mapping", line)


def _status(matter: dict[str, Any], line: int | None) -> Iterator[Problem]:
    value = matter["status"]
    if value is not None and (is_blank(value) or effective_status(text_of(value)) not in STATUSES):
        yield warning("status_vocabulary", f"`status` {_quote(value)} should be one of {', '.join(STATUSES)}", line)


def _stale_after(matter: dict[str, Any], line: int | None) -> Iterator[Problem]:
    yield from _instant("stale_after_format", "`stale_after`", matter["stale_after"], line)


def _parameters(matter: dict[str, Any], line: int | None) -> Iterator[Problem]:
    value = matter["parameters"]
    if not isinstance(value, list):
        yield warning("parameters_shape", "`parameters` should be a list", line)
        return
    for position, entry in enumerate(value):
        if not isinstance(entry, dict):
            yield warning("parameter_entry_shape", f"`parameters[{position}]` should be a mapping", line)
        elif is_blank(entry.get("name")):
            yield warning("parameter_name", f"`parameters[{position}]` should include `name`", line,
                          source=CONVENTION)


def _resource_mapping(key: str) -> Any:
    def rule(matter: dict[str, Any], line: int | None) -> Iterator[Problem]:
        if not isinstance(matter[key], dict):
            yield warning(f"{key}_shape", f"`{key}` should be a mapping", line)
        elif is_blank(matter[key].get("resource")):
            yield warning(f"{key}_resource", f"`{key}` should include `resource`", line, source=CONVENTION)

    return rule


_RULES: dict[str, Any] = {
    "tags": _tags,
    "timestamp": _timestamp,
    "generated": _generated,
    "verified": _verified,
    "sources": _sources,
    "usage_window": _usage_window,
    "status": _status,
    "stale_after": _stale_after,
    "parameters": _parameters,
    "executor": _resource_mapping("executor"),
    "attester": _resource_mapping("attester"),
}
