"""`sources`: what concepts rest on. `actors`: who wrote and who checked."""

from __future__ import annotations

import json

import pytest


def note(*sources: str, generated: str | None = None, more: str = "") -> str:
    at = f"generated: {{by: w/1, at: {generated}}}\n" if generated else ""
    listed = "sources:\n" + "".join(f"- {{{source}}}\n" for source in sources) if sources else ""
    return f"---\ntype: Note\n{at}{listed}{more}---\n"


BOOK = "resource: 'https://e.org/book'"
FILES = {
    "old.md": note(f"{BOOK}, title: The book, last_modified: 2026-01-01", generated="2026-02-01"),
    "new.md": note(f"{BOOK}, last_modified: 2026-03-01, usage_count: 7", BOOK, "resource: sub/leaf.md", generated="2026-03-01"),
    "undated.md": note(BOOK, "title: Field notes, last_modified: soon"),
    "sub/leaf.md": note("resource: ../data.csv", "resource: leaf.md, last_modified: 2026-09-09", generated="2026-02-01"),
    "sub/plain.md": note("id: only-an-id"),
    "none.md": note(),
}


def test_one_row_a_source(bundle, run_cli):
    root = bundle(FILES)
    status, out, err = run_cli("sources", root, "--json")
    assert status == 0, err
    whole = json.loads(out)
    assert (whole["bundle"], whole["count"]) == (str(root), 5)
    assert [(row["source"], row["kind"], row["concepts"], row["last_modified"], row["outdated_concepts"]) for row in whole["sources"]] == [
        ("https://e.org/book", "other", 3, "2026-03-01T00:00:00Z", ["old.md"]),
        ("sub/leaf.md", "concept", 2, "2026-09-09T00:00:00Z", ["new.md", "sub/leaf.md"]),
        ("Field notes", "other", 1, None, []),
        ("data.csv", "file", 1, None, []),
        ("only-an-id", "other", 1, None, []),
    ]  # fmt: skip
    first = whole["sources"][0]
    assert (first["title"], first["usage_count"], first["outdated"]) == ("The book", 7, 1)


def test_only_those_that_are_newer(bundle, run_cli):
    root = bundle(FILES)
    status, out, _ = run_cli("sources", root, "--newer")
    assert status == 0
    assert out == f"""\
Sources — {root} (2 newer than what rests on them)

  https://e.org/book  The book
    3 concepts  ·  modified 2026-03-01
    newer than old.md

  sub/leaf.md
    2 concepts  ·  modified 2026-09-09  ·  concept
    newer than new.md, sub/leaf.md
"""


def test_slices_and_columns(bundle, run_cli):
    root = bundle(FILES)
    assert run_cli("sources", root, "--format", "csv", "--fields", "source,concepts", "--limit", "1", "--offset", "1")[1] == "source,concepts\nsub/leaf.md,2\n"
    assert json.loads(run_cli("sources", root, "--fields", "source", "--limit", "1")[1])["count"] == 5


def test_a_bundle_without_sources(bundle, run_cli):
    root = bundle({"a.md": note()})
    assert run_cli("sources", root)[1] == f"Sources — {root} (0 distinct)\n  none\n"
    assert run_cli("actors", root)[1] == f"Actors — {root} (0)\n  nobody is named\n"


def test_a_second_bundle_or_unknown_column_is_an_error(bundle, run_cli):
    root = bundle({"a.md": note()})
    for verb in ("sources", "actors"):
        assert run_cli(verb, root, root)[0] == 2
        status, out, err = run_cli(verb, root, "--fields", "colour")
        assert (status, out) == (2, "")
        assert err.startswith("error: unknown field(s): colour (available: ")


ACTED = {
    "a.md": "---\ntype: N\ngenerated: {by: scribe/2, at: 2026-05-01}\nstale_after: 2026-06-01\n"
            "verified:\n- {by: 'human:ana', at: 2026-04-01}\n- {by: 'human:ana', at: 2026-06-02}\n- {by: cron, at: 2026-04-02}\n---\n",
    "b.md": "---\ntype: N\ngenerated: {by: 'human:ana', at: 2026-07-01}\n---\n",
    "c.md": "---\ntype: N\ngenerated: {by: scribe/2}\nverified: {by: 'team:data'}\n---\n",
}  # fmt: skip


def actors(run_cli, root, *arguments) -> list[tuple]:
    status, out, err = run_cli("actors", root, "--as-of", "2026-06-15", "--json", *arguments)
    assert status == 0, err
    return [tuple(row.values()) for row in json.loads(out)["actors"]]


def test_one_row_an_actor(bundle, run_cli):
    # actor, kind, generated, verified, current, stale, last_at
    assert actors(run_cli, bundle(ACTED)) == [
        ("human:ana", "human", 1, 1, 1, 0, "2026-07-01T00:00:00Z"),
        ("scribe/2", "agent", 2, 0, 0, 1, "2026-05-01T00:00:00Z"),
        ("cron", "unknown", 0, 1, 0, 0, "2026-04-02T00:00:00Z"),
        ("team:data", "team", 0, 1, 1, 0, None),
    ]


@pytest.mark.parametrize(("asked", "names"), [(["--kind", "HUMAN", "--kind", "team"], ["human:ana", "team:data"]), (["--limit", "1", "--offset", "1"], ["scribe/2"])])
def test_narrowed(bundle, run_cli, asked, names):
    assert [row[0] for row in actors(run_cli, bundle(ACTED), *asked)] == names


def test_staleness_is_judged_at_the_moment_asked_for(bundle, run_cli):
    root = bundle(ACTED)
    assert "scribe/2   agent    generated 2  ·" in run_cli("actors", root, "--as-of", "2026-05-31")[1]
    assert "scribe/2   agent    generated 2 (1 stale)  ·" in run_cli("actors", root, "--as-of", "2026-06-01")[1]


def test_an_unknown_kind_is_an_error(bundle, run_cli):
    assert run_cli("actors", bundle(ACTED), "--kind", "robot") == (2, "", "error: --kind robot: choose one of human, process, team, agent, unknown\n")
