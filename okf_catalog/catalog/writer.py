"""Rows in: concepts, parse errors and reserved files to their tables.

Rows are buffered and go in by `executemany`, half the cost of anything finer. The caller
holds the transaction and calls `flush` before it reads what was written.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from operator import itemgetter
from typing import Any, NamedTuple

from okf_catalog.format.concept import Concept
from okf_catalog.format.links import directory_of
from okf_catalog.format.problem import Failure, Problem
from okf_catalog.format.values import dumps, fold, search_fold

_BATCH = 100
"""Files between two flushes; larger batches gain nothing and cost memory."""

WORDS_KEPT = 100_000
"""New words, about, beyond which reading the whole vocabulary is cheaper than remembering them."""

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
# What is stored of a concept, as the rows that `_INSERTS` gets. A broken link is noted after
# the links are resolved, so it is no part of what the file itself says.
_STORED = {
    "bodies": "select * from bodies where concept_id = ?",
    "tags": "select * from tags where concept_id = ?",
    "sources": "select * from sources where concept_id = ?",
    "verifications": "select * from verifications where concept_id = ?",
    "links": "select concept_id, position, kind, target, target_path, text, line from links where concept_id = ?",
    "footnotes": "select * from footnotes where concept_id = ?",
    "computations": "select * from computations where concept_id = ?",
    "extra_keys": "select * from extra_keys where concept_id = ?",
    "problems": "select bundle, path, concept_id, level, check_id, source, message, line from problems "
    "where concept_id = ? and +check_id <> 'broken_link' order by id",
}
_CHILDREN = tuple(_STORED)
_KEY = itemgetter(1)
_STORED_TEXT = "select * from search_text where concept_id = ?"
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
        self.stale: dict[str, list[tuple[int]]] = {name: [] for name in (*_CHILDREN, "search_text")}
        """For each table the row ids of concepts whose rows there have to go."""
        self.gone: list[tuple[int]] = []
        """Row ids of concepts that have to go altogether."""
        self.pending = 0
        self.rewrites = False
        """Write all rows of a changed concept, also those that are stored as they should be."""
        row = connection.execute("select seq from sqlite_sequence where name = 'concepts'").fetchone()
        self.next_id: int = (row[0] if row else 0) + 1
        self.linked: list[int] = []
        """Row ids of the concepts whose links have to be resolved, and broken ones noted, afterwards."""
        self.worded: list[int] = []
        """Row ids of the concepts all words of which may be new."""
        self.words: set[str] = set()
        """Of the others what stands between blanks and did not before; once there are `WORDS_KEPT`, not all of it."""

    def flush(self) -> None:
        """Send the buffered rows to SQLite, what has to go before what comes.

        All work on the index stands together: many statements between would make FTS5
        write out what it has gathered.
        """
        many = self.connection.executemany
        for table in _CHILDREN:
            if self.stale[table]:
                many(f"delete from {table} where concept_id = ?", self.stale[table])
        for name, sql in _INSERTS.items():
            rows = self.rows[name]
            if rows:
                many(sql, rows)
                rows.clear()
        stale = self.stale["search_text"]
        if stale:
            many(_UNINDEX, self._indexed(stale))
        many(_INDEX, self.texts)
        many("delete from search_text where concept_id = ?", stale)
        many(_INSERT_TEXT, self.texts)
        many("delete from concepts where id = ?", self.gone)
        for buffer in (self.texts, self.gone, *self.stale.values()):
            buffer.clear()
        self.pending = 0

    def _indexed(self, row_ids: list[tuple[int]]) -> Iterator[tuple[Any, ...]]:
        """The rows of `search_text` as they were put into the index."""
        for row_id in row_ids:
            yield from self.connection.execute(_STORED_TEXT, row_id)

    def _count(self) -> None:
        self.pending += 1
        if self.pending >= _BATCH:
            self.flush()

    def known(self, path: str) -> Known | None:
        """What is stored of a path."""
        # Nearly always it is a concept; the view would ask three tables.
        for sql in ("select 'concept', content_hash, id from concepts where bundle = ? and path = ?",
                    "select kind, content_hash, concept_id from files where bundle = ? and path = ?"):  # fmt: skip
            row = self.connection.execute(sql, (self.bundle, path)).fetchone()
            if row:
                return Known(*row)
        return None

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
        if row_id is None:
            row_id = self.next_id
            self.next_id += 1
        values = self._values(concept, digest, size)
        children = self._children(row_id, concept, problems)
        text = self._search(row_id, concept)
        changed: list[str] = []
        if exists:
            changed = self._update(row_id, values, children, text)
        else:
            self.rows["concepts"].append((row_id, self.bundle, *values))
            for name, rows in children.items():
                self.rows[name] += rows
            self.texts.append(text)
            self.linked.append(row_id)
            self.worded.append(row_id)
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

    def _children(self, row_id: int, concept: Concept, problems: list[Problem]) -> dict[str, list[tuple[Any, ...]]]:
        """The rows of a concept in all tables but `concepts` and `search_text`, in the order in which they are stored."""
        return {
            "bodies": [(row_id, concept.body)],
            "tags": [(row_id, position, tag, fold(tag)) for position, tag in enumerate(concept.tags)],
            "sources": [(row_id, position, *source) for position, source in enumerate(concept.sources)],
            "verifications": [(row_id, position, *event) for position, event in enumerate(concept.verifications)],
            "links": [(row_id, position, *link) for position, link in enumerate(concept.links)],
            "footnotes": sorted([(row_id, *note) for note in concept.footnotes], key=_KEY),
            "computations": [(row_id, *concept.computation)] if concept.computation else [],
            "extra_keys": sorted([(row_id, key, dumps(value)) for key, value in concept.extra.items()], key=_KEY),
            "problems": [(self.bundle, concept.path, row_id, *problem) for problem in problems],
        }

    def _search(self, row_id: int, concept: Concept) -> tuple[Any, ...]:
        """Its row in `search_text`."""
        sources = " ".join(text for source in concept.sources for text in (source.title, source.resource) if text)
        return (
            row_id, search_fold(concept.title or ""), search_fold(concept.concept_id),
            search_fold(" ".join(concept.tags)), search_fold(concept.type or ""),
            search_fold(concept.description or ""), search_fold(sources), search_fold(concept.body),
        )  # fmt: skip

    def _update(
        self, row_id: int, values: tuple[Any, ...], children: dict[str, list[tuple[Any, ...]]], text: tuple[Any, ...]
    ) -> list[str]:
        """Write what differs from the stored concept, and nothing else: most edits are to the body alone.

        Returns the names of the fields that changed.
        """
        execute = self.connection.execute
        stored = execute(f"select {', '.join(CONCEPT_COLUMNS)} from concepts where id = ?", (row_id,)).fetchone()
        new = dict(zip(CONCEPT_COLUMNS, values, strict=True))
        old = dict(zip(CONCEPT_COLUMNS, stored, strict=True))
        differing = [name for name in CONCEPT_COLUMNS if new[name] != old[name]]
        if differing:
            assignments = ", ".join(f"{name} = ?" for name in differing)
            execute(f"update concepts set {assignments} where id = ?", (*(new[name] for name in differing), row_id))
        same = {name for name, rows in children.items() if execute(_STORED[name], (row_id,)).fetchall() == rows}
        # Problems name the path, the broken links among them, too.
        everything = self.rewrites or "path" in differing
        rewritten = [name for name in children if everything or name not in same]
        for name in rewritten:
            self.stale[name].append((row_id,))
            self.rows[name] += children[name]
        if "links" in rewritten or "problems" in rewritten:
            if "problems" not in rewritten:
                self.stale["problems"].append((row_id,))
                self.rows["problems"] += children["problems"]
            self.linked.append(row_id)
        stored_text = execute(_STORED_TEXT, (row_id,)).fetchone()
        if self.rewrites or stored_text != text:
            self.stale["search_text"].append((row_id,))
            self.texts.append(text)
            if self.rewrites:
                self.worded.append(row_id)
            elif len(self.words) < WORDS_KEPT:
                # No word has a blank in it, so one that is new is in what is new between blanks.
                self.words |= set(" ".join(text[1:]).split()).difference(" ".join(stored_text[1:]).split())
        return self._note_changes(new, old, is_same_body="bodies" in same)

    def _note_changes(self, new: dict[str, Any], old: dict[str, Any], *, is_same_body: bool) -> list[str]:
        """Note each field that changed; returns their names."""
        path = new["path"]
        changed = [name for name in _COMPARED if new[name] != old[name]]
        for name in changed:
            self.change(path, "changed", name, old[name], new[name])
        if not is_same_body:
            changed.append("body")
            self.change(path, "changed", "body")
        if not changed and new["frontmatter"] != old["frontmatter"]:
            changed.append("frontmatter")
            self.change(path, "changed", "frontmatter")
        return changed
    def remove_concept(self, row_id: int) -> None:
        """Take a concept out of the catalog."""
        for row_ids in (self.gone, *self.stale.values()):
            row_ids.append((row_id,))
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
