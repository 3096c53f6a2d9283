"""How many rows a statistic needs to be answered: what its plan marks, with room for a noisy number of rows."""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from nobounds.accounting.loss import Neighbors
from nobounds.accounting.spending import Spending
from nobounds.accounting.terms import Terms
from nobounds.clipping.moments.pairs import PairPlan
from nobounds.clipping.moments.proportion import ProportionPlan
from nobounds.clipping.moments.variance import VariancePlan
from nobounds.clipping.octaves.excess import CountNoise
from nobounds.clipping.plan import SumPlan, smallest
from nobounds.clipping.tail import CARRIED, CARRYING
from nobounds.ladders.facts import Facts
from nobounds.ladders.stated import Stated
from nobounds.planning.groups import PlannedGroups
from nobounds.ranks.answerable import needed_rows
from nobounds.ranks.intervals.interval import rounded_up
from nobounds.ranks.options import Options
from nobounds.ranks.plan import plan_for_groups, plan_separately, plan_together
from nobounds.ranks.tuning import TUNING
from nobounds.tables.by_group.agg import COMMON

ROOM = TUNING.room
_SPREADS = 3  # standard deviations of its noise that the number of records around a clip may be too low by
_ROWS = 1000  # that are public under swap: how much epsilon their noisy number gets hardly depends on it
_ENDS = {"maximum": (Fraction(1),), "minimum": (Fraction(0),), "bounds": (Fraction(0), Fraction(1))}
_ENDS |= {"median": (Fraction(1, 2),), "iqr": (Fraction(1, 4), Fraction(3, 4))}
_ALONE = ("quantile", "median", "maximum", "minimum")  # by group they buy the number of rows of each group
# Times the rows that the clip of a statistic needs, for what is clearly above its noise: a variance, or both of two
# columns. At these, lognormal data are answered in 95% of runs (benchmarks/coverage/plans.py).
_TIMES = {"std": 8, "variance": 8, "covariance": 5, "correlation": 20, "ratio": 2, "weighted_mean": 2}


@dataclass(frozen=True, slots=True)
class Answerable:
    """What is asked, of which public facts: all that decides how many rows it needs.

    qs: the ranks of quantiles.
    heap: the part of the records that may have one value, such as 0. Around a clip these do not count.
    """

    statistic: str
    qs: tuple[Fraction, ...] = ()
    neighbors: Neighbors = "add-remove"
    stated: Stated = field(default_factory=Stated)
    grouping: PlannedGroups = field(default_factory=PlannedGroups)
    heap: float = 0.0

    def rows(self, spending: Spending) -> int:
        """The number of rows of each group, in two digits, with which it is answered in at least 95% of runs."""
        return math.ceil(rounded_up(self._rows(self.grouping.spending(spending))))

    def _rows(self, spending: Spending) -> float:
        facts = Facts(False, True, rows=_ROWS if self.neighbors == "swap" else None)
        terms, stated = Terms(spending, self.neighbors), self.stated
        if self.statistic == "count":
            return 1
        if self.statistic == "proportion":
            return 2 * ProportionPlan.of(facts, terms).enough()
        if self.statistic in ("sum", "mean") or self.statistic in _TIMES:
            return self._clipped(facts, terms) / max(1 - self.heap, 0.01)
        options, ranks = Options(stated), self.qs or _ENDS[self.statistic]
        if self.grouping.groups > 1 and self.statistic in _ALONE:
            searched: Any = plan_for_groups(facts, terms, options, ranks[0])
        elif self.statistic in ("quantiles", "iqr"):
            searched = plan_together(facts, terms, options, ranks)
        else:
            searched = plan_separately(facts, terms, options, ranks)
        return needed_rows(searched)

    def _clipped(self, facts: Facts, terms: Terms) -> int:
        """The rows that are needed where records are clipped."""
        centered, groups = self.statistic == "mean", self.grouping.groups
        if self.statistic in ("sum", "mean"):
            if groups > 1:
                return rows_of_common_clip(self.statistic, facts, terms, self.stated, groups)
            return _searched(SumPlan.of(facts, terms, self.stated, centered=centered))
        if self.statistic in ("std", "variance"):
            plans = [VariancePlan.of(facts, terms, self.stated).clipped]
        elif self.statistic in ("covariance", "correlation"):
            plans = [PairPlan.products(facts, facts, terms).x]
        else:
            weighted = PairPlan.weighted(facts, facts, terms)
            plans = [weighted.x, weighted.y]
        return _TIMES[self.statistic] * max(map(_enough, plans))


def rows_of_common_clip(statistic: str, facts: Facts, terms: Terms, stated: Stated, groups: int) -> int:
    """How many rows a group needs, where all groups share one clip: for its own noise, and for the clip."""
    each = terms.spending.each(facts.unit.rows)
    nominal = math.sqrt(2 * each.amount) if each.zcdp else each.amount
    plan = SumPlan.for_groups(facts, terms, stated, statistic == "mean", groups)
    return max(math.ceil(COMMON[statistic] / nominal), math.ceil(_searched(plan) / groups))


def _searched(plan: SumPlan) -> int:
    """The rows that are enough for the search of a clip, and for records to be seen around it; with room for noise."""
    room = math.ceil(ROOM / plan.eps_size) if plan.eps_size else 0
    room = room if plan.outer is None else 3 * room // 2  # the number is then the sum of two noisy ones
    noise = plan.tail.count_noise if plan.eps_tail else CountNoise(0.0, False)
    deviation = noise.scale * math.sqrt((1 if noise.gaussian else 2) * 2 * CARRYING)
    return max(_enough(plan) + room, math.ceil((CARRIED + _SPREADS) * deviation))


def _enough(plan: SumPlan) -> int:
    """The rows that are enough for the search of a clip, if there is one: bounds that are stated may leave none."""
    return 1 if plan.search.ladder.is_settled else smallest(plan.enough, 1)
