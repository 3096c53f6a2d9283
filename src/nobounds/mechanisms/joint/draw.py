"""An exact draw of the joint exponential mechanism: a proposal in double precision, corrected by rejection.

The weight of given quantiles is known exactly; only the sum of all weights is not. So quantiles are proposed, by the
chain or, about once in a million times, by the prior alone, and accepted with the probability that makes up for the
proposal. That is decided in double precision where it is certain, and in ball arithmetic otherwise; the chain needs no
more digits than doubles have (docs/proofs/joint.md).
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from nobounds.exact import ball
from nobounds.mechanisms.joint.chain import Chain, whole_weights
from nobounds.mechanisms.joint.stretches import Stretches
from nobounds.noise.discrete import Uniform, decide, uniform_below
from nobounds.noise.source import RandomSource
from nobounds.values import dataclass

if TYPE_CHECKING:
    from flint import arb

Chances: TypeAlias = list[tuple[int, int]]  # numerators and denominators

_RARELY = 14.0  # the prior proposes once in exp(14) times
_BEYOND = 3  # ranks beyond its reach that a chain may look at
_NEAR = 2  # nats of the ranks around a target that are expected to matter


def drawn_places(
    stretches: Stretches, source: RandomSource, full: Callable[[], Stretches] | None = None
) -> tuple[int, ...]:
    """An exact draw of the places of all quantiles, in order.

    The stretches may be exact around the targets alone; `full` makes those that are exact everywhere.
    """
    proposals = Proposals.of(stretches)
    if full is not None and proposals.reach / 2 + _BEYOND > stretches.far:
        proposals, full = Proposals.of(full()), None
    return proposals.draw(source, full)


@dataclass(frozen=True, eq=False)
class Proposals:
    """Where proposals come from.

    Quantiles have the weight w, their prior times exp(-rate * distance). It is at most exp(log_most) times the
    probability that the chain proposes them if their distance is at most `reach`, and else at most their prior times
    exp(-rate * reach).
    """

    chain: Chain
    reach: Fraction

    @classmethod
    def of(cls, stretches: Stretches) -> "Proposals":
        """With as short a reach as can be."""
        rate, nats = float(stretches.rate), _expected(stretches) + _RARELY
        while True:
            reach = max(nats, 1.0) / rate
            proposals = cls(Chain.of(stretches, reach), Fraction(reach))
            needed = _RARELY - proposals.chain.log_sum
            if needed <= nats:
                return proposals
            nats = needed + 1

    @property
    def stretches(self) -> Stretches:
        """What is chosen from."""
        return self.chain.stretches

    @cached_property
    def log_most(self) -> float:
        """ln of the factor of the chain."""
        return self.chain.log_sum + self.chain.slack

    @cached_property
    def log_rest(self) -> float:
        """ln of the factor of the prior."""
        return -float(self.stretches.rate * self.reach)

    @cached_property
    def _size(self) -> float:
        """The size of the logarithms that differences are taken of: their errors are in proportion to it."""
        return 1000 + abs(self.log_most) + abs(self.log_rest)

    def draw(self, source: RandomSource, full: Callable[[], Stretches] | None = None) -> tuple[int, ...]:
        """Propose places until they are accepted; the prior may propose any, for which `full` is needed."""
        whole, m = self.stretches.mass(self.stretches.first, self.stretches.last), self.stretches.many
        while True:
            log_rare = self.log_rest - float(np.logaddexp(self.log_most, self.log_rest))
            if _happens(log_rare, self._rare, source, self._size):
                places = sorted(
                    self._inside(self.stretches.first, self.stretches.last, whole, source) for _ in range(m)
                )
                whole_line = self if full is None else Proposals.of(full())
                taken = whole_line.stretches.stretch(np.array(places)).tolist()
                if whole_line._accepted(taken, whole_line.chances(taken), source):
                    return tuple(places)
            else:
                taken, chances = self.propose(source)
                if self._accepted(taken, chances, source):
                    return tuple(self._placed(taken, source))

    def propose(self, source: RandomSource) -> tuple[list[int], Chances]:
        """A draw of the stretches from the chain, and the probabilities of its choices."""
        taken, chances = list[int](), Chances()
        while (j := len(taken)) < self.stretches.many:
            ahead, logs = self.chain.next_stretch(j, taken[-1] if taken else None)
            place, chance = _drawn(logs, source)
            several, other = _drawn(self.chain.next_number(j, ahead + place), source)
            taken += [ahead + place] * (several + 1)
            chances += [chance, other]
        return taken, chances

    def chances(self, taken: list[int]) -> Chances | None:
        """The probabilities of the choices with which the chain proposes these stretches; None if it never does."""
        j, before, chances = 0, None, Chances()
        while j < len(taken):
            several, window = taken.count(taken[j]), self.chain.windows[j]
            ahead, logs = self.chain.next_stretch(j, before)
            if not ahead <= taken[j] < window.end:
                return None
            numbers = self.chain.next_number(j, taken[j])
            if len(numbers) < several:
                return None
            for place, each in ((taken[j] - ahead, logs), (several - 1, numbers)):
                weights = whole_weights(each)
                chances.append((int(weights[place]), int(weights.sum())))
            j, before = j + several, taken[j]
        return chances

    def _accepted(self, taken: list[int], chances: Chances | None, source: RandomSource) -> bool:
        """Whether a proposal is accepted: with the probability w / (exp(log_most) * chance + exp(log_rest) * prior)."""
        repeats = Counter(taken)
        logs, many = self.stretches.log_masses, math.lgamma(len(taken) + 1)
        log_prior = many + math.fsum(k * float(logs[i]) - math.lgamma(k + 1) for i, k in repeats.items())
        log_weight = -float(self.stretches.rate * self.stretches.distance(np.array(taken)))
        log_chance = -math.inf
        if chances is not None:
            log_chance = math.fsum(math.log(part) - math.log(all_) for part, all_ in chances)
        log_bound = float(np.logaddexp(self.log_most + log_chance - log_prior, self.log_rest))
        size = self._size + abs(log_weight) + abs(log_prior) + (0.0 if chances is None else abs(log_chance))
        return _happens(log_weight - log_bound, lambda: self._ratio(taken, chances), source, size)

    def _ratio(self, taken: list[int], chances: Chances | None) -> "arb":
        """The probability of acceptance as a ball."""
        rate = ball(self.stretches.rate)
        weight = (-rate * ball(self.stretches.distance(np.array(taken)))).exp()
        bound = (-rate * ball(self.reach)).exp()
        if chances is not None:
            chance, prior = math.prod(Fraction(*each) for each in chances), Fraction(math.factorial(len(taken)))
            whole = self.stretches.mass(self.stretches.first, self.stretches.last)
            for i, k in Counter(taken).items():
                mass = self.stretches.mass(int(self.stretches.starts[i]), int(self.stretches.ends[i]))
                prior *= Fraction(mass, whole) ** k / math.factorial(k)
            bound = bound + ball(Fraction(self.log_most)).exp() * ball(chance / prior)
        return weight / bound

    def _rare(self) -> "arb":
        """The probability of a proposal by the prior, as a ball."""
        rest = (-ball(self.stretches.rate) * ball(self.reach)).exp()
        return rest / (ball(Fraction(self.log_most)).exp() + rest)

    def _placed(self, taken: list[int], source: RandomSource) -> Iterable[int]:
        """Places in the stretches, by the prior."""
        for i, k in Counter(taken).items():
            first, last = int(self.stretches.starts[i]), int(self.stretches.ends[i])
            mass = self.stretches.mass(first, last)
            yield from sorted(self._inside(first, last, mass, source) for _ in range(k))

    def _inside(self, first: int, last: int, mass: int, source: RandomSource) -> int:
        return self.stretches.prior.rung_at(first, last, uniform_below(mass, source))


def _expected(stretches: Stretches) -> float:
    """About minus ln of the sum of all weights, from what the prior has near each target."""
    ranks, near = stretches.ranks, _NEAR / float(stretches.rate) + 1
    logs, target = -math.lgamma(stretches.many + 1), Fraction(0)
    for gap in stretches.targets[:-1]:
        target += gap
        first, end = np.searchsorted(ranks, [float(target) - near, float(target) + near]).tolist()
        first = min(first, int(np.searchsorted(ranks, float(target), side="right")) - 1)
        logs -= float(np.logaddexp.reduce(stretches.log_masses[first : max(end, first + 1)]))
    return logs + _NEAR * stretches.many


def _drawn(logs: "np.typing.NDArray[np.float64]", source: RandomSource) -> tuple[int, tuple[int, int]]:
    """An index, in exact proportion to the whole weights of these logarithms, and its probability."""
    weights = whole_weights(logs)
    passed = np.cumsum(weights)
    whole = int(passed[-1])
    place = int(np.searchsorted(passed, uniform_below(whole, source), side="right"))
    return place, (int(weights[place]), whole)


def _happens(log_chance: float, exact: "Callable[[], arb]", source: RandomSource, size: float = 1000.0) -> bool:
    """An event of the probability exp(log_chance), computed from numbers up to `size`; `exact` has all digits."""
    u, error = Uniform(source), size * 2.0**-46
    low, high = u.bounds()
    if log_chance - error > -700.0 and error < 1:
        if high < math.exp(log_chance - error):
            return True
        if low > math.exp(log_chance + error):
            return False

    def attempt(precision: int) -> int | None:
        drawn, chance = u.ball(precision), exact()
        return 1 if drawn < chance else 0 if drawn > chance else None

    return bool(decide(attempt))
