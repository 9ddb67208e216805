"""Arbitrary bytes as a file, arbitrary trees as a bundle, arbitrary edits: a sync always comes out right."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from okf_catalog.catalog import database
from okf_catalog.catalog.sync import Options, sync, system_clock

RELAXED = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))

# Pieces that files of this kind are made of, so that random bytes get past the fences.
PIECES = st.sampled_from([
    b"---\n", b"---", b"--- \n", b"\n", b"\r\n", b"type: Note\n", b"title: A: b\n", b"title: x\n", b"tags: [a, b]\n",
    b"tags: a, b\n", b"- item\n", b"\t", b"  ", b"&a ", b"*a ", b"{", b"}", b"[", b"]", b"\xff", b"\xef\xbb\xbf", b"\0",
    "é".encode(), "日本".encode(), b"verified: {by: human:x, at: 2026-01-01}\n", b"stale_after: 2026-02-30\n",
    b"[a](b.md) ", b"[^n] ", b"[^n]: x\n", b"# Citations\n", b"* <https://example.com>\n", b"```\n", b"<!-- ", b"status: Draft\n",
    b"sources: [{id: n, resource: b.md, usage_count: 3}]\n", b"generated: {by: a/1, at: now}\n", b"x: .nan\n", b"? [k]\n",
])  # fmt: skip
CONTENT = st.one_of(
    st.binary(max_size=200),
    st.lists(PIECES, max_size=14).map(b"".join),
    st.lists(PIECES, max_size=10).map(lambda parts: b"---\ntype: Note\n" + b"".join(parts)),
)
NAMES = st.sampled_from(["a.md", "b.md", "B.MD", "index.md", "log.md", "INDEX.md", "x y.md", "é.md", ".hidden.md", "c.txt"])
PATHS = st.tuples(st.sampled_from(["", "sub/", "sub/deep/", ".git/", "node_modules/", "b.md/"]), NAMES).map("".join)
TREES = st.dictionaries(PATHS, CONTENT, max_size=8)


def lay(root: Path, tree: dict[str, bytes]) -> None:
    if root.exists():
        shutil.rmtree(root)
    root.mkdir()
    for name, content in tree.items():
        path = root / name
        if any((root / part).is_file() for part in [*Path(name).parents][:-1]) or path.is_dir():
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def visible(root: Path) -> list[str]:
    """The markdown files that the rules of the walk leave."""
    found = []
    for path in root.rglob("*"):
        parts = path.relative_to(root).parts
        if path.is_file() and path.suffix.lower() == ".md" and not any(
            part.startswith(".") or part == "node_modules" for part in parts
        ):
            found.append("/".join(parts))
    return sorted(found)


def state(connection: sqlite3.Connection) -> dict[str, list[str]]:
    """Everything that depends on the files alone, with paths in place of row ids."""
    columns = {
        "concepts": "path, type, title, description, tags, status, effective_status, trust_tier, trust_current, "
        "stale_after_utc, generated_at, frontmatter, content_hash, size",
        "parse_errors": 'path, code, message, advice, line, "column", excerpt, text',
        "reserved_files": "path, kind, text",
        "file_links": "path, position, kind, target, target_path, line",
        "problems": "path, level, check_id, source, message, line",
    }
    children = {
        "bodies": "x.body", "tags": "x.position, x.tag", "sources": "x.position, x.source_id, x.resource, x.legacy",
        "verifications": "x.position, x.by, x.at_utc, x.is_current", "extra_keys": "x.key, x.value",
        "links": "x.position, x.kind, x.target, x.target_path, x.text, x.line",
        "footnotes": "x.label, x.source_position, x.is_defined, x.line",
        "search_text": "x.title, x.id, x.tags, x.type, x.description, x.sources, x.body",
    }  # fmt: skip
    result = {table: connection.execute(f"select {names} from {table}").fetchall() for table, names in columns.items()}
    for table, names in children.items():
        result[table] = connection.execute(
            f"select c.path, {names} from {table} x join concepts c on c.id = x.concept_id"
        ).fetchall()
    result["targets"] = connection.execute(
        "select c.path, l.position, t.path from links l join concepts c on c.id = l.concept_id "
        "left join concepts t on t.id = l.target_id"
    ).fetchall()
    result["index"] = connection.execute("select term, doc, cnt from concepts_fts_terms").fetchall()
    return {table: sorted(map(repr, rows)) for table, rows in result.items()}


def check_integrity(connection: sqlite3.Connection) -> None:
    connection.execute("insert into concepts_fts (concepts_fts, rank) values ('integrity-check', 1)")
    connection.execute("insert into terms_trigram (terms_trigram, rank) values ('integrity-check', 1)")
    assert connection.execute("pragma foreign_key_check").fetchall() == []
    assert connection.execute("pragma integrity_check").fetchall() == [("ok",)]
    missing = "select term from concepts_fts_terms except select term from terms"
    assert connection.execute(missing).fetchall() == []


@RELAXED
@given(TREES)
def test_every_file_ends_in_exactly_one_place(tree):
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "b"
        lay(root, tree)
        connection = database.memory()
        sync(connection, ":memory:", str(root), clock=system_clock)
        places = [row[0] for row in connection.execute("select path from files order by path")]
        assert places == visible(root)
        check_integrity(connection)
        before = state(connection)
        again = sync(connection, ":memory:", str(root), clock=system_clock)
        assert again.is_empty
        assert state(connection) == before
        full = sync(connection, ":memory:", str(root), clock=system_clock, options=Options(full=True))
        assert full.is_empty


@RELAXED
@given(st.lists(TREES, min_size=2, max_size=4))
def test_following_edits_equals_a_fresh_catalog(trees):
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "b"
        followed = database.memory()
        for tree in trees:
            lay(root, tree)
            sync(followed, ":memory:", str(root), clock=system_clock, options=Options(allow_removals=True))
        check_integrity(followed)
        fresh = database.memory()
        sync(fresh, ":memory:", str(root), clock=system_clock)
        assert state(followed) == state(fresh)
