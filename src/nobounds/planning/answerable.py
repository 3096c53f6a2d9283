"""How many rows a statistic needs to be answered: what its plan marks, with room for a noisy number of rows."""

import math
from fractions import Fraction

from nobounds.accounting.loss import Neighbors
from nobounds.accounting.spending import Spending
from nobounds.accounting.terms import Terms
from nobounds.clipping.moments.pairs import PairPlan
from nobounds.clipping.moments.proportion import ProportionPlan
from nobounds.clipping.moments.variance import VariancePlan
from nobounds.clipping.plan import SumPlan, smallest
from nobounds.ladders.facts import Facts
from nobounds.ladders.stated import Stated
from nobounds.ranks.answerable import needed_rows
from nobounds.ranks.options import Options
from nobounds.ranks.plan import plan_separately, plan_together

ROOM = 3  # scales of its noise that a number of rows may be too low by, in 5% of runs
_ROWS = 1000  # that are public under swap: how much epsilon their noisy number gets hardly depends on it
_ENDS = {"maximum": (Fraction(1),), "minimum": (Fraction(0),), "bounds": (Fraction(0), Fraction(1))}
_ENDS |= {"median": (Fraction(1, 2),), "iqr": (Fraction(1, 4), Fraction(3, 4))}
_SPREAD = 5  # times the rows of its clip, for a variance that is clearly above 0


def rows_to_answer(statistic: str, qs: tuple[Fraction, ...], spending: Spending, neighbors: Neighbors) -> int:
    """The number of rows, in two digits, with which a statistic is answered in at least 95% of runs."""
    facts = Facts(False, True, rows=_ROWS if neighbors == "swap" else None)
    terms, stated = Terms(spending, neighbors), Stated.of(None, None, None)
    if statistic == "count":
        return 1
    if statistic in ("sum", "mean"):
        plan = SumPlan.of(facts, terms, stated, centered=statistic == "mean")
        noise = 1 / plan.eps_size if plan.eps_size else Fraction(0)
        return smallest(plan.enough, 1) + math.ceil(ROOM * noise)
    if statistic in ("std", "variance"):
        clipped = VariancePlan.of(facts, terms, stated).clipped
        return _SPREAD * smallest(clipped.enough, 1)
    if statistic in ("covariance", "correlation"):
        times = 2 * _SPREAD if statistic == "correlation" else _SPREAD
        return times * smallest(PairPlan.products(facts, facts, terms).x.enough, 1)
    if statistic in ("ratio", "weighted_mean"):
        weighted = PairPlan.weighted(facts, facts, terms)
        return 2 * max(smallest(plan.enough, 1) for plan in (weighted.x, weighted.y))
    if statistic == "proportion":
        return 2 * ProportionPlan.of(facts, terms).enough()
    ranks = qs or _ENDS[statistic]
    planned = plan_together if statistic in ("quantiles", "iqr") else plan_separately
    searched = planned(facts, terms, Options.of({}), ranks)
    return needed_rows(searched) + ROOM * searched.size.noise
