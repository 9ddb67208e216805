"""`review`: what wants a person's eye, and the calendar of due dates."""

from __future__ import annotations

import json
import sys

import icalendar
import pytest

NOW = "2026-06-15T12:00:00Z"
HUMAN = "verified: {by: 'human:ana', at: 2026-05-02}"
FILES = {
    "fine.md": f"---\ntype: Note\n{HUMAN}\n---\nSee [hub](hub.md), [old](sub/old.md), [broken](broken.md).\n",
    "hub.md": "---\ntype: Note\ntitle: The hub\n---\n[hub](hub.md) itself, twice [old](sub/old.md) [old](sub/old.md)\n",
    "sub/old.md": f"---\ntype: Metric\ntags: [a]\nstale_after: 2026-06-15\n{HUMAN}\n---\n",
    "sub/soon.md": f"---\ntype: Metric\nstale_after: 2026-07-15T12:00:00Z\n{HUMAN}\n---\n",
    "sub/later.md": f"---\ntype: Metric\nstale_after: 2026-07-15T12:00:01Z\n{HUMAN}\n---\n",
    "outrun.md": "---\ntype: Note\ngenerated: {by: w/1, at: 2026-05-03}\nverified:\n- {by: 'human:ana', at: 2026-05-02}\n"
                 "- {by: bot/1, at: 2026-05-04}\n---\n[hub](hub.md)\n",
    "machine.md": "---\ntype: Note\nverified: {by: bot/1, at: 2026-05-04}\n---\n",
    "broken.md": "no fences\n",
    "sub/broken.md": "no fences\n",
}  # fmt: skip
QUEUE = [
    ("hub.md", ["unverified"], 2),
    ("sub/old.md", ["stale"], 2),
    ("broken.md", ["broken"], 1),
    ("sub/soon.md", ["due"], 0),
    ("outrun.md", ["verified-before-generated"], 0),
    ("sub/broken.md", ["broken"], 0),
]


@pytest.fixture
def queue(bundle, run_cli):
    """`queue(option, …)` gives (path, reasons, links_in) of the rows."""
    root = bundle(FILES)

    def run(*arguments: str) -> list:
        status, out, err = run_cli("review", root, "--as-of", NOW, "--json", *arguments)
        assert status == 0, err
        return [(row["path"], row["reasons"], row["links_in"]) for row in json.loads(out)["review"]]

    return run


def test_the_queue_by_how_many_concepts_link_to_it(queue):
    # hub.md: by fine.md and outrun.md, not by itself. sub/old.md: by two, though one says it twice. Among equals what
    # is due comes first, except that hub.md has no date: sub/old.md would be first.
    assert sorted(queue()) == sorted(QUEUE)
    assert [row[0] for row in queue()] == ["sub/old.md", "hub.md", "broken.md", "sub/soon.md", "outrun.md", "sub/broken.md"]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (["--within", "0d"], {"hub.md", "sub/old.md", "outrun.md", "broken.md", "sub/broken.md"}),
        (["--within", "31d", "--reason", "due"], {"sub/soon.md", "sub/later.md"}),
        (["--reason", "stale", "--reason", "VERIFIED_before_generated"], {"sub/old.md", "outrun.md"}),
        (["--reason", "broken"], {"broken.md", "sub/broken.md"}),
        (["--type", "metric"], {"sub/old.md", "sub/soon.md"}),
        (["--dir", "sub"], {"sub/old.md", "sub/soon.md", "sub/broken.md"}),
        (["--dir", "."], {"hub.md", "outrun.md", "broken.md"}),
        (["--dir", "nowhere"], set()),
        (["--tag", "a"], {"sub/old.md"}),
        (["--not-tag", "a", "--not-type", "Note"], {"sub/soon.md"}),
        (["--limit", "1", "--offset", "1"], {"hub.md"}),
    ],
)
def test_narrowed(queue, asked, expected):
    assert {row[0] for row in queue(*asked)} == expected


@pytest.mark.parametrize(("moment", "reasons"), [("2026-06-14T23:59:59Z", ["due"]), ("2026-06-15T00:00:00Z", ["stale"])])
def test_stale_from_the_moment_on(bundle, run_cli, moment, reasons):
    root = bundle({"a.md": FILES["sub/old.md"]})
    row = json.loads(run_cli("review", root, "--as-of", moment, "--json")[1])["review"][0]
    assert (row["reasons"], row["due"], row["days"]) == (reasons, "2026-06-15T00:00:00Z", 0)


def test_nothing_to_do(bundle, run_cli):
    root = bundle({"a.md": FILES["fine.md"].partition("See")[0]})
    assert run_cli("review", root)[1] == f"Review — {root} (0)\n  ✓ nothing wants a look\n"
    assert json.loads(run_cli("review", root, "--json")[1])["review"] == []


def test_rules_of_0_3_give_the_same_queue(bundle, run_cli):
    root = bundle({"index.md": "---\nokf_version: '0.3'\n---\n", "outrun.md": FILES["outrun.md"]})
    row = json.loads(run_cli("review", root, "--as-of", NOW, "--json")[1])["review"][0]
    assert row["reasons"] == ["verified-before-generated"]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (["--within", "30"], "error: --within 30: write a time with its unit, as in 12h, 30d or 8w\n"),
        (["--within", "soon"], "error: --within soon: write a time with its unit, as in 12h, 30d or 8w\n"),
        (["--reason", "old"], "error: --reason old: choose one of broken, stale, due, unverified, verified-before-generated\n"),
        (["--format", "ics", "--fields", "path"], "error: --format ics has no columns: leave out --fields and --except\n"),
        (["--format", "ics", "--json"], "error: --json and --format ics contradict each other: give one of them\n"),
    ],
)
def test_usage_errors(bundle, run_cli, asked, message):
    assert run_cli("review", bundle({"a.md": "x"}), *asked) == (2, "", message)


def test_a_far_end_is_no_error(queue):
    assert ("sub/later.md", ["due"], 0) in queue("--within", "5000w")
    assert ("sub/later.md", ["stale"], 0) in queue("--within", "5000w", "--as-of", "9999-12-31")


# -- the calendar ------------------------------------------------------------------------

LONG = "Überlänge, mit Komma; Strichpunkt \\ und 木" * 5
DATED = {
    "a, b.md": f"---\ntype: 'x, y'\ntitle: \"{LONG}\\n\\eline\"\nstale_after: 2026-07-01T01:00:00+02:00\n---\n".replace(" \\ ", " \\\\ "),
    "b.md": "---\ntype: N\nstale_after: 2031-01-01\n---\n",
    "c.md": "---\ntype: N\n---\n",
    "broken.md": "x",
}


def ics(run_cli, root, *arguments) -> str:
    status, out, err = run_cli("review", root, "--format", "ics", *arguments)
    assert status == 0, err
    return out


def test_the_calendar_keeps_rfc_5545(bundle, run_cli):
    text = ics(run_cli, bundle(DATED))
    lines = text.split("\r\n")
    assert lines[-1] == ""
    assert not any("\n" in line or "\r" in line for line in lines)  # §3.1: CRLF alone
    assert max(len(line.encode()) for line in lines) <= 75
    assert not [character for character in text if character < " " and character not in "\r\n\t"]
    parsed = icalendar.Calendar.from_ical(text)
    assert (str(parsed["version"]), bool(parsed["prodid"])) == ("2.0", True)
    first, second = sorted(parsed.walk("VEVENT"), key=lambda event: event["dtstart"].dt)
    unfolded = text.replace("\r\n ", "")
    assert "SUMMARY:Review: Überlänge\\, mit Komma\\; Strichpunkt \\\\ und 木" in unfolded
    assert str(first["summary"]) == f"Review: {LONG}\n line"
    assert first["dtstart"].dt.isoformat() == "2026-06-30T23:00:00+00:00"
    assert "CATEGORIES:x\\, y\r\n" in unfolded
    for event in (first, second):
        assert {"UID", "DTSTAMP"} <= set(event)
        assert event["dtstamp"].dt.tzinfo is not None
    assert second["dtstart"].dt.year == 2031  # no end unless --within gives one


def test_an_unchanged_bundle_gives_the_same_bytes(bundle, run_cli):
    root = bundle(DATED)
    run_cli("sync", root)
    before = ics(run_cli, root)
    assert ics(run_cli, root, "--as-of", "2030-01-01") == before
    assert ics(run_cli, f"@{root.name}", "--as-of", "2030-01-01") == before


def test_an_event_keeps_its_uid_through_edits_and_on_other_machines(bundle, run_cli, tmp_path):
    def uids(root) -> dict[str, str]:
        events = icalendar.Calendar.from_ical(ics(run_cli, root)).walk("VEVENT")
        return {str(event["description"]).splitlines()[0].partition(" ")[2]: str(event["uid"]) for event in events}

    root = bundle(DATED)
    before = uids(root)
    assert len(set(before.values())) == 2
    (root / "b.md").write_text(DATED["b.md"].replace("2031", "2032"))
    assert uids(root) == before
    assert uids(bundle(DATED, "elsewhere/bundle")) == before


def test_within_and_reasons_narrow_the_calendar(bundle, run_cli):
    root = bundle(DATED)
    assert ics(run_cli, root, "--as-of", "2026-06-15", "--within", "30d").count("BEGIN:VEVENT") == 1
    assert ics(run_cli, root, "--as-of", "2026-06-15", "--reason", "stale").count("BEGIN:VEVENT") == 0
    assert ics(run_cli, root, "--as-of", "2026-06-15", "--limit", "1").count("BEGIN:VEVENT") == 1


def test_without_the_package_the_way_out_is_said(bundle, run_cli, monkeypatch):
    monkeypatch.setitem(sys.modules, "icalendar", None)
    status, out, err = run_cli("review", bundle(DATED), "--format", "ics")
    assert (status, out) == (2, "")
    assert err == "error: --format ics needs the package icalendar: pip install 'okf-catalog[calendar]'\n"
