"""What goes to stdout and how it ends: formats that contradict, closed pipes, text that would steer a terminal."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys

import pytest

from okf_catalog.cli import output
from tests.conftest import process

CONCEPT = "---\ntype: Note\ntitle: A\n---\n\nbell \x07, clear \x1b[2J, a \x9b1m C1, \x7f, turned \u202e round,\ttab, é, 木\n"


# -- formats that contradict -------------------------------------------------------------


@pytest.mark.parametrize("asked", [("--json", "--format", "csv"), ("--pretty", "--format", "table"), ("--json", "--format", "ndjson")])
def test_json_and_another_format_contradict(bundle, run_cli, asked):
    status, out, err = run_cli("find", bundle({"a.md": CONCEPT}), *asked)
    assert (status, out) == (2, "")
    assert err == f"error: {asked[0]} and --format {asked[2]} contradict each other: give one of them\n"


def test_json_and_format_json_agree(bundle, run_cli):
    status, out, _ = run_cli("find", bundle({"a.md": CONCEPT}), "--pretty", "--format", "json")
    assert status == 0
    assert out.startswith("{\n  ")


def test_fields_of_a_search_do_not_contradict_a_format(bundle, run_cli):
    status, out, _ = run_cli("search", bundle({"a.md": CONCEPT}), "bell", "--fields", "id", "--format", "csv")
    assert (status, out) == (0, "id\na\n")


# -- closed pipes ------------------------------------------------------------------------


def closed_pipe(*arguments: object) -> tuple[int, bytes]:
    """Exit status and stderr of a command whose stdout nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run([sys.executable, "-m", "okf_catalog", *map(str, arguments)], stdout=writer, stderr=subprocess.PIPE,
                              timeout=60, check=False)  # fmt: skip
    finally:
        os.close(writer)
    return done.returncode, done.stderr


@pytest.mark.parametrize("size", [1, 100_000], ids=["small", "large"])
@pytest.mark.parametrize("verb", [("show", "a.md"), ("find",), ("find", "--format", "table"), ("version",), ("--help",), ("find", "--help")], ids=" ".join)
def test_a_closed_pipe_is_silent(bundle, run_cli, verb, size):
    root = bundle({"a.md": CONCEPT + "x\n" * size, **{f"n{number}.md": CONCEPT for number in range(3 if size == 1 else 200)}})
    assert run_cli("sync", root)[0] == 0
    place = [root] if verb[0] == "find" and "--help" not in verb else []
    assert closed_pipe(*verb, *place) == (141, b"")


# -- text that would steer a terminal ----------------------------------------------------


def on_terminal(*arguments: object) -> str:
    """What a command writes when its stdout is a terminal."""
    leader, follower = pty.openpty()
    with subprocess.Popen([sys.executable, "-m", "okf_catalog", *map(str, arguments)], stdout=follower, stderr=subprocess.PIPE) as running:
        os.close(follower)
        shown = b""
        while True:
            try:
                piece = os.read(leader, 65536)
            except OSError:  # the other side is closed
                break
            if not piece:
                break
            shown += piece
        running.wait(60)
    os.close(leader)
    return shown.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("form", [(), ("--json",), ("--pretty",)], ids=["page", "json", "pretty"])
def test_control_characters_do_not_reach_a_terminal(bundle, run_cli, form):
    run_cli("sync", bundle({"a.md": CONCEPT}))
    shown = on_terminal("show", "a.md", *form)
    assert not {character for character in shown if character in "\x07\x1b\x9b\x7f\u202e"}
    assert "é, 木" in shown
    if form:
        assert json.loads(shown)["body"] == CONCEPT.partition("---\n\n")[2]
    else:
        assert "bell \\x07, clear \\x1b[2J, a \\x9b1m C1, \\x7f, turned \\u202e round,\ttab, é, 木" in shown.expandtabs(1).replace("round, tab", "round,\ttab")


def test_a_broken_or_reserved_file_is_shown_as_safely(bundle, run_cli):
    run_cli("sync", bundle({"index.md": "# clear \x1b[2J\n", "a.md": CONCEPT}))
    assert "# clear \\x1b[2J" in on_terminal("show", "index.md")


def test_csv_on_a_terminal_is_escaped_too(bundle, run_cli):
    root = bundle({"a.md": '---\ntype: Note\ntitle: "clear \\e[2J"\n---\n'})
    run_cli("sync", root)
    assert "clear \\x1b[2J" in on_terminal("find", root, "--format", "csv")


def test_elsewhere_the_text_is_as_written(bundle, run_cli):
    run_cli("sync", bundle({"a.md": CONCEPT}))
    assert "clear \x1b[2J" in process("show", "a.md").stdout
    assert "clear \x1b[2J" in json.loads(process("show", "a.md", "--json").stdout)["body"]


def test_safe_leaves_lines_and_tabs_alone():
    assert output.safe("a\n\tb") == "a\n\tb"
    assert output.safe("a\rb\x00") == "a\\x0db\\x00"


def test_a_long_table_is_several_of_them(bundle, run_cli):
    root = bundle({f"d/n{number:04}.md": f"---\ntype: T\ntitle: N{number}\n---\nword\n" for number in range(1203)})
    status, out, _ = run_cli("search", root, "word", "--format", "table")
    lines = [line for line in out.splitlines() if line.strip()]
    assert status == 0
    assert sum("Matched" in line for line in lines) == 2
    assert sum(" N" in line for line in lines if "Matched" not in line) == 1203
