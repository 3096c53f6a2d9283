"""Recursive splitting: its levels, its answers, and what it costs under both relations."""

from fractions import Fraction as F
from itertools import combinations

import numpy as np
import pytest

from nobounds.accounting.conversions import rho_from_range
from nobounds.auditing.audit import audit
from nobounds.research.baselines import emq_quantile, recursive_quantiles
from nobounds.research.baselines.emq import emq_rate, steps_of
from nobounds.research.baselines.recursive_quantiles import levels_for, node_rate, recursion_cost

DATA = np.random.default_rng(3).normal(0, 5, 1000)
BOUNDS = {"lower": -25, "upper": 25}


@pytest.mark.parametrize("neighbors", ["swap", "add-remove"])
def test_one_quantile_is_emq(neighbors):
    """With m = 1 it draws what EMQ draws, for the same loss."""
    given = {"epsilon": 1, "neighbors": neighbors, **BOUNDS}
    many = recursive_quantiles(DATA, [0.3], rng=np.random.default_rng(1), **given)
    one = emq_quantile(DATA, 0.3, rng=np.random.default_rng(1), **given)
    assert many.value == (one.value,) and many.loss == one.loss


def test_m_quantiles_take_so_many_levels():
    """floor(log2(m)) + 1, as halving shows."""

    def halvings(m):
        return 0 if m == 0 else 1 + max(halvings(m // 2), halvings(m - 1 - m // 2))

    assert all(levels_for(m) == halvings(m) for m in range(1, 200))


@pytest.mark.parametrize("neighbors", ["swap", "add-remove"])
def test_larger_ranks_have_larger_answers(neighbors):
    """Always, also where records are few or equal, and in the order asked."""
    rng, qs = np.random.default_rng(1), [i / 30 for i in range(29, 0, -1)]
    for data in (DATA, DATA[:3], [], [25.0] * 40, [1.0] * 500):
        found = recursive_quantiles(data, qs, epsilon=0.5, neighbors=neighbors, rng=rng, **BOUNDS)
        assert (np.diff(found.value) <= 0).all()
        assert found.value[-1] >= -25 and found.value[0] <= 25


def test_without_noise_to_speak_of_they_are_the_quantiles():
    """At a huge epsilon each answer is within two ranks of its quantile; a rank asked twice is answered once."""
    qs = ("1/10", "1/2", "1/2", "3/4")
    found = recursive_quantiles(DATA, qs, epsilon=10**6, rng=np.random.default_rng(1), **BOUNDS)
    ranks = np.searchsorted(np.sort(DATA), found.value)
    assert np.abs(ranks - np.array([100, 500, 500, 750])).max() <= 2
    assert found.value[1] == found.value[2]


def test_losses_are_those_of_the_levels():
    """Seven quantiles are three levels: epsilon in all, and three times the rho of a third of it."""
    found = recursive_quantiles(DATA, [i / 8 for i in range(1, 8)], epsilon=3, rng=np.random.default_rng(1), **BOUNDS)
    assert found.loss.epsilon == 3.0
    assert found.loss.rho == pytest.approx(3 * rho_from_range(F(1)), rel=1e-12)
    assert recursion_cost(7, F(1)).epsilon == 3


SPOTS = (0.0, 1e9, 1e9 + 1, 1e9 + 2, 1e9 + 3)
POINTS = (5e8, 1e9 + 0.3, 1e9 + 0.6, 1e9 + 1.3, 1e9 + 1.6, 1e9 + 2.3, 1e9 + 2.6)


def log_density(ordered, q, rate, low, high, point):
    """That of EMQ between two bounds."""
    law = steps_of(ordered, [q], [rate], low, high)
    return law.log_density[0, np.searchsorted(law.edges, point) - 1]


def quartiles_law(rate):
    """From data to the log-densities of three quartiles at all increasing points, by the recursion."""

    def law(data):
        ordered, found, half = np.array(data, dtype=float), [], F(1, 2)
        for first, middle, third in combinations(POINTS, 3):
            below, above = ordered[ordered < middle], ordered[ordered >= middle]
            found.append(
                log_density(ordered, half, rate(True), SPOTS[0], SPOTS[-1], middle)
                + log_density(below, half, rate(False), SPOTS[0], middle, first)
                + log_density(above, half, rate(False), middle, SPOTS[-1], third)
            )
        return np.array(found)

    return law


@pytest.mark.medium
@pytest.mark.parametrize(("relation", "reached"), [("swap", 0.85), ("add-remove", 0.99)])
def test_three_quartiles_cost_epsilon(relation, reached):
    """Two levels of half of epsilon: on neighbours of four records nothing shows more, nor has a wider range."""

    def rate(first):
        return node_rate(F(1, 2), F(1, 2), relation, first)

    found = audit(quartiles_law(rate), SPOTS, 4, relation, least=4 if relation == "swap" else 3)
    cost = recursion_cost(3, F(1, 2))
    assert reached < found.epsilon <= cost.epsilon + 1e-9
    assert found.eta <= cost.eta + 1e-9


@pytest.mark.medium
def test_rates_of_add_remove_cost_more_under_swap():
    """With them on all levels the same audit under swap finds more than epsilon."""
    found = audit(quartiles_law(lambda first: emq_rate(F(1, 2), F(1, 2), "add-remove")), SPOTS, 4, "swap", least=4)
    assert found.epsilon > 1.2
