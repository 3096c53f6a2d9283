"""The law of an answer: a mixture over the routes of a question, computed by summation without sampling.

Defaults were chosen with these laws, and promises are tested against them.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.counting.second_look import Counts
from nobounds.laws.halting import Law
from nobounds.mechanisms.exponential_mechanism import weighted_law
from nobounds.mechanisms.flip import flip_law
from nobounds.mechanisms.runs import RunLaw, Runs
from nobounds.ranks.question import Question, look, sign_test, walk_of
from nobounds.ranks.route import AnyRoute, FlipRoute, OneRoute, Outward, Scaled
from nobounds.ranks.scale import octave

LEAST = 1e-9  # parts with a lower probability are left out


@dataclass(frozen=True, slots=True, eq=False)
class AnswerLaw:
    """A mixture of routes: the probability of each, the route, and the law along it."""

    question: Question
    parts: tuple[tuple[float, OneRoute, Law | RunLaw], ...]

    @classmethod
    def of(cls, question: Question, counts: Counts, which: int = 0, least: float = LEAST) -> "AnswerLaw":
        """The law of the answer to the q with index `which`, on the records of `counts`."""
        q, parts, left = question.qs[which], [], 1.0
        for route in question.routes[which]:
            reached = _chance_of_size(question, counts.coarse.total, route.at_least)
            taken = max(0.0, reached - (1 - left))  # the size allows this route and none of the earlier ones
            for chance, walked in _sides(question, counts, q, route, least / taken) if taken > least else ():
                parts.append((chance * taken, walked, _law(question, counts, q, walked)))
            left = min(left, 1 - reached)
        return cls(question, tuple(parts))

    def above(self, value: float) -> float:
        """P(answer > value)."""
        return math.fsum(chance * self._above(route, law, value) for chance, route, law in self.parts)

    def below(self, value: float) -> float:
        """P(answer < value)."""
        last = math.nextafter(value, -math.inf)
        return math.fsum(chance * (1 - self._above(route, law, last)) for chance, route, law in self.parts)

    def pmf(self, low: float, high: float) -> tuple[Floats, Floats]:
        """The answers from `low` to `high` and the probability of each; the rest of the mass lies outside."""
        answers, chances = [], []
        for chance, route, law in self.parts:
            ends = sorted(_position(route, value) for value in (low, high))
            positions = np.arange(max(ends[0] - 1, 0), min(ends[1] + 2, law.length))
            tails = chance * law.tail(np.append(positions, positions[-1:] + 1))
            never = chance * float(law.tail([law.length])[0])
            answers.append(np.append(self._values(route, positions), self.question.value_at(route, None)))
            chances.append(np.append(tails[:-1] - tails[1:], never))
        values, where = np.unique(np.concatenate(answers), return_inverse=True)
        masses = np.bincount(where, np.concatenate(chances), len(values)).astype(np.float64)
        kept = (masses > 0) & (low <= values) & (values <= high)
        return values[kept], masses[kept]

    def _values(self, route: OneRoute, positions: Ints) -> Floats:
        """The answers at the given positions of a route."""
        if not (route.again or route.ladder == self.question.ladder) or route.from_zero:
            return np.array([self.question.value_at(route, position) for position in positions.tolist()], dtype=float)
        ladder = route.ladder
        values = ladder.map.floats(route.start + positions if route.up else route.start - positions)
        low, high = (
            default if end is None else float(end)
            for end, default in ((ladder.lower, -math.inf), (ladder.upper, math.inf))
        )
        return np.clip(values, low, high)

    def _above(self, route: OneRoute, law: Law | RunLaw, value: float) -> float:
        """P(answer > value) along one route: answers are monotone in the position, so this is one tail."""
        low, high = 0, law.length  # bisection for the first position whose answer is beyond `value`
        while low < high:
            middle = (low + high) // 2
            if (self.question.value_at(route, middle) > value) == route.up:
                high = middle
            else:
                low = middle + 1
        tail = float(law.tail([low])[0])
        if low == law.length and (self.question.value_at(route, None) > value) != route.up:
            tail = 0.0
        return tail if route.up else 1 - tail


def _position(route: OneRoute, value: float) -> int:
    rung = int(route.ladder.rungs(np.array([value]))[0])
    return rung - route.start if route.up else route.start - rung


def _law(question: Question, counts: Counts, q: Fraction, route: OneRoute) -> Law | RunLaw:
    histogram = look(counts, q, route)
    if isinstance(route, FlipRoute):
        return (weighted_law if route.exponential else flip_law)(Runs.of(histogram, q, route.rate))
    return Law(walk_of(histogram, q, route, question.noise))


def _sides(
    question: Question, counts: Counts, q: Fraction, route: AnyRoute, least: float
) -> Iterator[tuple[float, OneRoute]]:
    """The continuations of a route with their probabilities, those above `least` only."""
    if isinstance(route, Scaled):
        law = Law(route.scale.walk(counts.coarse))
        tails = np.append(law.tail(np.arange(law.length + 1)), 0.0)
        masses = tails[:-1] - tails[1:]  # the last one is the mass of never halting, where there is no scale
        for position in np.flatnonzero(masses > least).tolist():
            yield float(masses[position]), route.at(octave(position) if position < law.length else None)
    elif isinstance(route, Outward):
        gap, step, rate = sign_test(counts.coarse, q, route, question.neighbors)
        steps = math.floor(-gap / step) + (0 if 2 * q < 1 and (gap / step).denominator == 1 else 1)
        negative = laplace_at_least(rate, steps)  # noise > -gap, or >= for small q
        sides = [(1 - negative, route.positive), (negative, route.negative)]
        yield from ((chance, side) for chance, side in sides if chance > least)
    else:
        yield 1.0, route


def _chance_of_size(question: Question, total: int, at_least: int) -> float:
    """P(the noisy size is at least `at_least`)."""
    if at_least <= 0 or question.size.known is not None:
        return 1.0
    return laplace_at_least(question.size.epsilon, at_least - total)


def laplace_at_least(rate: Fraction, j: int) -> float:
    """P(J >= j) for discrete Laplace noise."""
    p = math.exp(-float(rate))
    return math.exp(-float(rate * j)) / (1 + p) if j > 0 else 1 - math.exp(-float(rate * (1 - j))) / (1 + p)
