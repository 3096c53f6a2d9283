"""Rungs in runs of equal utility, for mechanisms that choose among all rungs of a ladder at once.

The utility of a rung is minus the distance of the target rank from the interval [records below the rung, records below
or in it], so ties count right. It has sensitivity 1 under swap and max(q, 1 - q) under add-remove. Rungs of equal
utility are taken together, and those far from the target weigh less than 2**-bits in all and are carried as an error.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from nobounds.arrays import Floats, Ints
from nobounds.counting.histogram import Histogram
from nobounds.noise.discrete import Uniform

if TYPE_CHECKING:
    from flint import arb

DOUBLE_BITS = 60  # what double precision leaves out: 2**-60
# Relative error allowed for a weight in double precision. Distances, rates and their products are each right to 2**-51
# of themselves, whatever the rate, so exp(-x) is right to x 2**-50: below 2**-40 for all x up to 745. Beyond that
# doubles are 0, and the true weights are among those that are left out.
DOUBLE_ERROR = 2.0**-40


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Where each run of rungs starts, how many rungs it has, and its distance from the target.

    Distances are `whole + part`, a whole number and a fraction in [0, 1): exact. A rung with distance d has the weight
    exp(-rate d). Sensitive: its repr shows nothing.
    """

    starts: Ints
    lengths: Ints
    above: Ints  # whole parts of the distance of runs whose ranks lie above the target, -1 for the others
    below: Ints  # the same for runs whose ranks lie below it
    part: Fraction  # what a rank above the target exceeds it by, beyond whole numbers
    rate: Fraction
    trusted: tuple[int, int]  # between these rungs the histogram was exact
    lowered: Ints  # public whole numbers that are added to the distances: a prior
    growth: Ints  # by what the distance grows from one rung of a run to the next: 0, but where ties are spread
    least: Fraction = Fraction(0)  # the least distance, which all are counted from

    @classmethod
    def of(cls, histogram: Histogram, q: Fraction, rate: Fraction) -> "Runs":
        """The runs of a histogram for the target rank q n."""
        ladder, rungs = histogram.ladder, histogram.rungs
        starts, ends, low, high = ranks(rungs, histogram.counts, ladder.first, ladder.last + 1)
        return cls.between(starts, ends, low, high, q * histogram.total, rate, histogram.exact)

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
    ) -> "Runs":
        """The runs of rungs whose records have the ranks from `low` to `high`; those without rungs are left out."""
        keep = ends > starts
        floor = math.floor(target)
        above, below = low[keep] - floor - 1, floor - high[keep]
        part = floor + 1 - target  # in (0, 1]: the first whole rank above the target is this far from it
        if part == 1:  # a whole target: the rank `floor` itself has distance 0
            part, above = Fraction(0), above + 1
        clipped = np.maximum(above, -1), np.maximum(below, -1)
        zero = np.zeros(len(above), dtype=np.int64)
        tilt, grows = (zero if extra is None else extra[keep] for extra in (lowered, growth))
        found = cls(starts[keep], (ends - starts)[keep], *clipped, part, rate, trusted, tilt, grows)
        whole, side = found._split()
        nearest = whole.min()
        parts = [found._parts[k] for k in np.unique(side[whole == nearest]).tolist()]
        return replace(found, least=int(nearest) + min(parts))

    def distances(self) -> Floats:
        """The distance of the nearest rung of each run from the target, as doubles, beyond the least of all.

        They are right to 2**-51 of themselves, and those that are 0 are exact: the least is subtracted exactly, whole
        numbers and parts apart, and what is left of each is not negative, so nothing cancels in doubles.
        """
        whole, side = self._split()
        carries, rests = zip(*(divmod(part - self.least, 1) for part in self._parts), strict=True)
        return np.asarray((whole + np.array(carries)[side]) + np.array([float(rest) for rest in rests])[side])

    def distance(self, run: int) -> Fraction:
        """The same for one run, exactly."""
        above, below = int(self.above[run]), int(self.below[run])
        part = self._parts[0 if above >= 0 else 1 if below >= 0 else 2]
        return max(above, below, 0) + int(self.lowered[run]) + part - self.least

    def _split(self) -> tuple[Ints, Ints]:
        """The whole part of each distance from the target, and which of `_parts` goes with it."""
        whole = np.maximum(np.maximum(self.above, self.below), 0) + self.lowered
        return whole, np.where(self.above >= 0, 0, np.where(self.below >= 0, 1, 2))

    @property
    def _parts(self) -> tuple[Fraction, Fraction, Fraction]:
        """The fractions of the distances of runs above the target, below it, and on it."""
        return self.part, (1 - self.part) % 1, Fraction(0)

    def rung(self, run: int, k: int) -> int:
        """The k-th rung of a run, counted from the one that is nearest to the target."""
        first, last = int(self.starts[run]), int(self.starts[run] + self.lengths[run]) - 1
        return last - k if self.below[run] >= 0 else first + k

    def near(self, bits: int) -> Ints:
        """The runs that matter: all others together have weight below 2**-bits."""
        rungs = int(self.starts[-1] + self.lengths[-1] - self.starts[0])
        return np.flatnonzero(self.distances() <= reach(rungs, self.rate, bits))

    def trusts(self, near: Ints) -> bool:
        """Whether all of these runs lie where the histogram was exact."""
        first, last = int(self.starts[near[0]]), int(self.starts[near[-1]] + self.lengths[near[-1]]) - 1
        return self.trusted[0] <= first and last <= self.trusted[1]

    def __repr__(self) -> str:
        return f"Runs(rate={self.rate}, the rest hidden)"


def ranks(rungs: Ints, counts: Ints, first: int, end: int) -> tuple[Ints, Ints, Ints, Ints]:
    """Where runs start and end, from `first` to `end`, and the ranks they span.

    Each occupied rung is a run, and so are the empty rungs behind it up to the next one, and those before the first.
    """
    up_to = np.cumsum(counts, dtype=np.int64)
    starts = np.concatenate([[first], np.stack([rungs, rungs + 1], axis=1).ravel()])
    low = np.concatenate([[0], np.stack([up_to - counts, up_to], axis=1).ravel()])
    high = np.concatenate([[0], np.stack([up_to, up_to], axis=1).ravel()])
    return starts, np.append(starts[1:], end), low, high


def reach(rungs: int, rate: Fraction, bits: int) -> float:
    """The distance from the target beyond which all rungs together weigh less than 2**-bits, and a little more."""
    return (math.log(max(rungs, 2)) + (bits + 2) * math.log(2)) / float(rate) * 1.001 + 1


def pick(light: Floats, heavy: Floats, left_out: float, u: Uniform) -> int | None:
    """The run that a uniform number falls on, for weights between `light` and `heavy`; None if that is open."""
    low, high = np.cumsum(light), np.cumsum(heavy) + left_out
    slack = len(low) * 2.0**-52
    low, high = low * (1 - slack), high * (1 + slack)
    first, last = u.bounds()
    if left_out and first <= left_out / low[-1] * (1 + slack):  # it may fall on one that is left out
        return None
    run = int(np.searchsorted(low / high[-1], last))
    return run if run < len(low) and run == int(np.searchsorted(high / low[-1], first)) else None


def pick_ball(weights: "list[arb]", left_out: "arb", u: Uniform, precision: int) -> int | None:
    """The same in ball arithmetic."""
    from flint import arb

    before = arb(left_out, left_out)  # the runs left out may weigh something, wherever they lie
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


@dataclass(frozen=True, slots=True, eq=False)
class RunLaw:
    """The law of a chosen rung: the mass of each run, spread evenly over its rungs unless the run has a growth."""

    runs: Runs
    masses: Floats

    @property
    def length(self) -> int:
        """How many rungs there are."""
        return int(self.runs.lengths.sum())

    def tail(self, positions: ArrayLike) -> Floats:
        """P(the rung is the k-th of the ladder or a later one), for each k; for runs without growth."""
        k = np.asarray(positions, dtype=np.int64) + self.runs.starts[0]
        after = np.append(np.cumsum(self.masses[::-1])[::-1], 0.0)
        run = np.searchsorted(self.runs.starts, k, side="right") - 1
        passed = np.minimum(k - self.runs.starts[run], self.runs.lengths[run]) / self.runs.lengths[run]
        return np.asarray(after[run] - self.masses[run] * passed)

    def log_pmf(self) -> Floats:
        """Log-probabilities of all rungs in order (for ladders short enough)."""
        runs = self.runs
        found = []
        for run, (mass, length) in enumerate(zip(self.masses.tolist(), runs.lengths.tolist(), strict=True)):
            logs = -float(runs.rate * int(runs.growth[run])) * np.arange(length)
            logs += math.log(mass) - math.log(np.exp(logs).sum()) if mass > 0 else -math.inf
            found.append(logs[::-1] if runs.below[run] >= 0 else logs)
        return np.concatenate(found)
