"""The decision of the joint exponential mechanism, and its law: the probabilities of places of all quantiles."""

import math
from collections.abc import Callable, Hashable, Iterator
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np

from nobounds.accounting.cost import Cost
from nobounds.arrays import Floats, Ints
from nobounds.mechanisms.decisions import Hidden
from nobounds.mechanisms.joint.chain import Chain
from nobounds.mechanisms.joint.draw import drawn_places
from nobounds.mechanisms.joint.stretches import Stretches
from nobounds.noise.source import RandomSource
from nobounds.values import dataclass


@dataclass(frozen=True, eq=False, repr=False)
class ChooseAll(Hidden):
    """The places of all quantiles, in increasing order; the stretches are made when they are needed.

    `near` makes stretches that are exact around the targets alone, which is enough for most draws.
    """

    make: Callable[[], Stretches]
    cost: Callable[[], Cost]
    near: Callable[[], Stretches] | None = None

    @cached_property
    def stretches(self) -> Stretches:
        """What is chosen from."""
        return self.make()

    @property
    def public(self) -> Hashable:
        made = self.stretches
        return made.rate, made.gaps, made.first, made.last, made.prior.key

    def draw(self, source: RandomSource) -> tuple[int, ...]:
        if self.near is None:
            return drawn_places(self.stretches, source)
        return drawn_places(self.near(), source, lambda: self.stretches)

    def law(self) -> "JointLaw":
        """The law of the places."""
        return JointLaw(self.stretches)

    def outcomes(self) -> Iterator[tuple[tuple[int, ...], float]]:
        """All places with their probabilities, for a few quantiles and places alone."""
        law, made = self.law(), self.stretches
        every = np.array(list(combinations_with_replacement(range(made.first, made.last + 1), made.many)))
        yield from zip(map(tuple, every.tolist()), np.exp(law.log_pmf(every)).tolist(), strict=True)


@dataclass(frozen=True, eq=False)
class JointLaw:
    """The law of all places: the weights divided by their sum, which is summed over all stretches."""

    stretches: Stretches

    @cached_property
    def log_sum(self) -> float:
        """ln of the sum of all weights, over what the prior of all quantiles weighs."""
        return Chain.of(self.stretches).log_sum

    def log_pmf(self, places: Ints) -> Floats:
        """The log-probability of each row of places, in increasing order."""
        made = self.stretches
        logs = np.log(made.prior.masses(places, places)) - made.log_all
        repeats = np.array([sum(math.lgamma(row.count(p) + 1) for p in set(row)) for row in places.tolist()])
        prior = math.lgamma(made.many + 1) + logs.sum(axis=1) - repeats
        return np.asarray(prior - float(made.rate) * self.distances(places) - self.log_sum)

    def distances(self, places: Ints) -> Floats:
        """The distance of each row of places."""
        made = self.stretches
        ranks = made.ranks[made.stretch(places)]
        ends = np.zeros((len(places), 1), dtype=np.int64)
        between = np.diff(np.concatenate([ends, ranks, ends + made.total], axis=1), axis=1)
        return np.asarray(sum(made.away(gap, between[:, gap]) for gap in range(made.many + 1)))
