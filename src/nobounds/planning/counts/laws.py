"""The errors of noisy counts, and of shares that are sums of them over their total, in closed form."""

import math

import numpy as np

from nobounds.arrays import Floats
from nobounds.clipping.interval import CHANCE
from nobounds.noise.additive import Additive
from nobounds.statistics.bins.shares import noise_beyond

_POINTS = 49  # of a distribution, that stand for all of them
_WIDE, _STEPS = 12.0, 400  # standard deviations and steps of an integral over tails


def mean_size(noise: Additive) -> float:
    """The mean of the magnitude of noise on a whole number.

    >>> from fractions import Fraction
    >>> round(mean_size(Additive(Fraction(1))), 4)
    0.8509
    """
    if not noise.zcdp:
        return 1 / math.sinh(min(float(noise.epsilon), 700.0))
    spread = noise.scale(1)
    if spread > _WIDE:
        return spread * math.sqrt(2 / math.pi)
    sizes = np.arange(1, math.ceil(_WIDE * max(spread, 1.0)) + 1)
    masses = 2 * np.exp(-((sizes / spread) ** 2) / 2)
    return float(sizes @ masses / (1 + masses.sum()))


def of_shares(bins: int, gaussian: bool) -> tuple[float, float, float]:
    """Mean, median and 95% of the error of a share times the records, over points that part them evenly; for scale 1.

    Up to a share f there are j bins, and m beyond: the error is that of (1 - f) X - f Y (see `statistics.bins.shares`).
    """
    j = np.unique(np.linspace(1, bins - 1, min(bins - 1, _POINTS)).round())
    share, m = j / bins, bins - j

    def beyond(size: float) -> float:
        tails: Floats = noise_beyond(np.full(len(j), size), 1 - share, j, share, m, gaussian)
        return float(tails.mean())

    widest = _WIDE * math.sqrt(bins / 4 * (1 if gaussian else 2))
    sizes = np.linspace(0.0, widest, _STEPS)
    tails = np.array([beyond(size) for size in sizes])
    mean = float((tails[1:] + tails[:-1]).sum()) / 2 * widest / (_STEPS - 1)
    median, most = (float(np.interp(-chance, -tails, sizes)) for chance in (0.5, CHANCE))
    return mean, median, most
