"""Of the numbers that a summary shows, how many are far off: docs/intervals/describe.md.

A count, mean or standard deviation is far off outside three times its interval, or with an infinite interval outside
the data; a quantile more than 15 percentiles off, or beyond the data by their range; so is an extreme.

    python benchmarks/coverage/describe.py --tables 60 --out docs/intervals/describe.md
"""

import argparse
import math
import random
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import nobounds as nb
from nobounds.release.shares import STATISTICS

sys.path.insert(0, str(Path(__file__).parents[1] / "tuning"))
from describe import OFF, RANKS, of_files, off, synthetic

SHAPES = ((7, 1000), (40, 10_000))  # columns, rows
EXTREMES = {"min": 0.0, "max": 1.0}


def is_far_off(name: str, summary: Any, column: Any) -> bool:
    """Whether the answer of a column is far off."""
    values = np.sort(column[np.isfinite(column)]).astype(float)
    answer = float(summary.values[name])
    if name in RANKS or name in EXTREMES:
        beyond = max(answer - values[-1], values[0] - answer)
        return off(values, answer, (RANKS | EXTREMES)[name]) > OFF or bool(beyond > np.ptp(values))
    truth = {"count": float(len(values)), "mean": float(values.mean()), "std": float(values.std())}[name]
    low, high = summary.intervals[name]
    if math.isinf(low) and math.isinf(high):
        return not values[0] <= answer <= values[-1]
    return bool(answer - truth > 3 * (answer - low) or truth - answer > 3 * (high - answer))


def one_table(number: int, columns: int, rows: int, neighbors: str, stored: list[Any]) -> tuple[Counter[str], ...]:
    """How many answers of a table were shown, and far off, by statistic."""
    rng = np.random.default_rng((number, rows))
    whole = stored or synthetic(rows, number)
    chosen = [whole[(number + k) % len(whole)] for k in range(columns)]
    table = {f"c{k}": rng.choice(column, rows) if stored else column for k, column in enumerate(chosen)}
    described = nb.describe(table, epsilon=1, neighbors=neighbors, rng=random.Random(number))  # type: ignore[arg-type]
    shown, wrong = Counter[str](), Counter[str]()
    for name, column in table.items():
        summary = described.columns[name]
        for statistic, answer in summary.values.items():
            if answer is not None:
                shown[statistic] += 1
                wrong[statistic] += is_far_off(statistic, summary, column)
    return shown, wrong


def measured(columns: int, rows: int, neighbors: str, options: argparse.Namespace, stored: list[Any]) -> str:
    """A line of the table."""
    work = partial(one_table, columns=columns, rows=rows, neighbors=neighbors, stored=stored)
    shown, wrong = Counter[str](), Counter[str]()
    with ProcessPoolExecutor(options.jobs) as pool:
        for each, far in pool.map(work, range(max(options.tables * 7 // columns, 4))):
            shown, wrong = shown + each, wrong + far
    asked = shown["count"]
    cells = [f"{shown[name] / asked:.0%} ({wrong[name]})" for name in STATISTICS]
    share = sum(wrong.values()) / sum(shown.values())
    return f"| {columns}, {rows:,} | {neighbors} | {' | '.join(cells)} | {sum(shown.values()):,} | {share:.2%} |"


def main() -> None:
    """Print the table, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=60, help="of 7 columns; of 40 fewer")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--data", type=Path, nargs="*", default=[], help="folders of CSV files, for columns of them")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    stored = of_files(options.data)
    names = STATISTICS
    lines = [f"| columns, rows | relation | {' | '.join(names)} | shown | far off |", "|---" * (len(names) + 4) + "|"]
    for columns, rows in SHAPES:
        for neighbors in ("add-remove", "swap"):
            lines.append(measured(columns, rows, neighbors, options, stored))
            print(lines[-1], flush=True)
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(PAGE + "\n".join(lines) + "\n")


PAGE = """# How many numbers of a summary are far off

Made by `make intervals`. Epsilon 1; columns of ten synthetic shapes. A cell has the share of the columns for which the
statistic is shown, and how many of these numbers are far off: a count, mean or standard deviation outside three times
its interval, a quantile more than 15 percentiles off, or a number beyond the data by more than their range.

"""


if __name__ == "__main__":
    main()
