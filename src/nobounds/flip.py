"""Permute-and-flip over the rungs of a ladder: the rung whose rank is nearest to the target, noisily.

McKenna and Sheldon 2020, which is report-noisy-max with exponential noise (Ding et al. 2021). The paper's appendix asks
for it and finds an infinite domain in the way; a ladder is finite. The utility of a rung is minus the distance of the
target rank from the interval [records below the rung, records below or in it], so ties count right.

With a = exp(-rate * distance) for each rung (one of them has distance 0), the largest noisy utility Z satisfies
P(silent through s) = exp(-H(s)), H(s) = -sum of ln(1 - a (1 - e^-s)): one exponential variable E gives s by H(s) = E,
and given s the rung is chosen with weights a / (1 - a (1 - e^-s)). Rungs of equal utility are taken together, those
far from the target add less than 2**-bits and are carried as an error, and every comparison is certified.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from nobounds.exact import ball
from nobounds.histogram import Histogram
from nobounds.noise import Exponential, Source, Uniform, decide, uniform_below
from nobounds.rungs import Floats, Ints

if TYPE_CHECKING:
    from flint import arb

_BITS = 60
_ERROR = 2.0**-40  # relative error allowed for an increment or a weight in double precision
_PANELS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 40.0)  # of E, for the law; exp(-40) is left out


@dataclass(frozen=True, slots=True, eq=False)
class Flip:
    """Rungs in runs of equal utility: where each run starts, how many rungs it has, its distance from the target.

    Distances are `whole + part`, a whole number and a fraction in [0, 1): exact. Sensitive: its repr shows nothing.
    """

    starts: Ints
    lengths: Ints
    above: Ints  # whole parts of the distance of runs whose ranks lie above the target, -1 for the others
    below: Ints  # the same for runs whose ranks lie below it
    part: Fraction  # what a rank above the target exceeds it by, beyond whole numbers
    rate: Fraction

    @classmethod
    def of(cls, histogram: Histogram, q: Fraction, rate: Fraction) -> "Flip":
        """The runs of a histogram for the target rank q n; `rate` is epsilon / (2 sensitivity)."""
        ladder, target = histogram.ladder, q * histogram.total
        floor = math.floor(target)
        rungs, up_to = histogram.rungs, histogram.up_to
        before = up_to - histogram.counts
        # An occupied rung, and the empty rungs behind it up to the next one; first of all those before the first.
        starts = np.concatenate([[ladder.first], np.stack([rungs, rungs + 1], axis=1).ravel()])
        ends = np.append(starts[1:], ladder.last + 1)
        low = np.concatenate([[0], np.stack([before, up_to], axis=1).ravel()])
        high = np.concatenate([[0], np.stack([up_to, up_to], axis=1).ravel()])
        keep = ends > starts
        above, below = low[keep] - floor - 1, floor - high[keep]
        part = floor + 1 - target  # in (0, 1]: the first whole rank above the target is this far from it
        if part == 1:  # a whole target: the rank `floor` itself has distance 0
            part, above = Fraction(0), above + 1
        return cls(starts[keep], (ends - starts)[keep], np.maximum(above, -1), np.maximum(below, -1), part, rate)

    def distances(self) -> Floats:
        """The distance of each run from the target, as doubles; one of them is 0."""
        up = np.where(self.above >= 0, self.above + float(self.part), 0.0)
        return np.maximum(up, np.where(self.below >= 0, self.below + float(self._other_part), 0.0))

    def distance(self, run: int) -> Fraction:
        """The distance of one run, exactly."""
        if self.above[run] >= 0:
            return int(self.above[run]) + self.part
        return int(self.below[run]) + self._other_part if self.below[run] >= 0 else Fraction(0)

    @property
    def _other_part(self) -> Fraction:
        return (1 - self.part) % 1

    def near(self, bits: int) -> Ints:
        """The runs that matter: all others together have weight below 2**-bits."""
        rungs = float(self.lengths.sum(dtype=np.float64))
        reach = (math.log(max(rungs, 2.0)) + (bits + 2) * math.log(2)) / float(self.rate)
        return np.flatnonzero(self.distances() <= reach * 1.001 + 1)

    def __repr__(self) -> str:
        return f"Flip(rate={self.rate}, the rest hidden)"


def choose_rung(flip: Flip, bits: Source) -> int:
    """The rung that permute-and-flip selects, drawn exactly."""
    e, u = Exponential(bits), Uniform(bits)
    run = _in_doubles(flip, e, u)
    if run is None:
        run = decide(lambda precision: _in_balls(flip, e, u, precision))
    return int(flip.starts[run]) + uniform_below(int(flip.lengths[run]), bits)


def _increments(x: Floats, s: Floats) -> Floats:
    """-ln(1 - a (1 - e^-s)) for a = e^-x, without cancellation."""
    a, z = np.exp(-x), -np.expm1(-s)
    with np.errstate(divide="ignore"):
        far = -np.log1p(-np.minimum(a * z, 0.5))
        return np.asarray(np.where(a * z < 0.5, far, -np.log(-np.expm1(-x) + a * np.exp(-s))))


def _weights(x: Floats, s: Floats) -> Floats:
    """a / (1 - a (1 - e^-s)) for a = e^-x."""
    a = np.exp(-x)
    return np.asarray(a / (-np.expm1(-x) + a * np.exp(-s)))


def _solve(x: Floats, lengths: Floats, goals: Floats) -> Floats:
    """The s with H(s) = goal, for each goal. H is concave, so Newton's steps from 0 never pass it."""
    s = np.zeros(len(goals))
    for _ in range(200):
        value = (_increments(x[None, :], s[:, None]) * lengths).sum(axis=1)
        slope = (_weights(x[None, :], s[:, None]) * lengths).sum(axis=1) * np.exp(-s)
        step = (goals - value) / slope
        s = s + np.maximum(step, 0.0)
        if np.all(step <= 1e-13 * s):
            break
    return s


def _in_doubles(flip: Flip, e: Exponential, u: Uniform) -> int | None:
    """The chosen run if double precision can tell, else None."""
    low, high = e.bounds()
    if high == math.inf or low <= 0:
        return None
    near = flip.near(_BITS)
    x = flip.distances()[near] * float(flip.rate)
    lengths = flip.lengths[near].astype(np.float64)
    error = _ERROR + len(near) * 2.0**-50
    s = float(_solve(x, lengths, np.array([low]))[0])
    ends = np.array([s * (1 - 2.0**-30), s * (1 + 2.0**-30)])
    sums = (_increments(x[None, :], ends[:, None]) * lengths).sum(axis=1)
    if not (sums[0] * (1 + error) + 2.0**-_BITS < low and sums[1] * (1 - error) > high):
        return None
    light, heavy = (np.cumsum(_weights(x, end) * lengths) for end in ends)
    light, heavy = light * (1 - error), heavy * (1 + error) + 2.0**-_BITS * math.exp(s)
    first, last = u.bounds()
    run = int(np.searchsorted(light / heavy[-1], last))
    if run == len(near) or run != int(np.searchsorted(heavy / light[-1], first)):
        return None
    return int(near[run])


def _in_balls(flip: Flip, e: Exponential, u: Uniform, precision: int) -> int | None:
    """The same in ball arithmetic at the working precision."""
    from flint import arb

    near = flip.near(2 * precision)
    rate = ball(flip.rate)
    xs = [(ball(flip.distance(run)) * rate, int(flip.lengths[run])) for run in near.tolist()]
    shares = [((-x).exp(), -(-x).expm1(), n) for x, n in xs]
    goal = e.ball(precision)

    def total(s: "arb") -> "arb":
        return sum((-(rest + a * (-s).exp()).log() * n for a, rest, n in shares), arb(0))

    def weights(s: "arb") -> "list[arb]":
        return [a / (rest + a * (-s).exp()) * n for a, rest, n in shares]

    doubles = flip.distances()[near] * float(flip.rate)
    s = arb(float(_solve(doubles, flip.lengths[near].astype(np.float64), np.array([float(goal.mid())]))[0]))
    for _ in range(precision.bit_length()):  # Newton's steps double the digits
        slope = sum(weights(s), arb(0)) * (-s).exp()
        s = (s + (goal - total(s)) / slope).mid()
    slack = arb(2) ** -(precision // 2)
    left_out = arb(2) ** -(2 * precision)
    if not (total(s * (1 - slack)) + left_out < goal and total(s * (1 + slack)) > goal):
        return None
    each = weights(arb(s, s * slack))
    before = arb(left_out * s.exp(), left_out * s.exp())  # the runs left out may weigh something, wherever they lie
    place = u.ball(precision) * (sum(each, arb(0)) + before)
    for run, weight in zip(near.tolist(), each, strict=True):
        before = before + weight
        if place < before:
            return int(run)
        if not place > before:
            return None
    return None


@dataclass(frozen=True, slots=True, eq=False)
class FlipLaw:
    """The law of the chosen rung: the mean over E of the shares of the weights given E."""

    flip: Flip
    masses: Floats  # of the runs

    @classmethod
    def of(cls, flip: Flip) -> "FlipLaw":
        """All masses to about 1e-12, by Gauss rules over E."""
        near = flip.near(_BITS)
        x, lengths = flip.distances()[near] * float(flip.rate), flip.lengths[near].astype(np.float64)
        nodes, weights = np.polynomial.legendre.leggauss(20)
        masses = np.zeros(len(flip.lengths))
        for low, high in pairwise(_PANELS):
            goals = (low + high) / 2 + (high - low) / 2 * nodes
            s = _solve(x, lengths, goals)
            shares = _weights(x[None, :], s[:, None]) * lengths
            shares /= shares.sum(axis=1, keepdims=True)
            masses[near] += (weights * (high - low) / 2 * np.exp(-goals)) @ shares
        return cls(flip, masses)

    @property
    def length(self) -> int:
        """How many rungs there are."""
        return int(self.flip.lengths.sum())

    def tail(self, positions: ArrayLike) -> Floats:
        """P(the rung is the k-th of the ladder or a later one), for each k."""
        k = np.asarray(positions, dtype=np.int64) + self.flip.starts[0]
        after = np.append(np.cumsum(self.masses[::-1])[::-1], 0.0)
        run = np.searchsorted(self.flip.starts, k, side="right") - 1
        passed = np.minimum(k - self.flip.starts[run], self.flip.lengths[run]) / self.flip.lengths[run]
        return np.asarray(after[run] - self.masses[run] * passed)

    def log_pmf(self) -> Floats:
        """Log-probabilities of all rungs in order (for ladders short enough)."""
        with np.errstate(divide="ignore"):
            return np.repeat(np.log(self.masses / self.flip.lengths), self.flip.lengths)
