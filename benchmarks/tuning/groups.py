"""The common clip of grouped sums and means: how much of epsilon it gets, and how many records it may leave outside.

Synthetic families, epsilon 1, the mean absolute error over the groups of 20 releases each, over that of the best
setting; geometric means over the families. `python benchmarks/tuning/groups.py` prints the table (three minutes).
"""

import math
import random
from fractions import Fraction
from itertools import product

import numpy as np

import nobounds as nb
from nobounds.tables import grouping as grouped

FAMILIES = {
    "uniform": lambda rng, n: rng.uniform(0, 100, n),
    "exponential": lambda rng, n: rng.exponential(1.0, n),
    "lognormal": lambda rng, n: rng.lognormal(0, 1, n),
    "pareto": lambda rng, n: rng.pareto(2.5, n) + 1,
    "shifted": lambda rng, n: rng.normal(50, 5, n),
}
SHARES = [Fraction(1, 3), Fraction(1, 6), Fraction(1, 10), Fraction(1, 20), Fraction(1, 40)]
OUTSIDE = [0, Fraction(1, 3), 1, 3]
REPETITIONS = 20


def error(statistic, data, truth, keys, repetitions=REPETITIONS):
    """The mean absolute error of a grouped statistic."""
    table = nb.Table(data)
    found = []
    for k in range(repetitions):
        release = getattr(table.group_by("g", keys=keys), statistic)("x", epsilon=1, rng=random.Random(k))
        found.append(np.abs(np.array(release.values, dtype=float) - truth).mean())
    return float(np.median(found))


def main():
    """Print the relative errors for each number of groups."""
    plain = grouped._plan
    for statistic, groups, size in product(("sum", "mean"), (2, 10, 100, 1000), (100, 1000)):
        relative = {}
        for name, family in FAMILIES.items():
            rng = np.random.default_rng(7)
            x, g = family(rng, groups * size), np.repeat(np.arange(groups), size)
            truth = np.bincount(g, x) / (1 if statistic == "sum" else size)
            errors = {}
            for share, outside in product(SHARES, OUTSIDE):

                def planned(total, ladder, centered, nullable, zcdp, number, share=share, outside=outside):
                    plan = plain(total, ladder, centered, nullable, zcdp, number)
                    part = total * share
                    noise = total - part - plan.size
                    search = grouped.replace(
                        plan.search, epsilon=part, outside=math.ceil(outside * (number - 1) / noise)
                    )
                    return grouped.replace(plan, search=search, noise=noise)

                grouped._plan = planned
                errors[share, outside] = error(statistic, {"x": x, "g": g}, truth, list(range(groups)))
            grouped._plan = plain
            errors["rule"] = error(statistic, {"x": x, "g": g}, truth, list(range(groups)))
            best = min(errors.values())
            relative[name] = {setting: found / best for setting, found in errors.items()}
        means = {s: math.exp(np.mean([math.log(relative[f][s]) for f in FAMILIES])) for s in relative["uniform"]}
        ranked = sorted((m, s) for s, m in means.items() if s != "rule")
        shown = ", ".join(f"{float(s[0]):.3f}/{float(s[1]):.2f}: {m:.2f}" for m, s in ranked[:4])
        print(
            f"{statistic:5} {groups:5} groups of {size:5}: rule {means['rule']:.2f}; best share/outside {shown}",
            flush=True,
        )


if __name__ == "__main__":
    main()
