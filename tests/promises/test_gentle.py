"""Small data fail gently: by the exact law, answers are hardly ever far too large in magnitude."""

import numpy as np
import pytest
from support.laws import answer_law

RNG = np.random.default_rng(5)
SIGNS = {"positive": lambda n: 1, "negative": lambda n: -1, "mixed": lambda n: RNG.choice([-1, 1], n)}


@pytest.mark.medium
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1])
@pytest.mark.parametrize("n", [1, 2, 5, 12, 25, 50])
def test_the_answer_is_not_ten_times_too_large(n, epsilon, neighbors):
    """P(|answer| > 10 max |x|) is at most 1e-3, at scales 1e-6 to 1e9, for every sign and every q."""
    for scale in (1e-6, 1.0, 1e9):
        for sign in SIGNS.values():
            data = RNG.lognormal(0, 1, n) * scale * sign(n)
            for q in (0, 0.05, 0.5, 0.95, 1):
                law = answer_law(data, q, epsilon=epsilon, neighbors=neighbors)
                limit = 10 * np.abs(data).max()
                assert law.above(limit) + law.below(-limit) <= 1e-3


@pytest.mark.medium
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.parametrize("n", [1, 10, 50])
def test_small_whole_numbers_are_as_gentle(n, neighbors):
    """Integer types walk the grid only where the size allows it: 3 is hardly ever answered by more than 30."""
    data = RNG.integers(1, 4, n)
    for q in (0, 0.05, 0.5, 0.95, 1):
        law = answer_law(data, q, epsilon=0.5, neighbors=neighbors)
        assert law.above(30) + law.below(-30) <= 1e-3


@pytest.mark.parametrize("beta", [2, 1.1])
def test_a_coarse_beta_is_as_gentle(beta):
    """The walk takes fine steps near the end, whatever the steps of the answer are."""
    data = RNG.lognormal(0, 1, 30)
    for q in (0, 0.5, 1):
        law = answer_law(data, q, epsilon=0.5, beta=beta)
        assert law.above(10 * data.max()) + law.below(-10 * data.max()) <= 1e-3


def test_a_walk_from_far_without_enough_records_would_not_be_gentle():
    """What the sizes of routes guard against: one walk over the whole line on five records answers about -1e300."""
    from fractions import Fraction as F

    from nobounds import Histogram, Ladder, Law
    from nobounds.ranks.route import Route
    from nobounds.ranks.view import walk_of

    ladder = Ladder.float_bits(8)
    route = Route(ladder, True, ladder.first, ladder.last, F(2, 5), F(3, 5))
    law = Law(walk_of(Histogram.of([np.arange(1.0, 6.0)], ladder), F(1, 2), route, "exponential"))
    past = int(ladder.rungs(np.array([-1e200]))[0]) - ladder.first
    assert 1 - float(law.tail([past])[0]) > 0.99
