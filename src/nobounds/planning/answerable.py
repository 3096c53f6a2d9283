"""How many rows a statistic needs to be answered in 95% of calls.

A statistic of one column is answered where its noisy number of records cannot be noise alone. A quantile should have an
end of its interval too, and which ends are looked for follows from that number.
Statistics of groups, of two columns and of shares are answered by what their plans mark.
"""

import math
from collections.abc import Callable
from dataclasses import field
from fractions import Fraction
from functools import partial
from statistics import NormalDist
from typing import Any

from nobounds.accounting.loss import Neighbors
from nobounds.accounting.spending import Spending
from nobounds.accounting.terms import Terms
from nobounds.answers.quantile import SIDES, Wanted, end_look
from nobounds.answers.spent import NOTHING, SECOND_SIZE, SIZE, Part, short_rank
from nobounds.answers.totals import SIZE as SUM_SIZE
from nobounds.clipping.moments.pairs import PairPlan
from nobounds.clipping.moments.proportion import ProportionPlan
from nobounds.clipping.needed import needed_rows as clipped_rows
from nobounds.clipping.needed import rows_of_a_group
from nobounds.clipping.plan import SumPlan
from nobounds.exact import rounded_up
from nobounds.ladders.facts import Facts
from nobounds.ladders.stated import Stated
from nobounds.noise.additive import Additive
from nobounds.planning.forecasters import BY_GROUP, PAIRED, RANKS
from nobounds.planning.groups import PlannedGroups
from nobounds.ranks.answerable import needed_rows
from nobounds.ranks.options import Options
from nobounds.ranks.plan import plan_for_groups, plan_together
from nobounds.ranks.tuning import TUNING
from nobounds.values import dataclass

ROOM = TUNING.room
SURE = 0.95
WANTED = Wanted(Fraction(19, 20), True)
_ROWS = 1000  # that are public under swap: how much epsilon their noisy number gets hardly depends on it
_MOST = 10**12


@dataclass(frozen=True, slots=True)
class Answerable:
    """What is asked, of which public facts: all that decides how many rows it needs.

    qs: the ranks of quantiles.
    heap: the part of the records that may have one value, such as 0. Around a clip of an old kind these do not count.
    wanted: the interval of a quantile, if there is to be one.
    """

    statistic: str
    qs: tuple[Fraction, ...] = ()
    neighbors: Neighbors = "add-remove"
    stated: Stated = field(default_factory=Stated)
    grouping: PlannedGroups = field(default_factory=PlannedGroups)
    heap: float = 0.0
    wanted: Wanted | None = WANTED

    def rows(self, spending: Spending) -> int:
        """The number of rows of each group, in two digits, with which it is answered in at least 95% of runs."""
        return math.ceil(rounded_up(self._rows(self.grouping.spending(spending))))

    def _rows(self, spending: Spending) -> float:
        facts = Facts(False, True, rows=_ROWS if self.neighbors == "swap" else None)
        terms, heaped = Terms(spending, self.neighbors), max(1 - self.heap, 0.01)
        if self.statistic == "count":
            return 1
        if self.statistic == "proportion":
            return 2 * ProportionPlan.of(facts, terms).enough()
        if self.statistic in PAIRED:
            weights = self.statistic in ("ratio", "weighted_mean")
            pair = (PairPlan.weighted if weights else PairPlan.products)(facts, facts, terms)
            return clipped_rows(self.statistic, (pair.x, pair.y)) / heaped
        if self.statistic == "iqr":
            return needed_rows(plan_together(facts, terms, Options(self.stated), (Fraction(1, 4), Fraction(3, 4))))
        ranks = RANKS.get(self.statistic, self.qs)
        if self.grouping.groups > 1 and self.statistic in BY_GROUP:
            if not ranks:
                return rows_of_common_clip(self.statistic, facts, terms, self.stated, self.grouping.groups) / heaped
            grouped: Any = plan_for_groups(facts, terms, Options(self.stated), ranks[0])
            return needed_rows(grouped)
        part = Part(spending.amount, spending.zcdp, self.neighbors)
        if ranks:
            return _known(part, SIZE, partial(self._ends, ranks[0]))
        centered = self.statistic != "sum" or self.neighbors == "swap"
        return _known(part, SUM_SIZE if centered else SUM_SIZE / 2, lambda left: 0)

    def _ends(self, q: Fraction, left: Part) -> int:
        """The least noisy number of records with which an end of the interval of a quantile is looked for."""
        rank, wanted = short_rank(q), self.wanted
        if wanted is None or rank in (0, 1) or self.statistic not in ("quantile", "median"):
            return 0
        return _least(lambda size: any(end_look(side, rank, left, size, wanted) is not None for side in SIDES))


def _known(part: Part, share: Fraction, least: Callable[[Part], int]) -> int:
    """The number of records that is believed in 95% of calls, with a noisy number that is enough for what is left."""
    first, second = part.of(share), part.of(SECOND_SIZE)
    left = part.less(first)
    looks = [(look.additive, least(rest)) for look, rest in ((first, left), (second, left.less(second)))]

    def believed(n: int) -> bool:
        chance, reached = 0.0, 1.0
        for noise, enough in looks:
            here = NOTHING * noise.scale(1)
            chance += reached * _beyond(noise, max(here, enough) - n)
            reached *= 1 - _beyond(noise, here - n)
        return chance >= SURE

    return _least(believed)


def _beyond(noise: Additive, least: float) -> float:
    """That noise is at least this."""
    away = least / noise.scale(1)
    if noise.zcdp:
        return 1 - NormalDist().cdf(away)
    return math.exp(-away) / 2 if away > 0 else 1 - math.exp(away) / 2


def _least(enough: Callable[[int], bool]) -> int:
    """The smallest number that is enough, where more is enough too; at most a trillion."""
    low, high = 0, 1
    while not enough(high) and high < _MOST:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def rows_of_common_clip(statistic: str, facts: Facts, terms: Terms, stated: Stated, groups: int) -> int:
    """How many rows a group needs, where all groups share one clip: for its own noise, and for the clip."""
    return rows_of_a_group(SumPlan.for_groups(facts, terms, stated, statistic == "mean", groups))
