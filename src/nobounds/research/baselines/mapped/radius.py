"""The radius of data around a point by AboveThreshold: the first candidate with few enough records outside.

This is the doubling search of Chen, Machanavajjhala, Reiter and Barrientos (2016) and the radius of Dong and Yi (2023),
with the number of records outside in place of that inside: it moves by at most 1, and all queries in one direction,
under both relations, and no number of records is needed.
"""

import math

import numpy as np

from nobounds.arrays import Floats

OUTSIDE = 10.0  # ranks over epsilon by which a walk may halt before all records are inside


def radius(deviations: Floats, least: float, growth: float, epsilon: float, rng: np.random.Generator) -> float:
    """`least` times a power of `growth` with nearly all deviations inside; costs epsilon.

    eps1 = eps2 = epsilon / 2, with exponential noise (Durfee 2023, Theorem 1 for monotonic queries).
    """
    steps = math.ceil((math.log(1e300) - math.log(least)) / math.log(growth))
    candidates = np.exp(math.log(least) + math.log(growth) * np.arange(steps))
    outside = len(deviations) - np.searchsorted(np.sort(deviations), candidates, side="right")
    scale = 2 / epsilon
    threshold = -OUTSIDE / epsilon + rng.exponential(scale)
    above = rng.exponential(scale, steps) - outside >= threshold
    return float(candidates[int(np.argmax(above)) if above.any() else -1])
