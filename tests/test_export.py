"""`export`: the tables of a bundle, the same bytes for the same content."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import sqlite3
import sys

import pyarrow.parquet
import pytest

from okf_catalog.views.export import FLAG, INTEGER, JSON, TABLES
from tests.conftest import process

HOSTILE = "it's \"quoted\", a;b\n.quit\n/* no comment */ -- nor this\n\\x27 \ttab \x1b[2J é 木 \x00 end\n"
FILES = {
    "index.md": "---\nokf_version: '0.2'\n---\n# All\n[gone](gone.md)\n",
    "a.md": "---\ntype: Note\ntitle: 'It''s; \"a\"'\ntags: [x, 'y, z']\nstale_after: 2026-06-01\nsize: {n: 1, t: 'é'}\n"
            "sources: [{id: s, resource: 'https://e.org', usage_count: 3}]\nverified: {by: 'human:ana', at: 2026-01-01}\n---\n"
            f"[b](sub/b.md) [gone](gone.md) fact[^s]\n\n[^s]: S\n\n{HOSTILE}",
    "sub/b.md": "---\ntype: Attested Computation\nruntime: sql\nparameters: [{name: p}]\nexecutor: {resource: e, receipt: {a: 1}}\n---\n\n# Computation\n\n```sql\nselect 1;\n```\n",
    "plain.md": "---\ntype: Note\ndescription:\n---\n",
    "broken.md": f"x {HOSTILE}",
}  # fmt: skip
NAMES = list(TABLES)


def export(run_cli, root, *arguments) -> str:
    status, out, err = run_cli("export", root, *arguments)
    assert (status, err) == (0, "")
    return out


@pytest.fixture
def twins(bundle, run_cli, tmp_path):
    """Two bundles of the same name and content; the second came about by detours, in another order and catalog."""
    first = bundle(FILES)
    run_cli("sync", first)
    second = bundle({"sub/b.md": FILES["a.md"], "z.md": "---\ntype: Old\n---\n", "broken.md": "---\ntype: N\n---\n"}, "else/bundle")
    there = ["--db", tmp_path / "second.db"]
    assert run_cli("sync", second, *there)[0] == 0
    (second / "z.md").rename(second / "plain.md")
    assert run_cli("sync", second, *there)[0] == 0
    bundle(FILES, "else/bundle")
    assert run_cli("sync", second, *there)[0] == 0
    return first, second, there


@pytest.mark.parametrize("form", ["csv", "ndjson", "sql"])
@pytest.mark.parametrize("table", NAMES)
def test_the_same_content_gives_the_same_bytes(twins, run_cli, form, table):
    first, second, there = twins
    whole = export(run_cli, first, "--format", form, "--table", table)
    assert export(run_cli, second, *there, "--format", form, "--table", table) == whole
    assert len(whole.splitlines()) > 1 - (form == "ndjson"), "the example has rows of every table"


def test_the_whole_dump_and_parquet_are_stable_too(twins, run_cli, tmp_path):
    first, second, there = twins
    assert export(run_cli, second, *there, "--format", "sql") == export(run_cli, first, "--format", "sql")
    for name in NAMES:
        one, two = tmp_path / "1.parquet", tmp_path / "2.parquet"
        export(run_cli, first, "--table", name, "--output", one)
        export(run_cli, second, *there, "--table", name, "-o", two)
        assert one.read_bytes() == two.read_bytes()


def test_the_dump_loads(twins, run_cli, tmp_path):
    dump = export(run_cli, twins[0], "--format", "sql")
    made = sqlite3.connect(":memory:")
    made.executescript(dump)
    assert {row[0] for row in made.execute("select name from sqlite_master where type = 'table'")} == set(NAMES)
    for name in NAMES:
        lines = [json.loads(line) for line in export(run_cli, twins[0], "--format", "ndjson", "--table", name).splitlines()]
        kinds = {column.name: column.kind for column in TABLES[name].columns}
        cursor = made.execute(f'select * from "{name}" order by rowid')
        found = [dict(zip([column[0] for column in cursor.description], row, strict=True)) for row in cursor]
        for row in found:
            for key, value in row.items():
                if value is not None and kinds[key] in (JSON, FLAG):
                    row[key] = json.loads(value) if kinds[key] == JSON else bool(value)
        assert found == lines, name
    assert ".quit\n/* no comment */" in made.execute("select body from bodies where path = 'a.md'").fetchone()[0]


@pytest.mark.skipif(shutil.which("sqlite3") is None, reason="needs the sqlite3 shell")
def test_the_dump_loads_in_the_shell_of_sqlite(twins, run_cli, tmp_path):
    import subprocess

    target = tmp_path / "dump.sql"
    export(run_cli, twins[0], "--output", target)
    with open(target, "rb") as dump:
        done = subprocess.run(["sqlite3", tmp_path / "made.db"], stdin=dump, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    made = sqlite3.connect(tmp_path / "made.db")
    assert made.execute("select count(*) from concepts").fetchone() == (3,)
    assert made.execute("select body from bodies where path = 'a.md'").fetchone()[0].endswith(HOSTILE.replace("\x00", "\ufffd"))


def test_parquet_holds_the_same_rows(twins, run_cli, tmp_path):
    for name in NAMES:
        target = tmp_path / f"{name}.parquet"
        export(run_cli, twins[0], "--format", "parquet", "--table", name, "-o", target)
        table = pyarrow.parquet.read_table(target)
        lines = [json.loads(line) for line in export(run_cli, twins[0], "--format", "ndjson", "--table", name).splitlines()]
        json_columns = [column.name for column in TABLES[name].columns if column.kind == JSON]
        rows = table.to_pylist()
        for row in rows:
            row.update({key: json.loads(row[key]) for key in json_columns if row[key] is not None})
        assert rows == lines
        kinds = {column.name: column.kind for column in TABLES[name].columns}
        for column in table.schema:
            expected = {INTEGER: "int64", FLAG: "bool"}.get(kinds[column.name], "string")
            assert str(column.type) == expected


def test_the_catalog_is_the_table_unless_another_is_named(twins, run_cli):
    out = export(run_cli, twins[0])
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["path"] for row in rows] == ["a.md", "plain.md", "sub/b.md"]
    assert (rows[0]["tags"], rows[0]["links_out"], rows[2]["links_in"]) == ('["x","y, z"]', "1", "1")
    assert "is_stale" not in rows[0]


def test_staleness_only_at_a_given_moment(twins, run_cli):
    at = lambda moment: export(run_cli, twins[0], "--as-of", moment, "--fields", "path,is_stale", "--limit", "1")  # noqa: E731
    assert at("2026-05-31") == "path,is_stale\na.md,0\n"
    assert at("2026-06-01") == "path,is_stale\na.md,1\n"


def test_columns_and_slices(twins, run_cli):
    assert export(run_cli, twins[0], "--fields", "title,path", "--limit", "1", "--offset", "1") == "path,title\nplain.md,plain\n"
    dropped = export(run_cli, twins[0], "--table", "tags", "--except", "bundle,folded", "--format", "sql")
    assert '"position" BIGINT,\n  "tag" TEXT\n);' in dropped  # without its columns there is no key
    assert "INSERT INTO \"tags\" VALUES ('a.md',1,'y, z');\n" in dropped


def test_the_suffix_of_the_file_is_a_format(twins, run_cli, tmp_path):
    for suffix, start in ((".csv", b"bundle,"), (".ndjson", b"{"), (".JSONL", b"{"), (".sql", b"BEGIN"), (".parquet", b"PAR1"), (".txt", b"bundle,")):
        target = tmp_path / f"out{suffix}"
        assert export(run_cli, twins[0], "-o", target) == ""
        assert target.read_bytes().startswith(start)
        assert os.stat(target).st_mode & 0o777 == 0o666 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_file_is_replaced_whole_or_not_at_all(twins, run_cli, tmp_path, monkeypatch):
    target = tmp_path / "out" / "x.csv"
    target.parent.mkdir()
    target.write_text("before")
    assert run_cli("export", twins[0], "-o", target, "--table", "nothing")[0] == 2
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    status, out, err = run_cli("export", twins[0], "-o", target)
    assert (status, out) == (2, "")
    assert "No space left" in err
    assert target.read_text() == "before"
    assert os.listdir(target.parent) == ["x.csv"]


def test_an_empty_bundle(bundle, run_cli):
    root = bundle({})
    assert len(export(run_cli, root).splitlines()) == 1
    assert export(run_cli, root, "--format", "ndjson") == ""
    sqlite3.connect(":memory:").executescript(export(run_cli, root, "--format", "sql"))


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (["--format", "xml"], "--format xml: choose one of csv, ndjson, parquet, sql"),
        (["--table", "nothing"], f"--table nothing: choose one of {', '.join(NAMES)}"),
        (["--format", "sql", "--limit", "3"], "--fields, --except, --limit and --offset need one --table"),
        (["--fields", "path", "--except", "path"], "--fields and --except exclude each other"),
        (["--table", "bodies", "--except", "bundle,path,body"], "no column is left to export"),
        (["-o", "/nowhere/at/all.csv"], "cannot write /nowhere/at/all.csv: No such file or directory"),
    ],
)
def test_usage_errors(bundle, run_cli, asked, message):
    assert run_cli("export", bundle(FILES), *asked) == (2, "", f"error: {message}\n")


def test_without_pyarrow_the_way_out_is_said(bundle, run_cli, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert run_cli("export", bundle(FILES), "--format", "parquet") == (
        2, "", "error: --format parquet needs the package pyarrow: pip install 'okf-catalog[parquet]'\n",
    )  # fmt: skip


def test_parquet_through_a_pipe(bundle):
    done = process("export", bundle(FILES), "--format", "csv", "--table", "bodies")
    assert done.returncode == 0
    import subprocess

    raw = subprocess.run([sys.executable, "-m", "okf_catalog", "export", bundle(FILES), "--format", "parquet"], capture_output=True, check=True)
    assert pyarrow.parquet.read_table(io.BytesIO(raw.stdout)).num_rows == 3


@pytest.mark.parametrize("form", ["csv", "ndjson", "parquet", "sql"])
def test_a_closed_pipe_is_silent(bundle, form):
    from tests.test_streams import closed_pipe

    assert closed_pipe("export", bundle(FILES), "--format", form) == (141, b"")


def test_a_terminal_is_not_steered(bundle, run_cli):
    from tests.test_streams import on_terminal

    root = bundle(FILES)
    run_cli("sync", root)
    for form in ("csv", "ndjson", "sql"):
        shown = on_terminal("export", root, "--format", form, "--table", "bodies")
        assert "\x1b" not in shown
        assert "[2J é 木" in shown
    assert "Parquet is nothing to look at" not in on_terminal("export", root, "--format", "parquet")  # said on stderr
