"""`find`: filters over concepts, as a table that people and programs can read."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil

import pytest

from okf_catalog.cli.find import split_list

FILES = {
    "index.md": "# Contents\n",
    "log.md": "## 2026-01-01\n",
    "tables/orders.md": "---\ntype: BigQuery Table\ntitle: Orders\ndescription: One row per Straße.\ntags: [sales, finance]\n"
                        "verified: {by: 'human:ana', at: 2026-02-01}\ngenerated: {by: w/1, at: 2026-01-01}\n---\n\nNet\nrevenue.\n",
    "tables/customers.md": "---\ntype: bigquery table\nstatus: Draft\ntags: [CRM, 'a, b']\nverified: {by: bot/1}\n"
                           "stale_after: 2026-06-30T12:00:00+02:00\n---\n\nSee [orders](orders.md).\n",
    "Metrics/net.md": "---\ntype: Metric\ntitle: Net | gross\\ \nstatus: deprecated\nstale_after: 2026-05-01\n---\n\nRevenue.\n",
    "zz.md": "---\ntype:\ntitle: \"Line\\nbreak\"\nstatus: retired\nverified: {by: 'human:bo', at: 2025-01-01}\n"
             "generated: {by: w/1, at: 2026-01-01}\n---\n\nnothing\n",
    "broken.md": "no fences, but revenue\n",
    "tables/broken.md": b"---\ntype: T\xff\n---\n",
}  # fmt: skip
ALL = ["Metrics/net.md", "broken.md", "tables/broken.md", "tables/customers.md", "tables/orders.md", "zz.md"]
CONCEPTS = [path for path in ALL if "broken" not in path]


@pytest.fixture
def found(bundle, run_cli):
    """`found(option, …)` gives the paths that `find --json` lists, on 2026-06-01 unless `--as-of` says otherwise."""
    root = bundle(FILES)

    def run(*arguments: str) -> list[str]:
        moment = [] if "--as-of" in arguments else ["--as-of", "2026-06-01"]
        code, out, err = run_cli("find", root, *arguments, *moment, "--json")
        assert code == 0, err
        return [row["path"] for row in json.loads(out)["concepts"]]

    return run


def test_the_table(bundle, run_cli) -> None:
    code, out, err = run_cli("find", bundle(FILES), "--as-of", "2026-06-01")
    assert (code, err) == (0, "")
    assert out == """\
| Path | Type | Title | Status | Trust Tier | Stale | Tags |
|------|------|-------|--------|------------|-------|------|
| Metrics/net.md | Metric | Net \\| gross\\\\ | deprecated | unverified | ✓ |  |
| broken.md | (parse error) | broken |  |  |  |  |
| tables/broken.md | (parse error) | broken |  |  |  |  |
| tables/customers.md | bigquery table | customers | draft | machine-confirmed |  | CRM, a, b |
| tables/orders.md | BigQuery Table | Orders | stable | human-reviewed |  | sales, finance |
| zz.md |  | Line break | retired | human-reviewed |  |  |

4 concept(s) found, 2 file(s) with parse errors
"""


def test_an_empty_answer_counts_too(bundle, run_cli) -> None:
    code, out, _ = run_cli("find", bundle({"a.md": "---\ntype: T\n---\n"}), "--type", "none")
    assert code == 0
    assert out.splitlines()[2:] == ["", "0 concept(s) found"]


def test_cells_cannot_break_the_table(bundle, run_cli) -> None:
    title = "a|b\\|c\nd\te\u2028f\x1b[31mg\u202e"
    root = bundle({"a|b.md": f"---\ntype: 'x | y'\ntitle: {json.dumps(title)}\ntags: ['|', '\\|']\n---\n"})
    _, out, _ = run_cli("find", root)
    rows = out.split("\n")
    assert len([row for row in rows if row.startswith("|")]) == 3
    assert all(character == "\n" or character.isprintable() for character in out)
    cells = rows[2].replace("\\\\", "").replace("\\|", "").split("|")
    assert len(cells) == 9


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], ALL),
        (["--type", "Metric"], ["Metrics/net.md"]),
        (["--type", "BIGQUERY TABLE"], ["tables/customers.md", "tables/orders.md"]),
        (["--type", "table"], []),
        (["--type", "Metric", "--type", "bigquery table"], CONCEPTS[:3]),
        (["--status", "draft"], ["tables/customers.md"]),
        (["--status", "stable"], ["tables/orders.md"]),
        (["--status", " Deprecated "], ["Metrics/net.md"]),
        (["--trust-tier", "unverified"], ["Metrics/net.md"]),
        (["--trust-tier", "machine_confirmed"], ["tables/customers.md"]),
        (["--trust-tier", "human-reviewed"], ["tables/orders.md", "zz.md"]),
        (["--trust-current", "human-reviewed"], ["tables/orders.md"]),
        (["--trust-current", "unverified"], ["Metrics/net.md", "zz.md"]),
        (["--tags", "finance"], ["tables/orders.md"]),
        (["--tags", "FINANCE,crm"], ["tables/customers.md", "tables/orders.md"]),
        (["--tags", "finance", "--tags", "crm"], ["tables/customers.md", "tables/orders.md"]),
        (["--tag", " sales , none "], ["tables/orders.md"]),
        (["--tags", "fin"], []),
        (["--tags", '"a, b"'], ["tables/customers.md"]),
        (["--tags", 'x, "a, b"'], ["tables/customers.md"]),
        (["--tags", "a, b"], []),
        (["--tags", ","], []),
        (["--stale-only"], ["Metrics/net.md"]),
        (["--stale-only", "--as-of", "2026-04-30"], []),
        (["--stale-only", "--as-of", "2026-05-01"], ["Metrics/net.md"]),
        (["--stale-only", "--as-of", "2026-05-01T00:00:00Z"], ["Metrics/net.md"]),
        (["--stale-only", "--as-of", "2026-05-01T00:00:00+02:00"], []),
        (["--stale-only", "--as-of", "2026-06-30T09:59:59Z"], ["Metrics/net.md"]),
        (["--stale-only", "--as-of", "2026-06-30T10:00:00Z"], ["Metrics/net.md", "tables/customers.md"]),
        (["--query", "revenue"], ["Metrics/net.md", "broken.md", "tables/orders.md"]),
        (["-q", "NET REVENUE"], ["tables/orders.md"]),
        (["--query", "strasse"], ["tables/orders.md"]),
        (["--query", "orders"], ["tables/customers.md", "tables/orders.md"]),
        (["--query", "net", "--query", "gross"], ["Metrics/net.md"]),
        (["--query", "finance"], []),
        (["--query", "[orders]*"], []),
        (["--query", "[orders]("], ["tables/customers.md"]),
        (["--query", "fences", "--type", "Metric"], []),
        (["--query", "revenue", "--status", "deprecated", "--stale-only"], ["Metrics/net.md"]),
        (["--type", "Metric", "--status", "stable"], []),
    ],
)
def test_filters(found, arguments: list[str], expected: list[str]) -> None:
    assert found(*arguments) == expected


@pytest.mark.parametrize(
    "arguments",
    [["--type", "T"], ["--status", "draft"], ["--trust-tier", "unverified"], ["--trust-current", "unverified"], ["--tags", "x"], ["--stale-only"]],
)
def test_parse_errors_hide_under_a_filter_but_are_counted(bundle, run_cli, arguments: list[str]) -> None:
    _, out, _ = run_cli("find", bundle(FILES), *arguments)
    assert "(parse error)" not in out
    assert out.endswith("2 file(s) with parse errors\n")


def test_json(bundle, run_cli) -> None:
    root = bundle(FILES)
    _, out, _ = run_cli("find", root, "--as-of", "2026-06-01", "--json")
    assert out.count("\n") == 1
    answer = json.loads(out)
    assert list(answer) == ["bundle", "count", "parse_errors", "concepts"]
    assert (answer["bundle"], answer["count"], answer["parse_errors"]) == (str(root), 4, 2)
    assert answer["concepts"][0] == {
        "path": "Metrics/net.md", "id": "Metrics/net", "type": "Metric", "title": "Net | gross\\", "status": "deprecated",
        "trust_tier": "unverified", "stale": True, "tags": [], "parse_error": False,
    }  # fmt: skip
    assert answer["concepts"][1] == {
        "path": "broken.md", "id": "broken", "type": None, "title": "broken", "status": None,
        "trust_tier": None, "stale": False, "tags": [], "parse_error": True,
    }  # fmt: skip
    assert list(answer["concepts"][0]) == list(answer["concepts"][1])
    pretty = run_cli("find", root, "--as-of", "2026-06-01", "--pretty")[1]
    assert pretty.startswith('{\n  "bundle": ')
    assert json.loads(pretty) == answer


def test_csv_tsv_and_ndjson(bundle, run_cli) -> None:
    root = bundle(FILES)
    rows = json.loads(run_cli("find", root, "--json")[1])["concepts"]
    lines = run_cli("find", root, "--format", "ndjson")[1].splitlines()
    assert [json.loads(line) for line in lines] == rows
    out = run_cli("find", root, "--format", "csv")[1]
    table = list(csv.DictReader(io.StringIO(out)))
    assert list(table[0]) == list(rows[0])
    assert [row["path"] for row in table] == ALL
    assert [row["title"] for row in table] == [row["title"] for row in rows]
    assert table[3]["tags"] == "CRM,a, b"
    assert table[1]["parse_error"] == "true"
    tsv = run_cli("find", root, "--format", "tsv")[1].splitlines()
    assert [line.count("\t") for line in tsv] == [8] * 7
    assert [line.split("\t")[0] for line in tsv] == ["path", *ALL]


def test_the_table_for_terminals_has_a_row_a_line(bundle, run_cli) -> None:
    title = "long " * 60
    _, out, _ = run_cli("find", bundle({"a.md": f"---\ntype: T\ntitle: {title}\n---\n"}), "--format", "table")
    assert sum(title.strip() in line for line in out.splitlines()) == 1
    assert "\x1b" not in out


@pytest.mark.parametrize(("given", "named"), [("TABLE", "table"), ("mark", "markdown"), ("j", "json")])
def test_formats_may_be_shortened(bundle, run_cli, given: str, named: str) -> None:
    root = bundle(FILES)
    assert run_cli("find", root, "--format", given) == run_cli("find", root, "--format", named)


def test_fields(bundle, run_cli) -> None:
    root = bundle({"a.md": "---\ntype: T\n---\n"})
    assert json.loads(run_cli("find", root, "--json", "--fields", "title,PATH")[1])["concepts"] == [{"path": "a.md", "title": "a"}]
    shown = run_cli("find", root, "--except", "id,stale,tags,parse_error,status,trust_tier,title")[1]
    assert shown.splitlines()[:3] == ["| Path | Type |", "|------|------|", "| a.md | T |"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--status", "retired"], ["--status retired", "draft, stable, deprecated"]),
        (["--status", ""], ["draft, stable, deprecated"]),
        (["--trust-tier", "trusted"], ["--trust-tier trusted", "unverified, machine-confirmed, human-reviewed"]),
        (["--trust-current", "x"], ["--trust-current x", "unverified, machine-confirmed, human-reviewed"]),
        (["--format", "xml"], ["--format xml", "table, markdown, json, ndjson, csv, tsv"]),
        (["--format", "t"], ["table", "tsv"]),
        (["--as-of", "tomorrow"], ["--as-of tomorrow", "2027-01-01"]),
        (["--as-of", "2026-02-30"], ["2026-02-30"]),
        (["--fields", "path,nope"], ["nope", "path, id, type"]),
        (["--fields", "path", "--except", "id"], ["--fields", "--except"]),
        (["--nope"], ["--nope"]),
        (["--query"], ["--query"]),
        (["--t", "x"], ["--tag", "--type", "--trust-tier"]),
        (["other"], ["other"]),
    ],
)
def test_what_makes_no_sense_is_one_line_that_helps(bundle, run_cli, arguments: list[str], words: list[str]) -> None:
    code, out, err = run_cli("find", bundle(FILES), *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    for word in words:
        assert word in err


ONE = {"a.md": "---\ntype: T\n---\n"}


@pytest.mark.parametrize(
    ("argument", "base", "default", "expected"),
    [
        pytest.param("{root}", "{other}", "{other}", "one", id="an absolute path"),
        pytest.param("one", "{tmp}", None, "one", id="a name below OKF_DEFAULT_DIR"),
        pytest.param("sub/three", "{tmp}", None, "three", id="a relative path below OKF_DEFAULT_DIR"),
        pytest.param("./one", "{tmp}/sub", None, "one", id="a dot means the working directory"),
        pytest.param("../{name}/one", "{tmp}/sub", None, "one", id="two dots too"),
        pytest.param("one", None, None, "one", id="a name in the working directory"),
        pytest.param("~/two", "{tmp}/sub", None, "two", id="the home directory"),
        pytest.param(None, None, "{root}", "one", id="OKF_DEFAULT_BUNDLE_DIR"),
        pytest.param(None, "{other}", "{root}", "one", id="OKF_DEFAULT_BUNDLE_DIR beside OKF_DEFAULT_DIR"),
        pytest.param(None, None, "~/two", "two", id="OKF_DEFAULT_BUNDLE_DIR in the home directory"),
    ],
)
def test_which_bundle_is_meant(
    tmp_path, bundle, run_cli, monkeypatch, argument: str | None, base: str | None, default: str | None, expected: str
) -> None:
    for name, title in (("one", "one"), ("home/two", "two"), ("sub/three", "three"), ("other", "other")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        bundle({"a.md": f"---\ntype: T\ntitle: {title}\n---\n"}, name=name)
    monkeypatch.chdir(tmp_path)
    places = {"tmp": str(tmp_path), "name": tmp_path.name, "root": f"{tmp_path}/one", "other": f"{tmp_path}/other"}
    monkeypatch.setenv("HOME", f"{tmp_path}/home")
    for name, value in (("OKF_DEFAULT_DIR", base), ("OKF_DEFAULT_BUNDLE_DIR", default)):
        if value is not None:
            monkeypatch.setenv(name, value.format(**places))
    code, out, err = run_cli("find", *([argument.format(**places)] if argument else []), "--json")
    assert code == 0, err
    assert [row["title"] for row in json.loads(out)["concepts"]] == [expected]


def test_no_bundle_at_all_names_the_ways(run_cli) -> None:
    code, out, err = run_cli("find")
    assert (code, out) == (2, "")
    assert "OKF_DEFAULT_BUNDLE_DIR" in err
    assert "@" in err


@pytest.mark.parametrize("name", ["gone", "gone/deeper", "file.md", ""])
def test_a_bundle_that_is_no_directory(tmp_path, run_cli, name: str) -> None:
    (tmp_path / "file.md").write_text("x")
    code, out, err = run_cli("find", f"{tmp_path}/{name}" if name else "")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1


def test_an_unknown_directory_leaves_no_trace(tmp_path, bundle, run_cli) -> None:
    root = bundle(ONE)
    assert run_cli("find", root)[0] == 0
    assert not (tmp_path / "catalog.db").exists()
    assert sorted(os.listdir(root)) == ["a.md"]


UNDER_0_3 = {
    "index.md": "---\nokf_version: 0.3\n---\n",
    "a.md": "---\ntype: T\nverified: {by: 'human:ana', at: 2025-01-01}\ngenerated: {by: w/1, at: 2026-01-01}\nstale_after: soon\n---\n",
    "no-type.md": "---\ntitle: x\n---\n",
    "no-fences.md": "# plain\n",
    "bad.md": "---\na: b: c\n---\n",
}


def test_a_bundle_of_0_3(bundle, run_cli) -> None:
    out = run_cli("find", bundle(UNDER_0_3), "--json")[1]
    assert [(row["path"], row["trust_tier"], row["stale"]) for row in json.loads(out)["concepts"]] == [
        ("a.md", "unverified", True),
        ("bad.md", None, False),
    ]


@pytest.mark.parametrize(
    ("version", "tier", "stale", "count"),
    [("0.1", "human-reviewed", False, 2), ("0.2", "human-reviewed", False, 2), ("0.4", "unverified", True, 1), ("x", "unverified", True, 1)],
)
def test_the_version_decides_and_unknown_ones_are_the_newest(bundle, run_cli, version: str, tier: str, stale: bool, count: int) -> None:
    root = bundle({**UNDER_0_3, "index.md": f"---\nokf_version: '{version}'\n---\n"})
    answer = json.loads(run_cli("find", root, "--json")[1])
    assert answer["count"] == count
    assert (answer["concepts"][0]["trust_tier"], answer["concepts"][0]["stale"]) == (tier, stale)


def test_a_new_version_is_applied_to_files_that_did_not_change(bundle, run_cli) -> None:
    root = bundle({**UNDER_0_3, "index.md": "# Contents\n"})
    run_cli("sync", root)
    assert json.loads(run_cli("find", root, "--json")[1])["count"] == 2
    (root / "index.md").write_text("---\nokf_version: 0.3\n---\n")
    assert json.loads(run_cli("find", root, "--json")[1])["count"] == 1
    (root / "index.md").unlink()
    assert json.loads(run_cli("find", root, "--json")[1])["count"] == 2


@pytest.mark.parametrize("wanted", ["é", "É", "e\u0301", "E\u0301"])
def test_tags_and_types_match_in_any_spelling(bundle, run_cli, wanted: str) -> None:
    root = bundle({"a.md": "---\ntype: e\u0301\ntags: [É]\n---\n", "b.md": "---\ntype: e\ntags: [e]\n---\n"})
    for option in ("--tags", "--type"):
        found = json.loads(run_cli("find", root, option, wanted, "--json")[1])["concepts"]
        assert [row["path"] for row in found] == ["a.md"]


def test_a_known_bundle_is_refreshed_first(bundle, run_cli) -> None:
    root = bundle(ONE)
    run_cli("sync", root, "--name", "shop")
    (root / "b.md").write_text("---\ntype: T\n---\n")
    paths = [row["path"] for row in json.loads(run_cli("find", "@shop", "--json")[1])["concepts"]]
    assert paths == ["a.md", "b.md"]
    (root / "c.md").write_text("---\ntype: T\n---\n")
    paths = [row["path"] for row in json.loads(run_cli("find", "@shop", "--json", "--no-sync")[1])["concepts"]]
    assert paths == ["a.md", "b.md"]


def test_a_known_bundle_whose_directory_is_gone_is_answered_from_the_catalog(bundle, run_cli) -> None:
    root = bundle(ONE)
    run_cli("sync", root, "--name", "shop")
    shutil.rmtree(root)
    code, out, err = run_cli("find", "@shop", "--json")
    assert code == 0
    assert json.loads(out)["count"] == 1
    assert err.startswith("note: shop is answered as of ")


@pytest.mark.parametrize(
    ("text", "items"),
    [("a,b", ["a", "b"]), (" a , b ", ["a", "b"]), ('"a, b",c', ["a, b", "c"]), ("a,,b,", ["a", "b"]), ("", []), ('"a', ["a"]),
     ('say ""hi""', ['say ""hi""'])],
)  # fmt: skip
def test_comma_lists(text: str, items: list[str]) -> None:
    assert split_list(text) == items


@pytest.mark.parametrize("option", ["--type", "--tags"])
@pytest.mark.parametrize("value", ["", " "])
def test_an_empty_value_is_carried_by_no_concept(found, option, value) -> None:
    assert found(option, value) == []
    # It is one alternative of several, as any other value that nothing carries.
    assert found(option, value, option, {"--type": "metric", "--tags": "CRM"}[option]) != []


def test_any_number_of_texts(found) -> None:
    many = [argument for number in range(3000) for argument in ("-q", f"no such text {number}")]
    assert found(*many) == []
    # Letters that all stand in the bodies of both, however often and in whatever number they are asked for.
    assert found(*["-q", "revenue"] * 3000) == ["Metrics/net.md", "broken.md", "tables/orders.md"]
    spaced = [argument for number in range(1, 1500) for argument in ("-q", "net" + " " * number + "revenue")]
    assert found(*spaced) == ["tables/orders.md"]


def test_any_number_of_texts_that_differ(bundle, run_cli) -> None:
    words = [f"w{number}w" for number in range(2500)]
    root = bundle({"all.md": "---\ntype: N\n---\n" + " ".join(words), "most.md": "---\ntype: N\n---\n" + " ".join(words[1:])})
    status, out, err = run_cli("find", root, *[argument for word in words for argument in ("-q", word)], "--fields", "path", "--json")
    assert status == 0, err
    assert [row["path"] for row in json.loads(out)["concepts"]] == ["all.md"]


def test_any_number_of_types_and_tags(found) -> None:
    types = [argument for number in range(40_000) for argument in ("--type", f"T{number}")]
    tags = ["--tags", ",".join(f"t{number}" for number in range(40_000))]
    assert found(*types, "--type", "metric") == ["Metrics/net.md"]
    assert found(*tags, "--tags", "crm") == ["tables/customers.md"]
