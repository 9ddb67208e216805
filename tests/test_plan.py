"""What changed between two listings, and the signatures they are kept as."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from okf_catalog.bundle import UNSETTLED, Stamp
from okf_catalog.catalog import signature
from okf_catalog.catalog.plan import Change, diff, pair_moves, removes_too_much


def listing(text: str) -> list[tuple[str, Stamp]]:
    """`a1 b2` as names with stamps."""
    return [(word[:-1], (int(word[-1]), 0, 0, 0)) for word in text.split()]


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        ("", "", ""),
        ("a1 b1", "a1 b1", ""),
        ("", "a1 b1", "+a +b"),
        ("a1 b1", "", "-a -b"),
        ("a1 b1 c1", "a1 b2 c1", "~b"),
        ("b1", "a1 b1 c1", "+a +c"),
        ("a1 b1 c1", "b1", "-a -c"),
        ("a1 c1 e1", "b1 c2 d1", "-a +b ~c +d -e"),
        ("a1", "b1", "-a +b"),
        ("B1 a1", "B1 a2 é1", "~a +é"),
    ],
)
def test_diff(old: str, new: str, changes: str) -> None:
    marks = {"added": "+", "changed": "~", "removed": "-"}
    assert " ".join(marks[kind] + name for kind, name in diff(listing(old), listing(new))) == changes


STAMPS = st.tuples(*[st.integers(-(2**63), 2**63 - 1)] * 4)
LISTINGS = st.dictionaries(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=4), STAMPS, max_size=8)


@given(LISTINGS, LISTINGS)
def test_a_diff_leads_from_the_old_listing_to_the_new_one(old: dict[str, Stamp], new: dict[str, Stamp]) -> None:
    changes = list(diff(sorted(old.items()), sorted(new.items())))
    assert [change.name for change in changes] == sorted({*old, *new} - {name for name in old if old[name] == new.get(name)})
    result = dict(old)
    for kind, name in changes:
        if kind == "removed":
            del result[name]
        else:
            assert (kind == "added") == (name not in old)
            result[name] = new[name]
    assert result == new


@pytest.mark.parametrize(
    ("removed", "added", "moves"),
    [
        ("", "", ""),
        ("a.md=1", "b.md=1", "b.md<a.md"),
        ("a.md=1", "b.md=2", ""),
        ("a.md=1", "", ""),
        ("", "b.md=1", ""),
        ("a.md=1 b.md=2", "c.md=2 d.md=1", "c.md<b.md d.md<a.md"),
        ("a.md=1", "b.md=1 c.md=1", "b.md<a.md"),
        ("a.md=1 b.md=1", "c.md=1", "c.md<a.md"),
        ("a.md=1 b.md=1", "x/b.md=1", "x/b.md<b.md"),
        ("a.md=1 b.md=1", "x/a.md=1 x/b.md=1", "x/a.md<a.md x/b.md<b.md"),
        ("x/b.md=1 y/a.md=1", "a.md=1 z.md=1", "a.md<y/a.md z.md<x/b.md"),
        ("x/a.md=1", "a.md=1 y/a.md=1", "a.md<x/a.md"),
        ("a.md=1", "a.md=1", "a.md<a.md"),
    ],
)
def test_moves(removed: str, added: str, moves: str) -> None:
    def pairs(text: str) -> list[tuple[str, str]]:
        return [(word[:-2], word[-1]) for word in text.split()]

    found = pair_moves(pairs(removed), pairs(added))
    assert " ".join(f"{new}<{old}" for new, old in sorted(found.items())) == moves


FILES = st.dictionaries(st.sampled_from([f"{d}{n}.md" for d in ("", "x/", "y/") for n in "abc"]), st.sampled_from("12"))


@given(FILES, FILES)
def test_as_many_moves_as_the_contents_allow(removed: dict[str, str], added: dict[str, str]) -> None:
    moves = pair_moves(removed.items(), added.items())
    assert len(set(moves.values())) == len(moves)
    assert all(removed[old] == added[new] for new, old in moves.items())
    for digest in "12":
        count = min(list(removed.values()).count(digest), list(added.values()).count(digest))
        assert sum(added[new] == digest for new in moves) == count


@pytest.mark.parametrize(
    ("total", "removed", "too_much"),
    [(19, 19, False), (20, 10, False), (20, 11, True), (20, 20, True), (1000, 500, False), (1001, 501, True), (0, 0, False)],
)
def test_what_looks_like_an_accident(total: int, removed: int, too_much: bool) -> None:
    assert removes_too_much(total, removed) is too_much


NAMES = st.binary(min_size=1, max_size=6).filter(lambda name: b"\0" not in name and b"/" not in name).map(
    lambda name: name.decode("utf-8", "surrogateescape")
)


@given(st.dictionaries(NAMES, STAMPS, max_size=6))
def test_a_signature_gives_back_names_and_stamps(files: dict[str, Stamp]) -> None:
    rows = sorted(files.items())
    blob = signature.encode([name for name, _ in rows], [number for _, stamp in rows for number in stamp])
    assert signature.decode(blob) == rows


@given(st.dictionaries(NAMES, STAMPS, max_size=4), st.dictionaries(NAMES, STAMPS, max_size=4))
def test_only_equal_listings_have_equal_signatures(one: dict[str, Stamp], other: dict[str, Stamp]) -> None:
    def encoded(files: dict[str, Stamp]) -> bytes:
        return signature.encode(list(files), [number for stamp in files.values() for number in stamp])

    assert (encoded(one) == encoded(other)) == (list(one.items()) == list(other.items()))


@given(st.lists(NAMES, min_size=1, max_size=3).map("/".join))
def test_every_directory_has_a_key_of_its_own(path: str) -> None:
    key = signature.key_of(path)
    key.encode("utf-8")
    assert signature.directory_of(key) == path


@pytest.mark.parametrize(
    ("stamps", "unsettled", "kept"),
    [
        pytest.param([(10, 10, 5, 1), (20, 20, 5, 2)], set(), [True, True], id="both old"),
        pytest.param([(100, 10, 5, 1), (20, 20, 5, 2)], set(), [False, True], id="written as the sync began"),
        pytest.param([(10, 100, 5, 1), (99, 99, 5, 2)], set(), [False, True], id="renamed as the sync began"),
        pytest.param([(10, 10, 5, 1), (2**62, 20, 5, 2)], set(), [True, False], id="from the future"),
        pytest.param([(10, 10, 5, 1), (20, 20, 5, 2)], {"b"}, [True, False], id="changed while it was read"),
    ],
)
def test_stamps_that_could_hide_a_change_are_not_kept(
    stamps: list[Stamp], unsettled: set[str], kept: list[bool]
) -> None:
    flat = [number for stamp in stamps for number in stamp]
    found = signature.settle(flat, ["a", "b"], 100, unsettled)
    assert found == [number for stamp, keep in zip(stamps, kept, strict=True) for number in (stamp if keep else UNSETTLED)]
    assert flat == [number for stamp in stamps for number in stamp]


def test_a_change_reads_as_one() -> None:
    assert next(diff([], listing("a1"))) == Change("added", "a")
