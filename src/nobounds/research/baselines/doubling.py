"""Doubling search: the first power of two that bounds enough records, by AboveThreshold.

Chen, Machanavajjhala, Reiter and Barrientos (2016) bound residuals this way; it is Algorithm 2 with beta = 2. The noise
is the paper's exponential noise, with eps1 = eps2.
"""

from fractions import Fraction
from functools import partial

import numpy as np

from nobounds.accounting.cost import monotonic, moving_threshold, split
from nobounds.accounting.loss import Neighbors, PrivacyLoss, check_neighbors
from nobounds.exact import Number, positive, privacy_parameter
from nobounds.ranks.problem import check_rank
from nobounds.release.release import Release
from nobounds.research.baselines.records import FLOATING, check_rng, floats_of

MOST = 900  # doublings; the last is the answer if the walk never halts


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
    rank, generator, neighbors = check_rank(q), check_rng(rng), check_neighbors(neighbors)
    total, least = privacy_parameter(epsilon, "epsilon"), float(positive(unit, "unit"))
    if not 1e-30 <= least <= 1e30:
        raise ValueError(f"unit must be between 1e-30 and 1e30, got unit={unit!r}")
    cost = monotonic if neighbors == "swap" else partial(moving_threshold, rank)
    eps1, eps2 = split(cost, total, Fraction(1, 2))
    loss = PrivacyLoss.of(cost(eps1, eps2), neighbors)
    sizes = np.sort(np.abs(floats_of(data, missing=0.0)))
    candidates = least * 2.0 ** np.arange(MOST + 1)
    counts = np.searchsorted(sizes, candidates, side="right")
    noisy_threshold = float(rank * len(sizes)) + generator.exponential(float(1 / eps1))
    above = counts[:-1] + generator.exponential(float(1 / eps2), MOST) >= noisy_threshold
    halted_at = int(np.argmax(above)) if above.any() else MOST
    parameters = {"q": str(rank), "method": "doubling search (Chen et al. 2016)", "unit": least, "noise": FLOATING}
    return Release("bound", float(candidates[halted_at]), loss, parameters)
