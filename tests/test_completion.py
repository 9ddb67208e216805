"""Shell completion: what bash, zsh and fish are told, asked as they ask."""

from __future__ import annotations

import os

import pytest

from tests.conftest import process
from tests.test_sync import sync


@pytest.fixture
def ready(bundle, run_cli):
    root = bundle({
        "metrics/a.md": "---\ntype: Metric\ntags: [finance, fun]\n---\n",
        "b.md": "---\ntype: Memo\ntags: [finance]\n---\n",
    }, name="desk")  # fmt: skip
    sync(run_cli, root)
    assert run_cli("registry", "set", root, "--as", "front-desk")[0] == 0
    assert run_cli("registry", "group", "many", "@front-desk")[0] == 0
    return root


def offered(shell, *words):
    line = " ".join(["okf-catalog", *words])
    environment = {**os.environ, "_OKF_CATALOG_COMPLETE": f"complete_{shell}"}
    if shell == "bash":
        environment |= {"COMP_WORDS": line, "COMP_CWORD": str(len(words))}
    elif shell == "zsh":
        environment |= {"_TYPER_COMPLETE_ARGS": line}
    else:
        environment |= {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    done = process(env=environment)
    assert "Traceback" not in done.stderr
    return done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_verbs_options_and_names(ready, shell):
    verbs = offered(shell, "s")
    assert all(verb in verbs for verb in ("sync", "show", "sql", "search"))
    assert "--trust-tier" in offered(shell, "find", "--tr")
    names = offered(shell, "find", "@")
    assert all(name in names for name in ("@front-desk", "@many", "@desk"))
    assert "Metric" in offered(shell, "find", "--type", "Me")
    assert "Memo" in offered(shell, "find", "--type", "Me")
    assert "finance,fun" in offered(shell, "find", "--tags", "finance,fu")
    assert "finance" in offered(shell, "search", "@desk", "--tag", "fin")
    assert "metrics/a.md" in offered(shell, "show", "met")
    assert "deprecated" in offered(shell, "find", "--status", "dep")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_script_to_install(shell):
    environment = {**os.environ, "_OKF_CATALOG_COMPLETE": f"source_{shell}"}
    done = process(env=environment)
    assert done.returncode == 0
    assert "_OKF_CATALOG_COMPLETE" in done.stdout


def test_nothing_to_offer_is_no_error(tmp_path):
    (tmp_path / "catalog.db").write_text("no database, but long enough to be one " * 20)
    assert offered("bash", "find", "--type", "M").strip() == ""
