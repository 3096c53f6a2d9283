"""Seeds of sampled tests, and how far their counts may go by chance: bounds that hold for any seed.

A test that draws, and compares with a bound, is marked `sampled` and takes its seeds as `seed_of(1)`: the number
itself, and under `make explore` another one in each run. So its bound has to hold for any seed.
"""

import math
import os
import random

FRESH = "NOBOUNDS_SEED"  # in the environment: what the seeds of a run are mixed with, to repeat it
RARELY = 1e-9  # the probability with which a test may fail though all is right


def seed_of(number: int | str) -> int | str:
    """The seed of this number: itself, and a fresh one under `make explore`."""
    fresh = os.environ.get(FRESH)
    return number if fresh is None else random.Random(f"{fresh} {number}").getrandbits(48)


def most(runs: int, chance: float) -> int:
    """The number of successes that is exceeded with probability below RARELY, if each has at most this chance.

    >>> most(400, 0.001), most(100, 0.5)
    (8, 80)
    """
    count, left = 0, 1.0
    for count in range(runs + 1):
        left = math.fsum(_law(runs, k, chance) for k in range(count + 1, runs + 1))
        if left < RARELY:
            break
    return count


def fewest(runs: int, chance: float) -> int:
    """The number of successes that falls short with probability below RARELY, if each has at least this chance."""
    return runs - most(runs, 1 - chance)


def _law(runs: int, k: int, chance: float) -> float:
    """The probability of k successes."""
    if chance in (0.0, 1.0):
        return float(k == runs * chance)
    logs = math.lgamma(runs + 1) - math.lgamma(k + 1) - math.lgamma(runs - k + 1)
    return math.exp(logs + k * math.log(chance) + (runs - k) * math.log1p(-chance))
