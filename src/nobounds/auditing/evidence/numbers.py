"""Evidence of noisy numbers, and of decisions on them: discrete Laplace and discrete Gaussian noise."""

import math
from fractions import Fraction
from typing import Any

import numpy as np

from nobounds.arrays import Floats
from nobounds.auditing.evidence.compare import ORDERS, both_ways, largest
from nobounds.values import dataclass

NATS = 300.0  # how improbable a forced outcome may be


@dataclass(frozen=True, slots=True)
class Number:
    """raw + J, with J discrete Laplace noise of a rate or discrete Gaussian noise of a variance."""

    gaussian: bool
    parameter: Fraction  # the rate, or the variance
    raw: int
    drawn: int

    def log_ratio(self, other: "Number", outcome: int) -> float:
        """How much more probable the outcome is here."""
        return self._log_weight(outcome) - other._log_weight(outcome)

    def worst_outcome(self, other: "Number") -> int:
        """As far from the raw number as what was drawn, on the side away from the other."""
        return self.raw + (1 if self.raw > other.raw else -1) * abs(self.drawn - self.raw)

    def divergences(self, other: "Number") -> Floats:
        """Renyi divergences, the same both ways."""
        shift = abs(self.raw - other.raw)
        if self.gaussian:  # exact if (order - 1) * shift is a whole number, otherwise an upper bound
            return float(Fraction(shift**2) / (2 * self.parameter)) * np.array(ORDERS)
        return np.array([laplace_divergence(float(self.parameter), shift, order) for order in ORDERS])

    def _log_weight(self, outcome: int) -> float:
        steps = outcome - self.raw
        return -float(Fraction(steps**2) / (2 * self.parameter) if self.gaussian else self.parameter * abs(steps))


def laplace_divergence(rate: float, shift: int, order: float) -> float:
    """The Renyi divergence of discrete Laplace noise from the same noise shifted by a whole number of steps."""
    if shift == 0:
        return 0.0
    far, slope, one = rate * float(shift), (2 * order - 1) * rate, -math.expm1(-rate)
    # Sums over the noise up to 0, between 0 and the shift, and from the shift on, divided by exp((order - 1) * far).
    between = math.exp(-slope) * math.expm1(-slope * float(shift - 1)) / math.expm1(-slope)
    total = 1 / one + between + math.exp(-(2 * order - 1) * far) / one
    return max(0.0, far + math.log(math.tanh(rate / 2) * total) / (order - 1))


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One of a few outcomes, each with its log-probability."""

    logs: dict[Any, float]
    drawn: Any

    def log_ratio(self, other: "Part", outcome: Any) -> float:
        """How much more probable the outcome is here."""
        return self.logs[outcome] - other.logs[outcome]

    def worst_outcome(self, other: "Part") -> Any:
        """The outcome that tells the most."""
        mine, yours = self._both(other)
        best = largest(mine, yours, mine, NATS)
        return self.drawn if best is None else list(self.logs)[best]

    def divergences(self, other: "Part") -> Floats:
        """Renyi divergences, the larger of both ways."""
        return both_ways(*self._both(other))

    def _both(self, other: "Part") -> tuple[Floats, Floats]:
        return np.array(list(self.logs.values())), np.array(list(other.logs.values()))


def log_between(rate: float, low: float, high: float) -> float:
    """The log-probability that discrete Laplace noise is at least `low` and less than `high`."""
    if high <= low:
        return -math.inf
    if low > 0:
        rest = math.log(-math.expm1(-rate * (high - low))) if high < math.inf else 0.0
        return -rate * low - math.log1p(math.exp(-rate)) + rest
    if high <= 0:
        return log_between(rate, 1 - high, 1 - low)
    # From 0 on it is (1 - p**high) / (1 + p), below 0 it is p (1 - p**-low) / (1 + p): nothing cancels.
    above, below = -math.expm1(-rate * high), -math.exp(-rate) * math.expm1(rate * low)
    return math.log(above + below) - math.log1p(math.exp(-rate))


@dataclass(frozen=True, slots=True, eq=False)
class Selection(Part):
    """Whether a query is selected among it and `earlier` ones; earlier answers decide what tells the most."""

    query: Fraction
    total: Fraction  # of all scores so far, the query included
    earlier: int

    def worst_outcome(self, other: Part) -> bool:
        """Not while a record moves all queries the same way, and yes at a query that it moves otherwise."""
        assert isinstance(other, Selection)
        move, moves = self.query - other.query, self.total - other.total
        return self.earlier > 0 and moves - move != self.earlier * move


@dataclass(frozen=True, slots=True)
class Public:
    """Random bits that decide nothing about records: both data sets get the same."""

    width: int
    drawn: int

    def log_ratio(self, other: "Public", outcome: int) -> float:
        """It tells nothing."""
        return 0.0

    def worst_outcome(self, other: "Public") -> int:
        """Any."""
        return self.drawn

    def divergences(self, other: "Public") -> Floats:
        """None."""
        return np.zeros(len(ORDERS))


@dataclass(frozen=True, slots=True)
class Several:
    """Independent decisions that are made together."""

    parts: tuple[Any, ...]

    @property
    def drawn(self) -> tuple[Any, ...]:
        """What was drawn for each part."""
        return tuple(part.drawn for part in self.parts)

    def log_ratio(self, other: "Several", outcome: tuple[Any, ...]) -> float:
        """The sum over the parts."""
        return math.fsum(a.log_ratio(b, one) for a, b, one in zip(self.parts, other.parts, outcome, strict=True))

    def worst_outcome(self, other: "Several") -> tuple[Any, ...]:
        """The worst of each part."""
        return tuple(mine.worst_outcome(yours) for mine, yours in zip(self.parts, other.parts, strict=True))

    def divergences(self, other: "Several") -> Floats:
        """The sum over the parts."""
        pairs = zip(self.parts, other.parts, strict=True)
        return sum((a.divergences(b) for a, b in pairs), np.zeros(len(ORDERS)))

    def given(self, outcome: tuple[Any, ...], is_first: bool) -> tuple[Any, ...]:
        """What a run is given for each part."""
        pairs = zip(self.parts, outcome, strict=True)
        return tuple(part.given(one, is_first) if hasattr(part, "given") else one for part, one in pairs)


class Array(Several):
    """Numbers of many groups, in an array: of 64 bits if they fit."""

    __slots__ = ()

    def given(self, outcome: tuple[Any, ...], is_first: bool) -> Any:
        """The array that a run is given."""
        fits = all(abs(number) < 1 << 62 for number in outcome)
        return np.array(outcome, dtype=np.int64 if fits else object)
