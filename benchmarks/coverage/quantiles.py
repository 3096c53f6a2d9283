"""How often the intervals of quantiles hold, and how wide they are: `python benchmarks/coverage/quantiles.py --help`.

Each cell is a family, a number of rows, an epsilon and a quantile. In each run a sample is drawn and released. The
interval is for the quantile of the family, or for that of the sample. A cell does not hold if that many misses have a
probability below 1e-3 under the claimed level, by a one-sided binomial test. Widths are over those of the
interval between order statistics, which is not private. A cell of which the first runs are all unanswered gets no more:
its rows are too few for that epsilon.
"""

import argparse
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from statistics import NormalDist
from typing import Any
from zlib import crc32

import numpy as np
from runs import UNLIKELY, measured, options, rejected, written
from scipy.stats import binom

import nobounds as nb

CALIBRATED, GUARANTEED = 0.93, 0.95
HOPELESS = 40  # unanswered runs, after which a cell gets no more
WIDEST = {0.5: (1000, 1.15), 0.9: (10_000, 1.15), 0.99: (10_000, 1.5)}  # by q: from which n epsilon on, and how wide
Floats = np.ndarray[Any, np.dtype[np.float64]]
z = NormalDist().inv_cdf


@dataclass(frozen=True, slots=True)
class Family:
    """How to draw rows, and the true quantile."""

    draw: Callable[[np.random.Generator, int], Floats]
    quantile: Callable[[float], float]


def _salaries(rng: np.random.Generator, n: int) -> Floats:
    step = rng.choice([10_000.0, 1_000.0, 100.0], n, p=[0.5, 0.3, 0.2])
    return np.maximum(np.rint(rng.lognormal(10.8, 0.5, n) / step), 1) * step


def _zeros(q: float) -> float:
    return 0.0 if q <= 0.6 else math.exp(3 + 0.8 * z((q - 0.6) / 0.4))


def _drawn(draw: Callable[[np.random.Generator, int], Floats]) -> Callable[[float], float]:
    """Quantiles of so many draws that heaps are hit exactly."""
    return cache(lambda q: float(np.quantile(draw(np.random.default_rng(1), 4_000_000), q, method="inverted_cdf")))


FAMILIES = {
    "normal": Family(lambda rng, n: rng.normal(1.5, 5, n), lambda q: 1.5 + 5 * z(q)),
    "uniform": Family(lambda rng, n: rng.uniform(-4, 6, n), lambda q: -4 + 10 * q),
    "lognormal": Family(lambda rng, n: rng.lognormal(3, 0.8, n), lambda q: math.exp(3 + 0.8 * z(q))),
    "pareto": Family(lambda rng, n: 10 * (rng.pareto(2, n) + 1), lambda q: 10 * (1 - q) ** -0.5),
    "zeros": Family(lambda rng, n: np.where(rng.random(n) < 0.6, 0.0, rng.lognormal(3, 0.8, n)), _zeros),
    "rounded": Family(lambda rng, n: np.rint(rng.normal(0, 5, n)), lambda q: float(np.rint(5 * z(q)))),
    "ages": Family(
        lambda rng, n: np.rint(np.clip(rng.normal(38.6, 13.6, n), 17, 90)),
        lambda q: float(np.rint(np.clip(38.6 + 13.6 * z(q), 17, 90))),
    ),
    "salaries": Family(_salaries, _drawn(_salaries)),
}
WHOLE = {"rounded", "ages"}  # given as integers; the others as floats without a resolution
SIZES = (1000, 10_000, 200, 100_000)  # the most telling first
EPSILONS = (1, 0.1, 2)
QS = (0.5, 0.9, 0.99)


@dataclass(frozen=True, slots=True)
class Cell:
    """One setting."""

    family: str
    n: int
    epsilon: float
    q: float
    of: str
    guarantee: bool
    neighbors: str = "add-remove"


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen in a cell: the runs that were answered, and those that held; how many had an infinite end."""

    cell: Cell
    runs: int
    answered: int
    held: int
    infinite: int
    width: float  # over that of the interval which is not private; NaN where that is 0

    @property
    def holds(self) -> bool:
        """Whether the interval covers as often as it claims."""
        return not rejected(self.held, self.answered, GUARANTEED if self.cell.guarantee else CALIBRATED)

    @property
    def wide(self) -> bool:
        """Whether a calibrated interval of the population is wider than it should be for its rows and epsilon."""
        least, most = WIDEST[self.cell.q]
        calibrated = self.cell.of == "population" and not self.cell.guarantee
        return calibrated and self.cell.n * self.cell.epsilon >= least and self.width > most


def seen(cell: Cell, reps: int) -> Seen:
    """The runs of a cell."""
    family, seed = FAMILIES[cell.family], crc32(repr((cell.family, cell.n, cell.epsilon, cell.q)).encode())
    rng, noise, truth = np.random.default_rng(seed), random.Random(seed), family.quantile(cell.q)
    first, last = int(binom.ppf(0.025, cell.n, cell.q)), int(binom.ppf(0.975, cell.n, cell.q)) + 1
    runs = answered = held = infinite = 0
    widths, others = [], []
    while runs < reps and (answered or runs < HOPELESS):
        runs += 1
        ordered = np.sort(family.draw(rng, cell.n))  # a release does not depend on the order, and sorts in less time
        data = ordered.astype(np.int64) if cell.family in WHOLE else ordered
        asked = {"epsilon": cell.epsilon, "neighbors": cell.neighbors, "of": cell.of, "guarantee": cell.guarantee}
        release = nb.quantile(data, cell.q, interval=0.95, rng=noise, **asked)
        if release.value is None:
            continue
        low, high = release.intervals[0]
        target = truth if cell.of == "population" else ordered[math.ceil(cell.q * cell.n) - 1]
        answered, held = answered + 1, held + bool(low <= target <= high)
        if math.isinf(low) or math.isinf(high):
            infinite += 1
        else:
            widths.append(high - low)
            others.append(ordered[min(last, cell.n - 1)] - ordered[max(first - 1, 0)])
    ratio = float(np.mean(widths) / np.mean(others)) if widths and np.mean(others) > 0 else math.nan
    return Seen(cell, runs, answered, held, infinite, ratio)


def cells(given: argparse.Namespace) -> Iterator[Cell]:
    """The grid, or parts of it; a quick one leaves out the largest data and most guaranteed intervals."""
    sizes, epsilons = given.n or (SIZES[:3] if given.quick else SIZES), given.epsilon or EPSILONS
    for n, epsilon, neighbors, q, family in product(sizes, epsilons, given.neighbors, QS, FAMILIES):
        yield Cell(family, n, epsilon, q, "population", False, neighbors)
        if given.of == "both":
            yield Cell(family, n, epsilon, q, "sample", False, neighbors)
            if not given.quick or (family in ("normal", "salaries") and q == 0.5):
                yield Cell(family, n, epsilon, q, "population", True, neighbors)


def page(all_seen: list[Seen], command: str) -> list[str]:
    """The page of the documentation."""
    lines = [
        "# Do the intervals of quantiles hold?",
        "",
        f"Written by `{command}`. A cell is a family, a number of rows, an epsilon and a quantile. *Held* is the",
        "lowest share of answered runs in which the interval held, over eight families: four smooth, four with ties.",
        f"A calibrated cell *does not hold* if that few have a probability below {UNLIKELY:g} at {CALIBRATED:.0%},",
        f"a guaranteed one at {GUARANTEED:.0%}. *Width* is the largest and the median over the families, over that of",
        "the interval between order statistics, which is not private. Runs that are not answered, or with an infinite",
        f"end, have too few rows at that epsilon. A cell of which the first {HOPELESS} runs are not answered gets no",
        f"more; *held* leaves out cells with fewer than {HOPELESS} answered runs, the test does not.",
        "",
    ]
    kinds = {
        "Of the population, calibrated": ("population", False),
        "Of the sample, calibrated (no width: without noise it would be 0)": ("sample", False),
        "Of the population, guaranteed": ("population", True),
    }
    for title, (of, guarantee) in kinds.items():
        mine = [each for each in all_seen if (each.cell.of, each.cell.guarantee) == (of, guarantee)]
        if not mine:
            continue
        lines += [f"## {title}", ""]
        lines += [
            "| neighbors | rows | epsilon | q | held | width | not answered | infinite end | do not hold, or too wide |"
        ]
        lines += ["|---|---|---|---|---|---|---|---|---|"]
        for setting in sorted({_setting(each.cell) for each in mine}):
            lines.append(_row(setting, [each for each in mine if _setting(each.cell) == setting], of))
        bad, wide = sum(not each.holds for each in mine), sum(each.wide for each in mine)
        limits = ", ".join(f"{most} at q = {q} from {least:,}" for q, (least, most) in WIDEST.items())
        lines += ["", f"{len(mine)} cells, of which {bad} do not hold."]
        if (of, guarantee) == ("population", False):
            lines += [f"{wide} are too wide: the limits are {limits} rows times epsilon on."]
        lines += [""]
    return lines


def _setting(cell: Cell) -> tuple[str, int, float, float]:
    return cell.neighbors, cell.n, cell.epsilon, cell.q


def _row(setting: tuple[str, int, float, float], row: list[Seen], of: str) -> str:
    neighbors, n, epsilon, q = setting
    runs, answered = sum(each.runs for each in row), sum(each.answered for each in row)
    shares = [each.held / each.answered for each in row if each.answered >= HOPELESS]
    widths = [each.width for each in row if not math.isnan(each.width)]
    bad = [each.cell.family for each in row if not each.holds]
    bad += [f"{each.cell.family} ({each.width:.2f})" for each in row if each.wide]
    cells = (
        neighbors,
        f"{n:,}",
        f"{epsilon:g}",
        f"{q:g}",
        f"{min(shares):.3f}" if shares else "-",
        f"{_short(max(widths))} ({_short(float(np.median(widths)))})" if widths and of == "population" else "-",
        f"{1 - answered / runs:.0%}",
        f"{sum(each.infinite for each in row) / max(answered, 1):.0%}",
        ", ".join(bad) or "-",
    )
    return f"| {' | '.join(cells)} |"


def _short(width: float) -> str:
    return f"{width:.2f}" if width < 100 else f"{width:.0e}"


def main() -> None:
    """Run the cells, print them, and write the page."""
    parser = options(__doc__, "quantiles.md")
    parser.add_argument("--n", type=int, nargs="+", help="numbers of rows")
    parser.add_argument("--epsilon", type=float, nargs="+")
    parser.add_argument("--neighbors", nargs="+", choices=("add-remove", "swap"), default=["add-remove", "swap"])
    parser.add_argument("--of", choices=("population", "both"), default="both")
    given = parser.parse_args()
    all_seen = []
    for each in measured(list(cells(given)), seen, given, Seen):
        all_seen.append(each)
        if not each.holds or each.wide:
            print("does not hold:" if not each.holds else "wide:", each, flush=True)
    parts = {"--n": given.n, "--epsilon": given.epsilon, "--neighbors": given.neighbors, "--of": [given.of]}
    some = " ".join(f"{name} {' '.join(map(str, values))}" for name, values in parts.items() if values)
    quick = " --quick" if given.quick else ""
    written(given.out, page(all_seen, f"python benchmarks/coverage/quantiles.py --reps {given.reps}{quick} {some}"))


if __name__ == "__main__":
    main()
