"""Two rungs in one choice, each near a target rank of its own, by the larger of their two distances.

The exponential mechanism with the score -max(d1, d2): a pair of rungs weighs prior * prior * exp(-rate max(d1, d2)). A
record changes the larger distance by no more than it changes either, so two choices cost as much as one. A pair is
drawn in two steps, because exp(-rate d) is a sum over all distances from d on: first a distance D, with the weight
(exp(-rate D) - exp(-rate D')) * (what rungs within D of each target weigh), D' the next one; and then the two rungs
independently among those within D. Distances are whole numbers of one half.
"""

import math
from collections.abc import Callable, Hashable
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from nobounds.accounting.cost import Cost
from nobounds.arrays import Floats, Ints
from nobounds.exact import ball
from nobounds.ladders.prior import Prior
from nobounds.mechanisms.decisions import Hidden
from nobounds.mechanisms.runs import DOUBLE_BITS, DOUBLE_ERROR, Runs, pick, pick_ball
from nobounds.noise.discrete import Uniform, decide, uniform_below
from nobounds.noise.source import RandomSource
from nobounds.values import dataclass

if TYPE_CHECKING:
    from flint import arb


@dataclass(frozen=True, eq=False, repr=False)
class ChoosePair(Hidden):
    """The rungs that are chosen for two targets; the runs of rungs around each are made when they are needed."""

    make: Callable[[], tuple[Runs, Runs]]
    cost: Callable[[], Cost]

    @cached_property
    def runs(self) -> tuple[Runs, Runs]:
        """The runs around each target, over the same rungs and under the same prior."""
        return self.make()

    @property
    def public(self) -> Hashable:
        runs = self.runs[0]
        assert runs.prior is not None
        return runs.rate, int(runs.starts[0]), int(runs.starts[-1] + runs.lengths[-1]), runs.prior.key

    def draw(self, source: RandomSource) -> tuple[int, int]:
        steps = Steps.of(*self.runs)
        step = steps.drawn(source)
        first, second = (steps.rung(side, step, source) for side in (0, 1))
        return first, second


def halves(runs: Runs) -> Ints:
    """The distance of each run from its target, in halves of a rank."""
    twice = 2 * (runs.distances() + float(runs.least))
    whole = np.rint(twice).astype(np.int64)
    if (whole != twice).any():
        raise ValueError("the targets of a pair must be whole numbers of one half")
    return whole


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """The distances in rising order, and for each the rungs within it, of both targets. Sensitive."""

    twice: Ints  # each distance, in halves
    first: tuple[Ints, Ints]  # the first rung within each distance, of both targets
    last: tuple[Ints, Ints]
    rate: Fraction
    prior: Prior

    @classmethod
    def of(cls, one: Runs, two: Runs) -> "Steps":
        """The steps of two targets."""
        both = halves(one), halves(two)
        twice = np.unique(np.concatenate(both))
        twice = twice[twice >= max(int(each.min()) for each in both)]
        ends = [_within(runs, each, twice) for runs, each in zip((one, two), both, strict=True)]
        assert one.prior is not None
        return cls(twice, (ends[0][0], ends[1][0]), (ends[0][1], ends[1][1]), one.rate, one.prior)

    def __repr__(self) -> str:
        return f"Steps(rate={self.rate}, the rest hidden)"

    def near(self, bits: float) -> int:
        """How many steps matter: all others together weigh less than 2**-bits, and all pairs 1 or more."""
        nats = 2 * math.log(self.prior.most) + (bits + 2) * math.log(2)
        away = float(self.rate) / 2 * (self.twice - self.twice[0])
        return int(np.searchsorted(away, nats * 1.001 + 1, side="right"))

    def drawn(self, source: RandomSource) -> int:
        """An exact draw of the step."""
        u = Uniform(source)
        weights = self.weights(self.near(DOUBLE_BITS))
        passed = weights.cumsum()
        step = pick(passed, passed, DOUBLE_ERROR, 2.0**-DOUBLE_BITS, u)
        return decide(lambda precision: self._in_balls(u, precision)) if step is None else step

    def weights(self, many: int) -> Floats:
        """The weights of the first steps in doubles, in units of which every pair of rungs weighs at least 1."""
        half = float(self.rate) / 2
        gaps = np.append(np.diff(self.twice).astype(np.float64), np.inf)[:many]
        masses = [
            np.ldexp(self.prior.masses(self.first[k][:many], self.last[k][:many]), self.prior.shift) for k in (0, 1)
        ]
        falls = np.exp(-half * (self.twice[:many] - self.twice[0]))
        return np.asarray(falls * -np.expm1(-half * gaps) * masses[0] * masses[1])

    def _in_balls(self, u: Uniform, precision: int) -> int | None:
        from flint import arb

        many = self.near(precision)
        weights = [self._ball(step) for step in range(many)]
        return pick_ball(weights, arb(2) ** -precision, u, precision)

    def _ball(self, step: int) -> "arb":
        half, away = self.rate / 2, int(self.twice[step] - self.twice[0])
        weight = ball(-half * away).exp()
        if step + 1 < len(self.twice):
            weight = weight * -ball(-half * int(self.twice[step + 1] - self.twice[step])).expm1()
        for side in (0, 1):
            weight = weight * self._mass(side, step)
        return weight

    def _mass(self, side: int, step: int) -> int:
        return self.prior.mass(int(self.first[side][step]), int(self.last[side][step]))

    def rung(self, side: int, step: int, source: RandomSource) -> int:
        """A rung within the distance of a step, as likely as it weighs under the prior."""
        first, last = int(self.first[side][step]), int(self.last[side][step])
        return self.prior.rung_at(first, last, uniform_below(self._mass(side, step), source))


def _within(runs: Runs, twice: Ints, distances: Ints) -> tuple[Ints, Ints]:
    """The first and the last rung within each of these distances: runs are nearer and then farther along the rungs."""
    nearest = int(np.argmin(twice))
    before, after = twice[: nearest + 1][::-1], twice[nearest:]
    low = nearest - (np.searchsorted(before, distances, side="right") - 1)
    high = nearest + np.searchsorted(after, distances, side="right") - 1
    return runs.starts[low], runs.starts[high] + runs.lengths[high] - 1
