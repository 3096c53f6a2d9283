"""Many quantiles in one choice, by the joint exponential mechanism (see `mechanisms.joint`).

It costs as much as one choice at a sensitivity of 2 ranks, however many quantiles there are; their errors grow like the
root of their number. So it is better than recursive halving for a few dozen quantiles, with enough records beyond the
outer ones. Then the public prior hardly matters. With many records they are chosen among the deviations in a private
frame, because floats of a fixed precision cannot tell records apart that are very far from 0.

- A record more adds 1 to one gap between quantiles and moves all targets by their parts of 1: 2 (1 - smallest gap) in
  all. A record that moves changes two gaps by 1.
- Ties are spread over their rung (see `stretches`), so they are split at the ranks that are aimed at.

Its cost is proven in docs/proofs/joint.md.
"""

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

from nobounds.accounting.cost import Cost, both, pure, range_bounded
from nobounds.counting.histogram import Histogram
from nobounds.ladders.frame import Frame, Framed
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.prior import Prior, prior_around, prior_of
from nobounds.mechanisms.joint.decision import ChooseAll
from nobounds.mechanisms.joint.stretches import Stretches
from nobounds.programs.program import Program
from nobounds.ranks.auto import even
from nobounds.ranks.framing import FrameRule
from nobounds.ranks.problem import Problem
from nobounds.ranks.route import placed
from nobounds.ranks.values import value_of
from nobounds.ranks.view import FEW, View
from nobounds.values import dataclass

_NATS, _NATS_EACH = 20, 10  # of the ranks around each target that are read again, and for each quantile
_BEYOND = 5  # ranks more
_BALANCED = 3  # quantiles in two full levels, which under add-remove are as good as one choice of all


@dataclass(frozen=True, slots=True)
class JointRule:
    """The choice of all quantiles for `epsilon` and about `size` records; all of it public.

    `eps_size` has been spent on the size: under swap it is for a record that turns from missing to present, which costs
    less than `epsilon` here.
    """

    problem: Problem
    zcdp: bool
    epsilon: Fraction
    size: int
    eps_size: Fraction = Fraction(0)
    frame: Frame | None = None  # paid for already

    @property
    def added(self) -> Fraction:
        """By how much a record more may change the distance of quantiles from their targets."""
        return 2 - 2 * smallest_gap(self.problem.qs)

    @property
    def rate(self) -> Fraction:
        """The rate of the noise."""
        if self.problem.neighbors == "add-remove":
            return self.epsilon / (2 * self.added)
        if self.zcdp or not self.problem.nullable:
            return self.epsilon / 4
        return min(self.epsilon / 4, (self.epsilon - self.eps_size) / (2 * self.added))

    @property
    def is_better(self) -> bool:
        """Whether it is better than halving: for this many quantiles, with enough records beyond the outer ones."""
        qs, tuning = self.problem.qs, self.problem.tuning
        tail = min(qs[0], 1 - qs[-1])
        nats = self.size * self.rate
        return is_for(self.problem) and tuning.joint_tail <= nats * tail and nats <= tuning.joint_nats

    def cost(self) -> Cost:
        """The cost; under swap, of a record that moves, and of one that turns from missing to present."""
        if self.problem.neighbors == "add-remove":
            return range_bounded(2 * self.added * self.rate)
        moved = range_bounded(4 * self.rate)
        if not self.problem.nullable:
            return moved
        return Cost(both(moved, pure(2 * self.added * self.rate)).kinds, moved.rho)

    @property
    def frame_rule(self) -> FrameRule | None:
        """The frame that is bought before the choice, if any: one that costs little beside it."""
        tuning, twice = self.problem.tuning, 2 if self.problem.neighbors == "swap" else 1
        if self.size * self.epsilon < twice * tuning.joint_framed:
            return None
        return FrameRule.affordable(self.problem, self.size, self.epsilon, inner=True)

    def within(self, frame: Frame, left: Fraction) -> "JointRule":
        """The same choice in a frame, for what it leaves."""
        return replace(self, frame=frame, epsilon=left)

    @property
    def ladder(self) -> Ladder:
        """The rungs of all numbers or of the deviations in the frame, as fine as the number of records demands."""
        tuning, nats = self.problem.tuning, max(float(self.size * self.rate), 1.0)
        needed = math.ceil(math.log2(nats))
        if self.frame is None:
            bits = min(needed + tuning.joint_bits, tuning.most_choice_bits)
            return self.problem.ladder.finest(bits, tuning.prior_floor)
        bits = needed + tuning.joint_framed_bits
        return placed(even(bits), self.frame if self.frame.unit is None else self.frame.at_least(bits))

    @property
    def prior(self) -> Prior:
        """What rungs weigh before any record is seen; in a frame, around one scale from the centre."""
        ladder = self.ladder
        if self.frame is None:
            return prior_of(ladder)
        assert isinstance(ladder.map, Framed)
        deviations: Any = ladder.map.inner
        return prior_around(deviations, 0)

    def program(self, view: View) -> Program[tuple[int | float, ...]]:
        """The quantiles in increasing order."""
        ladder, places = self.ladder, self.problem.tuning.places
        choice = ChooseAll(partial(self.stretches, view), self.cost, partial(self.near, view))
        chosen: tuple[int, ...] = yield choice
        return tuple(value_of(self.problem.ladder, ladder, place // places) for place in chosen)

    def stretches(self, view: View) -> Stretches:
        """What is chosen from."""
        return self._stretches(view.counts.full(self.ladder))

    def near(self, view: View) -> Stretches:
        """The same, exact around the targets alone, if there are many more records than those."""
        total, many = view.total, len(self.problem.qs)
        far = (_NATS + _NATS_EACH * many) / float(self.rate)
        if total <= max(FEW, 4 * many * far):
            return self.stretches(view)
        windows = [(float(q * total) - far - _BEYOND, float(q * total) + far + _BEYOND) for q in self.problem.qs]
        return self._stretches(view.counts.near(self.ladder, windows)[0], far)

    def _stretches(self, histogram: Histogram, far: float = math.inf) -> Stretches:
        tuning = self.problem.tuning
        return Stretches.of(histogram, tuning.places, self.problem.qs, self.rate, self.prior, far)


def smallest_gap(qs: tuple[Fraction, ...]) -> Fraction:
    """The smallest gap between neighbouring ranks in increasing order, from 0 to 1."""
    ranks = (Fraction(0), *qs, Fraction(1))
    return min(high - low for low, high in pairwise(ranks))


def is_for(problem: Problem) -> bool:
    """Whether one choice is better than halving for this number of quantiles, with enough records."""
    many, tuning = len(problem.qs), problem.tuning
    if not problem.grows:
        return False
    if problem.neighbors == "swap":
        return many <= tuning.joint_most
    return many <= tuning.joint_most_added and many != _BALANCED
