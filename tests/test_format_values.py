"""Text of values, case folding, moments in time."""

from __future__ import annotations

import unicodedata
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from okf_catalog.format.values import (
    Plain,
    clock_instant,
    dumps,
    filled,
    fold,
    is_blank,
    parse_instant,
    search_fold,
    text_of,
    trim,
    utc_text,
)


@pytest.mark.parametrize(
    ("text", "utc", "kind"),
    [
        ("2027-01-31", "2027-01-31T00:00:00Z", "date"),
        ("2028-02-29", "2028-02-29T00:00:00Z", "date"),
        ("0001-01-01", "0001-01-01T00:00:00Z", "date"),
        ("9999-12-31", "9999-12-31T00:00:00Z", "date"),
        ("2027-01-31T10:20:30Z", "2027-01-31T10:20:30Z", "offset"),
        ("2027-01-31T10:20:30+00:00", "2027-01-31T10:20:30Z", "offset"),
        ("2027-01-31T10:20:30-00:00", "2027-01-31T10:20:30Z", "offset"),
        ("2027-01-31T00:20:30+02:00", "2027-01-30T22:20:30Z", "offset"),
        ("2027-12-31T20:20:30-05:30", "2028-01-01T01:50:30Z", "offset"),
        ("2027-01-31T10:20:30+0530", "2027-01-31T04:50:30Z", "offset"),
        ("2027-01-31T10:20:30+05", "2027-01-31T05:20:30Z", "offset"),
        ("2027-01-31T10:20Z", "2027-01-31T10:20:00Z", "offset"),
        ("2027-01-31t10:20:30z", "2027-01-31T10:20:30Z", "offset"),
        ("2027-01-31 10:20:30Z", "2027-01-31T10:20:30Z", "offset"),
        ("2027-01-31 10:20:30 +02:00", "2027-01-31T08:20:30Z", "offset"),
        ("2027-01-31T10:20:30.999Z", "2027-01-31T10:20:30Z", "offset"),
        ("2027-01-31T10:20:30,5+01:00", "2027-01-31T09:20:30Z", "offset"),
        ("2027-01-31T10:20:30.123456789123Z", "2027-01-31T10:20:30Z", "offset"),
        ("2027-06-30T23:59:60Z", "2027-06-30T23:59:59Z", "offset"),
        ("2027-01-31T10:20:30", "2027-01-31T10:20:30Z", "naive"),
        ("2027-01-31 10:20", "2027-01-31T10:20:00Z", "naive"),
        (" \t2027-01-31\n", "2027-01-31T00:00:00Z", "date"),
        ("9999-12-31T23:00:00-05:00", "9999-12-31T23:59:59Z", "offset"),
        ("0001-01-01T01:00:00+05:00", "0001-01-01T00:00:00Z", "offset"),
        ("0033-04-03T12:00:00Z", "0033-04-03T12:00:00Z", "offset"),
    ],
)
def test_instants(text: str, utc: str, kind: str) -> None:
    assert parse_instant(text) == (utc, kind)


@pytest.mark.parametrize(
    "text",
    [
        "", "soon", "2027", "2027-01", "2027-1-31", "27-01-31", "20270131", "2027-W01-1", "2027-031", "31.01.2027",
        "2027/01/31", "2026-02-29", "2027-02-30", "2027-13-01", "2027-00-10", "2027-01-00", "0000-01-01",
        "2027-01-31T", "2027-01-31T10", "2027-01-31T24:00:00Z", "2027-01-31T10:60:00Z", "2027-01-31T10:20:61Z",
        "2027-01-31T10:20:30+24:00", "2027-01-31T10:20:30+05:60", "2027-01-31T10:20:30+5", "2027-01-31T10:20:30 UTC",
        "2027-01-31T10:20:30Z later", "2027-01-31Z", "2027-01-31+02:00", "-2027-01-31", "+2027-01-31",
        "12027-01-31", "\u00a02027-01-31", "２０２７-01-31", "٢٠٢٧-01-31", "2027-01-31T10:20:30−05:00",
    ],
)  # fmt: skip
def test_what_is_no_instant(text: str) -> None:
    assert parse_instant(text) is None


OFFSETS = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29), timezones=OFFSETS))
def test_an_instant_is_the_same_moment_in_utc(moment: datetime) -> None:
    found = parse_instant(moment.isoformat(timespec="seconds"))
    assert found is not None
    expected = moment.astimezone(timezone.utc).replace(tzinfo=None, microsecond=0).isoformat() + "Z"
    assert found.utc == expected == utc_text(moment)


@given(st.text(max_size=30) | st.from_regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9:.+Zz-]{0,20})?", fullmatch=True))
def test_any_text_is_an_instant_or_none(text: str) -> None:
    found = parse_instant(text)
    if found is not None:
        assert parse_instant(found.utc) == (found.utc, "offset")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2027-01-31", "2027-01-31T23:59:59Z"),
        ("2027-01-31T12:00:00+02:00", "2027-01-31T10:00:00Z"),
        ("2027-01-31T12:00:00", "2027-01-31T12:00:00Z"),
        ("tomorrow", None),
        ("2027-02-30", None),
    ],
)
def test_the_clock_takes_a_date_as_its_end(text: str, expected: str | None) -> None:
    assert clock_instant(text) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Straße", "STRASSE"),
        ("ﬁnance", "FINANCE"),
        ("İstanbul", "i\u0307stanbul"),
        ("ΟΔΟΣ", "οδος"),
        ("Ångström", "a\u030angstro\u0308m"),
        ("CAFÉ", "cafe\u0301"),
        ("\u1e9e", "ss"),
        ("한글", unicodedata.normalize("NFD", "한글")),
        ("ǅ", "ǆ"),
        ("Ⅷ", "ⅷ"),
    ],
)
def test_folding_makes_equal(one: str, other: str) -> None:
    assert fold(one) == fold(other)


@pytest.mark.parametrize(("one", "other"), [("é", "e"), ("１", "1"), ("漢", "汉"), ("ı", "i"), ("²", "2"), ("a b", "ab")])
def test_folding_keeps_apart(one: str, other: str) -> None:
    assert fold(one) != fold(other)


@given(st.text(max_size=20))
def test_folded_text_is_nfc(text: str) -> None:
    folded = fold(text)
    assert unicodedata.is_normalized("NFC", folded)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  One\n\n two\tTHREE\r\n", "one two three"),
        ("a\u00a0b\u2003c\u3000d\u2028e\x85f\x1cg\vh\fi", "a b c d e f g h i"),
        ("a\u200bb", "a\u200bb"),  # a zero-width space is none
        ("a\0b", "a\ufffdb"),
        ("\n\n", ""),
        ("注文\n  表", "注文 表"),
        ("a\n\n\n\nb", "a b"),
        (" \n a \n b \n ", "a b"),
    ],
)
def test_search_fold(text: str, expected: str) -> None:
    assert search_fold(text) == expected


SPACED = st.lists(
    st.sampled_from([*" \t\n\r\v\f\0\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u200a\u200b\u2028\u2029\u202f\u205f\u3000"])
    | st.text(max_size=3),
    max_size=12,
).map("".join)


@settings(max_examples=800)
@given(SPACED)
def test_search_fold_is_the_folded_words_with_single_spaces(text: str) -> None:
    assert search_fold(text) == " ".join(fold(text).split()).replace("\0", "\ufffd")


def test_every_space_separates_words() -> None:
    spaces = [chr(code) for code in range(0x110000) if chr(code).isspace()]
    assert len(spaces) > 20
    assert {search_fold(f"a{space}b") for space in spaces} == {"a b"}


@pytest.mark.parametrize("text", ["", " ", "  ", " \t", "\t\n\v\f\r\0", Plain("false"), Plain("False")])
def test_blank_text(text: str) -> None:
    assert is_blank(text)
    assert filled(text) is None


@pytest.mark.parametrize("value", [None, [], {}])
def test_blank_values(value: Any) -> None:
    assert is_blank(value)
    assert filled(value) is None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("false", "false"),  # quoted
        (Plain("true"), "true"),
        (Plain("0"), "0"),
        (Plain("0.0"), "0.0"),
        ("\u00a0", "\u00a0"),
        (" x ", " x "),
        ([None], "[null]"),
        ({"a": Plain("1.10")}, '{"a":1.1}'),
    ],
)
def test_filled_values_keep_their_text(value: Any, text: str) -> None:
    assert not is_blank(value)
    assert filled(value) == text == text_of(value)


def test_text_of_plain_scalars_is_ordinary_text() -> None:
    assert type(text_of(Plain("7"))) is str


def test_trimming_keeps_other_spaces() -> None:
    assert trim("\0\t\u00a0a\u2003 \n") == "\u00a0a\u2003"


def test_json_text_is_compact_and_readable() -> None:
    value = {"é": [Plain("1"), None, {"a/b": 'x"\n'}], "e": [], "f": Plain(".nan")}
    assert dumps(value) == '{"é":[1,null,{"a/b":"x\\"\\n"}],"e":[],"f":null}'
