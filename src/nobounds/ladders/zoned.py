"""Rungs for a walk over deviations: each octave has its own number of rungs.

Steps are fine where an answer is expected, coarse far out, and few lie on the other side of 0.
"""

from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.exact import MAX
from nobounds.values import dataclass

_LAST = 1023  # the last octave of floats
_MANTISSA = (1 << 52) - 1


@dataclass(frozen=True)
class Zoned:
    """2**bits rungs in each octave from the octave of a zone on, for zones (octave, bits); 2**other of them below 0.

    Rung 0 holds all magnitudes below the first octave. With `mirrored`, above and below change places.
    """

    zones: tuple[tuple[int, int], ...]
    other: int
    mirrored: bool = False

    @cached_property
    def _sides(self) -> tuple["_Side", "_Side"]:
        """Above and below 0."""
        return _side(self.zones), _side(((self.zones[0][0], self.other),))

    @property
    def ends(self) -> tuple[int, int]:
        above, below = (side.last for side in self._sides)
        return (-above, below) if self.mirrored else (-below, above)

    def of(self, values: Floats) -> Ints:
        plus, minus = self._sides
        above, below = (values < 0, values > 0) if self.mirrored else (values > 0, values < 0)
        rungs = np.zeros(values.shape, dtype=np.int64)
        rungs[above] = plus.of(np.abs(values[above]))
        rungs[below] = -minus.of(np.abs(values[below]))
        return -rungs if self.mirrored else rungs

    def edges(self, rungs: Ints) -> tuple[Floats, Floats]:
        """The lower and the upper edge of each rung."""
        plus, minus = self._sides
        turned = -rungs if self.mirrored else rungs
        near, far = (
            np.where(turned >= 0, plus.edge(np.abs(turned) + k), -minus.edge(np.abs(turned) + k)) for k in (0, 1)
        )
        near = np.where(turned == 0, -minus.edge(np.ones_like(turned)), near)
        low, high = np.minimum(near, far), np.maximum(near, far)
        return (-high, -low) if self.mirrored else (low, high)

    def bits_at(self, octave: int) -> int:
        """log2 of the rungs in an octave above 0."""
        return next(bits for first, bits in reversed(self.zones) if first <= octave)

    def at(self, octave: int) -> int:
        """How many rungs lie from 0 to the first one of an octave."""
        return int(self._sides[0].of(np.array([2.0**octave]))[0])

    @property
    def octaves(self) -> tuple[tuple[Ints, Ints, int], tuple[Ints, Ints, int]]:
        """Above and below 0: the first rung of each octave, log2 of how many it has, and the first octave."""
        plus, minus = ((side.starts[:-1], 52 - side.shifts, side.floor) for side in self._sides)
        return plus, minus

    def interval(self, rung: int) -> tuple[Fraction, Fraction]:
        low, high = self.edges(np.array([rung]))
        return Fraction(float(low[0])), Fraction(float(high[0]))

    def value(self, rung: int) -> Fraction:
        low, high = self.interval(rung)
        return (low + high) / 2

    def floats(self, rungs: Ints) -> Floats:
        low, high = self.edges(rungs)
        return low / 2 + high / 2


@dataclass(frozen=True, eq=False)
class _Side:
    """The rungs on one side of 0, from 1 on: the first of each octave, and how far mantissas are shifted in it."""

    floor: int
    starts: Ints
    shifts: Ints

    @property
    def last(self) -> int:
        return int(self.starts[-1]) - 1

    def of(self, sizes: Floats) -> Ints:
        """The rung of each magnitude; for an infinite one the last."""
        pattern = np.minimum(sizes, MAX).view(np.int64)
        octave = (pattern >> 52) - 1023 - self.floor
        some = np.maximum(octave, 0)
        return np.where(octave < 0, 0, self.starts[some] + ((pattern & _MANTISSA) >> self.shifts[some]))

    def edge(self, rungs: Ints) -> Floats:
        """The magnitude at which each rung begins; that of rung 0 is 0, and beyond the last one the largest float."""
        kept = np.minimum(np.maximum(rungs, 1), self.last)  # faster than np.clip for few
        octave = self.starts.searchsorted(kept, side="right") - 1
        pattern = ((octave + self.floor + 1023) << 52) + ((kept - self.starts[octave]) << self.shifts[octave])
        edges = np.where(rungs > self.last, MAX, pattern.view(np.float64))
        return np.where(rungs <= 0, 0.0, edges)


@lru_cache(maxsize=512)
def _side(zones: tuple[tuple[int, int], ...]) -> _Side:
    floor = zones[0][0]
    bits = np.zeros(_LAST - floor + 1, dtype=np.int64)
    for octave, many in zones:
        bits[octave - floor :] = many
    starts = np.concatenate([[1], 1 + np.cumsum(np.int64(1) << bits)])
    return _Side(floor, starts, 52 - bits)
