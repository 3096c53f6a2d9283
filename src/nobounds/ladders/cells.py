"""Cells: a rung of a coarse ladder as the finer rungs that it consists of, and as the values that lie on it.

Leading bits are nested: a ladder of float bits, or on a grid, with more bits splits each rung and joins none.
"""

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.rungs import FloatBits, Grid


def splits(fine: Ladder, coarse: Ladder) -> bool:
    """Whether each rung of the coarse ladder consists of whole rungs of the fine one."""
    if (fine.lower, fine.upper) != (coarse.lower, coarse.upper):
        return False
    own, other = fine.map, coarse.map
    if isinstance(own, FloatBits) and isinstance(other, FloatBits):
        return own.bits >= other.bits and own.floor <= other.floor
    return isinstance(own, Grid) and isinstance(other, Grid) and own.unit == other.unit and own.bits >= other.bits


def split(fine: Ladder, coarse: Ladder, rungs: Ints) -> tuple[Ints, Ints]:
    """The first and the last rung of the fine ladder on each of these rungs of the coarse one, which it splits."""
    size = np.abs(rungs)
    near, after = (_finer(fine, coarse, size + more) for more in (0, 1))
    near = np.where(size == 0, 1 - after, near)
    first, last = np.where(rungs < 0, 1 - after, near), np.where(rungs < 0, -near, after - 1)
    first, last = np.maximum(first, fine.first), np.minimum(last, fine.last)
    return np.where(rungs == coarse.first, fine.first, first), np.where(rungs == coarse.last, fine.last, last)


def ends(ladder: Ladder, rungs: Ints) -> tuple[Floats, Floats]:
    """The smallest and the largest float on each rung, infinite at the ends of the ladder; on a grid, in its points."""
    own = ladder.map
    if isinstance(own, Grid):
        low, high = own.points(rungs)
    else:
        assert isinstance(own, FloatBits)
        size, shift = np.abs(rungs), 52 - own.bits
        near = ((size + own.below) << shift).view(np.float64)
        far = (((size + own.below + 1) << shift) - 1).view(np.float64)
        near = np.where(size == 0, -far, near)
        low, high = np.where(rungs < 0, -far, near), np.where(rungs < 0, -near, far)
    return np.where(rungs == ladder.first, -np.inf, low), np.where(rungs == ladder.last, np.inf, high)


def _finer(fine: Ladder, coarse: Ladder, size: Ints) -> Ints:
    """The fine rung with which a coarse rung above 0 begins; for rung 0 it has no meaning."""
    own, other = fine.map, coarse.map
    if isinstance(own, FloatBits):
        assert isinstance(other, FloatBits)
        return ((size + other.below) << (own.bits - other.bits)) - own.below
    assert isinstance(own, Grid)
    assert isinstance(other, Grid)
    points = other.begins(size)
    return own.of_leading(points.view(np.int64) >> (52 - own.bits))
