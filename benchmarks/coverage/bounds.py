"""Sums and means with two stated bounds, tight and loose, and with none: `python benchmarks/coverage/bounds.py --help`.

Each run draws its data and releases at epsilon 1. Bounds that records fill are the clip; within others it is searched.
"""

import argparse
import random

import numpy as np

import nobounds as nb

FAMILIES = {
    "uniform(0, 100)": (lambda rng, n: rng.uniform(0, 100, n), ((0, 100), (0, 1e9))),
    "whole ages, 18 to 90": (lambda rng, n: rng.integers(18, 91, n).astype(float), ((18, 90), (0, 120), (0, 1e9))),
    "exponential, mean 20": (lambda rng, n: rng.exponential(20, n), ((0, 250), (0, 1e9))),
}


def cell(statistic, family, n, bounds, reps):
    """The errors, how often the interval holds, and how often no clip was searched for."""
    rng = np.random.default_rng(5)
    errors, held, stated = [], 0, 0
    given = {} if bounds is None else {"lower": bounds[0], "upper": bounds[1]}
    for k in range(reps):
        x = FAMILIES[family][0](rng, n)
        truth = x.sum() if statistic == "sum" else x.mean()
        release = getattr(nb, statistic)(x, epsilon=1, marks=False, rng=random.Random(k), **given)
        low, high = release.interval
        errors.append(abs(release.value - truth))
        held += low <= truth <= high
        stated += "clip" not in release.parameters["split"]
    return np.array(errors), held / reps, stated / reps


def main():
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reps", type=int, default=200, help="releases of each cell")
    parser.add_argument("--n", type=int, default=4000, help="records")
    given = parser.parse_args()
    print(f"{given.n:,} records, epsilon 1, {given.reps} releases of each cell\n")
    print("| statistic | data | bounds | mean error | median error | interval holds | bounds are the clip |")
    print("|---|---|---|---|---|---|---|")
    for statistic in ("sum", "mean"):
        for family, (_, stated) in FAMILIES.items():
            for bounds in (None, *stated):
                errors, held, filled = cell(statistic, family, given.n, bounds, given.reps)
                said = "none" if bounds is None else f"{bounds[0]:g} to {bounds[1]:g}"
                print(
                    f"| {statistic} | {family} | {said} | {errors.mean():.3g} | {np.median(errors):.3g} | {held:.1%} | "
                    f"{filled:.0%} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
