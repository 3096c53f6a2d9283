"""A question: quantiles of one column for one total epsilon, planned before the data are read, then answered.

The size of the data is public, or a noisy count. It decides the plan (see `auto`): a frame, or none, and a route for
each quantile.
"""

from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

import numpy as np

from nobounds.accounting.cost import Cost, gaussian, pure
from nobounds.accounting.loss import Neighbors, PrivacyLoss
from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms.decisions import Together
from nobounds.noise.discrete import Noise
from nobounds.programs.program import Program
from nobounds.ranks.auto import Plan, SizeRule, auto, ends_cost, size_rule
from nobounds.ranks.problem import Problem
from nobounds.ranks.route import OneRoute, RankView
from nobounds.ranks.values import NEVER, values_at
from nobounds.values import dataclass


@dataclass(frozen=True, slots=True)
class Question:
    """A plan for the quantiles of a problem, for one total epsilon; all of it public."""

    problem: Problem
    epsilon: Fraction
    size: SizeRule
    zcdp: bool = False  # whether the routes are those that cost the least rho

    @classmethod
    @lru_cache(maxsize=256)  # public arguments, exact result: the second call of a kind costs nothing
    def of(cls, problem: Problem, epsilon: Fraction, zcdp: bool = False) -> "Question":
        """Plan the spending: first the size, if it is sensitive and matters, then the answers."""
        rule = size_rule(problem, epsilon) if problem.grows else SizeRule(Fraction(0), 0)
        return cls(problem, epsilon, rule, zcdp)

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
        """The cost of the whole answer: the parts of a plan cost what is left after the size, whatever the size is."""
        return self._size_cost() + self._answer_cost()

    def parts(self) -> dict[str, Cost]:
        """The cost by what it is for."""
        return {"size": self._size_cost(), "answer": self._answer_cost()}

    def _answer_cost(self) -> Cost:
        left = self.epsilon - self.size.epsilon
        return gaussian(left**2 / 8) if self.zcdp else pure(left)

    def _size_cost(self) -> Cost:
        return pure(self.size.epsilon)

    @lru_cache(maxsize=256)  # noqa: B019 - a question is a small public value
    def loss(self) -> PrivacyLoss:
        """The cost, rounded up."""
        return PrivacyLoss.of(self.cost(), self.neighbors)

    def plan(self, size: int) -> Plan:
        """The plan for about this many records."""
        return auto(self.problem, self.epsilon - self.size.epsilon, size, self.zcdp, self.size.noise)

    def program(self, view: RankView, size: int | None = None) -> Program[tuple[int | float, ...]]:
        """The quantiles, in the order of `qs`: the size, unless it is learned already, the frame, and the routes."""
        ends = yield from self.ends(view, size)
        return tuple(self.value_at(*end) for end in ends)

    def ends(self, view: RankView, size: int | None = None) -> Program[tuple[tuple[OneRoute, int | None], ...]]:
        """The routes, and the position where each ended."""
        plan = self.plan((yield from self.learned(view)) if size is None else size)
        routes = yield from self.framed(plan, view)
        lasts = tuple(route.last(q, self.problem, view) for q, route in zip(self.qs, routes, strict=True))
        if plan.together:
            first: Any = routes[0]
            outcomes = yield Together(lasts, partial(ends_cost, self.neighbors, first.eps1, first.eps2))
        else:
            outcomes = []
            for last in lasts:
                outcome = yield last
                outcomes.append(outcome)
        return tuple((route, route.position(outcome)) for route, outcome in zip(routes, outcomes, strict=True))

    def settled(self, view: RankView) -> Program[tuple[OneRoute, ...]]:
        """The routes that the answers take: all decisions but the last ones."""
        return (yield from self.framed(self.plan((yield from self.learned(view))), view))

    def framed(self, plan: Plan, view: RankView) -> Program[tuple[OneRoute, ...]]:
        """The routes of a plan, in the frame if it buys one."""
        frame = None if plan.frame is None else (yield from plan.frame.program(self.problem, view))
        return tuple(route.within(frame) for route in plan.routes)

    def route(self, which: int, view: RankView) -> Program[OneRoute]:
        """The route that one of the answers takes."""
        return (yield from self.settled(view))[which]

    def learned(self, view: RankView) -> Program[int]:
        """The number of records: known, or from a noisy count."""
        if self.size.known is not None:
            return self.size.known
        level: int = yield view.level(self.size.epsilon, self.size.at_most, self.size.levels, self._size_cost)
        return level

    def value_at(self, route: OneRoute, position: int | None) -> int | float:
        """The answer for a position on a route; a walk that never halted has seen all of its ladder."""
        value: int | float = values_at(
            self.ladder, route, np.array([NEVER if position is None else position])
        ).tolist()[0]
        return value
