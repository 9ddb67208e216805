"""What fuzzing found stays found; and the checks themselves hold for what it begins with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.checks import CHECKS
from tests.fuzz.fuzz import FOUND, seeds

KEPT = sorted(path for path in FOUND.rglob("*") if path.is_file() and path.name != ".gitkeep")


@pytest.mark.parametrize("path", KEPT, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_what_fuzzing_found(path: Path):
    CHECKS[path.parent.name](path.read_bytes())


@pytest.mark.parametrize("target", CHECKS)
def test_what_fuzzing_begins_with(target):
    assert len(seeds(target)) > 30
    for seed in seeds(target):
        CHECKS[target](seed)
