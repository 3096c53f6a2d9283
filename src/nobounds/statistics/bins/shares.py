"""Intervals of shares: the records up to a point over all records, where both are sums of noisy counts.

Let A be the noisy counts of the j bins up to a point, and B those of the m bins beyond. The share f of the records up
to the point makes (1 - f) A - f B pure noise: (1 - f) X - f Y, where X is the noise of j counts and Y that of m. An
interval has all f for which that much noise is likely (Fieller 1954), and holds for every data set.

The tail of the noise comes from its characteristic function (Gil-Pelaez 1951), as if it were continuous, with half a
step of its lattice on top.
"""

import numpy as np
from numpy.typing import NDArray

from nobounds.arrays import Floats

_NODES = (np.arange(500) + 0.5) * 0.08  # of the integral, over the standard deviation
_FAR = 20.0  # standard deviations that noise never reaches
_STEPS = 26  # halvings: to eight digits


def noise_beyond(size: Floats, first: Floats, j: Floats, second: Floats, m: Floats, gaussian: bool) -> Floats:
    """P(|first X - second Y| > size), for sums X and Y of j and m independent variables of scale 1."""
    spread = np.sqrt(first**2 * j + second**2 * m) * (1 if gaussian else np.sqrt(2))
    at = np.abs(size) / spread
    t = _NODES / spread[..., None]
    if gaussian:
        law = np.exp(-(_NODES**2) / 2) + 0 * t
    else:
        logs = j[..., None] * np.log1p((first[..., None] * t) ** 2) + m[..., None] * np.log1p(
            (second[..., None] * t) ** 2
        )
        law = np.exp(-logs)
    near = np.sin(_NODES * np.minimum(at, _FAR)[..., None]) * law / _NODES
    within = 2 / np.pi * near.sum(axis=-1) * (_NODES[1] - _NODES[0])
    return np.where(at > _FAR, 0.0, np.clip(1 - within, 0.0, 1.0))


def share_intervals(noisy: list[int], scale: float, gaussian: bool, chance: float) -> Floats:
    """The interval of the share of records in the first j bins, for each j; two ends for each bin but the last.

    The total must be at least four standard deviations of its noise. Then the shares that are likely lie in one piece
    between 0 and 1: the squared noise over its variance has one minimum there, and beyond its only maximum it stays
    above 16.
    """
    counts = np.array(noisy, dtype=np.float64) / scale
    j = np.arange(1.0, len(counts))
    upto, total = np.cumsum(counts)[:-1], counts.sum()
    m = len(counts) - j

    def likely(share: Floats) -> NDArray[np.bool_]:
        step = np.maximum(share, 1 - share) / scale  # of the noise, which is on a lattice: half a step is allowed for
        off = np.maximum(np.abs(upto - share * total) - step / 2, 0.0)
        return noise_beyond(off, 1 - share, j, share, m, gaussian) >= chance

    ends = np.empty((len(j), 2))
    best = np.clip(upto / total, 0.0, 1.0)
    for side in (0, 1):
        outer, inner = np.full(len(j), float(side)), best
        reached = likely(outer)
        for _ in range(_STEPS):
            middle = (outer + inner) / 2
            yes = likely(middle)
            inner, outer = np.where(yes, middle, inner), np.where(yes, outer, middle)
        ends[:, side] = np.where(reached, float(side), outer)
    return ends
