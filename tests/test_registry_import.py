"""Import: copy rows out of another registry, all of them or none."""

from __future__ import annotations

import json

import pytest

from tests.test_registry import entry, home_file, listed, made, refused, stored, write


@pytest.fixture
def source(tmp_path):
    """A file with bundles a, b, c and the groups pair (a, b, ghost), nest (pair, c), gone (ghost), x ↔ y."""
    for name in "abc":
        made(tmp_path / name)
    (tmp_path / "a" / "x.md").write_text("---\ntype: Note\n---\n")
    return write(
        tmp_path / "src.json",
        [entry(tmp_path / name) for name in "abc"],
        {"pair": ["a", "b", "ghost"], "nest": ["pair", "c"], "gone": ["ghost"], "x": ["y"], "y": ["x"]},
    )


def test_bundles_are_copied_under_their_names(run_cli, source, tmp_path):
    status, out, err = run_cli("registry", "import", "@B", "a", "--from", source)
    assert (status, err) == (0, "")
    assert out == (
        f"imported 2 bundles from {source}\n  b → {tmp_path / 'b'} (0 concepts)\n  a → {tmp_path / 'a'} (1 concept)\n"
    )
    assert json.loads(home_file().read_text())["bundles"] == [entry(tmp_path / "b"), entry(tmp_path / "a")]


def test_a_group_brings_all_it_reaches(run_cli, source):
    out = run_cli("registry", "import", "nest", "--from", source)[1]
    assert out.startswith("imported 3 bundles from ")
    assert out.endswith("  nest → @pair, @c (group)\n  pair → @a, @b (group)\n")
    assert stored() == (["a", "b", "c"], {"nest": ["pair", "c"], "pair": ["a", "b"]})


def test_a_dangling_member_is_not_copied(run_cli, source, tmp_path):
    """Over here its name may mean another bundle."""
    write(home_file(), [entry(made(tmp_path / "ghost"))])
    assert run_cli("registry", "import", "pair", "--from", source)[0] == 0
    assert stored()[1] == {"pair": ["a", "b"]}


def test_what_is_asked_for_twice_is_copied_once(run_cli, source):
    assert run_cli("registry", "import", "a", "@A", "pair", "--from", source)[0] == 0
    assert stored() == (["a", "b"], {"pair": ["a", "b"]})


def test_under_another_name(run_cli, source):
    assert run_cli("registry", "import", "a", "--from", source, "--as", "The A")[0] == 0
    assert stored()[0] == ["the-a"]
    assert "registered here already, as the-a" in refused(
        run_cli, "registry", "import", "pair", "--from", source, "--as", "p"
    )
    run_cli("registry", "del", "the-a")
    assert run_cli("registry", "import", "nest", "--from", source, "--as", "top")[0] == 0
    assert stored()[1] == {"top": ["pair", "c"], "pair": ["a", "b"]}


def test_at_is_the_default_of_the_source(run_cli, source):
    assert run_cli("registry", "import", "@", "--from", source)[0] == 0
    assert stored()[0] == ["a"]


def test_the_source_is_the_global_registry_unless_named(run_cli, source, tmp_path, monkeypatch):
    monkeypatch.delenv("OKF_NO_DISCOVERY")
    write(home_file(), [entry(tmp_path / "a")])
    project = made(tmp_path / "project")
    monkeypatch.chdir(project)
    run_cli("registry", "init")
    assert run_cli("registry", "import", "a")[0] == 0
    assert stored(project / ".okf.json")[0] == ["a"]
    assert "both source and target" in refused(run_cli, "registry", "import", "a", "-g")
    assert run_cli("registry", "import", "a", "--from", project / ".okf.json", "-g", "--as", "z")[0] == 2


def test_a_project_file_as_the_source_reads_its_own_paths(run_cli, tmp_path):
    file = write(made(tmp_path / "project") / ".okf.json", [{"slug": "docs", "path": "docs"}])
    made(tmp_path / "project" / "docs")
    assert run_cli("registry", "import", "docs", "--from", file)[0] == 0
    assert listed(run_cli)["bundles"][0]["dir"] == str(tmp_path / "project" / "docs")


@pytest.mark.parametrize(("line", "reason"), [
    (["a", "ghost"], "@ghost"), (["a", "@all"], "@all"), (["a", "gone"], "members are gone"), (["a", "x"], "@x → @y → @x in "),
    (["a", "b", "--as", "z"], "2 were asked for"), (["a", "--as", "all"], "reserved"), (["a", "--as", "§"], "usable"),
    (["a", "--as", "mine"], "taken"), (["nest", "--as", "c"], "taken"), (["b", "a"], "@b: "), (["pair"], "@b, a member of @pair"),
    (["a", "c"], "c is taken"), (["nest"], "@b, a member of @pair"),
], ids=str)  # fmt: skip
def test_all_or_nothing(run_cli, source, tmp_path, line, reason):
    write(home_file(), [entry(tmp_path / "b", "mine"), entry(made(tmp_path / "other"), "c")])
    before = home_file().read_bytes()
    assert reason in refused(run_cli, "registry", "import", *line, "--from", source)
    assert home_file().read_bytes() == before


def test_a_bundle_that_is_gone_stops_everything(run_cli, source, tmp_path):
    (tmp_path / "b").rmdir()
    message = refused(run_cli, "registry", "import", "c", "pair", "--from", source)
    assert "@b, a member of @pair" in message
    assert str(source) in message
    assert listed(run_cli)["count"] == 0


def test_files_that_are_no_source(run_cli, source, tmp_path):
    assert "not a registry file" in refused(run_cli, "registry", "import", "a", "--from", tmp_path / "none.json")
    source.write_text("nope")
    assert str(source) in refused(run_cli, "registry", "import", "a", "--from", source)
    assert str(home_file()) in refused(run_cli, "registry", "import", "a")
    assert "both source and target" in refused(run_cli, "registry", "import", "a", "--from", home_file())
