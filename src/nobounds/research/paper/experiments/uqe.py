"""UQE: the paper's method as its listing has it, many runs at a time, with floating-point noise for experiments.

Candidates are lower + beta**i - 1, i = 1, 2, ... The listing never counts a record below the lower bound (`drops`).
"""

import math

import numpy as np

from nobounds.arrays import Floats

_BLOCK = 2048  # candidates a step


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
    """One answer of Algorithm 2 for each threshold, which is q n where nothing else is said."""
    steps = np.log(np.maximum(data - lower + 1, 1)) / math.log(beta)
    rungs = np.floor(steps[data >= lower] if drops else steps).astype(np.int64)
    counts = np.cumsum(np.bincount(rungs))  # records before candidate i + 1
    noisy = thresholds + rng.exponential(1 / eps1, len(thresholds))
    found = np.zeros(len(thresholds))
    open_runs, first = np.arange(len(thresholds)), 0
    while len(open_runs):
        block = counts[np.minimum(np.arange(first, first + _BLOCK), len(counts) - 1)]
        # A block in which no count comes within 40 / eps2 of a noisy threshold stays silent.
        near = block[-1] + 40 / eps2 >= noisy[open_runs]
        hit = np.zeros((len(open_runs), 1), dtype=bool)
        if near.any():
            noise = rng.exponential(1 / eps2, (int(near.sum()), _BLOCK))
            above = block + noise > noisy[open_runs[near], None]
            halted = above.any(axis=1)
            where = open_runs[near][halted]
            found[where] = first + 1 + above[halted].argmax(axis=1)
            hit[near, 0] = halted
        open_runs = open_runs[~hit[:, 0]]
        first += _BLOCK
    with np.errstate(over="ignore"):
        return np.asarray(lower + np.power(beta, found) - 1)
