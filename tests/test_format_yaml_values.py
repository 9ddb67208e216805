"""Frontmatter YAML to plain values, bounded in size, depth and expansion."""

from __future__ import annotations

import json
import math
import string
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from okf_catalog.format.values import Plain, json_value
from okf_catalog.format.yaml_values import (
    ALIAS_CHARACTERS,
    ALIAS_NODES,
    MAX_DEPTH,
    FastComposer,
    Loaded,
    PurePythonComposer,
    YamlFailure,
    compose,
    load,
)


def value(text: str) -> Any:
    """What `x: text` comes to."""
    return load(f"x: {text}\n").value["x"]


def refusal(text: str) -> YamlFailure:
    with pytest.raises(YamlFailure) as caught:
        load(text)
    return caught.value


def outcome(text: str, composer: Any) -> Loaded | str:
    """The document with the types of its scalars, or the code of its failure."""
    try:
        found = compose(text, composer)
    except YamlFailure as failure:
        return failure.code
    return found._replace(value=repr(typed(found.value)))


def typed(item: Any) -> Any:
    """`Plain` text as a pair, so that it does not equal quoted text."""
    if isinstance(item, dict):
        return {key: typed(part) for key, part in item.items()}
    if isinstance(item, list):
        return [typed(part) for part in item]
    return ("plain", str(item)) if type(item) is Plain else item


@pytest.mark.parametrize(
    ("text", "expected", "as_json"),
    [
        # Text stays as written, whatever YAML 1.1 would make of it.
        ("no", "no", "no"),
        ("yes", "yes", "yes"),
        ("on", "on", "on"),
        ("y", "y", "y"),
        ("12:30", "12:30", "12:30"),
        ("12:30:00", "12:30:00", "12:30:00"),
        ("1_000", "1_000", "1_000"),
        ("0b101", "0b101", "0b101"),
        ("2026-01-01", "2026-01-01", "2026-01-01"),
        ("2026-02-30", "2026-02-30", "2026-02-30"),
        ("2026-01-01T10:00:00Z", "2026-01-01T10:00:00Z", "2026-01-01T10:00:00Z"),
        ("1.2.3", "1.2.3", "1.2.3"),
        ("=", "=", "="),
        ("<<", "<<", "<<"),
        (":symbol", ":symbol", ":symbol"),
        ("a:b", "a:b", "a:b"),
        ("-a", "-a", "-a"),
        ("tRue", "tRue", "tRue"),
        ("nULL", "nULL", "nULL"),
        ("0x", "0x", "0x"),
        ("1e", "1e", "1e"),
        (".", ".", "."),
        ("+", "+", "+"),
        # Numbers and booleans of YAML 1.2's core schema: the text as written, in JSON the value.
        ("true", "true", True),
        ("False", "False", False),
        ("TRUE", "TRUE", True),
        ("0", "0", 0),
        ("-17", "-17", -17),
        ("+1", "+1", 1),
        ("007", "007", 7),
        ("1.10", "1.10", 1.1),
        ("1.", "1.", 1.0),
        (".5", ".5", 0.5),
        ("1e3", "1e3", 1000.0),
        ("0o17", "0o17", 15),
        ("0xFf", "0xFf", 255),
        # Null.
        ("", None, None),
        ("~", None, None),
        ("null", None, None),
        ("Null", None, None),
        ("NULL", None, None),
        # Quoted and block text is text.
        ('"no"', "no", "no"),
        ("'7'", "7", "7"),
        ('"~"', "~", "~"),
        ("''", "", ""),
        ("'it''s'", "it's", "it's"),
        (r'"a\tb\u00e9"', "a\tbé", "a\tbé"),
        ("|\n  7\n", "7\n", "7\n"),
        ("|-\n  one\n  two\n", "one\ntwo", "one\ntwo"),
        (">\n  one\n  two\n", "one two\n", "one two\n"),
        ("one\n  two", "one two", "one two"),
        # Tags: core ones type as they say, local ones are dropped.
        ("!!str 7", "7", "7"),
        ('!!int "7"', "7", 7),
        ("!!int x", "x", "x"),
        ("!!float 7", "7", 7),
        ("!!bool true", "true", True),
        ("!!null ''", None, None),
        ("!!binary aGk=", "aGk=", "aGk="),
        ("!!timestamp 2026-01-01", "2026-01-01", "2026-01-01"),
        ("!local x", "x", "x"),
    ],
)  # fmt: skip
def test_scalars_as_written(text: str, expected: str | None, as_json: Any) -> None:
    found = value(text)
    assert found == expected
    assert json_value(found) == as_json
    assert type(json_value(found)) is type(as_json)


@pytest.mark.parametrize(
    ("text", "as_json"),
    [
        (".nan", None),
        (".NaN", None),
        (".inf", None),
        ("-.Inf", None),
        ("+.INF", None),
        ("9223372036854775807", 2**63 - 1),
        ("9223372036854775808", "9223372036854775808"),
        ("-9223372036854775808", -(2**63)),
        ("-9223372036854775809", "-9223372036854775809"),
        ("0x7fffffffffffffff", 2**63 - 1),
        ("0x8000000000000000", "0x8000000000000000"),
        ("0o777777777777777777777", 2**63 - 1),
        ("0o1000000000000000000000", "0o1000000000000000000000"),
        ("1" * 5000, "1" * 5000),  # Python refuses to read so many digits
        ("0" * 40 + "7", "0" * 40 + "7"),
        ("1e400", "1e400"),
        ("-1e400", "-1e400"),
        ("1e-400", 0.0),
        ("1" * 400 + ".5", "1" * 400 + ".5"),
    ],
)
def test_json_is_always_valid(text: str, as_json: Any) -> None:
    found = json_value(value(text))
    assert found == as_json
    assert type(found) is type(as_json)
    json.loads(json.dumps(found, allow_nan=False))


def test_the_last_of_two_equal_keys_wins_and_both_are_told() -> None:
    found = load("a: 1\nb: 2\na: 3\n")
    assert found.value == {"a": "3", "b": "2"}
    assert [(p.check, p.line) for p in found.problems] == [("duplicate_key", 2)]
    assert found.key_lines == {"a": 2, "b": 1}


def test_equal_keys_below_are_told_too() -> None:
    found = load("x:\n  - a: 1\n    a: 2\n")
    assert found.value == {"x": [{"a": "2"}]}
    assert [(p.check, p.line) for p in found.problems] == [("duplicate_key", 2)]


@pytest.mark.parametrize("spelled", ["'a': 1\na: 2\n", '"a": 1\na: 2\n', "? a\n: 1\na: 2\n"])
def test_a_quoted_key_equals_a_plain_one(spelled: str) -> None:
    found = load(spelled)
    assert found.value == {"a": "2"}
    assert len(found.problems) == 1


def test_keys_are_text_as_written() -> None:
    text = "1: a\n01: b\ntrue: c\n~: d\n2026-01-01: e\n1.0: f\n'': g\né漢: i\n"
    assert list(load(text).value) == ["1", "01", "true", "~", "2026-01-01", "1.0", "", "é漢"]


@pytest.mark.parametrize("text", ["? [a]\n: b\n", "? {a: b}\n: c\n", "{[a]: b}\n"])
def test_a_key_that_is_no_scalar_is_refused(text: str) -> None:
    assert refusal(text).code == "invalid_yaml"


def test_merge_keys_fill_in_what_is_missing() -> None:
    text = "base: &b {x: 1, y: 2}\nmore: &m {y: 5, z: 6}\nuse:\n  y: 3\n  <<: [*b, *m]\n"
    assert load(text).value["use"] == {"y": "3", "x": "1", "z": "6"}


def test_a_merge_key_at_the_top() -> None:
    assert load("<<: {type: T, title: a}\ntitle: b\n").value == {"title": "b", "type": "T"}


def test_a_merge_key_without_a_mapping_is_a_key() -> None:
    assert load("<<: text\n").value == {"<<": "text"}
    assert load("'<<': {a: 1}\n").value == {"<<": {"a": "1"}}


def test_aliases_are_resolved() -> None:
    found = load("a: &x [1, {b: c}]\nd: *x\ne: &s text\nf: *s\n").value
    assert found["d"] == ["1", {"b": "c"}]
    assert found["f"] == "text"


def test_an_alias_bomb_of_nodes_is_refused() -> None:
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    found = refusal("\n".join(rows) + "\n")
    assert found.code == "yaml_limits"
    assert "alias" in found.message


def test_an_alias_bomb_of_text_is_refused() -> None:
    long = "x" * 10_000
    many = ", ".join(["*a"] * (ALIAS_CHARACTERS // len(long) + 10))
    found = refusal(f"a: &a {long}\nb: [{many}]\n")
    assert found.code == "yaml_limits"
    assert "alias" in found.message


def test_a_bomb_in_keys_is_refused() -> None:
    key = "k" * 1000  # the longest that YAML allows is 1024
    many = ", ".join(["*a"] * (ALIAS_CHARACTERS // len(key) + 100))
    assert refusal(f"a: &a {{{key}: 1}}\nb: [{many}]\n").code == "yaml_limits"


def test_some_repetition_is_fine() -> None:
    many = ", ".join(["*a"] * (ALIAS_NODES // 10))
    assert len(load(f"a: &a [1, 2, 3]\nb: [{many}]\n").value["b"]) == ALIAS_NODES // 10


def test_a_long_document_without_aliases_is_fine() -> None:
    assert len(load("a: [" + "1," * 100_000 + "]\n").value["a"]) == 100_000


@pytest.mark.parametrize("text", ["a: &x [*x]\n", "a: &x {b: *x}\n", "&x a: *x\n", "a: &x\n  <<: *x\n"])
def test_recursion_is_refused_or_resolved(text: str) -> None:
    try:
        found = load(text).value
    except YamlFailure as failure:
        assert failure.code in ("invalid_yaml", "yaml_limits")
    else:
        json.dumps(json_value(found))


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ("{a: ", "}")])
def test_depth(opening: str, closing: str) -> None:
    fits = MAX_DEPTH - 1
    load("x: " + opening * fits + closing * fits + "\n")
    assert refusal("x: " + opening * (fits + 1) + closing * (fits + 1) + "\n").code == "yaml_limits"


@pytest.mark.parametrize(
    "text",
    ["x: " + "[" * 100_000, "x: " + "{a: " * 50_000, "- " * 100_000 + "a", "\n".join("  " * n + "a:" for n in range(3000))],
    ids=["brackets", "braces", "dashes", "indentation"],
)
@pytest.mark.parametrize("composer", [FastComposer, PurePythonComposer])
def test_depth_without_end_is_no_crash(text: str, composer: Any) -> None:
    if composer is PurePythonComposer:
        text = text[:12_000]  # 100 levels of indentation and more
    with pytest.raises(YamlFailure):
        compose(text, composer)


@pytest.mark.parametrize(
    "text",
    [
        "x: !!python/object/apply:os.system [id]\n",
        "x: !!python/name:os.system\n",
        "x: !!python/none\n",
        "!!python/object:x {a: b}\n",
        "x: !ruby/object:Gem::Specification {}\n",
        "x: !ruby/sym a\n",
        "x: !!set {a, b}\n",
        "x: !!omap [a: 1]\n",
        "x: !<tag:example.org,2026:thing> a\n",
        "%TAG ! tag:example.org,2026:\n---\nx: !thing a\n",
        "x: [1, !!python/tuple [2]]\n",
    ],
)
def test_tags_that_ask_for_an_object_are_refused(text: str) -> None:
    found = refusal(text)
    assert found.code == "invalid_yaml"
    assert "object" in found.message
    assert found.line is not None


@pytest.mark.parametrize("text", ["x: !note text\n", "x: !note [a]\n", "x: !note {a: b}\n"])
def test_a_local_tag_is_dropped_with_a_remark(text: str) -> None:
    found = load(text)
    assert found.value["x"] in ("text", ["a"], {"a": "b"})
    assert [(p.check, p.line) for p in found.problems] == [("yaml_tag", 0)]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a: b: c\n", id="a colon in a value"),
        pytest.param("a: @b\n", id="at sign"),
        pytest.param("a: `b`\n", id="backtick"),
        pytest.param("a: %b\n", id="per cent"),
        pytest.param("a:\n\tb: c\n", id="tab as indentation"),
        pytest.param("a: *b\n", id="unknown alias"),
        pytest.param("a: [b\n", id="open bracket"),
        pytest.param("a: 'b\n", id="open quote"),
        pytest.param('a: "\\q"\n', id="unknown escape"),
        pytest.param("a: b\n c: d\n", id="wrong indentation"),
        pytest.param("a: b\n--- \nc: d\n", id="two documents"),
        pytest.param("a: b\n...\nc: d\n", id="two documents by dots"),
        pytest.param("a: x\x01y\n", id="control character"),
        pytest.param("a: x\ufffey\n", id="no character"),
    ],
)
def test_what_is_no_yaml(text: str) -> None:
    found = refusal(text)
    assert found.code == "invalid_yaml"
    assert found.message
    assert found.line is not None


def test_the_place_of_a_character_that_is_not_allowed() -> None:
    found = refusal("a: 1\nb: é\x07\n")
    assert (found.line, found.column) == (1, 4)
    assert "U+0007" in found.message


DOCUMENTS = [
    "",
    "# remark\n",
    "a: 1\n",
    "a: no\nb: '007'\nc: 1.10\nd: 12:30\ne: ~\nf:\n",
    "a: value\t\nb:\ttext\nc: one\ttwo\n",
    "a: [b, 'c', \"d\", 1]\n",
    "a: {b: c, 'd': 1, e: }\n",
    "a:\n- b\n- - c\n  - d\n- e: f\n  g: h\n",
    "a: |\n  one\n\n  two\nb: >-\n  three\n  four\n\n  five\n",
    "a: |\t\n  one\nb: ># remark\n  two\nc: |2-\n   three\nd: |+\n  four\n\n",
    "a: one\n  two\n\n  three\n",
    'a: "one\\\n  two\\x41\\u00e9\\U0001F600"\n',
    "a: 'one\n\n  two'\n",
    "a: &x [1]\nb: *x\n",
    "a: &x [*x]\n",
    "<<: {a: 1}\nb: 2\n",
    "a: 1\na: 2\n",
    "a: !note b\nc: !!int '7'\nd: !!python/x y\n",
    "a: !!set {b}\n",
    "? a\n: b\n? [c]\n: d\n",
    ": a\n",
    "- a\n- b\n",
    "text\n",
    "a: b: c\n",
    "a:\n\tb: c\n",
    "a: 1\n---\nb: 2\n",
    "a: 1\n...\n",
    "---\na: 1\n",
    "%YAML 1.1\n---\na: 1\n",
    "a: é漢😀\u00a0x\nb: \u2028 c\n",
    "\ufeffa: 1\nb: 2\n",
    "a: 1\n\ufeffb: 2\n",
    "a: x\x01\n",
    "a: x\x85y\n",
    'a: "\\ud800"\n',
    'a: "\\uD83D\\uDE00"\n',
    "a: @b\n",
    "a: [b\n",
    "a: 'b\n",
    "a: *b\n",
    "a: " + "[" * 150 + "]" * 150 + "\n",
]


@pytest.mark.parametrize("text", DOCUMENTS)
def test_the_python_parser_gives_the_same_as_the_c_one(text: str) -> None:
    assert outcome(text, PurePythonComposer) == outcome(text, FastComposer)


@pytest.mark.parametrize("text", DOCUMENTS)
def test_loading_gives_the_same_as_parsing(text: str) -> None:
    try:
        found: Any = load(text)
        found = found._replace(value=repr(typed(found.value)))
    except YamlFailure as failure:
        found = failure.code
    assert found == outcome(text, FastComposer)


SCALARS = st.text(string.ascii_letters + string.digits + " -:#.,'\"é漢\t", max_size=12).map(
    lambda text: text.strip()
) | st.sampled_from(["no", "007", "~", "1.5", "true", "2026-01-01", "'q'", '"q"', "|\n    b", "- x", "[a, b]", "{a: b}", "!note x", "&a x", "*a"])
KEYS = st.text(string.ascii_letters + string.digits + "_- é", min_size=1, max_size=8)


@settings(max_examples=600)
@given(st.lists(st.tuples(KEYS, SCALARS, st.sampled_from(["", "\n  - ", "\n  k: ", "\n- "])), max_size=6))
def test_the_python_parser_gives_the_same_on_any_mapping(pairs: list[tuple[str, str, str]]) -> None:
    text = "".join(f"{key}: {between}{item}\n" for key, item, between in pairs)
    assert outcome(text, PurePythonComposer) == outcome(text, FastComposer)


PLAIN_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=300)
@given(st.dictionaries(st.text(max_size=6), PLAIN_JSON, max_size=4))
def test_json_written_as_yaml_is_read_back(data: dict[str, Any]) -> None:
    """Every JSON document is YAML; what JSON cannot hold is null, what 64 bits cannot hold is text."""

    def expected(item: Any) -> Any:
        if isinstance(item, dict):
            return {key: expected(part) for key, part in item.items()}
        if isinstance(item, list):
            return [expected(part) for part in item]
        if type(item) is int and not -(2**63) <= item < 2**63:
            return str(item)
        if type(item) is float and not math.isfinite(item):
            return None
        return item

    text = json.dumps(data).replace("-Infinity", "-.inf").replace("Infinity", ".inf").replace("NaN", ".nan")
    if "\\ud" in text or "nfinity" in str(data) or "NaN" in str(data):
        return  # surrogate escapes are refused; words like these inside text were replaced too
    assert json_value(load(text + "\n").value) == expected(data)
