"""The records as the search for a clip sees them: deviations from a centre, and missing records."""

import math
from fractions import Fraction

import numpy as np

from nobounds.accounting.cost import pure
from nobounds.clipping.view import RecordsView
from nobounds.clipping.widths import DEVIATIONS
from nobounds.noise.additive import Additive

RECORDS = np.array([1.0, 4.0, math.nan, -100.0])


class Passes:
    """Records that count how often they are read."""

    def __init__(self):
        self.made = 0

    def __call__(self):
        self.made += 1
        return [RECORDS.copy()]


def values_of(histogram):
    return np.repeat(histogram.ladder.map.floats(histogram.rungs), histogram.counts)


def test_deviations_are_from_the_centre_within_the_bounds():
    """A missing record is none, or (under swap) lies at the centre."""
    view = RecordsView(Passes())
    near = DEVIATIONS.map.floats(DEVIATIONS.rungs(np.array([-12.0, -1.0, 2.0])))
    assert values_of(view.deviations(2.0, -10.0, math.inf, False, 0)).tolist() == near.tolist()
    assert view.deviations(2.0, -10.0, math.inf, True, 0).total == 4
    assert 0.0 in values_of(view.deviations(2.0, -10.0, math.inf, True, 0))
    eighths = view.deviations(2.0, -10.0, math.inf, False, 3)
    assert (8 * values_of(eighths)).tolist() == near.tolist()


def test_each_pass_is_made_once():
    """A program that is run again reads nothing again."""
    records = Passes()
    view = RecordsView(records)
    for _ in range(3):
        view.deviations(0.0, -1.0, 1.0, False, 0)
    assert records.made == 1
    view.deviations(5.0, -1.0, 1.0, False, 0)
    assert records.made == 2


def test_missing_records_are_not_counted():
    """In the number that gets noise."""
    assert RecordsView(Passes()).number(Additive(Fraction(1)), lambda: pure(Fraction(1))).number == 3
