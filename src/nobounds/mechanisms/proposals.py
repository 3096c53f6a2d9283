"""The exponential mechanism where only bounds on distances are known: propose a rung, and accept it or propose again.

A rung is proposed with the weight of the least distance that it may have, and accepted with the probability
exp(-rate * (its distance - the least)). What is accepted has the law of the exponential mechanism, whatever the bounds
are: that is rejection sampling. One exponential variable E decides; if it is larger than rate * (the largest distance -
the least), the distance itself is not needed. Otherwise the records of one run are read again. Every comparison is
certified, so the law is exact.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from nobounds.arrays import Ints
from nobounds.exact import ball
from nobounds.mechanisms.exponential_mechanism import weighted_rung
from nobounds.mechanisms.runs import Runs
from nobounds.noise.discrete import Exponential, decide
from nobounds.noise.source import RandomSource

_ERROR = 2.0**-40  # more than the relative error of a product of doubles


@dataclass(frozen=True, slots=True, eq=False)
class Bounded:
    """Runs whose rungs have the distance of their run or more, up to `more` ranks more. Sensitive."""

    runs: Runs
    more: Ints
    finer: Callable[[int], "Bounded"]  # the same with the exact distance of this rung

    def distance(self, rung: int) -> Fraction:
        """The least distance of a rung from the target."""
        return self.runs.distance(self._run(rung)) + self.runs.least

    def spread(self, rung: int) -> int:
        """By how much the distance of a rung may be larger."""
        return int(self.more[self._run(rung)])

    def _run(self, rung: int) -> int:
        return int(np.searchsorted(self.runs.starts, rung, side="right")) - 1

    def __repr__(self) -> str:
        return f"Bounded(rate={self.runs.rate}, the rest hidden)"


def proposed_rung(bounded: Bounded, source: RandomSource) -> int:
    """An exact draw of the rung that the exponential mechanism selects, from bounds on the distances."""
    while True:
        rung = weighted_rung(bounded.runs, source)
        if not (spread := bounded.spread(rung)):
            return rung
        rate, e = bounded.runs.rate, Exponential(source)
        if e.bounds()[0] > float(rate) * spread * (1 + _ERROR):
            return rung
        finer = bounded.finer(rung)
        if _is_above(e, rate * (finer.distance(rung) - bounded.distance(rung))):
            return rung
        bounded = finer


def _is_above(e: Exponential, bound: Fraction) -> bool:
    """Whether E is larger than a bound."""
    low, high = e.bounds()
    if low > float(bound) * (1 + _ERROR):
        return True
    if high < float(bound) * (1 - _ERROR):
        return False

    def attempt(precision: int) -> int | None:
        drawn, exact = e.ball(precision), ball(bound)
        return 1 if drawn > exact else 0 if drawn < exact else None

    return bool(decide(attempt))
