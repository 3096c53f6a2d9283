"""The line of numbers that an answer may be: keys of records, and exact numbers of keys."""

from fractions import Fraction as F

import numpy as np
import pytest

from nobounds.core.line import Line
from nobounds.core.prior import TOP, key_of
from nobounds.exact import MAX

LINES = {
    "floats": Line(),
    "bounded": Line(None, F(-2), F("7.3")),
    "whole": Line(F(1)),
    "cents": Line(F(1, 100), F(0), F(5)),
    "thirds": Line(F(1, 3)),
}
lines = pytest.mark.parametrize("line", LINES.values(), ids=LINES)
RECORDS = np.sort([0.0, -0.0, 1.005, 1 / 3, -2.5, 7.3, 7.31, 1e300, -1e-310, 5e-324, MAX, -np.inf, np.inf])


@lines
def test_keys_rise_with_the_records_and_stay_on_the_line(line):
    """Beyond a bound they are the bound's, and those of tiny numbers are 0."""
    keys = line.keys(RECORDS)
    first, last = line.ends
    assert np.all(np.diff(keys) >= 0) and keys.min() >= first and keys.max() <= last
    assert line.keys(np.array([5e-324, -1e-310])).tolist() == [0, 0]


@lines
def test_the_number_of_a_key_is_the_nearest_to_the_record(line):
    """Exactly the float, or the multiple of the unit, within the bounds."""
    for record in (-1.5, 0.25, 1.0, 3.337, 4.0):
        number = line.number(int(line.keys(np.array([record]))[0]))
        expected = F(record) if line.unit is None else round(F(record) / line.unit) * line.unit
        low = expected if line.lower is None else max(expected, line.lower)
        assert number == (low if line.upper is None else min(low, line.upper))


def test_the_ends_are_the_bounds():
    """The nearest double inside a bound; without one, the largest double."""
    assert Line().ends == (-TOP, TOP)
    low, high = Line(None, F(1, 10), F(1, 3)).ends
    assert low == key_of(0.1) + (F(0.1) < F(1, 10)) and high == key_of(1 / 3) - (F(1 / 3) > F(1, 3))
    assert Line(F(1, 100), F(0), F(5)).ends == (0, key_of(500.0))
