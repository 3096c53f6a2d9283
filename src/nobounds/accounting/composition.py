"""Composition: what losses come to together, and which sums keep a promise however the next charge is chosen.

Sums are exact rationals of the numbers as written, so thirty times 0.1 is 3. The proof that either of two rules will do
for an epsilon at a delta: docs/proofs/budget.md.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from nobounds.accounting.conversions import epsilon_from_rho, rho_from_approximate, rho_from_pure
from nobounds.accounting.loss import PrivacyLoss
from nobounds.exact import rational, round_up, text_up


@dataclass(frozen=True, slots=True)
class Totals:
    """What losses come to, each sum exact, or infinite if one of them is."""

    epsilon: Fraction | float = Fraction(0)
    rho: Fraction | float = Fraction(0)
    eta: Fraction | float = Fraction(0)
    delta: Fraction | float = Fraction(0)

    def __add__(self, loss: PrivacyLoss) -> "Totals":
        """The totals with one loss more. Ranges add up as they do for two losses."""
        return Totals(
            _plus(self.epsilon, loss.epsilon),
            _plus(self.rho, loss.rho),
            max(_plus(self.eta, loss.epsilon, loss.epsilon), _plus(self.epsilon, self.epsilon, loss.eta)),
            _plus(self.delta, loss.delta),
        )


@dataclass(frozen=True, slots=True)
class Rules:
    """What charges may come to: they keep to `basic`, or else they keep to `rho`.

    basic is an epsilon and a delta, to which those of the charges add up; rho is zCDP, which adds up too, and is worth
    epsilon at `tail`. Where both rules are there, each has its own part of delta, because their failures add up.
    """

    basic: tuple[Fraction, Fraction] | None = None
    rho: Fraction | None = None
    tail: Fraction | None = None

    @classmethod
    def of(cls, epsilon: Fraction | None, delta: Fraction | None, rho: Fraction | None) -> "Rules":
        """The rules that promise an epsilon, a rho, or an epsilon at a delta."""
        if epsilon is None:
            return cls(rho=rho)
        if delta is None:
            return cls(basic=(epsilon, Fraction(0)))
        tail = delta * 9 / 10
        return cls((epsilon, delta - tail), rho_from_approximate(epsilon, tail), tail)

    def allow(self, totals: Totals) -> bool:
        """Whether charges that come to this keep the promise."""
        return self.epsilon_left(totals) >= 0 or self.rho_left(totals) >= 0

    def epsilon_left(self, totals: Totals) -> Fraction | float:
        """The pure epsilon for which there is room under the first rule; negative if the rule is broken or absent."""
        if self.basic is None or totals.delta > self.basic[1]:
            return -math.inf
        return self.basic[0] - totals.epsilon

    def delta_left(self, totals: Totals) -> Fraction | float:
        """The delta for which there is room under the first rule; negative if the rule is broken or absent."""
        return -math.inf if self.basic is None else self.basic[1] - totals.delta

    def rho_left(self, totals: Totals) -> Fraction | float:
        """The rho for which there is room under the second rule; negative if the rule is broken or absent."""
        return -math.inf if self.rho is None else self.rho - totals.rho

    def remaining(self, totals: Totals) -> float:
        """What any one pure mechanism may still cost, rounded down: its epsilon, or its rho if there is no epsilon."""
        if self.basic is None:
            return round_down(self.rho_left(totals))
        return max(round_down(self.epsilon_left(totals)), pure_within(self.rho_left(totals)))

    def spent(self, totals: Totals, sample: PrivacyLoss) -> PrivacyLoss:
        """The totals as a loss, rounded up, by the rule with the smaller epsilon; for whom, a sample of them says."""
        epsilon, rho, eta, delta = map(_up, (totals.epsilon, totals.rho, totals.eta, totals.delta))
        if self.tail is not None and isinstance(totals.rho, Fraction):
            at_tail = epsilon_from_rho(totals.rho, self.tail)
            if self.epsilon_left(totals) < 0 or at_tail < epsilon:
                return PrivacyLoss(at_tail, rho, math.inf, sample.neighbors, sample.unit, round_up(self.tail))
        return PrivacyLoss(epsilon, rho, math.inf if delta else eta, sample.neighbors, sample.unit, delta)


def pure_within(rho: Fraction | float) -> float:
    """The largest epsilon for which every pure mechanism is rho-zCDP: `rho_from_pure` undone, rounded down.

    >>> pure_within(rational(rho_from_pure(Fraction(1)), "rho"))
    1.0
    """
    if rho <= 0:
        return 0.0
    low, high = 0.0, float(rho) + 2  # epsilon tanh(epsilon / 2) is never so far below epsilon
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if middle * math.tanh(middle / 2) < rho else (low, middle)
    while rational(rho_from_pure(rational(low, "epsilon")), "rho") > rho:
        low *= 1 - 2**-51
    return low


def round_down(x: Fraction | float) -> float:
    """The largest float whose decimal text is at most x, and 0 for what is less than nothing."""
    return -round_up(-x) + 0.0 if isinstance(x, Fraction) and x > 0 else 0.0


def text_down(x: float) -> str:
    """x in at most six significant digits, rounded down: what is said to be left is there."""
    return text_up(-x).removeprefix("-")


def _plus(*parts: Fraction | float) -> Fraction | float:
    """The sum of the numbers as written; infinite if one of them is."""
    return math.inf if math.inf in parts else sum((rational(part, "loss") for part in parts), Fraction(0))


def _up(x: Fraction | float) -> float:
    return round_up(x) if isinstance(x, Fraction) else x
