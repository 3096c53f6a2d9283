"""Interquartile ranges: both quartiles are paid for, the range is theirs, and its interval follows from theirs."""

import random
from fractions import Fraction

import numpy as np
import pytest

import nobounds as nb
from nobounds.accounting.terms import Terms
from nobounds.kinds.kind import NUMBER
from nobounds.ladders.facts import Facts
from nobounds.ranks.intervals.interval import Wanted
from nobounds.ranks.options import Options
from nobounds.statistics.door import Answer
from nobounds.statistics.moments.ranges import QuartilePlans, _ranged

DATA = np.random.default_rng(2).normal(50, 10, 4000)


def test_two_quartiles_with_intervals_cost_the_spending():
    """Each gets half, and together their intervals fail as often as one may."""
    plans = QuartilePlans.of(
        Facts(False, True), Terms.of(1, None, "add-remove"), Options.of({}), Wanted(Fraction(19, 20), "sample", False)
    )
    assert plans.cost().epsilon <= 1 and plans.low.cost() == plans.high.cost()
    assert plans.low.wanted.level == plans.high.wanted.level == Fraction(39, 40)
    assert {name: cost.epsilon for name, cost in plans.parts().items()} == {
        name: 2 * cost.epsilon for name, cost in plans.low.parts().items()
    }


def test_the_range_is_the_distance_of_the_quartiles_that_are_stated():
    """And it lies in its interval."""
    release = nb.iqr(DATA, epsilon=1, interval=0.95, rng=random.Random(3))
    low, high = release.parameters["quartiles"]
    assert release.value == pytest.approx(high - low) and release.interval[0] <= release.value <= release.interval[1]
    assert release.value == pytest.approx(float(np.subtract(*np.quantile(DATA, [0.75, 0.25]))), rel=0.1)


@pytest.mark.parametrize(("low", "high"), [(3, 8), (8, 3)])
def test_quartiles_in_the_wrong_order_are_exchanged(low, high):
    """A range is not negative, and an interval holds its value."""
    answer = _ranged(Answer((low, high), {}, ((6.0, 7.0),)), NUMBER)
    assert answer.value == 5 and answer.intervals == ((5, 7.0),) and answer.parameters["quartiles"] == [3, 8]


def test_a_range_of_one_quartile_is_none():
    """Whichever is missing."""
    for values in ((None, 3), (3, None)):
        assert _ranged(Answer(values, {}, ()), NUMBER).value is None
