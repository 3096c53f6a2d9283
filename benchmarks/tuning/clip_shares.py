"""Shares of epsilon around a clip, with the octaves that move it: errors of sums on families that no bar is about.

    python benchmarks/tuning/clip_shares.py [--reps 100]    # five minutes; prints a table of docs/clipping.md

Clips are drawn by the released program, and the expected error of the noise is added exactly. The constants were chosen
on these same data sets.
"""

import argparse
import math
import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from clipping_errors import Clipping, oracle

from nobounds.accounting.loss import Neighbors
from nobounds.accounting.terms import Terms
from nobounds.clipping.plan import SumPlan
from nobounds.clipping.tuning import CLIP_TUNING, ClipTuning
from nobounds.engines.memory.arrays import column
from nobounds.ladders.stated import Stated
from nobounds.noise.source import random_source
from nobounds.programs.program import Draw

FAMILIES: dict[str, Any] = {
    "half normal": lambda rng, n: np.abs(rng.normal(0, 30, n)),
    "Weibull(.7)": lambda rng, n: 20 * rng.weibull(0.7, n),
    "gamma(2)": lambda rng, n: rng.gamma(2, 10, n),
    "beta(2, 5)": lambda rng, n: 300 * rng.beta(2, 5, n),
    "lognormal(4, .5)": lambda rng, n: rng.lognormal(4, 0.5, n),
    "lognormal(2, 1.1)": lambda rng, n: rng.lognormal(2, 1.1, n),
    "Lomax(3)": lambda rng, n: 50 * rng.pareto(3, n),
    "triangular": lambda rng, n: rng.triangular(0, 10, 90, n),
    "Poisson(6)": lambda rng, n: rng.poisson(6, n).astype(float),
    "two normals": lambda rng, n: np.where(rng.random(n) < 0.8, rng.normal(20, 3, n), rng.normal(60, 8, n)),
}
SETTINGS: dict[str, dict[str, Any]] = {
    "chosen": {},
    "walks .05": {"walks": Fraction(1, 20)},
    "walks .15": {"walks": Fraction(3, 20)},
    "octaves an eighth": {"tail": Fraction(1, 8), "tail_swap": Fraction(1, 8)},
    "octaves a quarter": {"tail": Fraction(1, 4), "tail_swap": Fraction(1, 4)},
    "not widened": {"widened": 0},
    "widened by three eighths": {"widened": 3},
}


def error(data: Any, neighbors: Neighbors, tuning: ClipTuning, seed: str) -> float:
    """The expected error of a sum at epsilon 1 for a clip that is drawn."""
    records = column(data)
    plan = SumPlan.of(records.public(neighbors == "swap"), Terms.of(1, None, neighbors), Stated(), False, tuning)
    settled = Draw(random_source(random.Random(seed))).run(plan.program(records.chunks))
    ends = [np.array([float(end)]) for end in (settled.clip.low, settled.clip.high)]
    span = ends[1] - ends[0] if neighbors == "swap" else np.maximum(*map(np.abs, ends))
    law = Clipping(np.sort(data)).mixture(np.ones(1), *ends, span, float(settled.plan.eps_noise))
    return law.mean


def score(neighbors: Neighbors, n: int, tuning: ClipTuning, reps: int) -> float:
    """The geometric mean over the families of the error over that of the oracle."""
    logs = []
    for name, draw in FAMILIES.items():
        samples = [draw(np.random.default_rng([k, n]), n) for k in range(reps)]
        errors = [error(data, neighbors, tuning, f"{name}{k}") for k, data in enumerate(samples)]
        best = [oracle(np.sort(np.maximum(data, 1e-9)), 1.0) for data in samples[: max(reps // 4, 1)]]
        logs.append(math.log(np.mean(errors) / np.mean(best)))
    return math.exp(float(np.mean(logs)))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reps", type=int, default=100, help="data sets of each family")
    reps = parser.parse_args().reps
    print("| setting | add-remove, n = 1000 | add-remove, n = 10^4 | swap, n = 1000 | swap, n = 10^4 |")
    print("|---|---|---|---|---|")
    places: list[tuple[Neighbors, int]] = [("add-remove", 1000), ("add-remove", 10_000)]
    places += [("swap", n) for _, n in places]
    for name, fields in SETTINGS.items():
        tuning = replace(CLIP_TUNING, **fields)
        cells = [f"{score(neighbors, n, tuning, reps):.2f}" for neighbors, n in places]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
