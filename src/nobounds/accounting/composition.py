"""Composition: the total of several losses, and the rules under which it keeps a promise for adaptive charges.

Sums are exact rationals of the numbers as written, so thirty times 0.1 is 3. docs/proofs/budget.md proves that either
of two rules suffices for an epsilon at a delta.
"""

import math
from fractions import Fraction

from nobounds.accounting.conversions import epsilon_from_rho, rho_from_approximate, rho_from_pure
from nobounds.accounting.loss import PrivacyLoss
from nobounds.exact import rational, round_up, text_up
from nobounds.values import dataclass


@dataclass(frozen=True, slots=True)
class Totals:
    """Totals of losses; each sum is exact, or infinite if a summand is."""

    epsilon: Fraction | float = Fraction(0)
    rho: Fraction | float = Fraction(0)
    eta: Fraction | float = Fraction(0)
    delta: Fraction | float = Fraction(0)

    def __add__(self, loss: PrivacyLoss) -> "Totals":
        """The totals after one more loss. Ranges compose as in `PrivacyLoss.__add__`."""
        return Totals(
            _plus(self.epsilon, loss.epsilon),
            _plus(self.rho, loss.rho),
            max(_plus(self.eta, loss.epsilon, loss.epsilon), _plus(self.epsilon, self.epsilon, loss.eta)),
            _plus(self.delta, loss.delta),
        )


@dataclass(frozen=True, slots=True)
class Rules:
    """The limits of all charges together: their totals keep within `basic`, or within `rho`.

    `basic` limits the sums of epsilons and of deltas. `rho` limits the sum of rhos, which implies epsilon at the delta
    `tail`. If both rules apply, each has its own part of delta, because their failure probabilities add up.
    """

    basic: tuple[Fraction, Fraction] | None = None
    rho: Fraction | None = None
    tail: Fraction | None = None

    @classmethod
    def of(cls, epsilon: Fraction | None, delta: Fraction | None, rho: Fraction | None) -> "Rules":
        """The rules for a promise of an epsilon, a rho, or an epsilon at a delta."""
        if epsilon is None:
            return cls(rho=rho)
        if delta is None:
            return cls(basic=(epsilon, Fraction(0)))
        tail = delta * 9 / 10
        return cls((epsilon, delta - tail), rho_from_approximate(epsilon, tail), tail)

    def allow(self, totals: Totals) -> bool:
        """Whether charges with these totals keep the promise."""
        return self.epsilon_left(totals) >= 0 or self.rho_left(totals) >= 0

    def epsilon_left(self, totals: Totals) -> Fraction | float:
        """The pure epsilon left under `basic`; negative if that rule is broken or does not apply."""
        if self.basic is None or totals.delta > self.basic[1]:
            return -math.inf
        return self.basic[0] - totals.epsilon

    def delta_left(self, totals: Totals) -> Fraction | float:
        """The delta left under `basic`; negative if that rule is broken or does not apply."""
        return -math.inf if self.basic is None else self.basic[1] - totals.delta

    def rho_left(self, totals: Totals) -> Fraction | float:
        """The rho left under the rule `rho`; negative if that rule is broken or does not apply."""
        return -math.inf if self.rho is None else self.rho - totals.rho

    def remaining(self, totals: Totals) -> float:
        """The largest epsilon that any pure mechanism may still cost, or rho without an epsilon; rounded down."""
        if self.basic is None:
            return round_down(self.rho_left(totals))
        return max(round_down(self.epsilon_left(totals)), pure_within(self.rho_left(totals)))

    def spent(self, totals: Totals, sample: PrivacyLoss) -> PrivacyLoss:
        """The totals as a loss, rounded up, by the rule with the smaller epsilon; `sample` gives neighbors and unit."""
        epsilon, rho, eta, delta = map(_up, (totals.epsilon, totals.rho, totals.eta, totals.delta))
        if self.tail is not None and isinstance(totals.rho, Fraction):
            at_tail = epsilon_from_rho(totals.rho, self.tail)
            if self.epsilon_left(totals) < 0 or at_tail < epsilon:
                return PrivacyLoss(at_tail, rho, math.inf, sample.neighbors, sample.unit, round_up(self.tail))
        return PrivacyLoss(epsilon, rho, math.inf if delta else eta, sample.neighbors, sample.unit, delta)


def pure_within(rho: Fraction | float) -> float:
    """The largest epsilon for which every pure mechanism is rho-zCDP, rounded down: the inverse of `rho_from_pure`.

    >>> pure_within(rational(rho_from_pure(Fraction(1)), "rho"))
    1.0
    """
    if rho <= 0:
        return 0.0
    low, high = 0.0, float(rho) + 2  # epsilon tanh(epsilon / 2) > epsilon - 2
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if middle * math.tanh(middle / 2) < rho else (low, middle)
    while rational(rho_from_pure(rational(low, "epsilon")), "rho") > rho:
        low *= 1 - 2**-51
    return low


def round_down(x: Fraction | float) -> float:
    """The largest float whose decimal text is at most x, or 0 if x is not positive."""
    return -round_up(-x) + 0.0 if isinstance(x, Fraction) and x > 0 else 0.0


def text_down(x: float) -> str:
    """x in at most six significant digits, rounded down: never more than is left."""
    return text_up(-x).removeprefix("-")


def _plus(*parts: Fraction | float) -> Fraction | float:
    """The sum of the numbers as written; infinite if a summand is."""
    return math.inf if math.inf in parts else sum((rational(part, "loss") for part in parts), Fraction(0))


def _up(x: Fraction | float) -> float:
    return round_up(x) if isinstance(x, Fraction) else x
