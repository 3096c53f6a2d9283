"""A clip: the interval that records are kept in before they are summed, and the private search for it.

A guess too high drowns a sum in noise, one too low biases it. Clipping one record more costs as much as the noise saves
when about 1 / epsilon records lie outside, so the search aims at the very end of the data, on both sides of a noisy
centre. A record lies on one side of it, so under add-remove two walks cost as much as one.

- Under swap AboveThreshold walks outward from the centre until a noisy count of the records inside passes a noisy n.
- Under add-remove, and with very many records, it walks inward until a noisy count of the records outside passes a
  noisy constant: to count from the side of the few costs max(eps1, eps2) under add-remove, and eps1 + eps2 under swap.

The centre, and a scale of the deviations from it, are those of a private frame (see `ranks.framing`). Beyond the data
the counts are constant, and a walk may halt far too late, or too early. So counts are tilted by public amounts beyond
the scale. Without enough records for a scale the walk goes outward under swap, where a mistake makes the interval too
small, never absurd; and under add-remove inward over octaves, tilted by the public prior.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache, partial
from typing import Protocol

import numpy as np

from nobounds.accounting.cost import Cost, fixed_threshold, mirrored, monotonic, moving_threshold, pure, split
from nobounds.accounting.loss import Neighbors
from nobounds.arrays import Ints
from nobounds.clipping.tuning import CLIP_TUNING, ClipTuning
from nobounds.clipping.widths import WidthWalk, inward_walk, outward_walk, rung_of, top
from nobounds.counting.histogram import Histogram
from nobounds.exact import MAX, finite_float
from nobounds.ladders.ladder import Ladder, float_bounds
from nobounds.ladders.rungs import Grid
from nobounds.mechanisms.decisions import FREE, Together
from nobounds.noise.additive import Additive
from nobounds.programs.program import Decision, Program
from nobounds.ranks.framing import HALF, FrameRule
from nobounds.ranks.problem import Problem
from nobounds.ranks.route import Price, RankView
from nobounds.values import dataclass

_LEAST, _MOST = Fraction(-MAX), Fraction(MAX)


class ClipView(Protocol):
    """Records as the search for a clip sees them.

    `view` has the view of a column.
    """

    def number(self, noise: Additive, cost: Price) -> Decision[int]:
        """The noisy number of records that are not missing."""
        ...

    def outer(self, low: float, high: float, noise: Additive, cost: Price) -> Decision[list[int]]:
        """The noisy numbers of records up to `low`, between, and from `high` on."""
        ...

    def ranks(self, ladder: Ladder) -> RankView:
        """The records as programs for ranks see them."""
        ...

    def deviations(self, center: float, low: float, high: float, all_present: bool, octave: int) -> Histogram:
        """The deviations from the centre, over 2**octave, of the records, kept from `low` to `high`.

        With `all_present` a missing record is placed at the centre, else it is none.
        """
        ...


@dataclass(frozen=True, slots=True)
class Clip:
    """A noisy interval around a noisy centre."""

    low: Fraction
    high: Fraction
    center: Fraction
    trusted: bool  # whether there were enough records for the search


@dataclass(frozen=True, slots=True)
class ClipStart:
    """Where the search for the widths of a clip starts, all of it public."""

    center: Fraction
    octave: int | None  # of the scale, or None if there is no scale
    left: Fraction  # of epsilon, for the walks
    outside: int = 0  # how many records more may lie outside


@dataclass(frozen=True, slots=True)
class Search:
    """How a clip is searched for, all of it public: for this epsilon, within the bounds of a ladder.

    A two-sided search finds the interval around a centre; the others find the largest magnitude c, for [-c, c].
    """

    epsilon: Fraction
    neighbors: Neighbors
    ladder: Ladder
    two_sided: bool
    nullable: bool
    outside: int = 0  # how many records more may lie outside, where one clip is for several sums
    walked: bool = True  # else, where there is a frame, octaves are counted around its scale
    tuning: ClipTuning = CLIP_TUNING

    def __hash__(self) -> int:
        """Of what differs most: hashing all constants would take much longer."""
        return hash((self.epsilon, self.neighbors, self.two_sided, self.outside))

    def cost(self) -> Cost:
        """Whatever the size, the centre and the scale turn out to be, the parts cost epsilon together."""
        return pure(self.epsilon)

    @property
    def outer(self) -> tuple[float, float] | None:
        """Where the outer parts of what is between the public bounds begin; None if there is a bound to search for.

        They are below and above a centre, or those of the largest magnitudes.
        """
        low, high, part = self.ladder.lower, self.ladder.upper, self.tuning.outer
        if low is None or high is None or self.ladder.is_settled:
            return None
        if self.two_sided:
            return finite_float(low + (high - low) * part / 2), finite_float(high - (high - low) * part / 2)
        inner = max(abs(low), abs(high)) * (1 - part)
        return finite_float(-inner), finite_float(inner)

    def fills(self, below: int, above: int, epsilon: Fraction) -> bool:
        """Whether records fill what is between the public bounds, by noisy numbers of those in its outer parts."""
        least = self.tuning.outer_nats / epsilon
        return min(below, above) >= least if self.two_sided else max(below, above) >= least

    def program(self, view: ClipView, size: int, slack: int) -> Program[Clip]:
        """The clip for about `size` records, of which `slack` may be noise."""
        start = yield from self.start(view, size)
        return (yield from self.widths(view, start, size - slack))

    def start(self, view: ClipView, size: int) -> Program[ClipStart]:
        """The centre and the scale, as far as `size` records pay for them."""
        rule, center, octave = self.frame(size), self.within(Fraction(0)), None
        spent = Fraction(0)
        if rule is not None:
            frame = yield from rule.program(self.problem, view.ranks(self.ladder))
            center, octave, spent = Fraction(frame.center), frame.octave, rule.epsilon
            if frame.unit is not None:
                center, octave = center * frame.unit, octave + math.frexp(frame.unit)[1] - 1
            center = self.within(center)
        outside = min(self.outside, max(size, 0) // self.tuning.most_outside)
        return ClipStart(center, octave, self.epsilon - spent, outside)

    def widths(self, view: ClipView, start: ClipStart, size: int) -> Program[Clip]:
        """The clip around a centre; `size` is what decides whether it is trusted."""
        rungs, trusted = yield from self.halted(view, start, size)
        return self.clip_at(start, rungs, trusted)

    def halted(self, view: ClipView, start: ClipStart, size: int) -> Program[tuple[tuple[int, ...], bool]]:
        """The rungs where the walks halt, one for each side, and whether `size` records are enough for the walks."""
        if not self.walks_from(start):
            return (self.beginning,) * len(self.sides(start.center)), True
        walks = self.walks(self.deviations(view, start), start)
        positions = yield self.halts(walks)
        rungs = tuple(self.rung(walk.candidates, at) for walk, at in zip(walks, positions, strict=True))
        return rungs, not walks or self.trusts(size - start.outside, walks[0].walk.eps2)  # all have one eps2

    def walks_from(self, start: ClipStart) -> bool:
        """Whether walks go on from this start."""
        return self.walked or start.octave is None

    @property
    def beginning(self) -> int:
        """The rung that octaves are counted around where no walk says more."""
        return rung_of(self.tuning.unwalked)

    def clip_at(self, start: ClipStart, rungs: Sequence[int], trusted: bool) -> Clip:
        """The clip whose sides end at these rungs."""
        return self.clip(start.center, [self.width_at(rung, start.octave) for rung in rungs], trusted)

    @property
    def problem(self) -> Problem:
        """What the frame is searched for."""
        return Problem((HALF,), self.ladder, self.neighbors, self.nullable, grows=True, tuning=self.tuning.ranks)

    @lru_cache(maxsize=256)  # noqa: B019 - a search is a small public value
    def frame(self, size: int) -> FrameRule | None:
        """The frame that is bought for about `size` records, or None if it is not affordable.

        Where magnitudes are searched for, the centre is 0, and costs nothing.
        """
        nats, most = self.epsilon * max(size, 0), self.tuning.frame_part(self.neighbors, self.two_sided)
        least = self.tuning.frame_nats(self.neighbors, self.two_sided)
        if not self.walked and nats >= self.tuning.fewer_nats * sum(least):
            return FrameRule.of(self.problem, *(self.epsilon * part / sum(least) for part in least))
        if sum(least) > most * nats:
            return None
        center, scale = self.tuning.frame_nats(self.neighbors, self.two_sided, nats)
        return FrameRule.of(self.problem, Fraction(center, size), Fraction(scale, size))

    def within(self, value: Fraction) -> Fraction:
        """The value kept within the public bounds and the range of floats."""
        low, high = self.ladder.lower, self.ladder.upper
        return min(max(value, _LEAST if low is None else low), _MOST if high is None else high)

    def deviations(self, view: ClipView, start: ClipStart, present: bool = False) -> Histogram:
        """The deviations of the records from the centre, within the public bounds, over the scale if there is one.

        Under swap a missing record is placed at the centre, unless only those `present` count: then the number of
        records is public, and a record that turns from missing to present is one that moves.
        """
        lower, upper = float_bounds(self.ladder)
        placed = self.neighbors == "swap" and not present
        return view.deviations(finite_float(start.center), lower, upper, placed, start.octave or 0)

    def sides(self, center: Fraction) -> tuple[int, ...]:
        """Where records may lie: above the centre (1), below it (-1), or in one table of magnitudes (0)."""
        if not self.two_sided:
            return (0,)
        sides = ((1, self.ladder.upper), (-1, self.ladder.lower))
        return tuple(side for side, bound in sides if bound is None or bound != center)

    def walks(self, around: Histogram, start: ClipStart) -> list[WidthWalk]:
        """The walks for the widths of the clip, one for each side of the centre where records may lie."""
        sides, counts = self.sides(start.center), around.counts
        origin = None if start.octave is None else self.tuning.origin
        rungs = [np.maximum(side * around.rungs, 0) if side else np.abs(around.rungs) for side in sides]
        inward = self.inward(start, around.total)
        eps1, eps2 = self._rates(inward, start.left, start.octave is not None, len(sides))
        if inward:
            beyond, wider = self.tuning.halting(self.neighbors, origin is not None)
            threshold = math.ceil(beyond / eps2) + start.outside
            return [inward_walk(each, counts, origin, threshold, eps1, eps2, self.tuning, wider) for each in rungs]
        return [outward_walk(inside, counts, origin, eps1, eps2, self.tuning) for inside in rungs]

    def inward(self, start: ClipStart, size: int) -> bool:
        """Whether the walks from this start go inward; under swap, for this public or noisy number of records."""
        return self.goes_inward(size) and (start.octave is not None or self.neighbors == "add-remove")

    def rates(self, start: ClipStart, size: int) -> tuple[Fraction, Fraction]:
        """The rates eps1 and eps2 of the walks from this start."""
        sides = len(self.sides(start.center))
        return self._rates(self.inward(start, size), start.left, start.octave is not None, sides)

    @lru_cache(maxsize=256)  # noqa: B019 - a search is a small public value, and so is what is left
    def _rates(self, inward: bool, left: Fraction, scaled: bool, sides: int) -> tuple[Fraction, Fraction]:
        if inward:
            return split(self.inward_cost, left, self.tuning.inward_share(self.neighbors))
        return split(partial(self.outward_cost, sides), left, self.tuning.share if scaled else self.tuning.untilted)

    def halts(self, walks: Sequence[WidthWalk]) -> Together:
        """Where the walks halt, for one price."""
        cost = partial(self.walks_cost, walks)
        return Together(tuple(walk.halt(cost) for walk in walks), cost)

    def walks_cost(self, walks: Sequence[WidthWalk]) -> Cost:
        """The cost of all walks together."""
        if not walks:
            return FREE
        eps1, eps2 = walks[0].walk.eps1, walks[0].walk.eps2
        return self.inward_cost(eps1, eps2) if walks[0].inward else self.outward_cost(len(walks), eps1, eps2)

    def goes_inward(self, size: int) -> bool:
        """Whether the walks go inward; the size matters only under swap, and is public or already noised."""
        return self.neighbors == "add-remove" or size * self.epsilon >= self.tuning.many

    def inward_cost(self, eps1: Fraction, eps2: Fraction) -> Cost:
        """The cost of all walks inward: a record is counted by one of them.

        Under swap a record that moves on its side costs eps1 + eps2; one that crosses the centre leaves one walk, which
        costs eps1 or eps2, and enters the other, which costs the other of the two.
        """
        return fixed_threshold(eps1, eps2) if self.neighbors == "add-remove" else pure(eps1 + eps2)

    def outward_cost(self, sides: int, eps1: Fraction, eps2: Fraction) -> Cost:
        """The cost of all walks outward: under add-remove a record changes one of them, because it is on one side.

        For the other walk, it adds one to all counts and to n.
        """
        if self.neighbors == "add-remove":
            return moving_threshold(Fraction(1), eps1, eps2)
        moved = monotonic(eps1, eps2)  # across the centre, a record leaves one walk and enters the other
        whole = moved + mirrored(moved) if sides == 2 else moved
        return pure(whole.epsilon)

    def clip(self, center: Fraction, widths: list[Fraction], trusted: bool) -> Clip:
        """The clip of these widths, one for each side."""
        by_side = dict(zip(self.sides(center), widths, strict=True))
        below, above = (by_side.get(side, by_side.get(0, Fraction(0))) for side in (-1, 1))
        return Clip(self.within(center - below), self.within(center + above), center, trusted)

    def trusts(self, size: int, eps2: Fraction) -> bool:
        """Whether `size` records are enough for a walk."""
        return size * eps2 >= self.tuning.nats

    def rung(self, candidates: Ints, position: int | None) -> int:
        """The rung where a walk halted, or its last."""
        return int(candidates[-1 if position is None else position])

    def width(self, candidates: Ints, position: int | None, octave: int | None) -> Fraction:
        """The width for the position where a walk halted."""
        return self.width_at(self.rung(candidates, position), octave)

    def width_at(self, rung: int, octave: int | None) -> Fraction:
        """The upper edge of a rung; on a grid the last point before it."""
        if rung == 0:
            return Fraction(0)
        width = top(rung, octave or 0)
        if isinstance(self.ladder.map, Grid):
            return math.floor(width / self.ladder.map.unit) * self.ladder.map.unit
        return width
