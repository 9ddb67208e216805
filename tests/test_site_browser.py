"""The site in a real browser: what people click, and that nothing is fetched from anywhere else."""

from __future__ import annotations

import subprocess
import sys
import time
import urllib.request

import pytest

from tests.browser import complaints, find, needs_chromium, requests, start
from tests.conftest import EXAMPLE
from tests.test_site import EVIL

pytestmark = needs_chromium
MANY = 2000
"""Concepts of a graph that has to stay usable."""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    driver = start(tmp_path_factory.mktemp("profile"))
    driver.set_window_size(1280, 900)
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The landing page of a server that runs the example and a hostile bundle."""
    root = tmp_path_factory.mktemp("evil")
    for name, text in EVIL.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    large = tmp_path_factory.mktemp("up") / "large"
    for at in range(MANY):
        (large / f"area{at % 40}").mkdir(parents=True, exist_ok=True)
        (large / f"area{at % 40}/c{at}.md").write_text(
            f"---\ntype: Type {at % 12}\ntitle: Concept {at}\ntags: [tag{at % 50}]\n---\n\n"
            + " ".join(f"[x](/area{other % 40}/c{other}.md)" for other in ((at + 1) % MANY, at * 7 % MANY))
        )
    home = tmp_path_factory.mktemp("home")
    process = subprocess.Popen(
        [sys.executable, "-m", "okf_catalog", "server", str(EXAMPLE), str(root), str(large), "-p", "0"],
        stdout=subprocess.PIPE, text=True, env={"HOME": str(home), "OKF_HOME": str(home), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    line = process.stdout.readline()
    start = next(word for word in line.split() if word.startswith("http"))
    for _ in range(100):
        try:
            urllib.request.urlopen(start, timeout=5).close()
            break
        except OSError:
            time.sleep(0.1)
    yield start
    process.terminate()
    assert process.wait(20) == 0, "it stops cleanly"


@pytest.fixture(autouse=True)
def _quiet(browser, address):
    """No page may complain on the console or ask another host."""
    complaints(browser), requests(browser)
    yield
    assert complaints(browser) == []
    own = address.split("/")[2]
    assert [url for url in requests(browser) if not url.startswith((f"http://{own}/", "data:", "about:", "chrome"))] == []


def test_search_follow_a_result_and_a_link_in_its_body(browser, address):
    browser.get(address)
    box = find(browser, "input[name=q]")[0]
    box.send_keys("on time arrival")
    box.submit()
    assert find(browser, "mark")
    find(browser, "a.okf-hit")[0].click()
    assert find(browser, "h1")[0].text == "On-time arrival"
    link = next(element for element in find(browser, ".okf-body a") if element.text == "station calls")
    link.click()
    assert browser.current_url.endswith("/moonmoth/tables/station_calls.md")


def test_a_facet_narrows_the_results(browser, address):
    browser.get(address + "?q=revenue")
    before = len(find(browser, "a.okf-hit"))
    next(element for element in find(browser, ".okf-results aside a") if element.text == "Metric").click()
    assert 0 < len(find(browser, "a.okf-hit")) < before
    assert find(browser, ".okf-chosen")[0].text.startswith("Metric")


def click_node(browser, selector):
    """Press the mouse where the graph has drawn a node, as a hand would."""
    from selenium.webdriver import ActionChains

    box = find(browser, "#okf-graph")[0]
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", box)
    at = browser.execute_script(
        "const one = window.okfGraph.nodes(arguments[0])[0].renderedPosition(); const box = window.okfGraph.container();"
        "return [one.x - box.clientWidth / 2, one.y - box.clientHeight / 2]", selector,
    )  # fmt: skip
    ActionChains(browser).move_to_element_with_offset(box, round(at[0]), round(at[1])).click().perform()


def test_the_graph_draws_and_answers_a_click(browser, address):
    browser.get(address.replace("/-/okf", "/-/okf-graph/moonmoth"))
    assert find(browser, '#okf-graph[data-ready="55"]')
    click_node(browser, '[label = "Bookings"]')
    about = find(browser, "#okf-about a")[0]
    assert about.text == "Bookings"
    assert about.get_attribute("href").endswith("/moonmoth/tables/bookings.md")
    browser.execute_script("const tag = document.getElementById('okf-tag'); tag.value = 'finance'; tag.dispatchEvent(new Event('change'))")
    assert browser.execute_script("return window.okfGraph.nodes('.off').length") == 55 - 6
    about.click()
    assert find(browser, "h1")[0].text == "Bookings"


def test_two_thousand_concepts_are_drawn_and_can_be_used(browser, address):
    began = time.monotonic()
    browser.get(address.replace("/-/okf", "/-/okf-graph/large"))
    browser.implicitly_wait(60)
    try:
        assert find(browser, f'#okf-graph[data-ready="{MANY}"]')
    finally:
        browser.implicitly_wait(5)
    assert time.monotonic() - began < 60, "generous: the machine may be busy"
    shown = browser.execute_script(
        "const all = window.okfGraph.nodes(); const box = window.okfGraph.container(); const seen = new Set();"
        "all.forEach(one => { const at = one.renderedPosition(); if (at.x >= 0 && at.x <= box.clientWidth && at.y >= 0 && at.y <= box.clientHeight)"
        " seen.add(`${Math.round(at.x)} ${Math.round(at.y)}`) }); return [all.length, seen.size]"
    )
    assert shown[0] == MANY
    assert shown[1] > MANY * 0.8, "each has its own place inside the box"
    label = browser.execute_script("return window.okfGraph.nodes().max(one => one.renderedPosition().y).ele.data('label')")
    click_node(browser, f'[label = "{label}"]')
    assert find(browser, "#okf-about a")[0].text == label


PAGES = ("/-/okf", "/-/okf/moonmoth/metrics/on-time-arrival.md", "/-/okf?q=revenue", "/-/okf/moonmoth/", "/-/okf-graph/moonmoth")


@pytest.fixture
def phone(browser):
    """The window of a phone."""
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 390, "height": 780, "deviceScaleFactor": 2, "mobile": True})
    yield
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.usefixtures("phone")
def test_the_width_of_a_phone_is_enough(browser, address):
    for page in PAGES:
        browser.get(address.replace("/-/okf", page))
        assert browser.execute_script("return [innerWidth, document.documentElement.scrollWidth]") == [390, 390], page


FIRST = {"/-/okf?q=revenue": "a.okf-hit", "/catalog": ".rows-and-columns tbody tr td", "/-/okf": ".okf-card h3", "/-/okf/moonmoth/metrics/on-time-arrival.md": ".okf-body p"}


def test_the_first_rows_are_seen_without_scrolling(browser, address):
    for page, first in FIRST.items():
        browser.get(address.replace("/-/okf", page))
        place = find(browser, first)[0].rect
        assert place["y"] + 20 < browser.execute_script("return innerHeight"), page


@pytest.mark.usefixtures("phone")
def test_the_first_rows_are_seen_on_a_phone(browser, address):
    for page, first in FIRST.items():
        browser.get(address.replace("/-/okf", page))
        place = find(browser, first)[0].rect
        assert place["y"] + 20 < 780, page


def test_nothing_of_a_hostile_bundle_runs(browser, address):
    from urllib.parse import quote

    names = [card.get_attribute("href").rstrip("/").rpartition("/")[2] for card in cards(browser, address)]
    name = next(name for name in names if name not in ("moonmoth", "large"))
    for path in ("a/evil.md", "b.md", "huge.md", "index.md", "a/o\"dd '%3F#é<b>.md", "a/e\u0301 🌙?.md", ""):
        browser.get(f"{address}/{name}/{quote(path)}")
        assert find(browser, "h1"), path
    browser.get(address.replace("/-/okf", f"/-/okf-graph/{name}"))
    assert find(browser, "#okf-graph[data-ready]")
    browser.get(address + "?q=script")
    browser.get(address.replace("/-/okf", "/catalog"))


def cards(browser, address):
    browser.get(address)
    return find(browser, ".okf-card h3 a")
