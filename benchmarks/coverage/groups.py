"""How often the intervals of sums and means by group hold: docs/intervals/groups.md.

    python benchmarks/coverage/groups.py [--reps 400] [--quick] [--jobs 2] [--results FILE]

Each run draws the rows of all groups and releases all of them at epsilon 1, under public keys. *Alike* groups are
drawn from one family; of *different* ones the scales rise evenly, so that those of the last are 4 times those of the
first. A two-sided interval must hold in 93% of cases and a one-sided one in 95%, over all groups of all runs.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from runs import measured, options, rejected, written

import nobounds as nb

EPSILON = 1.0
GROUPS, SIZE = 20, 500
TWO_SIDED, ONE_SIDED = 0.93, 0.95


def incomes(rng: np.random.Generator, n: int) -> np.ndarray:
    """Incomes, most of them rounded."""
    step = rng.choice([1.0, 100, 1000, 10_000], n, p=[0.2, 0.3, 0.3, 0.2])
    return np.rint(rng.lognormal(10.4, 0.6, n) / step) * step


FAMILIES: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "uniform": lambda rng, n: rng.uniform(0, 100, n),
    "normal(1000, 10)": lambda rng, n: rng.normal(1000, 10, n),
    "normal(0, 10)": lambda rng, n: rng.normal(0, 10, n),
    "exponential": lambda rng, n: rng.exponential(20, n),
    "lognormal(3, .8)": lambda rng, n: rng.lognormal(3, 0.8, n),
    "lognormal(10, 1)": lambda rng, n: rng.lognormal(10, 1, n),
    "Pareto(2.5)": lambda rng, n: 10 * (rng.pareto(2.5, n) + 1),
    "heaped incomes": incomes,
}


@dataclass(frozen=True)
class Cell:
    """A statistic of groups of a family."""

    statistic: str
    family: str
    different: bool


@dataclass(frozen=True)
class Seen:
    """Intervals of all groups of all runs: two-sided and one-sided ones and those that held; medians of the rest."""

    cell: Cell
    groups: int
    two: int
    two_held: int
    one: int
    one_held: int
    over_noise: float
    over_truth: float
    error: float

    @property
    def holds(self) -> bool:
        """Whether neither kind is rejected; groups of one run share a clip, so a run counts as one."""
        both = ((self.two_held, self.two, TWO_SIDED), (self.one_held, self.one, ONE_SIDED))
        return not any(rejected(held // GROUPS, many // GROUPS, level) for held, many, level in both)


def seen(cell: Cell, reps: int) -> Seen:
    """The intervals of a cell; a run has as many groups as there are, so a quarter of the repetitions do."""
    rng = np.random.default_rng(5)
    g = np.repeat(np.arange(GROUPS), SIZE)
    scales = np.repeat(4.0 ** (np.arange(GROUPS) / (GROUPS - 1)) if cell.different else np.ones(GROUPS), SIZE)
    two, one, width, part, errors = [], [], [], [], []
    runs = max(reps // 4, 1)
    for k in range(runs):
        x = FAMILIES[cell.family](rng, GROUPS * SIZE) * scales
        truth = np.bincount(g, x) / (1 if cell.statistic == "sum" else SIZE)
        by = nb.Table({"g": g, "x": x}).group_by("g", keys=list(range(GROUPS)))
        release = getattr(by, cell.statistic)("x", epsilon=EPSILON, rng=random.Random(k))
        answered = ~np.ma.getmaskarray(release.values)
        low, high = release.intervals[answered].T
        goal = truth[answered]
        errors += np.abs(np.ma.getdata(release.values)[answered] - goal).tolist()
        held, both = (low <= goal) & (goal <= high), np.isfinite(low) & np.isfinite(high)
        some = (np.isfinite(low) | np.isfinite(high)) & ~both
        two += held[both].tolist()
        one += held[some].tolist()
        part += ((high - low)[both] / np.abs(goal[both])).tolist()
        if cell.statistic == "sum":
            width += ((high - low)[both] / (2 * release.parameters["half_interval"])).tolist()
    middle = [float(np.median(each)) if each else float("nan") for each in (width, part, errors)]
    return Seen(cell, runs * GROUPS, len(two), sum(two), len(one), sum(one), *middle)


def cells(quick: bool) -> Iterator[Cell]:
    """All cells, or those of groups that differ."""
    for statistic in ("sum", "mean"):
        for family in FAMILIES:
            yield from (Cell(statistic, family, different) for different in ((True,) if quick else (False, True)))


def page(all_seen: list[Seen], command: str) -> list[str]:
    """The page."""
    wrong = sum(not one.holds for one in all_seen)
    lines = [
        "# The intervals of sums and means by group",
        "",
        f"Written by `{command}`. {GROUPS} groups of {SIZE} rows, epsilon {EPSILON:g}, public keys. *Alike* groups are "
        "drawn from one family; of *different* ones the scales rise evenly, to 4 times the first. Two-sided intervals "
        "must hold in 93% of groups and one-sided ones in 95%, by a binomial test at p < 1e-3 in which a run counts "
        f"once: its groups share a clip. {len(all_seen) - wrong} of {len(all_seen)} cells hold.",
        "",
        "| statistic | groups | data | two-sided | of these hold | one-sided hold | nothing said | width over noise | "
        "width over truth | median error | |",
        "|---" * 11 + "|",
    ]
    for one in all_seen:
        texts = [
            one.cell.statistic,
            "different" if one.cell.different else "alike",
            one.cell.family,
            f"{one.two / one.groups:.2f}",
            f"{one.two_held / one.two:.3f}" if one.two else "-",
            f"{one.one_held / one.one:.3f}" if one.one else "-",
            f"{1 - (one.two + one.one) / one.groups:.2f}",
            f"{one.over_noise:.2f}" if one.over_noise == one.over_noise else "-",
            f"{one.over_truth:.2%}" if one.over_truth == one.over_truth else "-",
            f"{one.error:.4g}",
            "holds" if one.holds else "does not hold",
        ]
        lines.append(f"| {' | '.join(texts)} |")
    return lines


def main() -> None:
    """Measure, print and write the page."""
    given = options(__doc__, "groups.md").parse_args()
    grid = list(cells(given.quick))
    all_seen = sorted(measured(grid, seen, given, Seen), key=lambda each: grid.index(each.cell))
    quick = " --quick" if given.quick else ""
    written(given.out, page(all_seen, f"python benchmarks/coverage/groups.py --reps {given.reps}{quick}"))


if __name__ == "__main__":
    main()
