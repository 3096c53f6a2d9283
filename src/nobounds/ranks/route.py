"""Routes: one walk, or a choice among all rungs; after a noisy scale or a noisy sign; and their costs.

`auto` decides which route is taken. A route is a part of the program for a quantile (see `question`): `settled` makes
the decisions that come before the last one, and `last` is the walk or the choice.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np

from nobounds.accounting.cost import Cost, both, mirrored, monotonic, moving_threshold, pure, range_bounded, worst
from nobounds.accounting.loss import Neighbors
from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms.runs import DOUBLE_BITS, reach
from nobounds.noise.discrete import Noise
from nobounds.programs.program import Decision, Program
from nobounds.ranks.problem import Problem
from nobounds.ranks.scale import Scale, octave

TILT_OCTAVES = 3  # above the scale, where a tilt begins
Price: TypeAlias = Callable[[], Cost]


class RankView(Protocol):
    """Records as programs for ranks see them: each method is a decision about the records.

    `view` has that of one column, `groups.view` that of many groups at once.
    """

    def level(self, epsilon: Fraction, most: int, levels: tuple[int, ...], cost: Price) -> Decision[int]:
        """The first of these levels that the noisy number of records, at most `most`, reaches."""
        ...

    def scale(self, scale: Scale, cost: Price) -> Decision[int | None]:
        """Where the walk over the octaves halts."""
        ...

    def negative(self, q: Fraction, epsilon: Fraction, neighbors: Neighbors, cost: Price) -> Decision[bool]:
        """Whether the quantile is negative."""
        ...

    def halt(self, q: Fraction, route: "Route", noise: Noise, cost: Price) -> Decision[int | None]:
        """Where the walk along a route halts."""
        ...

    def choose(self, q: Fraction, route: "FlipRoute", cost: Price) -> Decision[int]:
        """The chosen rung."""
        ...


@dataclass(frozen=True, slots=True)
class Route:
    """One walk: up or down a ladder from rung `start` to rung `stop`, to `drop` ranks before the target."""

    ladder: Ladder
    up: bool
    start: int
    stop: int
    eps1: Fraction
    eps2: Fraction
    drop: Fraction = Fraction(0)
    at_least: int = 0  # the least size that it is for
    from_zero: bool = False  # whether its first rung stands for 0
    again: bool = False  # whether the records around the target are read again, onto this ladder
    tilt: int = 0  # the ranks that counts are lowered by for each octave ...
    tilted_from: int = 0  # ... from this rung (or minus it) outward

    def at_scale(self, octave: int) -> "Route":
        """The same walk on the ladder that follows a scale."""
        ladder = self.ladder.at_scale(octave)
        start, stop = (ladder.first, ladder.last) if self.up else (ladder.last, ladder.first)
        level = int(ladder.map.of(np.array([2.0 ** min(octave + TILT_OCTAVES, 1023)]))[0]) if self.tilt else 0
        return replace(self, ladder=ladder, start=start, stop=stop, tilted_from=level)

    def cost(self, q: Fraction, neighbors: Neighbors, nullable: bool) -> Cost:
        return walk_cost(q, self.up, neighbors, self.eps1, self.eps2, nullable)

    def settled(self, q: Fraction, problem: Problem, view: RankView) -> Program["OneRoute"]:
        """Nothing is decided before the walk."""
        yield from ()
        return self

    def last(self, q: Fraction, problem: Problem, view: RankView) -> Any:
        return view.halt(q, self, problem.noise, partial(self.cost, q, problem.neighbors, problem.nullable))

    def position(self, halted_at: int | None) -> int | None:
        """The position that is decided."""
        return halted_at

    def window(self, q: Fraction, total: int, nats: float | None = None) -> tuple[float, float]:
        """The ranks that matter: to a sampler in doubles, whatever the threshold's noise, or to a law up to exp(-nats).

        The noise is larger once in exp(45) times, and then the sampler looks again.
        """
        target, size = float((q if self.up else 1 - q) * total - self.drop), self.ladder.size
        eps1, eps2 = float(self.eps1), float(self.eps2)
        if nats is None:
            low, high = target - 45 / eps1 - reach(size, self.eps2, DOUBLE_BITS) - 1, target + 45 / eps1 + 50 / eps2 + 1
        else:
            low, high = target - (math.log(size) + nats) / eps2, target + nats / eps1 + nats / eps2
        return (low, high) if self.up else (total - high, total - low)


@dataclass(frozen=True, slots=True)
class FlipRoute:
    """Permute-and-flip, or the exponential mechanism, over all rungs of a ladder with this rate of noise."""

    up: ClassVar[bool] = True  # positions count the rungs from below
    from_zero: ClassVar[bool] = False  # the first rung stands for itself
    tilt: ClassVar[int] = 0  # counts are not lowered

    ladder: Ladder
    epsilon: Fraction
    rate: Fraction
    exponential: bool = False
    at_least: int = 0
    again: bool = False

    def at_scale(self, octave: int) -> "FlipRoute":
        return replace(self, ladder=self.ladder.at_scale(octave))

    def cost(self, q: Fraction, neighbors: Neighbors, nullable: bool) -> Cost:
        moved = range_bounded(self.epsilon) if self.exponential else pure(self.epsilon)
        if neighbors == "add-remove" or not nullable:
            return moved
        return Cost(both(moved, pure(self.epsilon * max(q, 1 - q))).kinds, moved.rho)

    def settled(self, q: Fraction, problem: Problem, view: RankView) -> Program["OneRoute"]:
        """Nothing is decided before the choice."""
        yield from ()
        return self

    def last(self, q: Fraction, problem: Problem, view: RankView) -> Any:
        return view.choose(q, self, partial(self.cost, q, problem.neighbors, problem.nullable))

    def position(self, rung: int) -> int:
        """The position of the chosen rung."""
        return rung - self.start

    def window(self, q: Fraction, total: int, nats: float | None = None) -> tuple[float, float]:
        bits = DOUBLE_BITS if nats is None else nats
        far = reach(self.ladder.size, self.rate, bits) + (nats is None)
        return float(q * total) - far, float(q * total) + far

    @property
    def start(self) -> int:
        return self.ladder.first

    @property
    def stop(self) -> int:
        return self.ladder.last


@dataclass(frozen=True, slots=True)
class Scaled:
    """A noisy scale, then a route on a ladder whose steps near 0 follow it."""

    scale: Scale
    then: Route | FlipRoute
    without: Route | FlipRoute  # if there is no scale
    at_least: int = 0

    def at(self, octave: int | None) -> Route | FlipRoute:
        """The route for this scale."""
        return self.without if octave is None else self.then.at_scale(octave)

    def cost(self, q: Fraction, neighbors: Neighbors, nullable: bool) -> Cost:
        either = [branch.cost(q, neighbors, nullable) for branch in (self.then, self.without)]
        return self.scale.cost(neighbors, nullable) + worst(either)

    def settled(self, q: Fraction, problem: Problem, view: RankView) -> Program["OneRoute"]:
        """The scale, and the route for it."""
        halted_at = yield view.scale(self.scale, partial(self.scale.cost, problem.neighbors, problem.nullable))
        return self.at(octave(halted_at))


@dataclass(frozen=True, slots=True)
class Outward:
    """A noisy sign of the quantile, then a walk from 0 to that side."""

    eps_sign: Fraction
    positive: Route
    negative: Route
    at_least: int = 0

    def cost(self, q: Fraction, neighbors: Neighbors, nullable: bool) -> Cost:
        sides = [side.cost(q, neighbors, nullable) for side in (self.positive, self.negative)]
        return pure(self.eps_sign) + worst(sides)

    def settled(self, q: Fraction, problem: Problem, view: RankView) -> Program["OneRoute"]:
        """The sign, and the walk to that side."""
        is_negative = yield view.negative(q, self.eps_sign, problem.neighbors, partial(pure, self.eps_sign))
        return self.negative if is_negative else self.positive


OneRoute: TypeAlias = Route | FlipRoute
AnyRoute: TypeAlias = OneRoute | Scaled | Outward


def rank_sensitivity(q: Fraction, neighbors: Neighbors) -> Fraction:
    """How far one record can move a count minus q n."""
    return Fraction(1) if neighbors == "swap" else max(q, 1 - q)


@lru_cache(maxsize=4096)
def walk_cost(
    q: Fraction, up: bool, neighbors: Neighbors, eps1: Fraction, eps2: Fraction, nullable: bool = True
) -> Cost:
    """The cost of one walk on counts - q n (docs/costs.md).

    Under swap a record may also turn from missing to present, if its type is nullable: that is an add-remove step. A
    walk up and a walk down see the same moved record from opposite sides, so their costs do not simply add.
    """
    added = moving_threshold(q if up else 1 - q, eps1, eps2)
    if neighbors == "add-remove":
        return added
    moved = monotonic(eps1, eps2) if up else mirrored(monotonic(eps1, eps2))
    return both(moved, added) if nullable else moved
