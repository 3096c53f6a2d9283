"""How many rows a statistic needs to be answered at all: the one place that a plan asks.

A quantile needs 20 nats on its smaller side: rows times the rate of the choice times min(q, 1 - q). The rate is
epsilon / (2 max(q, 1 - q)), and epsilon / 2 under swap. A part of epsilon buys the number of rows, and several
quantiles share the rest. Extremes, sums and means need room for a search, and a count nothing.
"""

import math
from fractions import Fraction

from nobounds.accounting.loss import Neighbors
from nobounds.accounting.spending import Spending

NATS = 20  # on the smaller side of a quantile
SIZE_SHARE = 0.1  # of epsilon, for the number of rows
_SEARCHED = {"maximum": 120, "minimum": 120, "bounds": 240, "sum": 60, "mean": 60, "count": 0}  # nats


def rows_to_answer(statistic: str, qs: tuple[Fraction, ...], spending: Spending, neighbors: Neighbors) -> int:
    """The smallest number of rows with which a statistic is answered, in at least 95% of runs."""
    swap = neighbors == "swap"
    if statistic not in ("quantile", "quantiles"):
        epsilon = math.sqrt(2 * spending.amount) if spending.zcdp else float(spending.amount)
        return max(math.ceil(_SEARCHED[statistic] * (2 if swap else 1) / epsilon), 1)
    epsilon = math.sqrt(8 * spending.amount) if spending.zcdp else float(spending.amount)
    levels = math.ceil(math.log2(len(qs) + 1))
    each = (1 if swap else 1 - SIZE_SHARE) * epsilon / (math.sqrt(levels) if spending.zcdp else levels)
    noise = 0.0 if swap else 3 / (SIZE_SHARE * epsilon)  # that the number of rows may be too low by
    return max(math.ceil(NATS / (each * _rate(q, swap)) + noise) for q in map(float, qs)) if qs else 1


def _rate(q: float, swap: bool) -> float:
    """The nats of a row on the smaller side of a quantile, for epsilon 1."""
    smaller = max(min(q, 1 - q), 1e-12)
    return smaller / 2 if swap else smaller / (2 * max(q, 1 - q))
