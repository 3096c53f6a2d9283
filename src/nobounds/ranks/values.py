"""The answers at many positions of a route, each equal to `Question.value_at`.

Floats are computed from the bits of rungs. Grid points are whole numbers while they fit into 62 bits, and one correctly
rounded operation turns them into floats. All other answers come from the scalar code, once for each position.
"""

from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nobounds.arrays import Floats, Ints
from nobounds.exact import MAX
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.rungs import Edges, FloatBits, Grid
from nobounds.ranks.question import Question
from nobounds.ranks.route import OneRoute

Bools: TypeAlias = NDArray[np.bool_]
Values: TypeAlias = Ints | NDArray[np.object_] | Floats

NEVER = -1  # the position of a walk that never halts

_SMALL = 1 << 53  # whole numbers up to this are exact as floats
_LARGEST = (1 << 63) - 1
_FAR = 1e290  # such values divided by a unit are still floats


def values_at(question: Question, route: OneRoute, positions: Ints) -> Values:
    """The answers at these positions: floats, or whole numbers if the ladder of the question is integral.

    Whole numbers are objects if one of them does not fit into 64 bits.
    """
    if not len(positions):
        return zeros(0, question.ladder.integral)
    rungs = route.start + (positions if route.up else -positions)
    rungs[positions == NEVER] = route.stop
    values, good = _by_rung(question, route, rungs)
    if route.from_zero:
        good &= positions != 0
    bad = np.flatnonzero(~good)
    if not len(bad):
        return values
    distinct, which = np.unique(positions[bad], return_inverse=True)
    exact = [question.value_at(route, None if k == NEVER else k) for k in distinct.tolist()]
    if question.ladder.integral and max(map(abs, exact)) >= 1 << 63:
        values = values.astype(object)
    values[bad] = np.array(exact, dtype=values.dtype)[which]
    return values


def floats_at(question: Question, route: OneRoute, positions: Ints) -> Floats:
    """The answers at these positions as floats, nearly: for laws and forecasts."""
    ladder = question.ladder
    rungs = route.start + positions if route.up else route.start - positions
    values = route.ladder.map.floats(rungs)
    fine = route.ladder.map
    snapped = not route.again and fine != ladder.map
    if snapped and isinstance(ladder.map, Grid) and isinstance(fine, Grid):
        steps, (first, last) = float(ladder.map.unit / fine.unit), fine.points(rungs)  # a power of two
        points = np.floor((last + 0.5) / steps) if route.up else np.ceil((first - 0.5) / steps)
        values = np.clip(points * float(ladder.map.unit), -_FAR, _FAR)
    elif snapped:
        values = ladder.map.floats(ladder.rungs(np.clip(values, -_FAR, _FAR)))
    if route.from_zero:
        values = np.where(positions == 0, 0.0, values)
    low, high = ladder.lower, ladder.upper
    return np.clip(values, -MAX if low is None else float(low), MAX if high is None else float(high))


def _by_rung(question: Question, route: OneRoute, rungs: Ints) -> tuple[Values, Bools]:
    """The answer for each rung, and whether it is exact."""
    ladder, own = route.ladder, question.ladder
    if route.again or ladder.map == own.map:
        return _values(ladder if route.again else own, own.integral, rungs)
    if not isinstance(own.map, Grid):
        if isinstance(ladder.map, FloatBits):
            return _values(own, own.integral, own.rungs(ladder.map.floats(rungs)))
        return _unknown(len(rungs), own.integral)
    if not isinstance(ladder.map, Grid):
        return _unknown(len(rungs), own.integral)
    ratio = own.map.unit / ladder.map.unit
    if ratio.denominator != 1 or ratio > _SMALL:
        return _unknown(len(rungs), own.integral)
    # The last point that the walk has passed: the edge is half a fine step beyond the last fine point.
    points, good = _points(ladder.map, rungs, last=route.up)
    twice = 2 * int(ratio)
    passed = (2 * points + 1) // twice if route.up else -((1 - 2 * points) // twice)
    return _scaled(own, own.integral, passed, good)


def _values(ladder: Ladder, integral: bool, rungs: Ints) -> tuple[Values, Bools]:
    """The value of each rung, and whether it is exact."""
    if isinstance(ladder.map, FloatBits):
        return _bounded(ladder, ladder.map.floats(rungs)), np.ones(len(rungs), dtype=bool)
    if isinstance(ladder.map, Edges):
        low, high = ladder.map.table[np.maximum(rungs - 1, 0)], ladder.map.table[rungs]
        with np.errstate(over="ignore"):
            twice = low + high  # rounded once; halving is exact for normal floats
        size = np.abs(twice)
        return _bounded(ladder, twice / 2), (size == 0) | ((size > 1e-300) & (size < np.inf))
    if not isinstance(ladder.map, Grid):
        return _unknown(len(rungs), integral)
    first, good = _points(ladder.map, np.abs(rungs), last=False)
    last, _ = _points(ladder.map, np.abs(rungs), last=True)
    return _scaled(ladder, integral, np.where(rungs < 0, -1, 1) * ((first + last) // 2), good)


def _points(grid: Grid, rungs: Ints, last: bool) -> tuple[Ints, Bools]:
    """The first or the last grid point of each rung, and whether it is below 2**60 in magnitude."""
    size, shift, end = np.abs(rungs), 52 - grid.bits, 1 << grid.bits
    keys = np.maximum(size - end, 0) + (int(np.float64(end).view(np.int64)) >> shift)
    # The outer point of a rung is the last of its magnitude.
    outer = (rungs >= 0) == last
    edge = ((keys + outer) << shift).view(np.float64)
    good = edge < 2.0**60
    far = np.where(good, edge, 0.0).astype(np.int64) - outer
    points = np.where(size < end, size, far)
    return np.where(rungs < 0, -points, points), good | (size < end)


def _scaled(ladder: Ladder, integral: bool, points: Ints, good: Bools) -> tuple[Values, Bools]:
    """The points times the unit, clipped to the bounds, and whether each is exact."""
    assert isinstance(ladder.map, Grid)
    unit = ladder.map.unit
    if not integral and unit.numerator & (unit.numerator - 1) == unit.denominator & (unit.denominator - 1) == 0:
        with np.errstate(over="ignore"):  # a power of two: one rounding, of a whole number
            return _bounded(ladder, points.astype(np.float64) * float(unit)), good
    if unit.numerator >= _SMALL or unit.denominator >= _SMALL:
        return _unknown(len(points), integral)
    good = good & (np.abs(points) <= (1 << 62) // unit.numerator)
    whole = np.where(good, points, 0) * unit.numerator
    if integral:
        if unit.denominator != 1:
            return _unknown(len(points), integral)
        low, high = (
            end if bound is None else min(max(int(bound), -_LARGEST), _LARGEST)
            for bound, end in ((ladder.lower, -_LARGEST), (ladder.upper, _LARGEST))
        )
        return np.clip(whole, low, high), good
    good &= np.abs(whole) <= _SMALL
    return _bounded(ladder, whole / float(unit.denominator)), good


def _bounded(ladder: Ladder, values: Floats) -> Floats:
    """The values clipped to the bounds, never infinite."""
    most = Fraction(np.finfo(np.float64).max)
    low, high = (float(end if bound is None else bound) for bound, end in ((ladder.lower, -most), (ladder.upper, most)))
    return np.clip(values, low, high)


def zeros(n: int, integral: bool) -> Values:
    """An array for n answers."""
    return np.zeros(n, dtype=np.int64) if integral else np.zeros(n, dtype=np.float64)


def _unknown(n: int, integral: bool) -> tuple[Values, Bools]:
    return zeros(n, integral), np.zeros(n, dtype=bool)
