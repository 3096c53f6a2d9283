"""Keys chosen by their noisy counts: the law of one key and of several, the limit of the noise, and the intervals."""

import math
import random
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy import stats

from nobounds.auditing.claims.keys import counted_seen
from nobounds.groups.key_counts import CountKeys, KeyCounts
from nobounds.groups.key_selection import KeySelection
from nobounds.noise.source import random_source

PARTS = [
    (Fraction(1), Fraction(1, 10**6)),
    (Fraction(1, 10), Fraction(1, 10**4)),
    (Fraction(4), Fraction(1, 10**9)),
    (Fraction(2), Fraction(1, 3)),
    (Fraction(1, 2), Fraction(9, 10)),
]
parts = pytest.mark.parametrize(("epsilon", "delta"), PARTS)


def law(counted, limit=None):
    """P(noise = j) for j from -limit to limit, from the definition; the larger limit by default."""
    limit = counted.most if limit is None else limit
    weights = np.exp(-float(counted.rate) * np.abs(np.arange(-limit, limit + 1)))
    return weights / weights.sum()


def chance(counted, rows):
    """The probability that a key is shown, by the law of its noise with either limit."""
    return sum(share * law(counted, limit)[max(2 * limit + 1 - rows, 0) :].sum() for limit, share in counted.limits())


def decided(counted, rows, seed=1):
    """Which of some keys are shown, and their noisy counts."""
    decision = CountKeys(counted, np.asarray(rows), lambda: [(k,) for k in range(len(rows))])
    return decision.draw(random_source(random.Random(seed)))


@parts
@pytest.mark.parametrize("rows", [1, 2, 7])
def test_both_limits_together_use_all_of_delta(epsilon, delta, rows):
    """The `rows` largest values of the noise have at most delta, and nearly all of it, on average over the limits."""
    counted = KeyCounts(epsilon, delta, rows)
    ratio = math.exp(-float(counted.rate))

    def top(limit):  # may be more than the whole law, where the limit is small
        weight = (1 - ratio) / (1 + ratio - 2 * ratio ** (limit + 1))
        return weight * sum(ratio ** (limit - i) for i in range(rows))

    seen = sum(share * top(limit) for limit, share in counted.limits())
    assert float(delta) * (1 - 1e-6) <= seen <= float(delta) * (1 + 1e-9)
    assert top(counted.most) <= float(delta) < top(counted.most - 1)


@pytest.mark.parametrize("shape", [(1, (1,)), (2, (2,)), (2, (1, 1)), (3, (2, 1)), (3, (1, 1, 1))])
@pytest.mark.parametrize(("epsilon", "delta"), [(Fraction(1), Fraction(1, 50)), (Fraction(3), Fraction(1, 10**4))])
def test_counts_of_keys_are_private(shape, epsilon, delta):
    """The least delta at epsilon, over all keys that a unit may join, is at most the one that is charged."""
    rows, joined = shape
    seen = [one.value for one in counted_seen(KeyCounts(epsilon, delta, rows), joined)]
    assert max(seen) <= float(delta) * (1 + 1e-9)


def test_the_bound_bites():
    """For one row all of delta is used; a row more than a unit may have needs a larger one."""
    seen = [one.value for one in counted_seen(KeyCounts(Fraction(2), Fraction(1, 100), 1), (2,))]
    assert max(seen) > 0.05
    tight = KeyCounts(Fraction(1), Fraction(1, 50), 1)
    assert max(one.value for one in counted_seen(tight, (1,))) == pytest.approx(0.02, rel=1e-6)


@parts
def test_keys_are_shown_as_often_as_any_rule_may(epsilon, delta):
    """Within a hundredth of the largest chances of any private choice, and nothing is spent on the choice alone."""
    counted, best = KeyCounts(epsilon, delta), KeySelection(epsilon, delta)
    for rows in range(1, best.certain() + 2):
        assert counted.chance(rows) == pytest.approx(chance(counted, rows), abs=1e-12)
        assert best.probability(rows) + 1e-9 >= counted.chance(rows) >= best.probability(rows) - 0.05
    assert best.needed() <= counted.needed() <= best.needed() + 1


def test_needed_rows_are_shown_with_that_chance():
    """And one row fewer is not; by the law of the noise."""
    for (epsilon, delta), rows in product(PARTS, (1, 3)):
        counted = KeyCounts(epsilon, delta, rows)
        assert chance(counted, counted.needed()) >= 0.95 - 1e-12 > chance(counted, counted.needed() - 1)


def test_no_key_without_rows_is_shown():
    """Whatever the noise; a key with rows is shown for its noisy count."""
    counted = KeyCounts(Fraction(1), Fraction(1, 10))
    for seed in range(200):
        shown, noisy = decided(counted, [0] * 50 + [100], seed)
        assert not shown[:50].any() and shown[50] and abs(noisy[-1] - 100) <= counted.most


def test_the_noise_has_its_law():
    """By a chi-square test for each limit, and another rate is rejected; limits are as frequent as stated."""
    counted = KeyCounts(Fraction(1, 2), Fraction(1, 100))
    noise, limits = counted.draw(40_000, random_source(random.Random(3)))
    for limit, share in counted.limits():
        drawn = Counter(noise[limits == limit].tolist())
        seen = np.array([drawn[j] for j in range(-limit, limit + 1)])
        assert seen.sum() == (limits == limit).sum() > 1000
        assert stats.binomtest(int(seen.sum()), 40_000, share).pvalue > 1e-9
        assert stats.chisquare(seen, seen.sum() * law(counted, limit)).pvalue > 1e-9
        other = np.exp(-0.7 * np.abs(np.arange(-limit, limit + 1)))
        assert stats.chisquare(seen, seen.sum() * other / other.sum()).pvalue < 1e-9


@pytest.mark.parametrize("epsilon", [Fraction(1, 20), Fraction(1), Fraction(5)])
@pytest.mark.parametrize("chance", [0.05, 0.001])
def test_intervals_hold_for_the_keys_that_are_shown(epsilon, chance):
    """Whatever the count: given that a key is shown, by the exact law; and for a large count hardly more often."""
    counted = KeyCounts(epsilon, Fraction(1, 10**5))
    missed = []
    for n, (limit, _) in product(range(1, 3 * counted.most), counted.limits()):
        noisy, masses = n + np.arange(-limit, limit + 1), law(counted, limit)
        shown = noisy > limit
        low, high = counted.intervals(noisy, chance).T
        missed.append(masses[shown & ~((low <= n) & (n <= high))].sum() / masses[shown].sum())
    assert max(missed) <= chance * (1 + 1e-9)
    if (epsilon, chance) == (Fraction(1, 20), 0.05):  # far from the limit of the noise the bound is nearly met
        assert max(missed) > 0.5 * chance


def test_the_decision_hides_its_keys():
    """Neither its public facts nor its text have rows or keys."""
    decision = CountKeys(KeyCounts(Fraction(1), Fraction(1, 100)), np.array([12345]), lambda: [("alice",)])
    assert "12345" not in repr(decision) and "alice" not in repr(decision)
    assert decision.public == decision.counted
    assert math.isclose(float(decision.cost().epsilon), 1)
