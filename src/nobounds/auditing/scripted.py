"""Scripted noise: the law of the code's releases, from every noise that it may draw and its theoretical probability.

The samplers are replaced by a script. Whenever the code draws noise, the run is repeated with each value within a
reach. The law is therefore that of the running code, without a second implementation. The effect of noise beyond the
reach is unknown, but its probability is known, and each loss is a lower bound of the true one: no loss is an artefact
of the reach.
"""

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from nobounds.arrays import Floats
from nobounds.auditing.divergences import ORDERS, renyi
from nobounds.auditing.replacing import replaced


class Drawn(NamedTuple):
    """The values of noise within the reach, their log-probabilities, and that of all other values together."""

    values: tuple[int, ...]
    logs: tuple[float, ...]
    beyond: float


class Seen(NamedTuple):
    """Log-probabilities of outcomes, and that of noise beyond the reach, whose outcomes are unknown."""

    logs: dict[Hashable, float]
    beyond: float


class _More(BaseException):
    """The code draws more noise than the script has; a BaseException, which `except Exception` does not catch."""

    def __init__(self, drawn: Drawn) -> None:
        self.drawn = drawn


class Script:
    """Replaces the samplers: returns the scripted noise, and raises `_More` when there is no more.

    `factor` plants a bug: the noise is drawn as if the rate were `factor` times larger.
    """

    def __init__(self, reach: float, factor: Fraction = Fraction(1)) -> None:
        self.reach, self.factor = reach, factor
        self.noise: Sequence[int] = ()
        self.used = 0

    def laplace(self, rate: Fraction, source: object) -> int:
        """The next value, for discrete Laplace noise of this rate."""
        return self.choose(laplace_within(rate * self.factor, self.reach))

    def gaussian(self, variance: Fraction, source: object) -> int:
        """The next value, for discrete Gaussian noise of this variance."""
        return self.choose(gaussian_within(variance / self.factor**2, self.reach))

    def geometric(self, rate: Fraction, source: object) -> int:
        """The next value, for exponential noise on whole numbers of this rate."""
        return self.choose(geometric_within(rate * self.factor, self.reach))

    def threshold(self, noise: str, rate: Fraction, source: object) -> int:
        """The next value, for the noise of a threshold."""
        return self.geometric(rate, source) if noise == "exponential" else self.laplace(rate, source)

    def choose(self, drawn: Drawn) -> int:
        """The next value, of those that this noise may have."""
        if self.used == len(self.noise):
            raise _More(drawn)
        self.used += 1
        return self.noise[self.used - 1]

    def samplers(self) -> dict[str, Any]:
        """The replacements of the samplers of noise on numbers."""
        return {
            "additive__discrete_laplace": self.laplace,
            "additive__discrete_gaussian": self.gaussian,
            "clipped__discrete_laplace": self.laplace,
            "question__discrete_laplace": self.laplace,
        }

    def runs(self, release: Callable[[], Hashable]) -> Iterator[tuple[Hashable | None, float]]:
        """The release for each noise with its log-probability; None for noise beyond the reach."""
        waiting: list[tuple[tuple[int, ...], float]] = [((), 0.0)]
        while waiting:
            self.noise, log_chance = waiting.pop()
            self.used = 0
            try:
                yield release(), log_chance
            except _More as more:
                drawn = more.drawn
                waiting += [
                    ((*self.noise, j), log_chance + log) for j, log in zip(drawn.values, drawn.logs, strict=True)
                ]
                yield None, log_chance + drawn.beyond


def scripted_law(release: Callable[[], Hashable], reach: float, factor: Fraction = Fraction(1)) -> Seen:
    """The law of a release, for noise up to `reach` of its scales (for Gaussian noise: standard deviations)."""
    script, by_outcome = Script(reach, factor), dict[Hashable, list[float]]()
    with replaced(**script.samplers()):
        for outcome, log_chance in script.runs(release):
            by_outcome.setdefault(outcome, []).append(log_chance)
    return gathered(by_outcome)


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
