"""From value to rung and back: the three maps that ladders are built on.

Each map is monotone and depends on one record alone, through the bits of the float or comparisons with exact edges,
never through a computed logarithm: the last bits of a logarithm depend on the layout of the array and on the platform.
"""

import sys
from fractions import Fraction
from typing import Protocol

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.exact import MAX
from nobounds.values import dataclass

MOST_BITS = 51  # positions on the whole line must fit into 64 bits

_TOP = int(np.float64(MAX).view(np.int64))
_MOST = Fraction(MAX)
_OUTWARD = sorted({sign * (1 << k) for sign in (-1, 1) for k in (0, 1, 2, 4, 8, 16, 32, 48)} | {0})


class Rungs(Protocol):
    """A monotone map from float64 records to whole numbers; never called with NaN."""

    @property
    def ends(self) -> tuple[int, int]:
        """The lowest and the highest rung that a finite record can have."""
        ...

    def of(self, values: Floats) -> Ints:
        """The rung of each value; for infinities it may lie one past the ends, and the ladder clamps it."""
        ...

    def interval(self, rung: int) -> tuple[Fraction, Fraction]:
        """The lower and upper edge of a rung."""
        ...

    def value(self, rung: int) -> Fraction:
        """The value that represents a rung: its middle, or the grid point in it."""
        ...

    def floats(self, rungs: Ints) -> Floats:
        """The values of many rungs, as floats on the same rungs; beyond the range of floats, infinities."""
        ...


@dataclass(frozen=True, slots=True)
class FloatBits:
    """Sign, exponent and leading mantissa bits of the float64: log-linear rungs over the whole line, symmetric about 0.

    The rung of x is the leading bits of |x| as a whole number, counted from 2**floor on, with the sign of x. Rung 0
    holds zero and all magnitudes below 2**floor, because every walk across 0 would have to pass their rungs too.
    Between powers of two there are 2**bits rungs of equal width.
    """

    bits: int
    floor: int = -1022

    def __post_init__(self) -> None:
        _check_bits(self.bits)
        if not isinstance(self.floor, int) or not -1022 <= self.floor <= 1023:
            raise ValueError(f"floor must be a whole number between -1022 and 1023, got floor={self.floor!r}")

    @property
    def below(self) -> int:
        """The key of the largest magnitude in rung 0."""
        return ((self.floor + 1023) << self.bits) - 1

    @property
    def ends(self) -> tuple[int, int]:
        top = (_TOP >> (52 - self.bits)) - self.below
        return -top, top

    def of(self, values: Floats) -> Ints:
        return self.of_leading(self.leading(values))

    def leading(self, values: Floats, room: Ints | None = None) -> Ints:
        """Sign, exponent and `bits` mantissa bits as a number below 2**(12 + bits), which determines the rung.

        They are written into `room`, if there is one for as many.
        """
        return _leading(values, self.bits, room)

    def of_leading(self, keys: Ints) -> Ints:
        """The rung of each value with these leading bits."""
        rung = _without_sign(keys, self.bits)
        rung -= self.below
        np.maximum(rung, 0, out=rung)
        return _with_sign(rung, keys, self.bits)

    def scaled(self, rungs: Ints, octave: int, wider: "FloatBits") -> Ints:
        """The rungs that records on these ones have over 2**octave, by a map with fewer bits and no lower floor."""
        sizes = np.abs(rungs)
        sizes += self.below - (octave << self.bits)
        sizes >>= self.bits - wider.bits
        sizes -= wider.below
        np.maximum(sizes, 0, out=sizes)
        sizes *= np.sign(rungs)  # 0 stays 0
        return sizes

    def interval(self, rung: int) -> tuple[Fraction, Fraction]:
        if rung < 0:
            low, high = self.interval(-rung)
            return -high, -low
        low, high = self._magnitude(rung), self._magnitude(rung + 1)
        return (-high, high) if rung == 0 else (low, high)

    def value(self, rung: int) -> Fraction:
        return Fraction(float(self.floats(np.array([rung]))[0]))

    def floats(self, rungs: Ints) -> Floats:
        shift = 52 - self.bits
        size = (((np.abs(rungs) + self.below) << shift) + ((1 << shift) >> 1)).view(np.float64)
        return np.where(rungs == 0, 0.0, np.copysign(size, rungs))

    def edges(self, rungs: Ints) -> tuple[Floats, Floats]:
        """The lower and the upper edge of many rungs, as floats."""
        size, shift = np.abs(rungs), 52 - self.bits
        near, far = (np.minimum((size + more + self.below) << shift, _TOP).view(np.float64) for more in (0, 1))
        near = np.where(rungs == 0, -far, near)
        return np.where(rungs < 0, -far, near), np.where(rungs < 0, -near, far)

    def _magnitude(self, rung: int) -> Fraction:
        return Fraction(_float(min((rung + self.below) << (52 - self.bits), _TOP)))


@dataclass(frozen=True, slots=True)
class Grid:
    """Multiples of `unit`: one rung per grid point up to 2**bits points from 0, then 2**bits rungs per power of two.

    clock: its points are seconds of a clock, whose round numbers are hours and days.

    Edges lie half-way between grid points. The nearest grid point is computed by one division and one rounding, both
    of which IEEE 754 specifies to the last bit.
    """

    unit: Fraction
    bits: int
    clock: bool = False

    def __post_init__(self) -> None:
        if not sys.float_info.min <= self.unit <= MAX:
            raise ValueError(f"resolution must be within the range of normal floats, got resolution={self.unit}")
        _check_bits(self.bits)

    @property
    def ends(self) -> tuple[int, int]:
        top = (1 << self.bits) + (_TOP >> (52 - self.bits)) - self._first_key
        top = min(top, int(self.of(np.array([MAX]))[0]))
        return -top, top

    @property
    def _first_key(self) -> int:
        return _pattern(float(1 << self.bits)) >> (52 - self.bits)

    def of(self, values: Floats) -> Ints:
        return self.of_leading(self.leading(values))

    def leading(self, values: Floats, room: Ints | None = None) -> Ints:
        """The leading bits of the nearest grid point; they determine whole numbers up to 2**bits."""
        with np.errstate(all="ignore"):  # a warning would reveal a record
            points = np.divide(values, float(self.unit), out=None if room is None else room.view(np.float64))
        np.rint(points, out=points)
        return _leading(points, self.bits, points.view(np.int64))

    def of_leading(self, keys: Ints) -> Ints:
        """The rung of each point with these leading bits."""
        rung = _without_sign(keys, self.bits)
        size = (rung << (52 - self.bits)).view(np.float64)
        near = size < float(1 << self.bits)
        rung += (1 << self.bits) - self._first_key
        with np.errstate(invalid="ignore"):  # numbers too large to convert are not near
            np.copyto(rung, size.astype(np.int64), where=near)
        return _with_sign(rung, keys, self.bits)

    def interval(self, rung: int) -> tuple[Fraction, Fraction]:
        low, high = self._points(rung)
        return (low - Fraction(1, 2)) * self.unit, (high + Fraction(1, 2)) * self.unit

    def value(self, rung: int) -> Fraction:
        low, high = self._points(abs(rung))
        point = (low + high) // 2
        return (-point if rung < 0 else point) * self.unit

    def floats(self, rungs: Ints) -> Floats:
        shift = 52 - self.bits
        size = np.abs(rungs)
        keys = np.maximum(size - (1 << self.bits), 0) + self._first_key
        low = (keys << shift).view(np.float64)
        middle = np.floor(low + (((keys + 1) << shift).view(np.float64) - low - 1) / 2)
        with np.errstate(over="ignore", invalid="ignore"):
            return np.copysign(np.where(size < 1 << self.bits, size, middle), rungs) * float(self.unit)

    def points(self, rungs: Ints) -> tuple[Floats, Floats]:
        """The first and the last grid point of each rung, as floats."""
        size, shift = np.abs(rungs), 52 - self.bits
        keys = np.maximum(size - (1 << self.bits), 0) + self._first_key
        near = size < 1 << self.bits
        low = np.where(near, size, (keys << shift).view(np.float64))
        high = np.where(near, size, np.minimum(((keys + 1) << shift).view(np.float64), MAX) - 1)
        return np.where(rungs < 0, -high, low), np.where(rungs < 0, -low, high)

    def begins(self, rungs: Ints) -> Floats:
        """The first grid point of each rung from 0 on, as a float; beyond the last rung, infinity."""
        keys = np.maximum(rungs - (1 << self.bits), 0) + self._first_key
        large = np.minimum(keys << (52 - self.bits), _TOP + 1).view(np.float64)
        return np.where(rungs < 1 << self.bits, rungs, large)

    def _points(self, rung: int) -> tuple[int, int]:
        """The first and the last grid point of a rung."""
        if rung < 0:
            low, high = self._points(-rung)
            return -high, -low
        if rung < 1 << self.bits:
            return rung, rung
        shift = 52 - self.bits
        key = rung - (1 << self.bits) + self._first_key
        return int(_float(key << shift)), int(_float(min((key + 1) << shift, _TOP))) - 1


@dataclass(frozen=True, slots=True, eq=False)
class Edges:
    """A table of increasing edges: rung i holds the values in [edge i-1, edge i), and rung 0 all values below edge 0.

    Each exact edge is stored as the smallest float64 at or above it, which decides `value < edge` exactly for floats.
    """

    table: Floats
    name: str

    def __post_init__(self) -> None:
        if len(self.table) == 0 or not bool(np.all(np.isfinite(self.table))):
            raise ValueError(f"a ladder needs edges, and all within the range of floats ({self.name})")
        if not bool(np.all(self.table[:-1] < self.table[1:])):
            raise ValueError(f"the edges of a ladder must be strictly increasing as floats ({self.name})")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Edges) and self.name == other.name and np.array_equal(self.table, other.table)

    def __hash__(self) -> int:  # fast, because ladders are cache keys
        return hash((self.name, len(self.table), float(self.table[0]), float(self.table[-1])))

    @property
    def ends(self) -> tuple[int, int]:
        return 0, len(self.table) - 1

    def of(self, values: Floats) -> Ints:
        return np.searchsorted(self.table, values, side="right").astype(np.int64, copy=False)

    def interval(self, rung: int) -> tuple[Fraction, Fraction]:
        high = Fraction(float(self.table[rung]))
        return (high if rung == 0 else Fraction(float(self.table[rung - 1]))), high

    def value(self, rung: int) -> Fraction:
        low, high = self.interval(rung)
        return (low + high) / 2

    def floats(self, rungs: Ints) -> Floats:
        high = self.table[rungs]
        return np.where(rungs == 0, high, self.table[np.maximum(rungs - 1, 0)] / 2 + high / 2)


def _leading(values: Floats, bits: int, room: Ints | None = None) -> Ints:
    """Sign, exponent and `bits` mantissa bits of each float."""
    shifted = None if room is None else room.view(np.uint64)
    return np.right_shift(values.view(np.uint64), np.uint64(52 - bits), out=shifted).view(np.int64)


def _without_sign(keys: Ints, bits: int) -> Ints:
    return keys & ((1 << 11 + bits) - 1)


def _with_sign(rung: Ints, keys: Ints, bits: int) -> Ints:
    """The rungs, in place, with the signs in the leading bits."""
    sign = keys >> (11 + bits)
    np.negative(sign, out=sign)  # 0 or -1
    rung ^= sign
    rung -= sign
    return rung


def _check_bits(bits: int) -> None:
    if isinstance(bits, bool) or not isinstance(bits, int) or not 0 <= bits <= MOST_BITS:
        raise ValueError(f"bits must be between 0 and {MOST_BITS}, got bits={bits!r}")


def _float(pattern: int) -> float:
    return float(np.int64(pattern).view(np.float64))


def _pattern(value: float) -> int:
    return int(np.float64(value).view(np.int64))


def smallest_float(rungs: Rungs, rung: int) -> float:
    """The smallest finite float at or above a rung, by a search that evaluates the map, from its lower edge outward."""
    low, high = -_TOP - 1, _TOP  # keys of floats in order: the bit pattern of the magnitude, with the sign
    edge = float(min(max(rungs.interval(rung)[0], -_MOST), _MOST))
    guess = -_pattern(-edge) if edge < 0 else _pattern(edge)
    keys = [guess + step for step in _OUTWARD]
    while high - low > 1:  # the float with key `low` is below the rung, the one with key `high` is not
        keys = [key for key in keys if low < key < high]
        reached = int(np.searchsorted(rungs.of(_of_keys(keys)), rung))
        low, high = keys[reached - 1] if reached else low, keys[reached] if reached < len(keys) else high
        keys = sorted({low + (high - low) * k // 64 for k in range(1, 64)})
    return float(_of_keys([high])[0])


def _of_keys(keys: list[int]) -> Floats:
    return np.copysign(np.abs(array := np.array(keys, dtype=np.int64)).view(np.float64), array)
