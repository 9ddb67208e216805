"""The page of `render` in a real browser, from a file: what people do with it, and that it asks nobody for anything."""

from __future__ import annotations

import json
import sys
import time
import unicodedata
from urllib.parse import quote

import pytest

from okf_catalog.format.values import search_fold
from tests.browser import complaints, find, needs_chromium, requests, start
from tests.conftest import EXAMPLE, process, write_files
from tests.hostile import EVIL

pytestmark = needs_chromium
MANY = 2000


def large(number: int) -> dict[str, str]:
    """A bundle of so many concepts, each linked with two others."""
    files = {}
    for at in range(number):
        words = " ".join(f"word{(at * step) % 977}" for step in range(1, 60))
        files[f"area{at % 40}/c{at}.md"] = (
            f"---\ntype: Type {at % 17}\ntitle: Concept {at}\ntags: [tag{at % 90}, tag{at % 7}]\nstale_after: 20{20 + at % 20}-01-01\n---\n\n"
            f"# Concept {at}\n\n[next](/area{(at + 1) % number % 40}/c{(at + 1) % number}.md), [other](/area{at * 7 % number % 40}/c{at * 7 % number}.md)\n\n{words}\n"
        )
    return files


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    driver = start(tmp_path_factory.mktemp("profile"))
    driver.set_window_size(1280, 1100)
    driver.get("about:blank")  # what it opens with asks for a lot
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The address of the page of each bundle: the example, the hostile one, the large one."""
    home = tmp_path_factory.mktemp("home")
    environment = {"HOME": str(home), "OKF_HOME": str(home), "PATH": "/usr/bin:/bin"}
    found = {}
    for name, root in {
        "example": EXAMPLE,
        "evil": write_files(tmp_path_factory.mktemp("evil"), EVIL),
        "large": write_files(tmp_path_factory.mktemp("large"), large(MANY)),
    }.items():
        target = home / f"{name} #1%.html"
        done = process("render", root, "-o", target, env=environment)
        assert done.returncode == 0, done.stderr
        found[name] = f"file://{quote(str(target))}"
    return found


@pytest.fixture(autouse=True)
def _quiet(browser):
    """No page may complain on the console, run what is not ours, or ask for anything but itself."""
    complaints(browser), requests(browser)
    yield
    assert complaints(browser) == []
    assert [url for url in requests(browser) if not url.startswith(("file:", "data:", "about:"))] == []


@pytest.fixture
def visit(browser, pages):
    """A function that opens a view of a page and waits until it is there."""

    def go(name: str, view: str = "") -> None:
        if view and browser.current_url.partition("#")[0] == pages[name]:
            browser.execute_async_script("addEventListener('hashchange', () => arguments[1](), { once: true }); location.hash = ''; location.hash = arguments[0]", view)
            return
        browser.get("about:blank")
        browser.get(pages[name] + view)
        assert find(browser, "body[data-ready]")

    return go


def text(browser, selector: str) -> str:
    """What the first of these elements says; asked in one go, since a view may be replaced at any time."""
    found = []
    until(lambda: found.append(browser.execute_script("return document.querySelector(arguments[0])?.innerText", selector)) or found[-1] is not None)
    return found[-1].strip()


def press(browser, *keys: str) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(browser).send_keys(*keys).perform()


def until(condition):
    """Wait for what is true soon."""
    for _ in range(100):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it never came")


def test_search_follow_a_result_and_a_link_in_its_body(browser, visit):
    visit("example")
    press(browser, "/")
    press(browser, "on-time arrival")
    until(lambda: browser.current_url.endswith("#/?q=on-time+arrival"))
    assert "of 61 files" in text(browser, "#count")
    assert find(browser, "mark")
    find(browser, "a.hit")[0].click()
    assert text(browser, "h1:not(header h1)") == "On-time arrival"
    assert text(browser, ".okf-source") == "Joint timetable feed · Infrastructure liaison"
    next(element for element in find(browser, ".body a") if element.text == "station calls").click()
    assert browser.current_url.endswith("#/file/tables/station_calls.md")
    assert text(browser, "h1:not(header h1)") == "Station calls"
    browser.back(), browser.back()
    until(lambda: find(browser, "a.hit"))
    assert browser.execute_script("return document.getElementById('words').value") == "on-time arrival"


def test_facets_narrow_and_widen_again(browser, visit):
    visit("example", "#/?q=revenue")
    before = len(find(browser, "a.hit"))
    next(element for element in find(browser, "aside a") if element.text == "Metric").click()
    until(lambda: browser.execute_script("return document.querySelectorAll('a.hit').length") < before)
    assert text(browser, ".chosen") == "Metric"
    assert browser.switch_to.active_element.text == "Metric", "the keyboard stays where it was"
    press(browser, "\ue007")
    until(lambda: browser.execute_script("return document.querySelectorAll('a.hit').length") == before)


def answers(browser, words: str) -> list[tuple[str, int]]:
    return [tuple(row) for row in browser.execute_script("return [...okf.search(arguments[0])].filter(([file]) => file.kind === 'concept').map(([file, score]) => [file.path, score])", words)]


@pytest.mark.parametrize("words", ["berth", "on time", '"on time"', "REVENUE night", "ακρίβεια", "café", "c++", "12.5%", "[x](", "zzz"])
def test_it_finds_what_the_command_line_finds(browser, visit, run_cli, words):
    visit("example")
    terms = [words.strip('"')] if words.startswith('"') else words.split()
    status, out, _ = run_cli("search", EXAMPLE, "--json", "--limit", "1000", "--", *terms)
    assert status == 0
    expected = {(row["id"], row["score"]) for row in json.loads(out)["matches"]}
    assert {(path[:-3], score) for path, score in answers(browser, words)} == expected


def test_text_compares_as_in_the_catalog(browser, visit):
    """Over all characters of Unicode 3.2: browsers and Python know different later ones."""
    visit("example")
    characters = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.ucd_3_2_0.category(chr(code)) not in ("Cn", "Cs", "Co")]
    folded = browser.execute_script("return arguments[0].map((one) => okf.fold(`a${one}b`))", characters)
    groups: dict[str, set[str]] = {}
    for character, ours in zip(characters, folded, strict=True):
        groups.setdefault(search_fold(f"a{character}b"), set()).add(ours)
    # The same characters are the same in both, whatever they are folded to.
    assert {key: found for key, found in groups.items() if len(found) > 1} == {}
    assert len(set(folded)) == len(groups)


def test_a_click_in_the_graph_tells_of_a_concept(browser, visit):
    from selenium.webdriver.common.action_chains import ActionChains

    visit("example", "#/graph")
    assert find(browser, '#graph[data-ready="55"]')
    spot = browser.execute_script("const node = okf.graph.nodes('[label = \"Bookings\"]'), at = node.renderedPosition(); return [at.x, at.y]")
    box = find(browser, "#graph")[0]
    ActionChains(browser).move_to_element_with_offset(box, round(spot[0] - box.size["width"] / 2), round(spot[1] - box.size["height"] / 2)).click().perform()
    until(lambda: text(browser, "#told").startswith("Bookings"))
    find(browser, "#told a")[0].click()
    assert browser.current_url.endswith("#/file/tables/bookings.md")
    visit("example", "#/map?tag=finance")
    assert find(browser, '#graph[data-ready="55"]')
    assert browser.execute_script("return okf.graph.nodes('[!isBox]').not('.off').length") == 6


def test_the_width_of_a_phone_is_enough(browser, visit):
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": True})
    try:
        for view in ("", "#/?q=revenue", "#/file/metrics/on-time-arrival.md", "#/file/tables/bookings.md", "#/dir/", "#/graph", "#/map", "#/file/metrics/no-show-rate.md"):
            visit("example", view)
            assert browser.execute_script("return document.documentElement.scrollWidth - innerWidth") <= 0, view
        visit("evil", "#/file/huge.md")
        assert browser.execute_script("return document.documentElement.scrollWidth - innerWidth") <= 0
        visit("example")
        assert not find(browser, "aside section")[0].is_displayed()
        find(browser, "summary")[0].click()
        next(element for element in find(browser, "aside a") if element.text == "Metric").click()
        until(lambda: browser.execute_script("return document.querySelector('.chosen')?.checkVisibility()"))
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_nothing_of_a_hostile_bundle_runs(browser, visit):
    for path in EVIL:
        visit("evil", f"#/file/{quote(path)}")
        assert find(browser, "main h1"), path
        assert "Not in this page" not in text(browser, "main h1"), path
    for view in ("", "#/?q=script", "#/graph", "#/map", "#/dir/", "#/dir/a/", "#/?tag=__proto__", "#/?type=__proto__", "#/file/%E0%A4%A", "#/file/none.md", "#/dir/none/", "#/?sort=constructor", "#/graph?around=none.md"):
        visit("evil", view)
        assert find(browser, "main > *"), view
        assert "concepts, 0 stale" in text(browser, "#footer")
    assert browser.execute_script("return ({}).polluted") is None


def test_a_heading_cannot_take_the_place_of_an_element_of_the_page(browser, visit):
    visit("evil", f"#/file/{quote('a/evil.md')}#footer")
    assert browser.execute_script("return document.querySelectorAll('#footer, #main, #words').length") == 3
    assert browser.execute_script("return document.activeElement.textContent") == "footer", "the fragment leads to its heading"


def test_odd_file_names_are_reached_by_links(browser, visit):
    visit("evil", f"#/file/{quote(next(path for path in EVIL if 'dd' in path))}")
    find(browser, ".body a")[1].click()
    assert text(browser, "main h1") == "e\u0301 🌙?"
    browser.back()
    find(browser, ".body a")[0].click()
    assert "<script>alert(1)</script>" in text(browser, "main h1")


def test_freshness_is_judged_when_the_page_is_read(browser, visit, pages):
    browser.get("about:blank")
    script = "const Own = Date; Date = class extends Own { constructor(...given) { super(...(given.length ? given : ['%s'])); } };"
    counts = []
    for moment in ("2020-06-01T00:00:00Z", "2039-06-01T00:00:00Z"):
        added = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": script % moment})
        visit("large")
        visit("large", "#/?fresh=stale")
        counts.append(text(browser, "#count"))
        browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)
    assert counts == ["100 of 2,000 files", "2,000 of 2,000 files"]


def test_two_thousand_concepts_are_no_burden(browser, visit):
    visit("large")
    assert text(browser, "#count") == "2,000 files"
    assert len(find(browser, "a.hit")) == 100
    find(browser, "section > button")[-1].click()
    assert len(find(browser, "a.hit")) == 200
    press(browser, "/")
    press(browser, "word555 concept")
    until(lambda: browser.current_url.endswith("#/?q=word555+concept"))
    assert text(browser, "#count") == "120 of 2,000 files"
    visit("large", "#/graph")
    assert find(browser, '#graph[data-ready="2000"]')


def test_dark_where_the_reader_wants_it_and_light_on_paper(browser, visit):
    def paper(**media) -> int:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        return browser.execute_script("return Number(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0])")

    visit("example")
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    assert [paper(features=[]), paper(features=dark), paper(media="print", features=dark)] == [255, 22, 255]
    assert not find(browser, "nav")[0].is_displayed()
    paper(media="", features=[])
