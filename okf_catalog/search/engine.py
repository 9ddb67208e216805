"""What a search engine is, and the list of those there are.

An engine says which concepts match, how well and where. What a row is, in which order rows
come and which part is shown belongs to `result.py`, so an engine cannot redefine it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from okf_catalog.errors import UsageError
from okf_catalog.search.query import FUZZY, REGEXP, WEIGHTS, Corpus, Query

if TYPE_CHECKING:
    import pluggy

GROUP = "okf_catalog"
"""The entry-point group and the pluggy project whose hooks are called."""

Anchor = Callable[[str], "tuple[int, int] | None"]
"""Finds the first hit of one term in a text as written: (position, length) in characters, or None."""


class Match(NamedTuple):
    """How a concept matches."""

    score: float
    """Positive; larger is better. Comparable inside one answer at least."""
    fields: tuple[str, ...]
    """The fields that any term hits, in the order of the weights."""


class Answer(NamedTuple):
    """What an engine found: everything that matches, in no order and without limit."""

    matches: Mapping[int, Match]
    """By `concepts.id`."""
    anchors: Sequence[Anchor] = ()
    """One for each term, in their order."""
    remarks: Sequence[str] = ()
    """Worth telling whoever asked."""
    explanation: Sequence[str] = ()
    """How the terms were read, for `--explain`."""


class Engine(Protocol):
    """A search engine. `okf_catalog.search.conformance.check` tests one."""

    name: str
    """Lower case."""
    aliases: tuple[str, ...]
    capabilities: frozenset[str]
    """Of `regexp`, `fuzzy`, `prefix`."""

    def search(self, corpus: Corpus, query: Query) -> Answer:
        """Every concept of `corpus` that matches every word of `query`.

        No word, no match. Raises `UsageError` for a query that cannot be answered.
        """
        ...


def points(fields: Sequence[str]) -> int:
    """The sum of the weights of some fields."""
    return sum(WEIGHTS[field] for field in fields)


class Registry:
    """The engines by name. Those of other packages are looked for only when somebody asks for more than is built in."""

    def __init__(self) -> None:
        self.engines: dict[str, Engine] = {}
        self._is_complete = False

    def add(self, engine: Engine) -> None:
        """Add an engine. Raises `UsageError` where its name or alias is taken."""
        for name in (engine.name, *engine.aliases):
            if name != name.lower() or self._find(name) is not None:
                raise UsageError(f"the search engine {engine.name} cannot be added: the name {name} is taken or not lower case")
        self.engines[engine.name] = engine

    def _find(self, name: str) -> Engine | None:
        return next((engine for engine in self.engines.values() if name == engine.name or name in engine.aliases), None)

    def complete(self) -> None:
        """Add the engines of installed packages (hook `register_search_engines`, entry points `okf_catalog`)."""
        if self._is_complete:
            return
        self._is_complete = True
        manager = plugin_manager()
        # Entry points cost tens of milliseconds to read; nobody pays for it who uses what is built in.
        manager.load_setuptools_entrypoints(GROUP)
        for engines in manager.hook.register_search_engines():
            for engine in engines:
                self.add(engine)

    def names(self) -> list[str]:
        """All names, sorted, without aliases."""
        self.complete()
        return sorted(self.engines)

    def named(self, name: str) -> Engine:
        """The engine of a name, an alias, or any beginning that only one has. Raises `UsageError`."""
        wanted = name.strip().lower()
        found = self._find(wanted)
        if found is None:
            self.complete()
            found = self._find(wanted)
        if found is None:
            close = {
                engine.name for engine in self.engines.values()
                if any(known.startswith(wanted) for known in (engine.name, *engine.aliases))
            }  # fmt: skip
            if len(close) != 1:
                raise UsageError(f"unknown search engine: {name} (available: {', '.join(self.names())})")
            found = self.engines[close.pop()]
        return found

    def able(self, capability: str) -> Engine | None:
        """The first engine that has a capability."""
        for _ in range(2):
            for engine in self.engines.values():
                if capability in engine.capabilities:
                    return engine
            self.complete()
        return None

    def choose(self, query: Query, name: str | None) -> Engine:
        """The engine for a query: the one named, else the first that can do what it needs.

        Raises `UsageError` for an unknown one, and for one that cannot.
        """
        needed = query.mode if query.mode in (REGEXP, FUZZY) else None
        if name is not None and name.strip():
            engine = self.named(name)
            if needed and needed not in engine.capabilities:
                other = self.able(needed)
                hint = f" (try --engine {other.name})" if other else ""
                raise UsageError(f"--engine {engine.name} does not support --{needed}{hint}")
            return engine
        if needed is None:
            return next(iter(self.engines.values()))
        found = self.able(needed)
        if found is None:
            raise UsageError(f"no search engine supports --{needed}")
        return found


def plugin_manager() -> pluggy.PluginManager:
    """A pluggy manager that knows the hooks of this package's search."""
    import pluggy

    from okf_catalog.search import hooks

    manager = pluggy.PluginManager(GROUP)
    manager.add_hookspecs(hooks)
    return manager


_registry: Registry | None = None


def registry() -> Registry:
    """The engines of this process, the default one first."""
    global _registry  # noqa: PLW0603  # made when first asked for: importing must stay cheap
    if _registry is None:
        from okf_catalog.search.fts5 import FTS5
        from okf_catalog.search.scan import Scan

        _registry = Registry()
        _registry.add(Scan())
        _registry.add(FTS5())
    return _registry


class Grouped(Mapping[int, Match]):
    """Matches of which many are equal: the concepts of each. Costs nothing for a concept that nobody looks at."""

    def __init__(self, groups: Sequence[tuple[Match, set[int]]]) -> None:
        self.groups = groups

    def __len__(self) -> int:
        return sum(len(concepts) for _, concepts in self.groups)

    def __iter__(self) -> Iterator[int]:
        return chain.from_iterable(concepts for _, concepts in self.groups)

    def __getitem__(self, concept: int) -> Match:
        for match, concepts in self.groups:
            if concept in concepts:
                return match
        raise KeyError(concept)


def combine(found: Sequence[Mapping[str, set[int]]], fields: Sequence[str]) -> dict[tuple[str, ...], set[int]]:
    """AND over terms, from the concepts that each hits in each field.

    Returns the concepts that match all terms, apart by the fields that any term hits in them.
    """
    everyone: set[int] | None = None
    for hits in found:
        union: set[int] = set().union(*hits.values())
        everyone = union if everyone is None else everyone & union
    parts: dict[tuple[str, ...], set[int]] = {(): everyone} if everyone else {}
    for field in fields:
        merged = set().union(*(hits.get(field, ()) for hits in found))
        if not merged:
            continue
        # Whole sets at once: a common word is in nearly every concept.
        for names, concepts in list(parts.items()):
            hit = concepts & merged
            if hit:
                more = (*names, field)
                parts[more] = hit
                if len(hit) == len(concepts):
                    del parts[names]
                else:
                    parts[names] = concepts - hit
    return parts


def scored(parts: Mapping[tuple[str, ...], set[int]]) -> Grouped:
    """Matches whose score is the sum of the weights of their fields."""
    return Grouped([(Match(points(fields), fields), concepts) for fields, concepts in parts.items()])


def describe(value: Any) -> str:
    """A value in backticks, for `--explain`."""
    return f"`{value}`"
