"""Errors of standard deviations, variances, proportions, ratios, weighted means, covariances and correlations.

Beside each stands a mechanism that is given bounds. No library for it is needed: the mechanisms are written out here.

- std, variance: diffprivlib's `var` and `std` add Laplace noise of sensitivity ((upper - lower) / n)**2 (n - 1) to the
  exact variance, for public n and a record that is replaced by another (Holohan et al. 2019,
  https://github.com/IBM/differential-privacy-library, diffprivlib/tools/utils.py).
- proportion: a Laplace count over the public n.
- mean-like ratios and weighted means: two clipped sums with Laplace noise, each for half of epsilon.
- covariance: the clipped mean product of deviations from the middle of the bounds, minus the product of means, each of
  the three for a third of epsilon; correlation: the same with two variances, a fifth each.

The peer's bounds are the smallest and the largest record ("exact bounds"), which nobody knows, and ten times as wide.

python benchmarks/accuracy/new_statistics.py --runs 40
"""

import argparse
import random

import numpy as np

import nobounds as nb

FAMILIES = {
    "normal": lambda rng, n: rng.normal(1000, 3, n),
    "uniform": lambda rng, n: rng.random(n),
    "exponential": lambda rng, n: rng.exponential(1, n),
    "lognormal": lambda rng, n: rng.lognormal(0, 1, n),
}
EPSILON = 1.0


def truth_of(statistic, x, y):
    """What a statistic is without privacy."""
    two = {
        "std": lambda: x.std(),
        "variance": lambda: x.var(),
        "iqr": lambda: float(np.subtract(*np.quantile(x, [0.75, 0.25]))),
        "proportion": lambda: np.mean(x > np.median(x)),
        "ratio": lambda: x.sum() / y.sum(),
        "weighted_mean": lambda: np.average(x, weights=y),
        "covariance": lambda: np.cov(x, y, ddof=0)[0, 1],
        "correlation": lambda: np.corrcoef(x, y)[0, 1],
    }
    return float(two[statistic]())


def ours(statistic, x, y, seed):
    """A release without bounds; None if it is not answered."""
    rng = random.Random(seed)
    if statistic in ("ratio", "weighted_mean", "covariance", "correlation"):
        return getattr(nb, statistic)(x, y, epsilon=EPSILON, rng=rng)
    data = x > np.median(x) if statistic == "proportion" else x
    return getattr(nb, statistic)(data, epsilon=EPSILON, rng=rng)


def peer(statistic, x, y, wider, rng):
    """The mechanism that is given bounds; for research only, with noise in floating point."""
    n = len(x)

    def bounds(data):
        low, high = data.min(), data.max()
        more = (wider - 1) * (high - low) / 2
        return low - more, high + more

    def mean(values, width, epsilon):
        return values.mean() + rng.laplace(0, width / (n * epsilon))

    (a, b), (c, d) = bounds(x), bounds(y)
    if statistic in ("std", "variance"):
        noisy = max(x.var() + rng.laplace(0, ((b - a) / n) ** 2 * (n - 1) / EPSILON), 0.0)
        return noisy if statistic == "variance" else noisy**0.5
    if statistic == "proportion":
        return mean((x > np.median(x)).astype(float), 1, EPSILON)
    if statistic == "ratio":
        return mean(x, b - a, EPSILON / 2) / mean(y, d - c, EPSILON / 2)
    if statistic == "weighted_mean":
        wide = max(abs(a), abs(b)) * max(abs(c), abs(d))
        return mean(x * y, 2 * wide, EPSILON / 2) / mean(y, d - c, EPSILON / 2)
    part = EPSILON / (3 if statistic == "covariance" else 5)
    u, v, rx, ry = x - (a + b) / 2, y - (c + d) / 2, (b - a) / 2, (d - c) / 2
    mx, my = mean(u, 2 * rx, part), mean(v, 2 * ry, part)
    both = mean(u * v, 2 * rx * ry, part) - mx * my
    if statistic == "covariance":
        return both
    squares = max(mean(u**2, rx**2, part) - mx**2, 1e-9) * max(mean(v**2, ry**2, part) - my**2, 1e-9)
    return float(np.clip(both / squares**0.5, -1, 1))


def main(runs, rows):
    """Print a table in Markdown."""
    of = "in percent of the truth (of 1 for shares and correlations)"
    print(f"Median error {of}; epsilon 1, {rows:,} rows, {runs} runs.\n")
    heads = (
        "statistic",
        "family",
        "nobounds",
        "answered",
        "95% interval holds",
        "peer, exact bounds",
        "peer, bounds 10x",
    )
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for statistic in ("std", "variance", "iqr", "proportion", "ratio", "weighted_mean", "covariance", "correlation"):
        for family, draw in FAMILIES.items():
            errors, inside, peers = [], [], {1: [], 10: []}
            for seed in range(runs):
                rng = np.random.default_rng(seed)
                x, other = draw(rng, rows), draw(rng, rows)
                y = np.abs(other) if statistic in ("ratio", "weighted_mean") else x + other
                truth = truth_of(statistic, x, y)
                unit = 1.0 if statistic in ("proportion", "correlation") else abs(truth)
                release = ours(statistic, x, y, seed)
                if release.value is not None:
                    errors.append(abs(float(release.value) - truth) / unit)
                    if release.interval is not None:
                        low, high = release.interval
                        inside.append(low <= truth <= high)
                for wider, off in peers.items():
                    if statistic != "iqr":
                        off.append(abs(peer(statistic, x, y, wider, rng) - truth) / unit)
            shown = [f"{100 * np.median(off):.2g}%" if off else "" for off in (errors, peers[1], peers[10])]
            held = f"{sum(inside)} of {len(inside)}" if inside else ""
            cells = (statistic, family, shown[0], f"{len(errors)} of {runs}", held, *shown[1:])
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--rows", type=int, default=10_000)
    given = parser.parse_args()
    main(given.runs, given.rows)
