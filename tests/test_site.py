"""The site that the Datasette plugin makes of a catalog. Runs under Datasette 0.65 and 1.0 alike."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
from html.parser import HTMLParser
from urllib.parse import urlsplit

import pytest
import yaml
from datasette.app import Datasette

from okf_catalog.datasette_plugin import functions
from okf_catalog.datasette_plugin.results import highlighted, plain
from okf_catalog.datasette_plugin.settings import FILE
from okf_catalog.search.query import Literal
from okf_catalog.search.scan import literal_anchor
from okf_catalog.views.body_html import to_html
from tests.conftest import EXAMPLE, ROOT

METADATA = yaml.safe_load((ROOT / "datasette-metadata.yml").read_text())["databases"]["catalog"]


class Page(HTMLParser):
    """What a test wants to know of a page: its text, links, tags and attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.links: dict[str, str] = {}
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self._href: str | None = None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag == "a":
            self._href = dict(attrs).get("href", "")

    def handle_endtag(self, tag):
        if tag == "a":
            self._href = None

    def handle_data(self, data):
        self.words.append(data)
        if self._href is not None:
            self.links.setdefault(" ".join(data.split()), self._href)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


@pytest.fixture
def site(tmp_path, run_cli):
    """A function that syncs bundles and gets addresses of the site: (status, text, headers) of each."""

    def visit(roots, *addresses, name="kb.db", **options):
        path = tmp_path / name
        for root in roots:
            status, _, err = run_cli("sync", root, "--db", path)
            assert status == 0, err

        async def get():
            datasette = Datasette([str(path)], **options)
            await datasette.invoke_startup()
            found = []
            for address in addresses:
                response = await datasette.client.get(address)
                found.append((response.status_code, response.text, response.headers))
            return found

        return asyncio.run(get())

    return visit


def test_the_packaged_metadata_is_the_file_at_the_top():
    assert FILE.read_bytes() == (ROOT / "datasette-metadata.yml").read_bytes()


def test_the_landing_page_shows_bundles_and_what_wants_a_look(site):
    ((status, text, headers),) = site([EXAMPLE], "/kb/-/okf")
    page = Page(text)
    assert status == 200
    assert "55 concepts" in page.text
    assert page.links["6 unusable files"].endswith("/kb/parse_errors?bundle=moonmoth")
    assert page.links["On-call rota"].endswith("/kb/-/okf/moonmoth/people/on-call-rota.md")
    assert "default-src 'none'" in headers["content-security-policy"]
    assert headers["referrer-policy"] == "no-referrer"


def test_search_ranks_marks_and_counts(site):
    ranked, literal, narrowed, nothing = site(
        [EXAMPLE], "/kb/-/okf?q=revenue", "/kb/-/okf?q=revenue&engine=scan", "/kb/-/okf?q=revenue&type=Team", "/kb/-/okf?q=zzqxqzz"
    )
    page = Page(ranked[1])
    hits = re.findall(r'class="okf-hit" href="([^"]+)"', ranked[1])
    assert hits[0].endswith("/moonmoth/metrics/revenue-per-berth-night.md")
    assert "<mark>revenue</mark>" in ranked[1]
    assert page.links["human-reviewed"].endswith("q=revenue&trust=human-reviewed")
    assert set(hits) <= set(re.findall(r'class="okf-hit" href="([^"]+)"', literal[1]))
    assert re.findall(r'class="okf-hit" href="([^"]+)"', narrowed[1]) == ["/kb/-/okf/moonmoth/people/teams/revenue-desk.md"]
    assert "Nothing found" in Page(nothing[1]).text


def test_a_concept_page_tells_how_far_to_trust_it(site):
    ((status, text, _),) = site([EXAMPLE], "/kb/-/okf/moonmoth/metrics/on-time-arrival.md")
    page = Page(text)
    assert status == 200
    for words in ("human-reviewed", "now machine-confirmed", "verified by human:marek", "before the content", "used 129 times", "sla_minutes"):
        assert words in page.text, words
    assert page.links["station calls"] == "/kb/-/okf/moonmoth/tables/station_calls.md"
    assert re.search(r'<p class="okf-source">Joint timetable feed · [^<]*used 129 times[^<]*</p>', text), "a footnote is joined to its source"


def test_a_superseded_concept_leads_to_its_successor(site, bundle):
    root = bundle({"old.md": "---\ntype: T\nsuperseded_by: a/new.md\n---\n", "a/new.md": "---\ntype: T\ntitle: New\n---\n"})
    ((_, text, _),) = site([root], "/kb/-/okf/bundle/old.md")
    assert Page(text).links["a/new.md"] == "/kb/-/okf/bundle/a/new.md"


def test_every_link_of_every_page_of_the_example_leads_somewhere(site, tmp_path, run_cli):
    site([EXAMPLE], "/")
    connection = sqlite3.connect(tmp_path / "kb.db")
    paths = [row[0] for row in connection.execute("select path from files")]
    pages = [f"/kb/-/okf/moonmoth/{path.replace('(', '%28').replace(')', '%29').replace(' ', '%20')}" for path in paths]
    found = site([], "/kb/-/okf", "/kb/-/okf/moonmoth/", *pages)
    assert {status for status, _, _ in found} == {200}
    links = {href for _, text, _ in found for href in Page(text).links.values() if href.startswith("/kb/-/okf")}
    assert len(links) > 80
    missing = [link for link, (status, _, _) in zip(sorted(links), site([], *sorted(links)), strict=True) if status != 200]
    # The example has broken links on purpose; those of its pages are told apart by `validate`.
    broken = {row[0] for row in connection.execute("select target_path from links where target_id is null and target_path is not null")}
    broken |= {row[0] for row in connection.execute("select target_path from file_links where target_path is not null")}
    assert [link for link in missing if not any(link.endswith(f"/{path}") for path in broken)] == []


def test_directories_logs_raw_text_and_json(site):
    directory, bare, log, raw, data, missing, nobody = site(
        [EXAMPLE], "/kb/-/okf/moonmoth/glossary/", "/kb/-/okf/moonmoth/glossary", "/kb/-/okf/moonmoth/log.md",
        "/kb/-/okf/moonmoth/overview.md.txt", "/kb/-/okf/moonmoth/overview.md.json", "/kb/-/okf/moonmoth/overviev.md", "/kb/-/okf/nobody/x.md",
    )  # fmt: skip
    assert directory[0] == log[0] == raw[0] == data[0] == 200
    assert "Nattog" in Page(directory[1]).text
    assert (bare[0], bare[2]["location"]) == (302, "/kb/-/okf/moonmoth/glossary/")
    assert raw[2]["content-type"].startswith("text/plain")
    assert raw[1].startswith("---\n")
    assert json.loads(data[1])["title"] == "Moonmoth Sleepers at a glance"
    assert missing[0] == 404
    assert "overview" in Page(missing[1]).text
    assert nobody[0] == 404


def test_the_graph_of_a_bundle_and_of_a_neighbourhood(site):
    whole, near, page, wrong = site(
        [EXAMPLE], "/kb/-/okf-graph/moonmoth.json", "/kb/-/okf-graph/moonmoth.json?concept=services/scan-gateway.md",
        "/kb/-/okf-graph/moonmoth", "/kb/-/okf-graph/moonmoth.json?concept=no.md",
    )  # fmt: skip
    graph = json.loads(whole[1])
    assert (len(graph["nodes"]), len(graph["edges"])) == (55, 79)
    around = {node["path"] for node in json.loads(near[1])["nodes"]}
    assert around == {"services/scan-gateway.md", "runbooks/data/replay-scan-queue.md"}
    assert "cytoscape.min.js" in page[1]
    assert wrong[0] == 404


def test_the_tables_have_search_facets_and_links_whatever_the_file_is_called(site):
    table, found, query, database = site(
        [EXAMPLE], "/kb/catalog", "/kb/catalog.json?_search=Revenue&_shape=objects&_size=max", "/kb/stale", "/kb/review"
    )
    page = Page(table[1])
    assert 'name="_search"' in table[1]
    assert page.links["Berth-night"] == "/kb/-/okf/moonmoth/glossary/berth-night.md"
    assert 'class="okf-badge okf-human-reviewed"' in table[1]
    assert "_tag=finance" in table[1]
    assert len(found and json.loads(found[1])["rows"]) == 7
    assert query[0] == 200
    assert "Review queue" in Page(database[1]).text


def test_ranked_search_is_one_click_away_from_the_search_of_a_table(site):
    view, table = site([EXAMPLE], "/kb/catalog?_search=berth+night", "/kb/concepts?_search=berth+night")
    for _, text, _ in (view, table):
        assert Page(text).links["Ranked search for berth night"] == "/kb/-/okf?q=berth%20night"
        assert Page(text).links["Ranked search and pages to read"] == "-/okf"


def test_a_concept_page_tells_its_history(site, bundle):
    root = bundle({"a.md": "---\ntype: T\nstatus: draft\n---\n"})
    site([root], "/")
    (root / "a.md").write_text("---\ntype: T\nstatus: stable\n---\n")
    page, data = site([root], "/kb/-/okf/bundle/a.md", "/kb/-/okf")
    assert "changed effective_status: draft → stable" in Page(page[1]).text
    assert Page(data[1]).links["a.md"] == "/kb/-/okf/bundle/a.md", "the newest change"


WORDS = {
    "street": "Straße am Fluß", "cafe": "Cafe\u0301 Zürich", "tokyo": "東京都の寝台車", "snake": "`order_id` in v7.2.0", "plain": "Nothing special",
}  # fmt: skip


@pytest.mark.parametrize("asked", ["straße", "STRASSE", "strasse", "café", "寝台", "order_id", "7.2.0", "fluss", '"', "AND", "spec*", "nothing special"])
def test_datasettes_own_search_finds_what_fts5_finds(site, bundle, run_cli, asked):
    from urllib.parse import quote

    root = bundle({f"{name}.md": f"---\ntype: Note\ntitle: {name}\n---\n\n{text}\n" for name, text in WORDS.items()})
    ((status, text, _),) = site([root], f"/kb/catalog.json?_shape=objects&_search={quote(asked)}")
    assert status == 200
    _, out, _ = run_cli("search", root, *asked.split(), "--engine", "fts5", "--json")
    assert sorted(row["path"] for row in json.loads(text)["rows"]) == sorted(f"{row['id']}.md" for row in json.loads(out)["matches"])


def test_every_canned_query_runs_with_and_without_parameters(site):
    names = list(METADATA["queries"])
    blank = site([EXAMPLE], *(f"/kb/{name}.json" for name in names))
    assert {name: status for name, (status, _, _) in zip(names, blank, strict=True)} == dict.fromkeys(names, 200)
    full, day, since = site([], "/kb/search.json?q=revenue&_shape=array", "/kb/expiring.json?days=90000&_shape=array", "/kb/changes_since.json?since=2020-01-01&_shape=array")
    assert json.loads(full[1])[0]["path"] == "metrics/revenue-per-berth-night.md"
    assert len(json.loads(day[1])) > 10
    assert since[0] == 200


def test_the_metadata_names_only_what_is_there(tmp_path, run_cli):
    run_cli("sync", EXAMPLE, "--db", tmp_path / "kb.db")
    connection = sqlite3.connect(tmp_path / "kb.db")
    there = {row[0] for row in connection.execute("select name from sqlite_master")} | {"sqlite_stat1"}
    assert set(METADATA["tables"]) <= there
    for table, facts in METADATA["tables"].items():
        columns = {row[1] for row in connection.execute(f"pragma table_xinfo({table})")}
        named = set(facts.get("columns", {})) | set(facts.get("sortable_columns", []))
        named |= {facet if isinstance(facet, str) else facet["array"] for facet in facts.get("facets", [])}
        assert named <= columns, table


HOSTILE = "<script>alert(1)</script>"
EVIL = {
    "a/evil.md": f"""---
type: "{HOSTILE}"
title: "{HOSTILE}"
description: "<img src=x onerror=alert(1)>"
tags: ["{HOSTILE}", "javascript:alert(1)"]
resource: "javascript:alert(1)"
generated: {{by: "{HOSTILE}", at: 2026-01-01}}
verified: {{by: "human:{HOSTILE}", at: 2026-01-02}}
sources:
- {{id: s, title: "{HOSTILE}", resource: "javascript:alert(2)", author: "{HOSTILE}"}}
"{HOSTILE}": "{HOSTILE}"
---

{HOSTILE} [x](javascript:alert(1)) [y](JaVaScRiPt:alert(1)) [d](data:text/html,x) ![pic](https://tracker.example/p.png)
<iframe src="https://e.example"></iframe> <https://e.example/?a=1&b="> [up](../../../etc/passwd.md) note[^s] [n](<o"dd.md>)

[^s]: {HOSTILE}
""",
    "a/o\"dd '%3F#é<b>.md": "---\ntype: T\ntitle: odd\n---\n\n# h <b>\n",
    "a/e\u0301 🌙?.md": "---\ntype: T\n---\n",
    "b.md": f"no frontmatter {HOSTILE}\n",
    "huge.md": "---\ntype: " + "t" * 9_000 + "\ntitle: " + "W" * 90_000 + "\ntags: [" + "g" * 9_000 + "]\nnote: " + "n" * 90_000 + "\n---\n\n" + "b" * 900_000,
    "index.md": f"{HOSTILE}\n\n[x](javascript:alert(1))\n",
}


def test_a_hostile_bundle_stays_text(site, bundle):
    from urllib.parse import quote

    root = bundle(EVIL, "evil")
    pages = [f"/kb/-/okf/evil/{quote(path)}" for path in EVIL]
    found = site(
        [root], *pages, "/kb/-/okf", "/kb/-/okf/evil/", "/kb/-/okf/evil/a/", "/kb/-/okf?q=script", "/kb/-/okf?type=" + quote(HOSTILE),
        "/kb/-/okf-graph/evil", "/kb/catalog", "/kb/concepts", "/kb/parse_errors", "/kb/problems", "/kb/-/okf?q=" + quote(HOSTILE),
    )  # fmt: skip
    for status, text, _ in found:
        assert status == 200
        page = Page(text)
        assert HOSTILE not in text
        assert not {"iframe", "object", "embed"} & set(page.tags)
        assert "tracker.example" not in [value for name, value in page.attributes if name == "src"]
        assert all(urlsplit(value).scheme in ("", "http", "https", "mailto") for name, value in page.attributes if name in ("href", "src", "action"))
        assert not [name for name, value in page.attributes if name.startswith("on") and "alert" in value]


@pytest.mark.parametrize("address", [
    "/kb/-/okf/evil/..%2f..%2fetc%2fpasswd.md", "/kb/-/okf/%00/", "/kb/-/okf/evil/%ff.md", "/kb/-/okf?q=%00", "/kb/-/okf?page=-1", "/kb/-/okf?q=a&page=99999999999",
    "/kb/-/okf?q=" + "x" * 3000, "/kb/-/okf?q=" + "%20a" * 500, "/kb/-/okf?q=a&engine=nope", "/kb/-/okf-graph/nope", "/nope/-/okf", "/kb/-/okf?type=nope", "/kb/catalog?_search=%22%20AND",
])  # fmt: skip
def test_odd_addresses_are_answered(site, bundle, address):
    ((status, text, _),) = site([bundle({"a.md": "---\ntype: T\n---\n"}, "evil")], address)
    # Datasette sends a missing page with a slash at its end to the one without.
    assert status in (200, 302, 400, 404), text[-500:]


def test_permissions_hold_for_our_pages(site):
    closed = {"databases": {"kb": {"allow": False}}}
    options = {"config": closed} if hasattr(Datasette, "set_database_metadata") else {"metadata": closed}
    addresses = ("/kb/-/okf", "/kb/-/okf/moonmoth/overview.md", "/kb/-/okf/moonmoth/overview.md.json", "/kb/-/okf-graph/moonmoth.json")
    assert {status for status, _, _ in site([EXAMPLE], *addresses, **options)} == {403}


def test_a_query_that_would_eat_the_memory_is_refused(site):
    sql = "sql=select+length(hex(zeroblob(400000000)))+as+n"
    found = site([EXAMPLE], f"/kb.json?{sql}", f"/kb/-/query.json?{sql}")
    assert 400 in [status for status, _, _ in found]
    assert not [text for status, text, _ in found if status == 200 and "800000000" in text]


def test_other_databases_are_left_alone(tmp_path):
    connection = sqlite3.connect(tmp_path / "other.db")
    connection.executescript("create table concepts (id integer primary key, title text); insert into concepts values (1, 'x')")
    connection.close()

    async def get():
        datasette = Datasette([str(tmp_path / "other.db")])
        await datasette.invoke_startup()
        return [(await datasette.client.get(address)).status_code for address in ("/other", "/other/concepts", "/other/-/okf", "/other/review")]

    assert asyncio.run(get()) == [200, 200, 404, 404]


def test_is_stale():
    assert functions.is_stale("2026-01-01", "2026-01-01") == 1
    assert functions.is_stale("2026-01-02", "2026-01-01T00:00:00Z") == 0
    assert functions.is_stale("2026-02-30", "2027-01-01") is None
    assert functions.is_stale(None, "2027-01-01") is None


@pytest.mark.parametrize(("snippet", "expected"), [
    ("a [link](b.md) and *stress* `code`", "a link and stress code"),
    ("…ncy](../metrics/x.md) and more", "…ncy and more"),
    ("starts with [revenue per night](../../metr…", "starts with revenue per night…"),
    ("# Heading > quote 2 * 3 snake_case", "Heading quote 2 * 3 snake_case"),
])  # fmt: skip
def test_snippets_lose_their_marks(snippet, expected):
    assert plain(snippet) == expected


def test_what_was_found_is_marked_and_the_rest_escaped():
    anchors = [literal_anchor(Literal.read(word)) for word in ("straße", "<b>")]
    assert str(highlighted("Die STRASSE & <b>", anchors)) == "Die <mark>STRASSE</mark> &amp; <mark>&lt;b&gt;</mark>"


def test_bodies_are_rendered_safely():
    def place(target):
        return None if target == "gone.md" else f"/x/{target}"

    page = to_html("# A\n\n[a](b.md) [g](gone.md) [w](https://e.org) <b>\n\n| x |\n|---|\n| y |\n", place)
    assert '<a href="/x/b.md">a</a>' in page
    assert '<span class="okf-dead" title="this link leads to nothing that can be shown">g</span>' in page
    assert '<a href="https://e.org" rel="noopener noreferrer nofollow">w</a>' in page
    assert "&lt;b&gt;" in page
    assert "<table>" in page


def test_the_root_of_the_site_shows_the_way(site):
    ((status, text, _),) = site([EXAMPLE], "/")
    assert status == 200
    assert Page(text).links["Browse kb"] == "/kb/-/okf"
