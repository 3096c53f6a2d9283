"""Histograms, cumulative distributions and top-k beside mechanisms of others that are given bounds or keys.

    python benchmarks/pages/counts.py            # a minute; prints the tables of docs/counts.md

The rival of a histogram is the Laplace histogram of diffprivlib and OpenDP: 20 bins of equal width between bounds that
the user guesses, records beyond them in the outer bins. The rival of top-k with unknown keys is a Laplace threshold, as
in OpenDP and Google's library: a key is shown if its noisy count is above 1 + log(1 / (2 delta)) / epsilon.
"""

import math
import random
from collections import Counter

import numpy as np

import nobounds as nb

BINS, RUNS, TOP_RUNS, POINTS = 20, 20, 200, np.arange(1, 100) / 100
FAMILIES = {
    "normal(1000, 10)": lambda rng, n: rng.normal(1000, 10, n),
    "uniform ages": lambda rng, n: rng.integers(18, 90, n).astype(float),
    "lognormal incomes": lambda rng, n: rng.lognormal(10, 1, n),
}


def distance(edges, counts, data):
    """Mean absolute error of the share of records up to the percentiles of the data, interpolated within bins.

    The open bins are taken to be as wide as their neighbours.
    """
    step = edges[1] - edges[0] if len(edges) > 1 else max(abs(edges[0]), 1.0)
    marks = np.concatenate([[edges[0] - step], edges, [edges[-1] + step]])
    shares = np.concatenate([[0.0], np.cumsum(counts)]) / max(np.sum(counts), 1)
    points = np.quantile(data, POINTS)
    truth = np.searchsorted(np.sort(data), points, side="right") / len(data)
    return float(np.mean(np.abs(np.interp(points, marks, shares) - truth)))


def ours(data, epsilon, seed):
    """A histogram whose edges are chosen privately."""
    release = nb.histogram(data, bins=BINS, epsilon=epsilon, rng=random.Random(seed))
    edges = [low for low, _ in release.groups if low is not None]
    return 0.5 if not edges else distance(np.array(edges, dtype=float), release.values.astype(float), data)


def laplace(data, low, high, epsilon, rng):
    """A Laplace histogram between bounds; the outermost edges are open, as ours are."""
    edges = np.linspace(low, high, BINS - 1)
    counts = np.bincount(np.searchsorted(edges, data, side="right"), minlength=BINS)
    return distance(edges, np.maximum(counts + rng.laplace(0, 1 / epsilon, BINS), 0), data)


def histograms():
    """Ours, and Laplace histograms within the range itself, ten times it and a thousand times it."""
    print("| data | n | epsilon | nobounds, no bounds | range known | 10 times too wide | 1000 times too wide |")
    print("|---|---|---|---|---|---|---|")
    for name, draw in FAMILIES.items():
        for n, epsilon in ((1000, 1), (10_000, 1), (10_000, 0.1)):
            rows = []
            for run in range(RUNS):
                rng = np.random.default_rng(run)
                data = draw(rng, n)
                low, high = data.min(), data.max()
                guesses = [
                    laplace(data, low - w * (high - low), high + w * (high - low), epsilon, rng) for w in (0, 4.5, 500)
                ]
                rows.append([ours(data, epsilon, run), *guesses])
            cells = " | ".join(f"{100 * value:.2f}" for value in np.mean(rows, axis=0))
            print(f"| {name} | {n:,} | {epsilon} | {cells} |")


def zipf(rng, n):
    """Keys of 10,000 values by Zipf's law."""
    weights = 1 / np.arange(1, 10_001)
    return rng.choice(10_000, n, p=weights / weights.sum())


def top():
    """How many of the ten most frequent values are shown, and the mean error of their counts."""
    print("\n| n | epsilon | nobounds: of the top 10 | error | Laplace threshold: of the top 10 | error |")
    print("|---|---|---|---|---|---|")
    delta = 1e-6
    for n, epsilon in ((1000, 1), (10_000, 1), (10_000, 0.1)):
        rows = []
        for run in range(TOP_RUNS):
            rng = np.random.default_rng(run)
            data = zipf(rng, n)
            truth = Counter(data.tolist())
            wanted = {key for key, _ in truth.most_common(10)}
            release = nb.top_k(data, 10, delta=delta, epsilon=epsilon, rng=random.Random(run))
            noisy = {key: count + rng.laplace(0, 1 / epsilon) for key, count in truth.items()}
            least = 1 + math.log(1 / (2 * delta)) / epsilon
            kept = dict(sorted(((k, v) for k, v in noisy.items() if v > least), key=lambda one: -one[1])[:10])
            cells = []
            for shown in (dict(release), kept):
                errors = [abs(count - truth[key]) for key, count in shown.items()]
                cells += [len(wanted & set(shown)), np.mean(errors) if errors else np.nan]
            rows.append(cells)
        first, error, second, other = np.nanmean(rows, axis=0)
        print(f"| {n:,} | {epsilon} | {first:.1f} | {error:.1f} | {second:.1f} | {other:.1f} |")


if __name__ == "__main__":
    histograms()
    top()
