"""Chromium for the tests that need a real browser, driven by selenium; offline, and telling all that it asks for."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium")
DRIVER = shutil.which("chromedriver")
needs_chromium = pytest.mark.skipif(
    not (CHROMIUM and DRIVER), reason="no Chromium here (Debian: apt install chromium chromium-driver)"
)
FLAGS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
]  # fmt: skip


def start(profile: Path):
    """A browser with a profile of its own, which the caller has to quit."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in [*FLAGS, f"--user-data-dir={profile}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.implicitly_wait(5)
    return driver


def complaints(browser) -> list[str]:
    """What the console said since it was asked last, but for the icon that no page has."""
    return [entry["message"] for entry in browser.get_log("browser") if "favicon" not in entry["message"]]


def requests(browser) -> list[str]:
    """The addresses that were asked for since last time."""
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    return [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]


def find(browser, selector: str) -> list:
    """The elements that a CSS selector means."""
    from selenium.webdriver.common.by import By

    return browser.find_elements(By.CSS_SELECTOR, selector)
