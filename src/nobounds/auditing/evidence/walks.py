"""Evidence of the position where a walk halts, by the sum over noisy thresholds."""

from dataclasses import replace
from functools import lru_cache

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.auditing.evidence.compare import DEEP, KNOWN, ORDERS, both_ways, largest
from nobounds.mechanisms.halting import Law, log_sum
from nobounds.mechanisms.walk import Walk
from nobounds.values import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class HaltedAt:
    """The position where a walk halts, or None. With `one_end`, halting at the last position equals never halting."""

    walk: Walk
    drawn: int | None
    one_end: bool = False

    def log_ratio(self, other: "HaltedAt", outcome: int | None) -> float:
        """How much more probable the position is here."""
        return 0.0 if self._equals(other) else self.log_pmf(outcome) - other.log_pmf(outcome)

    def worst_outcome(self, other: "HaltedAt") -> int | None:
        """The end of a run that tells the most."""
        if self._equals(other):
            return self.drawn
        first, mine, yours = compared(self, other, whole=False)
        best = largest(mine, yours, mine, KNOWN)
        return self.drawn if best is None else None if best == len(first) else int(first[best])

    def divergences(self, other: "HaltedAt") -> Floats:
        """Of the stretch of positions where the walk halts: a lower bound, because a stretch tells less."""
        return np.zeros(len(ORDERS)) if self._equals(other) else both_ways(*compared(self, other, whole=True)[1:])

    def given(self, outcome: int | None, is_first: bool) -> int | None:
        """What a run is given; of two outcomes that mean the same, one run gets this and the other that."""
        if self.one_end and outcome in (None, self.walk.length - 1):
            return None if is_first else self.walk.length - 1
        return outcome

    def merged(self, logs: Floats) -> Floats:
        """The log-probabilities, with the last two (the last position, and never) as one outcome if they are one."""
        return np.append(np.append(logs[:-2], -np.inf), np.logaddexp(*logs[-2:])) if self.one_end else logs

    def log_pmf(self, outcome: int | None) -> float:
        """The log-probability of a position, or of never halting."""
        walk = self.walk
        if outcome is None or (self.one_end and outcome == walk.length - 1):
            last = np.arange(walk.length - 1, walk.length)
            return float(self.merged(halting(walk, last, last + 1))[-1])
        k, runs = np.array([outcome]), int(np.searchsorted(walk.starts, outcome, side="right"))
        begun = replace(walk, starts=walk.starts[:runs], levels=walk.levels[:runs], length=outcome + 1, trusted=None)
        return float(halting(begun, k, k + 1)[0])

    def _equals(self, other: "HaltedAt") -> bool:
        one, two = self.walk, other.walk
        equal = one.threshold == two.threshold and np.array_equal(one.levels, two.levels)
        return equal and np.array_equal(one.starts, two.starts)


@lru_cache(maxsize=4)
def compared(one: HaltedAt, other: HaltedAt, whole: bool) -> tuple[Ints, Floats, Floats]:
    """Stretches of positions of two walks, and both log-probabilities of halting there, and of never halting."""
    first, last = stretches(one.walk, other.walk) if whole else run_ends(one.walk, other.walk)
    mine, yours = (halt.merged(halting(halt.walk, first, last)) for halt in (one, other))
    return first, mine, yours


def run_ends(one: Walk, other: Walk) -> tuple[Ints, Ints]:
    """The first and the last position of each run of two walks, one by one."""
    starts = np.union1d(one.starts, other.starts)
    first = np.union1d(starts, np.append(starts[1:], one.length) - 1)
    return first, first + 1


def stretches(one: Walk, other: Walk) -> tuple[Ints, Ints]:
    """All positions of two walks, in stretches within runs that grow longer and longer."""
    starts = np.union1d(one.starts, other.starts)
    lengths = np.diff(starts, append=one.length)
    steps = np.array([0, *(64**k for k in range(10))])
    first = np.union1d((starts[:, None] + steps)[steps < lengths[:, None]], [one.length - 1])
    return first, np.append(first[1:], one.length)


def halting(walk: Walk, first: Ints, last: Ints) -> Floats:
    """Log-probabilities of halting from `first` to before `last`, each within one run, and of never halting.

    Given the noisy threshold, a walk is silent through H nats of increments with probability exp(-H) (see `walk`). All
    terms of the sum over thresholds are positive, so small probabilities keep their relative precision.
    """
    run = np.searchsorted(walk.starts, first, side="right") - 1
    inside, lengths = (first - walk.starts[run]).astype(float), (last - first).astype(float)
    result, later = np.full(len(first) + 1, -np.inf), inside.nonzero()[0]
    for weight, before, each in Law(walk).given_threshold(DEEP, len(first)):
        with np.errstate(all="ignore"):
            step = each[:, run]
            silent = before[:, run]
            silent[:, later] += step[:, later] * inside[later]
            step *= lengths
            end = before[:, -1] + each[:, -1] * float(walk.lengths[-1])
            if walk.noise == "gumbel":
                halts = np.log(step) - np.log1p(silent) - np.log1p(silent + step)
                terms = np.column_stack([np.where(np.isnan(halts), -np.inf, halts), -np.log1p(end)])
                result = np.logaddexp(result, log_sum(terms))
                continue
        halts = log_sum(np.subtract(weight[:, None], silent, out=silent), -np.expm1(-step, out=step))
        result = np.logaddexp(result, np.append(halts, log_sum(weight - end)))
    return result
