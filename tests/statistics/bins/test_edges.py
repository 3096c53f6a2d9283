"""Edges of bins: each record is in one bin, and round edges enclose what they should with no more bins than allowed."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nobounds.kinds.kind import DATE, DURATION, INTEGER, NUMBER, Kind
from nobounds.statistics.bins.edges import LEAST, as_floats, counts_between, round_edges, stated_edges

FLOATS = st.floats(-1e300, 1e300)


@given(st.lists(st.floats(allow_nan=True), max_size=40), st.sets(st.integers(-5, 5), min_size=1, max_size=6))
def test_every_record_is_in_one_bin(records, marks):
    """As many as there are records that are not missing, whichever side is closed; infinite ones are in open bins."""
    edges, data = tuple(map(Fraction, sorted(marks))), np.array(records, dtype=float)
    for closed in (False, True):
        counts = counts_between([data], edges, closed)
        assert len(counts) == len(edges) + 1 and counts.sum() == (~np.isnan(data)).sum()
        below = [sum(x <= edge if closed else x < edge for x in records) for edge in map(float, edges)]
        assert np.cumsum(counts)[:-1].tolist() == below


def test_values_with_counts_are_counted_as_often():
    """A chunk may say how many records each value stands for."""
    assert counts_between([(np.array([1.0, 3.0]), np.array([5, 7]))], (Fraction(2),), False).tolist() == [5, 7]


def test_an_edge_lies_where_records_of_its_value_do():
    """0.3 is no float64: the edge and the record 0.3 are the same one, and the record is in the bin above."""
    edges = stated_edges(["0.1", "0.3"], NUMBER, "edges")
    assert counts_between([np.array([0.3])], edges, False).tolist() == [0, 0, 1]


@given(FLOATS, FLOATS, st.integers(LEAST, 60), st.sampled_from([None, Fraction(1), Fraction(1, 100), Fraction(15)]))
def test_round_edges_enclose_both_numbers(one, other, bins, grid):
    """At most as many bins as allowed, and steps that are all the same multiple of the grid."""
    low, high = sorted(map(Fraction, (one, other)))
    edges = round_edges(low, high, bins, NUMBER, grid)
    assert 2 <= len(edges) <= bins - 1
    assert edges[0] <= low and high < edges[-1]
    assert len(set(np.diff(np.array(edges, dtype=object)))) == 1
    step = edges[1] - edges[0]
    assert grid is None or (step / grid).denominator == 1
    digits = step / (1 if grid is None else grid)
    assert Fraction(str(digits.numerator / digits.denominator)[0]) in (1, 2, 5) or digits.denominator > 1
    assert (np.diff(as_floats(edges)) > 0).all()


@given(FLOATS, FLOATS, st.integers(10, 60))
def test_not_many_fewer_bins_than_allowed_are_used(one, other, bins):
    """Steps grow by at most 2.5 times, so about two fifths of the bins are used if the numbers differ."""
    low, high = sorted(map(Fraction, (one, other)))
    if high - low > abs(high) / 1000:
        assert len(round_edges(low, high, bins, NUMBER, None)) >= (bins - 3) / 2.5 - 2


def test_days_have_edges_of_the_calendar():
    """Days, weeks, months, quarters, and years, also for moments of a zone."""
    low, high = (DATE.number(day, "day") for day in ("2020-03-05", "2022-08-21"))
    by_quarter = [str(DATE.value(edge)) for edge in round_edges(low, high, 13, DATE, Fraction(1))]
    assert by_quarter[:3] == ["2020-01-01", "2020-04-01", "2020-07-01"] and by_quarter[-1] == "2022-10-01"
    tokyo = Kind("datetime", zone="Asia/Tokyo")
    low, high = (tokyo.number(day, "day") for day in ("2020-03-05 23:30", "2022-08-21 00:30"))
    years = [tokyo.value(edge).isoformat() for edge in round_edges(low, high, 6, tokyo, Fraction(1))]
    assert years[0] == "2020-01-01T00:00:00+09:00" and len(years) == 4


def test_spans_have_edges_of_the_clock():
    """Quarters of an hour, not 1000 seconds; and beyond a day, days."""
    edges = round_edges(Fraction(100), Fraction(7000), 10, DURATION, None)
    assert edges[1] - edges[0] == 900
    days = round_edges(Fraction(0), Fraction(86_400 * 95), 12, DURATION, None)
    assert days[1] - days[0] == 864_000


@pytest.mark.parametrize(
    "kind", [DATE, Kind("datetime"), Kind("time"), DURATION, Kind("decimal", precision=9, scale=2)]
)
def test_there_are_edges_at_the_ends_of_every_type(kind):
    """One value, the first, the last, or all of them."""
    for low, high in ((kind.lower, kind.lower), (kind.upper, kind.upper), (kind.lower, kind.upper)):
        assert 1 <= len(round_edges(low, high, 20, kind, Fraction(1))) <= 19
    assert 1 <= len(round_edges(Fraction(math.floor(1.7e308)), Fraction(math.floor(1.7e308)), 20, NUMBER, None)) <= 19


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ("1,2", TypeError),
        (3, TypeError),
        ([], ValueError),
        ([2, 1], ValueError),
        ([1, 1], ValueError),
        (["a"], ValueError),
    ],
)
def test_edges_must_rise(given, error):
    """Refused by what the user gives."""
    with pytest.raises(error, match="edges"):
        stated_edges(given, INTEGER, "edges")
