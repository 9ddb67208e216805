"""Reading usual frontmatter line by line gives what the YAML parser gives, or nothing."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from okf_catalog.format import yaml_fast, yaml_values

USUAL = """\
type: BigQuery Table
title: 'Orders: all of them'
description: "One row an order (since 2019), with taxes"
summary: What was ordered
  and when, by whom
note: 'quoted and
    continued'
tags: [sales, order data, v1.2, 007]
version: 1.10
empty:
status: stable
generated:
  by: human:ada
  at: 2026-05-28T14:30:00Z
verified:
- by: reference_agent/flash-2.5
  at: '2026-12-18T08:39:00+00:00'
- { by: human:x, at: 2026-05-28T14:30:00Z }
- { by: "human:y", at: '2026-05-28T14:30:00+00:00' }
- {by: '', note: "a: b # c"}
sources:
  - id: orders
    resource: https://example.com/a?b=c#d
    usage_count: 7
  - plain
usage_window: {from: 2026-01-01, to: 2026-12-31}
on: yes
"""
# Pieces that turn a line into something else for YAML.
PIECES = [
    "", " ", "  ", "\n", "\t", ":", ": ", " #", "#", "-", "- ", "'", '"', "\\", "{", "}", "[", "]", ",", ", ", "&a ", "*a",
    "!", "! ", "!!str ", "|", ">-", "?", "? ", "%", "@", "`", "~", "null", "true", "=", "<<", "<<: ", "a", "é", "0", ".5",
    "\u00a0", "\u0085", "\u2028", "\ufeff", "\u200b", "\ue000", "\U0001f600", "\0", "---", "--- ", "...", "key: ", "- k: v",
    "\r", "+", "0x1F", "0o7", ".inf", "1e3", "12:30", "x:y", " :", "http://x/y",
]  # fmt: skip


def same(text: str) -> bool:
    """True where the quick way answered; fails where its answer is not the parser's."""
    quick = yaml_fast.read(text)
    if quick is None:
        return False
    slow = yaml_values.compose(text)
    assert repr(quick) == repr((slow.value, slow.key_lines))
    assert typed(quick[0]) == typed(slow.value)
    assert slow.problems == []
    return True


def typed(value: object) -> object:
    """Which kind of text each scalar is: `Plain` equals the `str` of the same characters."""
    if isinstance(value, dict):
        return {key: typed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [typed(item) for item in value]
    return type(value), value


@st.composite
def mutants(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from([USUAL, *(line + "\n" for line in USUAL.splitlines())]))
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.sampled_from([0, 0, 0, 1, 2, 10])))
        text = text[:start] + draw(st.sampled_from(PIECES)) + text[end:]
    return text


@st.composite
def made_of_pieces(draw: st.DrawFn) -> str:
    lines = draw(st.lists(st.lists(st.sampled_from([*PIECES, "key", "key: ", "  "]), max_size=5), max_size=5))
    return "".join("".join(line) + "\n" for line in lines)


def test_the_usual_shape_is_read_quickly() -> None:
    assert same(USUAL)


@pytest.mark.parametrize("text", [
    "a: b: c\n", "a: b # c\n", "a: 'it''s'\n", 'a: "\\n"\n', "a: |\n  b\n", "a: b\n  # c\n", "a: b\n  c: d\n", "a: [b,\n  c]\n", "a: &x b\n", "a: *x\n",
    "a: !x b\n", "a: b\na: c\n", "? a\n: b\n", "- a\n", "a\n", "a: b\n\nc: d\n", "a:\n- b\n  c\n", "a:\n  - b\n - c\n",
    "a:\n  b: c\n   d: e\n", "a: [b, [c]]\n", "a: [b: c]\n", "a: {b: c, b: d}\n", "a: @b\n", "a:\tb\n", "a: b", "<<: {a: b}\n",
    "a:\n  - b: c\n    b: d\n", "a: b:\n", "a: [b, ]\n", "a: \u2028b\n", "\ufeffa: b\n",
])  # fmt: skip
def test_anything_else_is_left_to_the_parser(text: str) -> None:
    assert yaml_fast.read(text) is None


@settings(max_examples=1000, deadline=None)
@example("")
@example("\n")
@example("a:\n-\n")
@example("a:\n- b\n- c: d\n  e: f\ng:\n")
@example("a: [b:c, d/e:f]\n")
@given(mutants() | made_of_pieces())
def test_both_ways_agree(text: str) -> None:
    try:
        same(text)
    except yaml_values.YamlFailure as failure:
        raise AssertionError(f"only the quick way reads {text!r}") from failure
