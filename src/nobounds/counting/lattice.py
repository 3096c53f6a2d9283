"""Exact sums: clipped records as whole numbers on a power-of-two lattice, added up without rounding.

The whole number of a record depends on the record alone, and whole numbers add up to the same total in any order and
any chunking. So one record changes the total by at most the width of the clip, exactly: there is no rounding error for
an attacker to exploit, and nothing overflows.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.counting.scan import Chunk, Chunks, blocks, present, scan

_WIDTH_BITS = 40  # the clip is at least 2**39 steps wide: rounding is far smaller than any noise
_VALUE_BITS = 51  # and no value has more than 2**52 steps, which floats hold exactly
_SQUARE = 1 << 40  # steps of the largest square


@dataclass(frozen=True, slots=True)
class Lattice:
    """Whole numbers of steps of 2**exponent, from `low` to `low + width`; times `unit`, if records lie on a grid."""

    exponent: int
    low: int
    width: int
    unit: Fraction = Fraction(1)

    @classmethod
    def of(cls, low: Fraction, high: Fraction, integral: bool, unit: Fraction = Fraction(1)) -> "Lattice":
        """The lattice for a clip from `low` to `high`; with `integral`, the step is a whole number of units."""
        low, high = low / unit, high / unit
        exponent = max(_exponent(high - low) - _WIDTH_BITS, _exponent(max(abs(low), abs(high))) - _VALUE_BITS)
        exponent = max(exponent, 0) if integral else exponent
        step = Fraction(2) ** exponent
        first, last = math.floor(low / step), math.ceil(high / step)
        return cls(exponent, first, max(last - first, 1), unit)

    @property
    def step(self) -> Fraction:
        """The size of one step."""
        return Fraction(2) ** self.exponent * self.unit

    @property
    def largest(self) -> int:
        """The largest magnitude of a clipped value, in steps."""
        return max(abs(self.low), abs(self.low + self.width))

    def steps(self, values: Floats) -> Ints:
        """The clipped values as whole numbers from 0 to width."""
        if self.unit != 1:
            with np.errstate(over="ignore", under="ignore"):
                values = np.rint(values / float(self.unit))
        with np.errstate(over="ignore", under="ignore"):
            normal = abs(self.exponent) <= 1022  # then the product is the same, and faster
            whole = values * 2.0**-self.exponent if normal else np.ldexp(values, -self.exponent)
        np.rint(whole, out=whole)
        np.clip(whole, self.low, self.low + self.width, out=whole)
        steps = whole.astype(np.int64)
        steps -= self.low
        return steps


@dataclass(frozen=True, slots=True)
class Squares:
    """Squared distances of the clipped values from a centre, as whole numbers from 0 to width."""

    lattice: Lattice
    center: int  # in steps above `lattice.low`

    @property
    def width(self) -> int:
        """The whole number that stands for the square of the largest distance."""
        return _SQUARE

    @property
    def radius(self) -> Fraction:
        """The largest distance."""
        return max(self.center, self.lattice.width - self.center, 1) * self.lattice.step

    def steps(self, values: Floats) -> Ints:
        """The squared distance of each value as a whole number."""
        far = float(max(self.center, self.lattice.width - self.center, 1))
        distance = (self.lattice.steps(values) - self.center).astype(np.float64) / far
        squares: Ints = np.rint(np.square(distance) * _SQUARE).astype(np.int64)
        return squares


def totals(chunks: Chunks, *maps: Callable[[Floats], Ints]) -> list[int]:
    """The number of records that are not missing, and the sum of each map over them (sensitive)."""
    return scan(chunks, partial(_totals, maps), _added)


def _totals(maps: tuple[Callable[[Floats], Ints], ...], chunks: Iterable[Chunk]) -> list[int]:
    sums = [0] * (len(maps) + 1)
    for block, counts in blocks(chunks):
        values, times = present(block, counts)
        sums[0] += len(values) if times is None else int(times.sum())
        for k, steps in enumerate(maps, start=1):
            sums[k] += _sum(steps(values), times)
    return sums


def _sum(whole: Ints, times: Ints | None) -> int:
    """The sum of at most 2**17 whole numbers of up to 41 bits; with `times`, in halves that do not overflow."""
    if times is None:
        return int(whole.sum())
    high, low = np.divmod(whole, 1 << 21)
    return (int(high @ times) << 21) + int(low @ times)


def _added(one: list[int], other: list[int]) -> list[int]:
    return [a + b for a, b in zip(one, other, strict=True)]


def _exponent(x: Fraction) -> int:
    """The smallest e with x <= 2**e; for 0 a value far below all others."""
    if x <= 0:
        return -1074
    e = x.numerator.bit_length() - x.denominator.bit_length()
    return e if x <= Fraction(2) ** e else e + 1
