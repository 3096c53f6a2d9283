"""A question: quantiles of one column for one total epsilon, planned before the data are read, then answered.

One pass puts the data on a ladder; then the best route that the private size allows is taken (see `route`):
AboveThreshold walks along the ladder until a noisy count passes a noisy threshold (Algorithm 2, on the whole line in
one walk), or permute-and-flip chooses among all rungs (see `flip`).
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from nobounds.flip import Flip, choose_rung
from nobounds.histogram import Histogram
from nobounds.ladder import Ladder
from nobounds.loss import Cost, Neighbors, PrivacyLoss, pure, worst
from nobounds.noise import Noise, Source, discrete_laplace
from nobounds.route import (
    AnyRoute,
    FlipRoute,
    Method,
    Outward,
    Route,
    SizeRule,
    choose,
    cost,
    first_allowed,
    size_rule,
)
from nobounds.skip_ahead import halt_position
from nobounds.walk import Walk


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, all of it public: quantiles for one total epsilon on one ladder."""

    qs: tuple[Fraction, ...]
    epsilon: Fraction
    ladder: Ladder
    neighbors: Neighbors
    noise: Noise
    size: SizeRule
    routes: tuple[tuple[AnyRoute, ...], ...]
    missing: bool  # whether a record can be missing

    @classmethod
    @lru_cache(maxsize=256)  # public arguments, exact result: the second call of a kind costs nothing
    def of(
        cls,
        qs: tuple[Fraction, ...],
        epsilon: Fraction,
        ladder: Ladder,
        neighbors: Neighbors,
        noise: Noise,
        rows: int | None,
        missing: bool,
        method: Method = "walk",
    ) -> "Question":
        """Plan the spending: first the size, if any route needs it, then equal parts for the quantiles."""
        size = SizeRule(Fraction(0), 0, 0)
        if any(len(choose(q, epsilon, neighbors, ladder, noise, method)) > 1 for q in qs):
            size = size_rule(epsilon, neighbors, rows, missing)

        def plan(each: Fraction) -> "Question":
            routes = tuple(choose(q, each, neighbors, ladder, noise, method) for q in qs)
            if size.known is not None:
                routes = tuple((first_allowed(found, size.known),) for found in routes)
            return cls(qs, epsilon, ladder, neighbors, noise, size, routes, missing)

        left = epsilon - size.epsilon
        each = left / len(qs)
        # Walks in opposite directions together cost less than each alone; what they leave is theirs as well, unless
        # with more to spend they would take other routes that leave nothing.
        first = plan(each)
        second = plan(each * left / (first.cost().epsilon - size.epsilon))
        return second if second.cost().epsilon <= epsilon else first

    def cost(self) -> Cost:
        """The cost of the whole answer, whichever routes are taken."""
        total = pure(self.size.epsilon)
        for q, routes in zip(self.qs, self.routes, strict=True):
            total += worst([cost(route, q, self.neighbors, self.missing) for route in routes])
        return total

    @lru_cache(maxsize=256)  # noqa: B019 - a question is a small public value
    def loss(self) -> PrivacyLoss:
        """The cost, rounded up."""
        return PrivacyLoss.of(self.cost(), self.neighbors)

    def answer(self, histogram: Histogram, bits: Source) -> tuple[int | float, ...]:
        """Private quantiles, in the order asked."""
        size = self._size(histogram, bits)
        return tuple(
            self._one(histogram, q, first_allowed(routes, size), bits)
            for q, routes in zip(self.qs, self.routes, strict=True)
        )

    def _size(self, histogram: Histogram, bits: Source) -> int:
        if self.size.known is not None:
            return self.size.known
        return max(0, histogram.total + discrete_laplace(self.size.epsilon, bits) - self.size.slack)

    def _one(self, histogram: Histogram, q: Fraction, route: AnyRoute, bits: Source) -> int | float:
        if isinstance(route, FlipRoute):
            return self.ladder.value(choose_rung(Flip.of(histogram, q, route.rate), bits))
        if isinstance(route, Outward):
            gap, step, rate = sign_test(histogram, q, route, self.neighbors)
            noisy = gap + step * discrete_laplace(rate, bits)
            route = route.negative if noisy > 0 or (noisy == 0 and 2 * q < 1) else route.positive
        position = halt_position(walk_of(histogram, q, route, self.noise), bits)
        return self.ladder.snap(value_at(route, position), route.up)


def walk_of(histogram: Histogram, q: Fraction, route: Route, noise: Noise) -> Walk:
    """The walk along a route: counts at or below each rung (above, walking down) against the target rank."""
    histogram = histogram.on(route.ladder)
    rungs, levels, target = histogram.rungs, histogram.up_to, q
    if not route.up:
        rungs, levels, target = -rungs[::-1], histogram.down_to[::-1], 1 - q
    first, last = (route.start, route.stop) if route.up else (-route.start, -route.stop)
    begin = int(np.searchsorted(rungs, first, side="right"))  # all that is at or before the first rung is counted there
    end = int(np.searchsorted(rungs, last, side="left"))  # and all that is at or after the last rung there
    starts = np.concatenate([[0], rungs[begin:end] - first])
    counted = np.concatenate([[levels[begin - 1] if begin else 0], levels[begin:end]])
    if last > first and end < len(rungs):
        starts, counted = np.append(starts, last - first), np.append(counted, levels[-1])
    return Walk(
        starts=starts,
        levels=counted,
        length=last - first + 1,
        threshold=target * histogram.total - route.drop,
        step=Fraction(1, target.denominator),
        eps1=route.eps1,
        eps2=route.eps2,
        noise=noise,
        rising=True,
    )


def sign_test(
    histogram: Histogram, q: Fraction, route: Outward, neighbors: Neighbors
) -> tuple[Fraction, Fraction, Fraction]:
    """Records below 0 (zeros count half) minus q n, the lattice of its noise, and the rate of the noise on it."""
    zero = int(histogram.ladder.rungs(np.zeros(1))[0])
    below, up_to = histogram.below(zero), histogram.below(zero + 1)
    step = Fraction(1, 2 * q.denominator)
    sensitivity = Fraction(1) if neighbors == "swap" else max(q, 1 - q)
    return Fraction(below + up_to, 2) - q * histogram.total, step, route.sign * step / sensitivity


def value_at(route: Route | FlipRoute, position: int | None) -> int | float:
    """The value for a halting position; a walk that never halted has seen all of its ladder."""
    if position is None:
        return route.ladder.value(route.stop)
    if position == 0 and route.from_zero:
        return 0
    return route.ladder.value(route.start + position if route.up else route.start - position)
