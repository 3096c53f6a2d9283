"""How often the interval of `rows_left_out` holds: `python benchmarks/coverage/left_out.py --help`.

Each run draws the numbers of rows of all units and adds Laplace noise to the numbers of units in the cells, as a
release does. The interval must hold in 93% of runs; its estimate is within 5 points where the cells determine it.
"""

import argparse

import numpy as np

from nobounds.tables.excess import Cells, share_beyond

FAMILIES = {
    "geometric, mean 3.3": lambda rng, n: rng.geometric(0.3, n),
    "1 + Poisson(3)": lambda rng, n: 1 + rng.poisson(3, n),
    "all 1": lambda rng, n: np.ones(n),
    "all 12": lambda rng, n: np.full(n, 12),
    "lognormal(1, 1)": lambda rng, n: np.ceil(rng.lognormal(1, 1, n)),
    "Pareto(1.5)": lambda rng, n: np.floor(1 + rng.pareto(1.5, n)),
    "Pareto(2.5)": lambda rng, n: np.floor(1 + rng.pareto(2.5, n)),
    "one half 1, one half 12": lambda rng, n: rng.choice([1, 12], n),
}


def cell(family, most, units, epsilon, runs):
    """The true shares, and what was estimated of them: values, and lower and upper ends."""
    rng, cells = np.random.default_rng(5), Cells.of(most)
    rows_of_runs = []
    for _ in range(runs):
        rows = FAMILIES[family](rng, units).astype(float)
        truth = np.maximum(rows - most, 0).sum() / rows.sum()
        counts, chance = cells.counts(rows), 1 - np.exp(-epsilon)
        noise = rng.geometric(chance, len(counts)) - rng.geometric(chance, len(counts))
        rows_of_runs.append((truth, *share_beyond((counts + noise).tolist(), cells, 1 / epsilon, False)))
    return np.array(rows_of_runs).T


def main():
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reps", type=int, default=100, help="runs of each cell")
    parser.add_argument("--units", type=int, nargs="+", default=[5000, 1000])
    parser.add_argument("--epsilon", type=float, default=0.05)
    parser.add_argument("--family", nargs="+", default=list(FAMILIES), choices=list(FAMILIES))
    given = parser.parse_args()
    print(f"epsilon {given.epsilon:g}, {given.reps} runs of each cell; errors and widths in points\n")
    print("| rows of a unit | units | m | share left out | mean error | within 5 points | holds | mean width |")
    print("|---|---|---|---|---|---|---|---|")
    for family in given.family:
        for units in given.units:
            for most in (1, 3, 5):
                truth, value, low, high = cell(family, most, units, given.epsilon, given.reps)
                error, held = np.abs(value - truth), (low <= truth) & (truth <= high)
                print(
                    f"| {family} | {units:,} | {most} | {truth.mean():.0%} | {100 * error.mean():.1f} | "
                    f"{np.mean(error <= 0.05):.0%} | {held.mean():.0%} | {100 * (high - low).mean():.0f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
