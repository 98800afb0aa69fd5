"""Text of data sets made visible, numbers as people read them, and places on axes."""

import math
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.report.html.charts import Scale, linear, logarithmic
from maxmargin.report.html.text import (
    MAX_TITLE_LENGTH,
    count,
    number,
    percent,
    power,
    seconds,
    shortened,
    visible,
)

ANY_TEXT = st.text(st.characters(codec=None))


@given(ANY_TEXT)
def test_nothing_invisible_is_left(text):
    shown = visible(text)
    assert not any(unicodedata.category(c) in ("Cc", "Cf", "Cn", "Cs", "Co", "Zl", "Zp") for c in shown)
    shown.encode("utf-8")  # half surrogates are gone


@given(st.text(st.characters(categories=["L", "N", "P", "Zs"])))
def test_text_that_can_be_seen_stays_as_it_is(text):
    assert visible(text) == text


def test_marks_of_direction_and_controls_are_written_out():
    assert visible("a\u202eb\x00\n") == r"a\u202eb\x00\n"


@given(ANY_TEXT, st.integers(4, 60))
def test_shortened_text_is_short_and_its_title_bounded(text, longest):
    shown, whole = shortened(text, longest)
    assert len(shown) <= longest
    assert whole is None or longest < len(whole) <= MAX_TITLE_LENGTH + 2
    assert whole is not None or shown == visible(text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (32561, "32,561"),
        (-5, "−5"),
        (103.5, "103.5"),
        (349.5, "349.5"),
        (0.85134, "0.8513"),
        (1.2e-5, "1.20 × 10⁻⁵"),
        (1e-7, "10⁻⁷"),
        (-2.5e9 + 0.5, "−2.50 × 10⁹"),
        (math.nan, "–"),
        (None, "–"),
        (math.inf, "∞"),
    ],
)
def test_numbers(value, text):
    assert number(value) == text


def test_digits_before_the_point_are_never_lost():
    assert number(103.5, 2) == "100"
    assert number(349.6, 2) == "350"
    assert seconds(0.3495) == "350 ms"


@given(st.floats(min_value=-1e12, max_value=1e12))
def test_a_number_reads_back_to_its_digits(value):
    text = number(value, 6).replace("−", "-").replace(",", "").replace(" × 10", "e")
    if text.startswith("10") and "e" not in text and any(c in "⁰¹²³⁴⁵⁶⁷⁸⁹⁻" for c in text):
        text = "1e" + text[2:]
    text = text.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-"))
    assert float(text) == pytest.approx(value, rel=6e-3)


def test_shares_lengths_of_time_and_counts():
    assert percent(0.851) == "85.1\u00a0%"
    assert percent(0.99997) == "99.997\u00a0%"  # not all
    assert percent(1.0) == "100.0\u00a0%"
    assert [seconds(v) for v in (0.0123, 1.5, 150, 9000)] == ["12 ms", "1.5 s", "2.5 min", "2.5 h"]
    assert (count(1, "row"), count(1200, "row")) == ("1 row", "1,200 rows")
    assert power(3.4e-4) == "3.4 × 10⁻⁴"


@given(
    st.lists(st.floats(1e-12, 1e12), min_size=1, max_size=20),
    st.booleans(),
)
def test_every_value_has_a_place_and_ticks_are_few_and_inside(values, log):
    scale = logarithmic(values, 50, 386) if log else linear(values, 50, 386)
    assert all(50 <= scale(v) <= 386 for v in values)
    ordered = sorted(values)
    assert sorted(scale(v) for v in values) == [scale(v) for v in ordered]
    ticks = scale.ticks(6)
    assert len(ticks) <= 8
    assert all(50 - 1e-6 <= scale(v) <= 386 + 1e-6 for v, _ in ticks)
    assert all(scale.low * (1 - 1e-6) - 1e-9 <= v <= scale.high * (1 + 1e-6) + 1e-9 for v, _ in ticks)


def test_ticks_are_round_numbers():
    assert [text for _, text in Scale(0.0, 1.0, 0, 1).ticks()] == ["0", "0.2", "0.4", "0.6", "0.8", "1"]
    assert [text for _, text in Scale(1.0, 60.0, 0, 1, log=True).ticks()] == ["1", "2", "5", "10", "20", "50"]
    assert [text for _, text in Scale(1e-7, 1.0, 0, 1, log=True).ticks()] == ["10⁻⁶", "10⁻⁴", "0.01", "1"]
