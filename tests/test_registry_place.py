"""Which registry file is in force, and how a project's own one is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.test_registry import entry, home_file, listed, refused, stored, write


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project directory with a bundle `docs`, as the working directory, with discovery on."""
    monkeypatch.delenv("OKF_NO_DISCOVERY")
    root = tmp_path / "project"
    (root / "docs").mkdir(parents=True)
    (root / "sub" / "deep").mkdir(parents=True)
    monkeypatch.chdir(root)
    return root


def registry_in_force(run_cli, *arguments) -> str:
    return json.loads(run_cli("registry", "list", "--json", *arguments)[1])["registry"]


@pytest.mark.parametrize("value", [None, ""])
def test_the_global_file_is_in_the_home_directory(run_cli, monkeypatch, tmp_path, value):
    monkeypatch.setenv("OKF_HOME", value) if value is not None else monkeypatch.delenv("OKF_HOME")
    assert registry_in_force(run_cli) == str(tmp_path / "home" / ".okf" / "registry.json")


def test_okf_home_expands(run_cli, monkeypatch, tmp_path):
    monkeypatch.setenv("OKF_HOME", "~/elsewhere")
    assert registry_in_force(run_cli) == str(tmp_path / "home" / "elsewhere" / "registry.json")
    monkeypatch.setenv("OKF_HOME", "~nobody-here/x")
    assert "~nobody-here" in refused(run_cli, "registry", "list")


@pytest.mark.parametrize("name", [".okf.json", ".okf-registry.json"])
def test_the_nearest_file_upward_replaces_the_global_one(run_cli, project, monkeypatch, name):
    write(home_file(), [entry(project / "docs", "from-home")])
    write(project / name, [{"slug": "docs", "path": "docs"}])
    monkeypatch.chdir(project / "sub" / "deep")
    assert registry_in_force(run_cli) == str(project / name)
    assert run_cli("registry", "list")[1].startswith(f"registry: {project / name}\n* docs ")
    monkeypatch.chdir(project)
    assert run_cli("registry", "list")[1].startswith(f"registry: ./{name}\n")


def test_the_names_are_tried_directory_by_directory(run_cli, project, monkeypatch):
    write(project / ".okf.json")
    write(project / "sub" / ".okf-registry.json")
    monkeypatch.chdir(project / "sub" / "deep")
    assert registry_in_force(run_cli) == str(project / "sub" / ".okf-registry.json")
    write(project / "sub" / ".okf.json")
    assert registry_in_force(run_cli) == str(project / "sub" / ".okf.json")


def test_the_global_one_can_be_asked_for(run_cli, project, monkeypatch):
    write(project / ".okf.json")
    assert registry_in_force(run_cli, "-g") == str(home_file())
    assert run_cli("registry", "list", "--global")[1].startswith(f"registry: {home_file()}\n")
    assert run_cli("registry", "set", "docs", "-g")[0] == 0
    assert stored()[0] == ["docs"]
    monkeypatch.setenv("OKF_NO_DISCOVERY", "1")
    assert registry_in_force(run_cli) == str(home_file())
    assert not run_cli("registry", "list")[1].startswith("registry: ")


def test_a_broken_project_file_does_not_block_the_global_one(run_cli, project):
    (project / ".okf.json").write_text("{ nope")
    assert str(project / ".okf.json") in refused(run_cli, "registry", "list")
    assert registry_in_force(run_cli, "-g") == str(home_file())


def test_a_directory_of_that_name_is_no_registry(run_cli, project):
    (project / ".okf.json").mkdir()
    assert registry_in_force(run_cli) == str(home_file())


def test_notes_on_the_old_name(run_cli, project):
    write(project / ".okf-registry.json")
    status, _, err = run_cli("registry", "list")
    assert status == 0
    assert err.startswith("note: ")
    assert "git mv .okf-registry.json .okf.json" in err
    write(project / ".okf.json")
    err = run_cli("registry", "set", "docs")[2]
    assert err.count("note: ") == 1
    assert "delete the old one" in err
    assert run_cli("registry", "list", "-g")[2] == ""


def test_paths_inside_the_project_are_stored_relative(run_cli, project, tmp_path, monkeypatch):
    write(project / ".okf.json", [{"slug": "old", "path": str(project / "sub"), "title": "t"}])
    outside = tmp_path / "outside"
    outside.mkdir()
    for argument in ("docs", outside, "."):
        assert run_cli("registry", "set", argument)[0] == 0
    data = json.loads((project / ".okf.json").read_text())
    assert [row["path"] for row in data["bundles"]] == ["sub", "docs", str(outside), "."]
    monkeypatch.chdir(project / "sub")
    rows = listed(run_cli)["bundles"]
    assert [row["dir"] for row in rows] == [str(path) for path in (project / "sub", project / "docs", outside, project)]


def test_a_project_that_moves_keeps_its_names(run_cli, project, monkeypatch):
    run_cli("registry", "init")
    run_cli("registry", "set", "docs")
    moved = project.rename(project.with_name("moved"))
    monkeypatch.chdir(moved)
    (row,) = listed(run_cli)["bundles"]
    assert (row["dir"], row["missing"]) == (str(moved / "docs"), False)


def test_the_global_file_does_not_anchor_relative_paths(run_cli, project):
    write(home_file(), [{"slug": "x", "path": "docs", "title": "t"}])
    (row,) = listed(run_cli, "-g")["bundles"]
    assert row["dir"] == "docs"


def test_init(run_cli, project):
    assert run_cli("registry", "init") == (0, "started ./.okf.json\n", "")
    assert (project / ".okf.json").read_text() == '{\n  "bundles": [],\n  "groups": [],\n  "links": []\n}\n'
    assert "./.okf.json" in refused(run_cli, "registry", "init")


def test_init_beside_the_old_name(run_cli, project):
    write(project / ".okf-registry.json")
    assert "./.okf-registry.json" in refused(run_cli, "registry", "init")
    assert not (project / ".okf.json").exists()


def test_init_below_another_registry_says_so(run_cli, project, monkeypatch):
    (project / ".okf.json").write_text("{ not even JSON")
    monkeypatch.chdir(project / "sub")
    status, out, err = run_cli("registry", "init")
    assert (status, out) == (0, "started ./.okf.json\n")
    assert str(project / ".okf.json") in err
    assert err.startswith("note: ")


def test_nothing_but_the_registry_is_left_in_a_project(run_cli, project):
    for line in (["init"], ["set", "docs"], ["rename", "docs", "papers"], ["group", "g", "papers"], ["del", "papers"]):
        assert run_cli("registry", *line)[0] == 0
    assert sorted(path.name for path in Path().iterdir()) == [".okf.json", "docs", "sub"]
