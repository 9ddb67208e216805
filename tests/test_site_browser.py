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


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    driver = start(tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The landing page of a server that runs the example and a hostile bundle."""
    root = tmp_path_factory.mktemp("evil")
    for name, text in EVIL.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    home = tmp_path_factory.mktemp("home")
    process = subprocess.Popen(
        [sys.executable, "-m", "okf_catalog", "server", str(EXAMPLE), str(root), "-p", "0"],
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


def test_the_graph_draws_and_answers_a_click(browser, address):
    browser.get(address.replace("/-/okf", "/-/okf-graph/moonmoth"))
    assert find(browser, '#okf-graph[data-ready="55"]')
    browser.execute_script("window.okfGraph.nodes('[label = \"Bookings\"]').emit('tap')")
    about = find(browser, "#okf-about a")[0]
    assert about.text == "Bookings"
    assert about.get_attribute("href").endswith("/moonmoth/tables/bookings.md")
    browser.execute_script("const tag = document.getElementById('okf-tag'); tag.value = 'finance'; tag.dispatchEvent(new Event('change'))")
    assert browser.execute_script("return window.okfGraph.nodes('.off').length") == 55 - 6


def test_the_width_of_a_phone_is_enough(browser, address):
    browser.set_window_size(500, 900)
    try:
        for page in ("", "/moonmoth/metrics/on-time-arrival.md", "?q=revenue", "/moonmoth/"):
            browser.get(address + page)
            assert browser.execute_script("return document.documentElement.scrollWidth - window.innerWidth") <= 0, page
    finally:
        browser.set_window_size(1280, 900)


def test_nothing_of_a_hostile_bundle_runs(browser, address):
    from urllib.parse import quote

    name = next(card.get_attribute("href").rstrip("/").rpartition("/")[2] for card in cards(browser, address) if "moonmoth" not in card.get_attribute("href"))
    for path in ("a/evil.md", "b.md", "index.md", "a/o\"dd '%3F#é<b>.md", "a/e\u0301 🌙?.md", ""):
        browser.get(f"{address}/{name}/{quote(path)}")
        assert find(browser, "h1"), path
    browser.get(address.replace("/-/okf", f"/-/okf-graph/{name}"))
    assert find(browser, "#okf-graph[data-ready]")
    browser.get(address + "?q=script")
    browser.get(address.replace("/-/okf", "/catalog"))


def cards(browser, address):
    browser.get(address)
    return find(browser, ".okf-card h3 a")
