"""Intervals of shares: their noise has the stated tail, they hold as often as they say, and prefix sums beat trees."""

import math

import numpy as np
import pytest
from support.chance import fewest, seed_of

from nobounds.noise.additive import two_laplace
from nobounds.statistics.bins.shares import noise_beyond, share_intervals


def beyond(size, first, j, second, m, gaussian=False):
    return float(noise_beyond(*(np.array([float(x)]) for x in (size, first, j, second, m)), gaussian)[0])


@pytest.mark.parametrize(("a", "b"), [(1.0, 0.0), (1.0, 1.0), (0.9, 0.1), (0.5, 0.3)])
def test_tails_of_two_laplace_variables_are_the_known_ones(a, b):
    """The inverse of the closed form, to four digits."""
    for chance in (0.5, 0.1, 0.05, 0.01):
        assert beyond(two_laplace(a, b, chance), a, 1, b, 1) == pytest.approx(chance, abs=3e-4)


def test_tails_of_many_are_those_of_their_sum():
    """As drawn: sums of 7 and 3 variables."""
    rng = np.random.default_rng(1)
    noise = 0.7 * rng.laplace(size=(10**5, 7)).sum(1) - 0.3 * rng.laplace(size=(10**5, 3)).sum(1)
    for size in (1.0, 3.0, 6.0):
        assert beyond(size, 0.7, 7, 0.3, 3) == pytest.approx(np.mean(np.abs(noise) > size), abs=0.006)
    assert beyond(1.96 * math.sqrt(7 * 0.49 + 3 * 0.09), 0.7, 7, 0.3, 3, gaussian=True) == pytest.approx(0.05, abs=1e-4)


@pytest.mark.medium
@pytest.mark.parametrize(("counts", "epsilon"), [([40, 60], 1), ([0, 5, 100, 0, 5], 0.5), ([30] * 8, 2)])
@pytest.mark.sampled
def test_intervals_hold_as_often_as_they_say(counts, epsilon):
    """The share of the records up to a point is inside in 95% of runs, or more."""
    rng, share = np.random.default_rng(seed_of(2)), np.cumsum(counts)[:-1] / sum(counts)
    held, runs = np.zeros(len(share)), 300
    for _ in range(runs):
        chance = 1 - np.exp(-epsilon)
        noise = rng.geometric(chance, len(counts)) - rng.geometric(chance, len(counts))
        low, high = share_intervals((counts + noise).tolist(), 1 / epsilon, False, 0.05).T
        held += (low - 1e-9 <= share) & (share <= high + 1e-9)
    assert held.min() >= fewest(runs, 0.95)


@pytest.mark.parametrize("bins", [4, 10, 20, 51])
def test_prefix_sums_have_a_smaller_error_than_trees(bins):
    """The largest variance of a share by counts of bins is below that by any tree of counts, with the best weights.

    A tree has a level for each power of its fan, all of them for an equal part of epsilon, and shares are the least
    squares solution for its noisy counts. With twice as many bins a tree of two levels is better.
    """
    trees = [largest_variance(bins, fan) for fan in range(2, bins)]
    assert min(trees) > bins / 4 >= largest_variance(bins, bins) - 1e-9
    assert largest_variance(102, 11) < 102 / 4


def largest_variance(bins, fan):
    """Over all points, of the share up to one, in units of the variance of one count for all of epsilon."""
    levels = max(1, math.ceil(math.log(bins, fan) - 1e-9))
    nodes = [np.arange(bins) // fan**level for level in range(levels)]
    design = np.vstack([node[None, :] == np.arange(node[-1] + 1)[:, None] for node in nodes]).astype(float)
    covariance = np.linalg.inv(design.T @ design) * levels**2
    upto = np.arange(1, bins)[:, None]
    weights = np.where(np.arange(bins) < upto, 1 - upto / bins, -upto / bins)
    return float(((weights @ covariance) * weights).sum(1).max())
