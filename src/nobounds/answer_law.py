"""The law of an answer: every route the question may take, with its probability, and the law of the walk along it.

This is how defaults were chosen and promises are tested: no sampling, only sums.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from nobounds.histogram import Histogram
from nobounds.ladder import Ladder
from nobounds.law import Law
from nobounds.quantile import Question, sign_test, value_at, walk_of
from nobounds.route import Outward, Route
from nobounds.rungs import Floats


@dataclass(frozen=True, slots=True, eq=False)
class AnswerLaw:
    """A mixture of walks: probability, route and law of each."""

    ladder: Ladder
    parts: tuple[tuple[float, Route, Law], ...]

    @classmethod
    def of(cls, question: Question, histogram: Histogram, which: int = 0) -> "AnswerLaw":
        """The law of one of the answers to a question on these data."""
        q, routes = question.qs[which], question.routes[which]
        parts: list[tuple[float, Route, Law]] = []
        left = 1.0
        for route in routes:
            taken = min(left, _chance_of_size(question, histogram, route.at_least))
            if taken > left - taken and taken >= left - 1e-16:
                taken = left
            for chance, walked in _sides(question, histogram, q, route):
                law = Law(walk_of(histogram, q, walked, question.noise))
                parts.append((chance * taken, walked, law))
            left -= taken
        return cls(question.ladder, tuple(part for part in parts if part[0] > 0))

    def above(self, value: float) -> float:
        """P(answer > value)."""
        return math.fsum(
            chance * (self._reaches(route, law, value) if route.up else 1 - self._reaches(route, law, value))
            for chance, route, law in self.parts
        )

    def below(self, value: float) -> float:
        """P(answer < value)."""
        just_below = math.nextafter(value, -math.inf)
        return 1 - self.above(just_below)

    def pmf(self, low: float, high: float) -> tuple[Floats, Floats]:
        """The candidates between two values and the probability of each; the rest of the mass lies outside."""
        first, last = (int(rung) for rung in self.ladder.rungs(np.array([low, high])))
        rungs = np.arange(first, last + 1)
        total = np.zeros(len(rungs))
        for chance, route, law in self.parts:
            position = rungs - route.start if route.up else route.start - rungs
            inside = np.clip(position, 0, law.walk.length)
            mass = law.between(inside, np.clip(position + 1, 0, law.walk.length))
            if route.from_zero:  # its first position stands for 0
                mass[position == 0] = 0.0
                mass[rungs == self._zero()] += float(law.between([0], [1])[0])
            mass[rungs == route.stop] += float(law.tail([law.walk.length])[0])
            total += chance * mass
        return np.array([float(self.ladder.value(int(rung))) for rung in rungs]), total

    def _zero(self) -> int:
        return int(self.ladder.rungs(np.zeros(1))[0])

    def _reaches(self, route: Route, law: Law, value: float) -> float:
        """P(the walk gets to answers beyond `value`: above it walking up, at or below it walking down)."""
        rung = int(self.ladder.rungs(np.array([value]))[0])
        position = rung - route.start if route.up else route.start - rung
        position = min(max(position - 1, 0), law.walk.length)
        while position < law.walk.length:
            answer = value_at(self.ladder, route, position)
            if (answer > value) if route.up else (answer <= value):
                break
            position += 1
        return float(law.tail([position])[0]) if position < law.walk.length or self._stops_beyond(route, value) else 0.0

    def _stops_beyond(self, route: Route, value: float) -> bool:
        end = self.ladder.value(route.stop)
        return end > value if route.up else end <= value


def _sides(question: Question, histogram: Histogram, q: Fraction, route: Route | Outward) -> list[tuple[float, Route]]:
    if isinstance(route, Route):
        return [(1.0, route)]
    gap, step, rate = sign_test(histogram, q, route, question.neighbors)
    steps = math.floor(-gap / step) + (0 if 2 * q < 1 and (gap / step).denominator == 1 else 1)
    negative = laplace_at_least(float(rate), steps)  # noise > -gap, or >= for small q
    return [(1 - negative, route.positive), (negative, route.negative)]


def _chance_of_size(question: Question, histogram: Histogram, at_least: int) -> float:
    """P(the learned size is at least this)."""
    if at_least <= 0:
        return 1.0
    if question.size.known is not None:
        return 1.0 if question.size.known >= at_least else 0.0
    return laplace_at_least(float(question.size.epsilon), at_least + question.size.slack - histogram.total)


def laplace_at_least(rate: float, j: int) -> float:
    """P(J >= j) for discrete Laplace noise."""
    p = math.exp(-rate)
    return p**j / (1 + p) if j > 0 else 1 - p ** (1 - j) / (1 + p)
