"""Routes to a quantile: one walk along a ladder, or one choice among all of its rungs; and their costs.

`auto` decides which route is taken. Ladders are those of the records, or of their deviations in a frame (see
`ladders.frame`), which is decided first.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, ClassVar, Protocol, TypeAlias, TypeVar

import numpy as np

from nobounds.accounting.cost import Cost, both, mirrored, monotonic, moving_threshold, pure, range_bounded
from nobounds.accounting.loss import Neighbors
from nobounds.ladders.frame import Frame, Framed
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.prior import Prior, prior_of
from nobounds.ladders.rungs import Grid
from nobounds.ladders.steps import inward_cuts, on_points, outward_cuts
from nobounds.ladders.zoned import Zoned
from nobounds.mechanisms.runs import DOUBLE_BITS, EQUAL, reach
from nobounds.noise.discrete import Noise
from nobounds.programs.program import Decision
from nobounds.ranks.problem import Problem
from nobounds.values import dataclass

Price: TypeAlias = Callable[[], Cost]

EIGHTHS, QUARTERS = 3, 2  # log2 of the rungs from one point of a grid to the next, on the way out and on the way in


class RankView(Protocol):
    """Records as programs for ranks see them: each method is a decision about the records.

    `view` has that of one column, `groups.view` that of many groups at once, for which centres and octaves are arrays.
    """

    def level(self, epsilon: Fraction, most: int, levels: tuple[int, ...], cost: Price) -> Decision[int]:
        """The first of these levels that the noisy number of records, at most `most`, reaches."""
        ...

    def center(self, route: "ChoiceRoute", cost: Price) -> Decision[Any]:
        """The rung of the noisy median."""
        ...

    def spread(self, around: Any, rate: Fraction, cost: Price) -> Decision[Any]:
        """The octave of the noisy median deviation from the centre."""
        ...

    def halt(self, q: Fraction, route: "Route", noise: Noise, cost: Price) -> Decision[int | None]:
        """Where the walk along a route halts."""
        ...

    def choose(self, q: Fraction, route: "ChoiceRoute", cost: Price) -> Decision[int]:
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
    again: bool = False  # whether the records around the target are read again, onto this ladder
    tilt: int = 0  # the ranks that counts are lowered by, at the start and until each of the ...
    cuts: tuple[int, ...] = ()  # ... positions, in rising order, where they are lowered by as much less
    frame: Frame | None = None  # where the ladder is one of deviations
    one_end: bool = False  # whether to halt at the last rung and never to halt have the same answer, as for `Halt`

    def within(self, frame: Frame | None) -> "Route":
        """The same walk in this frame; of groups, `on_points` is left to do."""
        return self if frame is None else replace(on_grid(self, frame), frame=frame)

    def on_points(self, octave: int) -> "Route":
        """The same walk with a few rungs at most to a point of a grid, for a scale of 2**`octave` points.

        Where it halts some rungs late, it has still passed the same point.
        """
        ladder = on_points(self.ladder, octave + (EIGHTHS if self.start == 0 else QUARTERS))
        ends = {self.ladder.first: ladder.first, self.ladder.last: ladder.last}  # another end is one at the centre
        cuts = () if not self.cuts else outward_cuts(ladder) if self.start == 0 else inward_cuts(ladder)
        start, stop = (ends.get(rung, rung) for rung in (self.start, self.stop))
        return replace(self, ladder=ladder, start=start, stop=stop, cuts=cuts)

    @property
    def placed(self) -> Ladder:
        """The ladder of the records themselves."""
        return placed(self.ladder, self.frame)

    def cost(self, q: Fraction, neighbors: Neighbors, nullable: bool) -> Cost:
        return walk_cost(q, self.up, neighbors, self.eps1, self.eps2, nullable)

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
        eps1, eps2, lowered = float(self.eps1), float(self.eps2), self.tilt * len(self.cuts)
        if nats is None:
            low, high = target - 45 / eps1 - reach(size, self.eps2, DOUBLE_BITS) - 1, target + 45 / eps1 + 50 / eps2 + 1
        else:
            low, high = target - (math.log(size) + nats) / eps2, target + nats / eps1 + nats / eps2
        return (low, high + lowered) if self.up else (total - high - lowered, total - low)


@dataclass(frozen=True, slots=True)
class ChoiceRoute:
    """Permute-and-flip, or the exponential mechanism, over all rungs of a ladder with this rate of noise.

    With a `prior` rungs weigh what they do under it; that is for the exponential mechanism.
    """

    up: ClassVar[bool] = True  # positions count the rungs from below
    tilt: ClassVar[int] = 0  # counts are not lowered

    ladder: Ladder
    epsilon: Fraction
    rate: Fraction
    exponential: bool = False
    again: bool = False
    weighed: bool = False  # whether rungs weigh what they do under the prior
    absolute: bool = False  # whether it is among all numbers, whatever the frame
    rank: Fraction | None = None  # that is aimed at, if it is not that of the question
    slopes: tuple[int, int] = EQUAL  # how many times the rate a rank below the target counts, and one above it
    frame: Frame | None = None

    def within(self, frame: Frame | None) -> "ChoiceRoute":
        """The same choice in this frame."""
        if frame is None or self.absolute:
            return self
        if frame.unit is None or not isinstance(self.ladder.map, Grid):
            return replace(on_grid(self, frame), frame=frame)
        return replace(self, frame=frame.at_least(self.ladder.map.bits))

    def on_points(self, octave: int) -> "ChoiceRoute":
        """The same choice without rungs that hold no point of a grid, for a scale of 2**`octave` points."""
        return replace(self, ladder=on_points(self.ladder, octave))

    @property
    def prior(self) -> Prior | None:
        """What rungs weigh."""
        return prior_of(self.ladder) if self.weighed else None

    @property
    def placed(self) -> Ladder:
        """The ladder of the records themselves."""
        return placed(self.ladder, self.frame)

    def cost(self, q: Fraction, neighbors: Neighbors, nullable: bool) -> Cost:
        moved = range_bounded(self.epsilon) if self.exponential else pure(self.epsilon)
        if neighbors == "add-remove" or not nullable:
            return moved
        part = max(q, 1 - q, Fraction(max(self.slopes), sum(self.slopes)))  # a record that is present or missing
        return Cost(both(moved, pure(self.epsilon * part)).kinds, moved.rho)

    def last(self, q: Fraction, problem: Problem, view: RankView) -> Any:
        rank = q if self.rank is None else self.rank
        return view.choose(rank, self, partial(self.cost, rank, problem.neighbors, problem.nullable))

    def position(self, rung: int) -> int:
        """The position of the chosen rung."""
        return rung - self.start

    def window(self, q: Fraction, total: int, nats: float | None = None) -> tuple[float, float]:
        bits = DOUBLE_BITS if nats is None else nats
        far = reach(self.ladder.size, self.rate, bits, self.prior)
        below, above = (far / slope + (nats is None) for slope in self.slopes)
        return float(q * total) - below, float(q * total) + above

    @property
    def start(self) -> int:
        return self.ladder.first

    @property
    def stop(self) -> int:
        return self.ladder.last


OneRoute: TypeAlias = Route | ChoiceRoute


def has_spare_rungs(route: OneRoute, frame: Frame | None) -> bool:
    """Whether the route may have rungs that it does not need on a grid: it has a ladder of a tail, in a frame there."""
    return frame is not None and frame.unit is not None and isinstance(route.ladder.map, Zoned)


AnyRoute = TypeVar("AnyRoute", Route, ChoiceRoute)


def on_grid(route: AnyRoute, frame: Frame) -> AnyRoute:
    """The route without spare rungs, in the frame of one column."""
    if isinstance(frame.octave, np.ndarray) or not has_spare_rungs(route, frame):
        return route
    return route.on_points(int(frame.octave))


@lru_cache(maxsize=1024)
def placed(ladder: Ladder, frame: Frame | None) -> Ladder:
    """A ladder of deviations in a frame, as a ladder of the records themselves."""
    return ladder if frame is None else replace(ladder, map=Framed(frame, ladder.map))


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
