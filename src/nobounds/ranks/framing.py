"""The private frame: the noisy median of a column, and the octave of the median deviation from it.

Both cost a fixed number of nats, that is records times epsilon, however large the data are (docs/proofs/frame.md). The
centre is chosen among all numbers under a public prior. The scale is chosen among the octaves of the deviations that
are not 0, under a prior around a 32nd of the centre.
"""

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from nobounds.accounting.cost import Cost, range_bounded
from nobounds.accounting.loss import Neighbors
from nobounds.arrays import Floats, Ints
from nobounds.counting.deviation import Deviation
from nobounds.counting.histogram import Histogram
from nobounds.counting.scan import Chunks
from nobounds.exact import MAX
from nobounds.ladders.frame import Frame, points_of
from nobounds.ladders.ladder import Ladder, float_bounds
from nobounds.ladders.prior import prior_of_scales
from nobounds.ladders.rungs import FloatBits, Grid
from nobounds.mechanisms.runs import Runs
from nobounds.programs.program import Program
from nobounds.ranks.problem import Problem
from nobounds.ranks.route import ChoiceRoute, RankView
from nobounds.values import dataclass

HALF = Fraction(1, 2)
DEEPEST = -300  # deviations of less than 2**-300 of what is expected count as 0
OCTAVES = Ladder(FloatBits(0, DEEPEST), 1, FloatBits(0, DEEPEST).ends[1])
_WITH_ZERO = replace(OCTAVES, first=0)
_BOTH_SIDES = replace(OCTAVES, first=-OCTAVES.last)
_BELOW = 5  # octaves that a scale is expected below the centre
_PLAIN = 4  # the octave that is expected for a centre of 0


@dataclass(frozen=True, slots=True)
class FrameRule:
    """What a frame costs, all of it public; without an epsilon for the scale it is the one that is expected."""

    center: ChoiceRoute
    eps_scale: Fraction
    neighbors: Neighbors
    heaped: bool = False  # whether the scale is next to nothing where hardly any record deviates from the centre

    @classmethod
    def of(cls, problem: Problem, eps_center: Fraction, eps_scale: Fraction, *, bits: int | None = None) -> "FrameRule":
        """The rule for these epsilons and these bits of the centre; without an epsilon for the centre it is 0."""
        bits = problem.tuning.center_bits if bits is None else bits
        return cls(prior_choice(problem, HALF, eps_center, bits), eps_scale, problem.neighbors)

    @classmethod
    def affordable(cls, problem: Problem, size: int, epsilon: Fraction, inner: bool = False) -> "FrameRule":
        """The rule for about `size` records and an epsilon: nats of a centre and a scale, twice as many under swap.

        With `inner` it is for inner quantiles alone.
        """
        times = 2 if problem.neighbors == "swap" else 1
        nats_of = problem.tuning.inner_frame_nats if inner else problem.tuning.frame_nats
        nats = nats_of(size * epsilon / times)
        return cls.of(problem, *(Fraction(part * times, size) for part in nats))

    @property
    def epsilon(self) -> Fraction:
        """What both cost."""
        return self.center.epsilon + self.eps_scale

    def scale_cost(self) -> Cost:
        return range_bounded(self.eps_scale)

    def program(self, problem: Problem, view: RankView) -> Program[Frame]:
        """The centre, and the scale of the deviations from it."""
        center, unit = 0.0, self.unit
        if self.center.epsilon:
            cost = partial(self.center.cost, HALF, problem.neighbors, problem.nullable)
            center = self.centers((yield view.center(self.center, cost)))
        octave: Any = expected(center)
        if self.eps_scale:
            rate = self.eps_scale / 2 if self.neighbors == "swap" else self.eps_scale
            chosen = yield view.spread(Around(center, unit, *self.bounds, self.heaped), rate, self.scale_cost)
            octave = octave + chosen - 1 + DEEPEST
        return Frame(center, octave, unit, self.clock)

    @property
    def bounds(self) -> tuple[float, float]:
        """The public bounds of the records."""
        return float_bounds(self.center.ladder)

    @property
    def unit(self) -> Fraction | None:
        """The unit of the grid, if there is one."""
        fine = self.center.ladder.map
        return fine.unit if isinstance(fine, Grid) else None

    @property
    def clock(self) -> bool:
        """Whether answers are moments."""
        fine = self.center.ladder.map
        return isinstance(fine, Grid) and fine.clock

    def centers(self, rung: Any) -> Any:
        """The centre for a rung, or for an array of them, in units of the grid: the roundest number on it.

        Where many records are equal, their number is often a round one. Then they do not deviate at all, and the scale
        is that of the others.
        """
        fine = self.center.ladder.map
        points = fine if not isinstance(fine, Grid) else Grid(Fraction(1), fine.bits)
        rungs = np.atleast_1d(np.asarray(rung, dtype=np.int64))
        values = np.clip(Frame(0.0, 0, self.unit, self.clock).values(points, rungs), -MAX, MAX)
        return values if isinstance(rung, np.ndarray) else float(values[0])


def prior_choice(problem: Problem, q: Fraction, epsilon: Fraction, bits: int) -> ChoiceRoute:
    """A choice among all numbers under the prior, in steps of 2**-bits of the value.

    Shorter steps would hide heaps: all records on one number weigh no more than its rung does.
    """
    rate = epsilon / 2 if problem.neighbors == "swap" else epsilon / (2 * max(q, 1 - q))
    fine = problem.ladder.finest(bits, problem.tuning.prior_floor)
    return ChoiceRoute(fine, epsilon, rate, exponential=True, again=True, weighed=True, absolute=True)


@dataclass(frozen=True, slots=True)
class Around:
    """What deviations are taken from: a centre, or one for each value, within the public bounds of the records."""

    center: Any
    unit: Fraction | None
    low: float = -math.inf
    high: float = math.inf
    heaped: bool = False  # as for `FrameRule`

    def at(self, center: Any) -> "Around":
        """The same around another centre."""
        return replace(self, center=center)

    def away(self, values: Floats) -> Floats:
        """The size of each deviation, over the octave that is expected."""
        return self.away_at(self._points(np.clip(values, self.low, self.high)))

    def _points(self, values: Floats) -> Floats:
        with np.errstate(over="ignore", under="ignore"):
            return points_of(values, self.unit)

    def away_at(self, points: Floats) -> Floats:
        """Like `away`, for values within the bounds, in units of the grid."""
        with np.errstate(over="ignore", under="ignore"):
            away: Floats = np.ldexp(np.abs(points - self.center), np.negative(expected(self.center)))
        return away

    def rungs(self, low: Floats, high: Floats) -> tuple[Ints, Ints]:
        """The lowest and the highest octave of the deviations of values from `low` to `high`, in units of the grid.

        0 stands for a deviation of 0.
        """
        least, most = self._points(np.array([self.low, self.high]))
        low, high = np.clip(low, least, most), np.clip(high, least, most)
        sizes = self.away_at(low), self.away_at(high)
        inside = (low <= self.center) & (self.center <= high)
        return _WITH_ZERO.rungs(np.where(inside, 0.0, np.minimum(*sizes))), _WITH_ZERO.rungs(np.maximum(*sizes))


def expected(center: Any) -> Any:
    """The octave of the scale that is expected for a centre, or for each of many."""
    if not isinstance(center, np.ndarray):
        return math.frexp(center)[1] - 1 - _BELOW if center else _PLAIN
    exponents = np.frexp(center)[1].astype(np.int64) - 1 - _BELOW
    return np.where(center == 0, _PLAIN, exponents)


def octave_counts(chunks: Chunks, around: Around) -> Histogram:
    """The deviations of records from the centre that are not 0, by octave."""
    signed = Deviation(around.center, around.low, around.high, expected(around.center), unit=around.unit)
    away = Histogram.of_deviations(chunks, signed, _BOTH_SIDES)
    counts = np.bincount(np.abs(away.rungs), away.counts, 1).astype(np.int64)  # exact up to 2**53 records
    counts[0] = 0
    rungs = counts.nonzero()[0]
    return Histogram(OCTAVES, rungs, counts[rungs])


def deviation_octaves(values: Floats, around: Around) -> Ints:
    """The octave of the deviation of each value, over the one that is expected; 0 for a deviation of 0."""
    return _WITH_ZERO.rungs(around.away(values))


def octave_runs(histogram: Histogram, rate: Fraction, heaped: bool = False) -> Runs:
    """The octaves to choose the scale from."""
    return Runs.of(histogram, HALF, rate, prior_of_scales(OCTAVES, heaped))
