"""Cells: the fine rungs on a coarse rung, and the values on it."""

import math
from fractions import Fraction

import numpy as np
import pytest

from nobounds.ladders.cells import ends, split, splits
from nobounds.ladders.ladder import Ladder

PAIRS = {
    "floats": (Ladder.float_bits(), 16),
    "limited": (Ladder.float_bits().limited(Fraction(-3), Fraction(1, 7)), 12),
    "cents": (Ladder.grid("0.01"), 16),
    "whole numbers": (Ladder.grid(1).limited(Fraction(0), None), 20),
    "few": (Ladder.grid(1, 2), 3),
}
every = pytest.mark.parametrize(("coarse", "bits"), PAIRS.values(), ids=PAIRS.keys())


def values() -> np.ndarray:
    rng = np.random.default_rng(0)
    wide = rng.standard_normal(20_000) * 10.0 ** rng.uniform(-40, 40, 20_000)
    special = [0.0, -0.0, math.inf, -math.inf, 2.0**-100, -(2.0**-101), 5e-324, 1.7e308, -1.7e308]
    return np.concatenate([wide, rng.integers(-600, 600, 3000) / 100, special])


@every
def test_a_record_is_on_a_fine_rung_of_its_coarse_one(coarse, bits):
    """So counts on coarse rungs bound those on fine ones."""
    fine = coarse.finest(bits, -1022)
    assert splits(fine, coarse) and not splits(coarse, fine)
    first, last = split(fine, coarse, coarse.rungs(values()))
    rungs = fine.rungs(values())
    assert (first <= rungs).all() and (rungs <= last).all()


@every
def test_cells_are_disjoint_and_leave_nothing_out(coarse, bits):
    """One after the other: the next cell begins where one ends."""
    fine, some = coarse.finest(bits, -1022), np.unique(coarse.rungs(values()))
    beside = np.unique(np.clip(np.concatenate([some, some + 1, some - 1]), coarse.first, coarse.last))
    first, last = split(fine, coarse, beside)
    assert (first <= last).all()
    next_to = np.diff(beside) == 1
    assert (first[1:][next_to] == last[:-1][next_to] + 1).all()
    assert (first[beside == coarse.first] == fine.first).all() and (last[beside == coarse.last] == fine.last).all()


@every
def test_values_lie_between_the_ends_of_their_rung(coarse, bits):
    """In points of the grid, if there is one."""
    unit = float(getattr(coarse.map, "unit", 1))
    with np.errstate(over="ignore"):
        points = np.rint(values() / unit) if coarse.is_grid else values()
    low, high = ends(coarse, coarse.rungs(values()))
    assert (low <= points).all() and (points <= high).all()


def test_other_ladders_split_nothing():
    """Neither those of other units or bounds, nor tables of edges."""
    assert not splits(Ladder.grid(1, 16), Ladder.grid(2))
    assert not splits(Ladder.float_bits(16), Ladder.float_bits().limited(Fraction(0), None))
    assert not splits(Ladder.uniform(0, 1, 8), Ladder.uniform(0, 1, 4))
    assert not splits(Ladder.float_bits(16, -50), Ladder.float_bits(8, -100))
