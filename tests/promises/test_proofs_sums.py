"""docs/proofs/sums.md: where a clip is best, and the mean of a biased Laplace error."""

import math

import numpy as np
import pytest
from scipy import integrate, optimize

RNG = np.random.default_rng(6)
FAMILIES = {
    "uniform": RNG.uniform(0, 1, 3000),
    "lognormal": RNG.lognormal(0, 1, 3000),
    "pareto": RNG.pareto(2.0, 3000) + 1,
}


def bias(data, clip):
    return float(np.maximum(data - clip, 0).sum())


@pytest.mark.parametrize("epsilon", [0.05, 0.2, 1 / 3])
@pytest.mark.parametrize("family", FAMILIES)
def test_bias_and_noise_together_are_least_where_one_over_epsilon_records_are_cut(family, epsilon):
    """bias(c) + c / epsilon over a dense grid is least where the number of records above c passes 1 / epsilon."""
    data = FAMILIES[family]
    grid = np.unique(np.concatenate([np.sort(data)[-200:], np.linspace(0, data.max() * 1.1, 4001)]))
    best = float(grid[np.argmin([bias(data, c) + c / epsilon for c in grid])])
    assert (data > best).sum() <= 1 / epsilon <= (data >= best).sum()


@pytest.mark.parametrize("b", [0.0, 0.3, 2.0])
def test_the_mean_of_a_biased_laplace_error(b):
    """E |L - b| = b + s exp(-b / s), by numerical integration."""
    s = 0.7
    found = integrate.quad(lambda x: abs(x - b) * math.exp(-abs(x) / s) / (2 * s), -40, 40, points=[0, b], limit=200)[0]
    assert found == pytest.approx(b + s * math.exp(-b / s), rel=1e-6)


@pytest.mark.parametrize("epsilon", [0.05, 0.2])
@pytest.mark.parametrize("family", ["lognormal", "pareto"])
def test_the_expected_error_is_least_near_that_rank(family, epsilon):
    """There epsilon times the records cut is (1 + y) / (e^y - 1), y = bias / scale: between a half and three."""
    data = FAMILIES[family]

    def error(clip):
        b, s = bias(data, clip), clip / epsilon
        return b + s * math.exp(-b / s)

    start = float(np.sort(data)[-round(1 / epsilon)])
    best = float(optimize.minimize_scalar(error, bounds=(start / 4, start * 4), method="bounded").x)
    y = bias(data, best) * epsilon / best
    stationary = (1 + y) / math.expm1(y) / epsilon
    assert (data > best).sum() == pytest.approx(stationary, abs=2)
    assert 0.5 < (data > best).sum() * epsilon < 3
