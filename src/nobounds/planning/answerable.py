"""How many rows a statistic needs to be answered: what its plan marks, with room for a noisy number of rows."""

import math
from dataclasses import field
from fractions import Fraction
from typing import Any

from nobounds.accounting.loss import Neighbors
from nobounds.accounting.spending import Spending
from nobounds.accounting.terms import Terms
from nobounds.clipping.moments.pairs import PairPlan
from nobounds.clipping.moments.proportion import ProportionPlan
from nobounds.clipping.moments.variance import VariancePlan
from nobounds.clipping.needed import TIMES, rows_of_a_group
from nobounds.clipping.needed import needed_rows as clipped_rows
from nobounds.clipping.plan import SumPlan
from nobounds.exact import rounded_up
from nobounds.ladders.facts import Facts
from nobounds.ladders.stated import Stated
from nobounds.planning.groups import PlannedGroups
from nobounds.ranks.answerable import needed_rows
from nobounds.ranks.options import Options
from nobounds.ranks.plan import plan_for_groups, plan_separately, plan_together
from nobounds.ranks.tuning import TUNING
from nobounds.values import dataclass

ROOM = TUNING.room
_ROWS = 1000  # that are public under swap: how much epsilon their noisy number gets hardly depends on it
_ENDS = {"maximum": (Fraction(1),), "minimum": (Fraction(0),), "bounds": (Fraction(0), Fraction(1))}
_ENDS |= {"median": (Fraction(1, 2),), "iqr": (Fraction(1, 4), Fraction(3, 4))}
_ALONE = ("quantile", "median", "maximum", "minimum")  # by group they buy the number of rows of each group


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
        if self.statistic in ("sum", "mean") or self.statistic in TIMES:
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
        if self.statistic in ("sum", "mean"):
            if (groups := self.grouping.groups) > 1:
                return rows_of_common_clip(self.statistic, facts, terms, self.stated, groups)
            plans = [SumPlan.of(facts, terms, self.stated, centered=self.statistic == "mean")]
        elif self.statistic in ("std", "variance"):
            plans = [VariancePlan.of(facts, terms, self.stated).clipped]
        else:
            weights = self.statistic in ("ratio", "weighted_mean")
            pair = (PairPlan.weighted if weights else PairPlan.products)(facts, facts, terms)
            plans = [pair.x, pair.y]
        return clipped_rows(self.statistic, tuple(plans))


def rows_of_common_clip(statistic: str, facts: Facts, terms: Terms, stated: Stated, groups: int) -> int:
    """How many rows a group needs, where all groups share one clip: for its own noise, and for the clip."""
    return rows_of_a_group(SumPlan.for_groups(facts, terms, stated, statistic == "mean", groups))
