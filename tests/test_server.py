"""`okf-catalog server` as a process: what it serves, what it keeps back in public, how it ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager

import pytest

from tests.conftest import EXAMPLE


@contextmanager
def served(home, *arguments):
    """A server with a home of its own: (address of the site, its start page, process)."""
    home.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "okf_catalog", "server", *map(str, arguments), "-p", "0"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={"HOME": str(home), "OKF_HOME": str(home), "PATH": "/usr/bin:/bin", "TMPDIR": str(home)},
    )  # fmt: skip
    try:
        line = process.stdout.readline()
        start = next((word for word in line.split() if word.startswith("http")), None)
        assert start, process.stderr.read()
        yield start.partition("/catalog")[0], start, process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def ask(url):
    """(status, text); the socket listens before the line is printed, so the first one waits."""
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            return answer.status, answer.read().decode(errors="replace")
    except urllib.error.HTTPError as problem:
        return problem.code, problem.read().decode(errors="replace")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_directory_is_served_and_nothing_is_left(tmp_path, how):
    with served(tmp_path / "own", EXAMPLE) as (_, start, process):
        assert start.endswith("/catalog/-/okf/moonmoth/")
        status, text = ask(start)
        assert status == 200
        assert "Moonmoth Sleepers" in text
        process.send_signal(how)
        out, err = process.communicate(timeout=30)
        assert (process.returncode, out, err) == (0, "", "")
    assert list((tmp_path / "own").iterdir()) == []


def test_in_public_it_keeps_back_what_it_should(tmp_path):
    with served(tmp_path / "own", EXAMPLE, "--public") as (site, start, _):
        assert ask(start)[0] == 200
        settings = json.loads(ask(f"{site}/-/settings.json")[1])
        assert settings["default_allow_sql"] is settings["allow_download"] is settings["allow_csv_stream"] is False
        assert settings["max_returned_rows"] == 500
        assert max(settings["sql_time_limit_ms"], settings["facet_time_limit_ms"]) <= 1000
        assert ask(f"{site}/catalog.json?sql=select+1")[0] == 403
        assert ask(f"{site}/catalog.db")[0] in (403, 404)
        assert ask(f"{site}/catalog/concepts.csv?_stream=on")[0] == 400
        assert ask(f"{site}/catalog/stale")[0] == 200
        assert ask(f"{site}/catalog/catalog?_tag=finance")[0] == 200
        assert ask(f"{site}/catalog/catalog?_where=1%3D1")[0] == 403
        assert ask(f"{site}/catalog/bundles.json")[0] == 200
        assert ask(f"{site}/catalog/bundle_roots.json")[0] == 403, "where the files lie is nobody's business"


def test_watch_follows_the_files(tmp_path, bundle):
    root = bundle({"a.md": "---\ntype: T\ntitle: Before\n---\n"})
    with served(tmp_path / "own", root, "--watch") as (_, start, _):
        assert "Before" in ask(start + "a.md")[1]
        end = time.monotonic() + 30
        while "After" not in ask(start + "a.md")[1]:
            # The watch may not have begun yet.
            (root / "a.md").write_text(f"---\ntype: T\ntitle: After\n---\n\n{time.monotonic()}\n")
            assert time.monotonic() < end
            time.sleep(0.5)


def test_usage_errors_are_one_line(tmp_path, run_cli):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        for words in ([EXAMPLE, "-p", port], ["@nobody"], [tmp_path / "nowhere"], [EXAMPLE, "--layout", "spiral"], ["@all"]):
            status, out, err = run_cli("server", *words)
            assert (status, out) == (2, ""), words
            assert err.startswith("error: ")
            assert err.count("\n") == 1
    assert not os.path.exists(tmp_path / "nowhere")
