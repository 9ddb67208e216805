"""The shape of the house: who may import whom, and what a command line may load."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import ROOT, process
from tests.test_sync import note

PACKAGE = ROOT / "okf_catalog"
MODULES = sorted(PACKAGE.rglob("*.py"))
# What each layer may import of the package besides itself; arrows point down only.
BELOW = {
    "format": set(),
    "errors": set(),
    "trace": set(),
    "agent_skill": set(),
    "migrations": set(),
    "bundle": {"format", "errors"},
    "registry": {"format", "errors", "bundle"},
    "catalog": {"format", "errors", "trace", "bundle", "migrations"},
    "search": {"format", "errors", "trace", "bundle", "migrations", "catalog"},
    "checks": {"format", "errors", "trace", "bundle", "migrations", "catalog"},
    "views": {"format", "errors", "trace", "bundle", "migrations", "catalog"},
    "render": {"format", "errors", "catalog", "views"},
}
DOORS = ("cli", "datasette_plugin", "mcp_server", "__main__", "__init__")


def imports(path: Path) -> set[str]:
    """Dotted names that a module imports, wherever in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def layer(path: Path) -> str:
    part = path.relative_to(PACKAGE).parts[0]
    return part.removesuffix(".py")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_downward(path):
    own = layer(path)
    if own in DOORS:
        return
    used = {name.split(".")[1] for name in imports(path) if name.startswith("okf_catalog.") and name.count(".")}
    used -= {own, "__version__"}
    assert used <= BELOW[own], f"{own} imports {sorted(used - BELOW[own])}"


@pytest.mark.parametrize("path", [p for p in MODULES if layer(p) == "format"], ids=lambda path: path.name)
def test_format_touches_no_disk_no_sql_no_clock(path):
    banned = {"os", "io", "pathlib", "sqlite3", "time", "shutil", "tempfile", "subprocess", "socket"}
    assert not {name.split(".")[0] for name in imports(path)} & banned
    source = path.read_text()
    assert not {word for word in ("open(", ".now(", ".today(", ".utcnow(") if word in source}


@pytest.mark.parametrize("path", [p for p in MODULES if layer(p) == "catalog"], ids=lambda path: path.name)
def test_catalog_knows_no_yaml(path):
    assert "yaml" not in {name.split(".")[0] for name in imports(path)}


def test_plan_is_pure():
    names = {name.split(".")[0] for name in imports(PACKAGE / "catalog" / "plan.py")}
    assert names <= {"__future__", "collections", "typing", "okf_catalog"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_modules_stay_small(path):
    assert len(path.read_text().splitlines()) <= 420


def loaded(code: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", code + "\nimport sys; print('\\n'.join(sys.modules))"],
                          capture_output=True, text=True, check=True)  # fmt: skip
    return {name.split(".")[0] for name in done.stdout.splitlines()}


def test_importing_the_package_costs_nothing():
    ours = loaded("import okf_catalog") - loaded("pass")
    assert ours <= {"okf_catalog", "__future__", "__editable___okf_catalog_0_1_0_finder"}


def test_questions_to_a_settled_bundle_load_no_parser(bundle):
    root = bundle({"a.md": note("A"), "sub/b.md": note("B", "[a](../a.md)")})
    assert process("sync", root).returncode == 0
    time.sleep(2.1)  # until then the files count as unsettled and are read again
    assert process("sync", root).returncode == 0
    heavy = {"yaml", "pyromark", "sqlite_utils", "datasette", "rich", "pydantic", "markdown_it", "pathspec", "regex",
             "typer", "click", "inspect", "argparse", "mcp"}
    for arguments in (["search", str(root), "a"], ["find", str(root)], ["show", "a.md", "--json"], ["sync", str(root)], ["bundles", "--json"]):
        modules = loaded(f"from okf_catalog.cli import main; assert main({arguments!r}) == 0")
        assert not modules & heavy, arguments


def test_every_package_is_shipped():
    listed = set(re.findall(r'^  "(okf_catalog[\w.]*)",$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE))
    there = {".".join(path.parent.relative_to(ROOT).parts) for path in PACKAGE.rglob("__init__.py")}
    assert listed == there | {"okf_catalog.migrations"}
