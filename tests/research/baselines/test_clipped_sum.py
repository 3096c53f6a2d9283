"""Bounds for sums, by the interquartile range and by doubling, and the sum that is clipped at them."""

import math
from functools import partial

import numpy as np
import pytest
from scipy import stats
from support.chance import seed_of

from nobounds.accounting.loss import PrivacyLoss
from nobounds.release.release import Release
from nobounds.research.baselines import (
    clipped_sum,
    clipped_sum_errors,
    doubling_bound,
    emq_quantile,
    interquartile_bounds,
)
from nobounds.research.baselines.interquartile import widening_for

SURE = 10**9  # no noise to speak of
DATA = np.random.default_rng(3).gamma(4, 8, 1001)


def at(value, neighbors="swap"):
    """A clip that is public."""
    return Release("bound", value, PrivacyLoss.pure(0, neighbors=neighbors))


def test_bounds_are_the_quartiles_scaled_up():
    """The middle of the quartiles, plus and minus 4 n**(13/30) times their distance (Smith 2011, Algorithm 1)."""
    found = interquartile_bounds(DATA, epsilon=SURE, lower=-1e5, upper=1e5, rng=np.random.default_rng(1))
    first, third = np.quantile(DATA, (0.25, 0.75))
    reach = 4 * 1001 ** (13 / 30) * (third - first)
    assert found.value == pytest.approx(((first + third) / 2 - reach, (first + third) / 2 + reach), rel=0.02)
    assert widening_for(1000) == pytest.approx(4 * 10**1.3)


def test_bounds_stay_within_those_given():
    """The lower is cut at 0 and the upper at 100, whatever the quartiles are."""
    found = interquartile_bounds(DATA, epsilon=SURE, lower=0, upper=100, rng=np.random.default_rng(1))
    assert found.value == (0.0, 100.0)


def test_two_quartiles_cost_epsilon():
    """Half each; the factor's default needs the number of records, so it is refused under add-remove."""
    given = {"epsilon": 1, "lower": 0, "upper": 100, "rng": np.random.default_rng(1)}
    assert interquartile_bounds(DATA, **given).loss.epsilon == 1.0
    with pytest.raises(ValueError, match="widening must be given under add-remove"):
        interquartile_bounds(DATA, neighbors="add-remove", **given)
    found = interquartile_bounds(DATA, neighbors="add-remove", widening=3, **given)
    assert (found.loss.epsilon, found.loss.neighbors) == (1.0, "add-remove")


@pytest.mark.parametrize(("unit", "expected"), [(1, 64.0), (3, 48.0), (0.001, 0.001 * 2**16)])
@pytest.mark.parametrize("neighbors", ["swap", "add-remove"])
def test_doubling_finds_the_first_power_of_two_with_enough_records(unit, expected, neighbors):
    """Of 1001 records between -40 and 40, 99% are within 64 in steps of 1, and within 48 in steps of 3."""
    data = np.linspace(-40, 40, 1001)
    found = doubling_bound(data, 0.99, epsilon=SURE, unit=unit, neighbors=neighbors, rng=np.random.default_rng(1))
    assert found.value == expected
    assert found.loss.epsilon == pytest.approx(SURE)


@pytest.mark.medium
@pytest.mark.sampled
def test_doubling_halts_as_above_threshold_does_and_rejects_an_epsilon_30_percent_off():
    """P(halt at k) with exponential noise and eps1 = eps2, by quadrature over the threshold's noise; chi-square."""
    n, rng = 4, np.random.default_rng(seed_of(2))  # counts are 0 at 1, 2 and 4, and 4 from 8 on; the threshold is 4
    draws = [doubling_bound([5.0] * n, 1, epsilon=1, rng=rng).value for _ in range(10_000)]
    counts = np.bincount(np.minimum(np.log2(draws).astype(int), 6), minlength=7)
    noise, weight = np.polynomial.laguerre.laggauss(60)  # in units of 1 / eps1

    def chances(eps):
        halt = np.array([np.exp(-eps * n - noise)] * 3 + [np.exp(-noise)] * 3)
        going = np.cumprod(np.concatenate([[np.ones(60)], 1 - halt]), axis=0)
        return np.append((going[:-1] * halt) @ weight, going[-1] @ weight)

    assert stats.chisquare(counts, 10_000 * chances(0.5)).pvalue > 1e-9
    assert stats.chisquare(counts, 10_000 * chances(0.65)).pvalue < 1e-9


@pytest.mark.parametrize("neighbors", ["swap", "add-remove"])
def test_a_clipped_sum_costs_what_its_clip_and_its_noise_do(neighbors):
    """2 epsilon for an EMQ of epsilon and noise of epsilon, under either relation."""
    rng = np.random.default_rng(1)
    clip = emq_quantile(DATA, 0.99, epsilon=0.5, lower=0, upper=1000, neighbors=neighbors, rng=rng)
    found = clipped_sum(DATA, clip=clip, epsilon=0.5, rng=rng)
    assert (found.loss.epsilon, found.loss.neighbors) == (1.0, neighbors)
    assert found.loss == clip.loss + PrivacyLoss.pure(0.5, neighbors=neighbors)
    assert found.parameters["clip"] == clip.value
    assert found.parameters["noise"] == "floating-point noise, for comparison only"


def test_records_are_clipped_to_0_and_the_clip():
    """Negative and missing records count as 0, those above as the clip; a negative clip is 0, of two the upper."""
    data, once = [-5.0, math.nan, 1.0, 2.0, 30.0, math.inf], partial(clipped_sum, rng=np.random.default_rng(1))
    assert once(data, clip=at(10), epsilon=SURE).value == pytest.approx(23, abs=1e-4)
    assert once(data, clip=at((-3, 10)), epsilon=SURE).value == pytest.approx(23, abs=1e-4)
    assert once(data, clip=at(-1), epsilon=1).value == 0


@pytest.mark.medium
@pytest.mark.sampled
def test_the_noise_has_the_scale_of_the_clip_over_epsilon():
    """6000 sums have the law of Laplace noise around the clipped sum; one 30% off is rejected."""
    rng = np.random.default_rng(seed_of(4))
    values = [clipped_sum(DATA[:20], clip=at(40), epsilon=0.5, rng=rng).value for _ in range(6000)]
    centre = np.minimum(DATA[:20], 40).sum()
    assert np.mean(values) == pytest.approx(centre, abs=6 * 80 * math.sqrt(2 / 6000))
    assert np.var(values) == pytest.approx(2 * 80**2, rel=0.15)
    assert stats.kstest(values, stats.laplace(centre, 80).cdf).pvalue > 1e-9
    assert stats.kstest(values, stats.laplace(centre, 104).cdf).pvalue < 1e-9


def test_expected_errors_are_those_of_many_sums():
    """E|b + noise| = b + s exp(-b / s), for clips below, among and above the data."""
    rng, clips = np.random.default_rng(5), np.array([0.0, 5.0, 60.0, 500.0])
    found = clipped_sum_errors(DATA, clips, epsilon=0.5)
    for clip, error in zip(clips, found, strict=True):
        noise = rng.laplace(0, clip / 0.5, 400_000)
        assert error == pytest.approx(np.abs(np.minimum(DATA, clip).sum() - DATA.sum() + noise).mean(), rel=0.01)


def test_parameters_are_checked():
    """By name and type."""
    rng = np.random.default_rng(1)
    with pytest.raises(TypeError, match="clip must be a Release"):
        clipped_sum(DATA, clip=10.0, epsilon=1, rng=rng)
    with pytest.raises(ValueError, match="unit must be"):
        doubling_bound(DATA, 0.5, epsilon=1, unit=1e300, rng=rng)
    with pytest.raises(TypeError, match="rng must be a numpy Generator"):
        doubling_bound(DATA, 0.5, epsilon=1, rng=7)
