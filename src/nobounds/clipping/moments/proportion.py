"""The share of records that are true: a noisy number of them over a noisy number of all, and its exact interval.

Under add-remove the true records and the others get noise of the same scale; a record changes one of the two numbers by
1. If p is the true share, the noisy number of true records minus p times that of all is noise alone, with a known law:
a p for which it is too large is left out of the interval (Fieller 1954).
"""

import math
from collections.abc import Callable
from fractions import Fraction

from nobounds.accounting.cost import Cost
from nobounds.accounting.enough import would_do
from nobounds.accounting.spending import Spending
from nobounds.accounting.terms import Terms
from nobounds.clipping.average import Average, AverageRule
from nobounds.clipping.interval import CHANCE
from nobounds.counting.lattice import Lattice, steps_total
from nobounds.counting.scan import Records
from nobounds.exact import finite_float
from nobounds.ladders.facts import Facts
from nobounds.noise.additive import Additive
from nobounds.programs.program import Program
from nobounds.values import dataclass

_ONE = Lattice(0, 0, 1)  # a record is true if it is nearer to 1 than to 0, or beyond 1
_CLEAR = 4  # scales of the noise that the number of records must have, for the interval to be one
_STEPS = 80


@dataclass(frozen=True, slots=True)
class ProportionPlan:
    """All of the spending is for noise."""

    rule: AverageRule

    @classmethod
    def of(cls, facts: Facts, terms: Terms) -> "ProportionPlan":
        """The plan for a proportion."""

        def plan(epsilon: Fraction, zcdp: bool) -> "ProportionPlan":
            return cls(AverageRule(epsilon, terms.neighbors, facts.rows, facts.nullable, zcdp=zcdp))

        return terms.spending.each(facts.unit.rows).plan(plan)

    def cost(self) -> Cost:
        """The cost of both numbers."""
        return self.rule.cost()

    def parts(self) -> dict[str, Cost]:
        """The cost by what it is for."""
        return {"noise": self.cost()}

    def program(self, records: Records) -> Program[Average]:
        """The noisy share of the records that are true; missing ones are neither true nor false."""
        count, total = steps_total(records(), _ONE)
        return (yield from self.rule.release(count, total, 1))

    def interval(self, average: Average) -> tuple[float, float]:
        """The 95% interval of the true share; from 0 to 1 if nothing is known of it."""
        whole = 2.0 if self.rule.neighbors == "swap" and self.rule.nullable else 1.0
        low, high = share_interval(*self._numbers(average), self._scales, self.rule.noise, whole)
        value = finite_float(average.value)
        return min(low, value), max(high, value)

    def _numbers(self, average: Average) -> tuple[float, float]:
        """Two noisy numbers whose quotient is the share, and whose first minus the share of the second is noise.

        Where records may be missing under swap, the first is twice the number of true records.
        """
        rows = self.rule.rows
        if average.missing is None or rows is None:
            return finite_float(average.total), finite_float(average.count)
        present = rows - average.missing
        return finite_float(2 * average.total - average.count + present), 2.0 * present

    def _scales(self, share: float) -> tuple[float, float]:
        """The scales of the two noises in that difference."""
        rule = self.rule
        if rule.neighbors == "add-remove":
            return (1 - share) * rule.noise.scale(1), share * rule.noise.scale(1)
        if not rule.nullable:
            return rule.noise.scale(1), 0.0
        return rule.noise.scale(2), abs(2 * share - 1) * rule.for_count.scale(1)

    def enough(self) -> int:
        """About how many records say something of a share."""
        noise = self.rule.noise
        bar = noise.half_interval(*self._scales(0.5), CHANCE) + 1
        return math.ceil(max(2 * bar, _CLEAR * sum(self._scales(0.5))))

    def needed(self, average: Average, spending: Spending) -> dict[str, int | float]:
        """About how many rows at this spending, or how much spending for this many, would do."""
        return would_do(2 * self.enough(), finite_float(average.count), 2 * self.rule.noise.scale(1), spending)


def share_interval(
    part: float, total: float, scales: Callable[[float], tuple[float, float]], noise: Additive, whole: float
) -> tuple[float, float]:
    """The shares p for which noise may well explain part - p * total; from 0 to 1 if nothing is known.

    scales: those of the two noises in that difference, for a share.
    whole: how far noise on whole numbers may lie from that on all numbers.
    """
    if total <= _CLEAR * sum(scales(0.5)):
        return 0.0, 1.0
    middle = min(max(part / total, 0.0), 1.0)

    def fits(share: float) -> bool:
        return abs(part - share * total) <= noise.half_interval(*scales(share), CHANCE) + whole

    def end(outer: float) -> float:
        inner = middle
        if fits(outer):
            return outer
        for _ in range(_STEPS):
            half = (inner + outer) / 2
            inner, outer = (half, outer) if fits(half) else (inner, half)
        return outer

    return end(0.0), end(1.0)
