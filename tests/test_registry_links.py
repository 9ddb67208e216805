"""Links: another registry's bundles answer here, live, read-only, one level deep."""

from __future__ import annotations

import json

import pytest

from okf_catalog import registry
from tests.test_registry import entry, home_file, listed, made, refused, stored, write


@pytest.fixture
def linked(tmp_path):
    """Own bundle `docs`; a project with bundles `docs` and `notes` and the group `both`, linked as `team`."""
    project = tmp_path / "project"
    file = write(
        project / ".okf.json",
        [{"slug": "docs", "path": "docs", "title": "p/docs"}, {"slug": "notes", "path": "notes", "title": "p/notes"}],
        {"both": ["docs", "notes", "ghost"]},
    )
    for path in (tmp_path / "docs", project / "docs", project / "notes"):
        made(path)
    write(home_file(), [entry(tmp_path / "docs")], {"mine": ["docs"]}, {"team": file})
    return file


def names(run_cli) -> list[tuple]:
    return [(row["slug"], row["link"], row["origin"]) for row in listed(run_cli)["bundles"]]


def test_link_writes_an_absolute_path(run_cli, tmp_path, monkeypatch):
    write(tmp_path / "r.json", [entry(tmp_path, "x")])
    monkeypatch.chdir(tmp_path)
    assert (
        run_cli("registry", "link", "The Team", "r.json")[1] == f"linked the-team → {tmp_path / 'r.json'} (1 bundle)\n"
    )
    assert json.loads(home_file().read_text())["links"] == [{"slug": "the-team", "registry": str(tmp_path / "r.json")}]


def test_linked_bundles_come_after_own_ones_and_give_way(run_cli, linked):
    assert names(run_cli) == [("docs", None, None), ("team-docs", "team", "docs"), ("notes", "team", None)]
    assert listed(run_cli)["links"] == [
        {"slug": "team", "registry": str(linked), "bundles": 2, "missing": False, "unreadable": False}
    ]


def test_relative_paths_start_beside_the_linked_file(run_cli, linked):
    assert [row["dir"] for row in listed(run_cli)["bundles"][1:]] == [
        str(linked.parent / name) for name in ("docs", "notes")
    ]
    assert [row["default"] for row in listed(run_cli)["bundles"]] == [True, False, False]


def test_groups_come_along_and_the_link_is_a_group(run_cli, linked):
    assert [(row["slug"], row["members"], row["resolved"], row["link"]) for row in listed(run_cli)["groups"]] == [
        ("mine", ["docs"], 1, None), ("team", ["team-docs", "notes"], 2, "team"), ("both", ["team-docs", "notes"], 2, "team"),
    ]  # fmt: skip


def test_list_for_people(run_cli, linked):
    out = run_cli("registry", "list")[1]
    assert f"  team  → {linked}  (2 bundles)\n    team-docs  p/docs  ({linked.parent}/docs)  [docs]\n" in out
    assert "    both  @team-docs, @notes\n" in out
    assert "    team  @" not in out


def test_linking_says_which_names_moved(run_cli, linked):
    run_cli("registry", "unlink", "team")
    status, out, err = run_cli("registry", "link", "team", linked)
    assert (status, out) == (0, f"linked team → {linked} (2 bundles)\n")
    assert err.startswith("note: ")
    assert "docs is @team-docs" in err


def test_a_name_that_is_taken_twice_gets_a_number(run_cli, linked, tmp_path):
    write(home_file(), [entry(tmp_path / "docs"), entry(linked.parent / "notes", "team-docs")], {}, {"team": linked})
    assert names(run_cli)[2:] == [("team-docs-2", "team", "docs"), ("notes", "team", None)]


def test_between_links_the_first_wins(run_cli, linked, tmp_path):
    other = write(tmp_path / "other.json", [entry(tmp_path / "elsewhere", "notes")])
    write(home_file(), [], {}, {"team": linked, "other": other})
    assert names(run_cli) == [("docs", "team", None), ("notes", "team", None), ("other-notes", "other", "notes")]


def test_links_are_live(run_cli, linked):
    write(linked, [{"slug": "fresh", "path": "docs"}])
    assert names(run_cli)[1:] == [("fresh", "team", None)]


def test_links_are_one_level_deep(run_cli, linked, tmp_path):
    deep = write(tmp_path / "deep.json", [entry(tmp_path, "deep")])
    write(linked, [{"slug": "fresh", "path": "docs"}], {}, {"deeper": deep, "back": home_file()})
    assert names(run_cli)[1:] == [("fresh", "team", None)]


def test_a_linked_file_that_is_gone_or_broken_is_reported(run_cli, linked):
    linked.write_text("nope")
    (row,) = listed(run_cli)["links"]
    assert (row["bundles"], row["missing"], row["unreadable"]) == (0, False, True)
    assert "(unreadable)" in run_cli("registry", "list")[1]
    linked.unlink()
    (row,) = listed(run_cli)["links"]
    assert (row["missing"], row["unreadable"]) == (True, False)
    assert "(missing)" in run_cli("registry", "list")[1]
    assert run_cli("registry", "unlink", "@team")[1] == "unlinked team\n"
    assert names(run_cli) == [("docs", None, None)]


@pytest.mark.parametrize("line", [
    ["del", "notes"], ["del", "@both"], ["del", "team"], ["default", "notes"], ["rename", "notes", "x"], ["rename", "team", "x"],
    ["set", "@notes"], ["set", "{}/notes"], ["set", "@notes", "--as", "x"], ["group", "mine", "notes"], ["group", "new", "team"],
    ["group", "both", "docs"], ["group", "team", "docs"], ["ungroup", "both", "notes"], ["ungroup", "team", "notes"],
], ids=" ".join)  # fmt: skip
def test_what_came_through_a_link_is_read_only(run_cli, linked, line):
    before = home_file().read_bytes(), linked.read_bytes()
    message = refused(run_cli, "registry", *(word.format(linked.parent) for word in line))
    assert str(linked) in message
    assert "registry unlink team" in message
    assert (home_file().read_bytes(), linked.read_bytes()) == before


@pytest.mark.parametrize("name", ["docs", "mine", "team", "notes", "both", "all", "§"])
def test_a_link_needs_a_free_name(run_cli, linked, name):
    refused(run_cli, "registry", "link", name, linked)


def test_a_chosen_name_may_not_push_a_linked_one_aside(run_cli, linked, tmp_path):
    assert "taken" in refused(run_cli, "registry", "rename", "docs", "notes")
    assert "taken" in refused(run_cli, "registry", "set", tmp_path, "--as", "team")
    assert "registered notes-2 " in run_cli("registry", "set", made(tmp_path / "notes"))[1]


def test_link_refusals(run_cli, linked, tmp_path):
    assert "not a registry file" in refused(run_cli, "registry", "link", "x", tmp_path / "none.json")
    assert "not a registry file" in refused(run_cli, "registry", "link", "x", tmp_path)
    (tmp_path / "alias.json").symlink_to(home_file())
    assert "itself" in refused(run_cli, "registry", "link", "x", tmp_path / "alias.json")
    (tmp_path / "bad.json").write_text('{"bundles": [{}]}')
    assert str(tmp_path / "bad.json") in refused(run_cli, "registry", "link", "x", tmp_path / "bad.json")
    assert "ghost" in refused(run_cli, "registry", "unlink", "ghost")


def test_a_project_registry_keeps_links_but_follows_none(run_cli, linked, tmp_path, monkeypatch):
    monkeypatch.delenv("OKF_NO_DISCOVERY")
    write(linked, [{"slug": "docs", "path": "docs"}], {}, {"team": home_file()})
    monkeypatch.chdir(linked.parent)
    assert "--global" in refused(run_cli, "registry", "link", "x", home_file())
    assert run_cli("registry", "rename", "docs", "papers")[0] == 0
    assert json.loads(linked.read_text())["links"] == [{"slug": "team", "registry": str(home_file())}]
    assert [row["slug"] for row in listed(run_cli)["bundles"]] == ["papers"]
    assert listed(run_cli)["links"] == []
    assert run_cli("registry", "link", "x", tmp_path / "project" / ".okf.json", "-g")[0] == 0


def test_refs_reach_linked_bundles(linked, tmp_path):
    assert registry.resolve_one("@notes").path == str(linked.parent / "notes")
    refs = registry.resolve_many(["@all"]).refs
    assert [(ref.slug, ref.link) for ref in refs] == [("docs", None), ("team-docs", "team"), ("notes", "team")]
    assert [ref.slug for ref in registry.resolve_many(["@team", "@both"]).refs] == ["team-docs", "notes"]
    (linked.parent / "notes").rmdir()
    with pytest.raises(registry.RegistryError, match="registry unlink team"):
        registry.resolve_one("@notes")
    assert stored()[0] == ["docs"]
