"""What a common clip cuts off in each group: their intervals hold, and follow the records near the clip."""

import random
from fractions import Fraction

import numpy as np
import pytest
from support.chance import fewest, seed_of

import nobounds as nb
from nobounds.clipping.clip import Clip
from nobounds.clipping.octaves.excess import CountNoise, fitted
from nobounds.clipping.sharing import ASSUMES, reaches, shared
from nobounds.clipping.tail import Side, TailRule
from nobounds.clipping.tailing import Tailed
from nobounds.ladders.ladder import Ladder

COUNTS = (0, 0, 0, 0, 0, 0, 900, 300, 60, 12, 3, 1, 0, 0, 0, 0)


@pytest.mark.medium
@pytest.mark.parametrize("statistic", ["sum", "mean"])
@pytest.mark.sampled
def test_intervals_of_groups_hold(statistic):
    """Of lognormal rows, with twice the scale in half of the groups; and some of them have two ends."""
    rng, held, both = np.random.default_rng(seed_of(4)), [], []
    by = np.repeat(np.arange(10), 400)
    noise = random.Random(seed_of(5))
    for _ in range(30):
        x = rng.lognormal(3, 0.9, len(by)) * (1 + by % 2)
        truth = np.bincount(by, x) / (1 if statistic == "sum" else 400)
        groups = nb.Table({"x": x, "g": by}).group_by("g", keys=range(10))
        release = getattr(groups, statistic)("x", epsilon=1, rng=noise)
        low, high = release.intervals.T
        held += ((low <= truth) & (truth <= high)).tolist()
        both += np.isfinite(high - low).tolist()
        assert release.parameters["interval"] == {"level": 0.95, "of": "sample", "assumes": ASSUMES}
    assert sum(held) >= fewest(300, 0.9)
    assert any(both)  # together for all groups, in half of the tables


def tailed(lower=None):
    """A clip at 100 with octaves above it, and below if there may be records."""
    sides = [Side(1, COUNTS, Fraction(100), 0)]
    sides += [Side(-1, (0,) * len(COUNTS), Fraction(100), 0)] if lower is None else []
    ladder = Ladder.float_bits(16).limited(None if lower is None else Fraction(lower), None)
    clip = Clip(Fraction(-100 if lower is None else lower), Fraction(100), Fraction(0), True)
    return Tailed(clip, tuple(sides), TailRule(Fraction(1, 10), "add-remove"), ladder)


def test_more_records_near_the_clip_reach_further():
    """The upper ends grow with the noisy number near the clip; without a side below, the lower end is the noise's.

    Numbers below 0 say as much as 0 does: more noise of the Laplace law is as likely from each true number.
    """
    near = np.array([-50, 0, 20, 100, 376])
    below, above = reaches(tailed(0), {1: near}, CountNoise(20.0, False), Fraction(300), np.full(5, 1e3))
    assert np.all(np.diff(above)[1:] > 0)
    assert above[0] == pytest.approx(above[1])
    assert above[0] > 1
    assert below == pytest.approx(np.ones(5), rel=1e-6)


def test_where_an_end_is_of_no_use_the_other_has_all_of_the_chance():
    """Large values with a sum of about 0: "at least ...", and nearer than with two ends."""
    arguments = {1: np.array([376, 376])}, CountNoise(20.0, False), Fraction(1)
    below, above = reaches(tailed(0), *arguments, np.array([0.0, 1e9]))
    assert np.isinf(above[0])
    assert np.isfinite(above[1])
    assert below[0] < below[1]


@pytest.mark.parametrize("gaussian", [False, True])
def test_a_group_has_its_part_of_the_numbers(gaussian):
    """With little noise on its number, a group with half of the records near the clip has half of those beyond."""
    law = fitted(np.array(COUNTS[4:]), CountNoise(0.5, False))
    half = law.numbers.sum(axis=0).mean() / 2
    (parts,) = shared(law, np.array([half]), CountNoise(0.5, gaussian))
    assert np.all(parts <= law.numbers)
    assert parts.mean(axis=1) == pytest.approx(law.numbers.mean(axis=1) / 2, rel=0.1, abs=0.3)
