"""The registry names bundles, the catalog holds them: the two agree."""

import json
import time

import pytest

from tests.test_sync import note, sync


@pytest.fixture
def two(bundle, run_cli):
    """Two registered bundles, `sales` and `ops`; sales is the default."""
    roots = [bundle({"a.md": note("A", "shared word")}, name="Sales Desk"), bundle({"b.md": note("B", "shared word")}, name="ops")]
    assert run_cli("registry", "set", roots[0], "--as", "sales")[0] == 0
    assert run_cli("registry", "set", roots[1])[0] == 0
    return roots


def listed(run_cli, *options):
    status, out, err = run_cli("bundles", "--json", *options)
    assert status == 0, err
    return {row["name"]: row for row in json.loads(out)["bundles"]}


def test_registered_bundle_is_synced_under_its_slug(two, run_cli, catalog):
    assert sync(run_cli, two[0])["bundle"] == "sales"
    report = sync(run_cli, "@all")
    assert [each["bundle"] for each in report["syncs"]] == ["sales", "ops"]
    assert catalog("select name from bundles order by name") == ["ops", "sales"]


def test_sync_of_a_group_and_of_the_default(two, run_cli, catalog):
    assert run_cli("registry", "group", "desk", "@ops", "@sales")[0] == 0
    assert [each["bundle"] for each in sync(run_cli, "@desk")["syncs"]] == ["ops", "sales"]
    assert sync(run_cli, "@")["bundle"] == "sales"


def test_unknown_reference(two, run_cli):
    status, out, err = run_cli("sync", "@nobody")
    assert (status, out, err.count("\n")) == (2, "", 1)


def test_catalog_follows_a_rename(two, run_cli, catalog):
    sync(run_cli, "@sales")
    before = catalog("select id from concepts")
    assert run_cli("registry", "rename", "sales", "revenue")[0] == 0
    assert sync(run_cli, "@revenue")["bundle"] == "revenue"
    assert catalog("select name from bundles") == ["revenue"]
    assert catalog("select distinct bundle from concepts") == ["revenue"]
    assert catalog("select id from concepts") == before


def test_name_that_another_bundle_has_by_chance(bundle, run_cli, catalog):
    first = bundle({"a.md": note("A")}, name="notes")
    sync(run_cli, first)
    second = bundle({"x/notes/b.md": note("B")}, name="other") / "x" / "notes"
    assert run_cli("registry", "set", second)[0] == 0
    assert sync(run_cli, second)["bundle"] == "notes"
    assert sync(run_cli, first)["bundle"] == "notes-2"


def test_bundles_shows_what_is_not_synced_missing_or_out_of_date(two, run_cli, monkeypatch):
    assert {name: row["state"] for name, row in listed(run_cli).items()} == {"sales": "not synced", "ops": "not synced"}
    time.sleep(2.1)
    sync(run_cli, "@sales")
    assert {name: row["state"] for name, row in listed(run_cli).items()} == {"sales": "current", "ops": "not synced"}
    (two[0] / "new.md").write_text(note("New"))
    assert listed(run_cli)["sales"]["state"] == "out of date"
    assert listed(run_cli, "--no-sync")["sales"]["state"] == "not checked"
    two[0].rename(two[0].with_name("gone"))
    two[1].rename(two[1].with_name("gone too"))
    assert {name: row["state"] for name, row in listed(run_cli).items()} == {"sales": "missing", "ops": "missing"}


def test_question_names_its_bundle_as_the_caller_did(two, run_cli):
    status, out, _ = run_cli("find", "@sales", "--json")
    assert status == 0
    answer = json.loads(out)
    assert (answer["bundle"], answer["slug"], answer["count"]) == (str(two[0]), "sales", 1)
    answer = json.loads(run_cli("find", two[0], "--json")[1])
    assert answer["bundle"] == str(two[0])
    assert "slug" not in answer


def test_default_bundle_without_an_argument(two, run_cli, monkeypatch):
    assert json.loads(run_cli("find", "--json")[1])["bundle"] == str(two[0])
    monkeypatch.setenv("OKF_DEFAULT_BUNDLE_DIR", str(two[1]))
    assert json.loads(run_cli("find", "--json")[1])["bundle"] == str(two[1])


def test_bundle_that_is_synced_but_not_registered(bundle, run_cli):
    sync(run_cli, bundle({"a.md": note("A")}, name="loose"))
    answer = json.loads(run_cli("find", "@loose", "--json")[1])
    assert answer["slug"] == "loose"


def test_group_and_all_are_refused_where_one_bundle_is_asked(two, run_cli):
    assert run_cli("registry", "group", "desk", "@ops", "@sales")[0] == 0
    for reference in ("@desk", "@all"):
        status, out, err = run_cli("find", reference)
        assert (status, out, err.count("\n")) == (2, "", 1)


def test_second_bundle_is_a_usage_error(two, run_cli):
    for verb in ("find", "validate"):
        status, out, err = run_cli(verb, two[0], two[1])
        assert (status, out, err.count("\n")) == (2, "", 1)


def test_one_search_over_both(two, run_cli):
    sync(run_cli, "@all")
    status, out, err = run_cli("search", "@all", "shared word", "--json")
    assert status == 0, err
    assert [(row["slug"], row["id"]) for row in json.loads(out)["matches"]] == [("ops", "b"), ("sales", "a")]


def test_looking_registers_nothing(bundle, run_cli):
    root = bundle({"a.md": note("A")})
    run_cli("find", root)
    sync(run_cli, root)
    _, out, _ = run_cli("registry", "list", "--json")
    assert json.loads(out)["count"] == 0


def test_broken_registry_does_not_stop_a_sync(two, run_cli, tmp_path):
    (tmp_path / "home" / ".okf" / "registry.json").write_text("{")
    status, _, err = run_cli("sync", two[0])
    assert status == 0
    assert err.startswith("note: ")
    assert listed(run_cli)["sales-desk"]["concepts"] == 1


def test_a_bundle_is_current_right_after_its_sync(bundle, run_cli):
    """Files as young as the sync are read again by the next one; that does not make the catalog out of date."""
    root = bundle({"a.md": "---\ntype: T\n---\n", "sub/b.md": "---\ntype: T\n---\n", "broken.md": "no frontmatter", "index.md": "# I\n"})
    run_cli("sync", root)
    states = lambda: [row["state"] for row in json.loads(run_cli("bundles", "--json")[1])["bundles"]]  # noqa: E731
    assert states() == ["current"]
    assert "is what its files say" in run_cli("doctor")[1]
    (root / "sub/b.md").write_text("---\ntype: U\n---\n")
    assert states() == ["out of date"]
    run_cli("sync", root)
    assert states() == ["current"]
    (root / "c.md").write_text("---\ntype: T\n---\n")
    assert states() == ["out of date"]
    run_cli("sync", root)
    (root / "c.md").unlink()
    assert states() == ["out of date"]
