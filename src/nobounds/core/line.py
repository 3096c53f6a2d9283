"""The numbers that an answer may be: all doubles, or the multiples of a unit, between public bounds.

A number is written as the key of a double (see `core.prior`): of itself, or of the multiple that it is. Records beyond
a bound count as the bound, infinities as the largest double, and magnitudes below 2**-1022 as 0.
"""

from fractions import Fraction
from functools import cached_property

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.core.prior import TOP, Prior, float_of, key_of, keys_of, prior_of
from nobounds.exact import MAX, finite_float, float_at_or_above
from nobounds.values import dataclass

_SMALLEST = 2.0**-1022


@dataclass(frozen=True)
class Line:
    """The multiples of `unit`, or all doubles if it is None, from `lower` to `upper`."""

    unit: Fraction | None = None
    lower: Fraction | None = None
    upper: Fraction | None = None

    @cached_property
    def prior(self) -> Prior:
        """The public prior over its numbers."""
        return prior_of(self.unit)

    @cached_property
    def ends(self) -> tuple[int, int]:
        """The first and the last key."""
        low, high = (None if end is None else self._key(end, up) for end, up in ((self.lower, 1), (self.upper, -1)))
        first = -TOP if low is None else max(low, -TOP)
        return first, max(first, TOP if high is None else min(high, TOP))

    def _key(self, bound: Fraction, up: int) -> int:
        """The key of the nearest multiple to a bound, or of the nearest double inside it."""
        if self.unit is not None:
            return int(keys_of(np.rint(np.array([finite_float(bound)]) / finite_float(self.unit)))[0])
        return key_of(up * min(float_at_or_above(up * bound), MAX))

    def keys(self, values: Floats) -> Ints:
        """The key of each record; NaN is not allowed. It depends on the record alone, and never falls."""
        with np.errstate(over="ignore", under="ignore"):
            points = values if self.unit is None else np.rint(values / finite_float(self.unit))
        keys = np.clip(keys_of(points), *self.ends)
        return np.where(np.abs(keys) < _TINY, 0, keys) if self.ends[0] <= 0 <= self.ends[1] else keys

    def number(self, key: int) -> Fraction:
        """The exact number of a key, within the bounds."""
        number = Fraction(float_of(key)) * (1 if self.unit is None else self.unit)
        number = number if self.lower is None else max(number, self.lower)
        return number if self.upper is None else min(number, self.upper)

    def value(self, key: int) -> float:
        """The number of a key as a float."""
        return finite_float(self.number(key)) + 0.0


_TINY = key_of(_SMALLEST)
