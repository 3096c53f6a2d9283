"""Routes: one walk, or a choice among all rungs; after a noisy scale or a noisy sign; and their costs.

`auto` decides which route is taken.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from nobounds.accounting.cost import Cost, both, mirrored, monotonic, moving_threshold, pure, range_bounded, worst
from nobounds.accounting.loss import Neighbors
from nobounds.ladders.ladder import Ladder
from nobounds.ranks.scale import Scale

TILT_OCTAVES = 3  # above the scale, where a tilt begins


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


@dataclass(frozen=True, slots=True)
class FlipRoute:
    """Permute-and-flip, or the exponential mechanism, over all rungs of a ladder with this rate of noise."""

    ladder: Ladder
    epsilon: Fraction
    rate: Fraction
    exponential: bool = False
    at_least: int = 0
    again: bool = False

    def at_scale(self, octave: int) -> "FlipRoute":
        """The same choice on the ladder that follows a scale."""
        return replace(self, ladder=self.ladder.at_scale(octave))

    @property
    def up(self) -> bool:
        """Positions count the rungs from below."""
        return True

    @property
    def start(self) -> int:
        """The first rung."""
        return self.ladder.first

    @property
    def stop(self) -> int:
        """The last rung."""
        return self.ladder.last

    @property
    def from_zero(self) -> bool:
        """The first rung stands for itself."""
        return False

    @property
    def tilt(self) -> int:
        """Counts are not lowered."""
        return 0


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


@dataclass(frozen=True, slots=True)
class Outward:
    """A noisy sign of the quantile, then a walk from 0 to that side."""

    eps_sign: Fraction
    positive: Route
    negative: Route
    at_least: int = 0


OneRoute: TypeAlias = Route | FlipRoute
AnyRoute: TypeAlias = OneRoute | Scaled | Outward


def rank_sensitivity(q: Fraction, neighbors: Neighbors) -> Fraction:
    """How far one record can move a count minus q n."""
    return Fraction(1) if neighbors == "swap" else max(q, 1 - q)


def cost(route: AnyRoute, q: Fraction, neighbors: Neighbors, nullable: bool) -> Cost:
    """The cost of a route."""
    if isinstance(route, FlipRoute):
        moved = range_bounded(route.epsilon) if route.exponential else pure(route.epsilon)
        if neighbors == "add-remove" or not nullable:
            return moved
        return Cost(both(moved, pure(route.epsilon * max(q, 1 - q))).kinds, moved.rho)
    if isinstance(route, Route):
        return walk_cost(q, route.up, neighbors, route.eps1, route.eps2, nullable)
    if isinstance(route, Scaled):
        either = [cost(branch, q, neighbors, nullable) for branch in (route.then, route.without)]
        return route.scale.cost(neighbors, nullable) + worst(either)
    sides = [cost(side, q, neighbors, nullable) for side in (route.positive, route.negative)]
    return pure(route.eps_sign) + worst(sides)


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
