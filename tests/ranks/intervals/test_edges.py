"""Edges of rungs: no number on a rung is beyond them, and bounds hold."""

import math
from fractions import Fraction as F

import numpy as np
import pytest

from nobounds.ladders.frame import Frame
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.steps import walk_ladder
from nobounds.ranks.intervals.edges import bounded, edge
from nobounds.ranks.route import placed


@pytest.mark.parametrize("unit", [None, F(1), F(1, 100)])
@pytest.mark.parametrize("mirrored", [False, True])
def test_a_number_lies_between_the_edges_of_its_rung(mirrored, unit):
    """In a frame, of floats and on grids."""
    frame = Frame(70.0, 3, unit)
    ladder = placed(walk_ladder(4, mirrored), frame)
    own = Ladder.float_bits(10) if unit is None else Ladder.grid(unit, 10)
    numbers = np.random.default_rng(1).normal(70, 20, 200)
    if unit is not None:
        numbers = np.rint(numbers / float(unit)) * float(unit)
    for number, rung in zip(numbers.tolist(), ladder.rungs(numbers).tolist(), strict=True):
        low, high = (edge(own, ladder, rung, side) for side in (0, 1))
        assert low <= number <= high
        assert unit is None or all(abs(end / unit - round(end / unit)) < 1e-6 for end in (low, high))


def test_moments_between_the_seconds_lie_between_the_edges_too():
    """A grid of seconds is for answers; records have fractions of a second."""
    own, ladder = Ladder.grid(1, 10, clock=True), placed(walk_ladder(12, False), Frame(70.0, -3, F(1), clock=True))
    numbers = np.random.default_rng(2).normal(70, 2, 200)
    for number, rung in zip(numbers.tolist(), ladder.rungs(numbers).tolist(), strict=True):
        low, high = (edge(own, ladder, rung, side) for side in (0, 1))
        assert low <= number <= high and low % 1 == high % 1 == 0


def test_an_end_is_kept_within_public_bounds():
    """Infinite ends, too."""
    own = Ladder.float_bits(10).limited(F(0), F(9))
    assert (bounded(own, -math.inf), bounded(own, 5.0), bounded(own, math.inf)) == (0.0, 5.0, 9.0)
