"""Piecewise Laplace: its density, its sampler, its cost, and where it is better than the exponential mechanism."""

from fractions import Fraction as F

import numpy as np
import pytest
from scipy import integrate, stats
from support.chance import seed_of

from nobounds.auditing.audit import audit
from nobounds.research.baselines.emq import emq_rate
from nobounds.research.baselines.mapped import mapped_law, piecewise_laplace, piecewise_law
from nobounds.research.baselines.mapped.piecewise_laplace import pieces
from nobounds.research.baselines.measures import FLAT, MAGNITUDES

DATA = np.array([1.0, 2.0, 2.5, 4.0, 4.0, 7.5, 9.0])


def place(y, lower=0.0, upper=10.0, data=DATA):
    """Ranks between the bounds, linear between records; the last of equal records counts from the right."""
    edges = np.concatenate([[lower], data, [upper]])
    i = np.searchsorted(edges, y, side="right") - 1
    return i + (y - edges[i]) / (edges[i + 1] - edges[i])


def test_the_density_falls_exponentially_in_ranks():
    """On [0, 10], masses are integrals of exp(-rate |place - target|), the target being numpy's."""
    law = pieces(DATA, F(3, 10), 0.6, 0.0, 10.0, FLAT)
    target, cuts = 1 + 0.3 * 6, [*np.unique(DATA), 2.4]

    def mass(a, b):
        inside = [cut for cut in cuts if a < cut < b]
        return integrate.quad(lambda y: np.exp(-0.6 * abs(place(y) - target)), a, b, points=inside or None)[0]

    whole = mass(0, 10)
    expected = [mass(a, b) / whole if b > a else 0.0 for a, b in zip(law.edges[:-1], law.edges[1:], strict=True)]
    assert np.quantile(DATA, 0.3) in law.edges
    assert law.masses[0] == pytest.approx(expected, rel=1e-7)
    assert law.masses.sum() == pytest.approx(1)


def test_equal_local_sensitivities_give_laplace_noise():
    """Records of equal distance on a long line: the distance from the median is exponential."""
    data = np.arange(1.0, 400.0)
    law = pieces(data, F(1, 2), 0.5, 0.0, 400.0, FLAT)
    draws = law.draw(np.random.default_rng(4), 20_000)[0] - 200
    assert stats.kstest(draws, stats.laplace(0, 2).cdf).pvalue > 1e-9
    assert stats.kstest(draws, stats.laplace(0, 2.6).cdf).pvalue < 1e-9


SPOTS = (-1e300, 1e300, 1.000001e300, 1.000002e300)  # nearly all of the mass lies between the first two
POINTS = np.concatenate([[-1e305, -5.0, 1e-3, 50.0, 1e305], 1e300 * (1 + 1e-6 * np.linspace(0.05, 1.95, 20))])


def log_density(law, points):
    """The log-density with regard to the measure, tilts included."""
    i = np.searchsorted(law.edges, points) - 1
    found = []
    for k, point in zip(i, points, strict=True):
        left, right, tilt = law.edges[k], law.edges[k + 1], law.tilts[k]
        whole = law.measure.log_masses(np.array([left, right]))[0]
        share = np.exp(law.measure.log_masses(np.array([left, point]))[0] - whole)
        mean = np.expm1(tilt) / tilt if abs(tilt) > 1e-12 else 1.0
        found.append(law.log_masses[0, k] - whole + tilt * share - np.log(mean))
    return np.array(found)


@pytest.mark.medium
@pytest.mark.parametrize("q", [F(1, 4), F(1, 2), F(3, 4)], ids=str)
@pytest.mark.parametrize("relation", ["swap", "add-remove"])
def test_it_costs_epsilon_and_so_does_its_range(relation, q):
    """No pair of data sets of up to four records shows more than epsilon, and some pair more than two thirds of it."""

    def law(data):
        found = pieces(np.array(data, dtype=float), q, float(emq_rate(q, F(1), relation)), -np.inf, np.inf, MAGNITUDES)
        return log_density(found, POINTS)

    worst = audit(law, SPOTS, 4, relation, least=4 if relation == "swap" else 1)
    assert 0.66 < worst.epsilon <= 1 + 1e-6
    assert worst.eta <= 1 + 1e-6


def test_it_is_a_little_better_than_the_exponential_mechanism():
    """For the median of normal data, on average over 20 samples, by less than a tenth."""
    ratios = []
    for seed in range(20):
        data = np.random.default_rng(seed).normal(850, 50, 500)
        terms = {"epsilon": 1, "neighbors": "add-remove"}
        laws = piecewise_law(data, 0.5, **terms), mapped_law(data, [0.5], **terms)
        truth = float(np.median(data))
        ours, theirs = (law.expectation(lambda y, t=truth: np.abs(y - t).clip(max=1e4))[0] for law in laws)
        ratios.append(ours / theirs)
    assert 0.9 < np.mean(ratios) < 1


@pytest.mark.sampled
def test_the_release_says_what_it_is():
    """Its loss, and an answer near the median."""
    release = piecewise_laplace(range(1000), 0.5, epsilon=1, rng=np.random.default_rng(seed_of(1)))
    assert release.loss.epsilon == 1 and abs(release.value - 499.5) < 20
    assert piecewise_law([], 0.5, epsilon=1).masses.sum() == pytest.approx(1)
