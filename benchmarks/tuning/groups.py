"""The common clip of grouped sums and means: how much of epsilon it gets, and how many records it may leave outside.

Synthetic families, epsilon 1, the mean absolute error over the groups of 20 releases each, over that of the best
setting; geometric means over the families. `python benchmarks/tuning/groups.py` prints the table (three minutes).
"""

import math
import random
from dataclasses import replace
from fractions import Fraction
from itertools import product
from unittest.mock import patch

import numpy as np

import nobounds as nb
from nobounds.clipping.plan import SumPlan
from nobounds.clipping.tuning import CLIP_TUNING

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


def planner(share, outside, rule=SumPlan.for_groups):
    """Plans with this part of epsilon for the clip, which may leave so many records outside for a unit of noise."""
    tuning = replace(CLIP_TUNING, one_sided=Fraction(0), two_sided=Fraction(0), least_clip=share)

    def for_groups(facts, terms, stated, centered, groups):
        plan = rule(facts, terms, stated, centered, groups, tuning)
        return replace(plan, search=replace(plan.search, outside=math.ceil(outside * (groups - 1) / plan.eps_noise)))

    return for_groups


def main():
    """Print the relative errors for each number of groups."""
    for statistic, groups, size in product(("sum", "mean"), (2, 10, 100, 1000), (100, 1000)):
        relative = {}
        for name, family in FAMILIES.items():
            rng = np.random.default_rng(7)
            x, g = family(rng, groups * size), np.repeat(np.arange(groups), size)
            truth = np.bincount(g, x) / (1 if statistic == "sum" else size)
            errors = {}
            for share, outside in product(SHARES, OUTSIDE):
                with patch.object(SumPlan, "for_groups", planner(share, outside)):
                    errors[share, outside] = error(statistic, {"x": x, "g": g}, truth, list(range(groups)))
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
