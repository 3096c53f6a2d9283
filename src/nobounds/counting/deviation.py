"""Deviations of records from a centre, over a scale, as a function of one record."""

import math
from dataclasses import dataclass

import numpy as np

from nobounds.arrays import Floats


@dataclass(frozen=True, slots=True)
class Deviation:
    """(x - center) / 2**octave for a record x, which is kept from `low` to `high`.

    all_present: a missing record lies at the centre; else its deviation is missing.
    """

    center: float
    low: float
    high: float
    octave: int
    all_present: bool = False

    def __call__(self, values: Floats) -> Floats:
        with np.errstate(all="ignore"):  # a warning would tell of a record
            bounded = self.low > -math.inf or self.high < math.inf
            away: Floats = (np.clip(values, self.low, self.high) if bounded else values) - self.center
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
