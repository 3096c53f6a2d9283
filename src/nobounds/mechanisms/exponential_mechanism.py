"""The exponential mechanism over the rungs of a ladder (McSherry and Talwar 2007; quantiles: Smith 2011).

A rung is selected with probability proportional to exp(-rate * distance), the weights of `runs`, times what it weighs
under a public prior, if there is one. With rate = epsilon / (2 sensitivity) the mechanism costs epsilon, like
permute-and-flip, and is never more accurate. But its range is bounded by epsilon rather than 2 epsilon, so under zCDP
it costs about a quarter as much (Dong, Durfee and Rogers 2020).

Where only bounds on distances are known, a rung is proposed with the weight of the least distance that it may have, and
accepted with the probability exp(-rate * (its distance - the least)). What is accepted has the same law, whatever the
bounds are: that is rejection sampling (docs/proofs/frame.md). One exponential variable decides; if it is larger than
rate * (the largest distance - the least), the distance itself is not needed, and else records are read again.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.exact import ball
from nobounds.mechanisms.runs import DOUBLE_BITS, DOUBLE_ERROR, RunLaw, Runs, pick, pick_ball, together
from nobounds.noise.discrete import Exponential, Uniform, decide, truncated_geometric
from nobounds.noise.source import RandomSource
from nobounds.values import dataclass

if TYPE_CHECKING:
    from flint import arb

_FEW = 64  # runs that are weighed one by one
_ERROR = 2.0**-40  # more than the relative error of a product of doubles


def weighted_rung(runs: Runs, source: RandomSource, full: Callable[[], Runs] | None = None) -> int:
    """An exact draw of the rung that the exponential mechanism selects; `full` as in `flip.flip_rung`."""
    u = Uniform(source)
    run = _in_doubles(runs, u)
    if run is None:
        runs = full() if full else runs
        run = decide(lambda precision: _in_balls(runs, u, precision))
    if growth := int(runs.growth[run]):
        return runs.rung(run, truncated_geometric(runs.rate * growth, int(runs.lengths[run]), source))
    return runs.drawn(run, source)


def weighted_law(runs: Runs) -> RunLaw:
    """The law of `weighted_rung`: the weights divided by their sum."""
    masses = _weights(runs, np.arange(len(runs.starts)))
    return RunLaw(runs, masses / masses.sum())


def _weights(runs: Runs, some: Ints | slice) -> Floats:
    """The weights of the runs `some`: geometric sums where the distance grows along a run."""
    weights = runs.distances()[some] * -float(runs.rate)
    np.exp(weights, out=weights)
    masses = runs.multiplicities(some)
    if runs.growth.strides[0] and (growth := runs.growth[some]).any():  # else it is one 0 for all runs
        x = np.where(growth > 0, growth, 1) * float(runs.rate)
        lengths = runs.lengths[some].astype(np.float64)
        masses = np.where(growth > 0, np.expm1(-x * lengths) / np.expm1(-x) * (masses / lengths), masses)
    weights *= masses
    return weights


def _many(runs: Runs, run: int) -> "arb":
    """The weight of a run divided by the weight of its rung nearest to the target."""
    mass, growth = ball(runs.multiplicity(run)), int(runs.growth[run])
    if not growth:
        return mass
    x, length = ball(runs.rate * growth), int(runs.lengths[run])
    return (-x * length).expm1() / (-x).expm1() * (mass / length)


def _in_doubles(runs: Runs, u: Uniform) -> int | None:
    if len(runs.starts) <= _FEW and not runs.growth.strides[0] and runs.trusts_all:
        return _among_few(runs, u)
    near = runs.near(DOUBLE_BITS)
    if not runs.trusts(near):
        return None
    passed = _weights(runs, together(near)).cumsum()
    run = pick(passed, passed, DOUBLE_ERROR, 2.0**-DOUBLE_BITS, u)
    return None if run is None else int(near[run])


def _among_few(runs: Runs, u: Uniform) -> int | None:
    """The same among few runs, one by one: that takes less time than calls for short arrays."""
    rate = float(runs.rate)
    weights = [math.exp(-rate * distance) * mass for distance, mass in zip(*runs.listed(), strict=True)]
    passed = list(accumulate(weights))
    return pick(passed, passed, DOUBLE_ERROR, 2.0**-DOUBLE_BITS, u)


def _in_balls(runs: Runs, u: Uniform, precision: int) -> int | None:
    from flint import arb

    near = runs.near(precision)
    rate = ball(runs.rate)
    weights = [(-ball(runs.distance(run)) * rate).exp() * _many(runs, run) for run in near.tolist()]
    run = pick_ball(weights, arb(2) ** -precision, u, precision)
    return None if run is None else int(near[run])


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
