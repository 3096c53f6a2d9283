"""Routes: one walk, or all rungs at once; after a private scale, or a private sign; and what taking them costs.

Which route is taken is decided in `auto`.
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

TILT_OCTAVES = 3  # a tilt begins so many octaves above the scale


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
    at_least: int = 0  # the size it is taken from
    from_zero: bool = False  # its first rung stands for 0
    again: bool = False  # whether the records around the target are read again, onto this ladder
    tilt: int = 0  # how many ranks the counts are lowered by for each octave ...
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
        """Counts are taken as they are."""
        return 0


@dataclass(frozen=True, slots=True)
class Scaled:
    """A private scale, and then a route on a ladder whose steps near 0 follow it."""

    scale: Scale
    then: Route | FlipRoute
    without: Route | FlipRoute  # if there is no scale
    at_least: int = 0

    def at(self, octave: int | None) -> Route | FlipRoute:
        """The route for this scale."""
        return self.without if octave is None else self.then.at_scale(octave)


@dataclass(frozen=True, slots=True)
class Outward:
    """A private decision of the sign of the quantile, then a walk from 0 to that side."""

    sign: Fraction  # epsilon for the sign
    positive: Route
    negative: Route
    at_least: int = 0


OneRoute: TypeAlias = Route | FlipRoute
AnyRoute: TypeAlias = OneRoute | Scaled | Outward


def rank_sensitivity(q: Fraction, neighbors: Neighbors) -> Fraction:
    """How far one record can move a count minus q n."""
    return Fraction(1) if neighbors == "swap" else max(q, 1 - q)


def cost(route: AnyRoute, q: Fraction, neighbors: Neighbors, missing: bool) -> Cost:
    """What taking this route costs."""
    if isinstance(route, FlipRoute):
        moved = range_bounded(route.epsilon) if route.exponential else pure(route.epsilon)
        if neighbors == "add-remove" or not missing:
            return moved
        return Cost(both(moved, pure(route.epsilon * max(q, 1 - q))).kinds, moved.rho)
    if isinstance(route, Route):
        return walk_cost(q, route.up, neighbors, route.eps1, route.eps2, missing)
    if isinstance(route, Scaled):
        ways = [cost(way, q, neighbors, missing) for way in (route.then, route.without)]
        return route.scale.cost(neighbors, missing) + worst(ways)
    return pure(route.sign) + worst([cost(side, q, neighbors, missing) for side in (route.positive, route.negative)])


@lru_cache(maxsize=4096)
def walk_cost(
    q: Fraction, up: bool, neighbors: Neighbors, eps1: Fraction, eps2: Fraction, missing: bool = True
) -> Cost:
    """The cost of one walk on counts - q n (docs/costs.md).

    Under swap a record may also turn from missing to present, if its type has missing values: that is an add-remove
    step. A walk up and a walk down see the same moved record from opposite sides, so their costs do not simply add.
    """
    added = moving_threshold(q if up else 1 - q, eps1, eps2)
    if neighbors == "add-remove":
        return added
    moved = monotonic(eps1, eps2) if up else mirrored(monotonic(eps1, eps2))
    return both(moved, added) if missing else moved
