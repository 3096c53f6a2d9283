"""How many numbers of a summary are far off, and how often its intervals hold: docs/intervals/describe.md.

    python benchmarks/coverage/describe.py [--reps 400] [--quick] [--jobs 2] [--results FILE] [--data FOLDER ...]

A count, mean or standard deviation is far off outside three times its interval; a quantile more than 15 percentiles
off, or beyond the data by their range; so is an extreme. An interval holds unless a one-sided binomial test rejects its
level, over all columns of one shape, with p < 1e-3.
"""

import math
import random
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from runs import measured, options, rejected, written

import nobounds as nb
from nobounds.release.shares import STATISTICS

sys.path.append(str(Path(__file__).parents[1]))
from tuning.describe import OFF, RANKS, of_files, off, synthetic

SHAPES = ((7, 1000), (40, 10_000))  # columns, rows
MORE = (7, 3000)  # with which means are answered, too
EXTREMES = {"min": 0.0, "max": 1.0}
BARS = {"count": 0.95, "mean": 0.93, "std": 0.95}  # the level at which the intervals of a statistic must hold
NAMES = (
    *("normal", "lognormal(3, 1)", "60% zeros", "uniform(1000, 1001)", "ages", "normal(17, 1)", "exponential"),
    *("lognormal(11, 0.6)", "normal, 1e-6", "hours, 45% at 40"),
)


@dataclass(frozen=True)
class Cell:
    """A table of so many columns and rows."""

    columns: int
    rows: int
    relation: str


@dataclass(frozen=True)
class Seen:
    """Of all columns how many numbers were shown and far off, by statistic, and how many intervals held.

    `means` has the last for means by the shape of the column: how many columns, means shown, and intervals that held.
    `widths` has the median width of the intervals with two ends, in standard deviations of the column.
    """

    cell: Cell
    columns: int
    shown: dict[str, int]
    far: dict[str, int]
    held: dict[str, int]
    means: dict[str, list[int]]
    widths: dict[str, float]


def truths(values: Any) -> dict[str, float]:
    """The true numbers that have intervals."""
    return {"count": float(len(values)), "mean": float(values.mean()), "std": float(values.std())}


def is_far_off(name: str, summary: Any, values: Any) -> bool:
    """Whether the answer of a column with these sorted values is far off."""
    answer = float(summary.values[name])
    if name in RANKS or name in EXTREMES:
        beyond = max(answer - values[-1], values[0] - answer)
        return off(values, answer, (RANKS | EXTREMES)[name]) > OFF or bool(beyond > np.ptp(values))
    truth = truths(values)[name]
    low, high = summary.intervals[name]
    if math.isinf(low) and math.isinf(high):
        return not values[0] <= answer <= values[-1]
    return bool(answer - truth > 3 * (answer - low) or truth - answer > 3 * (high - answer))


def seen(cell: Cell, reps: int, stored: list[Any]) -> Seen:
    """Tables with as many columns in all as there are repetitions, times 7, and at least ten tables."""
    shown, far, held = Counter[str](), Counter[str](), Counter[str]()
    means: dict[str, list[int]] = {}
    widths: dict[str, list[float]] = {}
    tables = max(7 * reps // cell.columns, 10)
    for number in range(tables):
        rng = np.random.default_rng((number, cell.rows))
        whole = stored or synthetic(cell.rows, number)
        places = [(number + k) % len(whole) for k in range(cell.columns)]
        table = {f"c{k}": rng.choice(whole[p], cell.rows) if stored else whole[p] for k, p in enumerate(places)}
        described = nb.describe(table, epsilon=1, neighbors=cell.relation, rng=random.Random(number))  # type: ignore[arg-type]
        for (name, column), place in zip(table.items(), places, strict=True):
            summary, values = described.columns[name], np.sort(column[np.isfinite(column)]).astype(float)
            for statistic, answer in summary.values.items():
                if answer is None:
                    continue
                shown[statistic] += 1
                far[statistic] += is_far_off(statistic, summary, values)
                if statistic in BARS:
                    low, high = summary.intervals[statistic]
                    held[statistic] += low <= truths(values)[statistic] <= high
            shape = "stored" if stored else NAMES[place]
            mean = means.setdefault(shape, [0, 0, 0])
            answered = summary.values["mean"] is not None
            low, high = summary.intervals["mean"]
            holds = answered and low <= values.mean() <= high
            means[shape] = [mean[0] + 1, mean[1] + answered, mean[2] + bool(holds)]
            if answered and math.isfinite(high - low):
                widths.setdefault(shape, []).append((high - low) / float(values.std()))
    typical = {shape: float(np.median(each)) for shape, each in widths.items()}
    return Seen(cell, tables * cell.columns, dict(shown), dict(far), dict(held), means, typical)


def cells(quick: bool) -> Iterator[Cell]:
    """The shapes that must hold, and one with more rows."""
    for columns, rows in SHAPES if quick else (*SHAPES, MORE):
        for relation in ("add-remove", "swap"):
            yield Cell(columns, rows, relation)


def page(all_seen: list[Seen], command: str) -> list[str]:
    """The page."""
    lines = [
        "# How many numbers of a summary are far off",
        "",
        f"Written by `{command}`. Epsilon 1; columns of ten synthetic shapes. A cell has the share of the columns for "
        "which the statistic is shown, and how many of these numbers are far off: a count, mean or standard deviation "
        "outside three times its interval, a quantile or an extreme more than 15 percentiles off, or beyond the data "
        "by more than their range. At most 1% may be.",
        "",
        f"| columns, rows | relation | {' | '.join(STATISTICS)} | shown | far off |",
        "|---" * (len(STATISTICS) + 4) + "|",
    ]
    for one in all_seen:
        shares = [f"{one.shown.get(name, 0) / one.columns:.0%} ({one.far.get(name, 0)})" for name in STATISTICS]
        shown, far = sum(one.shown.values()), sum(one.far.values())
        lines.append(f"| {_name(one)} | {' | '.join(shares)} | {shown:,} | {far / shown:.2%} |")
    lines += [
        "",
        "## Do the intervals hold?",
        "",
        "The share of the intervals of numbers shown that hold, over all columns. Those of counts and standard "
        "deviations must hold in 95% of columns and those of means in 93%, by a binomial test at p < 1e-3.",
        "",
        f"| columns, rows | relation | {' | '.join(BARS)} |",
        "|---" * (len(BARS) + 2) + "|",
    ]
    for one in all_seen:
        held = [_share(one.held.get(name, 0), one.shown.get(name, 0), level) for name, level in BARS.items()]
        lines.append(f"| {_name(one)} | {' | '.join(held)} |")
    with_means = [one for one in all_seen if one.shown.get("mean", 0) >= one.columns / 20]
    if with_means:
        lines += [
            "",
            "## Means by the shape of a column",
            "",
            "How many of the columns have a mean, how many of its intervals hold, and the median width of those with "
            "two ends, in standard deviations of the column. Columns that cannot carry a mean have none, nor have "
            "those whose interval would be as wide as the clip, or would have no end. Intervals with one end count.",
            "",
            f"| shape | {' | '.join(_name(one).replace(' |', ',') for one in with_means)} |",
            "|---" * (len(with_means) + 1) + "|",
        ]
        for shape in with_means[0].means:
            parts = [(one.means[shape], one.widths.get(shape, math.nan)) for one in with_means]
            texts = [
                f"{part[1] / part[0]:.0%}, {_share(part[2], part[1], BARS['mean'])}, {width:.2f}"
                for part, width in parts
            ]
            lines.append(f"| {shape} | {' | '.join(texts)} |")
    return lines


def _name(one: Seen) -> str:
    return f"{one.cell.columns}, {one.cell.rows:,} | {one.cell.relation}"


def _share(held: int, shown: int, level: float) -> str:
    if not shown:
        return "-"
    return f"{held / shown:.1%} of {shown:,}{' (does not hold)' if rejected(held, shown, level) else ''}"


def main() -> None:
    """Measure, print and write the page."""
    parser = options(__doc__, "describe.md")
    parser.add_argument("--data", type=Path, nargs="*", default=[], help="folders of CSV files, for columns of them")
    given = parser.parse_args()
    grid = list(cells(given.quick))
    work = partial(seen, stored=of_files(given.data))
    all_seen = sorted(measured(grid, work, given, Seen), key=lambda each: grid.index(each.cell))
    written(given.out, page(all_seen, f"python benchmarks/coverage/describe.py --reps {given.reps}"))


if __name__ == "__main__":
    main()
