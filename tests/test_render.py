"""`okf-catalog render`: what the page holds, where it goes, and that no bundle breaks out of its place in it."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from okf_catalog.render import document
from tests.conftest import EXAMPLE
from tests.hostile import EVIL, HOSTILE


class Page(HTMLParser):
    """A rendered page: its elements, and the text of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.raw: list[tuple[str, dict[str, str | None], str]] = []
        self.title = ""
        self._open = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self._open = tag
        self.elements.append((tag, dict(attributes)))
        if tag in ("script", "style"):
            self.raw.append((tag, dict(attributes), ""))

    def handle_endtag(self, tag):
        self._open = ""

    def handle_data(self, data):
        if self._open in ("script", "style"):
            tag, attributes, text = self.raw[-1]
            self.raw[-1] = (tag, attributes, text + data)
        elif self._open == "title":
            self.title += data

    def json(self, kind: str) -> list:
        return [json.loads(text) for _, attributes, text in self.raw if kind in (attributes.get("class"), attributes.get("id"))]

    @property
    def facts(self) -> dict[str, dict]:
        return {facts["path"]: facts for facts in self.json("facts")}

    @property
    def details(self) -> dict[str, dict]:
        return dict(zip(self.facts, self.json("details"), strict=True))


@pytest.fixture
def page(run_cli):
    """A function that renders a bundle to standard output and reads the page."""

    def render(*arguments: object) -> Page:
        status, out, _ = run_cli("render", *arguments)
        assert status == 0
        return Page(out)

    return render


TWO = {
    "a.md": "---\ntype: Metric\ntitle: Alpha\ntags: [x, y]\nstale_after: 2026-06-01\nverified: {by: human:ada, at: 2025-06-01}\n---\n\nSee [b](sub/b.md) and [b again](./sub/b.md#part).\n",
    "sub/b.md": "---\ntype: Table\n---\n\n# Part\n\n[home](/a.md), [up](..), [gone](gone.md), [out](../../x.md), [data](data.csv), [here](#part)\n",
}


def test_the_page_tells_what_the_files_say(page, bundle):
    found = page(bundle(TWO))
    assert found.facts["a.md"] == {
        "path": "a.md", "kind": "concept", "title": "Alpha", "type": "Metric", "description": None, "tags": ["x", "y"],
        "status": "stable", "trust": "human-reviewed", "current": "human-reviewed", "out": [1], "stale_at": "2026-06-01T00:00:00Z",
    }  # fmt: skip
    assert found.facts["sub/b.md"]["title"] == "b"
    assert found.facts["sub/b.md"]["out"] == [0]
    details = found.details["a.md"]
    assert details["verified"] == [{"by": "human:ada", "at": "2025-06-01", "current": True}]
    assert details["html"] == '<p>See <a href="#/file/sub/b.md">b</a> and <a href="#/file/sub/b.md#part">b again</a>.</p>\n'


def test_links_lead_to_places_of_the_page_or_nowhere(page, bundle):
    html = page(bundle(TWO)).details["sub/b.md"]["html"]
    assert re.findall(r'href="([^"]*)"', html) == ["#/file/a.md", "#/dir/", "#part"]
    assert html.count('class="okf-dead"') == 3


def test_a_footnote_says_what_its_source_is(page, bundle):
    text = (
        "---\ntype: T\nsources:\n- {id: ledger, title: The <ledger>, author: Ada}\n- {id: Feed, resource: https://example.org/feed}\n---\n\n"
        "One[^ledger], two[^Feed], three[^none].\n\n[^ledger]: page 3\n"
    )
    html = page(bundle({"a.md": text})).details["a.md"]["html"]
    first, second = html.split('<li id="fn2"')
    assert "page 3" in first
    assert '<p class="okf-source">The &lt;ledger&gt; · Ada</p>' in first
    assert '<p class="okf-source">https://example.org/feed</p>' in second, "it needs no definition"
    assert "three[^none]" in html


def test_unusable_and_reserved_files_are_in_it(page, bundle):
    found = page(bundle({"a.md": "---\ntype: T\n---\n", "bad.md": "no frontmatter\n", "index.md": "# All\n\n[a](a.md)\n", "log.md": "## 2026-01-01\n\nBegun.\n"}))
    assert {path: facts["kind"] for path, facts in found.facts.items()} == {"a.md": "concept", "bad.md": "error", "index.md": "index", "log.md": "log"}
    assert found.details["bad.md"]["text"] == "no frontmatter\n"
    assert found.details["bad.md"]["message"]
    assert '<a href="#/file/a.md">a</a>' in found.details["index.md"]["html"]


def test_the_page_lets_in_nothing_but_its_own(run_cli):
    status, out, _ = run_cli("render", EXAMPLE)
    found = Page(out)
    assert status == 0
    policy = next(attributes["content"] for tag, attributes in found.elements if attributes.get("http-equiv") == "Content-Security-Policy")
    allowed = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert allowed["default-src"] == "'none'"
    for tag, directive in (("script", "script-src"), ("style", "style-src")):
        hashes = {
            f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
            for kind, attributes, text in found.raw if kind == tag and attributes.get("type") != "application/json"
        }  # fmt: skip
        assert set(allowed[directive].split()) == hashes
    names = {name for _, attributes in found.elements for name in attributes}
    assert not names & {"src", "srcset", "style", "action", "background", "poster", "data"}
    assert not [name for name in names if name.startswith("on")]
    assert {attributes["href"] for tag, attributes in found.elements if tag == "link"} == {"data:,"}
    # A policy counts from where it stands: before everything that it is about.
    assert out.index("Content-Security-Policy") < min(out.index("<style"), out.index("<link"), out.index("<script"))


def test_a_hostile_bundle_stays_data(run_cli, bundle):
    status, out, _ = run_cli("render", bundle(EVIL), "-t", HOSTILE, "-l", "javascript:alert(1)")
    assert status == 0
    assert HOSTILE not in out
    assert "<!--" not in out
    found = Page(out)
    assert found.title == HOSTILE
    assert set(found.facts) == set(EVIL)
    assert found.facts["c.md"]["title"].startswith("</script><!--<script>\u2028")
    assert found.facts["a/evil.md"]["tags"] == [HOSTILE, "javascript:alert(1)", "__proto__"]
    assert found.details["a/evil.md"]["sources"][0]["url"] is None
    assert found.details["a/evil.md"]["resource"]["url"] is None
    assert [tag for tag, _ in found.elements if tag == "script"].count("script") == 2 * len(found.facts) + 3
    for details in found.details.values():
        inside = Page(details.get("html") or "")
        assert not {"script", "img", "iframe", "style", "form"} & {tag for tag, _ in inside.elements}
        for _, attributes in inside.elements:
            assert not [name for name in attributes if name.startswith("on") or name == "style"]
            assert re.match("https?://|mailto:|#", attributes.get("href") or "#")
    assert not [attributes for _, attributes in found.elements if (attributes.get("href") or "").startswith("javascript:")]


def test_cells_of_tables_are_aligned_without_styles(page, bundle):
    html = page(bundle({"a.md": "---\ntype: T\n---\n\n| a | b |\n|:-:|--:|\n| 1 | style=\"text-align:left\" |\n"})).details["a.md"]["html"]
    assert '<th class="okf-center">a</th>' in html
    assert '<td class="okf-right">style=&quot;text-align:left&quot;</td>' in html
    assert "style=\"" not in html


@pytest.mark.parametrize(("place", "title"), [("team/kb", "team/kb"), ("team/.okf", "team")])
def test_the_title(page, tmp_path, place, title):
    root = tmp_path / place
    root.mkdir(parents=True)
    (root / "a.md").write_text("---\ntype: T\n---\n")
    assert page(root).title == title
    assert page(root, "--title", "My <T>").title == "My <T>"
    assert page(root, "-t", " ").title == title


def test_where_the_bundle_comes_from(run_cli, bundle):
    root = bundle(TWO)
    out = run_cli("render", root, "-l", "https://example.org/?a=1&b=<2>")[1]
    assert '<a href="https://example.org/?a=1&amp;b=&lt;2&gt;" rel="noopener noreferrer">' in out
    assert '<p id="source">the wiki</p>' in run_cli("render", root, "-l", "the wiki")[1]


def test_how_it_opens(page, bundle, run_cli):
    root = bundle(TWO)
    assert [(s["layout"], s["map"]) for s in page(root).json("settings")] == [(None, False)]
    assert [(s["layout"], s["map"]) for s in page(root, "--layout", "grid", "--map").json("settings")] == [("grid", True)]
    status, out, err = run_cli("render", root, "--layout", "spiral")
    assert (status, out) == (2, "")
    assert err == "error: --layout spiral: choose one of cose, concentric, breadthfirst, circle, grid\n"


def test_a_file_has_the_same_page(run_cli, bundle, tmp_path):
    root, target = bundle(TWO), tmp_path / "page.html"
    assert run_cli("sync", root)[0] == 0
    out = run_cli("render", root)[1]
    assert run_cli("render", root, "-o", target) == (0, f"wrote 2 concepts to {target}\n", "")
    assert target.read_text() == out
    assert oct(target.stat().st_mode & 0o777) == oct(0o666 & ~_umask())


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_target_that_cannot_be_written(run_cli, bundle, tmp_path):
    root = bundle(TWO)
    for target, reason in ((tmp_path / "none" / "x.html", "No such file or directory"), (tmp_path, "Is a directory")):
        status, out, err = run_cli("render", root, "-o", target)
        assert (status, out) == (2, "")
        assert err == f"error: cannot write {target}: {reason}\n"


def test_no_file_of_the_bundle_is_written_over(run_cli, bundle, tmp_path):
    root = bundle({**TWO, "references/table.csv": "a,b\n"})
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    (tmp_path / "link").symlink_to(root)
    for name in (root / "a.md", root / "new.MD", root / "references/table.csv", tmp_path / "link" / "a.md", root / "sub/../a.md"):
        status, out, err = run_cli("render", root, "-o", name)
        assert (status, out) == (2, ""), name
        assert "bundles are only read" in err
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before
    # A page of ours is none of its files, and may be made anew.
    for _ in range(2):
        assert run_cli("render", root, "-o", root / "page.html")[0] == 0


def test_a_bundle_that_is_too_large_is_refused(run_cli, bundle, tmp_path, monkeypatch):
    root = bundle(TWO)
    monkeypatch.setattr(document, "MOST_FILES", 1)
    status, out, err = run_cli("render", root, "-o", tmp_path / "page.html")
    assert (status, out) == (2, "")
    assert err.startswith("error: bundle is too large for one page: 2 files, 0 MiB of text")
    assert "okf-catalog server" in err
    assert not (tmp_path / "page.html").exists()
    monkeypatch.setattr(document, "MOST_FILES", 2)
    monkeypatch.setattr(document, "MOST_BYTES", 100)
    assert run_cli("render", root)[0] == 2


def test_a_bundle_that_is_large_is_remarked_on(run_cli, bundle, monkeypatch):
    root = bundle(TWO)
    assert run_cli("render", root)[2] == ""
    monkeypatch.setattr(document, "MANY_FILES", 1)
    status, out, err = run_cli("render", root)
    assert status == 0
    assert out
    assert err == "note: a page of 2 files takes a while to open; okf-catalog server shows them without the wait\n"


def test_an_empty_bundle_has_a_page(page, bundle):
    found = page(bundle({}))
    assert found.facts == {}
    assert "There is no concept in this bundle." in next(text for tag, attributes, text in found.raw[::-1] if tag == "script" and not attributes)


def test_a_bundle_that_is_none(run_cli, tmp_path):
    status, out, err = run_cli("render", tmp_path / "none", "-o", tmp_path / "page.html")
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert not (tmp_path / "page.html").exists()


def test_a_name_stands_for_its_bundle(page, bundle, run_cli):
    root = bundle(TWO)
    assert run_cli("registry", "set", root, "--as", "kb")[0] == 0
    assert set(page("@kb").facts) == set(TWO)


def test_the_library_is_the_one_of_the_site_and_can_stand_in_a_page():
    text = (Path(document.__file__).parent.parent / document._LIBRARY).read_text()
    for forbidden in ("</script", "<!--", "\r"):
        assert forbidden not in text.lower()
    assert not list(Path(document.__file__).parent.rglob("cytoscape*"))


def test_a_closed_pipe_is_silent(bundle):
    root = bundle(TWO)
    process = subprocess.Popen([sys.executable, "-m", "okf_catalog", "render", str(root)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(20) == 141
