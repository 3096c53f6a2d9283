"""How often the interval of `rows_left_out` holds, and how far the share is off: docs/intervals/units.md.

    python benchmarks/coverage/left_out.py [--reps 400] [--quick] [--jobs 2] [--results FILE]

Each run draws the numbers of rows of all units and adds Laplace noise to the numbers of units in the cells, as a
release does. The interval must hold in 93% of runs; its estimate is within 5 points where the cells determine it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from runs import measured, options, rejected, written

from nobounds.tables.excess import Cells, share_beyond

FAMILIES: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "geometric, mean 3.3": lambda rng, n: rng.geometric(0.3, n),
    "1 + Poisson(3)": lambda rng, n: 1 + rng.poisson(3, n),
    "all 1": lambda rng, n: np.ones(n),
    "all 12": lambda rng, n: np.full(n, 12),
    "lognormal(1, 1)": lambda rng, n: np.ceil(rng.lognormal(1, 1, n)),
    "Pareto(1.5)": lambda rng, n: np.floor(1 + rng.pareto(1.5, n)),
    "Pareto(2.5)": lambda rng, n: np.floor(1 + rng.pareto(2.5, n)),
    "one half 1, one half 12": lambda rng, n: rng.choice([1, 12], n),
}


EPSILON, LEVEL, POINTS = 0.05, 0.93, 0.05


@dataclass(frozen=True)
class Cell:
    """Units with numbers of rows of a family, of which at most `most` count."""

    family: str
    units: int
    most: int


@dataclass(frozen=True)
class Seen:
    """The mean share, error and width, and in how many runs the share is within 5 points and the interval holds."""

    cell: Cell
    runs: int
    share: float
    error: float
    width: float
    near: int
    held: int


def seen(cell: Cell, reps: int) -> Seen:
    """What the noisy numbers of units say, in runs with fresh units."""
    rng, cells = np.random.default_rng(5), Cells.of(cell.most)
    each = []
    for _ in range(reps):
        rows = FAMILIES[cell.family](rng, cell.units).astype(float)
        truth = np.maximum(rows - cell.most, 0).sum() / rows.sum()
        counts, chance = cells.counts(rows), 1 - np.exp(-EPSILON)
        noise = rng.geometric(chance, len(counts)) - rng.geometric(chance, len(counts))
        each.append((truth, *share_beyond((counts + noise).tolist(), cells, 1 / EPSILON, False)))
    truth, value, low, high = np.array(each).T
    error, held = np.abs(value - truth), (low <= truth) & (truth <= high)
    middle = (float(np.mean(part)) for part in (truth, error, high - low))
    return Seen(cell, reps, *middle, int(np.sum(error <= POINTS)), int(held.sum()))


def cells(quick: bool) -> Iterator[Cell]:
    """5,000 units, and 1,000 as well."""
    for units in (5000,) if quick else (5000, 1000):
        for family in FAMILIES:
            yield from (Cell(family, units, most) for most in (1, 3, 5))


def page(all_seen: list[Seen], command: str) -> list[str]:
    """The page."""
    lines = [
        "# Is the share of rows left out right?",
        "",
        f"Written by `{command}`. `rows_left_out` at epsilon {EPSILON:g}: how far its share is off on average, in how "
        f"many runs by at most {100 * POINTS:.0f} points, and in how many its interval holds ({LEVEL:.0%} must, by a "
        "binomial test at p < 1e-3). Errors and widths are in points. [Rows of a user](../units.md) says why "
        "no private method sees the share of very heavy tails well.",
        "",
        "| rows of a unit | units | m | share left out | mean error | within 5 points | holds | mean width | |",
        "|---" * 9 + "|",
    ]
    for one in all_seen:
        wrong = "does not hold" if rejected(one.held, one.runs, LEVEL) else "holds"
        lines.append(
            f"| {one.cell.family} | {one.cell.units:,} | {one.cell.most} | {one.share:.0%} | {100 * one.error:.1f} "
            f"| {one.near / one.runs:.0%} | {one.held / one.runs:.1%} | {100 * one.width:.0f} | {wrong} |"
        )
    return lines


def main() -> None:
    """Measure, print and write the page."""
    given = options(__doc__, "units.md").parse_args()
    grid = list(cells(given.quick))
    all_seen = sorted(measured(grid, seen, given, Seen), key=lambda each: grid.index(each.cell))
    quick = " --quick" if given.quick else ""
    written(given.out, page(all_seen, f"python benchmarks/coverage/left_out.py --reps {given.reps}{quick}"))


if __name__ == "__main__":
    main()
