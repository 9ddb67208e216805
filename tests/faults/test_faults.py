"""The short part of the campaign, for every run of the tests."""

from __future__ import annotations

import pytest

from tests.faults import files, processes, sizes  # noqa: F401  # they register their faults
from tests.faults.place import FAULTS, Place, Skipped


@pytest.mark.parametrize("each", FAULTS, ids=lambda each: each.attempt.__name__)
def test_fault(each, tmp_path):
    place = tmp_path / "place"
    place.mkdir()
    try:
        seen = each.attempt(Place(place), False)
    except Skipped as reason:
        pytest.skip(str(reason))
    assert seen.endswith("equal to a fresh build")
