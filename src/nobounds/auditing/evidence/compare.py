"""Two laws of the same outcomes, side by side: the outcome that tells the most, and Renyi divergences."""

import numpy as np

from nobounds.arrays import Floats
from nobounds.auditing.divergences import renyi

ORDERS = (1.5, 2.0, 8.0, 32.0)
DEEP = 740.0  # threshold noise is summed down to exp(-740)
KNOWN = 300.0  # log-probabilities below minus this are not computed exactly
CLOSE = 0.005  # of the largest log-ratio: among outcomes this close to it, the most probable one is chosen


def both_ways(mine: Floats, yours: Floats) -> Floats:
    """The larger of both Renyi divergences, for each order."""
    known = (np.minimum(mine, yours) > -np.inf) | (np.maximum(mine, yours) > -KNOWN)  # not below what is summed
    pairs = ((mine[known], yours[known]), (yours[known], mine[known]))
    return np.array([max(0.0, *(renyi(p, q, order) for p, q in pairs)) for order in ORDERS])


def largest(mine: Floats, yours: Floats, log_mass: Floats, nats: float) -> int | None:
    """The place of the largest log-ratio that is not too improbable; of those close to it, the most probable.

    An outcome that is impossible on the other data set has the largest of all.
    """
    only_mine = np.where(np.isneginf(yours) & (log_mass > -nats), log_mass, -np.inf)
    if only_mine.max(initial=-np.inf) > -np.inf:
        return int(np.argmax(only_mine))
    with np.errstate(invalid="ignore"):
        allowed = np.minimum(log_mass, log_mass - mine + yours) > -nats
        ratios = np.where(allowed, mine - yours, -np.inf)
    most = ratios.max(initial=-np.inf)
    if not most > -np.inf:
        return None
    return int(np.argmax(np.where(ratios >= most - CLOSE * abs(most), log_mass, -np.inf)))
