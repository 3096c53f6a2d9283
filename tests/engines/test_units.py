"""Seconds of moments and spans: the same float64 in every unit, cut off far beyond the calendar."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nobounds.engines.units import decimal_kind, seconds, zoned_kind

LONGS = st.integers(-(2**63) + 1, 2**63 - 1)


@given(st.integers(-(10**9), 10**9))
def test_a_moment_is_the_same_number_in_every_unit(millis: int):
    """Milliseconds in finer units, and hours in coarser ones."""
    numbers = {unit: seconds(np.array([millis * times]), unit)[0] for unit, times in (("ms", 1), ("us", 1000))}
    assert len(set(numbers.values())) == 1
    assert seconds(np.array([millis]), "h")[0] == seconds(np.array([millis * 3600]), "s")[0]


@pytest.mark.parametrize("unit", ["as", "ns", "us", "ms", "s", "m", "h", "D", "W"])
@given(numbers=st.lists(LONGS, min_size=1))
def test_every_number_of_64_bits_has_seconds(unit: str, numbers: list[int]):
    """In order, near to the exact ones within the range of all types, and beyond it cut off."""
    parts = {"as": 10**18, "ns": 10**9, "us": 10**6, "ms": 1000, "m": Fraction(1, 60), "h": Fraction(1, 3600)}
    parts |= {"D": Fraction(1, 86400), "W": Fraction(1, 604800)}
    times = seconds(np.array(sorted(numbers)), unit)
    assert np.all(np.diff(times) >= 0)
    for number, time in zip(sorted(numbers), times.tolist(), strict=True):
        exact = min(max(Fraction(number) / parts.get(unit, 1), Fraction(-(2**47))), Fraction(2**47))
        assert abs(Fraction(time) - exact) <= max(abs(exact) / 2**51, Fraction(604800) if abs(exact) > 2**46 else 0)


def test_decimals_whose_point_lies_outside_their_digits():
    """The range and the grid hold for them, too."""
    assert str(decimal_kind(5, 2)) == "decimal(5,2)"
    assert str(decimal_kind(2, 5)) == "decimal(5,5)"
    assert str(decimal_kind(5, -2)) == "decimal(7,0)"


def test_a_zone_that_python_does_not_know_is_utc():
    """Moments are the same there."""
    assert (zoned_kind("Asia/Tokyo").zone, zoned_kind("Mars").zone) == ("Asia/Tokyo", "UTC")
