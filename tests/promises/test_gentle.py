"""Small data fail gently: with 20 nats or more an answer is hardly ever far too large in magnitude, by exact laws."""

import numpy as np
import pytest
from support.laws import answer_law, sampled_law

RNG = np.random.default_rng(5)
SIGNS = {"positive": lambda n: 1, "negative": lambda n: -1, "mixed": lambda n: RNG.choice([-1, 1], n)}


def chance_beyond(data, q, **options):
    """P(|answer| > 10 max |x|)."""
    law, limit = answer_law(data, q, **options), 10 * float(np.abs(data).max())
    return law.above(limit) + law.below(-limit)


@pytest.mark.medium
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.parametrize("epsilon", [0.2, 1, 2])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e9])
def test_the_answer_is_not_ten_times_too_large(scale, epsilon, neighbors):
    """At most once in 1,000 for the median, from n epsilon of 40 on; from 80 on under swap."""
    n = round((80 if neighbors == "swap" else 40) / epsilon)
    for sign in SIGNS.values():
        data = RNG.lognormal(0, 1, n) * scale * sign(n)
        assert chance_beyond(data, 0.5, epsilon=epsilon, neighbors=neighbors, rows=n) <= 1e-3


@pytest.mark.medium
@pytest.mark.parametrize("q", [0.25, 0.75])
def test_quartiles_are_as_gentle_with_20_nats_beyond_them(q):
    """n rate min(q, 1 - q) of 20 and more, where the rate is epsilon / (2 max(q, 1 - q))."""
    for scale in (1e-6, 1.0, 1e9):
        data = RNG.lognormal(0, 1, 120) * scale
        assert chance_beyond(data, q, epsilon=1, rows=120) <= 1e-3


@pytest.mark.medium
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e9])
def test_a_noisy_size_is_as_gentle(scale, neighbors):
    """No more is known than that it is a column: 40 records at epsilon 1 for the median, twice as many under swap."""
    n = 80 if neighbors == "swap" else 40
    for sign in SIGNS.values():
        data = RNG.lognormal(0, 1, n) * scale * sign(n)
        assert chance_beyond(data, 0.5, epsilon=1, neighbors=neighbors) <= 1e-4


@pytest.mark.medium
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.parametrize("shift", [0, 17])
def test_a_tail_is_as_gentle_with_20_nats_beyond_it(shift, neighbors):
    """360 records for q = .9, by the law of the last decision in frames that are drawn."""
    for scale in (1e-6, 1.0, 1e9):
        data = (np.random.default_rng(3).lognormal(0, 1, 360) + shift) * scale
        law, limit = sampled_law(data, 0.9, 8, epsilon=1, neighbors=neighbors), 10 * float(data.max())
        assert law.above(limit) + law.below(-limit) <= 1e-5


@pytest.mark.medium
def test_half_of_the_nats_are_not_enough():
    """The promise bites: with 10 nats the median of numbers around 1e-6 is ten times too large more often."""
    data = np.random.default_rng(1).lognormal(0, 1, 20) * 1e-6
    assert chance_beyond(data, 0.5, epsilon=1, rows=20) > 1e-3


def test_a_walk_from_far_without_enough_records_would_not_be_gentle():
    """What the prior guards against: one walk over the whole line on five records answers about -1e300."""
    from fractions import Fraction as F

    from nobounds import Histogram, Ladder, Law
    from nobounds.ranks.route import Route
    from nobounds.ranks.view import walk_of

    ladder = Ladder.float_bits(8)
    route = Route(ladder, True, ladder.first, ladder.last, F(2, 5), F(3, 5))
    law = Law(walk_of(Histogram.of([np.arange(1.0, 6.0)], ladder), F(1, 2), route, "exponential"))
    past = int(ladder.rungs(np.array([-1e200]))[0]) - ladder.first
    assert 1 - float(law.tail([past])[0]) > 0.99
