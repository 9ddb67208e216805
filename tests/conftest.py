"""What the tests share: a bundle from a dictionary, the command line, a catalog to look into."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from okf_catalog.cli import main

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "moonmoth"

# A slow machine is no failure.
settings.register_profile("okf", deadline=None)
settings.load_profile("okf")


def write_files(root: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


@pytest.fixture(autouse=True)
def _own_home(tmp_path, monkeypatch):
    """No test reads or writes the user's catalog or registry."""
    for name in [name for name in os.environ if name.startswith("OKF_")]:
        monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("OKF_HOME", str(home / ".okf"))
    monkeypatch.setenv("OKF_CATALOG_DB", str(tmp_path / "catalog.db"))
    monkeypatch.setenv("OKF_NO_DISCOVERY", "1")
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.fixture
def bundle(tmp_path):
    """A function that writes files below a new bundle directory and returns it."""

    def make(files: dict[str, str | bytes], name: str = "bundle") -> Path:
        root = tmp_path / name
        root.mkdir(parents=True, exist_ok=True)
        return write_files(root, files)

    return make


@pytest.fixture
def run_cli(capsys):
    """A function that runs a command line in this process: (exit status, stdout, stderr)."""

    def run(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        status = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return status, out, err

    return run


@pytest.fixture
def catalog(tmp_path):
    """A function that queries the catalog: rows of one column as values, else as tuples."""

    def query(sql: str, *values: object) -> list:
        connection = sqlite3.connect(f"file:{tmp_path / 'catalog.db'}?mode=ro", uri=True)
        try:
            rows = connection.execute(sql, values).fetchall()
        finally:
            connection.close()
        return [row[0] for row in rows] if rows and len(rows[0]) == 1 else rows

    return query


def process(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    """Run the command line as a process of its own."""
    command = [sys.executable, "-m", "okf_catalog", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=120, check=False, **options)
