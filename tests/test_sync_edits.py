"""A sync writes what an edit changed and leaves the rest; what comes out is what a new catalog would hold."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing

import pytest

from okf_catalog.catalog import database, writer
from okf_catalog.catalog.sync import Options, sync, system_clock
from tests.test_sync_property import check_integrity, state

RICH = """\
---
type: Metric
title: Rooms
description: Rooms that were let
tags: [hotel, night]
status: stable
generated: {by: agent:scribe, at: 2026-01-01T00:00:00Z}
verified: [{by: human:ann, at: 2026-02-01T00:00:00Z}]
stale_after: 2027-01-01
sources:
  - {id: ledger, resource: other.md, title: Ledger}
owner: front desk
---
# Rooms

Count of nights[^ledger], see [other](other.md), [gone](gone.md) and [again](sub/third.md).

[^ledger]: The ledger.
"""
OTHER = "---\ntype: Table\ntitle: Other\n---\n[rooms](rooms.md) [third](/sub/third.md) [nowhere](nowhere.md)\n"
FILES = {"rooms.md": RICH, "other.md": OTHER, "sub/third.md": OTHER.replace("rooms.md", "../rooms.md").replace("Other", "Third"),
         "index.md": "# All\n\n* [Rooms](rooms.md)\n* [Missing](missing.md)\n", "bad.md": "no fence [rooms](rooms.md) [missing](missing.md)"}  # fmt: skip

EDITS = {
    "body": ("Count of nights", "Count of whole nights and zeppelins"),
    "line above all links": ("# Rooms\n", "# Rooms\n\nOne more line.\n"),
    "title": ("title: Rooms", "title: Chambers"),
    "type": ("type: Metric", "type: Number"),
    "no type": ("type: Metric\n", ""),
    "description": ("that were let", "let"),
    "tags": ("[hotel, night]", "[night, hotel, 'new one']"),
    "status": ("status: stable", "status: draft"),
    "verified": ("human:ann", "process:nightly"),
    "no verified": ("verified: [{by: human:ann, at: 2026-02-01T00:00:00Z}]\n", ""),
    "generated later": ("2026-01-01T", "2026-03-01T"),
    "stale after": ("2027-01-01", "not a date"),
    "source": ("title: Ledger", "title: Cash book"),
    "source elsewhere": ("resource: other.md", "resource: sub/third.md"),
    "other key": ("owner: front desk", "owner: back office"),
    "new key": ("owner: front desk", "aaa: 1\nowner: front desk"),
    "link mended": ("gone.md", "sub/third.md"),
    "link broken": ("[other](other.md)", "[other](another.md)"),
    "link dropped": (", see [other](other.md)", ""),
    "footnote": ("[^ledger]: The ledger.", "[^Ledger]: The ledger.\n[^a]: More."),
    "order of keys": ("tags: [hotel, night]\nstatus: stable\n", "status: stable\ntags: [hotel, night]\n"),
    "nothing of weight": ("owner: front desk\n", "owner: front desk   # at the door\n"),
    "broken": ("---\ntype", "--\ntype"),
}


def synced(root, path, full=False):
    with closing(database.open_or_create(str(path))) as connection:
        return sync(connection, str(path), str(root), options=Options(full=full), clock=system_clock)


def opened(path):
    return closing(sqlite3.connect(path))


def same_as_new(root, path, tmp_path):
    fresh = tmp_path / "fresh.db"
    fresh.unlink(missing_ok=True)
    synced(root, fresh)
    order = "select c.path, p.message from problems p left join concepts c on c.id = p.concept_id where c.path = 'rooms.md' order by p.id"
    led = "select c.path, l.position, t.path from links l join concepts c on c.id = l.concept_id left join concepts t on t.id = l.target_id order by 1, 2"
    with opened(path) as ours, opened(fresh) as new:
        check_integrity(ours)
        assert state(ours) == state(new)
        for sql in (order, led):
            assert ours.execute(sql).fetchall() == new.execute(sql).fetchall()
        known, needed = ({row[0] for row in each.execute("select term from terms")} for each in (ours, new))
        assert known >= needed


@pytest.mark.parametrize("edit", EDITS)
def test_one_edit(bundle, tmp_path, edit):
    root = bundle(FILES)
    path = tmp_path / "catalog.db"
    synced(root, path)
    before, after = EDITS[edit]
    assert before in RICH
    (root / "rooms.md").write_text(RICH.replace(before, after, 1))
    synced(root, path)
    same_as_new(root, path, tmp_path)
    (root / "rooms.md").write_text(RICH)
    synced(root, path)
    same_as_new(root, path, tmp_path)


@pytest.mark.parametrize("edit", EDITS)
def test_one_edit_and_a_move(bundle, tmp_path, edit):
    root = bundle(FILES)
    path = tmp_path / "catalog.db"
    synced(root, path)
    os.rename(root / "rooms.md", root / "sub/rooms.md")  # the rules of moves are for files of the same bytes
    synced(root, path)
    same_as_new(root, path, tmp_path)
    before, after = EDITS[edit]
    (root / "sub/rooms.md").write_text(RICH.replace(before, after, 1))
    os.rename(root / "sub/third.md", root / "gone.md")
    synced(root, path)
    same_as_new(root, path, tmp_path)


def test_two_edits_at_once_where_one_makes_the_others_link(bundle, tmp_path):
    root = bundle(FILES)
    path = tmp_path / "catalog.db"
    synced(root, path)
    (root / "other.md").unlink()
    (root / "gone.md").write_text(OTHER)
    (root / "rooms.md").write_text(RICH.replace("Count", "Sum"))
    synced(root, path)
    same_as_new(root, path, tmp_path)


def written(path, table):
    """What SQLite wrote into a table since the last look: the triggers stand in for a log."""
    with opened(path) as connection:
        rows = connection.execute("select what from log where tab = ?", (table,)).fetchall()
    return sorted(row[0] for row in rows)


CHILDREN = ("bodies", "tags", "sources", "verifications", "links", "footnotes", "extra_keys", "problems", "search_text")


def logged(path):
    with opened(path) as connection:
        connection.execute("create table log (tab text, what text)")
        for table in CHILDREN:
            for what in ("insert", "delete", "update"):
                connection.execute(f"create trigger log_{table}_{what} after {what} on {table} begin insert into log values ('{table}', '{what}'); end")
        connection.commit()


@pytest.mark.parametrize(("edit", "expected"), [
    ("body", {"bodies", "search_text"}),
    ("verified", {"verifications"}),
    ("description", {"search_text"}),
    ("tags", {"tags", "search_text"}),
    ("other key", {"extra_keys"}),
    ("nothing of weight", set()),
    ("line above all links", {"bodies", "links", "problems", "footnotes", "search_text"}),
])  # fmt: skip
def test_an_edit_leaves_the_other_rows_alone(bundle, tmp_path, edit, expected):
    root = bundle(FILES)
    path = tmp_path / "catalog.db"
    synced(root, path)
    logged(path)
    before, after = EDITS[edit]
    (root / "rooms.md").write_text(RICH.replace(before, after, 1))
    synced(root, path)
    assert {table for table in CHILDREN if written(path, table)} == expected


def test_full_sync_writes_all_rows(bundle, tmp_path):
    root = bundle(FILES)
    path = tmp_path / "catalog.db"
    synced(root, path)
    with opened(path) as connection:
        connection.execute("update links set target_id = null")
        connection.execute("update concepts set title = 'wrong'")
        connection.execute("update bundles set extraction_version = 0")
        connection.commit()
    synced(root, path)
    same_as_new(root, path, tmp_path)


@pytest.mark.parametrize("kept", [0, 1, 100_000], ids=["no words kept", "one word kept", "all words kept"])
def test_new_words_are_found_by_patterns(bundle, run_cli, monkeypatch, kept):
    monkeypatch.setattr(writer, "WORDS_KEPT", kept)
    monkeypatch.setattr("okf_catalog.catalog.ingest.WORDS_KEPT", kept)
    root = bundle(FILES)
    assert run_cli("sync", root)[0] == 0
    (root / "rooms.md").write_text(RICH.replace("Count of", "A count: (zeppelin)-quince’s/Überzug\u00a0kumquat, of"))
    (root / "new.md").write_text(OTHER + "\nA medlar.\n")
    assert run_cli("sync", root)[0] == 0
    for word in ("zeppelin", "quince", "überzug", "kumquat", "medlar"):
        found = "new" if word == "medlar" else "rooms"
        assert run_cli("search", root, "-e", f"{word[:3]}.*{word[-3:]}", "--fields", "id", "--format", "csv")[1] == f"id\n{found}\n"
        assert run_cli("search", root, "--fuzzy", word[:-1] + "x", "--fields", "id", "--format", "csv")[1] == f"id\n{found}\n"
