"""A concept: everything that the catalog knows of one usable file (OKF §4, §5)."""

from __future__ import annotations

from typing import Any, NamedTuple

from okf_catalog.format import links as link_rules
from okf_catalog.format import markdown, references, sources, trust
from okf_catalog.format.frontmatter import Document
from okf_catalog.format.problem import Problem, warning
from okf_catalog.format.values import (
    FIRST_INSTANT,
    dumps,
    filled,
    fold,
    is_blank,
    parse_instant,
    text_of,
    trim,
)
from okf_catalog.format.vocabulary import ATTESTED_COMPUTATION, DEFAULT_STATUS, KNOWN_KEYS


class Link(NamedTuple):
    """A pointer from a concept: in its body, or in its frontmatter."""

    kind: str
    """`link`, `reference`, `autolink` (body); `source`, `superseded_by`, `resource`,
    `computation`, `executor`, `attester` (frontmatter); `undefined` (a reference whose label
    nothing defines), `unused` (a definition that nothing uses): their target is the label."""
    target: str
    target_path: str | None
    """The bundle path it leads to, None for other places. Of a markdown target that climbs out of the bundle, its text."""
    text: str | None
    line: int | None


class Footnote(NamedTuple):
    """A footnote label and the source it names (OKF §13.1)."""

    label: str
    source_position: int | None
    is_defined: bool
    line: int


class Computation(NamedTuple):
    """How the value of an Attested Computation comes about (OKF §10)."""

    runtime: str | None
    computation: str | None
    code: str | None
    language: str | None
    parameters: str | None
    executor: str | None
    executor_receipt: str | None
    attester: str | None


class Concept(NamedTuple):
    """One usable file. Text columns are as written; `*_utc` are `YYYY-MM-DDTHH:MM:SSZ`."""

    path: str
    concept_id: str
    dir: str
    top_dir: str
    stem: str
    type: str | None
    title: str | None
    description: str | None
    tags: list[str]
    status: str | None
    effective_status: str
    trust_tier: str
    trust_current: str
    verified_at: str | None
    generated_by: str | None
    generated_at: str | None
    generated_at_utc: str | None
    stale_after: str | None
    stale_after_utc: str | None
    resource: str | None
    runtime: str | None
    frontmatter: dict[str, Any]
    body: str
    sources: list[sources.Source]
    verifications: list[trust.Verification]
    links: list[Link]
    footnotes: list[Footnote]
    computation: Computation | None
    extra: dict[str, Any]
    problems: list[Problem]


def id_of(path: str) -> str:
    """A concept's id is its path without the extension (OKF §2)."""
    return path[: -len(link_rules.MARKDOWN_SUFFIX)]


def tags_of(value: Any) -> list[str]:
    """The tags: a list of text. Text alone is split at commas; repeats and blanks are dropped."""
    if value is None:
        return []
    if isinstance(value, str):
        text = trim(value)
        if text.startswith("[") and text.endswith("]"):
            text = text[1:-1]
        items: list[Any] = text.split(",")
    elif isinstance(value, list):
        items = value
    else:
        return []
    tags: dict[str, None] = {}
    for item in items:
        tag = trim(item if type(item) is str else text_of(item) or "")
        if tag:
            tags[tag] = None
    return list(tags)


def effective_status(status: str | None) -> str:
    """`status` trimmed and in lower case, `stable` where there is none (OKF §5.4)."""
    return trim(status or "").lower() or DEFAULT_STATUS


def is_concept(document: Document, rules: str) -> bool:
    """Under 0.3 a file without a non-empty `type` is other markdown (OKF 0.3 §3.2)."""
    return rules != "0.3" or not is_blank(document.frontmatter.get("type"))


def read(path: str, document: Document, rules: str) -> Concept:
    """Derive the concept that the document at bundle path `path` is, by the rules of version `rules`."""
    matter = document.frontmatter
    directory = link_rules.directory_of(path)
    concept_id = id_of(path)
    problems = list(document.problems)

    generated_by, generated_at = trust.generated(matter)
    moment = parse_instant(generated_at) if generated_at else None
    generated_utc = moment.utc if moment else None
    events = trust.verifications(matter.get("verified"), generated_utc)
    current = trust.current_tier(events)
    stale_after = filled(matter.get("stale_after"))
    moment = parse_instant(stale_after) if stale_after else None
    stale_utc = moment.utc if moment else None
    if stale_after and moment is None and rules == "0.3":
        stale_utc = FIRST_INSTANT  # OKF 0.3 §5.5 fails closed: unreadable means stale
    status = text_of(matter.get("status"))
    concept_type = filled(matter.get("type"))
    found_sources = sources.read(matter, document.body)
    found = markdown.read(document.body)
    below = document.body_line - 1
    pointers = _body_links(found, directory, below) + _frontmatter_links(matter, found_sources, directory, document)
    if references.may_hold(document.body):
        pointers += _loose_references(document.body, below)

    return Concept(
        path, concept_id, directory, concept_id.partition("/")[0] if "/" in concept_id else "(root)",
        concept_id.rpartition("/")[2], concept_type, filled(matter.get("title")), filled(matter.get("description")),
        tags_of(matter.get("tags")), status, effective_status(status),
        current if rules == "0.3" else trust.tier(events), current,
        max((event.at_utc for event in events if event.at_utc), default=None),
        generated_by, generated_at, generated_utc, stale_after, stale_utc,
        filled(matter.get("resource")), filled(matter.get("runtime")), matter, document.body, found_sources, events,
        pointers, _footnotes(found, found_sources, below),
        _computation(matter, document.body) if trim(concept_type or "") == ATTESTED_COMPUTATION else None,
        {key: value for key, value in matter.items() if key not in KNOWN_KEYS}, problems,
    )  # fmt: skip


def _body_links(found: markdown.Markdown, directory: str, below: int) -> list[Link]:
    return [
        Link(link.kind, link.target, link_rules.markdown_target(link.target, directory), link.text or None,
             link.line + below)
        for link in found.links
    ]  # fmt: skip


def _loose_references(body: str, below: int) -> list[Link]:
    undefined, unused = references.loose(body)
    return [
        Link(kind, entry.label, None, None, entry.line + below)
        for kind, entries in (("undefined", undefined), ("unused", unused))
        for entry in entries
    ]


def _frontmatter_links(
    matter: dict[str, Any], found: list[sources.Source], directory: str, document: Document
) -> list[Link]:
    lines = document.key_lines
    result: list[Link] = []

    def add(kind: str, value: Any, key: str) -> None:
        target = filled(value)
        if target is not None:
            path = link_rules.resolve_path(target, directory) or link_rules.markdown_target(target, directory)
            # Pointers to other places stand in `sources`, `computations` and `concepts` already.
            if path is not None:
                result.append(Link(kind, target, path, None, lines.get(key)))

    for source in found:
        if source.resource is not None:
            add("source", source.resource, "sources")
    for key in ("superseded_by", "resource", "computation"):
        if key in matter:
            for value in matter[key] if isinstance(matter[key], list) else [matter[key]]:
                if isinstance(value, str):
                    add(key, value, key)
    for key in ("executor", "attester"):
        if isinstance(matter.get(key), dict):
            add(key, matter[key].get("resource"), key)
    return result


def _footnotes(found: markdown.Markdown, named: list[sources.Source], below: int) -> list[Footnote]:
    if not found.footnotes:
        return []
    positions: dict[str, int] = {}
    for position, source in enumerate(named):
        if source.source_id is not None:
            positions.setdefault(fold(source.source_id), position)
    return [
        # A definition that nothing refers to cites nothing.
        Footnote(note.label, positions.get(fold(note.label)) if note.is_referenced else None, note.is_defined,
                 note.line + below)
        for note in found.footnotes
    ]


def _computation(matter: dict[str, Any], body: str) -> Computation:
    executor, attester = _mapping(matter.get("executor")), _mapping(matter.get("attester"))
    code, language = _code(body)
    parameters, receipt = matter.get("parameters"), executor.get("receipt")
    return Computation(
        filled(matter.get("runtime")), filled(matter.get("computation")), code, language,
        dumps(parameters) if parameters is not None else None, filled(executor.get("resource")),
        dumps(receipt) if receipt is not None else None, filled(attester.get("resource")),
    )  # fmt: skip


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _code(body: str) -> tuple[str | None, str | None]:
    """The first code block below a `# Computation` heading, before the next heading (OKF §10.3)."""
    if "computation" not in body.lower():
        return None, None
    heads, blocks = markdown.sections(body)
    for position, head in enumerate(heads):
        if head.title.lower() == "computation":
            end = heads[position + 1].line if position + 1 < len(heads) else body.count("\n") + 2
            for start, _, info, code in blocks:
                if head.line < start < end:
                    return code, info.split(" ")[0] or None
    return None, None


def spelling_problem(path: str) -> Problem | None:
    """A remark on a file that is almost reserved: `INDEX.md` is a concept."""
    name = path.rpartition("/")[2]
    if name.lower() in ("index.md", "log.md") and name not in ("index.md", "log.md"):
        return warning("reserved_spelling", f"`{name}` is read as a concept; only `{name.lower()}` is reserved",
                       source="convention")
    return None
