"""The private frame: near the middle of the data at every offset, as wide as they are, and private (exact laws)."""

import math
from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.ladders import numbers

from nobounds.auditing.audit import audit
from nobounds.counting.second_look import Counts
from nobounds.ladders.frame import Frame
from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms.exponential_mechanism import weighted_law
from nobounds.programs.law import paths
from nobounds.ranks.framing import (
    DEEPEST,
    HALF,
    OCTAVES,
    Around,
    FrameRule,
    deviation_octaves,
    expected,
    octave_counts,
    octave_runs,
    prior_choice,
)
from nobounds.ranks.law import AnswerLaw
from nobounds.ranks.problem import Problem
from nobounds.ranks.question import Question
from nobounds.ranks.tuning import TUNING
from nobounds.ranks.view import View

N = 1000
FLOATS, WHOLE = Ladder.float_bits(8), Ladder.grid(1)
SHAPES = {
    "normal": lambda rng: rng.normal(0, 1, N),
    "uniform": lambda rng: rng.uniform(-1.7, 1.7, N),
    "lognormal": lambda rng: rng.lognormal(0, 1, N) / 2,
    "pareto": lambda rng: rng.pareto(1.5, N),
    "two heaps": lambda rng: rng.choice([-1.0, 1.0], N) + rng.normal(0, 0.1, N),
}


def rule_of(problem, nats=1):
    """The frame that is bought for N records, with the default constants times `nats`."""
    return FrameRule.of(problem, F(TUNING.center_nats * nats, N), F(TUNING.scale_nats * nats, N))


def problem_of(ladder=FLOATS, neighbors="add-remove"):
    return Problem((HALF,), ladder, neighbors, method="auto", grows=True)


def counts_of(data, ladder=FLOATS):
    return Counts.of(lambda: [np.array(data, dtype=float)], ladder)


def chance_outside(data, low, high, rule):
    """P(the centre lies outside [low, high])."""
    cost = rule.center.cost
    law = View(counts_of(data)).center(rule.center, lambda: cost(HALF, "add-remove", True)).law()
    first, after = rule.center.ladder.rungs(np.array([low, np.nextafter(high, np.inf)])) - rule.center.ladder.first
    before, beyond = law.tail([first, after])
    return 1 - float(before) + float(beyond)


@pytest.mark.medium
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("offset", [0, 17, 100, 1000])
@pytest.mark.parametrize("name", SHAPES)
def test_the_centre_lies_in_the_middle_half(name, offset, sign):
    """With a failure below 1e-3, by the exact law, wherever the data are; 1.4e-3 for lognormal data at 1000 sd."""
    data = sign * (SHAPES[name](np.random.default_rng(1)) + offset)
    least = 1.5e-3 if (name, offset) == ("lognormal", 1000) else 1e-3
    assert chance_outside(data, *np.quantile(data, [0.25, 0.75]), rule_of(problem_of())) < least


def heaped(rng):
    """Salaries, most of them on thousands, in units of their deviation."""
    return np.rint(rng.lognormal(10.8, 0.5, N) / 1000) * 1000 / 29_600


@pytest.mark.medium
@pytest.mark.parametrize("name", [*SHAPES, "heaped"])
def test_with_a_thousand_nats_a_centre_hardly_ever_misses_the_data(name):
    """Less than once in 100,000 by the exact law at 1000 deviations from 0; with 40 nats, once in 10,000 to in 80."""
    data = (SHAPES | {"heaped": heaped})[name](np.random.default_rng(1)) + 1000
    low, high = data.min(), data.max()
    bought = FrameRule.affordable(problem_of(), N, F(1))
    assert chance_outside(data, low, high, bought) < 1e-5
    assert chance_outside(data, low, high, rule_of(problem_of())) > 20 * chance_outside(data, low, high, bought)


@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
def test_a_surer_frame_costs_at_most_a_fiftieth_of_epsilon_for_each_part(neighbors):
    """More nats than with few records, and never more than that part of epsilon for the centre and for the scale."""
    times = 2 if neighbors == "swap" else 1
    for size in (10, 100, 1000, 10_000, 10**6):
        rule = FrameRule.affordable(problem_of(neighbors=neighbors), size, F(1))
        assert 0 <= rule.center.epsilon - F(TUNING.center_nats * times, size) <= TUNING.sure_share
        assert 0 <= rule.eps_scale - F(TUNING.scale_nats * times, size) <= TUNING.sure_share


@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
def test_a_frame_for_inner_quantiles_costs_less(neighbors):
    """At most a hundredth of epsilon more for each part than with few records, and never more than another frame."""
    times = 2 if neighbors == "swap" else 1
    for size in (100, 1000, 10_000, 10**6):
        whole, inner = (
            FrameRule.affordable(problem_of(neighbors=neighbors), size, F(1), kind) for kind in (False, True)
        )
        assert inner.center.epsilon <= whole.center.epsilon and inner.eps_scale < whole.eps_scale
        assert 0 <= inner.center.epsilon - F(TUNING.center_nats * times, size) <= TUNING.inner_share
        assert 0 <= inner.eps_scale - F(TUNING.inner_scale * times, size) <= TUNING.inner_share


@pytest.mark.parametrize("name", SHAPES)
def test_a_scale_that_is_too_low_does_inner_quantiles_no_harm(name):
    """Rungs beyond it are a part of the distance: 8 octaves too low cost a third at most, 8 too high three times."""
    data = SHAPES[name](np.random.default_rng(1)) + 17
    question, q = Question.of(replace(problem_of(), qs=(F(3, 4),)), F(1)), F(3, 4)
    (route,), center = question.plan(N).routes, float(np.median(data))
    octave = math.frexp(float(np.median(np.abs(data - center))))[1] - 1

    def error(shift):
        framed = route.within(Frame(center, octave + shift))
        last = framed.last(q, question.problem, View(counts_of(data)))
        answers, masses = AnswerLaw(question, ((1.0, framed, last),)).points()
        return float(masses @ np.abs(answers - np.quantile(data, 0.75)))

    assert error(-8) < 4 / 3 * error(0)
    assert error(8) > 3 * error(0)


@pytest.mark.medium
@pytest.mark.parametrize("unit", [1e-9, 1e9])
@pytest.mark.parametrize("name", SHAPES)
def test_the_centre_lies_in_the_middle_half_in_any_unit(name, unit):
    """The prior weighs less far from 1, so failures are more frequent: below 2.5e-3 to 100 sd, 2.5e-2 at 1000 sd."""
    for offset, least in ((0, 1e-3), (17, 1e-3), (100, 2.5e-3), (1000, 2.5e-2)):
        data = (SHAPES[name](np.random.default_rng(1)) + offset) * unit
        assert chance_outside(data, *np.quantile(data, [0.25, 0.75]), rule_of(problem_of())) < least


def octave_law(data, center, rate, unit=None):
    """The octaves of a scale and their probabilities."""
    law = weighted_law(octave_runs(octave_counts([np.asarray(data, dtype=float)], Around(center, unit)), rate))
    octaves = expected(center) + np.arange(law.length) + DEEPEST
    tails = law.tail(np.arange(law.length + 1))
    return octaves, tails[:-1] - tails[1:]


@pytest.mark.medium
@pytest.mark.parametrize("zeros", [0.0, 0.6])
@pytest.mark.parametrize("offset", [0, 17, 1000])
@pytest.mark.parametrize("name", SHAPES)
def test_the_scale_is_within_an_octave_of_the_deviations(name, offset, zeros):
    """Off by more than one octave from the median of those that are not 0 with a chance below 1e-3.

    Where three fifths of the records are the centre itself, below 5e-2.
    """
    rng = np.random.default_rng(2)
    data = SHAPES[name](rng) + offset
    center = float(np.median(data))
    data[rng.random(N) < zeros] = center
    away = np.abs(data - center)
    there = away[away > 0]
    # Records that are not 0 decide, so three fifths of zeros leave two fifths of the nats.
    low, high = (math.frexp(q)[1] - 1 for q in np.quantile(there, [0.25, 0.75] if zeros else [0.4, 0.6]))
    octaves, masses = octave_law(data, center, rule_of(problem_of()).eps_scale)
    assert masses.sum() == pytest.approx(1)
    assert masses[(octaves < low - 1) | (octaves > high + 1)].sum() < (5e-2 if zeros else 1e-3)


@pytest.mark.medium
@pytest.mark.parametrize(("size", "zeros", "least"), [(1000, 0.6, 1e-3), (4000, 0.75, 5e-5), (10_000, 0.9, 2e-3)])
@pytest.mark.parametrize("offset", [0, 17, 1000])
@pytest.mark.parametrize("name", ["normal", "lognormal", "pareto"])
def test_a_surer_scale_is_right_with_most_records_on_the_centre(name, offset, size, zeros, least):
    """Farther than an octave from nearly all deviations ever more seldom with more records, where 40 nats often fail.

    The law is that of N records with the nats that `size` of them buy at epsilon 1.
    """
    rng = np.random.default_rng(2)
    data = SHAPES[name](rng) + offset
    center = float(np.median(data)) if offset else 0.0
    data[rng.random(N) < zeros] = center
    away = np.abs(data - center)
    low, high = (math.frexp(q)[1] - 1 for q in np.quantile(away[away > 0], [0.1, 0.9]))

    def chance_off(eps_scale):
        octaves, masses = octave_law(data, center, eps_scale)
        return masses[(octaves < low - 1) | (octaves > high + 1)].sum()

    bought = FrameRule.affordable(problem_of(), size, F(1)).eps_scale * size / N
    assert chance_off(bought) < least
    assert chance_off(rule_of(problem_of()).eps_scale) > 10 * chance_off(bought)


def test_without_deviations_the_scale_is_the_one_that_is_expected():
    """Nothing but the prior decides then, and octaves near a 32nd of the centre are the most likely."""
    octaves, masses = octave_law(np.full(N, 96.0), 96.0, F(1))
    assert octaves[np.argmax(masses)] == expected(96.0) == 6 - 5
    assert masses[np.abs(octaves - expected(96.0)) <= 40].sum() > 0.7


@given(st.floats(allow_nan=False, allow_infinity=False), st.lists(numbers, min_size=1, max_size=20))
def test_octaves_hold_the_deviations(center, values):
    """2**k <= |x - centre| < 2**(k + 1), where a scale may be; for one centre and for arrays of them."""
    records = np.array(values)
    rungs = deviation_octaves(records, Around(center, None))
    together = deviation_octaves(records, Around(np.full(len(records), center), None))
    assert rungs.tolist() == together.tolist()
    with np.errstate(over="ignore"):
        away = np.abs(records - center)
    for rung, x in zip(rungs.tolist(), away.tolist(), strict=True):
        if OCTAVES.first < rung < OCTAVES.last and 1e-300 < x < math.inf:
            assert math.frexp(x)[1] - 1 == expected(center) + rung - 1 + DEEPEST
        assert x > 0 or rung == 0


def test_a_centre_on_a_grid_is_a_point_of_it():
    """Whatever the unit: in whole numbers of it."""
    for unit in (F(1), F(1, 100), F(1, 3)):
        rule = rule_of(problem_of(Ladder.grid(unit)))
        assert rule.unit == unit
        rungs = rule.center.ladder.rungs(np.array([float(unit * k) for k in (-3, 0, 7, 12_345)]))
        assert rule.centers(rungs).tolist() == [-3, 0, 7, 12_345]
        assert rule.centers(int(rungs[2])) == 7.0
    assert rule_of(problem_of()).unit is None


def test_a_frame_without_a_scale_has_the_expected_one():
    """And one without a centre is at 0: each decision is there only if it is paid for."""
    view = View(counts_of(np.random.default_rng(3).normal(50, 2, 200)))
    for eps_center, eps_scale in ((F(1), F(0)), (F(0), F(1)), (F(0), F(0))):
        problem = problem_of()
        rule = FrameRule.of(problem, eps_center, eps_scale)
        frames = list(paths(lambda rule=rule, problem=problem: rule.program(problem, view), 1e-6))
        assert sum(chance for chance, _ in frames) == pytest.approx(1, abs=1e-3)
        for _, frame in frames:
            assert eps_center or frame.center == 0
            assert eps_scale or frame.octave == expected(frame.center)
        assert rule.epsilon == eps_center + eps_scale


@pytest.mark.parametrize("heaped", [False, True])
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
def test_the_scale_costs_what_it_says(neighbors, heaped):
    """No neighbours of up to four records tell more of the octave than epsilon, and some nearly as much."""
    epsilon = F(1)
    rate = epsilon / 2 if neighbors == "swap" else epsilon

    def law(data):
        return weighted_law(
            octave_runs(octave_counts([np.array(data, dtype=float)], Around(5.0, None)), rate, heaped)
        ).log_pmf()

    least = 1 if neighbors == "swap" else 0
    seen = audit(law, (-3.0, 5.0, 5.25, 1e6), 4, neighbors, least)
    cost = FrameRule.of(problem_of(neighbors=neighbors), F(1), epsilon).scale_cost()
    assert cost.epsilon == epsilon
    assert (0.1 if heaped else 0.5) < seen.epsilon <= 1 + 1e-9 and seen.eta <= float(cost.eta) + 1e-9


@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.parametrize("q", [F(1, 4), HALF, F(9, 10)], ids=str)
def test_a_choice_under_the_prior_costs_what_it_says(q, neighbors):
    """No neighbours of up to four records tell more than epsilon, on a ladder that is short enough to enumerate."""
    tuning = type(TUNING)(center_bits=1, choice_bits=1, most_choice_bits=1, prior_floor=1000)
    problem = Problem((q,), FLOATS, neighbors, method="auto", grows=True, tuning=tuning)
    route = prior_choice(problem, q, F(1), 1)
    assert route.ladder.size < 120

    def law(data):
        view = View(counts_of(data))
        return view.choose(q, route, lambda: route.cost(q, neighbors, True)).law().log_pmf()

    spots = (-(2.0**1020), 0.0, 2.0**1001, 2.0**1022)
    seen = audit(law, spots, 4, neighbors, 1 if neighbors == "swap" else 0)
    assert 0.45 < seen.epsilon <= 1 + 1e-9


@pytest.mark.parametrize("slopes", [(1, 3), (3, 1), (2, 5)], ids=str)
@pytest.mark.parametrize("q", [F(1, 4), F(7, 9)], ids=str)
def test_under_swap_both_sides_of_a_target_share_epsilon(q, slopes):
    """However unequally; a record that turns up or goes missing costs what is said, and shares of more are caught."""
    tuning = type(TUNING)(center_bits=1, choice_bits=1, most_choice_bits=1, prior_floor=1000)
    problem = Problem((q,), FLOATS, "swap", method="auto", grows=True, tuning=tuning)
    route = replace(prior_choice(problem, q, F(1), 1), rate=F(1, sum(slopes)), slopes=slopes)

    def law_of(route):
        return lambda data: View(counts_of(data)).choose(q, route, lambda: route.cost(q, "swap", True)).law().log_pmf()

    spots = (-(2.0**1020), 0.0, 2.0**1001, 2.0**1022)
    moved = audit(law_of(route), spots, 5, "swap", 1)
    assert 0.7 < moved.epsilon <= 1 + 1e-9 and moved.eta <= float(route.cost(q, "swap", False).eta) + 1e-9
    added = max(q, 1 - q, F(max(slopes), sum(slopes)))
    assert audit(law_of(route), spots, 4, "add-remove", 0).epsilon <= float(added) + 1e-9
    wrong = replace(route, rate=F(1, 2 * min(slopes)))  # what would do if both sides counted as much as the lighter one
    assert audit(law_of(wrong), spots, 4, "swap", 1).epsilon > 1.05
