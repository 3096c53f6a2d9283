"""Variances: their value without noise, their intervals, and what clipping and noise change."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from support.chance import fewest, seed_of

from nobounds.accounting.terms import Terms
from nobounds.clipping.average import AverageRule
from nobounds.clipping.moments.variance import VariancePlan, mean_and_squares
from nobounds.clipping.octaves.excess import CountNoise, excess
from nobounds.engines.memory.arrays import column
from nobounds.ladders.stated import Stated
from nobounds.programs.program import Draw

FAMILIES = {
    "normal": lambda rng, n: rng.normal(1e6, 3, n),
    "uniform": lambda rng, n: rng.random(n),
    "exponential": lambda rng, n: rng.exponential(1, n),
    "lognormal": lambda rng, n: rng.lognormal(0, 1, n),
    "student": lambda rng, n: rng.standard_t(3, n),
    "pareto": lambda rng, n: rng.pareto(2, n),
    "two heaps": lambda rng, n: np.where(rng.random(n) < 0.5, rng.normal(0, 1, n), rng.normal(50, 1, n)),
}


def released(data, epsilon, seed, neighbors="add-remove", stated=None):
    """The settled clip and the noisy variance of some data."""
    opened = column(data)
    terms = Terms.of(epsilon, None, neighbors)
    plan = VariancePlan.of(opened.public(neighbors == "swap"), terms, stated or Stated.of())
    return Draw(random.Random(seed).getrandbits).run(plan.program(opened.chunks))


@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.parametrize("data", [np.array([1.0, 2, 4, 9] * 50), np.array([0, 1] * 100), np.full(200, 7.0)])
def test_with_hardly_any_noise_it_is_the_variance(data, neighbors):
    """That of numpy, which divides by the number of records; whole numbers and ties included."""
    _, noisy = released(data, 10**6, 1, neighbors)
    assert float(noisy.value) == pytest.approx(data.var(), abs=1e-4)


def test_it_moves_with_the_data():
    """A variance does not depend on the location, and scales like a square."""
    data = np.random.default_rng(1).normal(0, 1, 3000)
    plain, moved = (float(released(each, 5, 3)[1].value) for each in (data, 1e9 + 1024 * data))
    assert moved / 1024**2 == pytest.approx(plain, rel=0.1)


@pytest.mark.medium
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.sampled
def test_the_interval_holds(family):
    """In 95% of runs, whatever the tail is; the lower end is nearly always known."""
    inside, low = [], []
    for seed in range(30):
        data = FAMILIES[family](np.random.default_rng(seed_of(seed)), (1000, 3000, 10_000)[seed % 3])
        settled, noisy = released(data, (1, 0.1, 1)[seed % 3], seed)
        first, last = noisy.interval(settled.tailed)
        inside.append(first <= data.var() <= last)
        low.append(first > 0)
    assert sum(inside) >= 27  # 26 or fewer have a chance below 0.02 at 95%
    assert sum(low) >= 15


@pytest.mark.sampled
def test_public_bounds_give_both_ends():
    """Where nothing can lie beyond the clip, the noise alone is left, and they hold in 95% of runs."""
    data, held = np.random.default_rng(2).random(2000), 0
    for number in range(40):
        settled, noisy = released(data, 1, seed_of(number), stated=Stated.of(0, 1))
        low, high = noisy.interval(settled.tailed)
        assert 0 < low < high < 1.5 * data.var()
        held += low <= data.var() <= high
    assert held >= fewest(40, 0.95)


def test_a_tail_that_is_not_seen_has_no_upper_end():
    """With few rows for the epsilon, nobody knows how many records lie far beyond the clip."""
    data = np.random.default_rng(3).standard_t(2, 3000)
    ends = [noisy.interval(settled.tailed) for settled, noisy in (released(data, 0.1, seed) for seed in range(5))]
    assert all(high == math.inf for _, high in ends)


def test_mean_and_squares_cost_as_much_as_one_average():
    """For a record that moves and for one that turns from missing to present; under zCDP as well."""
    for zcdp in (False, True):
        rule = AverageRule(Fraction(1), "swap", 100, True, Fraction(0) if zcdp else Fraction(1, 50), zcdp)
        first, second = mean_and_squares(rule, Fraction(1, 8))
        both, whole = first.cost() + second.cost(), rule.cost()
        measure = "rho" if zcdp else "epsilon"
        spent, allowed = getattr(both, measure), getattr(whole, measure)
        assert 0.999 * allowed < spent <= allowed


def test_squares_exceed_a_clip_by_more_than_the_records_do():
    """By (d**2 - 1) over (d - 1) = d + 1 > 2 times as much, for deviations d beyond a clip of 1."""
    counts, noise = np.array([4000, 1000, 240, 60, 15, 4]), CountNoise(1.0, False)
    once, twice = (np.median(excess(counts, noise, power=power)) for power in (1, 2))
    assert 2 * once < twice < 20 * once
    assert excess(counts, noise, most=0.5, power=2).max() <= 1.25 * 400  # about 320 records, (1.5**2 - 1) each
