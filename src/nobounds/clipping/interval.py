"""The interval of a clipped sum: what noise may have changed, and what clipping may have cut off.

The true sum is the released one, minus its noise, plus the excess above the clip, minus the excess below it. The law of
the noise is known, and octaves give the law of the excess (see `tail`), so the interval holds 95% of their joint law.
Where the excess above is so large that no upper end would be of use, there is only a lower end; the same the other way
round. With both, nothing is claimed.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from nobounds.arrays import Floats
from nobounds.clipping.octaves.excess import CountNoise
from nobounds.clipping.tail import Side
from nobounds.exact import finite_float

CHANCE = 0.05  # intervals hold 95% of the time
# An end is of use if the excess reaches no further than this many half intervals of the noise, or this part of the sum;
# the latter not where a clip was moved far: of tails so heavy, intervals with a large excess seldom hold.
USEFUL_NOISE, USEFUL_PART = 5.0, 1.0
_NOTHING = 1e-300  # noise so small, in units of the clip, that it is none
_STEPS = 60  # of a bisection
_CLOSE, _LAST = 2.0**-34, 2.0**-52  # how close an end lies, in half intervals, and at most, of the range
_STRIDE = 197  # through the points of one side for those of the other; it has no factor 2


class Reach(NamedTuple):
    """How far the truth may lie below and above a released number; infinite where nothing is claimed."""

    below: float
    above: float


def reach(
    sides: Sequence[Side],
    unit: Fraction,
    counts: CountNoise,
    most: Sequence[float],
    bar: float,
    value: float,
    gaussian: bool,
    chance: float = CHANCE,
) -> Reach:
    """The reach around a clipped sum, for the sides of its clip and a 95% half interval `bar` of its noise.

    `most` says how much a record on each side may exceed the clip, by public bounds. All of it is in units of `unit`.
    It fails with probability `chance`.
    """
    beyond = {side.sign: side.excess(counts, each, unit) for side, each in zip(sides, most, strict=True)}
    above, below = (beyond.get(sign, np.zeros(1)) for sign in (1, -1))
    limit = max(USEFUL_NOISE * bar, useful_part(sides) * abs(value))
    upper, lower = (quantile_of(points, 1 - chance / 2) <= limit for points in (above, below))
    if upper and lower:
        points = _differences(above, below)
        return Reach(end_of(-points, bar, gaussian, chance / 2), end_of(points, bar, gaussian, chance / 2))
    if lower:  # the excess above is at least 0
        return Reach(end_of(below, bar, gaussian, chance), math.inf)
    return Reach(math.inf, end_of(above, bar, gaussian, chance) if upper else math.inf)


def useful_part(sides: Sequence[Side]) -> float:
    """The part of a sum that the excess beyond these sides may reach, for an end to be of use."""
    return 0.0 if any(side.far for side in sides) else USEFUL_PART


def reach_above(sides: Sequence[Side], points: Floats, bar: float, value: float, gaussian: bool) -> float:
    """How far the truth may lie above a released number, for points of an excess that is at least 0; see `reach`."""
    limit = max(USEFUL_NOISE * bar, useful_part(sides) * abs(value))
    return end_of(points, bar, gaussian, CHANCE / 2) if quantile_of(points, 1 - CHANCE / 2) <= limit else math.inf


def quantile_of(points: Floats, part: float) -> float:
    """The point that this part of all points does not exceed."""
    return float(np.sort(points)[math.ceil(part * len(points)) - 1])


def added(one: Floats, other: Floats) -> Floats:
    """Points of the law of the sum."""
    return _differences(one, -other)


def _differences(above: Floats, below: Floats) -> Floats:
    """Points of the law of the difference."""
    many = max(len(above), len(below))
    places = np.arange(many)
    return above[places % len(above)] - below[places * _STRIDE % len(below)]


def end_of(points: Floats, bar: float, gaussian: bool, chance: float) -> float:
    """What the sum of a point and noise, with this 95% half interval, exceeds with this probability."""
    low, high = float(points.min()) - 8 * bar, float(points.max()) + 8 * bar
    while low < (middle := (low + high) / 2) < high:
        above = float(np.add.reduce(_tail(middle - points, bar, gaussian))) / len(points)
        low, high = (middle, high) if above > chance else (low, middle)
    return high


def ends_of(points: Floats, bar: float, gaussian: bool, chance: float) -> Floats:
    """The same for several laws, with their points in rows, to 10 digits of the noise.

    The logarithm of the probability is nearly a line far out, so the place where a line between two ends passes
    `chance` is tried (the Illinois method), and the middle in every fourth step.
    """
    low, high = points.min(axis=1) - 8 * bar, points.max(axis=1) + 8 * bar
    close = np.maximum(bar * _CLOSE, (high - low) * _LAST)

    def passes(at: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.mean(_tail(at[:, None] - points, bar, gaussian), axis=1)) - math.log(chance))

    by_low, by_high = np.full(len(low), -math.log(chance)), passes(high)
    last = np.zeros(len(low), dtype=bool)
    for k in range(1, 2 * _STEPS):
        if bool(np.all(high - low <= close)):
            break
        with np.errstate(invalid="ignore", divide="ignore"):
            line = low + (high - low) * (by_low / (by_low - by_high))
        middle = (low + high) / 2
        at = np.where((k % 4 == 0) | ~((low < line) & (line < high)), middle, line)
        by = passes(at)
        above = by > 0
        # An end that stays twice counts half, so that the next line passes on its other side.
        stays = (above == last) & (k > 1)
        by_low, by_high = np.where(above, by, by_low), np.where(above, by_high, by)
        by_high = np.where(stays & above, by_high / 2, by_high)
        by_low = np.where(stays & ~above, by_low / 2, by_low)
        low, high, last = np.where(above, at, low), np.where(above, high, at), above
    return np.asarray(high)


def _tail(away: Floats, bar: float, gaussian: bool) -> Floats:
    """The probability that noise with this 95% half interval is above each number."""
    if bar < _NOTHING:
        return np.where(away < 0, 1.0, 0.0)
    if gaussian:
        scale = bar / NormalDist().inv_cdf(1 - CHANCE / 2)
        part = away / (scale * math.sqrt(2))
        return np.array([0.5 * math.erfc(x) for x in part.ravel().tolist()]).reshape(part.shape)
    with np.errstate(over="ignore"):
        part = away * (-math.log(CHANCE) / bar)
    small = np.exp(-np.abs(part)) / 2
    return np.where(part > 0, small, 1 - small)


def summed_range(lower: Fraction | None, upper: Fraction | None) -> tuple[float, float]:
    """Where a sum of any number of records between public bounds lies: 0 is an end if no record lies beyond it."""
    return (
        0.0 if lower is not None and lower >= 0 else -math.inf,
        0.0 if upper is not None and upper <= 0 else math.inf,
    )


def mean_range(lower: Fraction | None, upper: Fraction | None) -> tuple[float, float]:
    """Where a mean of records between public bounds lies."""
    return -math.inf if lower is None else finite_float(lower), math.inf if upper is None else finite_float(upper)


def within(interval: tuple[float, float], low: float, high: float) -> tuple[float, float]:
    """The part of an interval in a public range; one of which no end is known stays as it is.

    >>> within((-3.0, 5.0), 0.0, math.inf), within((7.0, math.inf), 0.0, 50.0)
    ((0.0, 5.0), (7.0, 50.0))
    """
    if interval == (-math.inf, math.inf):
        return interval
    return min(max(interval[0], low), high), min(max(interval[1], low), high)
