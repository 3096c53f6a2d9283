"""Smooth sensitivity: the number itself against its definition, the noise that goes with it, and the release."""

import math
from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest
from scipy import stats
from support.chance import seed_of

from nobounds.research.baselines import smooth_quantile
from nobounds.research.baselines.smooth_sensitivity import admissible, place_of, smooth_sensitivity

GRID = (0.0, 1.0, 2.5, 6.0, 10.0)  # with both bounds
DATA = np.random.default_rng(3).normal(0, 5, 1001)
BOUNDS = {"lower": -25, "upper": 25}


def brute_force(beta, n, place):
    """The smooth sensitivity of every data set on the grid, from the definition, over all others at every distance."""
    every = list(product(GRID, repeat=n))
    value = {data: sorted(data)[place] for data in every}
    local = {
        data: max(abs(value[data] - value[(*data[:i], x, *data[i + 1 :])]) for i in range(n) for x in GRID)
        for data in every
    }
    table, bulge = np.array(every), np.array([local[data] for data in every])
    return {data: float((bulge * np.exp(-beta * (table != np.array(data)).sum(axis=1))).max()) for data in every}


@pytest.mark.medium
@pytest.mark.parametrize("beta", [0.01, 0.3, 2.0])
@pytest.mark.parametrize("place", [0, 1, 3])
def test_it_is_the_largest_discounted_local_sensitivity(beta, place):
    """max over all data sets y of the local sensitivity at y times exp(-beta * records changed), for four records."""
    for data, expected in brute_force(beta, 4, place).items():
        assert smooth_sensitivity(np.sort(data), place, beta, 0.0, 10.0) == pytest.approx(expected, rel=1e-12)


def test_stopping_early_changes_nothing():
    """It is the plain maximum over all pairs of ranks around the quantile."""
    ordered = np.sort(np.clip(DATA, -25, 25))
    points, p = np.concatenate([[-25.0], ordered, [25.0]]), 900 + 1
    i, j = np.arange(p + 1)[:, None], np.arange(p, len(points))[None, :]
    for beta in (1e-3, 0.05, 1.0):
        plain = ((points[j] - points[i]) * np.exp(-beta * np.maximum(j - i - 1, 0))).max()
        assert smooth_sensitivity(ordered, 900, beta, -25.0, 25.0) == pytest.approx(plain, rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_cauchy_noise_is_admissible_and_no_more(epsilon):
    """A shift by alpha and a stretch by exp(beta) cost up to half of epsilon each, and together no more than epsilon.

    The two do not reach their worst at one point, so together they come to 0.7 epsilon.
    """
    alpha, beta = admissible(epsilon, None)
    z = np.concatenate([-np.geomspace(1e-6, 1e9, 4001)[::-1], np.geomspace(1e-6, 1e9, 4001)])
    log_density = stats.cauchy.logpdf
    shifts, stretches = np.linspace(-alpha, alpha, 41), np.linspace(-beta, beta, 41)
    shifted = max(np.abs(log_density(z) - log_density(z + shift)).max() for shift in shifts)
    stretched = max(np.abs(log_density(z) - log_density(math.exp(s) * z) - s).max() for s in stretches)
    both = max(
        np.abs(log_density(z) - log_density(math.exp(s) * (z + shift)) - s).max()
        for shift in (-alpha, alpha)
        for s in (-beta, beta)
    )
    assert 0.49 * epsilon < stretched <= epsilon / 2 + 1e-12
    assert 0.37 * epsilon < shifted <= epsilon / 2 + 1e-12
    assert 0.7 * epsilon < both <= epsilon + 1e-9


@pytest.mark.medium
@pytest.mark.parametrize("delta", [1e-2, 1e-6])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_laplace_noise_is_admissible_with_delta(epsilon, delta):
    """P(A) <= exp(epsilon) P'(A) + delta at the ends of what shifts and stretches there can be, by a sum of densities.

    A quantile moves by no more than the smaller of both scales allows.
    """
    alpha, beta = admissible(epsilon, delta)
    z, step = np.linspace(-60, 60, 1_200_001, retstep=True)
    for s, share in product((-beta, beta), (0.0, 0.5, 1.0)):
        shift = share * alpha * min(1, math.exp(-s))
        one, other = np.exp(-np.abs(z)) / 2, np.exp(s - math.exp(s) * np.abs(z + shift)) / 2
        assert np.maximum(one - math.exp(epsilon) * other, 0).sum() * step <= delta
        assert np.maximum(other - math.exp(epsilon) * one, 0).sum() * step <= delta


@pytest.mark.sampled
def test_neighbours_have_a_smooth_scale():
    """Between neighbours the scale differs by a factor of at most exp(beta), and no quantile by more than it."""
    rng, beta = np.random.default_rng(seed_of(4)), 0.2
    for _ in range(300):
        data = rng.choice(GRID, 6)
        other = data.copy()
        other[rng.integers(6)] = rng.choice(GRID)
        one, two = (smooth_sensitivity(np.sort(x), 3, beta, 0.0, 10.0) for x in (data, other))
        assert abs(math.log(one / two)) <= beta + 1e-12
        assert abs(np.sort(data)[3] - np.sort(other)[3]) <= min(one, two) + 1e-12


@pytest.mark.medium
@pytest.mark.parametrize(("delta", "law"), [(None, stats.cauchy), (1e-6, stats.laplace)])
def test_the_answer_is_the_quantile_and_so_much_noise(delta, law):
    """Over wide bounds the answers have the law of the noise, scaled to S / alpha; one 30% off is rejected."""
    rng, data = np.random.default_rng(8), np.arange(101.0)
    values = [
        smooth_quantile(data, 0.5, epsilon=20, delta=delta, lower=-1e4, upper=1e4, rng=rng).value for _ in range(6000)
    ]
    alpha, beta = admissible(20.0, delta)
    scale = smooth_sensitivity(data, 50, beta, -1e4, 1e4) / alpha
    assert stats.kstest(values, law(50, scale).cdf).pvalue > 1e-9
    assert stats.kstest(values, law(50, 1.3 * scale).cdf).pvalue < 1e-9


def test_without_noise_to_speak_of_it_is_the_record_of_that_rank():
    """Record floor(q (n - 1)) counted from 0, as numpy's method "lower" has it."""
    for q in (F(0), F(1, 3), F(1, 2), F(99, 100), F(1)):
        found = smooth_quantile(DATA, q, epsilon=10**9, rng=np.random.default_rng(1), **BOUNDS)
        assert found.value == pytest.approx(np.quantile(DATA, float(q), method="lower"), abs=1e-4)
        assert place_of(q, 1001) == math.floor(q * 1000)


def test_losses():
    """Pure without a delta, and at delta with one; answers stay within the bounds."""
    rng = np.random.default_rng(1)
    pure = smooth_quantile(DATA, 0.99, epsilon="0.01", rng=rng, **BOUNDS)
    other = smooth_quantile(DATA, 0.99, epsilon="0.01", delta=1e-6, rng=rng, **BOUNDS)
    assert (pure.loss.epsilon, pure.loss.delta, pure.loss.neighbors) == (0.01, 0.0, "swap")
    assert (other.loss.epsilon, other.loss.delta, other.loss.rho) == (0.01, 1e-6, math.inf)
    assert all(-25 <= found.value <= 25 for found in (pure, other))


def test_parameters_are_checked():
    """By name; no records are refused, because their number is public under swap."""
    rng = np.random.default_rng(1)
    with pytest.raises(ValueError, match="at least one record"):
        smooth_quantile([], 0.5, epsilon=1, rng=rng, **BOUNDS)
    with pytest.raises(ValueError, match="delta must be less than 1"):
        smooth_quantile(DATA, 0.5, epsilon=1, delta=1, rng=rng, **BOUNDS)
