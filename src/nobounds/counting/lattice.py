"""Exact sums: clipped records as whole numbers on a power-of-two lattice, added up without rounding.

The whole number of a record depends on the record alone, and whole numbers add up to the same total in any order and
any chunking. So one record changes the total by at most the width of the clip, exactly: there is no rounding error for
an attacker to exploit, and nothing overflows.
"""

from collections.abc import Callable, Iterable
from fractions import Fraction

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.counting.classes import Classes
from nobounds.counting.kernels import address, kernels_for
from nobounds.counting.scan import Chunk, Chunks, blocks, present, scan
from nobounds.values import dataclass

_WIDTH_BITS = 40  # the clip is at least 2**39 steps wide: rounding is far smaller than any noise
_VALUE_BITS = 51  # and no value has more than 2**51 steps, which floats hold exactly
_SQUARE = 1 << 40  # steps of the largest square
_FEW = 1 << 13  # values for which two array calls take less time than np.clip, which is slow to start
_MIDDLE = 1.5 * 2.0**52  # the values above are whole numbers of up to 2**51 steps
_PATTERN = int(np.float64(_MIDDLE).view(np.int64))


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
        if unit != 1:
            low, high = low / unit, high / unit
        exponent = max(_exponent(high - low) - _WIDTH_BITS, _exponent(max(high, -low)) - _VALUE_BITS)
        exponent = max(exponent, 0) if integral else exponent
        first, last = _floor(low, exponent), -_floor(-high, exponent)
        return cls(exponent, first, max(last - first, 1), unit)

    @property
    def step(self) -> Fraction:
        """The size of one step."""
        power = Fraction(1 << self.exponent) if self.exponent >= 0 else Fraction(1, 1 << -self.exponent)
        return power if self.unit == 1 else power * self.unit

    @property
    def largest(self) -> int:
        """The largest magnitude of a clipped value, in steps."""
        return max(abs(self.low), abs(self.low + self.width))

    @property
    def is_product(self) -> bool:
        """Whether steps are products with a normal float, which is the same as a change of exponents, and faster."""
        return abs(self.exponent) <= 1022

    @property
    def arguments(self) -> tuple[float, float, float] | None:
        """The arguments of a compiled loop, the scale and both ends; None where there is no loop."""
        ends = float(self.low), float(self.low + self.width)
        return (2.0**-self.exponent, *ends) if self.unit == 1 and self.is_product else None

    def total(self, values: Floats) -> tuple[int, int] | None:
        """The number of records that are not missing, and the sum of their steps, in compiled code if there is some."""
        if self.arguments is None or (kernels := kernels_for(values)) is None:
            return None
        return _from_patterns(kernels.lattice, values, self.arguments, self.low)

    def steps(self, values: Floats) -> Ints:
        """The clipped values as whole numbers from 0 to width."""
        steps = self._patterns(values)
        steps -= _PATTERN + self.low
        return steps

    def summed(self, values: Floats) -> tuple[int, int]:
        """The number of at most 2**17 values that are not missing, and the sum of their steps."""
        missing = int(np.count_nonzero(np.isnan(values)))
        patterns = int(self._patterns(values, missing > 0).sum())  # this may overflow
        return len(values) - missing, (patterns - len(values) * (_PATTERN + self.low)) % (1 << 64)

    def _patterns(self, values: Floats, some_missing: bool = False) -> Ints:
        """The clipped values as whole numbers, each larger by _PATTERN; a missing one is the lowest."""
        if self.unit != 1:
            with np.errstate(over="ignore", under="ignore"):
                values = np.rint(values / float(self.unit))
        with np.errstate(over="ignore", under="ignore"):
            whole = values * 2.0**-self.exponent if self.is_product else np.ldexp(values, -self.exponent)
        if some_missing:
            np.fmax(whole, self.low, out=whole)
        if len(whole) > _FEW:
            np.clip(whole, self.low, self.low + self.width, out=whole)
        else:
            np.minimum(np.maximum(whole, self.low, out=whole), self.low + self.width, out=whole)
        # Floats from 2**52 to 2**53 are whole numbers, and their patterns count up by one: this rounds like rint.
        whole += _MIDDLE
        return whole.view(np.int64)


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

    @property
    def _far(self) -> float:
        """The largest distance in steps."""
        return float(max(self.center, self.lattice.width - self.center, 1))

    def total(self, values: Floats) -> tuple[int, int] | None:
        """As of a lattice."""
        own = self.lattice.arguments
        if own is None or (kernels := kernels_for(values)) is None:
            return None
        return _from_patterns(kernels.squares, values, (*own, float(self.lattice.low + self.center), self._far), 0)

    def summed(self, values: Floats) -> tuple[int, int]:
        """As of a lattice."""
        values, _ = present(values, None)
        return len(values), int(self.steps(values).sum())

    def steps(self, values: Floats) -> Ints:
        """The squared distance of each value as a whole number."""
        whole = self.lattice.steps(values)
        whole -= self.center
        squares = whole.astype(np.float64)
        squares /= self._far
        np.square(squares, out=squares)
        squares *= _SQUARE
        squares += _MIDDLE
        whole = squares.view(np.int64)
        whole -= _PATTERN
        return whole


def _from_patterns(
    loop: Callable[..., None], values: Floats, arguments: tuple[float, ...], base: int
) -> tuple[int, int]:
    """How many values are not missing, and the sum of their whole numbers above `base`, which has at most 63 bits."""
    numbers = np.empty(2, dtype=np.int64)
    loop(values, *arguments, address(numbers))
    count, patterns = numbers.tolist()
    return count, (patterns - count * (_PATTERN + base)) % (1 << 64)


def steps_total(chunks: Chunks, steps: Lattice | Squares) -> tuple[int, int]:
    """The number of records that are not missing, and the sum of their steps (sensitive)."""
    return scan(chunks, Total(steps), _both)


@dataclass(frozen=True, slots=True)
class Total:
    """The pass that counts records and adds up their steps."""

    steps: Lattice | Squares

    def __call__(self, chunks: Iterable[Chunk]) -> tuple[int, int]:
        return _total(self.steps, chunks)


def _total(steps: Lattice | Squares, chunks: Iterable[Chunk]) -> tuple[int, int]:
    summed = (0, 0)
    for block, counts in blocks(chunks):
        part = steps.total(block) if counts is None else None
        if part is None and counts is None:
            part = steps.summed(block)
        elif part is None:
            values, times = present(block, counts)
            assert times is not None
            part = int(times.sum()), _sum(steps.steps(values), times)
        summed = _both(summed, part)
    return summed


def _both(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return one[0] + other[0], one[1] + other[1]


def totals(chunks: Chunks, *maps: Callable[[Floats], Ints]) -> list[int]:
    """The number of records that are not missing, and the sum of each map over them (sensitive)."""
    return scan(chunks, Totals(maps), _added)


@dataclass(frozen=True, slots=True)
class Totals:
    """The pass that counts records and adds up maps over them."""

    maps: tuple[Callable[[Floats], Ints], ...]

    @property
    def classes(self) -> Classes | None:
        """Records on the same side of each end, if all maps are about ends."""
        ends = [each.end for each in self.maps if isinstance(each, Outside)]
        return Classes(edges=tuple(sorted(set(ends)))) if len(ends) == len(self.maps) else None

    def __call__(self, chunks: Iterable[Chunk]) -> list[int]:
        sums = [0] * (len(self.maps) + 1)
        for block, counts in blocks(chunks):
            values, times = present(block, counts)
            sums[0] += len(values) if times is None else int(times.sum())
            for k, steps in enumerate(self.maps, start=1):
                sums[k] += _sum(steps(values), times)
        return sums


@dataclass(frozen=True, slots=True)
class Outside:
    """1 for each record from an end on, upwards or downwards, and 0 for the others."""

    end: float
    upwards: bool

    def __call__(self, values: Floats) -> Ints:
        return (values >= self.end if self.upwards else values <= self.end).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Beyond:
    """1 for each record that lies farther than `far` from a centre, on the side of `sign`, and 0 for the others."""

    center: float
    sign: int
    far: float

    def __call__(self, values: Floats) -> Ints:
        with np.errstate(over="ignore"):
            away = self.sign * (values - self.center)
        return (away > self.far).astype(np.int64)


def _sum(whole: Ints, times: Ints | None) -> int:
    """The sum of at most 2**17 whole numbers of up to 41 bits; with `times`, in halves that do not overflow."""
    if times is None:
        return int(whole.sum())
    high, low = np.divmod(whole, 1 << 21)
    return (int(high @ times) << 21) + int(low @ times)


def _added(one: list[int], other: list[int]) -> list[int]:
    return [a + b for a, b in zip(one, other, strict=True)]


def _floor(x: Fraction, exponent: int) -> int:
    """The whole number of steps of 2**exponent at or below x."""
    if exponent < 0:
        return (x.numerator << -exponent) // x.denominator
    return x.numerator // (x.denominator << exponent)


def _exponent(x: Fraction) -> int:
    """The smallest e with x <= 2**e; for 0 a value far below all others."""
    n, d = x.numerator, x.denominator
    if n <= 0:
        return -1074
    e = n.bit_length() - d.bit_length()
    return e if n << max(-e, 0) <= d << max(e, 0) else e + 1
