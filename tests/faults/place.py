"""Where a fault is tried: a directory with bundles and a catalog of its own, and the way to run the program there."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from okf_catalog.catalog import compare
from okf_catalog.catalog.sync import bundles, system_clock
from tests.test_sync_property import check_integrity


class Fault(NamedTuple):
    """Something that goes wrong, and what is promised then."""

    name: str
    promised: str
    attempt: Callable[[Place, bool], str]
    """Tries it (the flag: at full size) and returns what was seen. Raises `AssertionError` where a promise is broken."""


FAULTS: list[Fault] = []


class Skipped(Exception):
    """The fault cannot be made here; the text says why."""


def fault(name: str, promised: str) -> Callable[[Callable[[Place, bool], str]], Callable[[Place, bool], str]]:
    def register(attempt: Callable[[Place, bool], str]) -> Callable[[Place, bool], str]:
        FAULTS.append(Fault(name, promised, attempt))
        return attempt

    return register


class Place:
    """A scratch directory with its own home, catalog and chance."""

    def __init__(self, directory: Path, seed: int = 20261201) -> None:
        self.directory = directory
        self.path = directory / "catalog.db"
        self.chance = random.Random(seed)
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("OKF_")}
        self.environment.update(HOME=str(directory), OKF_HOME=str(directory / ".okf"), OKF_CATALOG_DB=str(self.path),
                                OKF_NO_DISCOVERY="1", NO_COLOR="1")  # fmt: skip

    def bundle(self, files: dict[str, str | bytes], name: str = "bundle") -> Path:
        root = self.directory / name
        for path, content in files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content if isinstance(content, bytes) else content.encode())
        return root

    def cli(self, *arguments: object, humbly: bool = False, **options: object) -> subprocess.CompletedProcess[str]:
        """Run a command line; `humbly` without root's right to open what its mode forbids."""
        command = [sys.executable, "-m", "okf_catalog", *map(str, arguments)]
        if humbly and os.geteuid() == 0:
            if not shutil.which("setpriv"):
                raise Skipped("runs as root, and setpriv is missing")
            command = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", *command]
        options.setdefault("env", self.environment)
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=3600, check=False, **options)  # type: ignore[call-overload]
        assert "Traceback" not in done.stderr, done.stderr
        if done.returncode == 2:
            assert done.stderr.count("error: ") == 1, done.stderr
        return done

    def start(self, *arguments: object) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "okf_catalog", *map(str, arguments)]
        return subprocess.Popen(command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def sync(self, *arguments: object) -> None:
        done = self.cli("sync", *arguments)
        assert done.returncode == 0, done.stderr

    def query(self, sql: str, *values: object) -> list[tuple[object, ...]]:
        connection = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, timeout=60)
        try:
            return connection.execute(sql, values).fetchall()
        finally:
            connection.close()

    def equals_fresh(self) -> str:
        """Compare all bundles of the catalog with a fresh build."""
        connection = sqlite3.connect(self.path, isolation_level=None, timeout=60)
        try:
            check_integrity(connection)
            known = bundles(connection)
            found = compare.with_fresh_build(connection, str(self.path), known, system_clock)
        finally:
            connection.close()
        assert found == [], found
        return "equal to a fresh build"


def note(title: str, body: str = "text", more: str = "") -> str:
    return f"---\ntype: Note\ntitle: {title}\n{more}---\n\n{body}\n"


def many(count: int, version: int = 0, directories: int = 40) -> dict[str, str | bytes]:
    """Concepts that all name a version, with links, tags and a few broken ones."""
    files: dict[str, str | bytes] = {}
    for number in range(count):
        path = f"d{number % directories:02}/c{number:05}.md"
        if number % 97 == 5:
            files[path] = f"no fence in version {version} of {number}\n"
        else:
            body = f"version {version} of {number}, see [next](c{(number + directories) % count:05}.md) and [gone](no.md)"
            files[path] = note(f"version {version}", body, f"tags: [v{version}, n{number % 7}]\n")
    files["index.md"] = "# All\n\n[first](d00/c00000.md)\n"
    return files
