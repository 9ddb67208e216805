"""The search index follows the rows, whatever happens to it."""

import sqlite3

from tests.test_sync import note, sync
from tests.test_sync_property import check_integrity


def match(catalog, word):
    return catalog("select c.path from concepts_fts f join concepts c on c.id = f.rowid where concepts_fts match ?", word)


def test_replaced_words_leave_the_index(bundle, run_cli, catalog, tmp_path):
    root = bundle({"a.md": note("A", "alpha old text")})
    sync(run_cli, root)
    for round_ in range(20):
        bundle({"a.md": note("A", f"beta new text {round_}")})
        sync(run_cli, root)
    assert match(catalog, "alpha") == []
    assert match(catalog, "beta") == ["a.md"]
    assert catalog("select count(*) from concepts_fts_docsize") == [1]
    connection = sqlite3.connect(tmp_path / "catalog.db")
    check_integrity(connection)
    connection.close()


def test_dropped_index_is_made_again_though_no_file_changed(bundle, run_cli, catalog, tmp_path):
    root = bundle({"a.md": note("A", "dunlin")})
    sync(run_cli, root)
    for table in ("concepts_fts", "terms_trigram"):
        connection = sqlite3.connect(tmp_path / "catalog.db")
        connection.execute(f"drop table {table}")
        connection.commit()
        connection.close()
        sync(run_cli, root)
        assert match(catalog, "dunlin") == ["a.md"]
        assert catalog("select t.term from terms_trigram f join terms t on t.id = f.rowid where terms_trigram match 'unl'") == ["dunlin"]


def test_new_words_reach_the_vocabulary(bundle, run_cli, catalog):
    root = bundle({"a.md": note("A", "first")})
    sync(run_cli, root)
    bundle({"a.md": note("A", "first ZÜRICH customer_id 7.2.0 日本語")})
    sync(run_cli, root)
    assert set(catalog("select term from terms")) >= {"first", "zürich", "customer", "id", "7", "2", "0", "日本語"}
    assert catalog("select t.term from terms_trigram f join terms t on t.id = f.rowid where terms_trigram match 'sto'") == ["customer"]


def test_bulk_load_sets_the_hash_size_back(bundle, run_cli, catalog):
    """`hashsize` stands in no manual; it is kept in the index's own settings."""
    root = bundle({f"{number:04}.md": note(f"N{number}", f"word{number}") for number in range(1100)})
    sync(run_cli, root)
    assert catalog("select v from concepts_fts_config where k = 'hashsize'") == [1024 * 1024]
    assert match(catalog, "word77") == ["0077.md"]
