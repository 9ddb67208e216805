"""Rows in: concepts, parse errors and reserved files to their tables.

Rows are buffered and go in by `executemany`, half the cost of anything finer. The caller
holds the transaction and calls `flush` before it reads what was written.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any, NamedTuple

from okf_catalog.format.concept import Concept
from okf_catalog.format.links import directory_of
from okf_catalog.format.problem import Failure, Problem
from okf_catalog.format.values import dumps, fold, search_fold

_BATCH = 100
"""Files between two flushes; larger batches gain nothing and cost memory."""

CONCEPT_COLUMNS = (
    "path", "concept_id", "dir", "top_dir", "stem", "type", "title", "description", "tags", "status",
    "effective_status", "trust_tier", "trust_current", "verified_at", "generated_by", "generated_at",
    "generated_at_utc", "stale_after", "stale_after_utc", "resource", "runtime", "source_count", "frontmatter",
    "content_hash", "size",
)  # fmt: skip
_SEARCHED = ("title", "id", "tags", "type", "description", "sources", "body")

# Parents before children: foreign keys are checked at once. Plain inserts only: a
# statement that may have to be undone (`or replace`, upserts) makes FTS5 write out what it
# has gathered in memory, which doubles the cost of a bulk load.
_INSERTS = {
    "concepts": f"insert into concepts (id, bundle, {', '.join(CONCEPT_COLUMNS)}) values "
    f"({', '.join('?' * (len(CONCEPT_COLUMNS) + 2))})",
    "bodies": "insert into bodies values (?, ?)",
    "tags": "insert into tags values (?, ?, ?, ?)",
    "sources": f"insert into sources values ({', '.join('?' * 12)})",
    "verifications": "insert into verifications values (?, ?, ?, ?, ?, ?, ?)",
    "links": "insert into links (concept_id, position, kind, target, target_path, text, line) values (?, ?, ?, ?, ?, ?, ?)",
    "file_links": "insert into file_links values (?, ?, ?, ?, ?, ?, ?)",
    "footnotes": "insert into footnotes values (?, ?, ?, ?, ?)",
    "computations": f"insert into computations values ({', '.join('?' * 9)})",
    "extra_keys": "insert into extra_keys values (?, ?, ?)",
    "problems": "insert into problems (bundle, path, concept_id, level, check_id, source, message, line) "
    "values (?, ?, ?, ?, ?, ?, ?, ?)",
    "reserved_files": "insert into reserved_files values (?, ?, ?, ?, ?)",
    "changes": "insert into changes (sync_id, bundle, path, kind, field, old, new) values (?, ?, ?, ?, ?, ?, ?)",
}
_INSERT_TEXT = "insert into search_text values (?, ?, ?, ?, ?, ?, ?, ?)"
_INDEX = f"insert into concepts_fts (rowid, {', '.join(_SEARCHED)}) values (?, ?, ?, ?, ?, ?, ?, ?)"
_CHILDREN = ("bodies", "tags", "sources", "verifications", "links", "footnotes", "computations", "extra_keys",
             "problems")  # fmt: skip
_UNINDEX = (
    f"insert into concepts_fts (concepts_fts, rowid, {', '.join(_SEARCHED)}) values ('delete', ?, ?, ?, ?, ?, ?, ?, ?)"
)
# The fields whose change is worth a row of its own in `changes`.
_COMPARED = ("type", "title", "description", "tags", "effective_status", "trust_tier", "trust_current", "verified_at",
             "generated_by", "generated_at", "stale_after", "resource", "runtime")  # fmt: skip


class Known(NamedTuple):
    """What the catalog holds of a file."""

    kind: str
    """`concept`, `error`, `index`, `log` or `other`."""
    content_hash: str | None
    """SHA-256 in hexadecimal; None for a file that could not be read."""
    concept_id: int | None
    """Row id of its concept, also while the file is broken."""


class Writer:
    """Writes the files of one bundle inside one sync."""

    def __init__(self, connection: sqlite3.Connection, bundle: str, sync_id: int, now: str) -> None:
        self.connection, self.bundle, self.sync_id, self.now = connection, bundle, sync_id, now
        self.rows: dict[str, list[Any]] = {name: [] for name in _INSERTS}
        self.texts: list[tuple[Any, ...]] = []
        """Rows for `search_text` and its index."""
        self.stale: list[tuple[int]] = []
        """Row ids of concepts whose rows in all tables but `concepts` have to go."""
        self.gone: list[tuple[int]] = []
        """Row ids of concepts that have to go altogether."""
        self.pending = 0
        row = connection.execute("select seq from sqlite_sequence where name = 'concepts'").fetchone()
        self.next_id: int = (row[0] if row else 0) + 1
        self.written: list[int] = []
        """Row ids of the concepts written, for what has to be done afterwards."""

    def flush(self) -> None:
        """Send the buffered rows to SQLite, what has to go before what comes.

        All work on the index stands together: many statements between would make FTS5
        write out what it has gathered.
        """
        many = self.connection.executemany
        if self.stale:
            for table in _CHILDREN:
                many(f"delete from {table} where concept_id = ?", self.stale)
        for name, sql in _INSERTS.items():
            rows = self.rows[name]
            if rows:
                many(sql, rows)
                rows.clear()
        if self.stale:
            many(_UNINDEX, self._indexed(self.stale))
        many(_INDEX, self.texts)
        many("delete from search_text where concept_id = ?", self.stale)
        many(_INSERT_TEXT, self.texts)
        many("delete from concepts where id = ?", self.gone)
        for buffer in (self.texts, self.stale, self.gone):
            buffer.clear()
        self.pending = 0

    def _indexed(self, row_ids: list[tuple[int]]) -> Iterator[tuple[Any, ...]]:
        """The rows of `search_text` as they were put into the index."""
        for row_id in row_ids:
            yield from self.connection.execute("select * from search_text where concept_id = ?", row_id)

    def _count(self) -> None:
        self.pending += 1
        if self.pending >= _BATCH:
            self.flush()

    def known(self, path: str) -> Known | None:
        """What is stored of a path."""
        row = self.connection.execute(
            "select kind, content_hash, concept_id from files where bundle = ? and path = ?", (self.bundle, path)
        ).fetchone()
        return Known(*row) if row else None

    def change(self, path: str, kind: str, field: str | None = None, old: Any = None, new: Any = None) -> None:
        """Note what this sync changed."""
        self.rows["changes"].append((self.sync_id, self.bundle, path, kind, field, old, new))

    # -- concepts --------------------------------------------------------------------

    def concept(
        self, concept: Concept, problems: list[Problem], digest: str, size: int, row_id: int | None, *, exists: bool
    ) -> list[str]:
        """Write a concept; into row `row_id` where it `exists`, else as a new row.

        Returns the names of the fields that changed, `body` and `frontmatter` among them.
        """
        changed: list[str] = []
        if row_id is None:
            row_id = self.next_id
            self.next_id += 1
        values = self._values(concept, digest, size)
        if exists:
            changed = self._compare(row_id, concept.path, values, concept.body)
            self.stale.append((row_id,))
            assignments = ", ".join(f"{name} = ?" for name in CONCEPT_COLUMNS)
            self.connection.execute(f"update concepts set {assignments} where id = ?", (*values, row_id))
        else:
            self.rows["concepts"].append((row_id, self.bundle, *values))
        self.written.append(row_id)
        self._children(row_id, concept)
        self._search(row_id, concept)
        for problem in problems:
            self.problem(concept.path, row_id, problem)
        self._count()
        return changed

    def _values(self, concept: Concept, digest: str, size: int) -> tuple[Any, ...]:
        return (
            concept.path, concept.concept_id, concept.dir, concept.top_dir, concept.stem, concept.type, concept.title,
            concept.description, dumps(concept.tags), concept.status, concept.effective_status, concept.trust_tier,
            concept.trust_current, concept.verified_at, concept.generated_by, concept.generated_at,
            concept.generated_at_utc, concept.stale_after, concept.stale_after_utc, concept.resource, concept.runtime,
            len(concept.sources), dumps(concept.frontmatter), digest, size,
        )  # fmt: skip

    def _children(self, row_id: int, concept: Concept) -> None:
        rows = self.rows
        rows["bodies"].append((row_id, concept.body))
        for position, tag in enumerate(concept.tags):
            rows["tags"].append((row_id, position, tag, fold(tag)))
        for position, source in enumerate(concept.sources):
            rows["sources"].append((row_id, position, *source))
        for position, event in enumerate(concept.verifications):
            rows["verifications"].append((row_id, position, *event))
        for position, link in enumerate(concept.links):
            rows["links"].append((row_id, position, *link))
        for note in concept.footnotes:
            rows["footnotes"].append((row_id, *note))
        if concept.computation:
            rows["computations"].append((row_id, *concept.computation))
        for key, value in concept.extra.items():
            rows["extra_keys"].append((row_id, key, dumps(value)))

    def _search(self, row_id: int, concept: Concept) -> None:
        sources = " ".join(text for source in concept.sources for text in (source.title, source.resource) if text)
        self.texts.append((
            row_id, search_fold(concept.title or ""), search_fold(concept.concept_id),
            search_fold(" ".join(concept.tags)), search_fold(concept.type or ""),
            search_fold(concept.description or ""), search_fold(sources), search_fold(concept.body),
        ))  # fmt: skip

    def _compare(self, row_id: int, path: str, values: tuple[Any, ...], body: str) -> list[str]:
        names = ", ".join(_COMPARED)
        row = self.connection.execute(
            f"select {names}, frontmatter, body from concepts c join bodies b on b.concept_id = c.id where c.id = ?",
            (row_id,),
        ).fetchone()
        new = dict(zip(CONCEPT_COLUMNS, values, strict=True))
        changed = []
        for name, before in zip(_COMPARED, row, strict=False):
            if before != new[name]:
                changed.append(name)
                self.change(path, "changed", name, before, new[name])
        if row[-1] != body:
            changed.append("body")
            self.change(path, "changed", "body")
        if not changed and row[-2] != new["frontmatter"]:
            changed.append("frontmatter")
            self.change(path, "changed", "frontmatter")
        return changed

    def remove_concept(self, row_id: int) -> None:
        """Take a concept out of the catalog."""
        self.stale.append((row_id,))
        self.gone.append((row_id,))
        self.unlink(row_id)
        self._count()

    def unlink(self, row_id: int) -> None:
        """Let go of the links that lead to a concept: it is no longer where they point."""
        self.connection.execute("update links set target_id = null where target_id = ?", (row_id,))

    # -- other files -----------------------------------------------------------------

    def failure(
        self, path: str, failure: Failure, digest: str | None, text: str | None, row_id: int | None,
        links: list[tuple[Any, ...]],
    ) -> None:  # fmt: skip
        """Write or renew the row of a file that cannot be used. `row_id` is kept for its return."""
        where = (self.bundle, path)
        first = self.connection.execute(
            "select first_seen from parse_errors where bundle = ? and path = ?", where
        ).fetchone()
        if first:
            self.clear_file(path)
        self.connection.execute(
            "insert into parse_errors values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*where, *failure, first[0] if first else self.now, self.now, text, digest, row_id),
        )
        self.file_links(path, links)
        self._count()

    def reserved(
        self, path: str, kind: str, text: str, digest: str, problems: list[Problem], links: list[tuple[Any, ...]]
    ) -> None:
        """Write an index, a log, or (0.3) another markdown file that is no concept."""
        self.rows["reserved_files"].append((self.bundle, path, kind, text, digest))
        for problem in problems:
            self.problem(path, None, problem)
        self.file_links(path, links)
        self._count()

    def file_links(self, path: str, links: list[tuple[Any, ...]]) -> None:
        """Add the links of a file that is no concept."""
        for position, link in enumerate(links):
            self.rows["file_links"].append((self.bundle, path, position, *link))

    def problem(self, path: str, row_id: int | None, problem: Problem) -> None:
        """Note a flaw of a usable file."""
        self.rows["problems"].append((self.bundle, path, row_id, *problem))

    def forget(self, path: str, known: Known) -> None:
        """Take everything of a file out, whatever it was."""
        if known.kind == "concept" and known.concept_id is not None:
            self.remove_concept(known.concept_id)
        else:
            self.clear_file(path)

    def clear_file(self, path: str) -> None:
        """Take out the rows of a file that is no concept."""
        for table in ("parse_errors", "reserved_files", "file_links"):
            self.connection.execute(f"delete from {table} where bundle = ? and path = ?", (self.bundle, path))
        self.connection.execute(
            "delete from problems where bundle = ? and path = ? and concept_id is null", (self.bundle, path)
        )


def link_rows(text: str, path: str, body_line: int = 1) -> list[tuple[Any, ...]]:
    """(kind, target, target_path, line) of the links in a file that is no concept."""
    from okf_catalog.format import markdown
    from okf_catalog.format.links import markdown_target

    directory = directory_of(path)
    return [
        (link.kind, link.target, markdown_target(link.target, directory), link.line + body_line - 1)
        for link in markdown.read(text).links
    ]
