"""The noisy mean of clipped records by an earlier search for a clip, which statistics of two columns still take."""

import math
from fractions import Fraction
from typing import NamedTuple

from nobounds.clipping.average import Average
from nobounds.clipping.interval import CHANCE
from nobounds.clipping.plan import Settled, SumPlan
from nobounds.counting.lattice import steps_total
from nobounds.counting.scan import Records
from nobounds.programs.program import Program


class Averaged(NamedTuple):
    """A noisy mean of clipped records, and the average that it comes from, in steps."""

    settled: Settled
    value: Fraction
    step: Fraction
    average: Average

    @property
    def bar(self) -> Fraction:
        """The 95% half interval of the noise; where the mean is that of a heap there is none."""
        if self.settled.heap is not None:
            return Fraction(0)
        return Fraction(self.average.half_interval(CHANCE)) * self.step

    @property
    def scale(self) -> Fraction:
        """The scale of the noise."""
        return Fraction(math.hypot(*self.average.scales)) * self.step / self.records

    @property
    def records(self) -> Fraction:
        """The noisy number of records that a sum was divided by."""
        return max(self.average.count, Fraction(1))

    @property
    def half_interval(self) -> Fraction:
        """The 95% half interval of all noise."""
        return self.bar

    def interval(self, chance: float = CHANCE) -> tuple[float, float]:
        """The interval around the mean, for noise and clipping; it fails with probability `chance`."""
        return self.settled.tailed.interval(self.value, self.bar, self.records, chance)


def averaged(plan: SumPlan, records: Records) -> Program[Averaged]:
    """The noisy mean of clipped records."""
    settled = yield from plan.program(records)
    plan, clip = settled.plan, settled.clip
    lattice = plan.lattice(clip)
    count, total = steps_total(records(), lattice)
    average = yield from plan.average.release(count, total, lattice.width)
    value = min(max((lattice.low + average.value) * lattice.step, clip.low), clip.high)
    settled = settled.among(average)
    return Averaged(settled, value if settled.heap is None else settled.heap, lattice.step, average)
