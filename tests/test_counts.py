"""What is counted from indexes is what the rows say: links, tags, types, directories; in one bundle or beside another."""

from __future__ import annotations

from collections import Counter
from contextlib import closing

import pytest

from okf_catalog.catalog import database
from okf_catalog.catalog.edges import edge_count, edges, inbound
from okf_catalog.catalog.filters import Filters
from okf_catalog.catalog.sync import sync, system_clock
from okf_catalog.checks.graph import read_graph
from okf_catalog.views import graph as graphs
from okf_catalog.views import groups, lists


def note(title, body="", type="Note", tags="[]", **more):  # noqa: A002
    keys = "".join(f"{name}: {value}\n" for name, value in more.items())
    return f"---\ntype: {type}\ntitle: {title}\ntags: {tags}\n{keys}---\n{body}\n"


FILES = {
    "z.md": note("Z", "[a](a.md) [a again](a.md) [self](z.md) <https://example.org>", type="Metric", tags="[x, y]"),
    "a.md": note("A", "[d](d/e/d.md) [nowhere](gone.md)", type="Metric", tags="[X, y]"),
    "d/e/d.md": note("D", "[up](../../a.md)", type="''"),
    "d/b.md": note("B", "[a](../a.md) [d](e/d.md)", type="Untyped", tags="[y]"),
    "d-e/c.md": note("C", "[missing]\n\n[unused]: ../z.md", type="Table", tags="[z]"),
    "d/computed.md": note("M", "", type="Attested Computation", resource="../a.md", tags="[z, q]"),
    "d/index.md": "# Index\n",
    "only/index.md": "# Index\n",
    "broken.md": "no frontmatter",
}


@pytest.fixture(params=["alone", "beside another"])
def opened(request, bundle, tmp_path):
    root = bundle(FILES)
    path = str(tmp_path / "c.db")
    with closing(database.open_or_create(path)) as connection:
        if request.param != "alone":
            other = tmp_path / "other"
            for path, text in FILES.items():
                (other / path).parent.mkdir(parents=True, exist_ok=True)
                (other / path).write_text(text)
            sync(connection, path, str(other), name="aa", clock=system_clock)
        sync(connection, path, str(root), name="it", clock=system_clock)
        yield connection


def rows(connection, sql):
    return connection.execute(sql.replace("ITS", "bundle = 'it'")).fetchall()


def test_edges(opened):
    pairs = set(edges(opened, "it"))
    names = dict(rows(opened, "select id, concept_id from concepts"))
    assert sorted((names[a], names[b]) for a, b in pairs) == [
        ("a", "d/e/d"), ("d/b", "a"), ("d/b", "d/e/d"), ("d/e/d", "a"), ("z", "a")]  # fmt: skip
    assert edge_count(opened, "it") == len(pairs)
    assert {(int(source), target) for target, sources in inbound(opened, "it") for source in sources} == pairs
    assert read_graph(opened, "it").edges == len(pairs)


def test_a_pointer_that_is_no_edge_is_none(opened):
    kinds = {row[0] for row in rows(opened, "select l.kind from links l join concepts c on c.id = l.concept_id where ITS and l.target_id is not null")}
    assert "resource" in kinds
    names = dict(rows(opened, "select id, concept_id from concepts"))
    assert "d/computed" not in {names[a] for a, _ in edges(opened, "it")}


def test_hubs(opened):
    assert graphs.hubs(opened, "it") == [
        {"id": "a", "top_dir": "(root)", "inbound": 3, "by_top_dir": {"d": 2, "(root)": 1}},
        {"id": "d/e/d", "top_dir": "d", "inbound": 2, "by_top_dir": {"(root)": 1, "d": 1}},
    ]


def test_traffic(opened):
    found = graphs.traffic(opened, "it", 1)
    assert {(arc["source"], arc["target"]): arc["weight"] for arc in found.arcs} == {
        (".", "d/e"): 1, ("d", "."): 1, ("d", "d/e"): 1, ("d/e", "."): 1}  # fmt: skip
    assert {row["dir"]: row["internal"] for row in found.dirs} == {".": 1, "d": 0, "d-e": 0, "d/e": 0}


def test_stats(opened):
    found = lists.stats(opened, "it")
    assert found.concepts == 6
    assert found.cross_links == 5
    assert found.distinct_tags == 5
    assert list(found.by_type.items()) == [("Metric", 2), ("Untyped", 2), ("Table", 1), ("Attested Computation", 1)]
    assert found.by_top_dir == dict(rows(opened, "select top_dir, count(*) from concepts where ITS group by 1"))
    assert list(found.by_top_dir.items()) == [("d", 3), ("(root)", 2), ("d-e", 1)]
    assert found.by_dir == {".": 2, "d": 2, "d-e": 1, "d/e": 1, "only": 0}


@pytest.fixture(params=["whole bundle at once", "beginnings of the bundle"])
def near(request, monkeypatch):
    # What large bundles do has to be seen in small ones.
    if request.param != "whole bundle at once":
        monkeypatch.setattr(groups, "_NEAR", 3)
        monkeypatch.setattr(groups, "_FEW", 2)
        monkeypatch.setattr(groups, "_BATCH", 2)


BY_ROW = {
    "types": "select coalesce(nullif(type, ''), 'Untyped'), concept_id from concepts where ITS order by path",
    "tags": "select tag, c.concept_id from tags t join concepts c on c.id = t.concept_id where ITS order by path",
}


@pytest.mark.usefixtures("near")
@pytest.mark.parametrize("what", ["types", "tags"])
@pytest.mark.parametrize("filters", [Filters(), Filters(dirs=("d",))], ids=["all", "one directory"])
def test_groups(opened, what, filters):
    found = getattr(groups, what)(lists.Asked(opened, "it", filters))
    expected: dict[str, list[str]] = {}
    for value, concept in rows(opened, BY_ROW[what]):
        if filters == Filters() or concept.startswith("d/"):
            expected.setdefault(value, []).append(concept)
    assert {group.value: ids for group, ids in zip(found.all, found.ids(found.all), strict=True)} == expected
    assert [group.size for group in found.all] == sorted(map(len, expected.values()), reverse=True)
    titles = dict(rows(opened, "select concept_id, coalesce(title, stem) from concepts where ITS"))
    assert {group.value: list(titles) for group, titles in zip(found.all, found.titles(found.all), strict=True)} == {
        value: [titles[name] for name in names] for value, names in expected.items()}  # fmt: skip


@pytest.mark.usefixtures("near")
def test_titles_of_many_come_by_path(bundle, tmp_path):
    # Files before directories in the walk, not in the order of paths.
    root = bundle({f"{'m/' * (number % 3)}n{number:03}.md": note(f"T{number}", tags=f"[common, 'rare{number // 30}']") for number in range(90)})
    path = str(tmp_path / "c.db")
    with closing(database.open_or_create(path)) as connection:
        sync(connection, path, str(root), name="it", clock=system_clock)
        found = groups.tags(lists.Asked(connection, "it"))
        assert [group[:2] for group in found.all] == [("common", 90), ("rare0", 30), ("rare1", 30), ("rare2", 30)]
        for group, titles in zip(found.all, found.titles(found.all), strict=True):
            sql = f"select title from concepts where tags like '%\"{group.value}\"%' order by path"
            assert list(titles) == [row[0] for row in rows(connection, sql)]


def test_the_index_of_other_links_names_the_kinds_of_the_graph(opened):
    from okf_catalog.catalog.edges import KINDS

    sql = rows(opened, "select sql from sqlite_schema where name = 'links_beside_graph'")[0][0]
    assert KINDS in sql
    assert Counter(kind for (kind,) in rows(opened, f"select kind from links indexed by links_beside_graph where kind not in {KINDS}"))
