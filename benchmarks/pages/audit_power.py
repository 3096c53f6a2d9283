"""The power of the sampling auditor: how many runs it takes to catch noise that is 5% or 50% too small.

`python benchmarks/pages/audit_power.py` prints the table of docs/audit.md. Outcomes are drawn from exact laws, so that
millions of runs cost nothing; the auditor does not know them.
"""

from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from nobounds.arrays import Floats
from nobounds.auditing.enumerated import log_laplace
from nobounds.auditing.sampling import CONFIDENCE, choose_events, loss_of_events
from nobounds.mechanisms.halting import Law
from nobounds.mechanisms.walk import Walk
from nobounds.noise.discrete import Noise

OFF = (Fraction(21, 20), Fraction(3, 2))
RUNS: tuple[int, ...] = tuple(k * 10**e for e in (2, 3, 4, 5, 6, 7, 8) for k in (1, 2, 5))


@dataclass(frozen=True, slots=True)
class Bug:
    """A mechanism that claims epsilon 1 and costs `off` times that, on the neighbours that tell the most."""

    mechanism: str
    off: Fraction
    x: Floats
    y: Floats

    def caught(self, runs: int, rng: np.random.Generator, confidence: float = CONFIDENCE) -> bool:
        """Whether `runs` runs on each of the two neighbours show more than 1."""
        return self.bound(runs, rng, confidence) > 1

    def bound(self, runs: int, rng: np.random.Generator, confidence: float = CONFIDENCE) -> float:
        """The lower bound on epsilon that `runs` runs on each of the two neighbours give."""
        a, b = (_draw(p, runs // 2, rng) for p in (self.x, self.y))
        events = choose_events(a, b, confidence)
        c, d = (_draw(p, runs - runs // 2, rng) for p in (self.x, self.y))
        return loss_of_events(events, c, d, confidence).epsilon


def _draw(p: Floats, runs: int, rng: np.random.Generator) -> Counter[Hashable]:
    counts = rng.multinomial(runs, p / p.sum())
    return Counter({k: int(n) for k, n in enumerate(counts) if n})


def count_bug(off: Fraction) -> Bug:
    """A count with discrete Laplace noise, of 40 records and of 41."""
    x, y = (np.exp([log_laplace(float(off), j - n) for j in range(81)]) for n in (40, 41))
    return Bug("count, discrete Laplace", off, x, y)


def walk_bug(off: Fraction, noise: Noise) -> Bug:
    """AboveThreshold on monotonic queries: equal ones and a step, that the record removes."""
    eps = off / 2
    m = 1 if noise == "exponential" else 5 if off > OFF[0] else 10
    x, y = (
        Law(Walk.of(queries, Fraction(0), eps1=eps, eps2=eps, noise=noise)).pmf()
        for queries in ([-1] * m + [0], [0] * (m + 1))
    )
    return Bug(f"AboveThreshold, {noise}", off, x, y)


def bugs() -> Iterator[Bug]:
    """Those of the table."""
    for off in OFF:
        yield count_bug(off)
        yield walk_bug(off, "exponential")
        yield walk_bug(off, "laplace")


def needed(bug: Bug, trials: int = 50, seed: int = 1) -> int:
    """The first number of runs, of 1, 2 and 5 times powers of ten, with which nine of ten trials catch the bug."""
    rng = np.random.default_rng(seed)
    return next(runs for runs in RUNS if sum(bug.caught(runs, rng) for _ in range(trials)) >= 0.9 * trials)


if __name__ == "__main__":
    for each in bugs():
        print(f"| {each.mechanism} | {float(each.off):g} | {needed(each):,} |")
