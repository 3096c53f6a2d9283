"""Enumerated outcomes: the law of a release, from every outcome that its decisions may have and its probability.

A driver settles the decisions by a script. Whenever the program comes to a decision beyond the script, the call is
repeated with each outcome within a reach. The law is therefore that of the code that releases, without a second
implementation. The effect of noise beyond the reach is unknown, but its probability is known, and each loss is a lower
bound of the true one: no loss is an artefact of the reach.
"""

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache, singledispatch
from typing import Any, NamedTuple, TypeVar

import numpy as np

from nobounds.arrays import Floats
from nobounds.auditing.divergences import ORDERS, renyi
from nobounds.mechanisms.decisions import Above, Level, Noisy, NoisyMany, Together
from nobounds.mechanisms.hits import FreshThreshold, Reached
from nobounds.noise.discrete import Noise
from nobounds.noise.laws import geometric_at_least, laplace_at_least
from nobounds.programs.program import Decision, Driver

T = TypeVar("T")


class Drawn(NamedTuple):
    """The values of noise within the reach, their log-probabilities, and that of all other values together."""

    values: tuple[Any, ...]
    logs: tuple[float, ...]
    beyond: float


class Seen(NamedTuple):
    """Log-probabilities of outcomes, and that of noise beyond the reach, whose outcomes are unknown."""

    logs: dict[Hashable, float]
    beyond: float


class _More(BaseException):
    """The program decides more than the script has; a BaseException, which `except Exception` does not catch."""

    def __init__(self, drawn: Drawn) -> None:
        self.drawn = drawn


class Script(Driver):
    """Settles decisions by the scripted outcomes, and raises `_More` when there are no more.

    `factor` plants a bug: the noise is drawn as if its rate were `factor` times larger.
    """

    def __init__(self, reach: float, factor: Fraction = Fraction(1)) -> None:
        self.reach, self.factor = reach, factor
        self.outcomes: Sequence[Any] = ()
        self.used = 0

    def decide(self, decision: Decision[T]) -> T:
        """The next outcome; a decision that is made of others is settled one by one."""
        if hasattr(decision, "settled_by"):
            inside: T = decision.settled_by(self)
            return inside
        if isinstance(decision, Together):
            return tuple(self.decide(part) for part in decision.parts)
        if isinstance(decision, NoisyMany):
            return [self.decide(part) for part in decision.parts]
        if self.used == len(self.outcomes):
            raise _More(within(decision, self.reach, self.factor))
        self.used += 1
        outcome: T = self.outcomes[self.used - 1]
        return outcome

    def runs(self, release: Callable[[Driver], Hashable]) -> Iterator[tuple[Hashable | None, float]]:
        """The release for each script with its log-probability; None for noise beyond the reach."""
        waiting: list[tuple[tuple[Any, ...], float]] = [((), 0.0)]
        while waiting:
            self.outcomes, log_chance = waiting.pop()
            self.used = 0
            try:
                yield release(self), log_chance
            except _More as more:
                drawn = more.drawn
                waiting += [
                    ((*self.outcomes, one), log_chance + log) for one, log in zip(drawn.values, drawn.logs, strict=True)
                ]
                yield None, log_chance + drawn.beyond


def enumerated_law(release: Callable[[Driver], Hashable], reach: float, factor: Fraction = Fraction(1)) -> Seen:
    """The law of a release, for noise up to `reach` of its scales (for Gaussian noise: standard deviations).

    The release is a call that gives this driver in the place of a random generator.
    """
    by_outcome: dict[Hashable, list[float]] = {}
    for outcome, log_chance in Script(reach, factor).runs(release):
        by_outcome.setdefault(outcome, []).append(log_chance)
    return gathered(by_outcome)


@singledispatch
def within(decision: Any, reach: float, factor: Fraction) -> Drawn:
    """The outcomes of a decision, those of noise within a reach."""
    raise TypeError(f"the outcomes of a decision of type {type(decision).__name__} are not enumerated")


@within.register
def _(decision: Noisy, reach: float, factor: Fraction) -> Drawn:
    parameter = decision.noise.parameter(decision.sensitivity)
    if decision.noise.is_gaussian:
        drawn = gaussian_within(parameter / factor**2, reach)
    else:
        drawn = laplace_within(parameter * factor, reach)
    return drawn._replace(values=tuple(decision.number + j for j in drawn.values))


@within.register
def _(decision: FreshThreshold, reach: float, factor: Fraction) -> Drawn:
    drawn = threshold_within(decision.noise, decision.eps1 / decision.lattice * factor, reach)
    return drawn._replace(values=tuple(NoisySteps(decision, j) for j in drawn.values))


@within.register
def _(decision: Reached, reach: float, factor: Fraction) -> Drawn:
    noisy: NoisySteps = decision.threshold
    chance = noisy.chance(decision.query)
    possible = {above: math.log(p) for above, p in ((True, chance), (False, 1 - chance)) if p > 0}
    return Drawn(tuple(possible), tuple(possible.values()), -math.inf)


class NoisySteps(NamedTuple):
    """A noisy threshold: its noise in steps of the lattice. Gumbel noise has no steps."""

    fresh: FreshThreshold
    noise: int

    def chance(self, query: Fraction) -> float:
        """The probability that a query with fresh noise reaches the threshold."""
        rate = self.fresh.eps2 / self.fresh.lattice
        gap = math.ceil((self.fresh.threshold - query) * self.fresh.lattice) + self.noise
        return (laplace_at_least if self.fresh.noise == "laplace" else geometric_at_least)(rate, gap)


@within.register(Level)
@within.register(Above)
def _(decision: Any, reach: float, factor: Fraction) -> Drawn:
    possible = {outcome: math.log(chance) for outcome, chance in decision.outcomes() if chance > 0}
    return Drawn(tuple(possible), tuple(possible.values()), -math.inf)


def gathered(by_outcome: dict[Hashable, list[float]]) -> Seen:
    """The log-probabilities of outcomes; None stands for noise beyond the reach."""
    logs = {outcome: float(np.logaddexp.reduce(each)) for outcome, each in by_outcome.items()}
    return Seen(logs, logs.pop(None, -math.inf))


def log_laplace(rate: float, j: int) -> float:
    """The log-probability of j under the discrete Laplace law."""
    return math.log(math.tanh(rate / 2)) - rate * abs(j)


def log_gaussian(variance: float, j: int) -> float:
    """The log-probability of j under the discrete Gaussian law."""
    return -(j**2) / (2 * variance) - _log_weight(variance)


@lru_cache(maxsize=64)
def _log_weight(variance: float) -> float:
    reach = math.ceil(math.sqrt(2 * variance * 700)) + 1
    return float(np.logaddexp.reduce(-(np.arange(-reach, reach + 1) ** 2) / (2 * variance)))


@lru_cache(maxsize=64)
def laplace_within(rate: Fraction, reach: float) -> Drawn:
    """Discrete Laplace noise up to `reach` of its scales."""
    r = float(rate)
    values = tuple(range(-math.ceil(reach / r), math.ceil(reach / r) + 1))
    beyond = math.log(2) - r * (values[-1] + 1) - math.log1p(math.exp(-r))
    return Drawn(values, tuple(log_laplace(r, j) for j in values), beyond)


@lru_cache(maxsize=64)
def gaussian_within(variance: Fraction, reach: float) -> Drawn:
    """Discrete Gaussian noise up to `reach` standard deviations."""
    v = float(variance)
    far = math.ceil(reach * math.sqrt(v))
    values = tuple(range(-far, far + 1))
    tail = [log_gaussian(v, j) for j in range(far + 1, 2 * far + math.ceil(40 * math.sqrt(v)))]
    beyond = math.log(2) + float(np.logaddexp.reduce(tail)) + 1e-9  # the terms after it are negligible
    return Drawn(values, tuple(log_gaussian(v, j) for j in values), beyond)


def threshold_within(noise: Noise, rate: Fraction, reach: float) -> Drawn:
    """The noise of a threshold; that of Gumbel noise is in the variable that a sampler draws."""
    if noise == "gumbel":
        return Drawn((0,), (0.0,), -math.inf)
    return (geometric_within if noise == "exponential" else laplace_within)(rate, reach)


@lru_cache(maxsize=64)
def geometric_within(rate: Fraction, reach: float) -> Drawn:
    """Exponential noise on whole numbers, up to `reach` of its scales."""
    r = float(rate)
    values = tuple(range(math.ceil(reach / r) + 1))
    return Drawn(values, tuple(math.log(-math.expm1(-r)) - r * j for j in values), -r * len(values))


def loss_between(mine: Seen, yours: Seen) -> tuple[float, float]:
    """Lower bounds of the pure loss and the range; noise beyond the reach may release anything."""
    forth, back = (max(0.0, float((p - q).max())) for p, q in (_bounds(mine, yours), _bounds(yours, mine)))
    return max(forth, back), forth + back


def divergence_between(mine: Seen, yours: Seen) -> float:
    """A lower bound of rho, the largest Renyi divergence divided by its order."""
    sides = (_bounds(mine, yours), _bounds(yours, mine))
    return max(0.0, *(renyi(p, q, order) / order for p, q in sides for order in ORDERS))


def _bounds(mine: Seen, yours: Seen) -> tuple[Floats, Floats]:
    """For each outcome of `mine`: a lower bound of its log-probability, and an upper bound of that in `yours`."""
    p = np.array(list(mine.logs.values()))
    q = np.array([yours.logs.get(outcome, -math.inf) for outcome in mine.logs])
    return p, np.logaddexp(q, yours.beyond)
