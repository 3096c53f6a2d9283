"""Quantiles of columns that no constant was chosen on: nobounds beside the mapped rival (docs/accuracy/offsets.md).

    python benchmarks/accuracy/held_out.py FOLDER --n 100 1000 --reps 100

FOLDER has CSV files with a header, which the project carries no copy of. Each numeric column is sampled without
replacement, and missing records are left out. Errors are mean absolute errors over the quantile of the sample, each
capped at ten times its range, and the rival's are those of its exact law. A column on which both err by less than a
thousandth of its interquartile range counts as level.
"""

import argparse
import csv
import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from grid import RELATIONS

import nobounds as nb
from nobounds.arrays import Floats
from nobounds.research.baselines.mapped.exponential import mapped_law
from nobounds.research.bench.cells import CAP
from nobounds.research.bench.results import geometric

LEVEL = 1e-3  # of the interquartile range


def main() -> None:
    """Print each column, and the geometric means."""
    options = parsed()
    ratios: dict[str, list[float]] = {}
    print("| file | column | q | n | relation | nobounds | mapped | ratio |")
    print("|---|---|---|---|---|---|---|---|")
    for file, name, values in columns(options.folder):
        for relation in RELATIONS:
            for n in options.n:
                for q in options.q:
                    ours, rival, unit = errors(values, q, n, relation, options.reps)
                    ratio = (max(ours, LEVEL * unit) / max(rival, LEVEL * unit)) if unit else 1.0
                    place = f"{file} | {name} | {q:g} | {n:,} | {relation}"
                    print(f"| {place} | {ours:.4g} | {rival:.4g} | {ratio:.3g} |", flush=True)
                    ratios.setdefault(f"n = {n:,}, {relation}", []).append(ratio)
    for where, some in ratios.items():
        print(f"{where}: {geometric(some):.3g} in the geometric mean of {len(some)}, {max(some):.3g} at most")


def columns(folder: Path) -> Iterator[tuple[str, str, Floats]]:
    """The numeric columns of all files, without their missing records."""
    for path in sorted(folder.glob("*.csv")):
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file))
        for name in rows[0]:
            try:
                values = np.array([float(row[name]) for row in rows if row[name] not in ("", "NA")])
            except ValueError:
                continue
            yield path.stem, name, values[np.isfinite(values)]


def errors(values: Floats, q: float, n: int, relation: str, reps: int) -> tuple[float, float, float]:
    """The mean errors of nobounds and of the rival, and the interquartile range of the column."""
    ours, rival = [], []
    for repetition in range(reps):
        data = np.random.default_rng([repetition, n]).choice(values, n, replace=False)
        truth, cap = float(np.quantile(data, q)), CAP * float(np.ptp(data))
        terms = {"epsilon": "1", "neighbors": relation}
        answer = nb.quantile(data, q, **terms, marks=False, rng=random.Random(f"{q}/{n}/{repetition}"))
        ours.append(float(capped(np.array(float(answer.value)), truth, cap)))
        if repetition < max(reps // 4, 1):  # laws vary little
            law = mapped_law(data, [str(q)], **terms)
            rival.append(float(law.expectation(partial(capped, truth=truth, cap=cap))[0]))
    return float(np.mean(ours)), float(np.mean(rival)), float(np.diff(np.quantile(values, [0.25, 0.75]))[0])


def capped(answers: Floats, truth: float, cap: float) -> Floats:
    """The absolute errors, up to the largest that counts."""
    return np.minimum(np.abs(answers - truth), cap)


def parsed() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description="quantiles of held-out columns beside the mapped rival")
    parser.add_argument("folder", type=Path, help="of CSV files")
    parser.add_argument("--q", nargs="+", type=float, default=[0.25, 0.5, 0.75])
    parser.add_argument("--n", nargs="+", type=int, default=[100, 1000])
    parser.add_argument("--reps", type=int, default=100)
    return parser.parse_args()


if __name__ == "__main__":
    main()
