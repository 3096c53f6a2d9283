"""Doubling search: the first power of two that enough records are within, by AboveThreshold.

Chen, Machanavajjhala, Reiter and Barrientos (2016) bound residuals so; as Algorithm 2 it has beta = 2. The noise is the
paper's exponential noise, with eps1 = eps2.
"""

from fractions import Fraction
from functools import partial

import numpy as np

from nobounds.accounting.cost import monotonic, moving_threshold, split
from nobounds.accounting.loss import Neighbors, PrivacyLoss, check_neighbors
from nobounds.exact import Number, positive, privacy_parameter
from nobounds.ranks.checks import check_rank
from nobounds.release.release import Release
from nobounds.research.baselines.records import FLOATING, check_rng, floats_of

MOST = 900  # doublings; the last is answered if none before is


def doubling_bound(
    data: object,
    q: Number,
    *,
    epsilon: Number,
    unit: Number = 1,
    neighbors: Neighbors = "swap",
    rng: np.random.Generator,
) -> Release:
    """A bound on the magnitudes of a share q of the records: unit * 2**k; floating-point noise, for comparison only.

    A missing record counts as 0.
    """
    rank, bits, relation = check_rank(q), check_rng(rng), check_neighbors(neighbors)
    total, least = privacy_parameter(epsilon, "epsilon"), float(positive(unit, "unit"))
    if not 1e-30 <= least <= 1e30:
        raise ValueError(f"unit must be between 1e-30 and 1e30, got unit={unit!r}")
    cost = monotonic if relation == "swap" else partial(moving_threshold, rank)
    eps1, eps2 = split(cost, total, Fraction(1, 2))
    loss = PrivacyLoss.of(cost(eps1, eps2), relation)
    sizes = np.sort(np.abs(floats_of(data, missing=0.0)))
    candidates = least * 2.0 ** np.arange(MOST + 1)
    counts = np.searchsorted(sizes, candidates, side="right")
    noisy_threshold = float(rank * len(sizes)) + bits.exponential(float(1 / eps1))
    above = counts[:-1] + bits.exponential(float(1 / eps2), MOST) >= noisy_threshold
    halted_at = int(np.argmax(above)) if above.any() else MOST
    parameters = {"q": str(rank), "method": "doubling search (Chen et al. 2016)", "unit": least, "noise": FLOATING}
    return Release("bound", float(candidates[halted_at]), loss, parameters)
