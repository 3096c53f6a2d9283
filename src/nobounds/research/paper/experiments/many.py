"""Beyond the paper: m quantiles for one epsilon. The mean rank error of the m answers, epsilon 1, 1000 records.

Rank errors are distances from q n to the ranks of an answer. The bounded methods get the ranges of Figure 3 and data
with their ties broken; all answers are rounded to the resolution. EMQ spends epsilon / m on each quantile.
"""

from typing import Any

import numpy as np

import nobounds as nb
from nobounds.arrays import Floats
from nobounds.exact import rational
from nobounds.research.baselines import emq_law, joint_quantiles, recursive_quantiles
from nobounds.research.paper.datasets import ROWS, dataset
from nobounds.research.paper.work import Result, Task

COUNTS = (1, 3, 5, 9, 19, 39)
SETS = ("normal", "ratings", "pages", "ages")
METHODS = ("EMQ", "JointExp", "recursive EMQ", "nobounds, add-remove", "nobounds, swap")


def rank_errors(data: Floats, answers: Floats, qs: Floats) -> Floats:
    """The distance of q n from the ranks of each answer."""
    ordered = np.sort(data)
    low, high = (np.searchsorted(ordered, answers, side=side) for side in ("left", "right"))
    goal = qs * len(data)
    return np.asarray(np.maximum(np.maximum(low - goal, goal - high), 0.0))


def errors(rng: np.random.Generator, name: str, count: int, samples: int) -> Result:
    """Mean rank errors by method, one per sample."""
    data, qs = dataset(name), np.arange(1, count + 1) / (count + 1)
    ranks = [rational(f"{k}/{count + 1}", "q") for k in range(1, count + 1)]
    by_method: dict[str, list[float]] = {method: [] for method in METHODS}
    for _ in range(samples):
        records, perturbed = data.sample(rng, ROWS)
        bounds: dict[str, Any] = {"lower": data.lower, "upper": data.upper}
        answers = (
            emq_law(perturbed, ranks, epsilon=rational(f"1/{count}", "epsilon"), **bounds).draw(rng)[:, 0],
            joint_quantiles(perturbed, ranks, epsilon=1, rng=rng, **bounds).value,
            recursive_quantiles(perturbed, ranks, epsilon=1, rng=rng, **bounds).value,
            nb.quantiles(records, ranks, epsilon=1, resolution=data.resolution, marks=False).value,
            nb.quantiles(records, ranks, epsilon=1, resolution=data.resolution, neighbors="swap", marks=False).value,
        )
        for method, answer in zip(METHODS, answers, strict=True):
            values = np.asarray(answer, dtype=float).reshape(-1)
            step = float(data.resolution) if data.resolution else 0.0
            rounded = np.rint(values / step) * step if step else values
            by_method[method].append(float(rank_errors(np.round(records, 9), np.round(rounded, 9), qs).mean()))
    return by_method


def tasks(quick: bool) -> list[Task]:
    """One task for each data set and number of quantiles."""
    counts, samples = (COUNTS[:4], 5) if quick else (COUNTS, 100)
    return [Task("many", f"{name} {m}", errors, (name, m, samples)) for name in SETS for m in counts]
