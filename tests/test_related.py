"""`related`: what has to do with a concept, and what ties them."""

from __future__ import annotations

import json

import pytest

SOURCES = "sources:\n- {resource: 'https://e.org/x'}\n- {resource: ref/paper.md}\n- {title: Field notes}\n- {resource: /data/raw.csv}\n"
FILES = {
    "hub.md": f"---\ntype: Note\ntitle: Hub\ntags: [Größe, b]\n{SOURCES}superseded_by: new.md\n---\n[a](sub/a.md) [self](hub.md)\n",
    "new.md": "---\ntype: Note\n---\n",
    "sub/a.md": "---\ntype: Note\n---\n[hub](../hub.md)\n",
    "back.md": "---\ntype: Note\ntags: [GRÖSSE]\n---\n[hub](hub.md)\n",
    "ref/paper.md": "---\ntype: Paper\n---\n",
    "sub/deep.md": "---\ntype: Note\nsources:\n- {resource: ../ref/paper.md}\n- {title: Field notes}\n---\n",
    "sub/raw.md": "---\ntype: Note\nsources:\n- {resource: ../data/raw.csv}\n---\n",
    "sub/other.md": "---\ntype: Note\nsources:\n- {resource: ref/paper.md}\n---\nsub/ref/paper.md is another file\n",
    "web.md": "---\ntype: Note\ntags: [b]\nsources:\n- {resource: 'https://e.org/x', title: X}\n- {resource: 'https://e.org/x'}\n---\n",
    "on.md": "---\ntype: Note\nsources:\n- {resource: hub.md}\n---\n",
    "alone.md": "---\ntype: Note\ntags: [c]\n---\n",
    "broken.md": "[hub](hub.md)\n",
}  # fmt: skip


@pytest.fixture
def related(bundle, run_cli):
    """`related(option, …)` gives what is related to hub.md: {path: ties}."""
    root = bundle(FILES)
    other = bundle({"hub.md": FILES["hub.md"], "back.md": FILES["back.md"]}, "other")
    run_cli("sync", root, other)

    def run(*arguments: str) -> dict[str, dict]:
        status, out, err = run_cli("related", "hub", "--bundle", root, "--json", *arguments)
        assert status == 0, err
        rows = json.loads(out)["related"]
        return {row["path"]: {key: row[key] for key in ("links_to", "linked_from", "tags", "sources", "also") if row[key]} for row in rows}

    return run


def test_every_tie_is_named(related):
    assert related() == {
        "sub/a.md": {"links_to": True, "linked_from": True},
        "back.md": {"linked_from": True, "tags": ["Größe"]},
        "new.md": {"also": ["superseded_by"]},
        "on.md": {"also": ["source_of"]},
        "ref/paper.md": {"also": ["rests_on"]},
        "sub/deep.md": {"sources": ["Field notes", "ref/paper.md"]},
        "web.md": {"sources": ["https://e.org/x"], "tags": ["b"]},
        "sub/raw.md": {"sources": ["data/raw.csv"]},
    }


def test_the_closest_first(related):
    assert list(related()) == ["sub/a.md", "back.md", "new.md", "on.md", "ref/paper.md", "sub/deep.md", "web.md", "sub/raw.md"]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (["--by", "tags"], ["back.md", "web.md"]),
        (["--by", "SOURCES"], ["sub/deep.md", "web.md", "sub/raw.md"]),
        (["--by", "tags", "--by", "links", "--limit", "2"], ["sub/a.md", "back.md"]),
        (["--offset", "6", "--limit", "0"], ["web.md", "sub/raw.md"]),
    ],
)
def test_narrowed(related, asked, expected):
    assert list(related(*asked)) == expected


def test_seen_from_the_other_side(related, run_cli):
    rows = json.loads(run_cli("related", "new.md", "--bundle", "@bundle", "--json")[1])["related"]
    assert [(row["path"], row["also"]) for row in rows] == [("hub.md", ["supersedes"])]


def test_for_people(related, run_cli):
    status, out, _ = run_cli("related", "hub", "--bundle", "@bundle", "--limit", "2")
    assert status == 0
    assert out == """\
Related — hub.md  ·  @bundle (8 concepts)

  sub/a.md  a
    links to  ·  linked from

  back.md  back
    linked from  ·  tag in common: Größe

  … and 6 more (--limit, --offset)
"""


def test_nothing_related(related, run_cli):
    assert run_cli("related", "alone.md")[:2] == (0, "Related — alone.md  ·  @bundle (0 concepts)\n")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (["nowhere"], "there is no nowhere in the catalog"),
        (["broken.md"], "broken.md is no concept, so nothing is known to be related to it"),
        (["hub"], "hub is in 2 places: @bundle hub.md, @other hub.md; choose one with --bundle @name"),
        (["alone", "--by", "love"], "--by love: choose one of links, tags, sources"),
    ],
)
def test_usage_errors(related, run_cli, asked, message):
    assert run_cli("related", *asked) == (2, "", f"error: {message}\n")
