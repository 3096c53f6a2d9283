"""The public prior: which numbers people write down, before any record is seen (docs/proofs/decimals.md).

A decimal is a sign, a decade k, and a whole number of d digits, times 10**(k - d + 1). The prior draws 0 with
probability 1/20, or a sign, a decade with a heavy-tailed weight, a number of digits from 1 to 17, all alike, and then
one of the 9 * 10**(d - 1) numbers of that length. So 40, 0.25 and 1990 weigh more than 39.817264.

A decimal counts as the double nearest to it, ties to even; those that become 0 or infinite are dropped. What a double
weighs is the sum over all its decimals, and every double weighs something. All masses are whole numbers: a decimal of d
digits in decade k weighs W_k 10**(17 - d), where W_k is the weight of the decade, rounded once. The rounded prior is
the definition; nothing here is an approximation, except for `masses`, which states its error.

Doubles are written as keys: whole numbers in the order of the doubles, that of -x minus that of x.
"""

import math
from bisect import bisect_right
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.values import dataclass

TOP = int(np.float64(np.finfo(np.float64).max).view(np.int64))  # the key of the largest double

# The shape of the prior. None of these is a bound, a step or a scale of the data.
DECADE = 1  # the heaviest decade, that of 10 to 99
WIDTH_SQUARED = 6.25  # of the Cauchy law of decades: 2.5 decades away one weighs half as much
ZERO = 20  # the whole over what 0 weighs
DIGITS = 17  # the most digits of a decimal: each double is the nearest to one of them

_HUGE = 1e300
_FINER = 80  # bits by which masses around an end are finer
_ONE = 1 << 30  # the weight of the heaviest decade
_LEAST, _MOST = -324, 308  # the decades of doubles
_FIRST, _END = 10 ** (DIGITS - 1), 10**DIGITS  # the numbers of 17 digits
_SHARED: int = math.lcm(*range(1, DIGITS + 1))  # what divides by any number of digits
_POWERS = [10**k for k in range(DIGITS - _LEAST + 1)]


def keys_of(values: Floats) -> Ints:
    """The key of each float; those of infinities lie beyond all others, and NaN is not allowed."""
    bits = np.ascontiguousarray(values, dtype=np.float64).view(np.int64)
    return np.where(bits < 0, -(bits & np.int64(0x7FFFFFFFFFFFFFFF)), bits)


def floats_of(keys: Ints) -> Floats:
    """The float of each key."""
    return np.copysign(np.abs(keys).view(np.float64), keys)


def key_of(value: float) -> int:
    """The key of one float."""
    return int(keys_of(np.array([value]))[0])


def float_of(key: int) -> float:
    """The float of one key; that of 0 is 0.0, never -0.0."""
    return float(floats_of(np.array([key], dtype=np.int64))[0]) + 0.0


@dataclass(frozen=True)
class Prior:
    """The prior over doubles, or with `whole` over whole numbers: there a decade has as many digits as it needs.

    shift: numbers stand for multiples of a unit of about 10**shift, so their decades are counted from there.
    """

    whole: bool = False
    shift: int = 0

    def mass(self, first: int, last: int) -> int:
        """What the doubles with keys from `first` to `last` weigh."""
        return self.up_to(last) - self.up_to(first - 1) if first <= last else 0

    def up_to(self, key: int) -> int:
        """What all doubles with this key or a lower one weigh."""
        if key >= TOP:
            return 2 * self.one_side + self.zero
        if key >= 0:
            return self.one_side + self.zero + self._above_zero(key)
        return self.one_side - self._above_zero(-key - 1) if key >= -TOP else 0

    @cached_property
    def one_side(self) -> int:
        """What all positive numbers weigh."""
        return self._above_zero(TOP)

    @cached_property
    def zero(self) -> int:
        """What 0 weighs."""
        return int(2 * self.one_side // (ZERO - 1))

    def at(self, first: int, last: int, place: int) -> int:
        """The key of the number from `first` to `last` that has this unit of their mass."""
        if first < 0:
            below = self.mass(first, min(last, -1))
            if place < below:
                return -self._at_above_zero(max(-last, 1), -first, place)
            place -= below
        if first <= 0 <= last:
            if place < self.zero:
                return 0
            place -= self.zero
        return self._at_above_zero(max(first, 1), last, place)

    def _at_above_zero(self, first: int, last: int, place: int) -> int:
        low, high = self._edge(first - 1), self._edge(last)
        passed = self._below(*low)
        decade = bisect_right(self._before, passed + place) - 1 + _LEAST
        if decade > low[0]:
            place -= self._before[decade - _LEAST] - passed
        start, end = low[1] if decade == low[0] else _FIRST, high[1] if decade == high[0] else _END
        place //= self._unit(decade)
        for d in range(1, self._digits[decade - _LEAST] + 1):
            power = _POWERS[DIGITS - d]
            number = -(-start // power)
            weight = (-(-end // power) - number) * power
            if place < weight:
                return key_of(float(f"{number + place // power}e{decade - d + 1}"))
            place -= weight
        raise AssertionError("the masses of a decade add up to what it weighs")

    def masses(self, first: Ints, last: Ints) -> Floats:
        """Like `mass`, for many intervals that are not empty; the relative error is below 2**-45."""
        above = self._masses_above_zero(np.maximum(first, 1), last)
        below = self._masses_above_zero(np.maximum(-last, 1), -first)
        at_zero = np.where((first <= 0) & (last >= 0), float(self.zero), 0.0)
        return np.asarray(above + below + at_zero)

    def _masses_above_zero(self, first: Ints, last: Ints) -> Floats:
        masses = np.zeros(len(first))
        (some,) = np.nonzero(first <= last)
        if not len(some):
            return masses
        ends, places = np.unique(np.concatenate([first[some] - 1, last[some]]), return_inverse=True)
        decades, numbers = (
            np.array(each, dtype=np.int64) for each in zip(*map(self._edge, ends.tolist()), strict=True)
        )
        passed = _passed(numbers, np.array(self._digits)[decades - _LEAST])
        low, high = np.split(places, 2)
        # In one decade the difference of whole numbers is exact, so nothing cancels.
        masses[some] = (passed[high] - passed[low]) * self._units[decades[low] - _LEAST]
        for k in np.flatnonzero(decades[low] != decades[high]).tolist():
            masses[some[k]] = float(self.mass(int(first[some[k]]), int(last[some[k]])))
        return masses

    def _above_zero(self, key: int) -> int:
        """What the positive doubles up to this key weigh."""
        return self._below(*self._edge(key)) - self._below(*self._edge(0))

    def _edge(self, key: int) -> tuple[int, int]:
        """The decade k and the number i such that the decimals that round to a double up to this one lie below i.

        They are counted in steps of 10**(k - 16). The edge is half-way to the next double, and belongs to an even one.
        """
        exponent, mantissa = key >> 52, key & ((1 << 52) - 1)
        if exponent:
            mantissa |= 1 << 52
        middle, binary = 2 * mantissa + 1, max(exponent, 1) - 1076  # half-way is middle * 2**binary
        decade = math.floor((middle.bit_length() + binary) * 0.30102999566398)  # or one more than it is
        number = _steps_below(middle, binary, decade, not mantissa & 1)
        if number <= _FIRST:
            decade, number = decade - 1, _steps_below(middle, binary, decade - 1, not mantissa & 1)
        if self.whole and decade < 0:
            return 0, _FIRST
        return decade, min(number, _END)

    def _below(self, decade: int, number: int) -> int:
        """What all positive decimals below such an edge weigh."""
        steps, digits = number - _FIRST, self._digits[decade - _LEAST]
        passed: int = sum(-(-steps // power) * power for power in _POWERS[DIGITS - digits : DIGITS])
        return int(self._before[decade - _LEAST] + passed * self._unit(decade))

    def _unit(self, decade: int) -> int:
        """What a decimal of 17 digits weighs in a decade."""
        if not self.whole:
            return self._weights[decade - _LEAST]
        return self._weights[decade - _LEAST] * (_SHARED // self._digits[decade - _LEAST])

    @cached_property
    def _weights(self) -> list[int]:
        decades = range(_LEAST, _MOST + 1)
        weights = [int(_ONE * WIDTH_SQUARED / (WIDTH_SQUARED + (k + self.shift - DECADE) ** 2)) for k in decades]
        return [0 if self.whole and k < 0 else w for k, w in zip(decades, weights, strict=True)]

    @cached_property
    def _digits(self) -> list[int]:
        """The most digits of a decimal in each decade."""
        return [min(max(k + 1, 1), DIGITS) if self.whole else DIGITS for k in range(_LEAST, _MOST + 1)]

    @cached_property
    def _units(self) -> Floats:
        return np.array([float(self._unit(k)) for k in range(_LEAST, _MOST + 1)])

    @cached_property
    def _before(self) -> list[int]:
        before = [0]
        for k in range(_LEAST, _MOST + 1):
            before.append(before[-1] + self._unit(k) * self._digits[k - _LEAST] * (_END - _FIRST))
        return before


@dataclass(frozen=True)
class Around:
    """A prior of which half is around an end of an interval of keys: at the distance d, s / (s + d)**2 for a scale s.

    up: whether numbers lie above that end. Masses are whole numbers of 2**-80 units of the prior.
    """

    prior: Prior
    first: int
    last: int
    up: bool
    scale: Fraction

    @cached_property
    def _half(self) -> int:
        return self.prior.mass(self.first, self.last) << _FINER

    @cached_property
    def _end(self) -> Fraction:
        return Fraction(float_of(self.first if self.up else self.last))

    def _away(self, key: int) -> Fraction:
        """How far a number lies from the end; where only whole numbers count, the next of them inward does."""
        away = abs(Fraction(float_of(key)) - self._end)
        return Fraction(math.floor(away)) if self.prior.whole else away

    def up_to(self, key: int) -> int:
        """What the numbers from the first one up to this key weigh."""
        if key < self.first:
            return 0
        own = (self.prior.up_to(key) - self.prior.up_to(self.first - 1)) << _FINER
        if self.up:
            return own + self._passed(key)
        return own + self._passed(self.first) - (self._passed(key + 1) if key < self.last else 0)

    def _passed(self, key: int) -> int:
        """What numbers from the end up to this distance weigh, in the half around it."""
        away = self._away(key)
        return math.floor(self._half * away / (self.scale + away))

    def mass(self, first: int, last: int) -> int:
        """What the doubles with keys from `first` to `last` weigh."""
        return self.up_to(last) - self.up_to(first - 1) if first <= last else 0

    def masses(self, first: Ints, last: Ints) -> Floats:
        """Like `mass`, for many intervals; the relative error is below 2**-45."""
        end = float(self._end)
        inner, outer = (first - 1, last) if self.up else (last + 1, first)
        at_end = first == self.first if self.up else last == self.last
        near, far = np.where(at_end, end, floats_of(inner)), floats_of(outer)
        if self.prior.whole:
            near, far = (np.floor(each) if self.up else np.ceil(each) for each in (near, far))
        # A quarter of each, where distances may be beyond the floats: the quotient is the same.
        part = 0.25 if max(abs(end), float(np.abs(far).max(initial=0.0))) > _HUGE else 1.0
        scale, end, near, far = float(self.scale) * part, end * part, near * part, far * part
        quotient = np.abs(far - near) / (scale + np.abs(far - end)) * (scale / (scale + np.abs(near - end)))
        return np.asarray(self.prior.masses(first, last) * 2.0**_FINER + float(self._half) * quotient)

    def at(self, first: int, last: int, place: int) -> int:
        """The key of the number from `first` to `last` that has this unit of their mass."""
        place += self.up_to(first - 1)
        while first < last:
            middle = (first + last) // 2
            first, last = (first, middle) if self.up_to(middle) > place else (middle + 1, last)
        return first


def _steps_below(middle: int, binary: int, decade: int, ties: bool) -> int:
    """How many steps of 10**(decade - 16) lie below middle * 2**binary, 0 counted too; with `ties`, or at it."""
    power = DIGITS - 1 - decade
    above, under = (middle * _POWERS[power], 1) if power >= 0 else (middle, _POWERS[-power])
    if binary >= 0:
        above <<= binary
    else:
        under <<= -binary
    whole, rest = divmod(above, under)
    return whole + (1 if rest or ties else 0)


def _passed(numbers: Ints, digits: Ints) -> Ints:
    """What the decimals of a decade below these numbers weigh, in units; it stays below 2**61."""
    steps, passed = numbers - _FIRST, np.zeros(len(numbers), dtype=np.int64)
    for d in range(1, DIGITS + 1):
        power = _POWERS[DIGITS - d]
        passed += np.where(d <= digits, -(-steps // power) * power, 0)
    return passed


@lru_cache(maxsize=64)
def prior_of(unit: Any) -> Prior:
    """The prior over multiples of a unit, or over all doubles if there is none."""
    return Prior() if unit is None else Prior(True, math.floor(math.log10(unit) + 0.5))
