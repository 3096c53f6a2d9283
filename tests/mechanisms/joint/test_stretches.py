"""Records are spread over the places of their rungs: a record more adds one point, and moves none."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from support.chance import seed_of

from nobounds.counting.histogram import Histogram
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.prior import Prior
from nobounds.mechanisms.joint.stretches import Stretches, spread

LADDER = Ladder.uniform(0.5, 7.5, 7)  # rungs 0 to 7
PRIOR = Prior(np.array([0, 4, 6]), np.array([8, 4, 16]), np.array([2, 1, 1]), "few")


def points(counts, places):
    """The number of records before each place, as a counter."""
    rungs = np.flatnonzero(counts)
    spots, held = spread(rungs, np.asarray(counts)[rungs], places)
    return Counter(dict(zip(spots.tolist(), held.tolist(), strict=True)))


@pytest.mark.parametrize("places", [2, 4, 16])
@pytest.mark.sampled
def test_a_record_more_adds_one_point(places):
    """Whatever the number of records on its rung, and on the others."""
    rng = np.random.default_rng(seed_of(places))
    for _ in range(60):
        counts = rng.integers(0, 3 * places, 6) * rng.integers(0, 2, 6)
        more = counts.copy()
        rung = int(rng.integers(6))
        more[rung] += 1
        before, after = points(counts, places), points(more, places)
        assert (before - after).total() == 0
        (spot,) = (after - before).elements()
        assert rung * places < spot < (rung + 1) * places


def test_records_of_a_rung_are_spread_evenly():
    """One at the half, then at the quarters; and any number of them about as many before each place as wanted."""
    assert sorted(points([0, 1], 8)) == [12]
    assert sorted(points([3], 8)) == [2, 4, 6]
    for many in (5, 7, 20, 100):
        before = np.cumsum([points([many], 8)[place] for place in range(8)])
        assert np.abs(before - many * (np.arange(8) + 0.5) / 8).max() <= max(2, many / 8)


def test_stretches_have_all_places_and_the_ranks_of_each():
    """Against the number of records before each place, one by one."""
    data, places = [1.0, 1, 3, 7, 7, 7, 7, 7], 4
    histogram = Histogram.of([np.array(data)], LADDER)
    made = Stretches.of(histogram, places, (Fraction(1, 2),), Fraction(1), PRIOR)
    counts = np.bincount(np.array(data, dtype=int), minlength=8)
    held = points(counts, places)
    ranks = np.cumsum([held[place] for place in range(8 * places)])
    assert (made.ranks[made.stretch(np.arange(8 * places))] == ranks).all()
    assert made.starts[0] == made.first == 0
    assert made.ends[-1] == made.last == 31
    assert np.exp(made.log_masses).sum() == pytest.approx(1, abs=1e-12)
    assert made.distance(np.array([0])) == 8
    assert "3" not in repr(made)
