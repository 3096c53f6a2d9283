"""Which quantiles a number of rows can carry: the one place that decides what is answered and what is marked.

It uses public facts and the noisy size alone, so a mark tells nothing that was not paid for. A quantile needs nats,
that is records times the rate of the noise, on the smaller side of its rank; in a tail, where walks are taken, and at
the extremes it needs a number of nats in all, because then the centre must be right. These numbers were
chosen by a few dozen runs on synthetic families, against answers that are off by more than 15 percentiles. A
ladder, a step or a method that the user fixes is answered always: then the search is theirs.
"""

import math
from fractions import Fraction
from functools import lru_cache

from nobounds.accounting.enough import would_do
from nobounds.accounting.spending import Spending
from nobounds.exact import rounded_up
from nobounds.ranks.many.halving import Halving
from nobounds.ranks.many.halving import levels as levels_of
from nobounds.ranks.problem import Problem
from nobounds.ranks.question import Question
from nobounds.ranks.tuning import RankTuning


def needed_nats(problem: Problem, q: Fraction) -> Fraction:
    """Records times epsilon that a quantile needs; twice as many under swap, where a rank costs twice as much."""
    tuning: RankTuning = problem.tuning
    tail, twice = min(q, 1 - q), 2 if problem.neighbors == "swap" else 1
    walked = Fraction(tuning.answered_walk * twice)
    if not tail:
        return walked
    rate = Fraction(1, 2) if problem.neighbors == "swap" else 1 / (2 * max(q, 1 - q))
    return Fraction(tuning.answered_nats) / (rate * tail) if tail >= tuning.inner_tail else walked


@lru_cache(maxsize=1024)  # public arguments, and a size that is public or noisy
def answers(plan: Question | Halving, size: int) -> tuple[bool, ...]:
    """For each quantile of a plan, whether this many records, perhaps a noisy number, can carry it."""
    if not plan.problem.grows or plan.problem.method != "auto":
        return (True,) * len(plan.qs)
    if size <= plan.size.reach:
        return (False,) * len(plan.qs)
    least = size - plan.problem.tuning.careful * plan.size.noise
    return tuple(least * _epsilon(plan, size) >= needed_nats(plan.problem, q) for q in plan.qs)


def needed(plan: Question | Halving, size: int, spending: Spending) -> dict[str, int | float]:
    """What would do for all quantiles: how many rows for this epsilon or rho, or how much of it for this many rows."""
    return would_do(_rows(plan), size, plan.size.noise, spending)  # epsilon and the noise of the size scale together


def needed_rows(plan: Question | Halving) -> int:
    """How many rows all quantiles of a plan need to be answered in 95% of runs, in two digits."""
    return math.ceil(rounded_up(_rows(plan)))


def _rows(plan: Question | Halving) -> float:
    nats = max(needed_nats(plan.problem, q) for q in plan.qs)
    tuning: RankTuning = plan.problem.tuning

    def enough(size: int | None) -> float:
        least = float(nats / _epsilon(plan, size)) + tuning.careful * plan.size.noise
        return max(least, plan.size.reach) + tuning.room * plan.size.noise

    return enough(math.ceil(enough(None)))


def _epsilon(plan: Question | Halving, size: int | None = None) -> Fraction:
    """The epsilon of each choice or walk of a plan for this many records, nominal under zCDP."""
    if isinstance(plan, Halving) and size is not None and (apart := plan.apart(size)):
        plan = apart[0]
    left = plan.epsilon - plan.size.epsilon if isinstance(plan, Question) else plan.left
    many = len(plan.qs) if isinstance(plan, Question) else levels_of(plan.qs)
    if isinstance(plan, Question) and plan.qs == (Fraction(0), Fraction(1)):
        many = 1  # walks to both ends cost as much as one
    return left / Fraction(math.isqrt(many * 10**6), 10**3) if plan.zcdp else left / many
