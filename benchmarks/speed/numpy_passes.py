"""What single passes over 10^7 floats take in numpy alone, in units of numpy.sum: the floor under docs/speed.md.

`python benchmarks/speed/numpy_passes.py` prints it: processor time, the least of several turns.
"""

import time
from collections.abc import Callable

import numpy as np

N, CHUNK = 10**7, 1 << 17
VALUES = np.random.default_rng(0).lognormal(3, 0.8, N)
KEYS, FLOATS = np.empty(CHUNK, dtype=np.int64), np.empty(CHUNK)
SOME, OTHERS = np.empty(CHUNK, dtype=bool), np.empty(CHUNK, dtype=bool)
TABLE = np.zeros(1 << 20, dtype=np.int64)
BASE = 1000 << 8  # the leading bits of a number below all of them


def leading(values: np.ndarray) -> np.ndarray:
    """Sign, exponent and 8 bits."""
    return np.right_shift(values.view(np.uint64), np.uint64(44), out=KEYS[: len(values)].view(np.uint64)).view(np.int64)


def by_bincount(values: np.ndarray) -> None:
    """The same counts by `np.bincount`."""
    keys = leading(values)
    keys -= BASE
    counts = np.bincount(keys)
    TABLE[BASE : BASE + len(counts)] += counts


def copied(values: np.ndarray, low: float, high: float) -> np.ndarray:
    """The records in an interval."""
    some = np.greater_equal(values, low, out=SOME[: len(values)])
    some &= np.less_equal(values, high, out=OTHERS[: len(values)])
    return values[some]


def counted_and_copied(values: np.ndarray) -> None:
    """Both in one pass, where a guess says which records will be needed: 5% of them around the median."""
    np.add.at(TABLE, leading(values), 1)
    copied(values, 19.5, 20.6)


def deviations(values: np.ndarray) -> None:
    """Counts of the leading bits of deviations from a centre."""
    away = np.subtract(values, 20.0, out=FLOATS[: len(values)])
    away *= 0.125
    keys = np.right_shift(away.view(np.uint64), np.uint64(49), out=away.view(np.uint64)).view(np.int64)
    np.add.at(TABLE, keys, 1)


def clipped_sum(values: np.ndarray) -> int:
    """The sum of clipped records as whole numbers."""
    whole = np.multiply(values, 2.0**30, out=FLOATS[: len(values)])
    np.clip(whole, -(2.0**40), 2.0**40, out=whole)
    whole += 1.5 * 2.0**52
    return int(whole.view(np.int64).sum())


PASSES: dict[str, Callable[[np.ndarray], object]] = {
    "leading bits, np.add.at": lambda values: np.add.at(TABLE, leading(values), 1),
    "leading bits, np.bincount": by_bincount,
    "16-bit words, np.bincount": lambda values: np.bincount(values.view(np.uint16)[3::4], minlength=1 << 16),
    "a copy of 0.3% around the median": lambda values: copied(values, 20.0, 20.06),
    "leading bits, and a copy of 5% by a guess": counted_and_copied,
    "leading bits of deviations": deviations,
    "clipped sum": clipped_sum,
}


def least(action: Callable[[], object], turns: int = 9) -> float:
    """The least processor time of an action."""
    times = []
    for _ in range(turns):
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    """Measure and print."""
    unit = least(VALUES.sum)
    for name, action in PASSES.items():
        took = least(lambda one=action: [one(VALUES[k : k + CHUNK]) for k in range(0, N, CHUNK)])  # type: ignore[misc]
        print(f"{name}: {took / unit:.1f}")


if __name__ == "__main__":
    main()
