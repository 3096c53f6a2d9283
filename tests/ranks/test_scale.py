"""The private scale: how near it is to the data, and that no neighbours tell more than its cost (exact laws)."""

import math
from fractions import Fraction as F

import numpy as np
import pytest

from nobounds.auditing.audit import all_data, audit, neighbors_of
from nobounds.counting.histogram import Histogram
from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms.halting import Law
from nobounds.ranks.scale import OCTAVES, Scale, magnitudes, octave

COARSE = Ladder.float_bits(8)
SPOTS = (-3.0, 0.0, 0.5, 5.0)
MISSING = math.nan
EACH = [F(1, 4), F(1)]


def law_of(data, each):
    """The law of the position where the walk over the octaves halts, and of never."""
    return Law(Scale(each, each).walk(Histogram.of([np.array(data, dtype=float)], COARSE)))


def octave_of(value):
    """The whole k with 2**k <= value < 2**(k + 1)."""
    return math.frexp(value)[1] - 1


@pytest.mark.medium
@pytest.mark.parametrize("negative", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e9])
def test_the_scale_is_near_the_median_magnitude(size, negative):
    """For 1000 records and 15/1000: hardly ever above all of them, and rarely far below their median, at any scale."""
    rng = np.random.default_rng(3)
    data = rng.lognormal(0, 1, 1000) * size * np.where(rng.random(1000) < negative, -1, 1)
    masses = law_of(data, F(15, 1000)).pmf()
    octaves = np.array([-math.inf if octave(k) is None else octave(k) for k in range(len(masses) - 1)] + [math.inf])
    assert masses.sum() == pytest.approx(1)
    assert masses[octaves > octave_of(np.abs(data).max()) + 2].sum() < 2e-3
    assert masses[octaves < octave_of(np.median(np.abs(data))) - 3].sum() < 0.05
    near = np.abs(octaves - octave_of(np.median(np.abs(data)))) <= 3
    assert masses[near].sum() > 0.95


def test_most_records_zero_have_no_scale():
    """Where all records are 0, the walk halts at 0 but for a chance of a thousandth, and 0 is no scale."""
    assert octave(0) is None and octave(None) is None
    assert law_of(np.zeros(1000), F(15, 1000)).pmf()[0] > 0.999


def test_an_octave_holds_its_power_of_two():
    """The scale at a position is the power of two where the octave at that position begins."""
    for k in (-40, -3, 0, 1, 30, 1000):
        position = int(OCTAVES.rungs(np.array([2.0**k]))[0])
        assert octave(position) == k
        assert OCTAVES.rungs(np.array([np.nextafter(2.0**k, 0)]))[0] == position - 1


def test_magnitudes_count_both_signs_together():
    """A record and its negative lie in the same octave; those of less than 2**-40 are 0."""
    found = magnitudes(Histogram.of([np.array([-3.0, 3.0, 2.5, 1e-20, 0.0, -1e300])], COARSE))
    rungs = OCTAVES.rungs(np.array([0.0, 3.0, 1e300]))
    assert found.rungs.tolist() == rungs.tolist()
    assert found.counts.tolist() == [2, 3, 1]


@pytest.mark.medium
@pytest.mark.parametrize("each", EACH, ids=str)
@pytest.mark.parametrize("relation", ["add-remove", "swap"])
def test_it_costs_what_it_says(relation, each):
    """No pair of neighbouring data sets of up to four records shows more than the cost, and some come near it."""
    cost = Scale(each, each).cost(relation, False)
    least = 1 if relation == "swap" else 0
    found = audit(lambda data: law_of(data, each).log_pmf(), SPOTS, 4, relation, least)
    assert 0.8 * float(cost.epsilon) < found.epsilon <= float(cost.epsilon) + 1e-9
    assert found.eta <= float(cost.eta) + 1e-9


@pytest.mark.medium
@pytest.mark.parametrize("each", EACH, ids=str)
def test_moved_and_missing_records_cost_what_each_says(each):
    """Under swap with missing records, each side of each kind of pair stays within its own cost."""
    moved, added = Scale(each, each).cost("swap", True).kinds
    spots = (*SPOTS, MISSING)
    laws = {data: law_of(data, each).log_pmf() for data in all_data(spots, 3, 1)}
    worst = {"moved": 0.0, "added": 0.0, "missing": 0.0}
    for data, law in laws.items():
        for other in neighbors_of(data, spots, "swap"):
            present = [sum(not math.isnan(record) for record in records) for records in (data, other)]
            kind = "moved" if present[0] == present[1] else "added" if present[0] > present[1] else "missing"
            worst[kind] = max(worst[kind], float((law - laws[other]).max()))
    assert worst["moved"] <= float(max(moved)) + 1e-9
    assert worst["added"] <= float(added.forth) + 1e-9  # x has the record more
    assert worst["missing"] <= float(added.back) + 1e-9
    assert worst["moved"] > 0.5 * float(max(moved)) and worst["added"] > 0.5 * float(added.forth)
