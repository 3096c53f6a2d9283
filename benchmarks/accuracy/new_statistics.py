"""Errors of everyday statistics beside the libraries of others, which are given bounds, in one run on the same data.

    make everyday        # half an hour; writes docs/accuracy/new_statistics.md

OpenDP, diffprivlib and Google's library (python-dp) answer what they have: see `new_peers`. No library has ratios,
weighted means, covariances or correlations, so Laplace sums of clipped records are written out here for these:

- ratios and weighted means: two clipped sums with Laplace noise, each for half of epsilon.
- covariance: the clipped mean product of deviations from the middle of the bounds, minus the product of means, each of
  the three for a third of epsilon; correlation: the same with two variances, a fifth each.

The bounds of the others are the smallest and the largest record ("exact"), which nobody knows, and ten times as wide.
"""

import argparse
import random
import sys
from collections import Counter
from pathlib import Path

import numpy as np

import nobounds as nb

sys.path.insert(0, str(Path(__file__).parent))
from counts import distance
from counts import ours as our_histogram
from new_peers import DELTA, EPSILON, LIBRARIES

FAMILIES = {
    "normal": lambda rng, n: rng.normal(1000, 3, n),
    "uniform": lambda rng, n: rng.random(n),
    "exponential": lambda rng, n: rng.exponential(1, n),
    "lognormal": lambda rng, n: rng.lognormal(0, 1, n),
}
OF_TWO = ("ratio", "weighted_mean", "covariance", "correlation")
ONE = ("mean", "std", "variance", "median", "iqr", "proportion", "count", "histogram")
SHARES = ("proportion", "correlation", "histogram")  # whose errors are parts of 1
PAGE = Path(__file__).parents[2] / "docs" / "accuracy" / "new_statistics.md"
MARK = "<!-- measured -->"


def truth_of(statistic, x, y):
    """What a statistic is without privacy."""
    two = {
        "mean": lambda: x.mean(),
        "std": lambda: x.std(),
        "variance": lambda: x.var(),
        "median": lambda: np.median(x),
        "iqr": lambda: float(np.subtract(*np.quantile(x, [0.75, 0.25]))),
        "proportion": lambda: np.mean(x > np.median(x)),
        "count": lambda: len(x),
        "histogram": lambda: 0.0,
        "ratio": lambda: x.sum() / y.sum(),
        "weighted_mean": lambda: np.average(x, weights=y),
        "covariance": lambda: np.cov(x, y, ddof=0)[0, 1],
        "correlation": lambda: np.corrcoef(x, y)[0, 1],
    }
    return float(two[statistic]())


def ours(statistic, x, y, seed):
    """A release without bounds: its value and its interval, both None if it is not answered."""
    if statistic == "histogram":
        return our_histogram(x, EPSILON, seed), None
    rng = random.Random(seed)
    if statistic in OF_TWO:
        release = getattr(nb, statistic)(x, y, epsilon=EPSILON, rng=rng)
    else:
        data = x > np.median(x) if statistic == "proportion" else x
        release = getattr(nb, statistic)(data, epsilon=EPSILON, rng=rng)
    return release.value, release.interval


def widened(data, wider):
    """The range of the data, made wider."""
    low, high = float(data.min()), float(data.max())
    more = (wider - 1) * (high - low) / 2
    return low - more, high + more


def of_library(answer, statistic, x, wider):
    """The answer of a library within bounds."""
    bounds = widened(x, wider)
    given = answer(x > np.median(x) if statistic == "proportion" else x, bounds)
    if statistic != "histogram":
        return float(given)
    counts, edges = given
    return distance(np.asarray(edges)[1:-1], np.maximum(np.asarray(counts, dtype=float), 0), x)


def written_out(statistic, x, y, wider, rng):
    """The mechanism that is given bounds; for research only, with noise in floating point."""
    n = len(x)

    def mean(values, width, epsilon):
        return values.mean() + rng.laplace(0, width / (n * epsilon))

    (a, b), (c, d) = widened(x, wider), widened(y, wider)
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


def error(statistic, value, truth):
    """The error of a value in percent of the truth, or of 1 for shares."""
    return 100 * abs(value - truth) / (1.0 if statistic in SHARES else abs(truth))


def rows_of(statistic, runs, rows, libraries):
    """A row of the table for each family."""
    for family, draw in FAMILIES.items():
        errors, inside, peers = [], [], {}
        for seed in range(runs):
            rng = np.random.default_rng(seed)
            x, other = draw(rng, rows), draw(rng, rows)
            y = np.abs(other) if statistic in ("ratio", "weighted_mean") else x + other
            truth = truth_of(statistic, x, y)
            value, interval = ours(statistic, x, y, seed)
            if value is not None:
                errors.append(error(statistic, float(value), truth))
                if interval is not None:
                    inside.append(interval[0] <= truth <= interval[1])
            for wider in (1, 10):
                if statistic in OF_TWO:
                    answers = {"written out": written_out(statistic, x, y, wider, rng)}
                else:
                    known = {name: answers[statistic] for name, answers in libraries.items() if statistic in answers}
                    answers = {name: of_library(answer, statistic, x, wider) for name, answer in known.items()}
                for name, answer in answers.items():
                    peers.setdefault((name, wider), []).append(error(statistic, answer, truth))
        held = f"{sum(inside)} of {len(inside)}" if inside else ""
        names = ["written out"] if statistic in OF_TWO else list(libraries)
        cells = [
            " / ".join(f"{np.median(peers[name, wider]):.2g}%" for wider in (1, 10)) if (name, 1) in peers else ""
            for name in names
        ]
        yield [statistic, family, f"{np.median(errors):.2g}%", f"{len(errors)} of {runs}", held, *cells]


def zipf(rng, rows):
    """Keys of 10,000 values by Zipf's law, as text."""
    weights = 1 / np.arange(1, 10_001)
    return rng.choice(10_000, rows, p=weights / weights.sum()).astype(str)


def keys(runs, libraries):
    """Distinct values, and the top 10 with unknown keys, beside OpenDP."""
    for rows in (1000, 10_000):
        distinct, top = [], []
        for seed in range(runs):
            data = zipf(np.random.default_rng(seed), rows)
            counts = Counter(data.tolist())
            wanted = {key for key, _ in counts.most_common(10)}
            rng = random.Random(seed)
            mine = nb.count_distinct(data.tolist(), epsilon=EPSILON, rng=rng).value
            theirs = libraries["OpenDP"]["count_distinct"](data, (0, 1))
            distinct.append([abs(each - len(counts)) for each in (mine, theirs)])
            release = dict(nb.top_k(data.tolist(), 10, delta=DELTA, epsilon=EPSILON, rng=rng))
            kept = libraries["OpenDP"]["top_k"](data, (0, 1))
            kept = dict(sorted(kept.items(), key=lambda one: -one[1])[:10])
            top.append([len(wanted & set(shown)) for shown in (release, kept)])
        ours_off, theirs_off = np.mean(distinct, axis=0)
        ours_top, theirs_top = np.mean(top, axis=0)
        yield [f"{rows:,}", f"{ours_off:.2f}", f"{theirs_off:.2f}", f"{ours_top:.1f}", f"{theirs_top:.1f}"]


def table(heads, rows):
    """A table in Markdown, printed as it comes and returned."""
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    print(*lines, sep="\n", flush=True)
    for row in rows:
        lines.append(f"| {' | '.join(row)} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def main(runs, rows, page):
    """Print the tables, and put them in the page."""
    libraries = {name: make() for name, make in LIBRARIES.items()}
    of_one = (row for statistic in ONE for row in rows_of(statistic, runs, rows, libraries))
    common = ["statistic", "family", "nobounds", "answered", "95% interval holds"]
    errors = "Median errors in percent of the truth, or of 1 for shares, correlations and histograms"
    said = f"{errors}; epsilon 1, {rows:,} rows, {runs} runs. Peers have exact bounds / bounds 10 times as wide."
    first = table([*common, *libraries], of_one)
    second = table([*common, "Laplace sums"], (row for each in OF_TWO for row in rows_of(each, runs, rows, libraries)))
    heads = ["rows", "distinct: nobounds", "OpenDP", "of the top 10: nobounds", "OpenDP"]
    third = table(heads, keys(runs, libraries))
    if page:
        text = PAGE.read_text()
        before, _, rest = text.partition(MARK)
        after = rest.partition(MARK)[2]
        middle = "\n\n".join([said, first, "Two columns:", second, "Values by Zipf's law, mean errors:", third])
        PAGE.write_text(f"{before}{MARK}\n\n{middle}\n\n{MARK}{after}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--page", action="store_true", help="put the tables in the page")
    given = parser.parse_args()
    main(given.runs, given.rows, given.page)
