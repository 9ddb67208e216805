"""What a result is: the row, the order, the snippet. No engine has a say in it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import NamedTuple

from okf_catalog.format.vocabulary import RESERVED
from okf_catalog.search.engine import Anchor, Grouped, Match, points

SNIPPET_SIDE = 44
"""Characters kept on each side of a hit."""
_SNIPPET_FIELDS = ("description", "body", "sources")
"""In this order; the other fields stand whole on the row."""
_SPACE = " \t\n\v\f\r"
_FEW = 30
"""The paths of one in so many concepts are cheaper to look up one by one than by reading the index of paths."""


class Row(NamedTuple):
    """One concept that was found, or one unusable file."""

    slug: str
    """The bundle's name."""
    id: str
    title: str
    """A missing title is the last segment of the id."""
    type: str | None
    dir: str
    top_dir: str
    tags: list[str]
    matched: list[str]
    """The fields that any term hits, in the order of the weights."""
    score: float
    snippet: str
    """Empty where the hit stands on the row itself."""
    path: str
    parse_error: bool
    """True for a file without usable frontmatter: its raw text was searched as a body."""


def in_order(
    connection: sqlite3.Connection, slugs: Mapping[str, str], matches: Mapping[int, Match], limit: int | None, offset: int
) -> list[int]:
    """The ids of the concepts from `offset` on, `limit` at most: by score, then fields hit, slug, id.

    `slugs` are the bundles asked, and what rows call them.
    """
    groups: dict[tuple[float, int], list[Collection[int]]] = {}
    for match, concepts in _alike(matches):
        groups.setdefault((-match.score, -points(match.fields)), []).append(concepts)
    end = len(matches) if limit is None else offset + limit
    chosen: list[int] = []
    before = 0
    for rank in sorted(groups):
        if before >= end:
            break
        size = sum(map(len, groups[rank]))
        if before + size > offset:
            first = max(offset - before, 0)
            chosen += islice(_by_id(connection, slugs, groups[rank], size), first, end - before)
        before += size
    return chosen


def _by_id(
    connection: sqlite3.Connection, slugs: Mapping[str, str], group: Sequence[Collection[int]], size: int
) -> Iterator[int]:
    """The concepts of a group by slug and id: `a` comes before `a-b`, though `a-b.md` comes before `a.md`."""
    bundles = sorted(slugs, key=slugs.__getitem__)
    values: tuple[str, ...] = ()
    if size * _FEW < _total(connection, slugs):
        ids = json.dumps(list(chain.from_iterable(group)))
        source, values = "json_each(?2) v cross join concepts c on c.id = v.value where c.bundle = ?1", (ids,)
    else:
        # Answered from the unique index alone, without the rows.
        source = "concepts c where c.bundle = ?1"
    for bundle in bundles:
        rows = connection.execute(
            f"select c.id from {source} order by substr(c.path, 1, length(c.path) - 3)", (bundle, *values)
        )
        yield from _among(rows, group) if not values else chain.from_iterable(rows)


def _among(rows: Iterable[tuple[int]], group: Sequence[Collection[int]]) -> Iterator[int]:
    """The ids among `rows` that are in one of the collections."""
    wanted = group[0] if len(group) == 1 and isinstance(group[0], set) else set().union(*group)
    return (row_id for (row_id,) in rows if row_id in wanted)


def _alike(matches: Mapping[int, Match]) -> Iterable[tuple[Match, Collection[int]]]:
    """The matches, each with the concepts that share it."""
    if isinstance(matches, Grouped):
        return matches.groups
    # Telling them apart by identity saves hashing each.
    kinds = {id(match): match for match in matches.values()}
    same: dict[int, list[int]] = {kind: [] for kind in kinds}
    for concept, match in matches.items():
        same[id(match)].append(concept)
    return [(kinds[kind], concepts) for kind, concepts in same.items()]


def _total(connection: sqlite3.Connection, slugs: Mapping[str, str]) -> int:
    counts = dict(connection.execute("select name, concept_count from bundles"))
    return sum(counts[bundle] for bundle in slugs)


_BATCH = 500
_ROW = (
    "select c.id, c.bundle, c.concept_id, coalesce(c.title, c.stem), c.type, c.dir, c.top_dir, c.tags, c.path, "
    "c.description, "
    "(select json_group_array(json_array(title, resource)) from (select title, resource from sources s "
    "where s.concept_id = c.id order by s.position)) from concepts c where c.id in ({})"
)


def rows(
    connection: sqlite3.Connection, slugs: Mapping[str, str], chosen: Sequence[int], matches: Mapping[int, Match],
    anchors: Sequence[Anchor],
) -> Iterable[Row]:  # fmt: skip
    """The rows of the concepts, in the order given."""
    for at in range(0, len(chosen), _BATCH):
        ids = chosen[at : at + _BATCH]
        marks = ", ".join("?" * len(ids))
        found = {row[0]: row for row in connection.execute(_ROW.format(marks), ids)}
        for concept in ids:
            _, bundle, concept_id, title, kind, directory, top, tags, path, description, sources = found[concept]
            match = matches[concept]
            field = next((name for name in _SNIPPET_FIELDS if name in match.fields), None)
            text = ""
            if field == "description":
                text = description or ""
            elif field == "body":
                row = connection.execute("select body from bodies where concept_id = ?", (concept,)).fetchone()
                text = row[0] if row else ""
            elif field == "sources":
                text = " ".join(part for source in json.loads(sources) for part in source if part)
            score = int(match.score) if match.score == int(match.score) else match.score
            yield Row(
                slugs[bundle], concept_id, title, kind, directory, top, json.loads(tags), list(match.fields), score,
                snippet(text, anchors) if field else "", path, False,
            )  # fmt: skip


def snippet(text: str, anchors: Sequence[Anchor]) -> str:
    """The surroundings of the first term, in the order asked, that hits `text`; white space as single spaces."""
    shown = _collapse(text)
    for anchor in anchors:
        if getattr(anchor, "ignores_spacing", False):
            found = anchor(shown)
        else:
            # A pattern may look at line ends: the text as written decides, what is shown need not hold it.
            found = (anchor(shown) or (0, 0)) if anchor(text) is not None else None
        if found is not None:
            position, length = found
            break
    else:
        return ""
    start, end = max(position - SNIPPET_SIDE, 0), position + length + SNIPPET_SIDE
    window = shown[start:end].strip(_SPACE)
    return f"{'…' if start else ''}{window}{'…' if end < len(shown) else ''}"


def _collapse(text: str) -> str:
    """ASCII white space as single spaces; a no-break space stays."""
    for character in "\t\n\v\f\r":
        text = text.replace(character, " ")
    while "  " in text:
        text = text.replace("  ", " ")
    return text.strip(" ")


class Broken(NamedTuple):
    """An unusable file whose raw text matches."""

    bundle: str
    path: str
    text: str


_UNFOLDED = frozenset("bcdegmopqruvxz0123456789")
"""What no character beyond ASCII folds to, alone or with others (`ß` folds to s, `ŉ` to n, …)."""
_LIKE_LIMIT = 1000


def likeness(folded: str) -> str:
    """A LIKE pattern for every raw text that may hold `folded` once it is folded, too."""
    return f"%{''.join(character if character in _UNFOLDED else '%' for character in folded[:_LIKE_LIMIT])}%"


def broken_files(
    connection: sqlite3.Connection, bundles: Sequence[str], test: Callable[[str], bool], likes: Sequence[str] = ()
) -> list[Broken]:
    """The unusable files whose raw text passes `test`, by bundle and path.

    `likes` are LIKE patterns that all of these satisfy: folding every text in Python is dear.
    """
    marks = ", ".join("?" * len(bundles))
    rows = connection.execute(
        f"select bundle, path, text from parse_errors where bundle in ({marks}) and text is not null "
        f"{' '.join(['and text like ?'] * len(likes))} order by bundle, path",
        (*bundles, *likes),
    )
    # A damaged index.md is no concept that could be found.
    return [Broken(*row) for row in rows if row[1].rpartition("/")[2] not in RESERVED and test(row[2])]


def broken_row(file: Broken, slug: str, anchors: Sequence[Anchor]) -> Row:
    """An unusable file as a row, flagged: its raw text counts as a body."""
    concept_id = file.path[:-3]
    directory, _, stem = concept_id.rpartition("/")
    return Row(
        slug, concept_id, stem, None, directory or ".", concept_id.partition("/")[0] if directory else "(root)",
        [], ["body"], points(("body",)), snippet(file.text, anchors), file.path, True,
    )  # fmt: skip
