"""Runs of rungs with equal utility, for mechanisms that choose among all rungs of a ladder at once.

The utility of a rung is minus the distance of the target rank from the interval [records below the rung, records below
or on it], which treats ties correctly. It has sensitivity 1 under swap and max(q, 1 - q) under add-remove. Distances
may count more above the target than below it, by whole numbers. Runs far from the target have a total weight below
2**-bits; they are left out and accounted for as an error.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nobounds.arrays import Floats, Ints
from nobounds.counting.histogram import Histogram
from nobounds.ladders.prior import Prior
from nobounds.noise.discrete import Uniform, uniform_below
from nobounds.noise.source import RandomSource
from nobounds.values import dataclass

if TYPE_CHECKING:
    from flint import arb

EQUAL = (1, 1)  # a rank below the target counts as much as one above it
DOUBLE_BITS = 60  # runs left out in double precision weigh less than 2**-60
# Relative error allowed for a weight in double precision. Distances, rates and their products each have a relative
# error of at most 2**-51 for any rate, so exp(-x) has one of x 2**-50: below 2**-40 for all x up to 745. Beyond that
# doubles are 0, and the true weights are among those left out.
DOUBLE_ERROR = 2.0**-40
_NOTHING = np.zeros(1, dtype=np.int64)
_NOTHING.flags.writeable = False
_WHOLE = Fraction(0)
_NO_SIDE = np.zeros(0, dtype=np.int8)


@dataclass(frozen=True, eq=False)
class Runs:
    """The start, the length and the distance from the target of each run of rungs.

    Distances are exact: a whole number plus a fraction in [0, 1). A rung at distance d has weight exp(-rate d).
    Sensitive: its repr shows only the rate.
    """

    starts: Ints
    lengths: Ints
    above: Ints  # whole part of the distance of runs whose ranks lie above the target, -1 for the others
    below: Ints  # the same for runs whose ranks lie below it
    parts: tuple[Fraction, Fraction]  # fractional parts of the distances of ranks above the target and below it
    rate: Fraction
    trusted: tuple[int, int]  # first and last rung between which the histogram is exact
    lowered: Ints  # public whole numbers added to the distances: a prior
    growth: Ints  # increase of the distance from one rung of a run to the next; 0 unless ties are spread
    prior: Prior | None = None  # what rungs weigh beside that; None if all weigh the same
    slopes: tuple[int, int] = EQUAL  # what a rank below the target adds to a distance, and one above it

    @classmethod
    def of(
        cls,
        histogram: Histogram,
        q: Fraction,
        rate: Fraction,
        prior: Prior | None = None,
        slopes: tuple[int, int] = EQUAL,
    ) -> "Runs":
        """The runs of a histogram, for the target rank q n."""
        ladder, rungs = histogram.ladder, histogram.rungs
        starts, ends, low, high = _spans(rungs, histogram.counts, histogram.up_to, ladder.first, ladder.last + 1)
        return cls.between(
            starts, ends, low, high, q * histogram.total, rate, histogram.exact, prior=prior, slopes=slopes
        )

    @classmethod
    def between(
        cls,
        starts: Ints,
        ends: Ints,
        low: Ints,
        high: Ints,
        target: Fraction,
        rate: Fraction,
        trusted: tuple[int, int],
        lowered: Ints | None = None,
        growth: Ints | None = None,
        prior: Prior | None = None,
        slopes: tuple[int, int] = EQUAL,
    ) -> "Runs":
        """The runs from `starts` to before `ends` whose records have ranks `low` to `high`; empty runs are dropped."""
        keep = (ends > starts).nonzero()[0]  # faster than to select by marks
        if len(keep) < len(starts):
            starts, ends, low, high = starts[keep], ends[keep], low[keep], high[keep]
            lowered, growth = (None if extra is None else extra[keep] for extra in (lowered, growth))
        over = target.denominator
        floor, rest = divmod(target.numerator, over)
        below, parts = floor - high, (_WHOLE, _WHOLE)
        if rest:
            above, parts = low - floor - 1, (Fraction(over - rest, over), Fraction(rest, over))
        else:  # a whole target: the rank `floor` itself has distance 0
            above = low - floor
        if slopes != EQUAL:
            above, below = (ranks * slope for ranks, slope in ((above, slopes[1]), (below, slopes[0])))
            parts = parts[0] * slopes[1], parts[1] * slopes[0]
            above += math.floor(parts[0])
            below += math.floor(parts[1])
            parts = parts[0] % 1, parts[1] % 1
        np.maximum(above, -1, out=above)
        np.maximum(below, -1, out=below)
        none: Ints = np.ndarray(len(starts), np.int64, _NOTHING, strides=(0,))  # one 0 for all of them
        return cls(
            starts,
            ends - starts,
            above,
            below,
            parts=parts,
            rate=rate,
            trusted=trusted,
            lowered=none if lowered is None else lowered,
            growth=none if growth is None else growth,
            prior=prior,
            slopes=slopes,
        )

    @cached_property
    def least(self) -> Fraction:
        """The smallest distance, which is subtracted from all."""
        whole, side = self._split
        nearest = np.minimum.reduce(whole)
        if not any(self.parts):
            return Fraction(int(nearest))
        return int(nearest) + min(self._parts[k] for k in set(side[whole == nearest].tolist()))

    def distances(self) -> Floats:
        """The distance of each run's nearest rung from the target, minus `least`, as doubles.

        The relative error is at most 2**-51, and zeros are exact: `least` is subtracted exactly, whole numbers and
        fractions separately, and both remainders are nonnegative, so nothing cancels in doubles.
        """
        return self._distances

    @cached_property
    def _distances(self) -> Floats:
        whole, side = self._split
        if not any(self.parts):
            return (whole - self.least.numerator).astype(np.float64)
        over, steps = self._steps
        least = self.least.numerator * (over // self.least.denominator)
        carries, rests = zip(*(divmod(step - least, over) for step in steps), strict=True)
        return np.asarray((whole + np.array(carries)[side]) + np.array([rest / over for rest in rests])[side])

    def distance(self, run: int) -> Fraction:
        """The exact distance of one run, minus `least`."""
        above, below = int(self.above[run]), int(self.below[run])
        part = self._parts[0 if above >= 0 else 1 if below >= 0 else 2]
        return max(above, below, 0) + int(self.lowered[run]) + part - self.least

    def listed(self) -> tuple[list[float], list[float]]:
        """`distances` and `multiplicities` of all runs, as lists: faster where they are few."""
        (over, (part, rest, _)), steps = self._steps, []
        for above, below, lowered in zip(self.above.tolist(), self.below.tolist(), self.lowered.tolist(), strict=True):
            own = above * over + part if above >= 0 else below * over + rest if below >= 0 else 0
            steps.append(own + lowered * over)
        least = min(steps)
        lengths = self.lengths.tolist()
        if (prior := self.prior) is not None:
            units = 1 << prior.shift
            ends = zip(self.starts.tolist(), lengths, strict=True)
            masses = [prior.mass(first, first + length - 1) / units for first, length in ends]
        else:
            masses = [float(length) for length in lengths]
        return [(step - least) / over for step in steps], masses

    @cached_property
    def _split(self) -> tuple[Ints, NDArray[np.int8]]:
        """The whole part of each distance from the target, and the index of its fraction in `_parts`."""
        whole = np.maximum(self.above, self.below)
        np.maximum(whole, 0, out=whole)
        if self.lowered.strides[0]:  # else it is one 0 for all runs
            whole += self.lowered
        if not any(self.parts):  # there are no fractions
            return whole, _NO_SIDE
        side = np.full(len(whole), 2, dtype=np.int8)
        side[self.below >= 0] = 1
        side[self.above >= 0] = 0
        return whole, side

    @cached_property
    def _parts(self) -> tuple[Fraction, Fraction, Fraction]:
        """The fractions of the distances of runs above the target, below it, and on it."""
        return *self.parts, Fraction(0)

    @cached_property
    def _steps(self) -> tuple[int, tuple[int, ...]]:
        """A number such that all fractions are whole numbers of its inverse, and these whole numbers."""
        over = math.lcm(*(part.denominator for part in self.parts))
        return over, tuple(part.numerator * (over // part.denominator) for part in self._parts)

    def rung(self, run: int, k: int) -> int:
        """The k-th rung of a run, counted from its rung nearest to the target."""
        first, last = int(self.starts[run]), int(self.starts[run] + self.lengths[run]) - 1
        return last - k if self.below[run] >= 0 else first + k

    def near(self, bits: int) -> Ints:
        """Indices of the runs near the target: all others together weigh less than 2**-bits."""
        rungs = int(self.starts[-1] + self.lengths[-1] - self.starts[0])
        return (self.distances() <= reach(rungs, self.rate, bits, self.prior)).nonzero()[0]

    def multiplicities(self, some: Ints | slice) -> Floats:
        """What the runs `some` weigh beside their distances, with a relative error below 2**-50."""
        if self.prior is None:
            return self.lengths[some].astype(np.float64)
        return self.prior.masses(self.starts[some], self.starts[some] + self.lengths[some] - 1)

    def multiplicity(self, run: int) -> Fraction:
        """What one run weighs beside its distance."""
        first, length = int(self.starts[run]), int(self.lengths[run])
        if self.prior is None:
            return Fraction(length)
        return Fraction(self.prior.mass(first, first + length - 1), 1 << self.prior.shift)

    def drawn(self, run: int, source: RandomSource) -> int:
        """A rung of a run, each as likely as it weighs beside its distance."""
        first, last = int(self.starts[run]), int(self.starts[run] + self.lengths[run]) - 1
        if self.prior is None or self.prior.is_even_from(first, last):
            return self.rung(run, uniform_below(last - first + 1, source))
        return self.prior.rung_at(first, last, uniform_below(self.prior.mass(first, last), source))

    @property
    def trusts_all(self) -> bool:
        """Whether the histogram is exact everywhere."""
        return self.trusted[0] <= int(self.starts[0]) and int(self.starts[-1] + self.lengths[-1]) - 1 <= self.trusted[1]

    def trusts(self, near: Ints) -> bool:
        """Whether all of these runs lie where the histogram is exact, and all others are farther, whatever they hold.

        Where rungs are lowered, one beyond may be lowered less than the runs beside it; but its rank is no nearer.
        """
        first, last = int(self.starts[near[0]]), int(self.starts[near[-1]] + self.lengths[near[-1]]) - 1
        if not (self.trusted[0] <= first and last <= self.trusted[1]):
            return False
        if not self.lowered.strides[0]:
            return True
        farthest = float(self.distances()[near].max()) + float(self.least) + 1
        before = int(np.searchsorted(self.starts, self.trusted[0])) - 1
        after = int(np.searchsorted(self.starts, self.trusted[1], side="right"))
        return (before < 0 or int(self.below[before]) > farthest) and (
            after == len(self.starts) or int(self.above[after]) > farthest
        )

    def __repr__(self) -> str:
        return f"Runs(rate={self.rate}, the rest hidden)"


def ranks(rungs: Ints, counts: Ints, first: int, end: int) -> tuple[Ints, Ints, Ints, Ints]:
    """The starts and ends of the runs from `first` to `end`, and the lowest and highest ranks they span.

    Each occupied rung is a run, and so is each stretch of empty rungs before, between and after the occupied ones.
    """
    return _spans(rungs, counts, counts.cumsum(dtype=np.int64), first, end)


def _spans(rungs: Ints, counts: Ints, up_to: Ints, first: int, end: int) -> tuple[Ints, Ints, Ints, Ints]:
    """The same where the number of records at or below each rung is known."""
    edges, low, high = (np.empty(2 * len(rungs) + 2, dtype=np.int64) for _ in range(3))
    edges[0], edges[1:-1:2], edges[2:-1:2], edges[-1] = first, rungs, rungs + 1, end
    low[0], low[1:-1:2], low[2:-1:2] = 0, up_to - counts, up_to
    high[0], high[1:-1:2], high[2:-1:2] = 0, up_to, up_to
    return edges[:-1], edges[1:], low[:-1], high[:-1]


def reach(rungs: int, rate: Fraction, bits: float, prior: Prior | None = None) -> float:
    """A distance from the target beyond which all rungs together weigh less than 2**-bits, with a small margin.

    Under a prior that is relative to the least that a rung can weigh.
    """
    many = math.log(max(rungs, 2) if prior is None else prior.most)
    return (many + (bits + 2) * math.log(2)) / float(rate) * 1.001 + 1


def pick(
    light: Sequence[float] | Floats, heavy: Sequence[float] | Floats, error: float, left_out: float, u: Uniform
) -> int | None:
    """The run that a uniform number falls on; None if undecided.

    What the runs up to each one weigh lies between `light` and `heavy`, up to this relative error of each run.
    """
    error += (len(light) + 4) * 2.0**-52
    first, last = u.bounds()
    least, most = float(light[-1]) * (1 - error), float(heavy[-1]) * (1 + error) + left_out
    if left_out and first * least <= left_out:  # it may fall on a run that is left out
        return None
    run = bisect_left(light, last * most / (1 - error))
    return run if run < len(light) and run == bisect_left(heavy, (first * least - left_out) / (1 + error)) else None


def pick_ball(weights: "list[arb]", left_out: "arb", u: Uniform, precision: int) -> int | None:
    """Like `pick`, in ball arithmetic."""
    from flint import arb

    before = arb(left_out, left_out)  # the runs left out may weigh something, and lie anywhere
    place = u.ball(precision) * (sum(weights, arb(0)) + before)
    if not place > before:
        return None
    for run, weight in enumerate(weights):
        before = before + weight
        if place < before:
            return run
        if not place > before:
            return None
    return None


def together(some: Ints) -> Ints | slice:
    """Indices in rising order; a slice if none between them is missing: then nothing is copied."""
    first, last = int(some[0]), int(some[-1])
    return slice(first, last + 1) if last - first + 1 == len(some) else some


@dataclass(frozen=True, slots=True, eq=False)
class RunLaw:
    """The law of a selected rung: the mass of each run, spread over its rungs evenly or by the prior.

    A run with a growth is spread by that.
    """

    runs: Runs
    masses: Floats

    @property
    def length(self) -> int:
        """The number of rungs."""
        return int(self.runs.lengths.sum())

    def tail(self, positions: ArrayLike) -> Floats:
        """P(the selected rung is the k-th or a later one), for each k; only for runs without growth."""
        k = np.asarray(positions, dtype=np.int64) + self.runs.starts[0]
        after = np.append(np.cumsum(self.masses[::-1])[::-1], 0.0)
        run = np.searchsorted(self.runs.starts, k, side="right") - 1
        passed = np.minimum(k - self.runs.starts[run], self.runs.lengths[run]) / self.runs.lengths[run]
        if (prior := self.runs.prior) is not None:
            first, last = self.runs.starts[run], self.runs.starts[run] + self.runs.lengths[run] - 1
            parts = np.where(k > first, prior.masses(first, np.clip(k - 1, first, last)), 0.0)
            passed = np.minimum(parts / prior.masses(first, last), 1.0)
        return np.asarray(after[run] - self.masses[run] * passed)

    def log_pmf(self) -> Floats:
        """Log-probabilities of all rungs in order; for short ladders only."""
        runs = self.runs
        parts = []
        for run, (mass, length) in enumerate(zip(self.masses.tolist(), runs.lengths.tolist(), strict=True)):
            logs = -float(runs.rate * int(runs.growth[run])) * np.arange(length)
            if runs.prior is not None:
                rungs = int(runs.starts[run]) + np.arange(length)
                logs = np.log(runs.prior.masses(rungs, rungs))
            logs += math.log(mass) - math.log(np.exp(logs).sum()) if mass > 0 else -math.inf
            parts.append(logs[::-1] if runs.below[run] >= 0 and runs.prior is None else logs)
        return np.concatenate(parts)
