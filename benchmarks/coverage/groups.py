"""How often the intervals of sums and means by group hold: `python benchmarks/coverage/groups.py --help`.

Each run draws the rows of all groups and releases all of them at epsilon 1, under public keys. *Alike* groups are
drawn from one family; of *different* ones the scales rise evenly, so that those of the last are 4 times those of the
first. A two-sided interval must hold in 93% of cases and a one-sided one in 95%, over all groups of all runs.
"""

import argparse
import random

import numpy as np

import nobounds as nb

EPSILON = 1.0


def incomes(rng, n):
    """Incomes, most of them rounded."""
    step = rng.choice([1.0, 100, 1000, 10_000], n, p=[0.2, 0.3, 0.3, 0.2])
    return np.rint(rng.lognormal(10.4, 0.6, n) / step) * step


FAMILIES = {
    "uniform": lambda rng, n: rng.uniform(0, 100, n),
    "normal(1000, 10)": lambda rng, n: rng.normal(1000, 10, n),
    "normal(0, 10)": lambda rng, n: rng.normal(0, 10, n),
    "exponential": lambda rng, n: rng.exponential(20, n),
    "lognormal(3, .8)": lambda rng, n: rng.lognormal(3, 0.8, n),
    "lognormal(10, 1)": lambda rng, n: rng.lognormal(10, 1, n),
    "Pareto(2.5)": lambda rng, n: 10 * (rng.pareto(2.5, n) + 1),
    "heaped incomes": incomes,
}


def cell(statistic, family, groups, size, different, reps):
    """What was seen: shares, widths over those of the noise alone and over the truth, and the error over the noise."""
    rng = np.random.default_rng(5)
    g = np.repeat(np.arange(groups), size)
    scales = np.repeat(4.0 ** (np.arange(groups) / max(groups - 1, 1)) if different else np.ones(groups), size)
    two, one, unknown, width, part, errors = [], [], 0, [], [], []
    for k in range(reps):
        x = FAMILIES[family](rng, groups * size) * scales
        truth = np.bincount(g, x) / (1 if statistic == "sum" else size)
        by = nb.Table({"g": g, "x": x}).group_by("g", keys=list(range(groups)))
        release = getattr(by, statistic)("x", epsilon=EPSILON, rng=random.Random(k))
        answered = ~np.ma.getmaskarray(release.values)
        low, high = release.intervals[answered].T
        goal = truth[answered]
        errors += np.abs(np.ma.getdata(release.values)[answered] - goal).tolist()
        held, both = (low <= goal) & (goal <= high), np.isfinite(low) & np.isfinite(high)
        some = (np.isfinite(low) | np.isfinite(high)) & ~both
        two += held[both].tolist()
        one += held[some].tolist()
        unknown += groups - int(both.sum() + some.sum())
        part += ((high - low)[both] / np.abs(goal[both])).tolist()
        if statistic == "sum":
            width += ((high - low)[both] / (2 * release.parameters["half_interval"])).tolist()
    return two, one, unknown / (groups * reps), width, part, np.array(errors)


def main():
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reps", type=int, default=100, help="releases of each cell")
    parser.add_argument("--groups", type=int, default=20)
    parser.add_argument("--size", type=int, default=500, help="rows of each group")
    given = parser.parse_args()
    print(f"{given.groups} groups of {given.size} rows, epsilon {EPSILON:g}, {given.reps} releases of each cell\n")
    print(
        "| statistic | groups | data | two-sided | of these hold | one-sided hold | nothing said | width over noise "
        "| width over truth | median error |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for statistic in ("sum", "mean"):
        for family in FAMILIES:
            for different in (False, True):
                two, one, unknown, width, part, errors = cell(
                    statistic, family, given.groups, given.size, different, given.reps
                )
                number = given.groups * given.reps
                said = [
                    statistic,
                    "different" if different else "alike",
                    family,
                    f"{len(two) / number:.2f}",
                    f"{np.mean(two):.3f}" if two else "-",
                    f"{np.mean(one):.3f}" if one else "-",
                    f"{unknown:.2f}",
                    f"{np.median(width):.2f}" if width else "-",
                    f"{np.median(part):.2%}" if part else "-",
                    f"{np.median(errors):.4g}",
                ]
                print(f"| {' | '.join(said)} |", flush=True)


if __name__ == "__main__":
    main()
