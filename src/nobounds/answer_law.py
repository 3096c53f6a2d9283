"""The law of an answer: every route the question may take, with its probability, and the law of the walk along it.

This is how defaults were chosen and promises are tested: no sampling, only sums.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from nobounds.flip import Flip, FlipLaw
from nobounds.histogram import Histogram
from nobounds.law import Law
from nobounds.question import Question, sign_test, value_at, walk_of
from nobounds.route import AnyRoute, FlipRoute, Outward, Route
from nobounds.rungs import Floats


@dataclass(frozen=True, slots=True, eq=False)
class AnswerLaw:
    """A mixture of routes: the probability of each, the route, and the law along it."""

    question: Question
    parts: tuple[tuple[float, Route | FlipRoute, Law | FlipLaw], ...]

    @classmethod
    def of(cls, question: Question, histogram: Histogram, which: int = 0) -> "AnswerLaw":
        """The law of one of the answers to a question on these data."""
        q, parts, left = question.qs[which], [], 1.0
        for route in question.routes[which]:
            reached = _chance_of_size(question, histogram, route.at_least)
            taken = max(0.0, reached - (1 - left))  # the size allows this route and none before it
            for chance, walked in _sides(question, histogram, q, route):
                if chance * taken > 0:
                    parts.append((chance * taken, walked, _law(question, histogram, q, walked)))
            left = min(left, 1 - reached)
        return cls(question, tuple(parts))

    def above(self, value: float) -> float:
        """P(answer > value)."""
        return math.fsum(chance * self._above(route, law, value) for chance, route, law in self.parts)

    def below(self, value: float) -> float:
        """P(answer < value)."""
        return 1 - self.above(math.nextafter(value, -math.inf))

    def pmf(self, low: float, high: float) -> tuple[Floats, Floats]:
        """The answers between two values and the probability of each; the rest of the mass lies outside."""
        found: dict[float, float] = {}
        for chance, route, law in self.parts:
            ends = sorted(_position(route, value) for value in (low, high))
            positions = np.arange(max(ends[0] - 1, 0), min(ends[1] + 2, law.length))
            tails = chance * law.tail(np.append(positions, positions[-1:] + 1))
            never = chance * float(law.tail([law.length])[0])
            for position, mass in [
                *zip(positions.tolist(), (tails[:-1] - tails[1:]).tolist(), strict=True),
                (None, never),
            ]:
                if mass > 0:
                    answer = float(self._answer(route, position))
                    if low <= answer <= high:
                        found[answer] = found.get(answer, 0.0) + mass
        values = sorted(found)
        return np.array(values), np.array([found[value] for value in values])

    def _answer(self, route: Route | FlipRoute, position: int | None) -> int | float:
        return self.question.ladder.snap(value_at(route, position), route.up)

    def _above(self, route: Route | FlipRoute, law: Law | FlipLaw, value: float) -> float:
        """P(answer > value) for one of the walks: its answers never turn back, so it is one tail."""
        low, high = 0, law.length  # the first position whose answer is beyond `value`, by bisection
        while low < high:
            middle = (low + high) // 2
            if (self._answer(route, middle) > value) == route.up:
                high = middle
            else:
                low = middle + 1
        tail = float(law.tail([low])[0])
        if low == law.length and (self._answer(route, None) > value) != route.up:
            tail = 0.0
        return tail if route.up else 1 - tail


def _position(route: Route | FlipRoute, value: float) -> int:
    rung = int(route.ladder.rungs(np.array([value]))[0])
    return rung - route.start if route.up else route.start - rung


def _law(question: Question, histogram: Histogram, q: Fraction, route: Route | FlipRoute) -> Law | FlipLaw:
    if isinstance(route, FlipRoute):
        return FlipLaw.of(Flip.of(histogram, q, route.rate))
    return Law(walk_of(histogram, q, route, question.noise))


def _sides(
    question: Question, histogram: Histogram, q: Fraction, route: AnyRoute
) -> list[tuple[float, Route | FlipRoute]]:
    if not isinstance(route, Outward):
        return [(1.0, route)]
    gap, step, rate = sign_test(histogram, q, route, question.neighbors)
    steps = math.floor(-gap / step) + (0 if 2 * q < 1 and (gap / step).denominator == 1 else 1)
    negative = laplace_at_least(rate, steps)  # noise > -gap, or >= for small q
    return [(1 - negative, route.positive), (negative, route.negative)]


def _chance_of_size(question: Question, histogram: Histogram, at_least: int) -> float:
    """P(the learned size is at least this)."""
    if at_least <= 0:
        return 1.0
    if question.size.known is not None:
        return 1.0 if question.size.known >= at_least else 0.0
    return laplace_at_least(question.size.epsilon, at_least + question.size.slack - histogram.total)


def laplace_at_least(rate: Fraction, j: int) -> float:
    """P(J >= j) for discrete Laplace noise."""
    p = math.exp(-float(rate))
    return math.exp(-float(rate * j)) / (1 + p) if j > 0 else 1 - math.exp(-float(rate * (1 - j))) / (1 + p)
