"""The exponential mechanism over magnitudes: its law, its sampler, its cost, and that it needs no bounds."""

from fractions import Fraction as F

import numpy as np
import pytest
from scipy import stats

from nobounds.auditing.audit import audit
from nobounds.release.release import Release
from nobounds.research.baselines.emq import emq_rate, steps_of
from nobounds.research.baselines.mapped import mapped_law, mapped_quantile
from nobounds.research.baselines.measures import MAGNITUDES

DATA = np.array([9.0, 2.0, 2.5, 4.0, 4.0, 7.5, -3.0])  # with a tie, out of order
SPOTS = (-1e300, 1e300, 1.000001e300, 1.000002e300)  # nearly all of the mass lies between the first two
POINTS = (-1e305, 5.0, 1.0000005e300, 1.0000015e300, 1e305)  # one in each interval


@pytest.mark.parametrize(("neighbors", "rate"), [("swap", 0.75), ("add-remove", 0.75 / 0.7)])
def test_a_gap_has_its_public_mass_times_its_weight(neighbors, rate):
    """The mass of each gap is that of the measure times exp(-rate |rank - q n|), over the sum; a tie has none."""
    law = mapped_law(DATA, [0.3], epsilon=1.5, neighbors=neighbors)
    ranks = np.array([np.sum(point >= DATA) for point in (-5, 0, 2.2, 3, 5, 8, 10)])
    edges = np.array([-np.inf, -3, 2, 2.5, 4, 7.5, 9, np.inf])
    weights = np.exp(MAGNITUDES.log_masses(edges) - rate * np.abs(ranks - 2.1))
    masses = law.masses[0]
    assert masses.sum() == pytest.approx(1)
    assert masses[4] == 0
    assert masses[masses > 0] == pytest.approx(weights / weights.sum(), rel=1e-12)


def test_the_sampler_matches_the_law_and_rejects_one_30_percent_off():
    """Chi-square over the gaps, 40,000 draws at once."""
    law, wrong = (mapped_law(DATA, [0.3], epsilon=epsilon) for epsilon in (1.5, 1.95))
    draws = law.draw(np.random.default_rng(5), 40_000)[0]
    cuts = np.unique(DATA)
    counts = np.bincount(np.searchsorted(cuts, draws), minlength=len(cuts) + 1)
    for used, fits in ((law, True), (wrong, False)):
        pvalue = stats.chisquare(counts, 40_000 * used.masses[0][used.masses[0] > 0]).pvalue
        assert (pvalue > 1e-9) == fits


def test_expectations_are_those_of_draws():
    """For a distance that is capped, in the middle and in the tail."""
    data = np.random.default_rng(2).normal(850, 50, 300)
    law = mapped_law(data, [0.5, 0.9], epsilon=0.3)
    draws = law.draw(np.random.default_rng(3), 400_000)
    for row, truth in enumerate(np.quantile(data, [0.5, 0.9])):
        sample = np.minimum(np.abs(draws[row] - truth), 500)
        expected = law.expectation(lambda y, t=truth: np.minimum(np.abs(y - t), 500))[row]
        assert expected == pytest.approx(sample.mean(), abs=5 * sample.std() / 400_000**0.5)


def audited(q, rate, relation):
    """The audit over all pairs of up to four records on the spots."""

    def law(data):
        steps = steps_of(np.array(data, dtype=float), [q], [rate], -np.inf, np.inf, MAGNITUDES)
        return steps.log_density[0, np.searchsorted(steps.edges, POINTS) - 1]

    return audit(law, SPOTS, 4, relation, least=4 if relation == "swap" else 0)


@pytest.mark.parametrize("q", [F(1, 4), F(1, 2), F(3, 4)], ids=str)
@pytest.mark.parametrize("relation", ["swap", "add-remove"])
def test_it_costs_epsilon_and_so_does_its_range(relation, q):
    """No pair of data sets shows more than epsilon, and some come within 2% of it."""
    worst = audited(q, emq_rate(q, F(1), relation), relation)
    assert 0.98 < worst.epsilon <= 1 + 1e-9
    assert worst.eta <= 1 + 1e-9


def test_a_rate_a_tenth_too_large_is_caught():
    """The same audit finds more than epsilon."""
    assert audited(F(1, 2), F(55, 100), "swap").epsilon > 1.08


@pytest.mark.parametrize("offset", [0, 17, 1000])
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_it_follows_the_data_anywhere(offset, scale):
    """The error of a median of 1000 records at epsilon 1 is below 0.006 standard deviations, in any unit and place."""
    data = (np.random.default_rng(1).normal(0, 1, 1000) + offset + 0.3) * scale
    law = mapped_law(data, [0.5], epsilon=1, neighbors="add-remove")
    error = law.expectation(lambda y: np.minimum(np.abs(y - np.median(data)), 10 * np.ptp(data)))[0]
    assert error < 0.006 * scale


def test_mirrored_data_have_mirrored_answers():
    """The law of 1 - q on minus the data is the mirror of that of q."""
    law, mirror = mapped_law(DATA, [0.3], epsilon=1), mapped_law(-DATA, [0.7], epsilon=1)
    assert law.masses[0] == pytest.approx(mirror.masses[0, ::-1], rel=1e-12)


def test_the_release_says_what_it_is():
    """Its loss is that of a range-bounded mechanism, and it goes to JSON and back."""
    release = mapped_quantile(DATA, 0.5, epsilon=0.5, neighbors="add-remove", rng=np.random.default_rng(1))
    assert (release.loss.epsilon, release.loss.eta, release.loss.neighbors) == (0.5, 0.5, "add-remove")
    assert release.parameters["noise"] == "floating-point noise, for comparison only"
    assert Release.from_json(release.to_json()) == release
    with pytest.raises(TypeError, match="rng must be a numpy Generator"):
        mapped_quantile(DATA, 0.5, epsilon=1, rng=None)
