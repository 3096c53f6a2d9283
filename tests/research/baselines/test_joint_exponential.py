"""JointExp: its law against enumeration, its sampler, its sums in linear time, and its cost."""

import math
from collections import Counter
from fractions import Fraction as F
from itertools import combinations_with_replacement

import numpy as np
import pytest
from scipy import special, stats
from support.chance import seed_of

from nobounds.auditing.audit import audit
from nobounds.research.baselines import emq_law, joint_law, joint_quantiles
from nobounds.research.baselines.joint_exponential import JointLaw, _passed_on, joint_rate

DATA = np.array([7.0, 1.0, 2.0, 2.0, 6.5])  # with a tie, out of order
BOUNDS = {"lower": 0, "upper": 10}
QS = (F(1, 4), F(1, 2), F(9, 10))


def log_volume(places, edges):
    """The volume of increasing points in these intervals."""
    widths = np.diff(edges)
    with np.errstate(divide="ignore"):
        return sum(np.log(widths[i]) for i in places) - sum(math.lgamma(1 + k) for k in Counter(places).values())


def enumerated(data, qs, rate):
    """The probability of every sequence of intervals, from the definition of the utility."""
    edges, n, weights = np.array([0.0, *np.sort(data), 10.0]), len(data), {}
    for places in combinations_with_replacement(range(n + 1), len(qs)):
        ranks, between = (F(0), *qs, F(1)), np.diff([0, *places, n])
        misses = sum(abs(c - float((b - a) * n)) for a, b, c in zip(ranks[:-1], ranks[1:], between, strict=True))
        weights[places] = math.exp(log_volume(places, edges) - rate * misses)
    return {places: weight / math.fsum(weights.values()) for places, weight in weights.items()}


@pytest.mark.parametrize("qs", [(F(1, 2),), (F(1, 3), F(2, 3)), QS, (F(0), F(1, 2), F(1, 2), F(1))], ids=str)
@pytest.mark.parametrize(("epsilon", "neighbors"), [(F(2), "swap"), (F(1, 2), "add-remove")])
def test_the_law_is_that_of_all_sequences(qs, epsilon, neighbors):
    """The probability of every sequence of intervals, and so the sum of all weights, is that of enumeration."""
    law = joint_law(DATA, qs, epsilon=epsilon, neighbors=neighbors, **BOUNDS)
    expected = enumerated(DATA, qs, float(joint_rate(qs, epsilon, neighbors)))
    found = {places: math.exp(law.log_chance(places)) for places in expected}
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-300)


@pytest.mark.medium
@pytest.mark.sampled
def test_the_sampler_matches_the_law_and_rejects_one_30_percent_off():
    """Chi-square over the likely sequences of intervals, 20,000 draws."""
    law, rng = joint_law(DATA, QS, epsilon=2, **BOUNDS), np.random.default_rng(seed_of(5))
    draws = np.array([law.draw(rng) for _ in range(20_000)])
    assert (np.diff(draws, axis=1) >= 0).all()
    places = Counter(map(tuple, np.searchsorted(np.sort(DATA), draws, side="right").tolist()))
    for rate, fits in ((0.5, True), (0.65, False)):
        expected = {key: chance for key, chance in enumerated(DATA, QS, rate).items() if chance > 1e-3}
        counts = np.array([places[key] for key in expected] + [20_000 - sum(places[key] for key in expected)])
        chances = np.array([*expected.values(), 1 - math.fsum(expected.values())])
        pvalue = stats.chisquare(counts, 20_000 * chances).pvalue
        assert (pvalue > 1e-9) if fits else (pvalue < 1e-9)


@pytest.mark.medium
@pytest.mark.sampled
def test_points_in_one_interval_are_uniform():
    """Three quantiles of no records are three ordered uniform points: the middle one is Beta(2, 2)."""
    law, rng = joint_law([], QS, epsilon=1, **BOUNDS), np.random.default_rng(seed_of(6))
    middles = [law.draw(rng)[1] / 10 for _ in range(5000)]
    assert stats.kstest(middles, stats.beta(2, 2).cdf).pvalue > 1e-9


@pytest.mark.parametrize("neighbors", ["swap", "add-remove"])
@pytest.mark.parametrize("q", [F(1, 10), F(1, 2), F(1)], ids=str)
def test_one_quantile_is_emq(q, neighbors):
    """With m = 1 the weights are those of EMQ, under both relations."""
    law = joint_law(DATA, [q], epsilon=1, neighbors=neighbors, **BOUNDS)
    emq = emq_law(DATA, [q], epsilon=1, neighbors=neighbors, **BOUNDS)
    assert [math.exp(law.log_chance((i,))) for i in range(6)] == pytest.approx(emq.masses[0], rel=1e-12)


@pytest.mark.parametrize("target", [0.0, 0.5, 1.0, 2.5, 7.0, 39.9, 1000.0])
@pytest.mark.parametrize("rate", [1e-6, 0.25, 300.0])
def test_sums_in_linear_time_are_the_plain_sums(target, rate):
    """Whatever the target and the rate, and with weights of nothing among them."""
    weights = np.random.default_rng(1).normal(0, 30, 41)
    weights[[0, 7, 8, 40]] = -np.inf
    i = np.arange(41)
    kernel = np.where(i[:, None] > i, -rate * np.abs(i[:, None] - i - target), -np.inf)
    with np.errstate(invalid="ignore"):
        plain = special.logsumexp(weights + kernel, axis=1)
    found = _passed_on(weights, rate, target)
    assert (np.isneginf(found) == np.isneginf(plain)).all()
    assert found[1:] == pytest.approx(plain[1:], rel=1e-11, abs=1e-8)


@pytest.mark.parametrize("relation", ["swap", "add-remove"])
@pytest.mark.parametrize("qs", [(F(1, 2),), (F(1, 4), F(3, 4)), (F(1, 2), F(3, 4))], ids=str)
def test_it_costs_epsilon_and_so_does_its_range(relation, qs):
    """Over all pairs of up to four records, densities differ by no more than epsilon, and come within 5% of that."""
    spots = (0.0, 1e9, 1e9 + 1, 1e9 + 2, 1e9 + 3)
    cells = list(combinations_with_replacement(range(4), len(qs)))

    def law(data):
        ordered = np.array(data, dtype=float)
        joint = JointLaw.of(ordered, qs, joint_rate(qs, F(1), relation), spots[0], spots[-1])
        ranks = np.searchsorted(ordered, spots[:-1], side="right")
        places = [tuple(int(ranks[c]) for c in cell) for cell in cells]
        return np.array([joint.log_chance(place) - log_volume(place, joint.edges) for place in places])

    found = audit(law, spots, 4, relation, least=4 if relation == "swap" else 0)
    assert 0.95 < found.epsilon <= 1 + 1e-9
    assert 0.95 < found.eta <= 1 + 1e-9


def test_without_noise_to_speak_of_they_are_the_quantiles():
    """At a huge epsilon each answer is between the records around its rank, of a thousand records too."""
    data = np.sort(np.random.default_rng(2).normal(0, 5, 1000))
    found = joint_quantiles(data, QS, epsilon=10**6, lower=-25, upper=25, rng=np.random.default_rng(1))
    for value, rank in zip(found.value, (250, 500, 900), strict=True):
        assert data[rank - 1] <= value <= data[rank]
    assert (found.loss.epsilon, found.loss.eta) == (1e6, 1e6)


def test_ranks_must_be_in_order():
    """The answers are, so the questions must be."""
    with pytest.raises(ValueError, match="qs must be in increasing order"):
        joint_quantiles(DATA, [0.9, 0.1], epsilon=1, rng=np.random.default_rng(1), **BOUNDS)
