"""Runs of rungs: distances and weights in doubles are as near to the exact ones as is trusted, at every epsilon."""

import random
from fractions import Fraction as F

import hypothesis.strategies as st
import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import example, given
from support.chance import seed_of
from support.grouped import groups_of

from nobounds.counting.histogram import Histogram
from nobounds.exact import ball
from nobounds.groups.choices import NearRuns, _picked, near_runs
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.prior import prior_of
from nobounds.mechanisms import exponential_mechanism, flip
from nobounds.mechanisms.runs import DOUBLE_BITS, DOUBLE_ERROR, EQUAL, Runs, pick
from nobounds.noise.discrete import Exponential, Uniform
from nobounds.noise.source import random_source

RATES = [F(1, 10**12), F(1, 3), *(F(10) ** k for k in (4, 5, 7, 9, 12)), F(2 * 10**12, 3)]
CLOSE = F(1, 2) + F(1, 3 * 10**13)  # of the ranks 0 and 1 one is nearer by so little that rates of 1e12 tell them apart


def runs(ranks, target, rate, lowered=0, growth=0, slopes=EQUAL):
    """A run of three rungs for each rank, which has no records of its own."""
    low = np.asarray(ranks, dtype=np.int64)
    starts = 3 * np.arange(len(low))
    more = (np.zeros_like(low) + extra for extra in (lowered, growth))
    return Runs.between(starts, starts + 3, low, low, target, rate, (0, 3 * len(low)), *more, slopes=slopes)


def exact_distances(ranks, target, lowered, slopes=EQUAL):
    """The same by the definition."""
    below, above = slopes
    away = [below * (target - rank) if rank < target else above * (rank - target) for rank in ranks]
    found = [one + extra for one, extra in zip(away, lowered, strict=True)]
    return [each - min(found) for each in found]


@pytest.mark.medium
@given(
    st.lists(st.tuples(st.integers(0, 2**60), st.integers(0, 2**60)), min_size=1, max_size=6),
    st.fractions(0, 2**60),
    st.fractions(0, 2, max_denominator=10**15),
)
@example([(0, 0), (1, 0)], CLOSE, F(0))
@example([(0, 2**59), (1, 2**59), (5, 2**59 + 1)], 2**59 + F(1, 3), F(0))
@example([(2**60, 0), (2**60 - 1, 0)], 2**60 - F(1, 2) + F(1, 10**15), F(0))
def test_distances_are_right_to_the_last_digits(found, target, shift):
    """Of any ranks, targets and priors: to 2**-51 of themselves, however close to each other two of them are."""
    ranks, lowered = zip(*found, strict=True)
    for aim in (target, ranks[0] + shift):
        some = runs(ranks, aim, F(1), np.array(lowered))
        exact = exact_distances(ranks, aim, lowered)
        assert [some.distance(k) for k in range(len(ranks))] == exact and min(exact) == 0
        for doubles in (some.distances().tolist(), some.listed()[0]):
            for double, wanted in zip(doubles, exact, strict=True):
                assert abs(F(double) - wanted) <= wanted / 2**51


@pytest.mark.medium
@given(
    st.lists(st.integers(0, 2**50), min_size=1, max_size=6, unique=True),
    st.integers(0, 5),
    st.fractions(0, 2, max_denominator=10**6),
    st.tuples(st.integers(1, 40), st.integers(1, 40)),
)
@example([0, 1, 2], 1, F(0), (3, 37))
@example([0, 1, 2], 0, F(5, 7), (11, 29))
@example([4, 5], 0, F(1, 2), (39, 1))
def test_ranks_may_count_more_on_one_side_of_the_target(ranks, which, shift, slopes):
    """Distances are then right to the last digits, too, and so is which side of the target a run lies on."""
    target = ranks[which % len(ranks)] + shift
    some = runs(ranks, target, F(1), slopes=slopes)
    exact = exact_distances(ranks, target, [0] * len(ranks), slopes)
    assert [some.distance(k) for k in range(len(ranks))] == exact
    for doubles in (some.distances().tolist(), some.listed()[0]):
        for double, wanted in zip(doubles, exact, strict=True):
            assert abs(F(double) - wanted) <= wanted / 2**51
    assert ((some.above >= 0) == [rank >= target for rank in ranks]).all()
    assert ((some.below >= 0) == [rank <= target for rank in ranks]).all()


@pytest.mark.parametrize("prior", [None, prior_of(Ladder.float_bits(3))], ids=["none", "numbers"])
@pytest.mark.sampled
def test_few_runs_are_weighed_like_many(prior):
    """What runs weigh, in lists and in arrays, and the run that a uniform number falls on among few and among many."""
    values = np.random.default_rng(seed_of(1)).normal(5, 3, 12)
    some = Runs.of(Histogram.of([values], Ladder.float_bits(3)), F(2, 5), F(1, 7), prior)
    every = np.arange(len(some.starts))
    assert len(every) <= exponential_mechanism._FEW
    np.testing.assert_allclose(some.listed()[0], some.distances(), rtol=2**-50)
    np.testing.assert_allclose(some.listed()[1], some.multiplicities(every), rtol=2**-49)
    passed = exponential_mechanism._weights(some, every).cumsum()
    for seed in range(200):
        u = Uniform(random.Random(seed_of(seed)).getrandbits)
        wanted = pick(passed, passed, DOUBLE_ERROR, 2.0**-DOUBLE_BITS, u)
        assert wanted is not None and exponential_mechanism._among_few(some, u) == wanted


def near_ties(rate):
    """Ranks around targets between two of them, such that many weights matter at this rate."""
    for part in (F(1, 2), F(1, 2) + 1 / (5 * rate), CLOSE, F(1, 3), F(10**9 - 1, 10**9)):
        for first in (0, 10**6, 2**58):
            ranks = first + np.arange(0, 40)
            yield runs(ranks, first + 20 + part, rate)
            yield runs(ranks, first + 20 + part, rate, lowered=np.arange(40)[::-1] % 3, growth=7)
            yield runs(ranks, first - 2**40 - part, rate)


@pytest.mark.medium
@pytest.mark.parametrize("rate", RATES, ids=str)
def test_weights_are_within_the_error_that_is_allowed_for_them(rate):
    """Those of the exponential mechanism and of permute-and-flip, and its increments, beside ball arithmetic."""
    seen = 0
    for some in near_ties(rate):
        near = some.near(DOUBLE_BITS)
        x = some.distances()[near] * float(rate)
        near, x = near[x < 700], x[x < 700]
        shares = np.exp(-x), -np.expm1(-x)
        with ctx.workprec(300):
            exact = [ball(some.distance(run)) * ball(rate) for run in near.tolist()]
            many = [exponential_mechanism._many(some, run) for run in near.tolist()]
            alike(
                exponential_mechanism._weights(some, near), [(-z).exp() * n for z, n in zip(exact, many, strict=True)]
            )
            for s in (1e-9, 0.5, 3.0, 40.0):
                rests = [-(-z).expm1() + (-z - arb(s)).exp() for z in exact]
                alike(
                    flip._weights(*shares, np.float64(s)),
                    [(-z).exp() / rest for z, rest in zip(exact, rests, strict=True)],
                )
                alike(flip._increments(*shares, np.float64(s)), [-rest.log() for rest in rests])
        seen += len(near) > 1
    assert seen > 5


def alike(doubles, balls):
    """Each double is within DOUBLE_ERROR of its ball, in relative terms."""
    for double, each in zip(doubles.tolist(), balls, strict=True):
        assert abs(arb(double) / each - 1) < DOUBLE_ERROR


@pytest.mark.medium
@pytest.mark.parametrize("rate", [F(10) ** k for k in (4, 5, 8, 12)], ids=str)
def test_doubles_and_balls_choose_alike_at_any_rate(rate):
    """Where two runs nearly tie, uniform numbers around the border between them are decided as balls decide them."""
    decided = 0
    for some in near_ties(rate):
        weights = [
            float((-ball(some.distance(run) * rate)).exp() * exponential_mechanism._many(some, run))
            for run in range(40)
        ]
        borders = np.cumsum(weights) / np.sum(weights)
        for border in {float(border) for border in borders if 1e-6 < border < 1 - 1e-6}:
            for off in (-1e-3, -1e-5, -1e-7, 1e-7, 1e-5, 1e-3):
                place = int(min(max(border + off, 0.0), 1.0 - 2**-53) * 2**64)
                decided += chosen_alike(some, place)
    assert decided > 20


def chosen_alike(some, first):
    """How often doubles choose a run for a number with these first bits; then it is the one that balls choose."""
    waiting, more, found = [first], random.Random(7), 0
    u = Uniform(lambda k: waiting.pop() if waiting else more.getrandbits(k))
    run = exponential_mechanism._in_doubles(some, u)
    with ctx.workprec(256):
        found += run is not None
        assert run is None or exponential_mechanism._in_balls(some, u, 256) == run
        e = Exponential(random_source(random.Random(1)))
        run = flip._in_doubles(some, e, u)
        found += run is not None
        assert run is None or flip._in_balls(some, e, u, 256) == run
    return found


@pytest.mark.parametrize("rate", RATES[1:], ids=str)
@pytest.mark.parametrize("slopes", [EQUAL, (3, 37)], ids=str)
@pytest.mark.parametrize("q", [F(1, 2), F(1, 3), F(333_333_333, 10**9)], ids=str)
def test_distances_of_many_groups_are_those_of_one(q, slopes, rate):
    """In groups they are whole numbers of the lattice, and their doubles are as right."""
    rng = np.random.default_rng(1)
    groups = groups_of([rng.normal(0, 1, n) for n in (0, 1, 2, 7, 100, 101, 1000)])
    found = near_runs(groups, q, rate, slopes=slopes)
    ends = np.append(found.starts[1:], len(found.rungs)).tolist()
    for g, (first, last) in enumerate(zip(found.starts.tolist(), ends, strict=True)):
        one = Runs.of(groups.histogram(g), q, rate, slopes=slopes)
        at = np.searchsorted(one.starts, found.rungs[first:last])
        exact = [one.distance(run) * rate for run in at.tolist()]
        doubles = found.distances[first:last] * float(rate / q.denominator)
        for double, wanted in zip(doubles.tolist(), exact, strict=True):
            assert abs(F(double) - wanted) <= wanted / 2**51


def test_a_choice_among_the_runs_left_out_is_not_decided_for_groups():
    """Late in permute-and-flip all weights are large, those that are left out too: a tiny number may be theirs."""
    one = np.array([0])
    run = NearRuns(one, one, one + 1, one, one > 0)
    for word, sure in ((1, False), (1 << 40, True)):
        weights = np.exp(np.array([30.0]))  # that of the target at s = 30
        found, decided = _picked(weights, np.array([DOUBLE_ERROR]), run, np.array([word], dtype=np.uint64))
        assert found.tolist() == [0] and decided.tolist() == [sure]
