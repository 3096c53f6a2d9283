"""What a summary answers, and how well: shares of columns and mean errors, for tables of several shapes.

`python benchmarks/tuning/describe.py` prints the tables of docs/describe.md. Errors of quantiles and
extremes are in percentiles of the column, those of the mean and of the standard deviation in percent of the standard
deviation, and those of the count in percent. With `--data` columns are taken from CSV files.
"""

import argparse
import csv
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

import nobounds as nb

SHAPES = ((1, 200, 200), (1, 1000, 200), (1, 100_000, 20), (7, 1000, 60), (40, 10_000, 10))  # columns, rows, tables
RANKS = {"5%": 0.05, "25%": 0.25, "50%": 0.5, "75%": 0.75, "95%": 0.95}
OFF = 15  # percentiles, or percent, that an answer is not to be off by
SHOWN = ("count", "50%", "25%", "mean", "max", "std", "95%")


def synthetic(rows: int, seed: int) -> list[Any]:
    """Columns of ten shapes."""
    rng = np.random.default_rng(seed)
    hours, part = np.round(rng.normal(40, 12, rows)), rng.random(rows)
    return [
        rng.normal(0, 1, rows),
        rng.lognormal(3, 1, rows),
        np.where(rng.random(rows) < 0.6, 0.0, rng.lognormal(2, 1, rows)),
        rng.uniform(1000, 1001, rows),
        rng.integers(18, 90, rows),
        rng.normal(17, 1, rows),
        rng.exponential(5, rows),
        rng.lognormal(11, 0.6, rows),
        rng.normal(0, 1e-6, rows),
        np.where(part < 0.45, 40.0, hours),
    ]


def of_files(folders: Iterable[Path]) -> list[Any]:
    """The numeric columns of all CSV files in some folders."""
    columns = []
    for path in sorted(path for folder in folders for path in folder.glob("*.csv")):
        with path.open(newline="") as file:
            lines = list(csv.DictReader(file))
        for name in lines[0]:
            try:
                columns.append(np.array([float(line[name] or "nan") for line in lines]))
            except ValueError:
                continue
    return [column for column in columns if np.nanstd(column) > 0]


def off(values: Any, answer: float, q: float) -> float:
    """How many percentiles an answer is off: 0 if records equal to it lie on both sides of the rank."""
    low, high = (100 * np.searchsorted(values, answer, side) / len(values) for side in ("left", "right"))
    return float(max(low - 100 * q, 100 * q - high, 0.0))


def errors(column: Any, summary: Any) -> dict[str, float | None]:
    """The error of each statistic, None where it is not answered."""
    values = np.sort(column[np.isfinite(column)]).astype(float)
    ranks = {**RANKS, "min": 0.0, "max": 1.0}
    found = {name: None if answer is None else float(answer) for name, answer in summary.values.items()}
    wrong: dict[str, float | None] = {}
    for name, q in ranks.items():
        answer = found[name]
        wrong[name] = None if answer is None else off(values, answer, q)
    spread, right = float(values.std()), {"mean": float(values.mean()), "std": float(values.std())}
    for name, truth in right.items():
        answer = found[name]
        wrong[name] = None if answer is None else 100 * abs(answer - truth) / spread
    wrong["count"] = 100 * abs((found["count"] or 0.0) / len(values) - 1)
    return wrong


def measured(columns: int, rows: int, tables: int, neighbors: str, stored: list[Any]) -> list[dict[str, float | None]]:
    """The errors of all columns of some tables."""
    found = []
    for number in range(tables):
        rng = np.random.default_rng((number, rows))
        whole = stored or synthetic(rows, number)
        order = [(number + k) % len(whole) for k in range(columns)]
        chosen = [rng.choice(whole[k], rows) if stored else whole[k] for k in order]
        table = {f"c{k}": column for k, column in enumerate(chosen)}
        described = nb.describe(table, epsilon=1, neighbors=neighbors, rng=random.Random(number))  # type: ignore[arg-type]
        found += [errors(column, described.columns[name]) for name, column in table.items()]
    return found


def cell(name: str, found: list[dict[str, float | None]]) -> str:
    """The share of columns with an answer, its mean error, and the share of the answers that are far off."""
    answers = np.array([each[name] for each in found if each[name] is not None], dtype=float)
    if not len(answers):
        return "-"
    wrong = np.mean(answers > OFF)
    return f"{len(answers) / len(found):.0%}: {np.mean(np.minimum(answers, 1000)):.2g} ({wrong:.1%} off)"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, nargs="*", default=[])
    stored = of_files(parser.parse_args().data)
    print("| columns, rows | relation | " + " | ".join(SHOWN) + " |")
    print("|---" * (len(SHOWN) + 2) + "|")
    for columns, rows, tables in SHAPES:
        for neighbors in ("add-remove", "swap"):
            found = measured(columns, rows, tables, neighbors, stored)
            cells = " | ".join(cell(name, found) for name in SHOWN)
            print(f"| {columns}, {rows:,} | {neighbors} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
