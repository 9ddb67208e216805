"""The writing half of a sync: read the files that may have changed and store what they say.

Runs inside the caller's transaction. Everything heavy (YAML, markdown) is imported from
here, so that a sync or a query with nothing to read never loads it.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from datetime import datetime
from hashlib import sha256

from okf_catalog import bundle as files
from okf_catalog.catalog import signature
from okf_catalog.catalog.database import EXTRACTION_VERSION
from okf_catalog.catalog.derived import bulk_load, refresh_links, refresh_terms
from okf_catalog.catalog.detect import Detection, all_files, stored_signatures
from okf_catalog.catalog.plan import ADDED, REMOVED, Change, pair_moves, removes_too_much
from okf_catalog.catalog.sync import RACY_NS, Bundle, Clock, Options, Progress, Report
from okf_catalog.catalog.writer import WORDS_KEPT, Known, Writer, link_rows
from okf_catalog.errors import GuardError
from okf_catalog.format import concept, conformance, reserved
from okf_catalog.format.frontmatter import Document, clean, decode, parse_text
from okf_catalog.format.problem import Failure, warning
from okf_catalog.format.values import utc_text
from okf_catalog.format.vocabulary import rules_of

ROOT_INDEX = "index.md"
_BULK_FROM = 1000
"""Files from which on the index may be loaded with a larger hash table and merged at the end."""
_BULK_SHARE = 5
"""A bulk load writes at least one in so many of the concepts there are: the merge goes over all of them."""
_TEXT_LIMIT = 1024 * 1024
"""Characters of an unusable file that are kept for the search."""


def ingest(
    connection: sqlite3.Connection, known: Bundle, found: Detection, *, is_new: bool, started: datetime, root_fd: int,
    options: Options, clock: Clock, progress: Progress | None,
) -> Report:  # fmt: skip
    """Read and write what `found` names; returns the report. The caller commits."""
    return _Ingest(connection, known, found, is_new, started, root_fd, options).run(clock, progress)


class _Ingest:
    def __init__(
        self, connection: sqlite3.Connection, known: Bundle, found: Detection, is_new: bool, started: datetime,
        root_fd: int, options: Options,
    ) -> None:  # fmt: skip
        self.connection, self.bundle, self.found, self.is_new = connection, known, found, is_new
        self.root_fd, self.options, self.started = root_fd, options, started
        self.report = Report(known.name, known.root, dry_run=options.dry_run)
        self.report.is_new = is_new
        self.report.skipped, self.report.unreadable = found.skipped, found.unreadable
        self.unsettled: dict[str, set[str]] = {}
        self.unopened: set[str] = set()
        self.version = known.okf_version
        self.title: str | None = None
        self.existence: set[str] = set()
        """Paths that came or went, so that links to them have to be looked at."""
        run = connection.execute(
            "insert into sync_runs (bundle, started_at, finished_at, added, changed, moved, removed, unchanged, failed, "
            "skipped_hidden, skipped_ignored) values (?, ?, '', 0, 0, 0, 0, 0, 0, 0, 0)",
            (known.name, utc_text(started)),
        )
        self.sync_id = run.lastrowid or 0
        self.writer = Writer(connection, known.name, self.sync_id, utc_text(started))

    def run(self, clock: Clock, progress: Progress | None) -> Report:
        candidates = self.found.candidates
        reparse = self._read_root() or self.bundle.extraction_version != EXTRACTION_VERSION
        if reparse and not self.is_new:
            candidates = all_files(self.found, stored_signatures(self.connection, self.bundle.name))
        self.reparse = self.writer.rewrites = reparse and not self.is_new
        removed = self._removed(candidates)
        moves = self._moves(candidates, removed)
        self._guard(removed, moves)
        # A broken file that moved is still the concept that it was.
        self.heirs = {new: removed[old].concept_id for new, old in moves.items() if removed[old].kind == "error"}
        moving = set(moves.values())
        for path, known in removed.items():
            if path not in moving:
                self._forget(path, known)
        self.writer.flush()
        total = sum(1 for changes in candidates.values() for change in changes if change.kind != REMOVED)
        there = self.connection.execute("select coalesce(sum(concept_count), 0) from bundles").fetchone()[0]
        with bulk_load(self.connection, enabled=total >= max(_BULK_FROM, there // _BULK_SHARE)) as bulk:
            done = 0
            for path, _, content in self._contents(candidates):
                self._file(path, content, moves.get(path), removed)
                done += 1
                if progress is not None:
                    progress(done, total)
            # A file that was seen at its new place, and was gone again when it should be read.
            for path in moving - {old for old, _ in self.report.moved}:
                self._forget(path, removed[path])
            self.writer.flush()
            refresh_links(
                self.connection, self.bundle.name, self.writer.linked, self.existence, everything=self.is_new
            )
        words = self.writer.words
        refresh_terms(self.connection, self.writer.worded, words, everything=bulk or len(words) >= WORDS_KEPT)
        self._signatures()
        self._finish(clock)
        return self.report

    # -- before reading --------------------------------------------------------------

    def _read_root(self) -> bool:
        """Learn the version that the root index declares; True where other rules apply than before."""
        changed = {change.name for change in self.found.candidates.get(".", [])}
        self.rules = rules_of(self.version)
        if not self.is_new and ROOT_INDEX not in changed:
            self.title_known = False
            return False
        self.title_known = True
        root = reserved.Root(None, None)
        top = self.found.directories.get(".")
        content = None
        if top is not None and ROOT_INDEX in top.names:  # not one that .okfignore names
            content = files.read(self.root_fd, self.bundle.root, self.root_fd, ROOT_INDEX)
        if isinstance(content, files.Content):
            text = decode(content.data)
            if isinstance(text, str):
                root = reserved.root_of(text)
        before = rules_of(self.version)
        self.version, self.title = root.version, root.title
        self.rules = rules_of(root.version.strip() if root.version else None)
        return self.rules != before

    def _removed(self, candidates: dict[str, list[Change]]) -> dict[str, Known]:
        removed = {}
        for directory, changes in candidates.items():
            prefix = "" if directory == "." else directory + "/"
            for change in changes:
                if change.kind == REMOVED:
                    path = _shown(prefix + change.name)
                    known = self.writer.known(path)
                    if known is not None:
                        removed[path] = known
        return removed

    def _moves(self, candidates: dict[str, list[Change]], removed: dict[str, Known]) -> dict[str, str]:
        """{new path: old path}. Only needed, and only paid for, when something is gone."""
        left = [
            (path, known.content_hash)
            for path, known in removed.items()
            if known.concept_id is not None and known.content_hash is not None
        ]
        if not left:
            return {}
        added = {
            directory: [c for c in changes if c.kind == ADDED and not reserved.kind_of(c.name)]
            for directory, changes in candidates.items()
        }
        arrived = [
            (path, sha256(content.data).hexdigest())
            for path, _, content in self._contents(added)
            if isinstance(content, files.Content)
        ]
        return pair_moves(left, arrived)

    def _guard(self, removed: dict[str, Known], moves: dict[str, str]) -> None:
        """Refuse what looks like an unmounted disk or a wrong directory."""
        if self.options.allow_removals:
            return
        total = self.bundle.concept_count
        kept = set(moves.values())
        lost = sum(1 for path, known in removed.items() if known.kind == "concept" and path not in kept)
        if total and self.found.file_count == 0 and not self.found.unreadable:
            raise GuardError(
                f"{self.bundle.root} is suddenly empty; the {total} concepts of {self.bundle.name} are kept "
                "(--allow-removals takes them out)"
            )
        if removes_too_much(total, lost):
            raise GuardError(
                f"this would remove {lost} of the {total} concepts of {self.bundle.name}; nothing was changed "
                "(--allow-removals does it)"
            )

    # -- reading ---------------------------------------------------------------------

    def _contents(
        self, candidates: dict[str, list[Change]]
    ) -> Iterator[tuple[str, Change, files.Content | Failure | None]]:
        """(path, change, content) of every file to read; None for one that vanished."""
        for directory, changes in candidates.items():
            if not any(change.kind != REMOVED for change in changes):
                continue
            prefix = "" if directory == "." else directory + "/"
            try:
                descriptor = files.open_directory(self.root_fd, directory)
            except OSError:
                self.unopened.add(directory)  # gone since the walk; the next sync looks at it afresh
                continue
            try:
                for change in changes:
                    if change.kind == REMOVED:
                        continue
                    path = prefix + change.name
                    content = files.read(self.root_fd, self.bundle.root, descriptor, path)
                    settled = content.settled if isinstance(content, files.Content) else content is not None
                    if not settled or (isinstance(content, Failure) and content.code == "unreadable"):
                        self.unsettled.setdefault(directory, set()).add(change.name)
                    yield path, change, content
            finally:
                os.close(descriptor)

    def _file(
        self, path: str, content: files.Content | Failure | None, moved_from: str | None, removed: dict[str, Known]
    ) -> None:
        path = _shown(path)
        # Looked up for new files, too: what the last sync saw and what it stored may differ.
        known = None if self.is_new else self.writer.known(path)
        if content is None:
            if known is not None:
                self._forget(path, known)
            return
        if isinstance(content, Failure):
            self._failure(path, content, known, None, None)
            return
        digest = sha256(content.data).hexdigest()
        if known is not None and known.content_hash == digest and not self.reparse:
            return
        text = decode(content.data)
        if isinstance(text, Failure):
            self._failure(path, text, known, digest, clean(content.data.decode("utf-8", "replace")))
            return
        kind = reserved.kind_of(path)
        if kind is not None:
            self._reserved(path, kind, text, digest, known)
            return
        parsed = parse_text(text)
        if isinstance(parsed, Failure):
            if self.rules == "0.3" and parsed.code == "no_frontmatter":
                self._other(path, text, digest, known)
            else:
                self._failure(path, reserved.advised(path, parsed), known, digest, text)
        elif not concept.is_concept(parsed, self.rules):
            self._other(path, text, digest, known)
        else:
            self._concept(path, parsed, digest, len(content.data), known, moved_from, removed)

    # -- writing ---------------------------------------------------------------------

    def _concept(
        self, path: str, parsed: Document, digest: str, size: int, known: Known | None, moved_from: str | None,
        removed: dict[str, Known],
    ) -> None:  # fmt: skip
        record = concept.read(path, parsed, self.rules)
        problems = conformance.problems(path, parsed)
        report, writer = self.report, self.writer
        if moved_from is not None and known is None and removed[moved_from].kind == "concept":
            row_id = removed[moved_from].concept_id
            if row_id is not None:
                writer.unlink(row_id)
            writer.concept(record, problems, digest, size, row_id, exists=True)
            self.existence |= {path, moved_from}
            report.moved.append((moved_from, path))
            writer.change(path, "moved", "path", moved_from, path)
            return
        if known is None:
            writer.concept(record, problems, digest, size, None, exists=False)
            self.existence.add(path)
            report.added.append(path)
            if not self.is_new:
                writer.change(path, "added")
            return
        if known.kind == "concept":
            fields = writer.concept(record, problems, digest, size, known.concept_id, exists=True)
            if fields or known.content_hash != digest:
                report.changed[path] = fields
            return
        writer.clear_file(path)
        writer.concept(record, problems, digest, size, known.concept_id, exists=False)
        self.existence.add(path)
        if known.kind == "error":
            report.repaired.append(path)
            writer.change(path, "repaired")
        else:
            report.added.append(path)
            writer.change(path, "added")

    def _failure(
        self, path: str, failure: Failure, known: Known | None, digest: str | None, text: str | None
    ) -> None:
        unread = known is not None and known.kind == "error" and digest is None and known.content_hash is None
        if unread and self._same_failure(path, failure):
            return
        row_id = known.concept_id if known else self.heirs.get(path)
        if known is not None and known.kind == "concept" and row_id is not None:
            self.writer.remove_concept(row_id)
            self.report.broken.append(path)
            self.writer.change(path, "broken", None, None, failure.message)
        elif known is not None:
            if known.kind != "error":
                self.writer.clear_file(path)
        elif not self.is_new:
            self.writer.change(path, "failed", None, None, failure.message)
        self.existence.add(path)
        if not (self.reparse and known is not None and known.kind == "error"):
            self.report.failed.append((path, failure))
        links = link_rows(text, path) if text else []
        self.writer.failure(path, failure, digest, text[:_TEXT_LIMIT] if text else None, row_id, links)

    def _same_failure(self, path: str, failure: Failure) -> bool:
        row = self.connection.execute(
            "select code, message from parse_errors where bundle = ? and path = ?", (self.bundle.name, path)
        ).fetchone()
        return row is not None and tuple(row) == failure[:2]

    def _reserved(self, path: str, kind: str, text: str, digest: str, known: Known | None) -> None:
        if known is not None:
            self.writer.clear_file(path)
        body, line = reserved.body_of(text)
        problems = reserved.problems(path, text, self.rules)
        self.writer.reserved(path, kind, text, digest, problems, link_rows(body, path, line))
        self.existence.add(path)
        if (known is None or known.content_hash != digest) and not self.is_new:
            self._note_reserved(path, known)

    def _note_reserved(self, path: str, known: Known | None) -> None:
        if known is None:
            self.report.added.append(path)
            self.writer.change(path, "added")
        else:
            self.report.changed[path] = ["body"]
            self.writer.change(path, "changed", "body")

    def _other(self, path: str, text: str, digest: str, known: Known | None) -> None:
        """Markdown that OKF 0.3 does not count as a concept (§3.2)."""
        if known is not None and known.kind == "concept" and known.concept_id is not None:
            self.writer.remove_concept(known.concept_id)
        elif known is not None:
            self.writer.clear_file(path)
        problem = warning("other_markdown", "not a concept: it has no frontmatter with a non-empty `type`", 1)
        self.writer.reserved(path, "other", text, digest, [problem], [])
        if known is None or known.content_hash != digest or known.kind != "other":
            self.existence.add(path)
            if not self.is_new:
                self._note_reserved(path, known)

    def _forget(self, path: str, known: Known) -> None:
        self.writer.forget(path, known)
        self.existence.add(path)
        self.report.removed.append(path)
        self.writer.change(path, "removed")

    # -- after writing ---------------------------------------------------------------

    def _signatures(self) -> None:
        newest = int(self.started.timestamp() * 1e9) - RACY_NS
        name = self.bundle.name
        # A directory without markdown has no row.
        emptied = self.found.gone + [path for path in self.found.differing if not self.found.directories[path].names]
        self.connection.executemany(
            "delete from directories where bundle = ? and dir = ?", [(name, signature.key_of(path)) for path in emptied]
        )
        rows = []
        paths = (set(self.found.differing) | set(self.unsettled)).difference(emptied, self.unopened)
        for path in sorted(paths):
            directory = self.found.directories[path]
            stamps = signature.settle(directory.stamps, directory.names, newest, self.unsettled.get(path, set()))
            rows.append((name, signature.key_of(path), signature.encode(directory.names, stamps)))
        self.connection.executemany("insert or replace into directories values (?, ?, ?)", rows)

    def _finish(self, clock: Clock) -> None:
        report, name = self.report, self.bundle.name
        execute = self.connection.execute
        touched = len(report.added) + len(report.changed) + len(report.moved) + len(report.failed) + len(report.repaired)
        report.unchanged = max(self.found.file_count - touched, 0)
        moment = utc_text(clock())
        if report.is_empty and not self.is_new:
            execute("delete from sync_runs where id = ?", (self.sync_id,))
        else:
            report.sync_id = self.sync_id
            execute(
                "update sync_runs set finished_at = ?, added = ?, changed = ?, moved = ?, removed = ?, unchanged = ?, "
                "failed = ?, skipped_hidden = ?, skipped_ignored = ? where id = ?",
                (moment, len(report.added), len(report.changed) + len(report.repaired), len(report.moved),
                 len(report.removed), report.unchanged, len(report.failed), report.skipped.hidden,
                 report.skipped.ignored, self.sync_id),
            )  # fmt: skip
            execute("update parse_errors set last_seen = ? where bundle = ?", (utc_text(self.started), name))
            execute("update bundles set last_sync_id = ? where name = ?", (self.sync_id, name))
        execute(
            "update bundles set okf_version = ?, last_synced_at = ?, extraction_version = ?, "
            "concept_count = (select count(*) from concepts where bundle = name), "
            "parse_error_count = (select count(*) from parse_errors where bundle = name), "
            "reserved_count = (select count(*) from reserved_files where bundle = name) where name = ?",
            (self.version, moment, EXTRACTION_VERSION, name),
        )
        if self.title_known:
            execute("update bundles set title = ? where name = ?", (self.title, name))
        if self.options.include_hidden is not None:
            execute("update bundle_roots set include_hidden = ? where bundle = ?",
                    (int(self.options.include_hidden), name))


def _shown(path: str) -> str:
    r"""`path` with bytes that are not UTF-8 as `\xNN`: what the catalog calls such a file."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return os.fsencode(path).decode("utf-8", "backslashreplace")
    return path
