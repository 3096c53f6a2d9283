"""Plans for two columns: what they cost together, what is pooled, and the ends of intervals of products."""

import math
from fractions import Fraction

import pytest

from nobounds.accounting.terms import Terms
from nobounds.clipping.moments.pairs import PairPlan, Products, Side
from nobounds.ladders.facts import Facts
from nobounds.ladders.stated import Stated

X, Y = Facts(False, True), Facts(True, True)


@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.parametrize("spent", [{"epsilon": 1, "rho": None}, {"epsilon": None, "rho": Fraction(1, 5)}])
@pytest.mark.parametrize("make", [PairPlan.weighted, PairPlan.products])
def test_both_columns_cost_no_more_than_the_spending(make, spent, neighbors):
    """Whatever is stated, and not much less."""
    terms = Terms.of(spent["epsilon"], spent["rho"], neighbors)
    for stated in ((Stated(), Stated()), (Stated.of(0, 10), Stated.of(-5)), (Stated.of(0, 10), Stated.of(0, 10))):
        cost = make(X, Y, terms, stated).cost()
        used = cost.epsilon if spent["rho"] is None else cost.rho
        assert 0.4 * terms.spending.amount < used <= terms.spending.amount


def test_weights_are_not_negative():
    """Whatever lower bound is stated for them."""
    for stated in (Stated(), Stated.of(-3, 7), Stated.of(2, 7)):
        plan = PairPlan.weighted(X, Y, Terms.of(1, None, "add-remove"), (Stated(), stated))
        assert plan.y.search.ladder.lower == 0
        assert plan.y.search.ladder.upper == (None if stated.upper is None else 7)


def noisy(both, squares=(), offs=(0.0, 0.0)):
    """Averages of products over sides of the radii 2 and 5."""
    sides = (Side(-radius, radius, 0.0, radius, off) for radius, off in zip((2.0, 5.0), offs, strict=True))
    return Products(None, *sides, both, squares)


def test_a_covariance_is_in_the_units_of_both_columns():
    """The average over the radii times these, with the noise of the means beside its own."""
    assert noisy((0.5, 0.1)).covariance() == pytest.approx((5.0, 4.0, 6.0))
    assert noisy((0.5, 0.1), offs=(0.2, 0.5)).covariance() == pytest.approx((5.0, 3.0, 7.0))


def test_a_correlation_lies_within_one():
    """Whatever the noise; with squares that may be 0 nothing is known of it."""
    assert noisy((0.3, 0.0), ((0.6, 0.0), (0.6, 0.0))).correlation() == pytest.approx((0.5, 0.5, 0.5))
    value, low, high = noisy((0.3, 0.1), ((0.6, 0.1), (0.6, 0.1))).correlation()
    assert low == pytest.approx(0.2 / 0.7) and high == pytest.approx(0.4 / 0.5) and low < value < high
    assert noisy((0.3, 0.1), ((0.1, 0.2), (0.6, 0.1))).correlation()[1:] == (-1.0, 1.0)
    assert noisy((9.0, 0.1), ((0.1, 0.0), (0.1, 0.0))).correlation() == (1.0, 1.0, 1.0)


def test_a_covariance_beyond_the_floats_has_no_end():
    """An end that no float can state is infinite."""
    sides = (Side(-1e300, 1e300, 0.0, 1e300, 0.0) for _ in range(2))
    value, low, high = Products(None, *sides, (0.5, 0.7)).covariance()
    assert (low, high) == (-math.inf, math.inf) and math.isfinite(value)
