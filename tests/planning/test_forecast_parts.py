"""What forecasts are made of: quick laws that agree with the exact ones, thin data sets that stand for whole ones."""

import random
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.clip_errors import sum_plan
from support.laws import SEVEN, TWENTY, answer_law

import nobounds as nb
from nobounds.counting.histogram import Histogram
from nobounds.counting.second_look import Counts
from nobounds.engines.memory.arrays import column
from nobounds.ladders.frame import Frame
from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms.decisions import FREE
from nobounds.mechanisms.exponential_mechanism import weighted_law
from nobounds.mechanisms.flip import flip_law
from nobounds.mechanisms.halting import Law
from nobounds.mechanisms.quick_laws import _gauss, choice_blocks, spread, walk_blocks
from nobounds.mechanisms.runs import Runs
from nobounds.mechanisms.walk import Walk
from nobounds.planning.answer_errors import likely_routes, outcomes, point
from nobounds.planning.expectation import expect, together
from nobounds.planning.families import Shape
from nobounds.planning.needed import MOST, smallest
from nobounds.planning.samples import ALL, Sample, SampleCounts, SampleView, Sampling
from nobounds.planning.sum_errors import clip_starts
from nobounds.planning.sum_errors import outcomes as sum_outcomes
from nobounds.ranks.framing import Around
from nobounds.ranks.values import floats_at
from nobounds.ranks.view import View
from nobounds.statistics.searched import planned

LINE = Ladder.float_bits()


def sample_of(data):
    """A data set as a sample, each value with its number of records."""
    return Sample(*np.unique(np.asarray(data, dtype=float), return_counts=True))


@pytest.mark.parametrize(("eps1", "eps2"), [(F(1, 50), F(1, 30)), (F(1, 2), F(1, 2)), (F(8), F(3))])
@pytest.mark.parametrize("step", [F(1), F(1, 10)])
def test_a_quick_walk_halts_where_the_exact_one_does(eps1, eps2, step):
    """The mean of 64 quick laws agrees with the exact law to 1e-3, wherever a block ends."""
    starts, levels = np.array([0, 700, 1000, 1003, 1010, 1500]), np.array([0, 20, 60, 61, 75, 80])
    walk = Walk(starts, levels, 3000, F(66), step, eps1, eps2, rising=True)
    found = [walk_blocks(walk, number) for number in range(64)]
    places = np.unique(np.concatenate([blocks.last for blocks in found]))[:-1]
    passed = np.mean([[b.masses[b.last <= place].sum() for place in places] for b in found], axis=0)
    assert passed == pytest.approx(1 - Law(walk).tail(places + 1), abs=1e-3)
    assert all(blocks.masses.sum() == pytest.approx(1, abs=1e-4) for blocks in found)
    assert all(np.all(blocks.first <= blocks.last) for blocks in found)


@pytest.mark.parametrize("rate", [F(1, 100), F(1, 2), F(5)])
@pytest.mark.parametrize(("weighted", "law"), [(False, flip_law), (True, weighted_law)], ids=["flip", "exponential"])
def test_a_quick_choice_is_that_of_the_exact_law(rate, weighted, law):
    """The masses agree with the exact law to 1e-6."""
    runs = Runs.of(Histogram.of([np.repeat(SEVEN, 5)], TWENTY), F(1, 3), rate)
    first, last, masses = choice_blocks(runs, weighted)
    exact = law(runs)
    assert masses == pytest.approx(exact.tail(first) - exact.tail(last + 1), abs=1e-6)


@pytest.mark.medium
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=12), st.fractions(0, 1), st.floats(-5, 5))
def test_a_sample_has_the_quantiles_and_ranks_of_its_records(data, q, answer):
    """With repeated values and without."""
    sample = sample_of(data)
    assert sample.quantile(float(q)) == pytest.approx(np.quantile(data, float(q)), abs=1e-9)
    below, up_to = sum(x < answer for x in data), sum(x <= answer for x in data)
    expected = max(below - float(q) * len(data), float(q) * len(data) - up_to, 0)
    assert sample.rank_errors(np.array([answer]), float(q))[0] == pytest.approx(expected, abs=1e-9)


@given(st.lists(st.integers(-40, 40), min_size=1, max_size=30), st.integers(0, 30), st.integers(0, 30))
def test_the_histogram_of_a_sample_is_exact_around_its_ranks(data, low, high):
    """Between two ranks the records below each rung are counted right, and all of them are there."""
    ladder, sample = Ladder.grid(1), sample_of(data)
    whole, near = Histogram.of([np.array(data, dtype=float)], ladder), sample.histogram(ladder, low, high)
    assert near.total == len(data)
    for rung in whole.rungs.tolist():
        if low <= whole.below(rung) and whole.below(rung + 1) <= high:
            assert (near.below(rung), near.below(rung + 1)) == (whole.below(rung), whole.below(rung + 1))
    full = SampleCounts.on(sample, ladder).full(ladder)
    assert np.array_equal(full.rungs, whole.rungs) and np.array_equal(full.counts, whole.counts)


@pytest.mark.parametrize("n", [1, 2, 1000, ALL, ALL + 1, 100_000, 10**9])
@pytest.mark.parametrize("ranks", [(0.5,), (0.0, 1.0), (0.25, 0.2501, 0.75)])
def test_a_fresh_data_set_has_all_its_records(n, ranks):
    """In order, n in all, and near the quantiles of its shape; and the same number gives the same one."""
    sampling = Sampling(Shape.of("uniform"), n, ranks)
    for sample in (sampling.fresh(1), sampling.typical()):
        assert sample.total == n and np.all(np.diff(sample.values) >= 0) and sample.counts.min() > 0
        assert len(sample.values) <= 20_000
        assert abs(sample.quantile(0.5) - 0.5) < 4 / np.sqrt(n) + 0.01
    assert np.array_equal(sampling.fresh(3).values, sampling.fresh(3).values)


def test_gauss_nodes_are_those_of_numpy():
    """Nodes and weights of the Legendre polynomial, between 0 and 1."""
    nodes, weights = np.polynomial.legendre.leggauss(len(_gauss()[0]))
    assert _gauss() == (pytest.approx((nodes + 1) / 2, abs=1e-15), pytest.approx(weights / 2, rel=1e-12))


@pytest.mark.parametrize("n", [1000, 40_000])
def test_stratified_data_sets_share_out_the_laws_of_their_gaps(n):
    """Each has the gaps of independent records; in the mean over a series every gap is much nearer to its mean."""
    plain, shared = (Sampling(Shape.of("uniform"), n, (0.5,), strata) for strata in (1, 8))
    gaps = [
        np.array([np.diff(s.values[np.searchsorted(s.up_to, n // 2) :][:41]) for s in map(each.fresh, range(200))]) * n
        for each in (plain, shared)
    ]
    for each in gaps:
        assert each.mean() == pytest.approx(1, abs=0.07) and each.var() == pytest.approx(1, abs=0.15)
    independent, stratified = (each.reshape(25, 8, 40).mean(axis=1).var(axis=0).mean() for each in gaps)
    assert stratified < independent / 4
    assert np.array_equal(shared.fresh(11).values, shared.fresh(11).values)


@pytest.mark.medium
def test_the_numbers_below_a_window_vary_as_they_should():
    """The records below the median of the shape have the variance n / 4, also where most are not drawn one by one."""
    sampling = Sampling(Shape.of("uniform"), 40_000, (0.5,))
    below = [int(s.counts[s.values < 0.5].sum()) for s in map(sampling.fresh, range(400))]
    assert np.mean(below) == pytest.approx(20_000, abs=5 * 100 / 20)
    assert np.var(below) == pytest.approx(10_000, rel=0.35)


@pytest.mark.medium
@pytest.mark.parametrize("resolution", [None, "0.25", 1])
@pytest.mark.parametrize("q", ["0", "0.3", "0.5", "1"])
@pytest.mark.parametrize("bounds", [{}, {"lower": 0}, {"lower": -3, "upper": 40}], ids=str)
def test_many_answers_at_once_are_the_answers_one_by_one(resolution, q, bounds):
    """On every route of a question, in a frame and without one."""
    asked = planned(column(np.zeros(0)), (F(q),), epsilon=1, resolution=resolution, **bounds)
    for size in (0, 100, 1000, 10**6):
        plan = asked.plan(size)
        route = plan.routes[0].within(plan.frame and Frame(17.0, 3, plan.frame.unit))
        positions = np.unique([abs(route.stop - route.start) * k // 40 for k in range(41)])
        expected = np.array([asked.value_at(route, k) for k in positions.tolist()], dtype=float)
        assert np.array_equal(floats_at(asked.ladder, route, positions), expected)


@pytest.mark.medium
@pytest.mark.parametrize(("n", "q", "epsilon"), [(300, "0.5", 1), (300, "0.9", 0.5), (40, "0.5", 1), (300, "1", 1)])
def test_quick_errors_on_one_data_set_are_those_of_the_exact_law(n, q, epsilon):
    """The expected rank error over all ways agrees with the exact law to 2.5%, and the median answer is its median."""
    data, rank = np.random.default_rng(n).lognormal(2, 1, n), float(q)
    sample, asked = sample_of(data), planned(column(data), (F(q),), epsilon=epsilon)
    quick = expect(likely_routes(asked, 0, sample), lambda route, k: outcomes(asked, 0, route, sample, k), 1e9, (256,))
    law = answer_law(data, q, least=1e-4, epsilon=epsilon)
    values, masses = law.points()
    masses /= masses.sum()
    assert quick.rank == pytest.approx(sample.rank_errors(values, rank) @ masses, rel=0.025)
    middle = point(asked, sample, 0.5)
    assert masses[values < middle].sum() - 0.05 <= 0.5 <= masses[values <= middle].sum() + 0.05


def test_scales_are_as_likely_as_in_the_exact_law():
    """Those of deviations from a centre, for as many nats as a frame costs: the probabilities agree to 1e-6."""
    data = np.random.default_rng(2).lognormal(size=1000)
    views = SampleView(sample_of(data), LINE), View(Counts.of(column(data).chunks, LINE))
    quick, exact = (view.spread(Around(1.0, None), F(40, 1000), lambda: FREE) for view in views)
    found, law = dict(quick.quick_outcomes()), dict(exact.outcomes())
    assert max(law.values()) > 0.3
    assert all(found.get(octave, 0.0) == pytest.approx(chance, abs=1e-6) for octave, chance in law.items())


@pytest.mark.medium
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.parametrize("epsilon", [0.3, 3])
def test_quick_errors_of_a_sum_on_one_data_set_are_near_those_of_releases(epsilon, neighbors):
    """The expected error is that of 100 releases or up to half above it, for integers, of which none can be missing."""
    data = np.random.default_rng(5).gamma(2, 500, 3000).astype(np.int64)
    sample = sample_of(data)
    plan = sum_plan(data, epsilon, neighbors)
    starts = clip_starts(plan, sample)
    quick = expect(starts, lambda start, k: sum_outcomes(*start, sample, k), float(data.sum()), (256,))
    released = (nb.sum(data, epsilon=epsilon, neighbors=neighbors, rng=random.Random(k)).value for k in range(100))
    measured = np.mean([abs(value - int(data.sum())) for value in released])
    assert 0.8 * measured < quick.mean < 1.6 * measured


def test_expectations_weigh_the_ways():
    """Errors of three ways with known laws have the mean, the median and the 95% of their mixture."""
    laws = {0.6: 1.0, 0.395: 4.0, 0.005: 1000.0}

    def found(size, number):
        errors = size * (np.arange(100) + spread(number)) / 100
        return errors, errors, np.ones(100)

    errors = expect(list(laws.items()), found, 100.0)
    assert errors.rank == pytest.approx(0.3 + 0.79 + 2.5, rel=0.01)
    assert errors.mean == pytest.approx(0.3 + 0.79 + 0.005 * 95, rel=0.01)  # capped at 100: a tenth counts in full
    assert errors.median == pytest.approx(0.5 / (0.6 + 0.395 / 4), rel=0.02)
    assert errors.most == pytest.approx(4 * (0.95 - 0.6) / 0.395, rel=0.02)


@given(st.lists(st.sampled_from([1e-6, 1e-3, 0.009, 0.02, 0.5]), min_size=1, max_size=20))
def test_ways_taken_together_keep_their_probability(chances):
    """Common ways stay as they are, rare ones add up, and at most four of them are one."""
    asked = list(zip(chances, range(len(chances)), strict=True))
    found = list(together(asked))
    assert sum(chance for chance, _ in found) == pytest.approx(sum(chances))
    assert set(way for way in asked if way[0] > 0.01) <= set(found)
    assert all(chance <= 4 * 0.009 for chance, way in found if chances[way] <= 0.01)


@given(st.floats(2e-6, 18), st.floats(0.5, 2))
def test_the_smallest_number_is_found_whatever_the_quick_look_says(place, wrong):
    """It will do, it has three digits, and 2.5% less will not do."""
    found = smallest(lambda x: x >= place * wrong, lambda x: x >= place)
    assert found is not None and place <= found <= 1.025 * place
    assert float(f"{float(found):.3g}") == float(found)


def test_no_number_is_found_where_none_will_do():
    """None up to the most that is tried; and what always does is the least."""
    assert smallest(lambda x: True, lambda x: False) is None
    assert smallest(lambda x: False, lambda x: False) is None
    assert smallest(lambda x: False, lambda x: x == MOST) == MOST
    assert smallest(lambda x: True, lambda x: True) == F(1, 10**6)


def test_samples_of_floats_are_smoothed_and_others_are_not():
    """Whole numbers, gridded and mostly tied records stay themselves; floats are resampled between their ends."""
    u = (np.arange(5000) + 0.5) / 5000
    floats = np.sort(np.random.default_rng(1).normal(size=500))
    smooth = Shape.of(floats).at(u)
    assert len(np.unique(smooth)) == 5000 and floats[0] <= smooth[0] and smooth[-1] <= floats[-1]
    assert np.quantile(smooth, [0.1, 0.5, 0.9]) == pytest.approx(np.quantile(floats, [0.1, 0.5, 0.9]), abs=0.05)
    for shape in (Shape.of(np.arange(7)), Shape.of(floats, resolution=1e-9), Shape.of(np.round(floats, 1))):
        values = shape.at(u)
        assert len(np.unique(values)) <= 500 and np.all(np.diff(values) >= 0)
    assert Shape.of("lognormal", resolution="0.5").at(u) * 2 == pytest.approx(np.rint(Shape.of("lognormal").at(u) * 2))
