"""A quantile without bounds: the exponential mechanism over the public measure of magnitudes.

P(y) is proportional to pi(y) exp(-rate |records up to y - q n|), where pi is `MAGNITUDES`. This is EMQ (Smith 2011)
after the public map of the line onto (0, 1) by the distribution function of pi, and the proof is that of EMQ. The
measure has no atoms, so a value with ties has no mass: answers lie in the gaps between different values.
"""

from collections.abc import Iterable
from typing import Unpack

import numpy as np

from nobounds.accounting.cost import range_bounded
from nobounds.accounting.loss import Neighbors, PrivacyLoss, check_neighbors
from nobounds.exact import Number, privacy_parameter
from nobounds.ranks.problem import check_rank, check_ranks
from nobounds.release.release import Release
from nobounds.research.baselines.emq import emq_rate, steps_of
from nobounds.research.baselines.mapped.records import Unbounded, ordered_records
from nobounds.research.baselines.measures import MAGNITUDES
from nobounds.research.baselines.records import FLOATING, check_rng
from nobounds.research.baselines.steps import Steps
from nobounds.statistics.keywords import spelled_out


@spelled_out
def mapped_quantile(data: object, q: Number, *, neighbors: Neighbors = "swap", **options: Unpack[Unbounded]) -> Release:
    """A quantile by the exponential mechanism after the public map; floating-point noise, for comparison only.

    Its epsilon bounds the range as well.

    >>> rng = np.random.default_rng(1)
    >>> print(mapped_quantile(range(1000), 0.5, epsilon=1, rng=rng))
    quantile (q=1/2): 499.9..., for epsilon 1 (swap, per row; rho 0.1234)
    """
    rank, generator = check_rank(q), check_rng(options["rng"])
    neighbors, total = check_neighbors(neighbors), privacy_parameter(options["epsilon"], "epsilon")
    loss = PrivacyLoss.of(range_bounded(total), neighbors)
    law = mapped_law(data, [rank], epsilon=total, neighbors=neighbors)
    parameters = {"q": str(rank), "method": "exponential mechanism over magnitudes", "noise": FLOATING}
    return Release("quantile", float(law.draw(generator)[0, 0]), loss, parameters)


def mapped_law(data: object, qs: Iterable[Number], *, epsilon: Number, neighbors: Neighbors = "swap") -> Steps:
    """The exact laws of `mapped_quantile` for many q, one per row, each at the full epsilon."""
    ranks, neighbors = check_ranks(qs, "qs"), check_neighbors(neighbors)
    total = privacy_parameter(epsilon, "epsilon")
    rates = [emq_rate(rank, total, neighbors) for rank in ranks]
    return steps_of(ordered_records(data), ranks, rates, -np.inf, np.inf, MAGNITUDES)
