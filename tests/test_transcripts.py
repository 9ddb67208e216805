"""The transcripts in tests/transcripts/: manual and test at once.

A transcript is a markdown file. Two kinds of code block mean something:

    ```file docs/a.md
    ---
    type: Note
    ---
    ```

puts a file in place for every session below it, and

    ```console
    $ okf-catalog registry set docs
    registered docs → {dir}/docs (1 concept)
    $ okf-catalog registry set nowhere
    ! error: nowhere is not a directory, nor @name of a registered bundle
    [exit 2]
    ```

is a session: commands, and below each exactly what it prints: stdout, then the lines of
stderr after `! `, then `[exit N]` where the status is not 0. A session begins in a fresh
directory with only the `file` blocks above it; HOME, OKF_HOME and OKF_CATALOG_DB lie in a
fresh home beside it. `{dir}` and `{home}` stand for the two, in files, commands and
output, and `{now}` in output for a moment of the run itself. `$ cd DIR` lasts until the end of the session, `$ NAME=value okf-catalog …` sets a
variable for one command, and any other command runs in a shell.

`UPDATE_TRANSCRIPTS=1 pytest tests/test_transcripts.py` writes what is printed into the
files; read the difference before you keep it.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import NamedTuple

import pytest

from okf_catalog.cli import main

FOLDER = Path(__file__).parent / "transcripts"
_BLOCK = re.compile(r"^(?P<fence>`{3,})(?P<info>file \S+|console)\n(?P<text>.*?)^(?P=fence)$", re.MULTILINE | re.DOTALL)
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?::\d\dZ| UTC)")
_ASSIGNMENT = re.compile(r"[A-Z_]+=")


class Session(NamedTuple):
    """A `console` block."""

    line: int
    text: str
    files: dict[str, str]


def _timeless(found: re.Match[str]) -> str:
    moment = datetime.fromisoformat(f"{found[1]}T{found[2]}+00:00")
    is_now = abs(datetime.now(timezone.utc) - moment) < timedelta(hours=1)
    return "{now}" if is_now else found[0]


def sessions(text: str) -> list[Session]:
    files: dict[str, str] = {}
    found = []
    for block in _BLOCK.finditer(text):
        kind, _, path = block["info"].partition(" ")
        if kind == "file":
            files = {**files, path: block["text"]}
        else:
            found.append(Session(text.count("\n", 0, block.start()) + 2, block["text"], files))
    return found


class Sandbox:
    """A fresh directory and home; the paths of both are written `{dir}` and `{home}`."""

    def __init__(self, base: Path, monkeypatch, capsys) -> None:
        self.names = {"{dir}": str(base / "dir"), "{home}": str(base / "home")}
        self.monkeypatch, self.capsys = monkeypatch, capsys
        for path in self.names.values():
            os.makedirs(path)
        monkeypatch.chdir(base / "dir")
        monkeypatch.delenv("OKF_NO_DISCOVERY", raising=False)
        monkeypatch.setenv("HOME", self.names["{home}"])
        monkeypatch.setenv("OKF_HOME", self.names["{home}"] + "/.okf")
        monkeypatch.setenv("OKF_CATALOG_DB", self.names["{home}"] + "/.okf/catalog.db")
        monkeypatch.setenv("COLUMNS", "80")

    def there(self, text: str) -> str:
        for name, path in self.names.items():
            text = text.replace(name, path)
        return text

    def back(self, text: str) -> str:
        for name, path in self.names.items():
            text = text.replace(path, name)
        return _MOMENT.sub(_timeless, text)

    def write(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            path = Path(self.there(name))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.there(text), encoding="utf-8")

    def run(self, command: str) -> str:
        """What a command prints, as a transcript shows it."""
        words = shlex.split(self.there(command))
        if words[0] == "cd":
            self.monkeypatch.chdir(words[1])
            return ""
        settings = [words.pop(0) for _ in range(len(words)) if words and _ASSIGNMENT.match(words[0])]
        if words[0] == "okf-catalog":
            with self.monkeypatch.context() as patch:
                for setting in settings:
                    patch.setenv(*setting.split("=", 1))
                self.capsys.readouterr()
                status = main(words[1:])
            out, err = self.capsys.readouterr()
        else:
            done = subprocess.run(["sh", "-c", self.there(command)], capture_output=True, text=True, check=False)
            out, err, status = done.stdout, done.stderr, done.returncode
        shown = self.back(out)
        shown += "" if not shown or shown.endswith("\n") else "\n"
        shown += "".join(f"! {line}\n" for line in self.back(err).splitlines())
        return shown + (f"[exit {status}]\n" if status else "")


def replay(session: Session, base: Path, monkeypatch, capsys) -> str:
    """The session with what its commands print now."""
    sandbox = Sandbox(base, monkeypatch, capsys)
    sandbox.write(session.files)
    commands = [line for line in session.text.splitlines() if line.startswith("$ ")]
    return "".join(f"{line}\n{sandbox.run(line[2:])}" for line in commands)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.md")), ids=lambda path: path.stem)
def test_transcript(path, tmp_path, monkeypatch, capsys):
    text = path.read_text(encoding="utf-8")
    found = sessions(text)
    assert found, "a transcript has a console block"
    for number, session in enumerate(found):
        assert session.text.startswith("$ "), f"line {session.line}: a session begins with a command"
        now = replay(session, tmp_path / str(number), monkeypatch, capsys)
        if os.environ.get("UPDATE_TRANSCRIPTS"):
            text = text.replace(session.text, now, 1)
        else:
            assert now == session.text, f"{path.name}, line {session.line}"
    if os.environ.get("UPDATE_TRANSCRIPTS"):
        path.write_text(text, encoding="utf-8")


def test_a_transcript_that_differs_fails(tmp_path, monkeypatch, capsys):
    text = "```file a/x.md\n---\ntype: N\n---\n```\n\n```console\n$ ls a\ny.md\n$ cat nothing 2>/dev/null\n```\n"
    (session,) = sessions(text)
    assert (
        replay(session, tmp_path / "box", monkeypatch, capsys) == "$ ls a\nx.md\n$ cat nothing 2>/dev/null\n[exit 1]\n"
    )
