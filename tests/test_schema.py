"""The schema: one text of it for people, migrations that sqlite-utils can run, and rules it keeps."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys

from okf_catalog.migrations.migrations import migrations, scripts, statements
from sqlite_utils import Database

from okf_catalog.catalog import database
from tests.conftest import ROOT

TABLES = "select name from sqlite_master where type in ('table', 'view') and name not like 'sqlite_%'"
SHADOW = re.compile(r"(concepts_fts|terms_trigram)_(config|data|docsize|idx|content)$")


def objects(connection):
    return {name: re.sub(r"\s+", " ", sql or "") for name, sql in connection.execute(
        "select name, sql from sqlite_master where name not like '%sqlite_%'")}


def test_migrations_through_sqlite_utils_equal_our_own(tmp_path):
    path = tmp_path / "made.db"
    done = subprocess.run([sys.executable, "-m", "sqlite_utils", "migrate", str(path), str(ROOT / "migrations")],
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert objects(sqlite3.connect(path)) == objects(database.memory())
    assert database.open_existing(str(path)).execute("select count(*) from bundles").fetchone() == (0,)


def test_migrating_twice_is_harmless(tmp_path):
    db = Database(tmp_path / "x.db")
    migrations.apply(db)
    migrations.apply(db)
    assert not migrations.pending(db)


def test_schema_version_is_the_number_of_the_newest_migration():
    numbers = [int(name.split("_")[0]) for name, _ in scripts()]
    assert numbers == list(range(1, database.SCHEMA_VERSION + 1))
    version = database.memory().execute("select value from meta where key = 'schema_version'").fetchone()
    assert version == (str(database.SCHEMA_VERSION),)


def test_scripts_are_cut_into_whole_statements():
    for name, script in scripts():
        found = statements(script)
        assert len(found) > 3, name
        assert all(sqlite3.complete_statement(statement) for statement in found)


def test_every_plain_table_is_strict():
    connection = database.memory()
    tables = connection.execute(
        "select name, sql from sqlite_master where type = 'table' and sql not like '%using fts5%' and name not like 'sqlite_%'"
    ).fetchall()
    loose = [name for name, sql in tables if "strict" not in sql.lower().rsplit(")", 1)[1] and not SHADOW.search(name)]
    assert loose == []


def documented():
    """{table: {columns}} of docs/schema.md."""
    found: dict[str, set[str]] = {}
    table = ""
    for line in (ROOT / "docs" / "schema.md").read_text().splitlines():
        heading = re.match(r"### `(\w+)`", line)
        if heading:
            table = heading[1]
            found[table] = set()
        row = re.match(r"\| `(\w+)` \| \S", line)
        if row and table:
            found[table].add(row[1])
    return found


def test_docs_name_every_table_and_column():
    connection = database.memory()
    actual = {
        name: {row[1] for row in connection.execute(f"pragma table_info({name})")}
        for (name,) in connection.execute(TABLES)
        if not SHADOW.search(name)
    }
    # A virtual table has columns of its own making.
    for name, extra in (("concepts_fts", {"concepts_fts", "rank"}), ("terms_trigram", {"terms_trigram", "rank"})):
        actual[name] -= extra
    assert documented() == actual


def test_packaged_metadata_names_what_exists():
    import yaml

    metadata = yaml.safe_load((ROOT / "datasette-metadata.yml").read_text())
    connection = database.memory()
    # Datasette has it; tests/test_site.py runs the queries there.
    connection.create_function("escape_fts", 1, lambda text: '""')
    (described,) = metadata["databases"].values()
    for name, table in described["tables"].items():
        if "sqlite_" in name:
            continue  # book-keeping of the libraries, hidden
        columns = {row[1] for row in connection.execute(f"pragma table_info({name})")}
        assert columns, f"there is no table {name}"
        used = set(table.get("columns", {})) | set(table.get("sortable_columns", []))
        used |= {facet for facet in table.get("facets", []) if isinstance(facet, str)}
        used |= {facet["array"] for facet in table.get("facets", []) if isinstance(facet, dict)}
        assert used <= columns, name
    for name, query in described["queries"].items():
        parameters = dict.fromkeys(re.findall(r":(\w+)", query["sql"]), "")
        cursor = connection.execute(query["sql"], parameters)
        assert cursor.description, name
