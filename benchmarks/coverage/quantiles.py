"""How often the intervals of quantiles hold, and how wide they are: `python benchmarks/coverage/quantiles.py --help`.

Each cell is a family, a number of rows, an epsilon and a quantile. In each run a sample is drawn and released. The
interval is for the quantile of the family, or for that of the sample. A cell does not hold if that many misses have a
probability below 1e-3 under the claimed level, by a one-sided binomial test. Widths are over those of the
interval between order statistics, which is not private.
"""

import argparse
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from multiprocessing import Pool
from pathlib import Path
from statistics import NormalDist
from typing import Any
from zlib import crc32

import numpy as np
from scipy.stats import binom

import nobounds as nb

PAGE = Path(__file__).parents[2] / "docs" / "intervals" / "quantiles.md"
CALIBRATED, GUARANTEED = 0.93, 0.95
UNLIKELY = 1e-3
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
SIZES = (200, 1000, 10_000, 100_000)
EPSILONS = (0.1, 1, 2)
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


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen in a cell: the runs that were answered, and those that held; how many had an infinite end."""

    cell: Cell
    reps: int
    answered: int
    held: int
    infinite: int
    width: float  # over that of the interval which is not private; NaN where that is 0

    @property
    def holds(self) -> bool:
        level = GUARANTEED if self.cell.guarantee else CALIBRATED
        return bool(binom.cdf(self.held, self.answered, level) >= UNLIKELY) if self.answered else True


def seen(task: tuple[Cell, int]) -> Seen:
    """The runs of a cell."""
    cell, reps = task
    family, seed = FAMILIES[cell.family], crc32(repr((cell.family, cell.n, cell.epsilon, cell.q)).encode())
    rng, noise, truth = np.random.default_rng(seed), random.Random(seed), family.quantile(cell.q)
    first, last = int(binom.ppf(0.025, cell.n, cell.q)), int(binom.ppf(0.975, cell.n, cell.q)) + 1
    answered = held = infinite = 0
    widths, others = [], []
    for _ in range(reps):
        rows = family.draw(rng, cell.n)
        data = rows.astype(np.int64) if cell.family in WHOLE else rows
        release = nb.quantile(
            data, cell.q, epsilon=cell.epsilon, interval=0.95, of=cell.of, guarantee=cell.guarantee, rng=noise
        )
        if release.value is None:
            continue
        low, high = release.intervals[0]
        ordered = np.sort(rows)
        target = truth if cell.of == "population" else ordered[math.ceil(cell.q * cell.n) - 1]
        answered, held = answered + 1, held + bool(low <= target <= high)
        if math.isinf(low) or math.isinf(high):
            infinite += 1
        else:
            widths.append(high - low)
            others.append(ordered[min(last, cell.n - 1)] - ordered[max(first - 1, 0)])
    ratio = float(np.mean(widths) / np.mean(others)) if widths and np.mean(others) > 0 else math.nan
    return Seen(cell, reps, answered, held, infinite, ratio)


def cells(quick: bool) -> Iterator[Cell]:
    """The grid; a quick one leaves out the largest data and the guaranteed intervals of most families."""
    for family in FAMILIES:
        for n in SIZES[:3] if quick else SIZES:
            for epsilon in EPSILONS:
                for q in QS:
                    for of in ("population", "sample"):
                        yield Cell(family, n, epsilon, q, of, False)
                    if not quick or (family in ("normal", "salaries") and q == 0.5):
                        yield Cell(family, n, epsilon, q, "population", True)


def page(all_seen: list[Seen], command: str) -> str:
    """The page of the documentation."""
    lines = [
        "# Do the intervals of quantiles hold?",
        "",
        f"Written by `{command}`. A cell is a family, a number of rows, an epsilon and a quantile. *Held* is the",
        "lowest share of answered runs in which the interval held, over eight families: four smooth, four with ties.",
        f"A calibrated cell *does not hold* if so few have a probability below {UNLIKELY:g} at {CALIBRATED:.0%}, ",
        f"a guaranteed one at {GUARANTEED:.0%}. *Width* is the largest and the median over the families, over that of",
        "the interval between order statistics, which is not private. Runs that are not answered, or with an infinite",
        "end, have too few rows at that epsilon.",
        "",
    ]
    kinds = {
        "Of the population, calibrated": ("population", False),
        "Of the sample, calibrated (no width: without noise it would be 0)": ("sample", False),
        "Of the population, guaranteed": ("population", True),
    }
    for title, (of, guarantee) in kinds.items():
        mine = [each for each in all_seen if (each.cell.of, each.cell.guarantee) == (of, guarantee)]
        lines += [f"## {title}", ""]
        lines += ["| rows | epsilon | q | held | width | not answered | infinite end | cells that do not hold |"]
        lines += ["|---|---|---|---|---|---|---|---|"]
        for n, epsilon, q in sorted({(each.cell.n, each.cell.epsilon, each.cell.q) for each in mine}):
            row = [each for each in mine if (each.cell.n, each.cell.epsilon, each.cell.q) == (n, epsilon, q)]
            lines.append(_row(n, epsilon, q, row, of))
        bad = [each for each in mine if not each.holds]
        lines += ["", f"{len(mine)} cells, of which {len(bad)} do not hold.", ""]
    return "\n".join(lines)


def _row(n: int, epsilon: float, q: float, row: list[Seen], of: str) -> str:
    runs, answered = sum(each.reps for each in row), sum(each.answered for each in row)
    held = min((each.held / each.answered for each in row if each.answered), default=math.nan)
    widths = [each.width for each in row if not math.isnan(each.width)]
    width = f"{max(widths):.2f} ({np.median(widths):.2f})" if widths and of == "population" else "-"
    bad = ", ".join(each.cell.family for each in row if not each.holds)
    infinite = sum(each.infinite for each in row) / max(answered, 1)
    shown = "-" if math.isnan(held) else f"{held:.3f}"
    cells = (
        f"{n:,}",
        f"{epsilon:g}",
        f"{q:g}",
        shown,
        width,
        f"{1 - answered / runs:.0%}",
        f"{infinite:.0%}",
        bad or "-",
    )
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Run the cells, print them, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reps", type=int, default=400, help="runs of each cell")
    parser.add_argument("--quick", action="store_true", help="a smaller grid")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--out", type=Path, default=PAGE, help="where the page is written")
    given = parser.parse_args()
    tasks = [(cell, given.reps) for cell in cells(given.quick)]
    with Pool(given.jobs) as pool:
        all_seen = []
        for each in pool.imap(seen, tasks):
            all_seen.append(each)
            if not each.holds:
                print("does not hold:", each, flush=True)
    options = f" --reps {given.reps}{' --quick' if given.quick else ''}"
    text = page(all_seen, f"python benchmarks/coverage/quantiles.py{options}")
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(text + "\n" if not text.endswith("\n") else text)
    print(text)


if __name__ == "__main__":
    main()
