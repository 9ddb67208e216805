"""One search from question to rows: choose the engine, ask it, order, cut, tell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from okf_catalog.catalog.filters import Filters
from okf_catalog.format.values import search_fold
from okf_catalog.search import result
from okf_catalog.search.engine import Answer, Engine, Match, points, registry
from okf_catalog.search.query import FIELDS, FUZZY, LITERAL, REGEXP, WEIGHTS, Corpus, Literal, Query
from okf_catalog.search.result import Row


class Found(NamedTuple):
    """The answer to a search."""

    rows: list[Row]
    """From `offset` on, `limit` at most, best first. An iterator that can be read once where `run` was `lazy`."""
    total: int
    """Concepts that match, whatever the limit."""
    broken: list[Row]
    """Unusable files whose raw text matches, after the last concept as far as `limit` goes."""
    broken_paths: list[str]
    """All such files. They have no fields to rank, and no part in `total`."""
    notes: list[str]
    """Remarks for whoever asked."""
    explanation: list[str]
    """How the answer came about; only where it was asked for."""


def run(
    corpus: Corpus, query: Query, *, engine: str | None = None, limit: int | None = None, offset: int = 0,
    explain: bool = False, lazy: bool = False,
) -> Found:  # fmt: skip
    """Search. Raises `UsageError` for an engine or a pattern that will not do.

    `lazy` makes rows as they are read, so that a hundred thousand of them need no memory; the
    connection stays in its read transaction until it is closed.
    """
    chosen = registry().choose(query, engine)
    connection = corpus.connection
    # One state of the catalog for all that is read, whatever a sync commits meanwhile.
    started = not connection.in_transaction
    if started:
        connection.execute("begin")
    try:
        answer = chosen.search(corpus, query)
        order = result.in_order(connection, corpus.slugs, answer.matches, limit, offset)
        found = result.rows(connection, corpus.slugs, order, answer.matches, answer.anchors)
        rows: list[Row] = found if lazy and not explain else list(found)  # type: ignore[assignment]  # read once
        notes = list(answer.remarks)
        explanation = list(answer.explanation) if explain else []
        if chosen.name != "scan" and query.mode == LITERAL and query.words:
            _compare(corpus, query, chosen, answer, notes, explanation if explain else None)
        files = _broken(corpus, query)
        start, end = max(offset - len(answer.matches), 0), None if limit is None else max(offset + limit - len(answer.matches), 0)
        broken = [result.broken_row(file, corpus.slugs[file.bundle], answer.anchors) for file in files[start:end]]
        if explain:
            explanation += [_points(row, answer.matches[concept]) for row, concept in zip(rows, order, strict=True)]
    finally:
        if started and connection.in_transaction and (explain or not lazy):
            connection.execute("rollback")
    return Found(rows, len(answer.matches), broken, [file.path for file in files], notes, explanation)


def _points(row: Row, match: Match) -> str:
    parts = " + ".join(f"{field} {WEIGHTS[field]}" for field in match.fields)
    total = points(match.fields)
    return f"{row.path} scores {match.score:g}: {parts}" + ("" if match.score == total else f" (weights; {total} in all)")


def _compare(
    corpus: Corpus, query: Query, engine: Engine, answer: Answer, notes: list[str], explanation: list[str] | None
) -> None:
    """Say when an engine of words finds less than is written there."""
    from okf_catalog.search.scan import Scan

    missed = Scan().search(corpus, query).matches.keys() - answer.matches.keys()
    if not missed:
        return
    count = len(missed)
    what = "1 concept holds" if count == 1 else f"{count} concepts hold"
    notes.append(f"{what} the text without being found by {engine.name}; --engine scan finds {'it' if count == 1 else 'them'}")
    if explanation is not None:
        some = result.in_order(corpus.connection, corpus.slugs, {one: Match(0, ()) for one in missed}, 5, 0)
        paths = [row[0] for one in some for row in corpus.connection.execute("select path from concepts where id = ?", (one,))]
        explanation.append(f"{engine.name} does not find {', '.join(paths)}{', …' if count > len(paths) else ''}")
        explanation += _inside_words(corpus, query)


def _inside_words(corpus: Corpus, query: Query) -> Iterable[str]:
    """Which words hold the terms: what begins inside a word is not found by its beginning."""
    from okf_catalog.search import vocabulary

    words = vocabulary.Words(corpus.connection)
    for term in query.words:
        for token in words.cut(search_fold(term)):
            wide = vocabulary.Token(token.text, True, True, False)  # open on both sides
            inside = [word for word in vocabulary.expand(corpus.connection, wide) or () if not word.startswith(token.text)]
            if inside:
                yield f"`{token.text}` stands inside {', '.join(inside[:8])}{', …' * (len(inside) > 8)}"


def _broken(corpus: Corpus, query: Query) -> list[result.Broken]:
    """Unusable files, where nothing but text is asked for."""
    if not query.words or query.fields != FIELDS or corpus.filters != Filters():
        return []
    test = _text_test(query)
    if test is None:
        return []
    literals = [Literal.read(term) for term in query.words] if query.mode == LITERAL else []
    if not all(literal.is_encodable for literal in literals):
        return []
    return result.broken_files(
        corpus.connection, corpus.bundles, test, [result.likeness(literal.text) for literal in literals[:_LIKES]]
    )


_LIKES = 100
"""SQLite takes a thousand conditions in a row; nobody needs so many."""


def _text_test(query: Query) -> Callable[[str], bool] | None:
    if query.mode == FUZZY:
        return None  # they are in no vocabulary
    if query.mode == REGEXP:
        from okf_catalog.search.patterns import Deadline, compiled

        patterns, deadline = [compiled(term) for term in query.words], Deadline()
        return lambda text: all(deadline.find(pattern, text) is not None for pattern in patterns)
    literals = [Literal.read(term) for term in query.words]

    def holds(text: str) -> bool:
        folded = search_fold(text)
        return all(literal.is_in(folded) for literal in literals)

    return holds


def unknown_values(corpus: Corpus) -> Iterable[str]:
    """Remarks on filter values that no concept of the bundles carries, with the nearest that are carried."""
    filters, connection = corpus.filters, corpus.connection
    marks = ", ".join("?" * len(corpus.bundles))
    carried: dict[str, tuple[tuple[str, ...], str]] = {
        "type": (filters.types + filters.not_types, f"select distinct type from concepts where bundle in ({marks})"),
        "tag": (
            filters.tags + filters.not_tags,
            f"select distinct t.tag from tags t join concepts c on c.id = t.concept_id where c.bundle in ({marks})",
        ),
        "status": (
            filters.statuses + filters.not_statuses, f"select distinct effective_status from concepts where bundle in ({marks})"
        ),
        "trust tier": (
            filters.trust_tiers + filters.trust_current,
            f"select trust_tier from concepts where bundle in ({marks}) union "
            f"select trust_current from concepts where bundle in ({marks})",
        ),
    }  # fmt: skip
    for what, (wanted, sql) in carried.items():
        if wanted:
            values = corpus.bundles * (sql.count("(?") if what == "trust tier" else 1)
            there = sorted({row[0] for row in connection.execute(sql, values) if row[0] is not None})
            yield from _nearest(what, wanted, there)
    if filters.dirs:
        from okf_catalog.catalog.filters import below

        there = sorted({path for bundle, path in connection.execute("select bundle, dir from directories")
                        if bundle in corpus.bundles})  # fmt: skip
        lost = [name for name in filters.dirs if not below(connection, [name], corpus.bundles)]
        yield from _nearest("directory", lost, there)


def _nearest(what: str, wanted: Iterable[str], there: list[str]) -> Iterable[str]:
    from okf_catalog.format.values import fold

    folded: Mapping[str, str] = {fold(value.strip()): value for value in reversed(there)}
    for value in dict.fromkeys(wanted):
        if fold(value.strip()) in folded:
            continue
        from difflib import get_close_matches

        close = get_close_matches(fold(value.strip()), list(folded), 3, 0.5)
        names = ", ".join(folded[name] for name in close) or (", ".join(there) if len(there) <= 5 else "")
        yield f"no concept has the {what} `{value}`" + (f"; near it: {names}" if names else "")
