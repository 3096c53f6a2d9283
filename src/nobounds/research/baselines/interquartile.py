"""Bounds from the interquartile range, scaled up (Smith 2011, Algorithm 1).

The bounds lie 4 n**(1/3 + 1/10) interquartile ranges to both sides of the midpoint of two private quartiles, which
suits data that are close to normal.
"""

from fractions import Fraction
from typing import Unpack

import numpy as np

from nobounds.accounting.cost import range_bounded
from nobounds.accounting.loss import Neighbors, PrivacyLoss, check_neighbors
from nobounds.exact import Number, positive, privacy_parameter
from nobounds.release.release import Release
from nobounds.research.baselines.emq import emq_rate, steps_of
from nobounds.research.baselines.records import Ranged, check_bounds, check_rng, described, records_of
from nobounds.statistics.keywords import spelled_out

_QUARTILES = (Fraction(1, 4), Fraction(3, 4))
_GROWTH = 1 / 3 + 1 / 10


@spelled_out
def interquartile_bounds(
    data: object,
    *,
    widening: Number | None = None,
    neighbors: Neighbors = "swap",
    **options: Unpack[Ranged],
) -> Release:
    """A lower and an upper bound to clip at (Smith 2011, Algorithm 1); floating-point noise, for comparison only.

    Each quartile is an EMQ with half of epsilon. `widening` is the factor; its default needs the number of records,
    which is sensitive under add-remove. The answer is clipped to the given bounds, which is free; Smith does not do it.
    """
    (low, high), generator, neighbors = (
        check_bounds(options["lower"], options["upper"]),
        check_rng(options["rng"]),
        check_neighbors(neighbors),
    )
    half = privacy_parameter(options["epsilon"], "epsilon") / 2
    if widening is None and neighbors == "add-remove":
        raise ValueError("widening must be given under add-remove: its default would tell the number of records")
    factor = None if widening is None else float(positive(widening, "widening"))
    loss = PrivacyLoss.of(range_bounded(half) + range_bounded(half), neighbors)
    records = records_of(data, low, high)
    if factor is None:
        factor = widening_for(len(records))
    rates = [emq_rate(q, half, neighbors) for q in _QUARTILES]
    first, third = steps_of(records, _QUARTILES, rates, low, high).draw(generator)[:, 0]
    ends = (first + third) / 2 + factor * abs(third - first) * np.array([-1.0, 1.0])
    value = tuple(np.clip(ends, low, high).tolist())
    return Release("bounds", value, loss, described("interquartile range (Smith 2011)", low, high))


def widening_for(n: int) -> float:
    """The default factor of the interquartile range for n records."""
    return float(4 * n**_GROWTH)
