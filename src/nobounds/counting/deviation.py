"""Deviations of records from a centre, over a scale, as a function of one record."""

import math
from fractions import Fraction

import numpy as np

from nobounds.arrays import Floats
from nobounds.ladders.frame import points_of
from nobounds.values import dataclass


@dataclass(frozen=True, slots=True)
class Deviation:
    """(x - center) / 2**octave for a record x, which is kept from `low` to `high`.

    all_present: a missing record lies at the centre; else its deviation is missing.
    unit: records lie on a grid of this unit; x and the centre are numbers of units then.
    """

    center: float
    low: float
    high: float
    octave: int
    all_present: bool = False
    unit: Fraction | None = None

    def __call__(self, values: Floats) -> Floats:
        with np.errstate(all="ignore"):  # a warning would reveal a record
            bounded = self.low > -math.inf or self.high < math.inf
            kept: Floats = np.clip(values, self.low, self.high) if bounded else values
            away: Floats = points_of(kept, self.unit) - self.center
            away = np.multiply(away, 2.0**-self.octave, out=away) if self.is_product else np.ldexp(away, -self.octave)
        if self.all_present:
            away[np.isnan(away)] = 0.0
        return away

    @property
    def is_product(self) -> bool:
        """Whether the scale is a normal float: then a product is the same as a change of exponents, and faster."""
        return abs(self.octave) <= 1022

    @property
    def arguments(self) -> tuple[float, float, float, float]:
        """The arguments of a compiled loop."""
        return self.low, self.high, self.center, 2.0**-self.octave
