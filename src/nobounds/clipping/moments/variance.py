"""Second moments of clipped records: their variance around a noisy mean, with an interval that includes the clip.

The mean comes first, for a part of epsilon, and the squared distances from it second. That the mean is noisy adds the
square of its error to the second moment, which is far smaller than the noise. Clipping never raises a variance, so the
lower end holds whatever lies beyond the clip. The upper end needs the octaves around the clip (see `tail`): they give
the law of what the squares of the records beyond lack.
"""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from nobounds.accounting.cost import Cost
from nobounds.accounting.spending import rest, share
from nobounds.accounting.terms import Terms
from nobounds.arrays import Floats
from nobounds.clipping.average import Average, AverageRule
from nobounds.clipping.interval import CHANCE, added, reach_above
from nobounds.clipping.plan import Settled, SumPlan
from nobounds.clipping.tailing import Tailed
from nobounds.clipping.tuning import CLIP_TUNING
from nobounds.counting.lattice import Lattice, Squares, steps_total
from nobounds.counting.scan import Records
from nobounds.exact import finite_float
from nobounds.ladders.facts import Facts
from nobounds.ladders.stated import Stated
from nobounds.programs.program import Program
from nobounds.values import dataclass

# Of the epsilon for noise, for the mean that squares are taken around: its noise matters by its square alone.
MEAN = Fraction(1, 8)
# Squares need a wider clip than sums do, so that more is spent on seeing what lies around it, and less of each count is
# taken as noise.
TUNING = replace(CLIP_TUNING, tail=Fraction(1, 5), shrunk=1.0)
_OFF = 0.1  # of the chance that an interval fails, for the noise of the mean


@dataclass(frozen=True, slots=True)
class Variance:
    """The noisy variance of clipped records: a noisy mean, and the noisy average of the squared distances from it."""

    squares: Squares
    mean: Average
    average: Average

    @property
    def unit(self) -> Fraction:
        """What one step of a square stands for."""
        return self.squares.radius**2 / self.squares.width

    @property
    def center(self) -> Fraction:
        """The noisy mean."""
        lattice = self.squares.lattice
        return (lattice.low + self.mean.value) * lattice.step

    @property
    def _rounded(self) -> Fraction:
        """How far the noisy mean lies from the centre of the squares, which is a whole number of steps."""
        return (self.mean.value - self.squares.center) * self.squares.lattice.step

    @property
    def _off(self) -> Fraction:
        """The noise alone moves the mean by more than this with little probability."""
        return Fraction(self.mean.half_interval(_OFF * CHANCE)) * self.squares.lattice.step

    @property
    def value(self) -> Fraction:
        """The variance; the centre of the squares is the mean except for rounding to whole steps."""
        return max(self.average.value * self.unit - self._rounded**2, Fraction(0))

    @property
    def bar(self) -> Fraction:
        """The noise alone moves the variance by more than this with little probability, but for `_off` squared.

        Where steps are few, as of flags, it moves the mean within a step, and so the square that is taken off.
        """
        squares = Fraction(self.average.half_interval((1 - _OFF) * CHANCE)) * self.unit
        return squares + 2 * abs(self._rounded) * self._off

    @property
    def low(self) -> Fraction:
        """The variance is at least this: what noise adds is taken off, in the squares and by an error of the mean."""
        return max(self.value - self.bar - self._off**2, Fraction(0))

    def interval(self, tailed: Tailed) -> tuple[Fraction, Fraction | float]:
        """The 95% interval of the variance of all records; the upper end is infinite where too much may lie beyond."""
        if not tailed.clip.trusted:
            return Fraction(0), math.inf
        if tailed.sides is None:
            return self.low, math.inf
        unit = max((side.width for side in tailed.sides), default=Fraction(0)) or Fraction(1)
        records = max(self.average.count, Fraction(1))
        bar, total = (finite_float(each * records / unit**2) for each in (self.bar, self.value))
        above = reach_above(tailed.sides, self._beyond(tailed, unit), bar, total, tailed.rule.zcdp)
        if not math.isfinite(above):
            return self.low, math.inf
        return self.low, self.value + Fraction(above) * unit**2 / records

    def _beyond(self, tailed: Tailed, unit: Fraction) -> Floats:
        """Points of the law of what the squares of clipped records lack, in squares of `unit`.

        A record that deviates from the centre of the clip by d on a side of width w lacks d**2 - w**2, and 2 s (d - w)
        more where the mean lies s beyond the centre: at most s / w times as much.
        """
        low, high = tailed.ladder.lower, tailed.ladder.upper
        ends = {1: (high, tailed.clip.high), -1: (tailed.clip.low, low)}
        beyond = np.zeros(1)
        for side in tailed.sides or ():
            last, first = ends[side.sign]
            most = math.inf if last is None or first is None else finite_float((last - first) / unit)
            away = side.sign * (tailed.clip.center - self.center)
            more = 1 + finite_float(away / side.width) if side.width and away > 0 else 1.0
            beyond = added(beyond, more * side.excess(tailed.rule.count_noise, most, unit, power=2))
        return beyond


def variance(records: Records, rule: AverageRule, lattice: Lattice, mean: Average) -> Program[Variance]:
    """The variance of records on a lattice around their noisy mean."""
    squares = Squares(lattice, round(mean.value))
    count, total = steps_total(records(), squares)
    return Variance(squares, mean, (yield from rule.release(count, total, squares.width)))


@dataclass(frozen=True, slots=True)
class VariancePlan:
    """How the spending on a variance is split: as on a mean, and what is left for noise between mean and squares."""

    clipped: SumPlan

    @classmethod
    def of(cls, facts: Facts, terms: Terms, stated: Stated) -> "VariancePlan":
        """The plan for a variance."""
        return cls(SumPlan.of(facts, terms, stated, centered=True, tuning=TUNING, power=2))

    def cost(self) -> Cost:
        """The cost of the number of records, the clip, the mean and the squares together."""
        return self.clipped.cost()

    def parts(self) -> dict[str, Cost]:
        """The cost by what it is for."""
        return self.clipped.parts()

    def program(self, records: Records) -> Program[tuple[Settled, Variance]]:
        """The clip, and the variance within it."""
        settled = yield from self.clipped.program(records)
        plan = settled.plan
        lattice = plan.lattice(settled.clip)
        for_mean, for_squares = mean_and_squares(plan.average, MEAN)
        count, total = steps_total(records(), lattice)
        mean = yield from for_mean.release(count, total, lattice.width)
        return settled, (yield from variance(records, for_squares, lattice, mean))


def mean_and_squares(rule: AverageRule, part: Fraction) -> tuple[AverageRule, AverageRule]:
    """The rule for a mean, which gets this part, and for the average of squares; together they cost as much as one.

    What an earlier look at the number of records has cost is paid by the second, which is the larger one.
    """
    epsilon = share(rule.epsilon, 1 / part, rule.zcdp)
    left = rest(rule.epsilon, [epsilon], rule.zcdp)
    return replace(rule, epsilon=epsilon, spent=Fraction(0)), replace(rule, epsilon=left)
