"""A question: quantiles of one column for one total epsilon, planned before the data are read, then answered.

One pass puts the data on a ladder; then the best route for the noisy size is taken (see `auto`): AboveThreshold
walks along the ladder until a noisy count passes a noisy threshold (Algorithm 2, on the whole line in one walk), or
permute-and-flip chooses among all rungs (see `flip`). Ladders that grow finer with the size take a second look at the
records around the target (see `second_look`).
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np

from nobounds.accounting.cost import Cost, added_only, pure, worst
from nobounds.accounting.loss import Neighbors, PrivacyLoss
from nobounds.arrays import Ints
from nobounds.counting.histogram import Histogram
from nobounds.counting.second_look import Counts
from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms.exponential_mechanism import weighted_rung
from nobounds.mechanisms.flip import flip_rung
from nobounds.mechanisms.runs import DOUBLE_BITS, Runs, reach
from nobounds.mechanisms.skip_ahead import halt_position
from nobounds.mechanisms.walk import Walk
from nobounds.noise.discrete import Noise, discrete_laplace
from nobounds.noise.source import RandomSource
from nobounds.ranks.auto import Aim, SizeRule, choose, first_allowed, size_rule
from nobounds.ranks.problem import Problem
from nobounds.ranks.route import AnyRoute, FlipRoute, OneRoute, Outward, Route, Scaled, cost, rank_sensitivity
from nobounds.ranks.scale import octave


@dataclass(frozen=True, slots=True)
class Question:
    """A plan for the quantiles of a problem, for one total epsilon; all of it public."""

    problem: Problem
    epsilon: Fraction
    size: SizeRule
    routes: tuple[tuple[AnyRoute, ...], ...]

    @classmethod
    @lru_cache(maxsize=256)  # public arguments, exact result: the second call of a kind costs nothing
    def of(cls, problem: Problem, epsilon: Fraction, zcdp: bool = False) -> "Question":
        """Plan the spending: first the size, if the route depends on it, then equal parts for the quantiles.

        With `zcdp` the routes are those that cost the least rho.
        """
        rule, qs = size_rule(problem, epsilon), problem.qs

        def plan(size: SizeRule, each: Fraction) -> "Question":
            routes = tuple(choose(Aim(q, each, problem, zcdp), size) for q in qs)
            return cls(problem, epsilon, size, routes)

        each = (epsilon - rule.epsilon) / len(qs)
        first = plan(rule, each)
        if rule.known is None and all(len(routes) == 1 for routes in first.routes):
            return plan(replace(rule, epsilon=Fraction(0), known=0), epsilon / len(qs))  # nothing depends on the size
        # Parts may cost less together than each alone: walks in opposite directions, or a noisy size under swap, which
        # a record that moves does not change. The answers then get the rest too, unless with more to spend they take
        # other routes that cost too much. Under zCDP epsilon is nominal, and does not show what is left.
        spent = first.cost().epsilon
        second = plan(rule, each * epsilon / spent) if spent < epsilon and not zcdp else first
        return second if second.cost().epsilon <= epsilon else first

    def __hash__(self) -> int:
        """Of the problem and epsilon: hashing a hundred routes takes a millisecond, and equality compares them."""
        return hash((self.problem, self.epsilon))

    @property
    def qs(self) -> tuple[Fraction, ...]:
        """The quantiles."""
        return self.problem.qs

    @property
    def ladder(self) -> Ladder:
        """The candidates."""
        return self.problem.ladder

    @property
    def neighbors(self) -> Neighbors:
        """The neighbour relation."""
        return self.problem.neighbors

    @property
    def noise(self) -> Noise:
        """The noise of walks."""
        return self.problem.noise

    def cost(self) -> Cost:
        """The cost of the whole answer, whichever routes are taken."""
        return self.priced()[0]

    def parts(self) -> dict[str, Cost]:
        """The cost by what it is for; under swap a record that moves does not change the size, which costs nothing."""
        return self.priced()[1]

    @lru_cache(maxsize=256)  # noqa: B019 - a question is a small public value
    def priced(self) -> tuple[Cost, dict[str, Cost]]:
        """The cost, and its parts."""
        costs = [
            worst([cost(route, q, self.neighbors, self.problem.nullable) for route in routes])
            for q, routes in zip(self.qs, self.routes, strict=True)
        ]
        answers, size = sum(costs[1:], costs[0]), pure(self.size.epsilon)
        if self.neighbors != "swap":
            return size + answers, {"size": size, "answer": answers}
        return (added_only(self.size.epsilon) if self.problem.nullable else size) + answers, {"answer": answers}

    @lru_cache(maxsize=256)  # noqa: B019 - see priced
    def loss(self) -> PrivacyLoss:
        """The cost, rounded up."""
        return PrivacyLoss.of(self.cost(), self.neighbors)

    def answer(self, counts: Counts, source: RandomSource) -> tuple[int | float, ...]:
        """Private quantiles, in the order of `qs`."""
        size = learned_size(self.size, counts.coarse, source)
        return tuple(
            self._one(counts, q, first_allowed(routes, size), source)
            for q, routes in zip(self.qs, self.routes, strict=True)
        )

    def _one(self, counts: Counts, q: Fraction, route: AnyRoute, source: RandomSource) -> int | float:
        if isinstance(route, Scaled):
            route = route.at(octave(halt_position(route.scale.walk(counts.coarse), source)))
        elif isinstance(route, Outward):
            gap, step, rate = sign_test(counts.coarse, q, route, self.neighbors)
            noisy = gap + step * discrete_laplace(rate, source)
            route = route.negative if noisy > 0 or (noisy == 0 and 2 * q < 1) else route.positive
        near = look(counts, q, route)

        def full() -> Histogram:
            return counts.full(route.ladder) if route.again else near

        position: int | None
        if isinstance(route, FlipRoute):
            select, rate = weighted_rung if route.exponential else flip_rung, route.rate
            position = select(Runs.of(near, q, rate), source, lambda: Runs.of(full(), q, rate)) - route.start
        else:
            walk = walk_of(near, q, route, self.noise)
            position = halt_position(walk, source, lambda: walk_of(full(), q, route, self.noise))
        return self.value_at(route, position)

    def value_at(self, route: OneRoute, position: int | None) -> int | float:
        """The answer for a position on a route; a walk that never halted has seen all of its ladder."""
        rung = route.stop if position is None else route.start + (position if route.up else -position)
        if position == 0 and route.from_zero:
            return self.ladder.nearest(Fraction(0))
        if not route.again:
            return self.ladder.snap(route.ladder, rung, route.up)
        value = route.ladder.value(rung)
        return value if self.ladder.integral else float(value)


def learned_size(rule: SizeRule, histogram: Histogram, source: RandomSource) -> int:
    """The number of records, public or noisy."""
    if rule.known is not None:
        return rule.known
    return min(max(0, histogram.total + discrete_laplace(rule.epsilon, source)), rule.at_most)


def look(counts: Counts, q: Fraction, route: OneRoute) -> Histogram:
    """The histogram on the route's ladder: from a second look at the records around the target, or from the first."""
    if not route.again:
        return counts.coarse.on(route.ladder)
    total, size = counts.coarse.total, route.ladder.size
    if isinstance(route, FlipRoute):
        far = reach(size, route.rate, DOUBLE_BITS) + 1
        return counts.around(route.ladder, float(q * total) - far, float(q * total) + far)
    # What the sampler looks at in double precision, whatever the threshold's noise (except once in exp(45) times).
    target, noise = float((q if route.up else 1 - q) * total - route.drop), 45 / float(route.eps1)
    low = target - noise - reach(size, route.eps2, DOUBLE_BITS) - 1
    high = target + noise + 50 / float(route.eps2) + 1
    return counts.around(route.ladder, *((low, high) if route.up else (total - high, total - low)))


def walk_of(histogram: Histogram, q: Fraction, route: Route, noise: Noise) -> Walk:
    """The walk along a route: counts at or below each rung (above, walking down) against the target rank."""
    rungs, levels, target = histogram.rungs, histogram.up_to, q
    first, last, (low, high) = route.start, route.stop, histogram.exact
    if not route.up:
        rungs, levels, target = -rungs[::-1], histogram.down_to[::-1], 1 - q
        first, last, low, high = -first, -last, -high, -low
    begin = int(np.searchsorted(rungs, first, side="right"))  # all that is at or before the first rung is counted there
    end = int(np.searchsorted(rungs, last, side="left"))  # and all that is at or after the last rung there
    starts = np.concatenate([[0], rungs[begin:end] - first])
    counted = np.concatenate([[levels[begin - 1] if begin else 0], levels[begin:end]])
    if last > first and end < len(rungs):
        starts, counted = np.append(starts, last - first), np.append(counted, levels[-1])
    if route.tilt:
        starts, counted = _tilted(starts, counted, route)
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
        trusted=None if (low, high) == (first, last) else (low - first, high - first),
    )


def _tilted(starts: Ints, levels: Ints, route: Route) -> tuple[Ints, Ints]:
    """The runs with their levels lowered by `tilt` ranks for each octave from `tilted_from` outward."""
    outermost = -route.start if route.up else route.start
    octave: int = 1 << route.ladder.map.bits  # type: ignore[attr-defined]
    ends = outermost + 1 - np.arange(route.tilted_from, outermost + 1, octave)[::-1]  # positions where octaves end
    cut = np.union1d(starts, ends)
    left = len(ends) - np.searchsorted(ends, cut, side="right")
    return cut, levels[np.searchsorted(starts, cut, side="right") - 1] - route.tilt * left


def sign_test(
    histogram: Histogram, q: Fraction, route: Outward, neighbors: Neighbors
) -> tuple[Fraction, Fraction, Fraction]:
    """Records below 0 (zeros count half) minus q n, the lattice of its noise, and the rate of the noise on it."""
    zero = int(histogram.ladder.rungs(np.zeros(1))[0])
    below, up_to = histogram.below(zero), histogram.below(zero + 1)
    step = Fraction(1, 2 * q.denominator)
    rate = route.eps_sign * step / rank_sensitivity(q, neighbors)
    return Fraction(below + up_to, 2) - q * histogram.total, step, rate
