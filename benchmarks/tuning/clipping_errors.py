"""The expected errors behind docs/clipping.md: data, private sums by the laws of their clips, and who they are held to.

No noise is drawn. An error counts for at most that of answering 0, for all methods alike.
"""

import csv
import gzip
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from nobounds.accounting.loss import Neighbors
from nobounds.accounting.terms import Terms
from nobounds.clipping.plan import SumPlan
from nobounds.clipping.tuning import CLIP_TUNING, ClipTuning
from nobounds.clipping.view import RecordsView
from nobounds.clipping.widths import WidthWalk
from nobounds.engines.memory.arrays import column
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.stated import Stated
from nobounds.mechanisms.halting import Law
from nobounds.mechanisms.walk import Walk
from nobounds.planning.answer_errors import quick_outcomes
from nobounds.programs.law import paths

Floats = np.ndarray[Any, np.dtype[np.float64]]
FAMILIES = ("uniform", "compact", "exponential", "lognormal", "pareto", "normal", "ties")
PHASES = (0.2, 0.7)  # data are multiplied by these powers of two, because candidates are tied to them
REAL = ("ratings", "pages", "ages", "hours")
NOWHERE = 1e-7  # halting positions with less probability are left out


def synthetic(name: str, phase: float, n: int) -> Floats:
    """A sorted sample of a family."""
    rng = np.random.default_rng([FAMILIES.index(name), int(10 * phase), n])
    draws = {
        "uniform": lambda: rng.uniform(0, 100, n),
        "compact": lambda: 100 * rng.beta(20, 1, n),
        "exponential": lambda: rng.exponential(50, n),
        "lognormal": lambda: rng.lognormal(3, 0.8, n),
        "pareto": lambda: 10 * (rng.pareto(2, n) + 1),
        "normal": lambda: np.abs(rng.normal(40, 12, n)),
        "ties": lambda: rng.gamma(8, 5, n),
    }
    data = draws[name]() * 2**phase
    return np.sort(np.rint(data) if name == "ties" else data)


@cache
def bundled(name: str) -> Floats:
    """A bundled column: ratings are floats, the others whole numbers."""
    file, key = {
        "ratings": ("books.csv.gz", "average_rating"),
        "pages": ("books.csv.gz", "num_pages"),
        "ages": ("adult.csv.gz", "age"),
        "hours": ("adult.csv.gz", "hours_per_week"),
    }[name]
    with gzip.open(str(files("nobounds") / "data" / file), "rt") as text:
        values = np.array([float(row[key]) for row in csv.DictReader(text)])
    return values if name == "ratings" else values.astype(np.int64)


def real(name: str, n: int, sample: int) -> Floats:
    """A sorted sample of a bundled column."""
    rng = np.random.default_rng([REAL.index(name), n, sample])
    return np.sort(rng.choice(bundled(name), n, replace=False))


@dataclass(frozen=True, slots=True, eq=False)
class Mixture:
    """The law of the error of a sum: Laplace noise of these scales around these biases."""

    chances: Floats
    biases: Floats
    scales: Floats
    clips: Floats  # the largest magnitude of the clip
    largest: float  # of the data
    cap: float

    @property
    def mean(self) -> float:
        """The expected absolute error; what the law leaves out counts as an answer of 0."""
        cap = self.cap
        bias, scale = np.minimum(np.abs(self.biases), cap), np.minimum(self.scales, 1e9 * cap)
        beyond = scale * (np.exp(-(cap - bias) / scale) + np.exp(-(cap + bias) / scale)) / 2
        left_out = max(1 - float(self.chances.sum()), 0.0)
        return float(self.chances @ (bias + scale * np.exp(-bias / scale) - beyond) + left_out * cap)

    @property
    def runaway(self) -> float:
        """P(the clip is above ten times the largest magnitude)."""
        return float(self.chances[self.clips > 10 * self.largest].sum())

    def point(self, chance: float) -> float:
        """The absolute error that is exceeded with this probability."""
        low, high = 0.0, 10 * float((np.abs(self.biases) + self.scales).max())
        for _ in range(100):
            middle = (low + high) / 2
            low, high = (middle, high) if self._above(middle) > chance else (low, middle)
        return high

    def _above(self, z: float) -> float:
        bias, scale = np.abs(self.biases), self.scales
        with np.errstate(over="ignore"):
            near, far = np.exp(-np.abs(bias - z) / scale) / 2, np.exp(-(bias + z) / scale) / 2
        return float(self.chances @ (np.where(bias <= z, near, 1 - near) + far))


class Clipping:
    """What clipping sorted data changes in their sum."""

    def __init__(self, data: Floats) -> None:
        self.data = data.astype(float)
        self.up_to = np.concatenate([[0.0], np.cumsum(self.data)])

    def bias(self, lows: Floats, highs: Floats) -> Floats:
        """The sum of the clipped records minus the sum."""
        below, upto = np.searchsorted(self.data, lows), np.searchsorted(self.data, highs, side="right")
        raised = lows * below - self.up_to[below]
        return raised + highs * (len(self.data) - upto) - (self.up_to[-1] - self.up_to[upto])

    def mixture(self, chances: Floats, lows: Floats, highs: Floats, spans: Floats, epsilon: float) -> Mixture:
        """Clips with their probabilities, and noise of their spans over epsilon."""
        sizes = np.maximum(np.abs(lows), np.abs(highs))
        scales, magnitudes = np.maximum(spans / epsilon, 1e-300), np.abs(self.data)
        return Mixture(chances, self.bias(lows, highs), scales, sizes, magnitudes.max(), magnitudes.sum())


def oracle(data: Floats, epsilon: float) -> float:
    """The error for the best clip [0, c] and all of epsilon on noise, for data above 0."""
    clips, found = np.geomspace(data[len(data) // 4], 1.2 * data[-1], 600), Clipping(data)
    one = np.ones(1)
    return min(found.mixture(one, 0 * one, c * one, c * one, epsilon).mean for c in clips)


def paper(data: Floats, epsilon: float) -> Mixture:
    """The paper's own setting: a clip at q = 0.99 with half of epsilon, eps1 = eps2, beta 1.001, for data above 0."""
    ladder, each, n = Ladder.geometric(1.001, upper=1e7), Fraction(str(epsilon)) / 4, len(data)
    rungs, counts = np.unique(ladder.rungs(data.astype(float)), return_counts=True)
    up_to = np.cumsum(counts)
    starts = np.concatenate([[0], rungs[rungs > 0]])
    levels = np.concatenate([[up_to[0] if rungs[0] == 0 else 0], up_to[rungs > 0]])
    walk = Walk(starts, levels, ladder.last + 1, Fraction(99 * n, 100), Fraction(1, 100 if n % 100 else 1), each, each)
    tails = Law(walk).tail(np.arange(walk.length + 1))
    chances, clips = np.append(tails[:-1] - tails[1:], tails[-1]), np.asarray(ladder.map.floats(np.arange(walk.length)))
    clips = np.append(clips, clips[-1])
    return Clipping(data).mixture(chances, 0 * clips, clips, clips, epsilon / 2)


def private_sum(
    data: Floats, epsilon: float, neighbors: Neighbors, least: float, tuning: ClipTuning = CLIP_TUNING
) -> Mixture:
    """The error of `nobounds.sum` with no bounds given.

    Centres and scales with less than `least` probability are left out. Under add-remove the size is taken to be
    learned as it is.
    """
    records, terms = column(data), Terms.of(str(epsilon), None, neighbors)
    plan = SumPlan.of(records.public(neighbors == "swap"), terms, Stated(), centered=False, tuning=tuning)
    plan = plan.at(len(data)) if plan.rows is None else plan
    search, view = plan.search, RecordsView(records.chunks)
    found: list[tuple[Floats, ...]] = []
    for chance, start in paths(lambda: search.start(view, plan.careful(len(data))), least, quick_outcomes):
        center = start.center
        walks = search.walks(search.deviations(view, start), start)
        laws = dict(zip(search.sides(center), (widths(plan, walk, start.octave) for walk in walks), strict=True))
        if not search.two_sided:
            masses, sizes = laws[0]
            found.append((chance * masses, -sizes, sizes, sizes))
            continue
        above, highs, below, lows = *laws[1], *laws[-1]
        highs, lows = float(center) + np.tile(highs, len(lows)), float(center) - np.repeat(lows, len(highs))
        found.append((chance * np.outer(below, above).ravel(), lows, highs, highs - lows))
    merged = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return Clipping(data).mixture(*merged, float(plan.eps_noise))


def widths(plan: SumPlan, walk: WidthWalk, octave: int | None) -> tuple[Floats, Floats]:
    """The probabilities of widths, and the widths."""
    law, length = Law(walk.walk), walk.walk.length
    coarse = np.unique(np.append(np.arange(0, length, 32), length))
    tails = law.tail(coarse)
    first, last = np.searchsorted(-tails, [NOWHERE - 1, -NOWHERE])
    positions = np.arange(coarse[max(first - 1, 0)], coarse[min(last, len(coarse) - 1)] + 1)
    tails = law.tail(positions)
    masses = np.append(tails[:-1] - tails[1:], tails[-1] if positions[-1] == length else 0.0)
    (kept,) = np.nonzero(masses > NOWHERE)
    halts = [None if position == length else int(position) for position in positions[kept]]
    return masses[kept], np.array([float(plan.search.width(walk.candidates, halt, octave)) for halt in halts])
