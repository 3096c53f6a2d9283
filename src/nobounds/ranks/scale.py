"""The scale of the data: a private quantile of the magnitudes, to the nearest power of two.

A ladder of relative steps has hundreds of rungs between any two records on either side of 0, and a quantile that lies
near 0 is drawn to them. With a scale the steps near 0 can be equal, and in the same units at all n. It need
not be accurate: one octave more or less changes little, so an epsilon of a few nats over the number of records will do.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from nobounds.accounting.cost import Cost, both, monotonic, moving_threshold, pure
from nobounds.accounting.loss import Neighbors
from nobounds.counting.histogram import Histogram
from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms.walk import Walk
from nobounds.ranks.tuning import OCTAVES, SCALE_FLOOR


@dataclass(frozen=True, slots=True)
class Scale:
    """One walk over the octaves for the median magnitude, or for another rank."""

    eps1: Fraction
    eps2: Fraction
    rank: Fraction = Fraction(1, 2)
    octaves: Ladder = OCTAVES

    def cost(self, neighbors: Neighbors, nullable: bool) -> Cost:
        """The cost of a walk on counts of magnitudes - rank n; a moved record may move its magnitude up or down."""
        added = moving_threshold(self.rank, self.eps1, self.eps2)
        if neighbors == "add-remove":
            return added
        moved = pure(monotonic(self.eps1, self.eps2).epsilon)
        return both(moved, added) if nullable else moved

    def walk(self, histogram: Histogram) -> Walk:
        """The walk for these records."""
        sizes = magnitudes(histogram, self.octaves)
        return Walk(
            starts=np.concatenate([[0], sizes.rungs[sizes.rungs > 0]]),
            levels=np.concatenate([[sizes.below(1)], sizes.up_to[sizes.rungs > 0]]),
            length=self.octaves.last + 1,
            threshold=self.rank * sizes.total,
            step=Fraction(1, self.rank.denominator),
            eps1=self.eps1,
            eps2=self.eps2,
            rising=True,
        )


def magnitudes(histogram: Histogram, octaves: Ladder = OCTAVES) -> Histogram:
    """The magnitudes of the records on the octaves, each rung taken at its value."""
    rungs = octaves.rungs(np.abs(histogram.ladder.map.floats(histogram.rungs)))
    counts = np.zeros(octaves.last + 1, dtype=np.int64)
    np.add.at(counts, rungs, histogram.counts)
    occupied = np.flatnonzero(counts)
    return Histogram(octaves, occupied, counts[occupied])


def octave(position: int | None) -> int | None:
    """The exponent of the octave where the walk halted: the scale is 2**octave; None if there is no scale."""
    return None if not position else position - 1 + SCALE_FLOOR
