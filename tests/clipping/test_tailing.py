"""A clip with its tail: intervals of sums and means that include what clipping cuts off."""

import math
import random
from fractions import Fraction as F

import numpy as np
import pytest
from support.chance import seed_of

import nobounds as nb
from nobounds.clipping.clip import Clip, ClipStart, Search
from nobounds.clipping.octaves.excess import ASSUMES
from nobounds.clipping.tail import FAR, LOWEST, Side, TailRule
from nobounds.clipping.tailing import Tailed, Tailing
from nobounds.clipping.view import RecordsView
from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms.decisions import NoisyMany
from nobounds.noise.source import random_source
from nobounds.programs.program import Draw

LINE = Ladder.float_bits(8)
RULE = TailRule(F(1, 5), "add-remove")
LIGHT = (0, 0, 0, 0, 20, 60, 150, 300, 10, 0, 1, -2, 0, 3, -1, 0)
HEAVY = (0, 0, 0, 0, 0, 300, 250, 200, 170, 150, 120, 100, 80, 70, 60, 200)
NOTHING = (0, 2, 1, -3, 2, 0, 0, 4, -1, 2, -2, 0, 1, 0, -3, 0)


def tailed(*sides, trusted=True, ladder=LINE, move=0):
    """A clip from -1 to 1 whose sides have these counts, after a move by so many octaves."""
    made = tuple(Side(sign, (0,) * move + noisy, F(1), move) for sign, noisy in zip((1, -1), sides, strict=False))
    return Tailed(Clip(F(-1), F(1), F(0), trusted), made, RULE, ladder)


def test_without_a_tail_the_interval_is_the_noise():
    """Where nothing lies beyond the clip, nothing is assumed."""
    found = Tailed(Clip(F(0), F(1), F(0), True), (), RULE, LINE)
    assert found.interval(F(500), F(6), F(1)) == (494, 506)
    assert "assumes" not in found.describe()
    assert tailed(LIGHT).describe()["assumes"] == ASSUMES


def test_a_light_tail_widens_the_interval_upwards():
    """A little on the side where records lie beyond, and next to nothing on the other."""
    low, high = tailed(LIGHT, NOTHING).interval(F(500), F(6), F(1))
    assert 5 < 500 - low < 9
    assert 506 < high < 520


def test_a_heavy_tail_leaves_one_end():
    """Too much beyond the clip on one side: at least. On both sides: nothing is claimed."""
    low, high = tailed(HEAVY, NOTHING).interval(F(500), F(6), F(1))
    assert 500 - low < 12
    assert high == math.inf
    assert tailed(HEAVY, HEAVY).interval(F(500), F(6), F(1)) == (-math.inf, math.inf)


def test_far_out_an_end_has_a_small_excess():
    """Where a clip was moved far, an excess much above the noise leaves no end, though the same one does nearer."""
    near, far = (tailed(LIGHT, NOTHING, move=move) for move in (0, FAR))
    quiet, loud = ([each.interval(F(500), bar, F(1)) for each in (near, far)] for bar in (F(1, 10), F(1)))
    assert quiet[0][1] < 502
    assert quiet[1][1] == math.inf
    assert loud[0] == loud[1]


def test_counts_that_rise_contradict_the_assumption():
    """A count beyond the clip clearly above the one before it: no upper end."""
    rising = (*LIGHT[: -LOWEST + 1], 5, 5, 200, *LIGHT[-LOWEST + 4 :])
    assert tailed(rising, NOTHING).interval(F(10**6), F(6), F(1))[1] == math.inf


def test_counts_that_rise_slowly_contradict_it_too():
    """Together they are clearly more than those below the clip; with a few less, or more below, they may fall."""
    none, few, many = (0,) * 6, (3, -1), (60, 30)
    slowly, fewer = (8, 17, 18, 20, 0, 0, 0, 0), (6, 9, 9, 11, 0, 0, 0, 0)
    counts = (none + few + slowly, none + few + fewer, none + many + slowly)
    ends = [tailed(each, NOTHING).interval(F(10**6), F(6), F(1))[1] for each in counts]
    assert [math.isinf(end) for end in ends] == [True, False, False]


@pytest.mark.sampled
def test_mostly_zeros_get_no_interval_that_misses():
    """The clip may lie far below the few records that are not 0; then there is no upper end."""
    rng, missed = np.random.default_rng(seed_of(1)), 0
    for seed in range(300):
        data = np.where(rng.random(1000) < 0.93, 0.0, rng.lognormal(4, 1, 1000))
        low, high = nb.sum(data, epsilon=1, rng=random.Random(seed_of(seed))).interval
        missed += not low <= data.sum() <= high
    assert missed <= 7


def test_a_clip_that_is_not_trusted_promises_nothing():
    """Too few records: both ends are infinite."""
    assert tailed(LIGHT, trusted=False).interval(F(500), F(6), F(1)) == (-math.inf, math.inf)


@pytest.mark.medium
@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.sampled
def test_means_over_six_decades_are_near_and_have_two_ends(neighbors):
    """The largest records are hundreds of scales from the median, and so is the clip."""
    rng, held, errors = np.random.default_rng(seed_of(6)), [], []
    for seed in range(25):
        data = 10 ** rng.uniform(-2, 4, 5000)
        found, true = (
            nb.mean(data, epsilon=1, neighbors=neighbors, rng=random.Random(seed_of(seed))),
            float(np.mean(data)),
        )
        low, high = found.interval
        held.append((low <= true <= high, math.isfinite(low) and math.isfinite(high)))
        errors.append(abs(found.value / true - 1))
    holds, both = np.sum(held, axis=0)
    assert holds >= 21
    assert both >= 13
    assert np.mean(errors) < 0.02


@pytest.mark.medium
@pytest.mark.sampled
def test_intervals_of_means_of_years_hold_where_they_are_answered():
    """With too few records for a centre, the octave that all years are in is not taken to be filled evenly."""
    rng, held = np.random.default_rng(seed_of(7)), []
    for seed in range(200):
        years = rng.integers(1985, 2017, 270)
        found = nb.mean(years, epsilon=1, rng=random.Random(seed_of(seed)))
        if found.value is not None:
            low, high = found.interval
            held.append(low <= years.mean() <= high)
    assert len(held) > 120
    assert np.mean(held) > 0.92


@pytest.mark.medium
@pytest.mark.sampled
def test_intervals_of_means_of_few_different_floats_hold():
    """Gaps between the values make the counts of octaves fall and rise again, which says nothing about their end."""
    missed = []
    for seed in range(150):
        ratings = np.random.default_rng(seed_of(seed)).integers(1, 6, 2000).astype(float)
        low, high = nb.mean(ratings, epsilon=1, neighbors="swap", rng=random.Random(seed_of(seed))).interval
        missed.append(not low <= ratings.mean() <= high)
    assert np.mean(missed) < 0.08


@pytest.mark.medium
@pytest.mark.sampled
def test_intervals_of_sums_hold_at_a_small_epsilon():
    """With much noise on the counts of octaves, what it hides is not taken for nothing."""
    rng, held = np.random.default_rng(seed_of(6)), []
    for seed in range(150):
        data = rng.lognormal(10, 1, 2000) if seed % 2 else 1 + rng.pareto(2.5, 2000)
        found = nb.sum(data, epsilon=0.2, rng=random.Random(seed_of(seed)))
        if found.value is not None:
            low, high = found.interval
            held.append(low <= data.sum() <= high)
    assert len(held) > 120
    assert np.mean(held) > 0.92


@pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
@pytest.mark.sampled
def test_a_heap_does_not_hide_that_records_lie_elsewhere(neighbors):
    """With 1% or 7% of other records the mean is not that of the heap: an interval holds, or nothing is answered."""
    for others in (10, 70):
        missed = []
        for seed in range(40):
            data = np.append(np.zeros(1000 - others), np.random.default_rng(seed_of(seed)).lognormal(4, 1, others))
            release = nb.mean(data, epsilon=1, neighbors=neighbors, upper=5000, rng=random.Random(seed_of(seed)))
            missed.append(release.value is not None and not release.interval[0] <= data.mean() <= release.interval[1])
        assert np.mean(missed) <= 0.1


class Seeing(Draw):
    """Draws, and keeps what was counted."""

    def __init__(self, rng):
        super().__init__(random_source(rng))
        self.counted = []

    def decide(self, decision):
        if isinstance(decision, NoisyMany):
            self.counted.append(decision.numbers)
        return super().decide(decision)


def test_missing_records_are_in_no_cell_under_swap():
    """Else one that turns from missing to present would change two counts, and cost more than is charged."""
    data, driver = np.append(np.zeros(600), np.full(400, np.nan)), Seeing(random.Random(1))
    nb.mean(data, epsilon=1, neighbors="swap", rng=driver)
    assert [sum(counts) for counts in driver.counted] == [600]


@pytest.mark.parametrize("value", [0.0, 7.0])
def test_only_records_that_do_not_deviate_are_at_the_centre(value):
    """However wide the scale is, beside which a deviation may be nothing; a record beyond a bound lies at it."""
    data = value + np.concatenate([np.zeros(300), np.full(500, 1e-9), np.full(20, -1e-9)])
    start = ClipStart(F(value), 60, F(0))
    for ladder, central in ((LINE, 300), (LINE.limited(F(value), None), 320), (LINE.limited(None, F(value)), 800)):
        driver = Seeing(random.Random(1))
        search = Search(F(1), "add-remove", ladder, True, False)
        rungs = (9,) * len(search.sides(start.center))
        driver.run(Tailing(search, RULE, F(1)).program(RecordsView(lambda: [data]), start, rungs, True))
        assert [counts[-1] for counts in driver.counted] == [central]
