"""Labels without definition and definitions without use, by CommonMark's rules."""

from __future__ import annotations

import pytest

from okf_catalog.format.references import loose, may_hold


@pytest.mark.parametrize(
    ("body", "undefined", "unused"),
    [
        ("[text][label]\n\n[label]: a.md\n", [], []),
        ("[text][Label  X]\n\n[label x]: a.md\n", [], []),
        ("[label][]\n\n[label]: a.md\n", [], []),
        ("a shortcut: [label]\n\n[label]: a.md\n", [], []),
        ("![pic][label]\n\n[label]: a.png\n", [], []),
        ("[text][ghost]\n", [("ghost", 1)], []),
        ("one\n[ghost][] and [again][Ghost]\n", [("ghost", 2)], []),
        ("a [**bold** text][ghost]\n", [("ghost", 1)], []),
        ("text\n\n[label]: a.md\n", [], [("label", 3)]),
        ("> quoted\n>\n> [label]: a.md\n", [], [("label", 3)]),
        ("[a]: a.md\n[b]: b.md\n\n[b]\n", [], [("a", 1)]),
        ("text\n[label]: not a definition\n", [], []),  # the middle of a paragraph
        ("`[a][b]` and \\[c][d]\n", [], []),
        ("```\n[a][b]\n[c]: d.md\n```\n", [], []),
        ("    [a][b]\n\n    [c]: d.md\n", [], []),
        ("<!-- [a][b] -->\n", [], []),
        ("a claim[^1][^2]\n\n[^1]: one\n[^2]: two\n", [], []),
        ("a claim[^1][^2]\n", [], []),
        ("[x](y.md)[^1]\n\n[^1]: note\n", [], []),
        ("[text][größe]\n\n[GRÖSSE]: a.md\n", [], []),
        ("", [], []),
    ],
)
def test_loose(body, undefined, unused):
    assert loose(body) == (undefined, unused)
    assert may_hold(body) or (undefined, unused) == ([], [])


@pytest.mark.parametrize("body", ["[a](b.md) and a note[^1]\n\n[^1]: text with [c](d.md)\n", "plain", "a [b] c"])
def test_most_bodies_are_not_looked_at(body):
    assert not may_hold(body)


def test_a_hostile_body_is_read_quickly():
    for body in ("[" * 20_000 + "][a]", "[a]" * 20_000, "[a][" * 20_000, "]:[" * 20_000):
        loose(body)
