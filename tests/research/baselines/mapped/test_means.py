"""Means without bounds: near the truth far from 0, equivariant, and what the noise costs."""

import numpy as np
import pytest
from support.chance import seed_of

from nobounds.research.baselines.mapped import mapped_mean, universal_mean
from nobounds.research.baselines.mapped.means import noisy_mean, spread_of

METHODS = (universal_mean, mapped_mean)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("neighbors", ["swap", "add-remove"])
@pytest.mark.parametrize("offset", [0.0, 17.3, -1000.0])
@pytest.mark.sampled
def test_the_mean_of_many_records_is_close_wherever_they_lie(method, neighbors, offset):
    """20,000 normal records, epsilon 1: the median error of 15 runs is below a hundredth of a standard deviation."""
    data, rng = np.random.default_rng(seed_of(1)).normal(0, 5, 20_000) + 5 * offset, np.random.default_rng(seed_of(2))
    answers = [method(data, epsilon=1, neighbors=neighbors, rng=rng).value for _ in range(15)]
    assert np.median(np.abs(np.array(answers) - data.mean())) < 0.05


@pytest.mark.parametrize("method", METHODS)
def test_all_of_epsilon_is_charged(method):
    """The loss is that of the parts together."""
    release = method(range(500), epsilon="0.5", neighbors="add-remove", rng=np.random.default_rng(3))
    assert (release.statistic, release.loss.epsilon, release.loss.neighbors) == ("mean", 0.5, "add-remove")
    with pytest.raises(TypeError, match="rng must be a numpy Generator"):
        method(range(5), epsilon=1, rng=None)


@pytest.mark.parametrize("neighbors", ["swap", "add-remove"])
@pytest.mark.sampled
def test_the_noise_of_the_clipped_mean_is_scaled_to_the_clip(neighbors):
    """Of 1000 records that are all the centre, at epsilon 1: Laplace noise of 2 or 1 / 0.85 widths over n."""
    rng, records = np.random.default_rng(seed_of(4)), np.full(1000, 7.0)
    draws = np.array([noisy_mean(records, 7.0, 3.0, 1.0, neighbors, rng) for _ in range(4000)]) - 7
    expected = 3 * (2 if neighbors == "swap" else 1 / 0.85) / 1000
    assert np.abs(draws).mean() == pytest.approx(expected, rel=0.08)


def test_clipping_moves_records_to_the_nearest_end():
    """At a huge epsilon the answer is the mean of the clipped records."""
    records = np.array([-100.0, 1.0, 2.0, 3.0, 40.0])
    value = noisy_mean(records, 2.0, 3.0, 1e9, "swap", np.random.default_rng(5))
    assert value == pytest.approx((-1 + 1 + 2 + 3 + 5) / 5)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("neighbors", ["swap", "add-remove"])
def test_the_spread_is_within_a_factor_of_four(scale, neighbors):
    """The median distance of two normal records is 0.95 standard deviations; 20,000 records, epsilon 1."""
    rng = np.random.default_rng(6)
    found = spread_of(rng.normal(100, 1, 20_000) * scale, 1.0, neighbors, rng)
    assert scale / 4 <= found <= 4 * scale
