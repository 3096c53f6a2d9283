"""EMQ: its law, its sampler, its errors and its cost."""

from fractions import Fraction as F

import numpy as np
import pytest
from scipy import integrate, stats
from support.chance import seed_of
from support.laws import exponential_mechanism_error

from nobounds.auditing.audit import audit
from nobounds.release.release import Release
from nobounds.research.baselines import Steps, emq_law, emq_quantile
from nobounds.research.baselines.emq import emq_rate, steps_of

DATA = np.array([9.0, 2.0, 2.5, 4.0, 4.0, 7.5, 3.0])  # with a tie, out of order
BOUNDS = {"lower": 0, "upper": 10}


def density(point, data, q, rate):
    """What the density is proportional to, record by record."""
    return np.exp(-rate * abs(sum(x <= point for x in data) - q * len(data)))


@pytest.mark.parametrize(("neighbors", "rate"), [("swap", 0.75), ("add-remove", 0.75 / 0.7)])
def test_the_law_is_the_integral_of_the_weights(neighbors, rate):
    """The mass below a point is the integral of exp(-rate |records up to it - q n|) from the lower bound on."""
    law = emq_law(DATA, [0.3], epsilon=1.5, neighbors=neighbors, **BOUNDS)
    cuts = [0, *np.unique(DATA), 10]

    def integral(end):
        within = [cut for cut in cuts if 0 < cut < end]
        return integrate.quad(density, 0, end, args=(DATA, 0.3, rate), points=within, limit=200)[0]

    points = np.array([0.5, 2.0, 2.2, 3.9, 4.0, 6.0, 9.9, 10.0])
    expected = [integral(point) / integral(10) for point in points]
    assert law.below(points)[0] == pytest.approx(expected, rel=1e-9)
    assert law.masses.sum() == pytest.approx(1)


def test_the_log_density_is_the_mass_over_the_width():
    """It is NaN only between equal records, where there is no mass."""
    law = emq_law(DATA, [0.3, 0.9], epsilon=1.5, **BOUNDS)
    tied = np.diff(law.edges) == 0
    assert tied.sum() == 1 and np.isnan(law.log_density[:, tied]).all() and (law.masses[:, tied] == 0).all()
    whole = np.exp(law.log_density[:, ~tied]) @ np.diff(law.edges)[~tied]
    assert whole == pytest.approx(1)


def test_the_sampler_matches_the_law_and_rejects_one_30_percent_off():
    """Chi-square over cells of an eighth of the probability of each interval, 40,000 draws."""
    law, off = (emq_law(DATA, [0.3], epsilon=epsilon, **BOUNDS) for epsilon in (1.5, 1.95))
    points = law.draw(np.random.default_rng(5), 40_000)[0]
    cuts = np.unique(np.concatenate([np.linspace(a, b, 3) for a, b in zip(law.edges[:-1], law.edges[1:], strict=True)]))
    counts = np.histogram(points, cuts)[0]
    assert stats.chisquare(counts, 40_000 * np.diff(law.below(cuts)[0])).pvalue > 1e-9
    assert stats.chisquare(counts, 40_000 * np.diff(off.below(cuts)[0])).pvalue < 1e-9


def test_errors_are_expectations_under_the_law():
    """For many q at once, with rounding and without, and as another implementation has them."""
    rng = np.random.default_rng(2)
    data, qs = np.rint(rng.gamma(4, 10, 300)), (0.05, 0.5, 0.95)
    truths = np.quantile(data, qs)
    law = emq_law(data, qs, epsilon=0.5, lower=0, upper=200)
    draws = law.draw(rng, 200_000)
    for found, sample in (
        (law.mean_error(truths), draws),
        (law.rounded_error(truths, 5.0), 5 * np.rint(draws / 5)),
    ):
        assert found == pytest.approx(np.abs(sample - truths[:, None]).mean(axis=1), rel=0.02)
    for q, truth, plain, rounded in zip(
        qs, truths, law.mean_error(truths), law.rounded_error(truths, 5.0), strict=True
    ):
        given = {"epsilon": 0.5, "low": 0, "high": 200}
        assert plain == pytest.approx(exponential_mechanism_error(data, q, truth, **given), rel=1e-9)
        assert rounded == pytest.approx(exponential_mechanism_error(data, q, truth, grid=5, **given), rel=1e-9)


SPOTS = (0.0, 1e6, 1e6 + 1, 1e6 + 2)  # one wide interval takes nearly all of the mass


def audited(q, rate, relation, most):
    """The audit of EMQ over all pairs of up to so many records on the spots."""

    def law(data):
        steps = steps_of(np.array(data, dtype=float), [q], [rate], SPOTS[0], SPOTS[-1])
        return np.log(np.diff(steps.below(np.array(SPOTS))[0]))

    return audit(law, SPOTS, most, relation, least=most if relation == "swap" else 0)


@pytest.mark.medium
@pytest.mark.parametrize(("q", "most"), [(F(1, 4), 4), (F(1, 2), 4), (F(9, 10), 10)], ids=str)
@pytest.mark.parametrize("relation", ["swap", "add-remove"])
def test_it_costs_epsilon_and_so_does_its_range(relation, q, most):
    """No pair of data sets shows more than epsilon, nor a wider range, and some come within 1% of both."""
    found = audited(q, emq_rate(q, F(1), relation), relation, most)
    assert 0.99 < found.epsilon <= 1 + 1e-9
    assert 0.99 < found.eta <= 1 + 1e-9


def test_a_rate_a_tenth_too_large_is_caught():
    """The same audit finds more than epsilon."""
    assert audited(F(1, 2), F(55, 100), "swap", 4).epsilon > 1.08


@pytest.mark.sampled
def test_without_noise_to_speak_of_it_is_the_quantile():
    """At a huge epsilon the answer lies between the two records around rank q n."""
    rng = np.random.default_rng(seed_of(1))
    for _ in range(20):
        assert 3.0 <= emq_quantile(DATA, "3/7", epsilon=10**6, rng=rng, **BOUNDS).value <= 4.0


def test_records_outside_the_bounds_are_clamped_and_missing_ones_are_at_the_lower():
    """So their number does not change, whatever they are."""
    clamped = emq_law([-50.0, np.nan, 3.0, 400.0, np.inf], [0.5], epsilon=1, **BOUNDS)
    assert clamped.edges.tolist() == [0, 0, 0, 3, 10, 10, 10]


def test_the_release_says_what_it_is():
    """Its loss is that of a range-bounded mechanism, and it goes to JSON and back."""
    found = emq_quantile(DATA, 0.5, epsilon=0.5, neighbors="add-remove", rng=np.random.default_rng(1), **BOUNDS)
    assert (found.loss.epsilon, found.loss.eta, found.loss.neighbors) == (0.5, 0.5, "add-remove")
    assert found.parameters["noise"] == "floating-point noise, for comparison only"
    assert Release.from_json(found.to_json()) == found


def test_no_records_are_one_interval():
    """Without records the answer is uniform between the bounds."""
    law = emq_law([], [0.5], epsilon=1, **BOUNDS)
    assert isinstance(law, Steps) and law.below(np.array([2.5])) == pytest.approx(0.25)


def test_parameters_are_checked():
    """By name, and the generator has no default."""
    rng = np.random.default_rng(1)
    with pytest.raises(ValueError, match="lower must be less than upper"):
        emq_quantile(DATA, 0.5, epsilon=1, lower=10, upper=0, rng=rng)
    with pytest.raises(ValueError, match="q must"):
        emq_quantile(DATA, 1.5, epsilon=1, rng=rng, **BOUNDS)
    with pytest.raises(TypeError, match="rng must be a numpy Generator"):
        emq_quantile(DATA, 0.5, epsilon=1, rng=None, **BOUNDS)
    with pytest.raises(ValueError, match="qs must have at least one"):
        emq_law(DATA, [], epsilon=1, **BOUNDS)
