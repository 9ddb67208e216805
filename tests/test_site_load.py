"""Pages while syncs go on: a few seconds of `python -m tests.load_site`."""

from __future__ import annotations

from tests.faults.place import Place
from tests.load_site import KINDS, LEAST_SYNCS, VERSION, Load, files


def test_no_page_fails_or_is_stale_while_syncs_go_on(tmp_path):
    load = Load(Place(tmp_path), clients=4, count=60)
    syncs, errors = load.run(2)
    assert [answer.complaint for answer in load.answers if answer.complaint] == []
    assert errors == ""
    assert syncs >= LEAST_SYNCS
    assert {answer.kind for answer in load.answers} == set(KINDS)
    dated = {answer.kind for answer in load.answers if answer.is_dated}
    assert len(dated) > len(KINDS) / 2, "most kinds of pages tell their version"


def test_a_stale_page_would_be_seen():
    assert VERSION.findall(files(1, 7)["d0/c0.md"]) == ["7", "7"]
