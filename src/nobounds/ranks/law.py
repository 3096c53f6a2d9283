"""The law of an answer: a mixture over the routes of a question, computed by summation without sampling.

Defaults were chosen with these laws, and promises are tested against them.
"""

import math
from functools import cached_property

import numpy as np

from nobounds.arrays import Floats
from nobounds.counting.second_look import Counts
from nobounds.mechanisms.decisions import Choose, Halt
from nobounds.mechanisms.halting import Law
from nobounds.mechanisms.runs import RunLaw
from nobounds.noise.source import RandomSource
from nobounds.programs.law import paths
from nobounds.programs.program import Draw
from nobounds.ranks.question import Question
from nobounds.ranks.route import OneRoute
from nobounds.ranks.values import floats_at, values_at
from nobounds.ranks.view import View
from nobounds.values import dataclass

LEAST = 1e-6  # parts with a lower probability are left out
MOST = 1 << 20  # answers that are listed one by one


@dataclass(frozen=True, eq=False)
class AnswerLaw:
    """A mixture of routes: the probability of each, the route, and the last decision on it."""

    question: Question
    lasts: tuple[tuple[float, OneRoute, Halt | Choose], ...]

    @classmethod
    def of(cls, question: Question, counts: Counts, which: int = 0, least: float = LEAST) -> "AnswerLaw":
        """The law of the answer to the q with index `which`, on the records of `counts`."""
        view, q = View(counts), question.qs[which]
        routes = paths(lambda: question.route(which, view), least)
        return cls(question, tuple((p, route, route.last(q, question.problem, view)) for p, route in routes))

    @classmethod
    def sampled(
        cls, question: Question, counts: Counts, source: RandomSource, many: int, which: int = 0
    ) -> "AnswerLaw":
        """The law averaged over `many` routes that are drawn: in a frame there are too many to list."""
        view, q, driver = View(counts), question.qs[which], Draw(source)
        routes = [driver.run(question.route(which, view)) for _ in range(many)]
        return cls(question, tuple((1 / many, route, route.last(q, question.problem, view)) for route in routes))

    @cached_property
    def parts(self) -> list[tuple[float, OneRoute, Law | RunLaw]]:
        """The probability of each route, the route, and the law along it."""
        return [(chance, route, last.law()) for chance, route, last in self.lasts]

    def above(self, value: float) -> float:
        """P(answer > value)."""
        return math.fsum(chance * self._above(route, law, value) for chance, route, law in self.parts)

    def below(self, value: float) -> float:
        """P(answer < value)."""
        last = math.nextafter(value, -math.inf)
        return math.fsum(chance * (1 - self._above(route, law, last)) for chance, route, law in self.parts)

    def points(self) -> tuple[Floats, Floats]:
        """Answers that stand for all, in order, and their probabilities: one for each block of equally likely rungs."""
        answers, chances = [], []
        for chance, route, last in self.lasts:
            first, end, masses = last.blocks()
            answers.append(floats_at(self.question.ladder, route, first + (end - first) // 2))
            chances.append(chance * masses)
        values, where = np.unique(np.concatenate(answers), return_inverse=True)
        return values, np.bincount(where, np.concatenate(chances), len(values)).astype(np.float64)

    def pmf(self, low: float, high: float) -> tuple[Floats, Floats]:
        """The answers from `low` to `high` and the probability of each; the rest of the mass lies outside.

        Where these are more than can be listed, points that stand for all.
        """
        if any(self._positions(route, law, low, high)[1] > MOST for _, route, law in self.parts):
            values, masses = self.points()
            kept = (low <= values) & (values <= high)
            return values[kept], masses[kept]
        answers, chances = [], []
        for chance, route, law in self.parts:
            first, many = self._positions(route, law, low, high)
            positions = np.arange(first, first + many)
            tails = chance * law.tail(np.append(positions, positions[-1:] + 1))
            never = chance * float(law.tail([law.length])[0])
            answers.append(
                np.append(floats_at(self.question.ladder, route, positions), self.question.value_at(route, None))
            )
            chances.append(np.append(tails[:-1] - tails[1:], never))
        values, where = np.unique(np.concatenate(answers), return_inverse=True)
        masses = np.bincount(where, np.concatenate(chances), len(values)).astype(np.float64)
        kept = (masses > 0) & (low <= values) & (values <= high)
        return values[kept], masses[kept]

    def _positions(self, route: OneRoute, law: Law | RunLaw, low: float, high: float) -> tuple[int, int]:
        """The first position with an answer from `low` to `high`, nearly, and how many follow."""
        ends = sorted(_position(route, value) for value in (low, high))
        first, end = max(ends[0] - 1, 0), min(ends[1] + 2, law.length)
        return first, max(end - first, 0)

    def _above(self, route: OneRoute, law: Law | RunLaw, value: float) -> float:
        """P(answer > value) along one route: answers are monotone in the position, so this is one tail."""
        low, high = 0, law.length  # bisection for the first position whose answer is beyond `value`, from near its rung
        middle = min(max(_position(route, value) + 1, 0), law.length - 1)
        reach = 2
        while low < high:
            probes = np.arange(max(middle - reach, low), min(middle + reach, high))
            beyond = (values_at(self.question.ladder, route, probes) > value) == route.up
            first = int(probes[0]) + int(np.count_nonzero(~beyond))
            low, high = (first if first > probes[0] else low), (first if first <= probes[-1] else high)
            middle = (low + high) // 2
        tail = float(law.tail([low])[0])
        if low == law.length and (self.question.value_at(route, None) > value) != route.up:
            tail = 0.0
        return tail if route.up else 1 - tail


def _position(route: OneRoute, value: float) -> int:
    rung = int(route.placed.rungs(np.array([value]))[0])
    return rung - route.start if route.up else route.start - rung
