"""Stretches of places between records: what the joint exponential mechanism chooses from.

A rung has a power of two of places, and its records lie between them, one after the other in the order of reversed
bits: at the half, at a quarter, at three quarters, and so on. So ties are spread over their rung, and a record more
adds one point and moves none. All places of a stretch have the same rank, the number of records before them.
"""

import math
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.counting.histogram import Histogram
from nobounds.ladders.prior import Prior
from nobounds.values import dataclass


@dataclass(frozen=True, eq=False)
class Stretches:
    """The places from `first` to `last`, the stretches they form, and the ranks that are aimed at.

    The weight of places p_1 <= ... <= p_m is what they weigh under the prior, as independent draws in order, times
    exp(-rate * distance). The distance is the sum over neighbouring places, and the ends, of |records between them -
    gap * all records|. Sensitive: its repr shows only the rate.
    """

    first: int
    last: int
    starts: Ints  # the first place of each stretch
    ranks: Ints  # the number of records before each stretch; they rise
    total: int  # the number of records
    gaps: tuple[Fraction, ...]  # between neighbouring ranks, from 0 to 1
    rate: Fraction
    prior: Prior  # over places
    far: float = math.inf  # stretches with ranks within this of a target are exact, and so are all ranks

    @classmethod
    def of(
        cls,
        histogram: Histogram,
        places: int,
        qs: tuple[Fraction, ...],
        rate: Fraction,
        prior: Prior,
        far: float = math.inf,
    ) -> "Stretches":
        """The stretches of a histogram, for ranks in increasing order; the prior is one over its rungs."""
        spots, counts = spread(histogram.rungs, histogram.counts, places)
        ladder = histogram.ladder
        first = ladder.first * places
        return cls(
            first,
            (ladder.last + 1) * places - 1,
            np.append(first, spots),
            np.append(0, np.cumsum(counts, dtype=np.int64)),
            histogram.total,
            tuple(b - a for a, b in zip((Fraction(0), *qs), (*qs, Fraction(1)), strict=True)),
            rate,
            prior.placed(places),
            far,
        )

    @property
    def many(self) -> int:
        """The number of quantiles."""
        return len(self.gaps) - 1

    @cached_property
    def targets(self) -> tuple[Fraction, ...]:
        """The number of records that each gap should have."""
        return tuple(gap * self.total for gap in self.gaps)

    @cached_property
    def wanted(self) -> tuple[tuple[int, float], ...]:
        """The targets, each as a whole number and what it is below that: no digit is lost in large data."""
        return tuple((math.ceil(target), float(math.ceil(target) - target)) for target in self.targets)

    def away(self, gap: int, between: Ints) -> Floats:
        """How far these numbers of records in a gap are from the target, with a relative error of at most 2**-52."""
        whole, below = self.wanted[gap]
        return np.asarray(np.abs((between - whole) + below))

    @cached_property
    def ends(self) -> Ints:
        """The last place of each stretch."""
        return np.append(self.starts[1:] - 1, self.last)

    @cached_property
    def log_masses(self) -> Floats:
        """ln of the part of the prior that each stretch has."""
        return np.log(self.prior.masses(self.starts, self.ends)) - self.log_all

    @cached_property
    def log_all(self) -> float:
        """ln of what all places weigh."""
        return math.log(self.mass(self.first, self.last)) - self.prior.shift * math.log(2)

    def mass(self, first: int, last: int) -> int:
        """What the places from `first` to `last` weigh, as a whole number."""
        return self.prior.mass(first, last)

    def stretch(self, places: Ints) -> Ints:
        """The stretch of each place."""
        return np.searchsorted(self.starts, places, side="right") - 1

    def distance(self, stretches: Ints) -> Fraction:
        """The exact distance of quantiles in these stretches."""
        between = np.diff(np.concatenate([[0], self.ranks[stretches], [self.total]])).tolist()
        return sum((abs(n - target) for n, target in zip(between, self.targets, strict=True)), Fraction(0))

    def __repr__(self) -> str:
        return f"Stretches(rate={self.rate}, the rest hidden)"


def spread(rungs: Ints, counts: Ints, places: int) -> tuple[Ints, Ints]:
    """The first places after records, in order, and the number of records before each; `places` on a rung, 2 or more.

    Record k of a rung, from 1 on, lies before the place with the reversed bits of k; after places - 1 records the
    order starts anew.
    """
    order, cycle = _reversed(places), places - 1
    several = np.minimum(counts, cycle)
    which = np.repeat(np.arange(len(rungs)), several)
    k = np.arange(len(which)) - np.repeat(np.cumsum(several) - several, several)
    held = counts[which] // cycle + (k < counts[which] % cycle)
    spots = rungs[which] * places + order[k]
    if len(k) and several.max() > 1:
        sort = np.argsort(spots, kind="stable")
        spots, held = spots[sort], held[sort]
    return spots, held


@lru_cache(maxsize=8)
def _reversed(places: int) -> Ints:
    """The numbers from 1 to places - 1 with their bits reversed; half of the places comes first."""
    bits = places.bit_length() - 1
    numbers = np.arange(1, places)
    turned = np.zeros_like(numbers)
    for k in range(bits):
        turned |= (numbers >> k & 1) << (bits - 1 - k)
    return turned
