"""The errors of noise on counts and of shares, beside sums over the laws and draws."""

from fractions import Fraction

import numpy as np
import pytest

from nobounds.noise.additive import Additive
from nobounds.planning.counts.laws import mean_size, of_shares


@pytest.mark.parametrize("epsilon", ["0.05", "0.09", "1", "4"])
@pytest.mark.parametrize("zcdp", [False, True])
def test_the_mean_size_of_noise_is_that_of_its_law(epsilon, zcdp):
    """A sum over the whole numbers, for wide and for narrow noise."""
    size = np.arange(-2000, 2001)
    masses = np.exp(-((size * float(epsilon)) ** 2) / 2 if zcdp else -np.abs(size) * float(epsilon))
    mean = np.abs(size) @ masses / masses.sum()
    assert mean_size(Additive(Fraction(epsilon), zcdp)) == pytest.approx(mean, rel=1e-3)


def test_the_noise_of_a_huge_epsilon_is_nothing():
    """Without an overflow."""
    assert mean_size(Additive(Fraction(10**6))) < 1e-200


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("bins", [2, 10])
def test_the_error_of_shares_is_that_of_draws(bins, gaussian):
    """200,000 seeded draws of the noise of all bins, and the shares that follow."""
    rng = np.random.default_rng(1)
    noise = (rng.normal if gaussian else rng.laplace)(size=(200_000, bins))
    upto, total = np.cumsum(noise, axis=1)[:, :-1], noise.sum(axis=1, keepdims=True)
    errors = np.abs(upto - np.arange(1, bins) / bins * total)
    drawn = errors.mean(), *np.quantile(errors, [0.5, 0.95])
    assert of_shares(bins, gaussian) == pytest.approx(drawn, rel=0.01)
