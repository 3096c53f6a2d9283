"""The answers at positions of a route: what is released for them.

Floats are computed from the bits of rungs, and in a frame the roundest number of a rung is taken. Grid points are whole
numbers while they fit into 62 bits, and one correctly rounded operation turns them into floats. All other answers come
from the scalar code, once for each position.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nobounds.arrays import Floats, Ints
from nobounds.exact import MAX
from nobounds.ladders.frame import NO_FRAME, Frame, Framed
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.rungs import Edges, FloatBits, Grid, Rungs
from nobounds.ranks.route import ChoiceRoute, OneRoute, Route

Bools: TypeAlias = NDArray[np.bool_]
Values: TypeAlias = Ints | NDArray[np.object_] | Floats

NEVER = -1  # the position of a walk that never halts

_SMALL = 1 << 53  # whole numbers up to this are exact as floats
_LARGEST = (1 << 63) - 1
_NEAR = 2.0**60  # points below this are whole numbers of 64 bits


def values_at(own: Ladder, route: OneRoute, positions: Ints, frame: Frame | None = None) -> Values:
    """The answers at these positions: floats, or whole numbers if the ladder of the question, `own`, is integral.

    Whole numbers are objects if one of them does not fit into 64 bits. `frame` has the frames of groups, one for each
    position, in place of that of the route.
    """
    if not len(positions):
        return zeros(0, own.integral)
    rungs = route.start + (positions if route.up else -positions)
    rungs = np.where(positions == NEVER, route.stop, rungs)
    frame = route.frame if frame is None else frame
    if frame is not None:
        return _in_frame(own, route.ladder.map, route.up if isinstance(route, Route) else None, rungs, frame)
    if isinstance(route, ChoiceRoute) and route.absolute:
        return _in_frame(own, route.ladder.map, None, rungs, NO_FRAME)
    values, good = _values(route.ladder, own.integral, rungs)
    return _completed(values, good, rungs, own.integral, route.ladder.value)


def floats_at(own: Ladder, route: OneRoute, positions: Ints) -> Floats:
    """The answers at these positions as floats: for laws and forecasts."""
    return values_at(own, route, positions).astype(np.float64)


def value_of(own: Ladder, ladder: Ladder, rung: int) -> int | float:
    """What is released for a rung of another ladder: the roundest number on it, within the bounds of `own`."""
    rungs = ladder.map
    if isinstance(rungs, FloatBits):
        rungs = Framed(NO_FRAME, rungs)
    elif isinstance(rungs, Grid) and own.map is not rungs:
        rungs = Framed(Frame(0.0, 0, rungs.unit, rungs.clock), Grid(Fraction(1), rungs.bits))
    return own.within(rungs.value(rung))


def _in_frame(own: Ladder, on: Rungs, passed: bool | None, rungs: Ints, frame: Frame) -> Values:
    """The roundest numbers on rungs of deviations, within the bounds."""
    if isinstance(on, Grid) and frame is NO_FRAME:
        on, frame = Grid(Fraction(1), on.bits), Frame(0.0, 0, on.unit, on.clock)
    values = frame.values(on, rungs, passed)
    if frame.unit is None:
        return _bounded(own, values)
    near = np.abs(values) < _NEAR
    points = np.where(near, values, 0.0).astype(np.int64)
    whole, good = _scaled(own, own.integral, points, near)

    unit = frame.unit

    def exact(place: int) -> int | float:
        return own.within(Fraction(float(values[place])) * unit)

    return _completed(whole, good, np.arange(len(rungs)), own.integral, exact)


def _completed(values: Values, good: Bools, keys: Ints, integral: bool, exact: Callable[[int], int | float]) -> Values:
    """The values, those that are not good computed by the scalar code, once for each key."""
    bad = np.flatnonzero(~good)
    if not len(bad):
        return values
    distinct, which = np.unique(keys[bad], return_inverse=True)
    computed = [exact(key) for key in distinct.tolist()]
    if integral and max(map(abs, computed)) >= 1 << 63:
        values = values.astype(object)
    values[bad] = np.array(computed, dtype=values.dtype)[which]
    return values


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
    low = -MAX if ladder.lower is None else float(ladder.lower)
    high = MAX if ladder.upper is None else float(ladder.upper)
    return np.minimum(np.maximum(values, low), high)  # faster than np.clip for few


def zeros(n: int, integral: bool) -> Values:
    """An array for n answers."""
    return np.zeros(n, dtype=np.int64) if integral else np.zeros(n, dtype=np.float64)


def _unknown(n: int, integral: bool) -> tuple[Values, Bools]:
    return zeros(n, integral), np.zeros(n, dtype=bool)
