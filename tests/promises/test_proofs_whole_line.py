"""docs/proofs/whole_line.md: what empty rungs on the way can do, what a tilt leaves of them, and walks outward."""

import math
import sys
from fractions import Fraction as F

import numpy as np
import pytest
from support.laws import overshoot_bound as bound

from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms.halting import Law
from nobounds.mechanisms.walk import Walk


def early(empty, target, eps1, eps2, noise="exponential"):
    """P(the walk halts on so many empty rungs before all records)."""
    walk = Walk(np.array([0, empty]), np.array([0, 2 * target]), empty + 1, F(target), F(1), eps1, eps2, noise)
    return 1 - float(Law(walk).tail([empty])[0])


@pytest.mark.parametrize("empty", [10, 285_000, 10**9])
@pytest.mark.parametrize("target", [5, 30, 60])
@pytest.mark.parametrize(("eps1", "eps2"), [(F(2, 5), F(3, 5)), (F(1), F(1))], ids=str)
def test_empty_rungs_halt_a_walk_with_at_most_their_number_times_an_exponential(empty, target, eps1, eps2):
    """N e^(-eps2 T) E e^(-eps2 noise) is never exceeded, and reached to 1% where it is small."""
    p1, p2 = math.exp(-eps1), math.exp(-eps2)
    limit = empty * math.exp(-float(eps2) * target) * (1 - p1) / (1 - p1 * p2)
    assert early(empty, target, eps1, eps2) <= limit * (1 + 1e-9) + 1e-13
    if 1e-6 < limit < 0.01:
        assert early(empty, target, eps1, eps2) >= 0.99 * limit


def test_the_whole_line_has_this_many_rungs():
    """About 142,500 steps of 1% on each side of 0, 575,489 rungs on the default ladder; eps2 T = 25 outweighs them."""
    steps = (math.log(sys.float_info.max) - math.log(sys.float_info.min)) / math.log(1.01)
    assert 142_000 < steps < 143_000
    assert Ladder.float_bits(8).size == 2 * (1024 + 100) * 256 + 1 == 575_489
    assert 2 * steps * math.exp(-25) < 1e-5 and early(285_000, 50, F(1, 2), F(1, 2)) < 1e-5


@pytest.mark.medium
@pytest.mark.parametrize("slope", [1, 3])
def test_a_tilt_leaves_few_of_the_empty_decades(slope):
    """Counts lowered by b ranks a decade: the chance is that of R / (e^(eps2 b) - 1) empty rungs at most."""
    decade, decades, target, eps = 232, 300, 40, F(1, 2)
    lowered = -slope * np.repeat(np.arange(decades, 0, -1), decade)  # from far away to near
    walk = Walk.of(np.append(lowered, 2 * target), F(target), eps1=eps, eps2=eps)
    halts = 1 - float(Law(walk).tail([decades * decade])[0])
    few = decade / math.expm1(float(eps) * slope)
    untilted = early(decade * decades, target, eps, eps)
    p = math.exp(-float(eps))
    assert halts <= few * p**target * (1 - p) / (1 - p * p) * (1 + 1e-9)
    assert halts < untilted / 50


@pytest.mark.parametrize("records", [0, 1, 3, 10, 100])
def test_a_walk_outward_is_beyond_the_data_only_by_its_overshoot(records):
    """However few records: m rungs beyond them with at most the bound of the overshoot."""
    eps1, eps2 = F(3, 5), F(2, 5)
    levels = np.repeat(np.arange(records + 1), 50)  # fifty rungs between records, and after the last
    for q in (F(1, 2), F(1)):
        walk = Walk(np.arange(len(levels)), levels, 10**6, q * records, F(1, q.denominator), eps1, eps2)
        ends = len(levels) - 50 + np.array([1, 49, 5000, 10**5])
        beyond = Law(walk).tail(ends)
        limits = [bound(m, eps1, eps2, records - q * records) for m in (1, 49, 5000, 10**5)]
        assert np.all(beyond <= np.array(limits) * (1 + 1e-9))
