"""The registry's verbs: what each writes, answers and refuses."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

SUBCOMMANDS = ("list", "set", "del", "default", "rename", "group", "ungroup", "link", "unlink", "import", "init")


def home_file() -> Path:
    return Path(os.environ["OKF_HOME"], "registry.json")


def entry(path, slug: str | None = None) -> dict[str, str]:
    path = Path(path)
    return {"slug": slug or path.name, "path": str(path), "title": f"{path.parent.name}/{path.name}"}


def write(file: Path, bundles=(), groups=None, links=None) -> Path:
    """A registry file: bundles as rows, groups as {slug: members}, links as {slug: file}."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({
        "bundles": list(bundles),
        "groups": [{"slug": slug, "members": list(members)} for slug, members in (groups or {}).items()],
        "links": [{"slug": slug, "registry": str(target)} for slug, target in (links or {}).items()],
    }))  # fmt: skip
    return file


def stored(file: Path | None = None) -> tuple[list[str], dict[str, list[str]]]:
    """The slugs of the bundles in order, and the groups."""
    data = json.loads((file or home_file()).read_text())
    return [row["slug"] for row in data["bundles"]], {row["slug"]: row["members"] for row in data["groups"]}


def made(directory: Path) -> Path:
    directory.mkdir(parents=True)
    return directory


def listed(run_cli, *arguments) -> dict:
    status, out, err = run_cli("registry", "list", "--json", *arguments)
    assert (status, err) == (0, "")
    return json.loads(out)


def refused(run_cli, *arguments) -> str:
    """A command line that is an error: one line on stderr, nothing on stdout, status 2."""
    status, out, err = run_cli(*arguments)
    errors = [line for line in err.splitlines() if not line.startswith("note: ")]
    assert (status, out) == (2, ""), (out, err)
    assert len(errors) == 1, err
    assert errors[0].startswith("error: ")
    return errors[0]


@pytest.fixture
def three(tmp_path):
    """Bundles a, b and c, registered, and the groups pair (a, b) and nest (pair)."""
    for name in "abc":
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.md").write_text("---\ntype: Note\n---\n")
    write(home_file(), [entry(tmp_path / name) for name in "abc"], {"pair": ["a", "b"], "nest": ["pair"]})
    return tmp_path


# The verb itself


def test_alone_it_lists(run_cli, three):
    assert run_cli("registry")[:2] == run_cli("registry", "list")[:2]
    assert json.loads(run_cli("registry", "--json")[1]) == listed(run_cli)


@pytest.mark.parametrize("word", ["--help", "-h", "help"])
def test_the_overview_names_every_subcommand(run_cli, word):
    status, out, err = run_cli("registry", word)
    assert (status, err) == (0, "")
    assert all(f"\n  {name} " in out for name in SUBCOMMANDS)


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_every_subcommand_has_help(run_cli, name):
    status, out, err = run_cli("registry", name, "--help")
    assert (status, err) == (0, "")
    assert f"okf-catalog registry {name} " in out
    assert ("--global" in out) == (name != "init")


def test_unknown_subcommand(run_cli):
    message = refused(run_cli, "registry", "show")
    assert all(name in message for name in SUBCOMMANDS)


@pytest.mark.parametrize("line", [["-g", "list"], ["--as", "x", "set", "."], ["--json", "del", "x"]])
def test_options_follow_the_subcommand(run_cli, line):
    assert "subcommand comes first" in refused(run_cli, "registry", *line)


def test_options_of_a_subcommand_can_be_shortened(run_cli, three):
    assert json.loads(run_cli("registry", "list", "--js")[1])["count"] == 3
    assert run_cli("registry", "set", three / "b", "--def")[0] == 0
    assert stored()[0] == ["b", "a", "c"]
    assert "No such option" in refused(run_cli, "registry", "init", "--glob")


@pytest.mark.parametrize("line", [
    ["list", "x"], ["set"], ["set", ".", "x"], ["del"], ["default"], ["rename", "a"], ["group", "g"], ["ungroup", "g"],
    ["link", "n"], ["unlink"], ["import"], ["init", "x"], ["list", "--fields", "slug"],
], ids=" ".join)  # fmt: skip
def test_wrong_number_of_arguments(run_cli, line):
    refused(run_cli, "registry", *line)


# list


def test_nothing_is_registered(run_cli):
    status, out, err = run_cli("registry", "list")
    assert (status, err) == (0, "")
    assert "registry set" in out
    assert listed(run_cli) == {"registry": str(home_file()), "groups": [], "links": [], "count": 0, "bundles": []}
    assert not home_file().parent.exists()


def test_list_as_json(run_cli, three):
    answer = listed(run_cli)
    assert list(answer) == ["registry", "groups", "links", "count", "bundles"]
    assert answer["bundles"][0] == {
        "slug": "a", "title": f"{three.name}/a", "dir": str(three / "a"), "mount": "/b/a/", "default": True,
        "missing": False, "link": None, "origin": None,
    }  # fmt: skip
    assert answer["groups"] == [
        {"slug": "pair", "members": ["a", "b"], "resolved": 2, "link": None},
        {"slug": "nest", "members": ["pair"], "resolved": 2, "link": None},
    ]
    assert json.loads(run_cli("registry", "list", "--pretty")[1]) == answer


def test_the_default_is_the_first_that_exists(run_cli, three):
    (three / "a" / "x.md").unlink()
    (three / "a").rmdir()
    assert [row["default"] for row in listed(run_cli)["bundles"]] == [False, True, False]
    for name in "bc":
        (three / name).rename(three / f"{name}-away")
    assert [(row["default"], row["missing"]) for row in listed(run_cli)["bundles"]] == [
        (True, True),
        (False, True),
        (False, True),
    ]


def test_list_survives_cycles_and_dangling_members(run_cli, three):
    write(home_file(), [entry(three / "a")], {"x": ["y"], "y": ["x"], "z": ["a", "ghost"]})
    assert [(row["slug"], row["resolved"]) for row in listed(run_cli)["groups"]] == [("x", None), ("y", None), ("z", 1)]
    out = run_cli("registry", "list")[1]
    assert "x  @y  (cycle)" in out
    assert "z  @a, @ghost  (1 bundle)" in out


# set


def test_set_writes_the_file_that_the_reference_tool_reads(run_cli, bundle):
    root = bundle({"a.md": "---\ntype: N\n---\n", "index.md": "# x\n"}, name="My Docs")
    assert run_cli("registry", "set", root)[1] == f"registered my-docs → {root} (1 concept)\n"
    assert home_file().read_text() == (
        '{\n  "bundles": [\n    {\n      "slug": "my-docs",\n'
        f'      "path": "{root}",\n      "title": "{root.parent.name}/My Docs"\n'
        '    }\n  ],\n  "groups": [],\n  "links": []\n}\n'
    )


def test_a_made_up_name_gets_a_suffix(run_cli, three):
    for parent, slug in (("p", "a-2"), ("q", "a-3"), ("r", "a-4")):
        assert f"registered {slug} " in run_cli("registry", "set", made(three / parent / "a"))[1]


def test_a_made_up_name_avoids_groups_too(run_cli, three):
    assert "registered pair-2 " in run_cli("registry", "set", made(three / "pair"))[1]


@pytest.mark.parametrize(
    ("name", "slug"), [("all", "all-2"), ("Ünï", "n"), ("***", "bundle"), (".okf", "okf"), ("a_b.c", "a-b-c")]
)
def test_names_from_directories(run_cli, tmp_path, name, slug):
    root = made(tmp_path / name)
    assert f"registered {slug} " in run_cli("registry", "set", root)[1]


def test_the_title_of_a_hidden_bundle_is_its_project(run_cli, tmp_path):
    root = made(tmp_path / "ship" / ".okf")
    run_cli("registry", "set", root)
    assert listed(run_cli)["bundles"][0]["title"] == "ship"


def test_identity_is_the_directory(run_cli, three, monkeypatch):
    assert "updated a " in run_cli("registry", "set", three / "a")[1]
    (three / "way").symlink_to(three / "a")
    assert f"updated a → {three / 'a'} " in run_cli("registry", "set", three / "way")[1]
    monkeypatch.chdir(three / "b")
    assert "updated b " in run_cli("registry", "set", ".")[1]
    assert "updated b " in run_cli("registry", "set", f"{three}/c/../b/")[1]
    assert stored()[0] == ["a", "b", "c"]


def test_set_again_refreshes_the_title_and_keeps_the_slug(run_cli, three):
    write(home_file(), [{**entry(three / "a", "kept"), "title": "old"}])
    run_cli("registry", "set", three / "a")
    assert [(row["slug"], row["title"]) for row in listed(run_cli)["bundles"]] == [("kept", f"{three.name}/a")]


def test_set_as_renames_what_is_known_in_groups_too(run_cli, three):
    assert f"updated log-book → {three / 'a'} " in run_cli("registry", "set", "@a", "--as", "Log Book")[1]
    assert stored() == (["log-book", "b", "c"], {"pair": ["log-book", "b"], "nest": ["pair"]})
    assert run_cli("registry", "set", three / "a", "--as", "log-book")[0] == 0


def test_set_default(run_cli, three):
    run_cli("registry", "set", three / "c", "--default")
    assert stored()[0] == ["c", "a", "b"]


@pytest.mark.parametrize(
    ("name", "reason"), [("b", "taken"), ("B!", "taken"), ("pair", "taken"), ("ALL", "reserved"), ("§", "usable")]
)
def test_a_chosen_name_is_given_or_refused(run_cli, three, name, reason):
    before = home_file().read_bytes()
    assert reason in refused(run_cli, "registry", "set", three / "a", "--as", name)
    assert reason in refused(run_cli, "registry", "rename", "a", name)
    assert home_file().read_bytes() == before


def test_set_wants_a_directory(run_cli, tmp_path):
    (tmp_path / "file").write_text("x")
    for argument in (tmp_path / "file", tmp_path / "nowhere", "~nobody-here/x"):
        assert str(argument) in refused(run_cli, "registry", "set", argument)
    assert "is not a registered bundle" in refused(run_cli, "registry", "set", "@nowhere")
    assert not home_file().exists()


def test_set_reads_relative_names_like_every_verb(run_cli, three, monkeypatch):
    monkeypatch.setenv("OKF_DEFAULT_DIR", str(three))
    assert "updated a " in run_cli("registry", "set", "a")[1]
    assert run_cli("registry", "del", "b")[1] == "removed b\n"


def test_set_counts_concepts_and_notes_what_is_unusable(run_cli, bundle):
    root = bundle(
        {
            "a.md": "---\ntype: N\n---\n",
            "sub/b.md": "---\n---\n",
            "sub/bad.md": "x",
            "log.md": "x",
            ".h/c.md": "---\n---\n",
        }
    )
    status, out, err = run_cli("registry", "set", root)
    assert (status, out) == (0, f"registered bundle → {root} (2 concepts)\n")
    assert err.startswith("note: 1 file cannot be used")


# del


@pytest.mark.parametrize("how", ["b", "@b", "@B", "B", "{}/b", "{}/b/", "{}/c/../b"])
def test_del_takes_names_and_directories(run_cli, three, how):
    assert run_cli("registry", "del", how.format(three))[:2] == (0, "removed b\n")
    assert stored() == (["a", "c"], {"pair": ["a"], "nest": ["pair"]})
    assert (three / "b" / "x.md").exists()


def test_del_at_is_the_default(run_cli, three):
    assert run_cli("registry", "del", "@")[1] == "removed a\n"


def test_del_empties_groups_one_after_the_other(run_cli, three):
    run_cli("registry", "del", "a")
    run_cli("registry", "del", "b")
    assert stored() == (["c"], {})


def test_del_of_a_group(run_cli, three):
    assert run_cli("registry", "del", "@pair")[1] == "removed pair\n"
    assert stored() == (["a", "b", "c"], {})


def test_del_of_a_bundle_that_is_gone_from_the_disk(run_cli, three):
    (three / "b").rename(three / "away")
    assert run_cli("registry", "del", three / "b")[1] == "removed b\n"


@pytest.mark.parametrize("name", ["ghost", "@ghost", "@all", "@***", "x/b", "./ghost"])
def test_del_of_nothing(run_cli, three, name):
    assert name in refused(run_cli, "registry", "del", name)


# default, rename


def test_default_moves_to_the_front(run_cli, three):
    assert "c " in run_cli("registry", "default", "@C")[1]
    assert stored()[0] == ["c", "a", "b"]


def test_default_refusals(run_cli, three):
    assert "group" in refused(run_cli, "registry", "default", "pair")
    assert "ghost" in refused(run_cli, "registry", "default", "ghost")
    (three / "c").rename(three / "away")
    message = refused(run_cli, "registry", "default", "c")
    assert str(three / "c") in message
    assert "registry del c" in message
    assert stored()[0] == ["a", "b", "c"]


def test_rename_follows_in_groups(run_cli, three):
    assert run_cli("registry", "rename", "@A", "New Name")[1] == "renamed a → new-name\n"
    assert run_cli("registry", "rename", "pair", "two")[1] == "renamed pair → two\n"
    assert stored() == (["new-name", "b", "c"], {"two": ["new-name", "b"], "nest": ["two"]})


def test_rename_to_itself_and_of_nothing(run_cli, three):
    assert run_cli("registry", "rename", "a", "A")[0] == 0
    assert "ghost" in refused(run_cli, "registry", "rename", "ghost", "x")


def test_rename_does_not_double_a_member(run_cli, three):
    write(home_file(), [entry(three / "a")], {"g": ["a", "new"]})
    run_cli("registry", "rename", "a", "new")
    assert stored() == (["new"], {"g": ["new"]})


# group, ungroup


def test_group_is_a_union_in_order(run_cli, three):
    assert run_cli("registry", "group", "mine", "@c", "A")[1] == "grouped mine → @c, @a (2 bundles)\n"
    assert run_cli("registry", "group", "@mine", "b", "c")[1] == "grouped mine → @c, @a, @b (3 bundles)\n"
    assert run_cli("registry", "group", "solo", "@")[1] == "grouped solo → @a (1 bundle)\n"


def test_groups_nest_and_count_each_directory_once(run_cli, three):
    assert run_cli("registry", "group", "top", "nest", "a", "c")[1] == "grouped top → @nest, @a, @c (3 bundles)\n"


@pytest.mark.parametrize(("line", "reason"), [
    (["pair", "nest"], "cycle"), (["pair", "pair"], "cycle"), (["a", "b"], "taken"), (["all", "a"], "reserved"),
    (["§", "a"], "usable"), (["new", "ghost"], "@ghost"), (["new", "@all"], "@all"),
], ids=str)  # fmt: skip
def test_group_refusals(run_cli, three, line, reason):
    before = home_file().read_bytes()
    assert reason in refused(run_cli, "registry", "group", *line)
    assert home_file().read_bytes() == before


def test_a_group_beside_an_old_cycle_can_bemade(run_cli, three):
    write(home_file(), [entry(three / "a")], {"x": ["y"], "y": ["x"]})
    assert run_cli("registry", "group", "z", "x", "a")[1] == "grouped z → @x, @a (cycle)\n"


def test_ungroup(run_cli, three):
    assert run_cli("registry", "ungroup", "@pair", "@a", "c")[1] == "took @a out of pair\n"
    assert stored()[1]["pair"] == ["b"]
    assert "no member" in run_cli("registry", "ungroup", "pair", "a")[1]
    assert run_cli("registry", "ungroup", "pair", "b")[1].startswith("removed group pair")
    assert "pair" not in stored()[1]
    assert "ghost" in refused(run_cli, "registry", "ungroup", "ghost", "a")
    assert "is called a" in refused(run_cli, "registry", "ungroup", "a", "b")


def test_ungroup_breaks_a_cycle_and_drops_what_names_nothing(run_cli, three):
    write(home_file(), [entry(three / "a")], {"x": ["y", "a"], "y": ["x"], "z": ["ghost", "a"]})
    assert run_cli("registry", "ungroup", "x", "y")[0] == 0
    assert run_cli("registry", "ungroup", "z", "ghost")[0] == 0
    assert [row["resolved"] for row in listed(run_cli)["groups"]] == [1, 1, 1]


def test_nothing_of_it_makes_a_catalog(run_cli, three, tmp_path):
    run_cli("registry", "set", three / "a")
    run_cli("registry", "list")
    assert not (tmp_path / "catalog.db").exists()
