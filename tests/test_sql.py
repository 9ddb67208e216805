"""`sql`: other people's queries, fenced in."""

from __future__ import annotations

import csv
import io
import json
import sys
import time

import pytest

from okf_catalog.catalog import readonly
from tests.conftest import process

FILES = {
    "a.md": "---\ntype: Metric\ntitle: Net | gross\ntags: [x]\n---\n\nbody\n",
    "b.md": "---\ntype: Table\ntitle: 注文\n---\n",
    "c.md": "no fences\n",
}


@pytest.fixture
def query(bundle, run_cli):
    """`query(sql, option, …)` runs on a catalog of three files: (exit status, stdout, stderr)."""
    assert run_cli("sync", bundle(FILES), "--name", "shop")[0] == 0
    return lambda *arguments: run_cli("sql", *arguments)


@pytest.fixture
def rows(query):
    def run(*arguments: str):
        code, out, err = query(*arguments, "--json")
        assert code == 0, err
        return json.loads(out)

    return run


def test_a_query(rows) -> None:
    assert rows("select path, title from concepts order by path") == [
        {"path": "a.md", "title": "Net | gross"},
        {"path": "b.md", "title": "注文"},
    ]
    assert rows("with n as (select count(*) c from catalog) select c from n;") == [{"c": 2}]
    assert rows("values (1), (2)") == [{"column1": 1}, {"column1": 2}]
    assert rows("select 1 as n where 0") == []


@pytest.mark.parametrize("view", ["catalog", "concepts", "parse_errors", "sqlite_master", "pragma_table_info('concepts')"])
def test_what_can_be_read(rows, view: str) -> None:
    assert rows(f"select count(*) as n from {view}")[0]["n"] > 0


def test_tags_can_be_taken_apart(rows) -> None:
    assert rows("select c.path, t.value from catalog c, json_each(c.tags) t") == [{"path": "a.md", "value": "x"}]


def test_full_text_search_can_be_asked(rows) -> None:
    assert rows("select count(*) as n from concepts_fts where concepts_fts match 'body'") == [{"n": 1}]


@pytest.mark.parametrize(
    "sql",
    [
        "delete from concepts",
        "delete from concepts returning path",
        "update concepts set title = 'x' returning path",
        "insert into bundles (name) values ('x')",
        "drop table concepts",
        "create table x (y)",
        "create temp table x (y)",
        "attach 'other.db' as other",
        "attach ':memory:' as other",
        "detach main",
        "update sqlite_master set type = 'x'",
        "update sqlite_master set type = 'x' returning name",
        "delete from sqlite_master",
        "vacuum",
        "vacuum into 'copy.db'",
        "begin immediate",
        "reindex",
        "analyze",
        "pragma query_only = off",
        "pragma journal_mode = delete",
        "pragma writable_schema = on",
        "pragma user_version = 5",
        "pragma table_info",
        "select load_extension('x')",
        "select fts3_tokenizer('x')",
        "select writefile('x', 'y')",
        "insert into concepts_fts(concepts_fts) values ('rebuild')",
    ],
)
def test_nothing_can_be_written(query, catalog, sql: str, tmp_path) -> None:
    before = catalog("select * from concepts order by id")
    names = sorted(path.name for path in tmp_path.iterdir())
    code, out, err = query(sql)
    if sql == "pragma table_info":
        assert code == 2 or out
    else:
        assert (code, out) == (2, "")
        assert err.startswith("error: ")
        assert err.count("\n") == 1
    assert catalog("select * from concepts order by id") == before
    assert catalog("pragma user_version") != [5]
    assert {*names} >= {path.name for path in tmp_path.iterdir()} - {"catalog.db-wal", "catalog.db-shm"}


@pytest.mark.parametrize(
    "sql",
    [
        "select 1; select 2",
        "select 1; delete from concepts",
        "",
        "   ",
        "-- only a remark",
        ";",
        "selekt 1",
        "select nope from concepts",
        "select * from nope",
        "select 1 where",
        "select :missing",
        "select ?",
        "select 'open",
        "select '\0'",
    ],
)
def test_what_is_no_query(query, sql: str) -> None:
    code, out, err = query(sql)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1


def test_a_missing_table_tells_how_to_list_them(query) -> None:
    assert "sqlite_master" in query("select * from concept")[2]


def test_recursion_without_end_is_stopped(query) -> None:
    code, out, err = query("with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n", "--timeout", "0.2")
    assert (code, out) == (2, "")
    assert "more than 0.2 s" in err
    assert "--timeout" in err


@pytest.mark.skipif(sys.version_info < (3, 11), reason="limits came with Python 3.11")
@pytest.mark.parametrize(
    "sql",
    [
        "select length(hex(zeroblob(400000000)))",
        "select length(zeroblob(1000000000))",
        "select length(replace(hex(zeroblob(1000000)), '0', hex(zeroblob(1000))))",
    ],
)
def test_a_value_that_would_fill_the_memory_is_refused(query, sql: str) -> None:
    code, out, err = query(sql, "--timeout", "10")
    assert (code, out) == (2, "")
    assert "big" in err or "memory" in err


@pytest.mark.parametrize("sql", ["select zeroblob(400000) from concepts, bundles, bodies", "select 1 from concepts a, big b"])
def test_an_answer_that_would_fill_the_memory_is_refused(query, monkeypatch, sql: str) -> None:
    monkeypatch.setattr(readonly, "ANSWER_LIMIT", 1_000_000)
    many = "with recursive big(i) as (select 1 union all select i + 1 from big where i < 20000) "
    code, out, err = query(many + sql, "--limit", "0")
    assert (code, out) == (2, "")
    assert "1,000,000 bytes" in err


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        (["--param", "a=x", "--param", "b=y"], {"one": "x", "two": "y"}),
        (["-p", ":a=x", "-p", " b =y"], {"one": "x", "two": "y"}),
        (["-p", "a=x=z", "-p", "b="], {"one": "x=z", "two": ""}),
        (["-p", "a='; drop table concepts; --", "-p", "b=é"], {"one": "'; drop table concepts; --", "two": "é"}),
        (["-p", "a=1", "-p", "a=2", "-p", "b=3", "-p", "unused=4"], {"one": "2", "two": "3"}),
    ],
)
def test_parameters(rows, parameters: list[str], expected: dict[str, str]) -> None:
    assert rows("select :a as one, :b as two", *parameters) == [expected]


@pytest.mark.parametrize("parameter", ["a", "=x", " =x"])
def test_parameters_need_a_name(query, parameter: str) -> None:
    code, _, err = query("select :a", "--param", parameter)
    assert code == 2
    assert "NAME=VALUE" in err


SERIES = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 2500) select i from n"


@pytest.mark.parametrize(
    ("arguments", "count", "noted"),
    [([], 1000, True), (["--limit", "3"], 3, True), (["--limit", "2500"], 2500, False), (["--limit", "0"], 2500, False)],
)
def test_limit(query, arguments: list[str], count: int, noted: bool) -> None:
    code, out, err = query(SERIES, *arguments, "--json")
    assert code == 0
    assert len(json.loads(out)) == count
    assert (f"note: only the first {count} rows" in err) is noted


def test_a_limit_ends_an_endless_query(query) -> None:
    code, out, _ = query("with recursive n(i) as (select 1 union all select i + 1 from n) select i from n", "--limit", "5", "--json")
    assert code == 0
    assert len(json.loads(out)) == 5


@pytest.mark.parametrize("arguments", [["--limit", "-1"], ["--limit", "x"], ["--timeout", "0"], ["--timeout", "x"], ["--format", "x"]])
def test_options_that_make_no_sense(query, arguments: list[str]) -> None:
    code, out, err = query("select 1", *arguments)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1


ODD = "select 1 as n, 'a|b' as t, null as z, x'00ff' as b, 1.5 as f, 9e999 as i, 'l\nm' as l union all select 2, '', '', '', 0.1, -9e999, ''"


def test_formats(query) -> None:
    assert json.loads(query(ODD, "--json")[1])[0] == {"n": 1, "t": "a|b", "z": None, "b": "00ff", "f": 1.5, "i": None, "l": "l\nm"}
    assert [json.loads(line) for line in query(ODD, "--format", "ndjson")[1].splitlines()] == json.loads(query(ODD, "--json")[1])
    table = list(csv.reader(io.StringIO(query(ODD, "--format", "csv")[1])))
    assert table[:2] == [["n", "t", "z", "b", "f", "i", "l"], ["1", "a|b", "", "<2 bytes>", "1.5", "inf", "l\nm"]]
    assert query(ODD, "--format", "tsv")[1].splitlines()[1] == "1\ta|b\t\t<2 bytes>\t1.5\tinf\tl m"
    markdown = query(ODD, "--format", "markdown")[1].splitlines()
    assert markdown[0] == "| n | t | z | b | f | i | l |"
    assert markdown[2] == "| 1 | a\\|b |  | <2 bytes> | 1.5 | inf | l m |"
    plain = query(ODD)[1].splitlines()
    assert plain[0].split() == ["n", "t", "z", "b", "f", "i", "l"]
    assert len(plain) == 4


def test_pretty_json(query) -> None:
    assert query("select 'é' as x", "--pretty")[1] == '[\n  {\n    "x": "é"\n  }\n]\n'


def test_columns_of_one_name_keep_all_values(rows) -> None:
    assert rows("select 1 as a, 2 as a, 3 as a_2, 4 as a, 5 as ''") == [{"a": 1, "a_2": 2, "a_2_2": 3, "a_3": 4, "": 5}]


def test_a_query_from_standard_input(query, monkeypatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("select 1 as n\n"))
    assert query("-", "--json")[:2] == (0, '[{"n":1}]\n')


def test_no_catalog(run_cli, tmp_path) -> None:
    code, out, err = run_cli("sql", "select 1")
    assert (code, out) == (2, "")
    assert "okf-catalog sync" in err
    assert not (tmp_path / "catalog.db").exists()


def test_a_file_that_is_no_catalog(run_cli, tmp_path) -> None:
    (tmp_path / "x.db").write_bytes(b"not a database, though long enough to look like one" * 50)
    code, out, err = run_cli("sql", "select 1", "--db", tmp_path / "x.db")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1


def test_a_query_sees_what_was_synced_and_does_not_sync(bundle, query, rows) -> None:
    (bundle({}) / "d.md").write_text("---\ntype: T\n---\n")
    assert rows("select count(*) as n from concepts") == [{"n": 2}]


def test_one_slow_function_is_stopped_too(bundle, run_cli):
    """SQLite looks at the clock between its instructions, and such a call is one."""
    assert run_cli("sync", bundle({"a.md": "---\ntype: N\n---\n"}))[0] == 0
    slow = "select instr(hex(zeroblob(20000000)), hex(zeroblob(9000000)) || 'x')"
    began = time.monotonic()
    done = process("sql", slow, "--timeout", "0.5")
    assert time.monotonic() - began < 8
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: the query took more than 0.5 s and was stopped (raise it with --timeout)\n"
