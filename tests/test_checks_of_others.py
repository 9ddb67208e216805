"""Checks that other packages add: the hook, their names, their faults."""

from __future__ import annotations

import json
import sys

import pytest

from okf_catalog.checks import check as checks
from okf_catalog.errors import UsageError
from tests.conftest import process

PLUGIN = '''
from okf_catalog.checks.check import INFO, WARN, Check, Found
from okf_catalog.checks.hooks import implementation

def long_title(subject):
    rows = subject.rows("select path, length(title) from concepts where bundle = :bundle and length(title) > 5 order by path")
    return [Found(path, f"the title has {length} characters", {"length": length}, 2) for path, length in rows]

def fails(subject):
    raise KeyError("oops")

@implementation
def register_checks():
    return [Check("long_title", WARN, "House style", "It has to fit.", long_title),
            Check("fails", INFO, "House style", "It never works.", fails)]
'''


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """An installed package with two checks, for processes started from here."""
    site = tmp_path / "site"
    (site / "okf_house-1.dist-info").mkdir(parents=True)
    (site / "okf_house.py").write_text(PLUGIN)
    (site / "okf_house-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: okf-house\nVersion: 1\n")
    (site / "okf_house-1.dist-info" / "entry_points.txt").write_text("[okf_catalog]\nhouse = okf_house\n")
    monkeypatch.setenv("PYTHONPATH", str(site))


FILES = {"a.md": "---\ntype: T\ntitle: A long title\n---\n", "b.md": "---\ntype: T\ntitle: Short\n---\n"}


def test_a_check_of_another_package(plugin, bundle):
    root = bundle(FILES)
    done = process("lint", root, "--only", "long_title", "--format", "json", "--fail-on", "warn")
    assert (done.returncode, done.stderr) == (1, "")
    assert json.loads(done.stdout)["findings"] == [
        {"check": "long_title", "severity": "warn", "path": "a.md", "place": "a.md", "line": 2,
         "message": "the title has 12 characters", "metric": {"length": 12}}
    ]  # fmt: skip
    # Reports without it stay as they are.
    assert "long_title" not in process("lint", root).stdout
    done = process("lint", root, "--extended", "--except", "fails")
    assert "\n  House style\n    ! warn  a.md:2: the title has 12 characters\n" in done.stdout
    listed = json.loads(process("lint", "--list", "--json").stdout)["checks"]
    assert [(row["check"], row["extended"]) for row in listed][-2:] == [("long_title", True), ("fails", True)]


def test_a_check_that_fails_is_named(plugin, bundle):
    done = process("lint", bundle(FILES), "--only", "fails")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: the check fails failed: KeyError: 'oops'\n"


@pytest.mark.parametrize(("name", "severity"), [("orphan", "warn"), ("Orphan2", "warn"), ("mine", "error")])
def test_a_check_that_cannot_be_added(name, severity):
    registry = checks.Registry(checks.registry().checks.values())
    with pytest.raises(UsageError):
        registry.add(checks.Check(name, severity, "Mine", "Because.", lambda subject: []))


def test_a_plain_report_does_not_look_for_other_packages(bundle):
    root = bundle(FILES)
    code = f"from okf_catalog.cli import main; main(['lint', {str(root)!r}]); import sys; print('pluggy' in sys.modules)"
    import subprocess

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"
