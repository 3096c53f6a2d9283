"""Printed digits: as many as the interval supports, and never a number that the interval excludes."""

import math
import random
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nobounds as nb
from nobounds.kinds.kind import Kind
from nobounds.release.digits import said, said_ends, said_reach

NUMBERS = st.floats(-1e12, 1e12) | st.floats(-1, 1) | st.integers(-(10**12), 10**12)


def read(text: str) -> float:
    """The number that a printed text denotes."""
    return float(text.replace(",", ""))


@st.composite
def answers(draw):
    """A number and an interval around it, from a point to far wider than the number."""
    value = draw(NUMBERS)
    below, above = draw(st.floats(0, 1e9) | st.floats(0, 1)), draw(st.floats(0, 1e9) | st.floats(0, 1))
    return value, (min(value - below, value), max(value + above, value))


@given(answers())
def test_the_printed_number_lies_in_its_interval(answer):
    """Rounding moves it by a quarter of the half width at most, and the printed ends contain the interval."""
    value, bar = answer
    low, high = map(read, said_ends(bar))
    assert bar[0] <= read(said(value, bar)) <= bar[1]
    assert low <= bar[0] and bar[1] <= high
    slack = 1e-9 * abs(value)
    assert abs(read(said(value, bar)) - value) <= (bar[1] - bar[0]) / 8 + slack
    assert high - low <= (bar[1] - bar[0]) * 1.7 + slack
    reach = said_reach(value, bar)
    if reach is not None:
        assert value - read(reach) <= bar[0] + slack and bar[1] <= value + read(reach) + slack


@given(NUMBERS, st.none() | st.floats(0, 1e15))
def test_printing_keeps_the_order_of_magnitude(value, half):
    """However wide the interval is: a number is printed as one between its half and its double, of the same sign."""
    text = said(value, None if half is None else (value - half, value + half))
    assert min(value / 2, value * 2) <= read(text) <= max(value / 2, value * 2)


@given(st.floats(-1e14, 1e14))
def test_without_an_interval_six_digits_are_printed(value):
    """And all before the decimal point; of a large number with at most 14 digits thousandths as well."""
    text = said(value)
    assert read(text) == (value if value == int(value) else pytest.approx(value, rel=1e-5))
    assert abs(read(text) - value) <= 0.5 * (1 + 1e-9)
    digits = text.replace(",", "").replace(".", "").lstrip("-0").rstrip("0")
    few = len(str(abs(value)).replace(".", "")) <= 14
    assert len(digits) <= 6 or "e" in text or "." not in text or few


@given(st.integers(-(10**400), 10**400), st.integers(0, 10**390))
def test_whole_numbers_stay_whole(value, half):
    """Of any size, also beyond floats."""
    assert "." not in said(value) or "e" in said(value)
    if abs(value) < 10**15 and half < 10**15:
        assert "." not in said(value, (value - half, value + half))


@pytest.mark.parametrize(
    ("value", "bar", "text"),
    [
        (31540.2837462, (31204.0, 31877.0), "31,500"),
        (31540.2837462, (31404.0, 31677.0), "31,540"),
        (38.6, (38.3, 39.2), "38.6"),
        (38.5812, None, "38.5812"),
        (38.999999, (38.7, 39.3), "39.0"),
        (37, (35.0, 40.0), "37"),
        (1e6, None, "1,000,000"),
        (1e21, None, "1e+21"),
        (0.1 + 0.2, None, "0.3"),
        (-0.0, (-1.0, 1.0), "0"),
        (3, (-1000.0, 1006.0), "3"),
        (99.7, (99.6, 110.0), "100"),
        (0.125, (0.125, math.inf), "0.125"),
        (Decimal("1234.50"), None, "1,234.50"),
        (Decimal("31540.28"), (Decimal(31204), Decimal(31877)), "31,500"),
        (np.float64(2.5), None, "2.5"),
    ],
)
def test_some_numbers(value, bar, text):
    """Thousands have separators, and everyday numbers no exponent."""
    assert said(value, bar) == text


def test_an_end_that_is_not_known_has_no_digits():
    """Infinite, or the last value of its type."""
    decimal = Kind.parse("decimal(12,2)")
    assert said_ends((1.5, math.inf)) == ("1.5", None)
    assert said_ends((decimal.value(-math.inf), Decimal("7.50")), decimal) == (None, "7.5")
    assert said_reach(Decimal("7.25"), (decimal.value(-math.inf), Decimal("7.50")), decimal) is None


@pytest.mark.medium
def test_every_text_has_the_digits_that_intervals_support():
    """In print, of groups, of summaries and in plain words; JSON and `value` keep all digits."""
    x = np.random.default_rng(1).lognormal(10, 1, 5000)
    release = nb.mean(x, epsilon=1, rng=random.Random(1))
    shown = said(release.value, release.interval)
    assert shown != said(release.value) and len(str(release.value)) > 12
    assert f"mean: {shown} (" in str(release) and f"The answer: {shown}." in str(nb.explain(release))
    assert nb.Release.from_json(release.to_json()).value == release.value
    described = nb.describe({"x": x}, epsilon=1, rng=random.Random(1))
    mean = described.said("x", "mean")
    assert mean == said(described["x"].values["mean"], described["x"].intervals["mean"])
    assert mean in str(described).split() and f"mean {mean} (" in str(nb.explain(described)).replace("\n  ", " ")
    table = nb.Table({"x": x, "k": [str(i % 2) for i in range(5000)]})
    groups = table.group_by("k", keys=["0", "1"]).sum("x", epsilon=1, rng=random.Random(1))
    for value, bar, text in zip(groups.values.tolist(), groups.bars, groups.said(), strict=True):
        assert text == said(value, bar) and f"  {text}  " in str(groups) and text in str(nb.explain(groups))


def test_a_cut_is_stated():
    """The number of groups that are not printed, and of all of them."""
    table = nb.Table({"k": [str(i % 100) for i in range(1000)]})
    groups = table.group_by("k", keys=[str(i) for i in range(100)]).count(epsilon=1, rng=random.Random(1))
    assert "\n... and 88 more of 100 groups\n" in str(groups)
    vector = nb.vector_sum(np.ones((1000, 6)), epsilon=1, delta=1e-6, rng=random.Random(1))
    assert ", ... and 3 more of 6 numbers)" in str(vector)
