"""Each query of docs/cookbook.md gives the table below it. `UPDATE_COOKBOOK=1` writes the tables anew: look at them."""

from __future__ import annotations

import os
import re

import pytest

from tests.conftest import ROOT, process

PAGE = ROOT / "docs" / "cookbook.md"
RECIPE = re.compile(r"^### (?P<title>[^\n]+)\n(?P<why>.*?)```sql\n(?P<sql>.*?)\n```\n\n(?P<table>(?:\|[^\n]*\n)*)", re.MULTILINE | re.DOTALL)
RECIPES = {found["title"]: found for found in RECIPE.finditer(PAGE.read_text(encoding="utf-8"))}


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("cookbook") / "catalog.db")
    assert process("sync", ROOT / "examples" / "moonmoth", ROOT / "examples" / "lanternworks", "--db", path).returncode == 0
    return path


def test_no_recipe_is_overlooked():
    text = PAGE.read_text(encoding="utf-8")
    assert len(RECIPES) == text.count("```sql") == text.count("\n### ") >= 25


@pytest.mark.parametrize("title", RECIPES)
def test_a_recipe(examples, title):
    recipe = RECIPES[title]
    done = process("sql", recipe["sql"], "--format", "markdown", "--db", examples)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") > 2, "a recipe that finds nothing shows nothing"
    if os.environ.get("UPDATE_COOKBOOK"):
        text = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(text.replace(recipe["sql"] + "\n```\n\n" + recipe["table"], recipe["sql"] + "\n```\n\n" + done.stdout), encoding="utf-8")
        return
    assert done.stdout == recipe["table"]
