"""EMQ: a quantile by the exponential mechanism over the intervals between sorted records (Smith 2011, Algorithm 2).

Interval j, between record j and the next, has weight exp(-epsilon |j - q n| / 2) times its width, and the answer is a
uniform point in the drawn interval. This is for swap, where one record moves a rank by 1; under add-remove it moves
j - q n by at most max(q, 1 - q), and the rate is epsilon / (2 max(q, 1 - q)) (Gillenwater, Joseph and Kulesza 2021).
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Unpack

import numpy as np

from nobounds.accounting.cost import range_bounded
from nobounds.accounting.loss import Neighbors, PrivacyLoss, check_neighbors
from nobounds.arrays import Floats
from nobounds.exact import Number, privacy_parameter
from nobounds.ranks.problem import check_rank, check_ranks
from nobounds.ranks.route import rank_sensitivity
from nobounds.release.release import Release
from nobounds.research.baselines.measures import FLAT, Measure
from nobounds.research.baselines.records import Ranged, check_bounds, check_rng, described, records_of
from nobounds.research.baselines.steps import Steps
from nobounds.statistics.keywords import spelled_out


@spelled_out
def emq_quantile(
    data: object,
    q: Number,
    *,
    neighbors: Neighbors = "swap",
    **options: Unpack[Ranged],
) -> Release:
    """A quantile by the exponential mechanism (Smith 2011, Algorithm 2); floating-point noise, for comparison only.

    Its epsilon bounds the range as well.

    >>> rng = np.random.default_rng(1)
    >>> print(emq_quantile(range(1000), 0.5, epsilon=1, lower=0, upper=2000, rng=rng))
    quantile (q=1/2): 499.9..., for epsilon 1 (swap, per row; rho 0.1234)
    """
    rank, (low, high), generator = (
        check_rank(q),
        check_bounds(options["lower"], options["upper"]),
        check_rng(options["rng"]),
    )
    neighbors, total = check_neighbors(neighbors), privacy_parameter(options["epsilon"], "epsilon")
    loss = PrivacyLoss.of(range_bounded(total), neighbors)
    law = steps_of(records_of(data, low, high), [rank], [emq_rate(rank, total, neighbors)], low, high)
    parameters = described("exponential mechanism (Smith 2011)", low, high, q=str(rank))
    return Release("quantile", float(law.draw(generator)[0, 0]), loss, parameters)


def emq_law(
    data: object,
    qs: Iterable[Number],
    *,
    epsilon: Number,
    lower: Number,
    upper: Number,
    neighbors: Neighbors = "swap",
) -> Steps:
    """The exact laws of `emq_quantile` for many q, one per row, each at the full epsilon."""
    ranks, (low, high), neighbors = check_ranks(qs, "qs"), check_bounds(lower, upper), check_neighbors(neighbors)
    total = privacy_parameter(epsilon, "epsilon")
    rates = [emq_rate(rank, total, neighbors) for rank in ranks]
    return steps_of(records_of(data, low, high), ranks, rates, low, high)


def emq_rate(q: Fraction, epsilon: Fraction, neighbors: Neighbors) -> Fraction:
    """The factor of the distance from q n in the exponent with which the mechanism costs epsilon."""
    return epsilon / (2 * rank_sensitivity(q, neighbors))


def steps_of(
    ordered: Floats,
    qs: Sequence[Fraction],
    rates: Sequence[Fraction],
    lower: float,
    upper: float,
    measure: Measure = FLAT,
) -> Steps:
    """The laws on sorted records between the bounds, one for each rank and its rate."""
    edges, n = np.concatenate([[lower], ordered, [upper]]), len(ordered)
    targets, slopes = np.array([float(q * n) for q in qs]), np.array([float(rate) for rate in rates])
    weights = measure.log_masses(edges) - slopes[:, None] * np.abs(np.arange(n + 1) - targets[:, None])
    top = weights.max(axis=1, keepdims=True)
    return Steps(edges, weights - (top + np.log(np.exp(weights - top).sum(axis=1, keepdims=True))), measure)
