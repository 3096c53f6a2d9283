"""The percentiles of an answer, from noisy counts of the records below it, equal to it and above it.

A record is in one of the three, so all of them cost as much as one count. They say where the answer lies in the data,
on heaps of equal records too, where the answer of a choice alone says nothing of its own rank.
"""

import math
from fractions import Fraction

from nobounds.accounting.cost import Cost
from nobounds.accounting.loss import Neighbors
from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms.decisions import NoisyMany
from nobounds.noise.additive import Additive
from nobounds.programs.program import Program
from nobounds.ranks.view import View
from nobounds.values import dataclass

SHARE = Fraction(1, 10)  # of epsilon
CHANCE = 0.05  # that the true percentiles are not within those released


@dataclass(frozen=True, slots=True)
class Percentiles:
    """Noise for the three counts; under swap a record that moves changes two of them."""

    noise: Additive
    neighbors: Neighbors

    @property
    def sensitivity(self) -> int:
        """By how much a record changes the counts."""
        return 2 if self.neighbors == "swap" else 1

    def cost(self) -> Cost:
        """The cost of all counts."""
        return self.noise.cost()

    def program(self, view: View, value: float) -> Program[list[float]]:
        """The lowest and the highest percentile that the value may have, at 95%."""
        ladder = around(value)
        histogram = view.counts.full(ladder)
        counts = dict(zip(histogram.rungs.tolist(), histogram.counts.tolist(), strict=True))
        raw = [counts.get(rung, 0) for rung in range(ladder.first, ladder.last + 1)]
        below, at, above = yield NoisyMany(raw, self.noise, self.cost, self.sensitivity)
        scale = self.noise.scale(self.sensitivity)
        bar = self.noise.half_interval(scale, scale, CHANCE)
        total = max(below + at + above, 1)
        low, high = (below - bar) / total, (below + max(at, 0) + bar) / total
        return [100 * min(max(low, 0.0), 1.0), 100 * min(max(high, 0.0), 1.0)]


def around(value: float) -> Ladder:
    """Three rungs: numbers below the value, the value itself, and numbers above it."""
    value = min(max(float(value), -1e308), 1e308)
    after = math.nextafter(value, math.inf)
    return Ladder.of(map(Fraction, (value, after, math.nextafter(after, math.inf))))
