"""The views by which a reader gets to know a bundle without opening it."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest

from okf_catalog.views.places import narrow


def page(kind: str = "Note", body: str = "", **keys: str) -> str:
    lines = "".join(f"{key}: {value}\n" for key, value in keys.items())
    return f"---\ntype: {kind}\n{lines}---\n\n{body}\n"


@pytest.fixture
def answer(run_cli):
    def ask(*argv: str):
        status, out, _ = run_cli(*map(str, argv), "--json")
        assert status == 0
        return json.loads(out)

    return ask


TREE = [".", "a", "a/b", "a/b/c", "a/d", "ab", "root"]


@pytest.mark.parametrize(
    ("wanted", "depth", "ancestors", "expected"),
    [
        pytest.param([], None, True, TREE, id="everything"),
        pytest.param([], 0, True, ["."], id="the root alone"),
        pytest.param([], 1, True, [".", "a", "ab", "root"], id="one level"),
        pytest.param(["a"], None, False, ["a", "a/b", "a/b/c", "a/d"], id="a subtree; ab is another"),
        pytest.param(["A/B/"], None, False, ["a/b", "a/b/c"], id="whatever its case, with a slash"),
        pytest.param(["a/b"], 0, True, ["^.", "^a", "a/b"], id="the way to it"),
        pytest.param(["a", "a/b"], 1, True, ["^.", "a", "a/b", "a/b/c", "a/d"], id="two starts, each with its depth"),
        pytest.param(["."], 5, True, ["."], id="the root reaches no further"),
        pytest.param(["root"], None, False, ["root"], id="a real directory named root"),
        pytest.param(["nowhere"], None, True, [], id="no such directory, no way to it"),
        pytest.param(["a/b", "a"], None, True, ["^.", "a", "a/b", "a/b/c", "a/d"], id="chosen wins over ancestor"),
    ],
)
def test_directories_are_narrowed(wanted, depth, ancestors, expected) -> None:
    found = narrow(TREE, wanted, depth=depth, ancestors=ancestors)
    assert ["^" * place.is_ancestor + place.dir for place in found] == expected


def test_directories_are_those_with_concepts_indexes_or_logs(bundle, answer) -> None:
    root = bundle({"a/b/c/x.md": page(), "i/index.md": "# I\n", "l/log.md": "# Log\n", "broken/y.md": "nothing", "d.txt": "x"})
    assert [row["dir"] for row in answer("dirs", root)["dirs"]] == [".", "a", "a/b", "a/b/c", "i", "l"]
    assert [row["dir"] for row in answer("index", root)["directories"]] == [".", "a", "a/b", "a/b/c", "i", "l"]
    assert answer("stats", root)["by_dir"] == {"a/b/c": 1, ".": 0, "a": 0, "a/b": 0, "i": 0, "l": 0}


def test_an_index_without_usable_frontmatter_is_shown_whole(bundle, answer) -> None:
    root = bundle({"a/index.md": "---\nx: [\n---\n\nText\n", "b/index.md": "---\nokf_version: '0.2'\n---\n\nText\n", "c/index.md": "---\nText\n"})
    bodies = {row["dir"]: row["body"] for row in answer("index", root)["directories"]}
    assert bodies["."] is None
    assert bodies["b"].strip() == "Text"
    assert bodies["c"] == "---\nText\n"


def test_edges_are_pairs_of_different_concepts(bundle, answer) -> None:
    root = bundle({
        "a.md": page(body="[b](b.md) [b again](/b.md#x) [self](a.md) [gone](no.md) [i](index.md)", sources="[{resource: c.md}]"),
        "b.md": page(superseded_by="c.md"),
        "c.md": page(body="![an image](a.md) `[code](a.md)`"),
        "index.md": "[a](a.md)\n",
    })  # fmt: skip
    graph = answer("graph", root)
    assert [(edge["source"], edge["target"]) for edge in graph["edges"]] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert answer("stats", root)["cross_links"] == 3
    assert [(row["id"], row["inbound"]) for row in answer("graph", root, "--hubs")["hubs"]] == [("c", 2), ("b", 1)]
    rows = {row["id"]: (row["links_out"], row["links_in"]) for row in answer("catalog", root)["concepts"]}
    assert rows == {"a": (2, 0), "b": (1, 1), "c": (0, 2)}


def test_traffic_cuts_what_is_thin(bundle, answer) -> None:
    files = {f"d{number:02}/x.md": page(body="".join(f"[o](/d{other:02}/x.md) " for other in range(12))) for number in range(12)}
    files["d00/y.md"] = page(body="[x](/d01/x.md) [y](/d02/x.md)")
    found = answer("graph", bundle(files), "--traffic")
    assert (found["fitted"], found["cut"], found["total_arcs"]) == (True, 1, 132)
    heaviest = answer("graph", bundle(files), "--traffic", "--cut", "2")
    assert [(arc["source"], arc["target"], arc["weight"]) for arc in heaviest["arcs"]] == [("d00", "d01", 2), ("d00", "d02", 2)]
    assert heaviest["fitted"] is False


def test_cohesion_is_the_share_of_links_that_stay(bundle, answer) -> None:
    root = bundle({
        "a/x.md": page(body="[y](y.md) [b](/b/z.md)"), "a/y.md": page(body="[x](x.md)"), "b/z.md": page(), "c.md": page(),
    })  # fmt: skip
    rows = {row["dir"]: row for row in answer("graph", root, "--traffic")["dirs"]}
    assert (rows["a"]["internal"], rows["a"]["out"], rows["a"]["in"], rows["a"]["cohesion"]) == (2, 1, 0, 67)
    assert (rows["."]["count"], rows["."]["subtree"], rows["."]["cohesion"]) == (1, 4, None)


HOSTILE = 'quote " back\\slash <b> & \u0001 `x` #1 é 漢'


def test_drawings_survive_any_title(bundle, run_cli) -> None:
    text = json.dumps(HOSTILE).replace("\\u0001", "\\x01")
    root = bundle({'o"dd & <x>.md': page(title=text, body="[b](b.md)"), "b.md": page()})
    _, graphml, _ = run_cli("graph", str(root), "--format", "graphml")
    tree = ET.fromstring(graphml)
    names = {"g": "http://graphml.graphdrawing.org/xmlns"}
    assert [node.get("id") for node in tree.findall(".//g:node", names)] == ["b", 'o"dd & <x>']
    assert [node.text for node in tree.findall(".//g:node[2]/g:data[@key='title']", names)] == [HOSTILE.replace("\u0001", "\ufffd")]
    assert [edge.get("target") for edge in tree.findall(".//g:edge", names)] == ["b"]
    _, dot, _ = run_cli("graph", str(root), "--format", "dot")
    assert '"o\\"dd & <x>" -> "b";' in dot
    _, mermaid, _ = run_cli("graph", str(root), "--format", "mermaid")
    assert mermaid.splitlines()[-1] == "  n2 --> n1"
    assert all(line.count('"') in (0, 2) for line in mermaid.splitlines())


def test_filters_narrow_the_lists(bundle, answer) -> None:
    root = bundle({
        "a/x.md": page("Metric", tags="[one, two]", status="draft", stale_after="2026-01-01"),
        "a/y.md": page("Metric", tags="[two]", verified="{by: human:x, at: 2026-01-01}"),
        "z.md": page("Policy", tags="[two]"),
    })  # fmt: skip
    assert [row["type"] for row in answer("types", root, "--tag", "ONE")["types"]] == ["Metric"]
    assert [(row["tag"], row["count"]) for row in answer("tags", root, "--type", "metric")["tags"]] == [("two", 2), ("one", 1)]
    assert [row["id"] for row in answer("files", root, "--dir", "a")["files"]] == ["a/x", "a/y"]
    assert [row["id"] for row in answer("files", root, "--dir", ".")["files"]] == ["z"]
    assert [row["id"] for row in answer("catalog", root, "--trust", "Human_Reviewed")["concepts"]] == ["a/y"]
    assert [row["id"] for row in answer("catalog", root, "--stale-only", "--as-of", "2026-01-02")["concepts"]] == ["a/x"]
    assert answer("catalog", root, "--status", "draft", "--type", "Policy")["count"] == 0


def test_the_rows_are_by_id_and_can_be_sliced(bundle, answer) -> None:
    root = bundle({"a-b.md": page(), "a.md": page(), "a/c.md": page()})
    assert [row["id"] for row in answer("files", root)["files"]] == ["a", "a-b", "a/c"]
    assert [row["id"] for row in answer("catalog", root)["concepts"]] == ["a", "a-b", "a/c"]
    sliced = answer("catalog", root, "--limit", "1", "--offset", "1")
    assert (sliced["count"], [row["id"] for row in sliced["concepts"]]) == (3, ["a-b"])


def test_catalog_rows_tell_what_is_written(bundle, answer) -> None:
    root = bundle({
        "a.md": page(status="' Draft '", generated="null", backlog_ref="17", stale_after="2027-01-01", timestamp="2026-01-01"),
        "b.md": page(backlog_ref="'T-1'"),
    })  # fmt: skip
    first, second = answer("catalog", root)["concepts"]
    assert (first["status"], first["generated"], first["backlog_ref"]) == (" Draft ", True, "17")
    assert (first["generated_at"], first["stale_after"]) == ("2026-01-01", "2027-01-01")
    assert (second["status"], second["generated"], second["backlog_ref"]) == (None, False, "T-1")


def test_facets_count_what_datasette_counts(bundle, run_cli, tmp_path, answer) -> None:
    datasette = pytest.importorskip("datasette.app")
    import asyncio

    root = bundle({
        f"d{number % 3}/c{number}.md": page(
            ["Metric", "Policy", "Table"][number % 3], tags=["[a, b]", "[b]", "[]", "[a, 'b ']"][number % 4],
            status=["draft", "stable", "Deprecated"][number % 3], stale_after=["2020-01-01", "2990-01-01"][number % 2],
            verified="{by: human:x}" if number % 2 else "{by: bot/1}",
        ) for number in range(30)
    })  # fmt: skip
    path = tmp_path / "c.db"
    run_cli("sync", str(root), "--db", str(path))
    columns = {"type": "type", "status": "effective_status", "trust": "trust_tier", "stale": "is_stale", "dir": "dir"}

    async def facets():
        site = datasette.Datasette([str(path)])
        query = "&".join(f"_facet={name}" for name in columns.values())
        found = await site.client.get(f"/c/catalog.json?{query}&_facet_array=tags&_facet_size=max&_size=0&_extra=facet_results")
        return found.json()["facet_results"]

    theirs = asyncio.run(facets())
    theirs = theirs.get("results", theirs)
    for name, column in {**columns, "tag": "tags"}.items():
        ours = answer("facets", root, "--by", name, "--db", path)["facets"][0]["values"]
        assert {row["value"]: row["count"] for row in ours if row["value"] is not None} == {
            row["value"]: row["count"] for row in theirs[column]["results"]
        }


def test_facets_drill_down_with_their_own_filters(bundle, answer) -> None:
    root = bundle({
        "a/x.md": page("It's", tags="[one]"), "a/y.md": page("Other", tags="[one, two]"), "z.md": page("Other", generated="{by: bot/1, at: 2025-05-05}"),
    })  # fmt: skip
    import shlex

    for name in ("type", "status", "trust", "tag", "dir"):
        for row in answer("facets", root, "--by", name)["facets"][0]["values"]:
            if row["filter"] is not None:
                assert answer("facets", root, "--by", "type", *shlex.split(row["filter"]))["concepts"] == row["count"]
    cross = answer("facets", root, "--by", "type,tag")["facets"][0]["values"]
    assert {(row["type"], row["tag"]): row["count"] for row in cross} == {
        ("It's", "one"): 1, ("Other", "one"): 1, ("Other", "two"): 1, ("Other", None): 1,
    }  # fmt: skip
    years = answer("facets", root, "--by", "year")["facets"][0]["values"]
    assert {row["value"]: row["count"] for row in years} == {None: 2, "2025": 1}
    actors = answer("facets", root, "--by", "actor")["facets"][0]["values"]
    assert {row["value"]: row["count"] for row in actors} == {None: 2, "bot/1": 1}


@pytest.mark.parametrize("verb", ["index", "dirs", "stats", "types", "tags", "files", "catalog", "graph", "facets"])
def test_every_view_answers_on_an_empty_and_on_a_broken_bundle(bundle, run_cli, verb) -> None:
    for files in ({"x.txt": "x"}, {"a.md": "broken", "index.md": "---\nx: [\n"}):
        root = str(bundle(files))
        for options in ([], ["--json"], *(["--format", form] for form in ("table", "markdown", "ndjson", "csv", "tsv"))):
            status, _, err = run_cli(verb, root, *options)
            assert status == 0, err


FACT = "Returned beds are credited on the second working day"


def test_a_fact_is_found_on_the_way_down_for_a_quarter_of_the_graph(bundle, run_cli, answer) -> None:
    filler = "The ledger is kept by hand and checked on Mondays by two people who do not know each other. " * 12
    files = {f"{area}/{name}.md": page("Policy", filler, title=f"'{name} of {area}'", description=f"'What holds for {name} in {area}'")
             for area in ("beds", "fares", "staff", "trains") for name in ("claims", "credit", "limits", "notice", "refunds")}  # fmt: skip
    files["beds/refunds.md"] = page("Policy", f"{filler}\n\n{FACT}.\n", title="Refunds of beds", description="When money goes back")
    files["index.md"] = "# Policies\n\n* [beds](beds/) - what guests sleep in\n"
    root = str(bundle(files))
    whole = len(run_cli("graph", root, "--json")[1].encode())
    skeleton = run_cli("index", root, "--no-body", "--json", "--dir", "beds", "--fields", "dir,listing")[1]
    found = run_cli("search", root, "credited", "second working day", "--json", "--fields", "id,title,snippet", "--limit", "3")[1]
    shown = run_cli("show", "beds/refunds", "--bundle", root, "--json")[1]
    listed = [item["id"] for row in json.loads(skeleton)["directories"] for item in row["listing"]]
    assert "beds/refunds" in listed
    assert [row["id"] for row in json.loads(found)["matches"]] == ["beds/refunds"]
    assert json.loads(shown)["id"] == "beds/refunds"
    assert FACT in json.loads(shown)["body"]
    assert sum(len(text.encode()) for text in (skeleton, found, shown)) < whole / 4
