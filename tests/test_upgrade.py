"""Catalogs of older and newer versions: migrated, read again or refused, without a word from the user."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from okf_catalog.migrations.migrations import scripts

from okf_catalog.catalog import compare, database
from okf_catalog.catalog.sync import bundle_named, sync, system_clock
from tests.conftest import EXAMPLE, ROOT, process
from tests.schemas.record import record
from tests.test_sync_property import check_integrity

FIXTURES = sorted((ROOT / "tests" / "schemas").glob("*.db.gz"))


@pytest.fixture
def example(tmp_path):
    return Path(shutil.copytree(EXAMPLE, tmp_path / "example"))


@pytest.fixture
def next_version(tmp_path):
    """The program as it may be one release later: another schema, other rules of extraction. A function that runs it."""
    package = tmp_path / "next" / "okf_catalog"
    shutil.copytree(ROOT / "okf_catalog", package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "migrations", package / "migrations", ignore=shutil.ignore_patterns("__pycache__"))
    number = database.SCHEMA_VERSION + 1
    (package / "migrations" / f"{number:04}_next.sql").write_text(
        "alter table bundles add column shelf text;\n"
        "create table shelves (name text primary key) strict;\n"
        "insert into shelves values ('a; b'); -- a comment; with one more\n"
        f"update meta set value = '{number}' where key = 'schema_version';\n"
    )
    edit(package / "catalog" / "database.py", rf"^SCHEMA_VERSION = {number - 1}$", f"SCHEMA_VERSION = {number}")
    edit(package / "catalog" / "database.py", r"^EXTRACTION_VERSION = (\d+)$", lambda found: f"EXTRACTION_VERSION = {int(found[1]) + 1}")
    edit(package / "__init__.py", r'__version__ = ".*"', '__version__ = "9.9.0"')

    def run(*arguments):
        command = [sys.executable, "-m", "okf_catalog", *map(str, arguments)]
        return subprocess.run(command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path / "next")},
                              capture_output=True, text=True, timeout=60, check=False)  # fmt: skip

    assert run("version").stdout == "9.9.0\n"
    return run


def edit(path, pattern, replacement):
    text, count = re.subn(pattern, replacement, path.read_text(), count=1, flags=re.MULTILINE)
    assert count == 1, pattern
    path.write_text(text)


def lay(fixture: Path, target: Path, root: Path) -> None:
    """Unpack a fixture as the catalog of the bundle in `root`."""
    target.write_bytes(gzip.decompress(fixture.read_bytes()))
    connection = sqlite3.connect(target)
    connection.execute("update bundle_roots set root = ?", (str(root),))
    connection.commit()
    connection.close()


def test_schema_version_is_the_newest_migration():
    numbers = [int(name.split("_")[0]) for name, _ in scripts()]
    assert numbers == list(range(1, database.SCHEMA_VERSION + 1))
    connection = database.memory()
    assert connection.execute("select value from meta where key = 'schema_version'").fetchone() == (str(database.SCHEMA_VERSION),)


def test_every_released_schema_has_a_fixture():
    """At a release: python -m tests.schemas.record."""
    newest = re.search(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[1]
    released = database.SCHEMA_VERSION - (1 if "unreleased" in newest else 0)
    assert {f"{number:04}.db.gz" for number in range(1, released + 1)} <= {path.name for path in FIXTURES}


@pytest.fixture(params=[None, *FIXTURES], ids=lambda path: path.name[:4] if path else "present")
def fixture(request, tmp_path):
    """A catalog of each released schema, and one of the present."""
    if request.param is not None:
        return request.param
    record(EXAMPLE, tmp_path / "present.db.gz")
    return tmp_path / "present.db.gz"


def test_older_catalog_equals_a_fresh_one(fixture, example, tmp_path):
    path = str(tmp_path / "catalog.db")
    lay(fixture, tmp_path / "catalog.db", example)
    (example / "new.md").write_text("---\ntype: Note\n---\n\n[one](index.md)\n")
    connection = database.open_existing(path)
    ids = dict(connection.execute("select path, id from concepts"))
    sync(connection, path, str(example), clock=system_clock)
    check_integrity(connection)
    known = bundle_named(connection, "example")
    assert compare.with_fresh_build(connection, path, [known], system_clock) == []
    assert ids.items() <= dict(connection.execute("select path, id from concepts")).items()


def test_next_version_migrates_and_reads_again(example, tmp_path, next_version):
    assert process("sync", example).returncode == 0
    connection = sqlite3.connect(tmp_path / "catalog.db")
    ids = connection.execute("select id, path from concepts").fetchall()
    # As if the rules of this version had understood the descriptions in another way.
    connection.execute("update concepts set description = 'by older rules', source_count = 0")
    connection.commit()
    connection.close()
    asked = next_version("find", example, "--json")
    assert (asked.returncode, asked.stderr) == (0, "")
    connection = sqlite3.connect(tmp_path / "catalog.db")
    assert connection.execute("select count(*) from concepts where description = 'by older rules'").fetchone() == (0,)
    assert connection.execute("select id, path from concepts").fetchall() == ids
    assert connection.execute("select name from shelves").fetchall() == [("a; b",)]
    check_integrity(connection)
    connection.close()
    examined = next_version("doctor", "--full", "--json")
    assert examined.returncode == 0, examined.stdout
    assert json.loads(next_version("sync", example, "--json").stdout)["sync_id"] is None


def test_newer_catalog_is_refused_with_the_version_to_install(example, tmp_path, next_version):
    assert next_version("sync", example).returncode == 0
    before = (tmp_path / "catalog.db").read_bytes()
    for words in (["sync", example], ["find", example], ["doctor"], ["compact"], ["snapshot", tmp_path / "s.db"], ["forget", "example"],
                  ["sql", "select 1"]):  # fmt: skip
        done = process(*words)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), words
        assert "upgrade with: pip install 'okf-catalog>=9.9.0'" in done.stderr
    assert (tmp_path / "catalog.db").read_bytes() == before


def test_name_of_the_version_is_no_way_into_a_shell(example, tmp_path, run_cli):
    assert process("sync", example).returncode == 0
    connection = sqlite3.connect(tmp_path / "catalog.db")
    connection.execute("update meta set value = '99' where key = 'schema_version'")
    connection.execute("update meta set value = 'okf-catalog 1''; rm -rf ~ #' where key = 'created_by'")
    connection.commit()
    connection.close()
    assert run_cli("find", example)[2].endswith("upgrade with: pip install --upgrade okf-catalog\n")


def test_many_processes_migrate_one_catalog(example, tmp_path, next_version):
    """Six new versions meet an old catalog at once; one migrates, all answer."""
    assert process("sync", example).returncode == 0
    command = [sys.executable, "-m", "okf_catalog", "find", str(example), "--json"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "next")}
    children = [subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                for _ in range(6)]  # fmt: skip
    answers = [(*child.communicate(timeout=60), child.returncode) for child in children]
    assert {status for _, _, status in answers} == {0}, answers
    assert len({json.loads(out)["count"] for out, _, _ in answers}) == 1
    connection = sqlite3.connect(tmp_path / "catalog.db")
    check_integrity(connection)


def test_migration_that_fails_changes_nothing(example, tmp_path, next_version):
    assert process("sync", example).returncode == 0
    script = next((tmp_path / "next" / "okf_catalog" / "migrations").glob("*_next.sql"))
    script.write_text(script.read_text() + "insert into nowhere values (1);\n")
    done = next_version("find", example)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    connection = sqlite3.connect(tmp_path / "catalog.db")
    assert connection.execute("select count(*) from sqlite_master where name = 'shelves'").fetchone() == (0,)
    connection.close()
    assert process("find", example).returncode == 0
