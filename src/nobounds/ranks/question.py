"""A question: quantiles of one column for one total epsilon, planned before the data are read, then answered.

One pass puts the data on a ladder; then the best route for the noisy size is taken (see `auto`): AboveThreshold
walks along the ladder until a noisy count passes a noisy threshold (Algorithm 2, on the whole line in one walk), or
permute-and-flip chooses among all rungs (see `flip`). Ladders that grow finer with the size take a second look at the
records around the target (see `second_look`).
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from nobounds.accounting.cost import Cost, added_only, pure, worst
from nobounds.accounting.loss import Neighbors, PrivacyLoss
from nobounds.ladders.ladder import Ladder
from nobounds.noise.discrete import Noise
from nobounds.programs.program import Program
from nobounds.ranks.auto import Aim, SizeRule, choose, size_rule
from nobounds.ranks.problem import Problem
from nobounds.ranks.route import AnyRoute, OneRoute, RankView


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
            worst([route.cost(q, self.neighbors, self.problem.nullable) for route in routes])
            for q, routes in zip(self.qs, self.routes, strict=True)
        ]
        answers, size = sum(costs[1:], costs[0]), self._size_cost()
        return size + answers, ({"answer": answers} if self.neighbors == "swap" else {"size": size, "answer": answers})

    def _size_cost(self) -> Cost:
        if self.neighbors == "swap" and self.problem.nullable:
            return added_only(self.size.epsilon)
        return pure(self.size.epsilon)

    @lru_cache(maxsize=256)  # noqa: B019 - see priced
    def loss(self) -> PrivacyLoss:
        """The cost, rounded up."""
        return PrivacyLoss.of(self.cost(), self.neighbors)

    def program(self, view: RankView) -> Program[tuple[int | float, ...]]:
        """The quantiles, in the order of `qs`: the size, and then route by route."""
        size = yield from self.learned(view, self.routes)
        values = []
        for which, q in enumerate(self.qs):
            route = yield from self.planned(which, size).settled(q, self.problem, view)
            outcome = yield route.last(q, self.problem, view)
            values.append(self.value_at(route, route.position(outcome)))
        return tuple(values)

    def route(self, which: int, view: RankView) -> Program[OneRoute]:
        """The route that one of the answers takes: all decisions but the last one."""
        size = yield from self.learned(view, (self.routes[which],))
        route = yield from self.planned(which, size).settled(self.qs[which], self.problem, view)
        return route

    def planned(self, which: int, size: int) -> AnyRoute:
        """The route for one of the answers, if there are `size` records; the last one is for any size."""
        routes = self.routes[which]
        return next((route for route in routes if route.at_least <= size), routes[-1])

    def learned(self, view: RankView, routes: tuple[tuple[AnyRoute, ...], ...]) -> Program[int]:
        """The number of records as far as these routes depend on it: known, or from a noisy count."""
        if self.size.known is not None:
            return self.size.known
        levels = tuple(sorted({route.at_least for of_one in routes for route in of_one}, reverse=True))
        level: int = yield view.level(self.size.epsilon, self.size.at_most, levels, self._size_cost)
        return level

    def value_at(self, route: OneRoute, position: int | None) -> int | float:
        """The answer for a position on a route; a walk that never halted has seen all of its ladder."""
        rung = route.stop if position is None else route.start + (position if route.up else -position)
        if position == 0 and route.from_zero:
            return self.ladder.nearest(Fraction(0))
        if not route.again:
            return self.ladder.snap(route.ladder, rung, route.up)
        value = route.ladder.value(rung)
        return value if self.ladder.integral else float(value)
