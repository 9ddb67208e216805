"""`lint`: every check fires on a neglected bundle and is quiet on its tended twin."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from okf_catalog.checks.check import INFO, WARN, registry
from tests.conftest import ROOT

NEGLECTED = ROOT / "examples" / "judging" / "neglected"
TENDED = ROOT / "examples" / "judging" / "tended"
CLOCK = ("--today", "2026-12-01", "--stale-after", "2026-01-01")

# Others' CI rests on these: a change of severity is a change of behaviour.
SEVERITIES = {
    "orphan": WARN, "not_in_index": WARN, "disconnected_component": INFO, "unlinked": INFO, "missing_concept": INFO,
    "broken_index_entry": WARN, "stub": INFO, "missing_title": INFO, "missing_description": INFO,
    "missing_generated": INFO, "expired": INFO, "stale": WARN, "uncited_external": INFO, "broken_source": WARN,
    "unattributed_claim": WARN, "unused_source": INFO, "unprefixed_actor": INFO, "incomplete_computation": WARN,
    "broken_attestation_ref": WARN, "legacy_timestamp": INFO, "legacy_citations": INFO, "duplicate_title": INFO,
    "unused_reference_def": INFO, "undefined_reference": WARN, "self_link": INFO, "log_order": INFO,
}  # fmt: skip
EXTENDED = {
    "verification_outdated": WARN, "source_newer": INFO, "deprecated_linked": WARN, "duplicate_content": INFO,
    "unknown_status": WARN, "misspelt_key": WARN,
}  # fmt: skip


@pytest.fixture
def lint(run_cli):
    """A function that lints a bundle and returns its JSON document, with lines."""

    def run(root, *arguments):
        status, out, _ = run_cli("lint", root, "--format", "json", *arguments)
        assert status == 0
        return json.loads(out)

    return run


def short(document, check=None):
    """(path, line) of the findings of a check."""
    return [(item["path"], item["line"]) for item in document["findings"] if check in (None, item["check"])]


def test_the_checks_and_their_severities_are_fixed():
    ours = {name: check.severity for name, check in registry().checks.items()}
    assert ours == SEVERITIES | EXTENDED
    assert list(ours) == [*SEVERITIES, *EXTENDED]  # the order of the report
    assert {name for name, check in registry().checks.items() if check.extended} == set(EXTENDED)


@pytest.mark.parametrize("check", [*SEVERITIES, *EXTENDED])
def test_every_check_fires_on_the_neglected_bundle(check, lint):
    found = lint(NEGLECTED, *CLOCK, "--only", check)
    assert found["findings"], check
    assert {item["check"] for item in found["findings"]} == {check}
    assert {item["severity"] for item in found["findings"]} == {(SEVERITIES | EXTENDED)[check]}
    assert all(item["message"] and item["place"] for item in found["findings"])


def test_every_check_is_quiet_on_the_tended_twin(lint):
    found = lint(TENDED, *CLOCK, "--extended")
    assert found["findings"] == []
    assert found["healthy"] is True
    assert found["stats"]["skipped_checks"] == []


def test_findings_about_links_footnotes_and_paths_carry_their_line(lint):
    found = lint(NEGLECTED, *CLOCK, "--extended")
    lined = {item["check"] for item in found["findings"] if item["line"]}
    assert lined >= {
        "missing_concept", "broken_index_entry", "uncited_external", "broken_source", "unattributed_claim",
        "broken_attestation_ref", "unused_reference_def", "undefined_reference", "self_link", "log_order",
        "deprecated_linked",
    }  # fmt: skip
    for item in found["findings"]:
        if item["line"]:
            text = (NEGLECTED / item["place"]).read_text().splitlines()[item["line"] - 1]
            words = {"missing_concept": "(ash.md)", "broken_source": "sources:", "undefined_reference": "[club]",
                     "unattributed_claim": "[^chemist]", "log_order": "2026-05-11", "broken_index_entry": "kiln-book.md",
                     "unused_reference_def": "[forum]:", "broken_attestation_ref": "executor"}  # fmt: skip
            assert words.get(item["check"], "") in text, item


def test_json_is_the_documented_one_to_the_key(run_cli):
    status, out, err = run_cli("lint", TENDED, "--json")
    document = json.loads(out)
    assert (status, err, out.count("\n")) == (0, "", 1)
    assert list(document) == ["bundle", "healthy", "stats", "findings"]
    assert list(document["stats"]) == [
        "concepts", "edges", "indexes", "logs", "skipped", "skipped_checks", "orphans", "loose", "stubs", "backlog",
        "components", "hubs", "types", "tags", "trust", "status",
    ]  # fmt: skip
    assert document["stats"]["skipped_checks"] == ["stale"]
    assert document["stats"]["trust"] == {"unverified": 4, "machine-confirmed": 0, "human-reviewed": 1}
    _, out, _ = run_cli("lint", NEGLECTED, "--json")
    assert {tuple(item) for item in json.loads(out)["findings"]} == {("check", "severity", "path", "message", "metric")}


def test_choosing_checks(lint, run_cli):
    assert lint(NEGLECTED, "--only", "")["findings"] == []
    assert {item["check"] for item in lint(NEGLECTED, "--only", "stub,,orphan")["findings"]} == {"stub", "orphan"}
    assert "stub" not in {item["check"] for item in lint(NEGLECTED, "--except", "stub")["findings"]}
    assert lint(NEGLECTED, "--only", "stub", "--except", "stub")["findings"] == []
    assert not {item["check"] for item in lint(NEGLECTED)["findings"]} & set(EXTENDED)
    status, out, err = run_cli("lint", NEGLECTED, "--only", "stubb,nothing")
    assert (status, out) == (2, "")
    assert err == "error: unknown check(s): stubb, nothing (did you mean stub?)\n"


@pytest.mark.parametrize(
    "arguments",
    [("--stale-after", "3m"), ("--stale-after", "soon"), ("--today", "2026-13-01"), ("--fail-on", "error"),
     ("--fail-on", ""), ("--min-body", "x"), ("--format", "xml"), ("--max-stale", "lots"), ("--max-stale", "101%"),
     ("--max-stale", "-1"), ("--max-errors", "5%"), ("--min-reviewed", "5"), ("--max-stale", "1.5"),
     ("--format", "csv", "--json"), ("--stale-after", "999999w")],
)  # fmt: skip
def test_a_wrong_argument_is_one_line(arguments, run_cli):
    status, out, err = run_cli("lint", TENDED, *arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("error: ")


def test_fail_on(run_cli, bundle):
    only_info = bundle({"a.md": "---\ntype: T\n---\nSee [b](b.md).", "b.md": "---\ntype: T\n---\nSee [a](a.md)."})
    for level, on_info, on_warn in (("never", 0, 0), ("warn", 0, 1), ("w", 0, 1), ("info", 1, 1)):
        assert run_cli("lint", only_info, "--fail-on", level)[0] == on_info
        assert run_cli("lint", NEGLECTED, "--fail-on", level)[0] == on_warn
        assert run_cli("lint", TENDED, "--fail-on", level)[0] == 0


def test_a_directory_that_the_catalog_does_not_know_leaves_no_trace(run_cli, tmp_path):
    before = sorted(tmp_path.rglob("*"))
    for verb in ("lint", "validate", "loose", "references"):
        assert run_cli(verb, TENDED)[0] == 0
    assert sorted(tmp_path.rglob("*")) == before


def test_the_same_report_from_the_catalog_and_from_memory(run_cli):
    fresh = run_cli("lint", NEGLECTED, *CLOCK, "--extended", "--json")
    run_cli("sync", NEGLECTED, TENDED)
    assert run_cli("lint", NEGLECTED, *CLOCK, "--extended", "--json") == fresh
    assert run_cli("lint", "@neglected", *CLOCK, "--extended", "--format", "ndjson")[1].count("\n") == len(
        json.loads(fresh[1])["findings"]
    )


def test_the_order_and_the_clock(lint, bundle):
    root = bundle({
        "b.md": "---\ntype: T\nstale_after: 2026-06-01\n---\n",
        "a.md": "---\ntype: T\nstale_after: 2026-06-01T12:00:00+02:00\ngenerated: {at: 2026-01-31}\n---\n",
        "c.md": "---\ntype: T\nstale_after: soon\ngenerated: {at: someday}\n---\n",
    })  # fmt: skip
    assert short(lint(root, "--today", "2026-06-01"), "expired") == [("a.md", None), ("b.md", None)]
    assert short(lint(root, "--today", "2026-05-31"), "expired") == []
    assert short(lint(root, "--today", "2026-06-01T09:00:00Z"), "expired") == [("b.md", None)]
    found = lint(root, "--today", "2026-06-03", "--only", "expired")["findings"]
    assert [item["metric"] for item in found] == [
        {"stale_after": "2026-06-01T12:00:00+02:00", "days_past": 2}, {"stale_after": "2026-06-01", "days_past": 2}
    ]  # fmt: skip
    for age, old in (("2026-02-01", 1), ("2026-01-31", 0), ("10w", 1), ("150d", 0)):
        assert len(short(lint(root, "--today", "2026-05-01", "--stale-after", age), "stale")) == old, age


def test_components_and_hubs(lint, bundle):
    def page(*targets):
        return "---\ntype: T\n---\n" + " ".join(f"[x]({target})" for target in targets)

    root = bundle({
        "a.md": page("b.md", "b.md", "a.md"), "b.md": page("c.md"), "c.md": page(),
        "x.md": page("y.md"), "y.md": page("x.md"), "z.md": page("index.md", "gone.md", "../out.md"),
        "index.md": "[a](a.md) [x](x.md) [deep](sub/d.md)", "sub/d.md": page("/b.md"),
    })  # fmt: skip
    stats = lint(root)["stats"]
    assert (stats["edges"], stats["components"]) == (5, 3)
    assert stats["hubs"] == [{"id": "b", "in_degree": 2}, {"id": "c", "in_degree": 1}, {"id": "x", "in_degree": 1},
                             {"id": "y", "in_degree": 1}]  # fmt: skip
    found = lint(root)["findings"]
    (island,) = [item for item in found if item["check"] == "disconnected_component"]
    assert (island["path"], island["metric"]) == (None, {"size": 2, "members": ["x", "y"]})
    assert [item["path"] for item in found if item["check"] == "orphan"] == ["z.md"]
    assert [item["path"] for item in found if item["check"] == "unlinked"] == ["z.md"]
    assert [item["path"] for item in found if item["check"] == "missing_concept"] == ["../out.md", "gone.md"]


def test_a_definition_is_no_citation_and_case_does_not_matter(lint, bundle):
    head = "---\ntype: T\nsources: [{id: Paper, title: P}, {id: other, title: O}]\n---\n"
    root = bundle({"a.md": head + "A claim[^paper].\n\n[^paper]: page 3\n[^other]: never referred to\n"})
    found = lint(root, "--only", "unused_source,unattributed_claim")["findings"]
    assert [(item["check"], item["metric"]) for item in found] == [("unused_source", {"id": "other"})]


def test_citations(lint, bundle):
    root = bundle({
        "a.md": "---\ntype: T\n---\nSee [x](https://e.org).\n\n# Citations\n\nnothing linked\n",
        "b.md": "---\ntype: T\nsources: [{resource: https://e.org}]\n---\n\n## citations\n\n- [gone](gone.md)\n",
        "c.md": "---\ntype: T\n---\n```\n# Citations\n```\n[x](https://e.org)\n",
        "d.md": "---\ntype: T\n---\nthe word citations alone\n",
    })  # fmt: skip
    found = lint(root, "--only", "legacy_citations,uncited_external,broken_source")["findings"]
    assert [(item["check"], item["path"], item["metric"]) for item in found] == [
        ("uncited_external", "c.md", {"external_count": 1}),
        ("broken_source", "b.md", {"target": "gone.md"}),
        ("legacy_citations", None, {"concepts": ["a.md", "b.md"]}),
    ]


@pytest.mark.parametrize(
    ("actor", "rules", "fires"),
    [("scribe/1.0", "0.2", False), ("human:ines", "0.2", False), ("process:nightly", "0.2", False), ("ines", "0.2", True),
     ("human:ines m", "0.2", True), ("human:", "0.2", True), ("a b/1", "0.2", True), ("team:data", "0.2", True),
     ("team:data", "0.3", False)],
)  # fmt: skip
def test_actors(actor, rules, fires, lint, bundle):
    root = bundle({
        "index.md": f'---\nokf_version: "{rules}"\n---\n',
        "a.md": f'---\ntype: T\ngenerated: {{by: "{actor}"}}\nverified: [{{by: "{actor}"}}]\n---\n',
    })  # fmt: skip
    found = lint(root, "--only", "unprefixed_actor")["findings"]
    assert [item["metric"]["field"] for item in found] == (["generated.by", "verified.by"] if fires else [])


@pytest.mark.parametrize(
    ("key", "meant"),
    [("titel", "title"), ("tag", "tags"), ("Title", "title"), ("stale-after", "stale_after"), ("sorces", "sources"),
     ("owner", None), ("id", None), ("version", None), ("notes", None), ("x-cost", None)],
)  # fmt: skip
def test_misspelt_keys(key, meant, lint, bundle):
    root = bundle({"a.md": f"---\ntype: T\n{key}: 1\n---\n"})
    found = lint(root, "--only", "misspelt_key")["findings"]
    assert [item["metric"]["meant"] for item in found] == ([meant] if meant else [])


def test_a_replacement_may_name_what_it_replaces(lint, bundle):
    root = bundle({
        "old.md": "---\ntype: T\nstatus: deprecated\nsuperseded_by: new.md\n---\n",
        "new.md": "---\ntype: T\n---\nInstead of [old](old.md).",
        "other.md": "---\ntype: T\n---\nSee [old](old.md).",
    })  # fmt: skip
    assert short(lint(root, "--only", "deprecated_linked")) == [("other.md", 4)]


def test_awkward_bundles(lint, bundle, run_cli):
    root = bundle({
        "index.md": b"\xff\xfe broken", "log.md": b"## \xff\n", "no-type.md": "---\n---\n", "broken.md": "---\na: [\n---\n",
        "dir with | pipe/ü*.md": "---\ntype: 'a\tb'\ntitle: \"x\\ny\"\n---\n[a](<no type.md>) [~u](~nobody/x.md)\n",
        "nan.md": "---\ntype: .nan\ntags: [.nan, .inf]\nverified: true\ngenerated: []\nsources: 3\n---\n",
    })  # fmt: skip
    found = lint(root, "--extended", *CLOCK)
    assert (found["stats"]["concepts"], found["stats"]["skipped"], found["stats"]["indexes"]) == (3, 3, 0)
    status, out, err = run_cli("lint", root, "--extended", *CLOCK)
    assert status == 0
    assert err == f"note: 3 unusable file(s) are no concepts (okf-catalog validate {root} says why)\n"
    assert "\t" not in out


def test_an_empty_bundle_is_said_to_be_empty(bundle, run_cli):
    root = bundle({})
    for verb in ("lint", "validate"):
        status, out, err = run_cli(verb, root)
        assert (status, err) == (0, f"note: {root} is empty\n")
        assert "no issues" in out
    bundle({"notes.txt": "x"})
    for verb in ("lint", "validate"):
        assert run_cli(verb, root)[2] == f"note: {root} holds no markdown that counts: nothing was judged\n"


def test_skipped_is_only_said_where_it_was_asked_for(run_cli):
    assert "skipped" not in run_cli("lint", TENDED)[1]
    assert "skipped: stale" in run_cli("lint", TENDED, "--only", "stale")[1]


def test_list_names_every_check(run_cli):
    status, out, _ = run_cli("lint", "--list", "--json")
    assert status == 0
    assert [row["check"] for row in json.loads(out)["checks"]] == [*SEVERITIES, *EXTENDED]
    assert all(row["why"].endswith((".", ").")) for row in json.loads(out)["checks"])


def test_a_closed_pipe_is_silent(tmp_path):
    for form in ("text", "json", "github", "sarif", "csv"):
        command = f"{sys.executable} -m okf_catalog lint {NEGLECTED} --extended --format {form} | true"
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, timeout=60)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), form


def test_trust_that_was_lost(lint, bundle):
    def page(*events):
        return f"---\ntype: T\ngenerated: {{at: 2026-05-01}}\nverified: [{', '.join(events)}]\n---\n"

    human, machine = '{by: "human:a", at: 2026-04-01}', "{by: x/1, at: 2026-04-01}"
    root = bundle({
        "both-old.md": page(human, machine), "human-old.md": page(human, machine.replace("04", "06")),
        "machine-old.md": page(human.replace("04", "06"), machine), "new.md": page(human.replace("04", "05")),
        "again.md": page(human, human.replace("04", "06")), "undated.md": page("{by: x/1}"),
    })  # fmt: skip
    found = lint(root, "--only", "verification_outdated")["findings"]
    assert [item["path"] for item in found] == ["both-old.md", "human-old.md"]


def test_colour_only_on_a_terminal(monkeypatch, tmp_path):
    import os
    import pty

    monkeypatch.delenv("NO_COLOR")
    for verb in ("lint", "validate"):
        plain = subprocess.run([sys.executable, "-m", "okf_catalog", verb, NEGLECTED], capture_output=True, check=False).stdout
        assert b"\x1b" not in plain
        parent, child = pty.openpty()
        process = subprocess.Popen([sys.executable, "-m", "okf_catalog", verb, NEGLECTED], stdout=child, stderr=child)
        os.close(child)
        shown = b""
        try:
            while chunk := os.read(parent, 65536):
                shown += chunk
        except OSError:
            pass  # the end, on Linux
        os.close(parent)
        process.wait(timeout=60)
        assert b"\x1b[33m" in shown, verb


def test_stub_is_measured_without_the_blanks_at_both_ends(bundle, run_cli):
    long = "word " * 60
    bodies = {
        "blank": "\n \t \n" * 100, "short": "short", "far": "\n" * 500 + "short" + " \n" * 500, "far and long": "\n" * 500 + long,
        "long": long, "just": "x" * 50, "not just": "x" * 49, "gap": "x" + " " * 500 + "y", "wide": "木" * 49,
    }  # fmt: skip
    root = bundle({f"{name}.md": f"---\ntype: Note\ntitle: {name}\n---\n{body}\n" for name, body in bodies.items()})
    for least, stubs in ((None, ["blank", "far", "not just", "short", "wide"]), (0, []), (1, ["blank"]), (2**62, list(bodies))):
        more = [] if least is None else ["--min-body", str(least)]
        found = json.loads(run_cli("lint", root, "--only", "stub", "--json", *more)[1])["findings"]
        assert sorted(item["path"][:-3] for item in found) == sorted(stubs)
