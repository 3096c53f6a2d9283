"""A private median of each of 10^6 groups of 10^7 rows, beside polars' own grouped median in the same run.

`python benchmarks/speed/groups.py` prints times and ratios; the times alternate, and the best of each counts.
"""

import time

import numpy as np
import polars as pl

import nobounds as nb

ROWS, GROUPS = 10**7, 10**6
ROUNDS = 3


def timed(work):
    """Seconds, and processor seconds, that a function takes."""
    start, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start, time.process_time() - cpu


def main():
    """Print the best times and the ratios."""
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"g": rng.integers(0, GROUPS, ROWS), "x": rng.lognormal(size=ROWS)})
    table, keys = nb.Table(frame), range(GROUPS)
    work = {
        "polars group_by quantile": lambda: frame.group_by("g").agg(pl.col("x").quantile(0.5)),
        "nobounds, public keys": lambda: table.group_by("g", keys=keys).quantile("x", 0.5, epsilon=1),
        "nobounds, private keys": lambda: table.group_by("g", delta=1e-6).quantile("x", 0.5, epsilon=8),
    }
    rounds = {name: [] for name in work}
    for _ in range(ROUNDS):
        for name, call in work.items():
            rounds[name].append(timed(call))
    peer = min(rounds["polars group_by quantile"])[0]
    print(f"{ROWS:,} rows in {GROUPS:,} groups, a median of each")
    for name, found in rounds.items():
        seconds, cpu = min(found)
        print(f"{name:<26}{seconds:8.2f} s{cpu:8.2f} s of processors{seconds / peer:8.1f} x polars")


if __name__ == "__main__":
    main()
