"""Speed of the core: the second look, a release after it, and the import, each beside a named peer in the same run.

Run with `make bench`, which measures the pass as well (see `peers`). Times on a shared machine wander; the ratios
wander less.
"""

import subprocess
import sys
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np

import nobounds as nb
import nobounds.counting.compiled
from nobounds.counting.second_look import Counts
from nobounds.engines.memory.arrays import column
from nobounds.programs.program import driver_of
from nobounds.ranks.problem import Problem
from nobounds.ranks.question import Question
from nobounds.ranks.view import View


def best(action: Callable[[], object], repeats: int = 7) -> float:
    """The shortest of several timings, in seconds."""
    timings = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        timings.append(time.perf_counter() - start)
    return min(timings)


def row(name: str, seconds: float, peer: str, peer_seconds: float) -> None:
    """One line: the time, the peer's time and the ratio."""
    print(
        f"{name:<52}{seconds * 1e3:>10.3f} ms{peer:>24}{peer_seconds * 1e3:>10.3f} ms{seconds / peer_seconds:>9.2f} x"
    )


def the_second_look() -> None:
    """A whole private quantile of ten million floats, fine steps and all, beside the coarse pass alone."""
    rng = np.random.default_rng(0)
    for name, data in (("lognormal", rng.lognormal(3, 0.8, 10**7)), ("normal", rng.normal(0, 5, 10**7))):
        peer_seconds = best(lambda data=data: nb.Histogram.of(column(data).chunks(), nb.Ladder.float_bits()))
        for q in (0.5, 0.99):
            seconds = best(lambda data=data, q=q: nb.quantile(data, q, epsilon=1))
            row(f"quantile({q}) of 10^7 float64, {name}", seconds, "the coarse pass", peer_seconds)


def the_release() -> None:
    """One answer from a histogram with more than 100,000 occupied rungs."""
    data = np.exp(np.random.default_rng(1).uniform(-50, 50, 400_000))
    counts = Counts.of(lambda: [data], nb.Ladder.float_bits(10))
    histogram = counts.coarse
    draw = driver_of(None)
    peer_seconds = best(lambda: np.cumsum(histogram.counts), 50)
    for q in (Fraction(1, 2), Fraction(99, 100), Fraction(1)):
        question = Question.of(Problem((q,), histogram.ladder, "add-remove"), Fraction(1))
        seconds = best(lambda question=question: draw.run(question.program(View(counts))), 50)
        row(f"release, q = {q}, {len(histogram.rungs):,} occupied rungs", seconds, "numpy.cumsum of them", peer_seconds)
    grid = Counts.of(lambda: [np.round(data)], nb.Ladder.grid(1))  # as full as whole numbers up to 5e21 can make it
    question = Question.of(Problem((Fraction(1),), grid.coarse.ladder, "add-remove"), Fraction(1))
    seconds = best(lambda: draw.run(question.program(View(grid))), 50)
    row(
        f"release, q = 1 on a grid, {len(grid.coarse.rungs):,} occupied rungs",
        seconds,
        "numpy.cumsum of them",
        peer_seconds,
    )


def the_import() -> None:
    """A fresh interpreter that imports nobounds, and one that imports numpy."""

    def fresh(module: str) -> float:
        code = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
        runs = [
            float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
            for _ in range(9)
        ]
        return min(runs)

    row("import nobounds", fresh("nobounds"), "import numpy", fresh("numpy"))


if __name__ == "__main__":
    nobounds.counting.compiled.loaded = lambda values: False  # in numpy from the first value to the last
    the_second_look()
    the_release()
    the_import()
