"""UQE: the paper's method as in its listing, many runs at a time, with floating-point noise for experiments.

Candidates are lower + beta**i - 1, i = 1, 2, ... The listing never counts a record below the lower bound (`drops`).
"""

import math

import numpy as np

from nobounds.arrays import Floats

_BLOCK = 2048  # candidates per step


def uqe(
    data: Floats,
    thresholds: Floats,
    rng: np.random.Generator,
    *,
    eps1: float,
    eps2: float,
    lower: float = 0.0,
    beta: float = 1.001,
    drops: bool = True,
) -> Floats:
    """One answer for each threshold, which is usually q n (Algorithm 2)."""
    steps = np.log(np.maximum(data - lower + 1, 1)) / math.log(beta)
    rungs = np.floor(steps[data >= lower] if drops else steps).astype(np.int64)
    counts = np.cumsum(np.bincount(rungs))  # records before candidate i + 1
    noisy = thresholds + rng.exponential(1 / eps1, len(thresholds))
    halted_at = np.zeros(len(thresholds))
    running, first = np.arange(len(thresholds)), 0
    while len(running):
        block = counts[np.minimum(np.arange(first, first + _BLOCK), len(counts) - 1)]
        # Skip a block whose counts stay more than 40 / eps2 below the noisy threshold: noise above that is negligible.
        near = block[-1] + 40 / eps2 >= noisy[running]
        hit = np.zeros((len(running), 1), dtype=bool)
        if near.any():
            noise = rng.exponential(1 / eps2, (int(near.sum()), _BLOCK))
            above = block + noise > noisy[running[near], None]
            halted = above.any(axis=1)
            where = running[near][halted]
            halted_at[where] = first + 1 + above[halted].argmax(axis=1)
            hit[near, 0] = halted
        running = running[~hit[:, 0]]
        first += _BLOCK
    with np.errstate(over="ignore"):
        return np.asarray(lower + np.power(beta, halted_at) - 1)
