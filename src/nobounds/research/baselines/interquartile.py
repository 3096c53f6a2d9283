"""Bounds from the interquartile range, scaled up (Smith 2011, Algorithm 1).

From the middle of two private quartiles they reach 4 n**(1/3 + 1/10) times the distance of the quartiles to both sides,
which is meant for data that are close to normal.
"""

from fractions import Fraction

import numpy as np

from nobounds.accounting.cost import range_bounded
from nobounds.accounting.loss import Neighbors, PrivacyLoss, check_neighbors
from nobounds.exact import Number, positive, privacy_parameter
from nobounds.release.release import Release
from nobounds.research.baselines.emq import emq_rate, steps_of
from nobounds.research.baselines.records import check_bounds, check_rng, described, records_of

_QUARTILES = (Fraction(1, 4), Fraction(3, 4))
_GROWTH = 1 / 3 + 1 / 10


def interquartile_bounds(
    data: object,
    *,
    epsilon: Number,
    lower: Number,
    upper: Number,
    widening: Number | None = None,
    neighbors: Neighbors = "swap",
    rng: np.random.Generator,
) -> Release:
    """A lower and an upper bound to clip at (Smith 2011, Algorithm 1); floating-point noise, for comparison only.

    Each quartile is an EMQ of half of epsilon. `widening` is the factor; its default needs the number of records, which
    is private under add-remove. The answer is cut to the bounds given, which Smith does not do, but costs nothing.
    """
    (low, high), bits, relation = check_bounds(lower, upper), check_rng(rng), check_neighbors(neighbors)
    half = privacy_parameter(epsilon, "epsilon") / 2
    if widening is None and relation == "add-remove":
        raise ValueError("widening must be given under add-remove: its default would tell the number of records")
    factor = None if widening is None else float(positive(widening, "widening"))
    loss = PrivacyLoss.of(range_bounded(half) + range_bounded(half), relation)
    records = records_of(data, low, high)
    if factor is None:
        factor = widening_for(len(records))
    rates = [emq_rate(q, half, relation) for q in _QUARTILES]
    first, third = steps_of(records, _QUARTILES, rates, low, high).draw(bits)[:, 0]
    ends = (first + third) / 2 + factor * abs(third - first) * np.array([-1.0, 1.0])
    value = tuple(np.clip(ends, low, high).tolist())
    return Release("bounds", value, loss, described("interquartile range (Smith 2011)", low, high))


def widening_for(n: int) -> float:
    """What the interquartile range of n records is multiplied by."""
    return float(4 * n**_GROWTH)
