"""A frame: a centre and a scale, both already noisy, from which the steps of a ladder are counted.

Records are taken as (x - centre) / scale, rounded once, which is a monotone function of the record and the same in
every engine; on a grid x and the centre are whole numbers of its unit. The scale is a power of two, so dividing by it
is exact. One ladder of such deviations then serves data at any location and in any unit, and many groups at once.

An answer is a rung, and what is released for it is the roundest number on it: that follows from what is noisy already.
"""

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.exact import MAX
from nobounds.ladders.rungs import FloatBits, Grid, Rungs
from nobounds.ladders.zoned import Zoned
from nobounds.values import dataclass

_DIGITS = 17  # no float has more
_POWERS: list[float] = (10.0 ** np.arange(309)).tolist()
_CLOSE = 2.0**-16  # of a centre: nearer to it there is no rounder number than it is, or its own rung is meant
_DAY = 86_400
# Days, halves and quarters of them, and so on: seconds, the roundest first.
_ROUND = (
    *(_DAY * days for days in (1000, 100, 10)),
    _DAY,
    43_200,
    21_600,
    10_800,
    3600,
    1800,
    900,
    300,
    60,
    30,
    10,
    5,
    1,
)


@dataclass(frozen=True, slots=True)
class Frame:
    """A centre and the octave of the scale, in the unit of the grid if there is one; or arrays of them, one a group."""

    center: Any
    octave: Any
    unit: Fraction | None = None
    clock: bool = False  # as in `Grid`

    def of_group(self, who: Ints) -> "Frame":
        """The frames of these groups."""
        return replace(self, center=self.center[who], octave=self.octave[who])

    def repeated(self, sizes: Ints) -> "Frame":
        """The frame of each record, for groups of these sizes."""
        return replace(self, center=np.repeat(self.center, sizes), octave=np.repeat(self.octave, sizes))

    def at_least(self, octave: int) -> "Frame":
        """The frame with a scale of at least 2**octave: on a grid, steps of 2**-octave are points or more then."""
        larger = np.maximum(self.octave, octave)
        return replace(self, octave=larger if isinstance(self.octave, np.ndarray) else int(larger))

    def deviations(self, values: Floats) -> Floats:
        """(x - centre) / scale for each value."""
        with np.errstate(over="ignore", under="ignore"):
            away: Floats = np.ldexp(points_of(values, self.unit) - self.center, np.negative(self.octave))
            return away

    def ends(self, rungs: Rungs, which: Ints) -> tuple[Floats, Floats]:
        """The lower and the upper edge of each of these rungs, in points of the grid if there is one."""
        low, high = _edges(rungs, which)
        with np.errstate(over="ignore", under="ignore"):
            low, high = (self.center + np.ldexp(end, self.octave) for end in (low, high))
        return np.minimum(np.maximum(low, -MAX), MAX), np.minimum(np.maximum(high, -MAX), MAX)

    def values(self, rungs: Rungs, which: Ints, passed: bool | None = None) -> Floats:
        """The roundest number on each rung, on a grid the roundest point; of a wide rung around the centre, the centre.

        If nearly all records are at the centre, no deviation tells the scale, and its rung may be far too wide. On a
        grid a rung may hold no point. Then `passed` says that the answer of a walk, up or down, is the last point that
        it has passed.
        """
        if self.unit is None and len(which) == 1 and not isinstance(self.center, np.ndarray):
            return np.array([self._value(*(edge.item() for edge in _edges(rungs, which)))])
        low, high = self.ends(rungs, which)
        wide = high - low > _CLOSE * np.abs(self.center)
        if self.unit is None:
            around = wide & (low <= self.center) & (self.center <= high)
            return np.where(around, self.center, roundest(low, high))
        first, last = np.ceil(low), np.ceil(high) - 1
        if isinstance(rungs, Zoned):  # rungs below the centre hold their upper edge, and that of the centre none
            below, above = high <= self.center, low >= self.center
            first, last = np.where(above, first, np.floor(low) + 1), np.where(below, np.floor(high), last)
        if self.clock:
            some = roundest_moment(first, last, self.unit)
        else:
            around = wide & (first <= self.center) & (self.center <= last)
            some = np.where(around, self.center, roundest(first, last))
        none = np.rint(low / 2 + high / 2) if passed is None else last if passed else first
        return np.where(first <= last, some, none)

    def _value(self, near: float, far: float) -> float:
        """The same for the edges of one rung, without a grid."""
        low, high = (min(max(self.center + _times_power(edge, self.octave), -MAX), MAX) for edge in (near, far))
        wide = low <= self.center <= high and high - low > _CLOSE * abs(self.center)
        return float(self.center) if wide else _roundest(low, high)


def _times_power(x: float, exponent: int) -> float:
    """x times a power of two; infinite beyond the floats."""
    try:
        return math.ldexp(x, exponent)
    except OverflowError:
        return math.copysign(math.inf, x)


def points_of(values: Floats, unit: Fraction | None) -> Floats:
    """The values in units of the grid, rounded to whole numbers."""
    if unit is None:
        return values
    with np.errstate(all="ignore"):  # a warning would reveal a record
        points: Floats = np.rint(values / float(unit))
    return points


NO_FRAME = Frame(0.0, 0)


@dataclass(frozen=True, slots=True)
class Framed:
    """The rungs of deviations in a frame, as rungs of the records themselves."""

    frame: Frame
    inner: Rungs

    @property
    def ends(self) -> tuple[int, int]:
        return self.inner.ends

    def of(self, values: Floats) -> Ints:
        return self.inner.of(self.frame.deviations(values))

    def interval(self, rung: int) -> tuple[Fraction, Fraction]:
        low, high = (Fraction(float(end[0])) for end in self.frame.ends(self.inner, np.array([rung])))
        unit = self.frame.unit or 1
        return low * unit, high * unit

    def value(self, rung: int) -> Fraction:
        return Fraction(float(self.frame.values(self.inner, np.array([rung]))[0])) * (self.frame.unit or 1)

    def floats(self, rungs: Ints) -> Floats:
        with np.errstate(over="ignore"):
            return self.frame.values(self.inner, rungs) * float(self.frame.unit or 1)


def _edges(rungs: Rungs, which: Ints) -> tuple[Floats, Floats]:
    """The edges of rungs of deviations."""
    if isinstance(rungs, Zoned | FloatBits):
        return rungs.edges(which)
    if not isinstance(rungs, Grid):
        pairs = [rungs.interval(rung) for rung in which.tolist()]
        return np.array([float(low) for low, _ in pairs]), np.array([float(high) for _, high in pairs])
    first, last = rungs.points(which)
    with np.errstate(over="ignore"):
        return (first - 0.5) * float(rungs.unit), (last + 0.5) * float(rungs.unit)


def roundest(low: Floats, high: Floats) -> Floats:
    """The number with the fewest digits from `low` to `high`, near the middle; 0 if it lies between them."""
    if len(low) == 1:
        return np.array([_roundest(low.item(), high.item())])
    middle = low / 2 + high / 2
    with np.errstate(divide="ignore"):
        top = np.ceil(np.log10(np.maximum(np.abs(low), np.abs(high))))
    top = np.where(np.isfinite(top), np.clip(top, -290, 308), 0.0)
    best, left = middle.copy(), np.ones(len(middle), dtype=bool)
    for digits in range(_DIGITS + 1):
        rounded = to_power(middle, top - digits)
        fits = left & (low <= rounded) & (rounded <= high)
        best[fits] = rounded[fits]
        left &= ~fits
        if not left.any():
            break
    return np.where((low <= 0) & (high >= 0), 0.0, best)


def _roundest(low: float, high: float) -> float:
    """The same for one pair of ends."""
    if low <= 0 <= high:
        return 0.0
    middle, most = low / 2 + high / 2, max(abs(low), abs(high))
    top = min(max(math.ceil(math.log10(most)), -290), 308) if 0 < most < math.inf else 0
    for power in range(top, top - _DIGITS - 1, -1):
        up = _POWERS[abs(power)]
        if power >= 0:
            rounded = round(middle / up) * up
        else:
            steps = middle * up
            rounded = (round(steps) if math.isfinite(steps) else steps) / up
        if low <= rounded <= high:
            return rounded
    return middle


def roundest_moment(first: Floats, last: Floats, unit: Fraction) -> Floats:
    """The roundest moment from `first` to `last`, near the middle; all of them in whole numbers of `unit` seconds."""
    middle = first / 2 + last / 2
    best, left = np.rint(middle), np.ones(len(middle), dtype=bool)
    for step in _ROUND:
        size = Fraction(step) / unit
        if size.denominator == 1 and left.any():
            rounded = np.rint(middle / float(size)) * float(size)
            fits = left & (first <= rounded) & (rounded <= last)
            best[fits] = rounded[fits]
            left &= ~fits
    return best


def to_power(values: Floats, power: Floats) -> Floats:
    """The multiple of 10**power nearest to each value."""
    with np.errstate(over="ignore", invalid="ignore"):
        up = 10.0 ** np.abs(power)
        return np.where(power >= 0, np.rint(values / up) * up, np.rint(values * up) / up)
