"""A request in words to filters: "stale deprecated metrics tagged finance".

Fixed phrases for status, staleness and trust, the types of the bundle by their last
word, tags after "tagged" or "with tag"; what remains is text to look for. A fixed table,
not a language model: the same words always give the same filters.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from okf_catalog.catalog.filters import Filters
from okf_catalog.format.values import fold

# Longer phrases first: "not verified" holds "verified", "out of date" holds "date".
_PHRASES: tuple[tuple[str, str, str], ...] = (
    ("human-reviewed", "trust", "human-reviewed"),
    ("human reviewed", "trust", "human-reviewed"),
    ("human-verified", "trust", "human-reviewed"),
    ("human verified", "trust", "human-reviewed"),
    ("machine-confirmed", "trust", "machine-confirmed"),
    ("machine confirmed", "trust", "machine-confirmed"),
    ("auto-verified", "trust", "machine-confirmed"),
    ("auto verified", "trust", "machine-confirmed"),
    ("not verified", "trust", "unverified"),
    ("unverified", "trust", "unverified"),
    ("out of date", "stale", ""),
    ("out-of-date", "stale", ""),
    ("outdated", "stale", ""),
    ("expired", "stale", ""),
    ("stale", "stale", ""),
    ("in progress", "status", "draft"),
    ("in-progress", "status", "draft"),
    ("not ready", "status", "draft"),
    ("drafts", "status", "draft"),
    ("draft", "status", "draft"),
    ("deprecated", "status", "deprecated"),
    ("archived", "status", "deprecated"),
    ("stable", "status", "stable"),
)
# Types that a word stands for where the bundle has no type that ends with it.
_USUAL_TYPES = {"table": "BigQuery Table", "metric": "Metric"}
_QUOTED = re.compile(r'"([^"]+)"')
_TAGS = re.compile(
    r"\b(?:tagged(?:\s+(?:with|as))?|with\s+(?:the\s+)?tags?|tags?:)\s+"
    r"((?:\"[^\"]+\"|[^\s,]+)(?:\s*(?:,\s*or\b|,|\bor\b)\s*(?:\"[^\"]+\"|[^\s,]+))*)",
    re.IGNORECASE,
)
_TAG_SEPARATOR = re.compile(r"\s*,\s*(?:or\s+)?|\s+or\s+", re.IGNORECASE)
_WORD = re.compile(r"[\w./@#+\-']+")
_FILLERS = frozenset("""
a about all an and any are as by can concept concepts do does docs document documents everything every file files find
for from get give has have i in is it list look looking me my of on or our page pages please search show still that the
their them there these this to up us want we what where which who whose with
""".split())


class Vocabulary(NamedTuple):
    """The words of a bundle that a request may use."""

    types: tuple[str, ...]
    tags: tuple[str, ...]


class Inferred(NamedTuple):
    """The filters that a request comes to."""

    filters: Filters

    def merge(self, given: Filters) -> Filters:
        """Filters given as options win over inferred ones of the same kind."""
        changes = {name: value for name, value in given._asdict().items() if value}
        return self.filters._replace(**changes)

    def describe(self) -> str:
        """The filters as options, for the user to check."""
        found = self.filters
        parts = [f"--type {_shell(name)}" for name in found.types]
        parts += [f"--status {name}" for name in found.statuses]
        parts += ["--stale-only"] if found.stale_only else []
        parts += [f"--trust-tier {name}" for name in found.trust_tiers]
        parts += [f"--tags {_shell(','.join(found.tags))}"] if found.tags else []
        parts += [f"--query {_shell(text)}" for text in found.text]
        return " ".join(parts) or "no filter; everything is listed"


def _shell(text: str) -> str:
    import shlex

    return shlex.quote(text)


def infer(request: str, vocabulary: Vocabulary) -> Inferred:
    """Read a request. Every phrase that is understood becomes a filter, the rest text to look for."""
    text: list[str] = [found.strip() for found in _quoted_outside_tags(request)]
    tags: list[str] = []

    def take_tags(found: re.Match[str]) -> str:
        tags.extend(part.strip().strip('"') for part in _TAG_SEPARATOR.split(found[1]) if part.strip())
        return " "

    rest = _TAGS.sub(take_tags, request)
    rest = _QUOTED.sub(" ", rest)
    statuses: list[str] = []
    tiers: list[str] = []
    stale = False
    for phrase, kind, value in _PHRASES:
        pattern = re.compile(rf"(?<![\w-]){re.escape(phrase)}(?![\w-])", re.IGNORECASE)
        if not pattern.search(rest):
            continue
        rest = pattern.sub(" ", rest)
        if kind == "status" and value not in statuses:
            statuses.append(value)
        elif kind == "trust" and value not in tiers:
            tiers.append(value)
        elif kind == "stale":
            stale = True
    types, rest = _types(rest, vocabulary.types)
    for word in _WORD.findall(rest):
        bare = word.strip(".'-")
        if bare and fold(bare) not in _FILLERS:
            text.append(bare)
    return Inferred(Filters(tuple(text), tuple(types), tuple(tags), tuple(statuses), tuple(tiers), (), stale))


def _quoted_outside_tags(request: str) -> list[str]:
    return _QUOTED.findall(_TAGS.sub(" ", request))


def _types(rest: str, known: tuple[str, ...]) -> tuple[list[str], str]:
    """The types that the request names, by whole name or by their last word, and what is left of it."""
    found: list[str] = []
    # A whole name of several words first, so that its words do not count again.
    for name in sorted(known, key=len, reverse=True):
        pattern = re.compile(rf"(?<!\w){_plural(re.escape(name))}(?!\w)", re.IGNORECASE)
        if " " in name and pattern.search(rest):
            found.append(name)
            rest = pattern.sub(" ", rest)
    for word in _WORD.findall(rest):
        singulars = _singulars(fold(word))
        names = [name for name in known if fold(name).split(" ")[-1] in singulars]
        if not names:
            names = [name for word_, name in _USUAL_TYPES.items() if word_ in singulars]
        if names:
            found += [name for name in names if name not in found]
            rest = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", " ", rest)
    return found, rest


def _plural(pattern: str) -> str:
    return pattern[:-1] + "(?:y|ies)" if pattern.endswith("y") else pattern + "(?:s|es)?"


def _singulars(word: str) -> set[str]:
    forms = {word}
    if word.endswith("ies"):
        forms.add(word[:-3] + "y")
    if word.endswith("es"):
        forms.add(word[:-2])
    if word.endswith("s"):
        forms.add(word[:-1])
    return forms
