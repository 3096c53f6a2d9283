"""The programs of AboveThreshold over a stream: which queries are hits, that is, noisily above a threshold.

Algorithm 1, with lattice exponential, discrete Laplace or Gumbel noise, and the iterative exponential mechanism
(Algorithm 3). Both are plain loops over the queries; `skip_ahead` jumps over equal queries and is tested against them.
The law of the hits is that of a whole run: see `halting` and `sparse_law`.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import field
from fractions import Fraction
from itertools import count
from typing import Any, TypeAlias

from nobounds.accounting.cost import Cost, pure
from nobounds.exact import ball
from nobounds.noise.discrete import Exponential, Noise, decide, discrete_laplace, geometric, threshold_noise
from nobounds.noise.source import RandomSource
from nobounds.noise.unique import Unique
from nobounds.programs.streams import StreamProgram, Waiting
from nobounds.values import dataclass

Hits: TypeAlias = tuple[int, ...]  # positions of queries

_FAR = Fraction(1000)  # exp(-1000) is 0 in doubles


def hits_of(fresh: "FreshThreshold", hits: int = 1, renewed: bool = True) -> StreamProgram[Hits]:
    """The positions of up to `hits` queries that are noisily above the threshold (Algorithm 1, started anew).

    The noisy threshold is drawn anew after each hit, or (not `renewed`) serves for all of them. An infinite query is
    answered without noise: with a finite sensitivity, neighbouring data sets have the same ones.
    """
    hits_at: Hits = ()
    noisy = yield fresh
    for position in count():
        query = yield Waiting(hits_at)
        above = query > 0 if isinstance(query, float) else (yield Reached(noisy, query))
        if above:
            hits_at = (*hits_at, position)
            if len(hits_at) == hits:
                break
            if renewed:
                noisy = yield fresh
    return hits_at


def first_selected(threshold: Fraction, epsilon: Fraction, cost: Callable[[], Cost]) -> StreamProgram[Hits]:
    """The position of the first query that the exponential mechanism selects among all so far (Algorithm 3)."""
    position, scores = 0, Counter([threshold])
    while True:
        query = yield Waiting(())
        if isinstance(query, float):
            selected = query > 0
        else:
            scores[query] += 1
            selected = yield Selected(query, scores, epsilon, cost)
            cost = _nothing  # the first selection has the cost of the run
        if selected:
            return (position,)
        position += 1


def _nothing() -> Cost:
    return pure(Fraction(0))


@dataclass(frozen=True, slots=True, eq=False)
class FreshThreshold:
    """A new noisy threshold, which is never released; it has the cost of all queries that are compared with it."""

    threshold: Fraction
    eps1: Fraction
    eps2: Fraction
    noise: Noise
    lattice: int
    cost: Callable[[], Cost] = field(repr=False)

    @property
    def public(self) -> Hashable:
        return self.threshold, self.eps1, self.eps2, self.noise, self.lattice

    def draw(self, source: RandomSource) -> "NoisyThreshold":
        return NoisyThreshold(self, source)


@dataclass(frozen=True, slots=True, eq=False)
class Reached:
    """Whether a query with fresh noise reaches a noisy threshold, which only `draw` looks at."""

    threshold: Any = field(repr=False)  # the outcome of FreshThreshold
    query: Fraction = field(repr=False)

    def cost(self) -> Cost:
        """Nothing beyond the cost of the threshold."""
        return _nothing()

    @property
    def public(self) -> Hashable:
        """Nothing beyond the facts of the threshold."""
        return ()

    def draw(self, source: RandomSource) -> bool:
        above: bool = self.threshold.reached_by(self.query, source)
        return above


class NoisyThreshold(Unique):
    """A noisy threshold, compared with queries that each get fresh noise."""

    __slots__ = ("_first", "_lattice", "_noise", "_rate", "_steps")

    def __init__(self, fresh: FreshThreshold, source: RandomSource) -> None:
        self._noise, self._lattice = fresh.noise, fresh.lattice
        self._rate = fresh.eps2 / fresh.lattice  # of the queries' noise, in steps of the lattice
        self._steps = fresh.threshold * fresh.lattice
        if fresh.noise == "gumbel":
            self._first = Exponential(source)  # the Gumbel noise on the threshold is -ln of this
        else:
            self._steps += threshold_noise(fresh.noise, fresh.eps1 / fresh.lattice, source)

    def reached_by(self, value: Fraction, source: RandomSource) -> bool:
        """Whether the noisy query is at or above the noisy threshold."""
        # Fresh noise each time: one shared draw would leave the queries bare, and that variant is not private.
        gap = self._steps - value * self._lattice
        if self._noise == "exponential":
            return geometric(self._rate, source) >= gap
        if self._noise == "laplace":
            return discrete_laplace(self._rate, source) >= gap
        fresh = Exponential(source)

        def attempt(precision: int) -> int | None:
            left = fresh.ball(precision)
            right = self._first.ball(precision) * ball(-self._rate * gap).exp()
            return 1 if left < right else 0 if left > right else None

        return bool(decide(attempt))


@dataclass(frozen=True, slots=True, eq=False)
class Selected:
    """Whether the exponential mechanism selects a query among it, all earlier queries and the threshold."""

    query: Fraction = field(repr=False)
    scores: Mapping[Fraction, int] = field(repr=False)  # how often each was asked, the query and the threshold included
    epsilon: Fraction
    cost: Callable[[], Cost] = field(repr=False)

    @property
    def public(self) -> Hashable:
        return self.epsilon, sum(self.scores.values())

    def draw(self, source: RandomSource) -> bool:
        e = Exponential(source)

        def attempt(precision: int) -> int | None:
            # Divided by this query's weight, all weights sum to 1/p, p the chance to select it; and P(E > ln(1/p)) = p.
            total = sum((n * ball(x).exp() for x, n in self._exponents()), ball(0))
            left, right = e.ball(precision), total.log()
            return 1 if left > right else 0 if left < right else None

        return bool(decide(attempt))

    @property
    def chance(self) -> float:
        """The probability that it does."""
        top = max(x for x, _ in self._exponents())
        total = math.fsum(n * math.exp(float(max(x - top, -_FAR))) for x, n in self._exponents())
        return math.exp(-float(min(top, _FAR))) / total

    def outcomes(self) -> Iterator[tuple[bool, float]]:
        yield from ((False, 1 - self.chance), (True, self.chance))

    def _exponents(self) -> Iterator[tuple[Fraction, int]]:
        """The log-weights relative to that of the query, and how often there are such."""
        return ((self.epsilon * (other - self.query), n) for other, n in self.scores.items())
