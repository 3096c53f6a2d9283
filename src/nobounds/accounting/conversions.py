"""Conversions: pure and range-bounded privacy to zCDP, and zCDP to and from an epsilon at a delta.

Losses are rounded up and amounts to spend are rounded down. Most are certified by ball arithmetic. The two that almost
every release needs have a monotone formula, so that decimals rounded in one direction certify them: that saves the
import of a library. `Decimal.exp` and `Decimal.ln` are correctly rounded, so the next decimal is a bound.
"""

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache

from nobounds.exact import ball, rational, round_up, upper, working_precision


@lru_cache(maxsize=4096)
def rho_from_pure(epsilon: Fraction) -> float:
    """The rho of a pure mechanism: epsilon * tanh(epsilon / 2).

    This increases with epsilon and decreases with t = exp(-epsilon): tanh(epsilon / 2) = (1 - t) / (1 + t).
    """
    if epsilon == 0:
        return 0.0
    up, down = _rounding(epsilon)
    above = _at_or_above(epsilon, up)
    least = down.exp(above.copy_negate()).next_minus(down)  # unary minus would round
    tanh = up.divide(up.subtract(1, least), down.add(1, least))
    return round_up(Fraction(up.multiply(above, tanh)))


@lru_cache(maxsize=4096)
def rho_from_range(eta: Fraction) -> float:
    """The rho of a range-bounded mechanism (Harrison and Manurangsi 2025).

    r - 1 - ln r with r = eta / (1 - exp(-eta)), which increases with r, and r with eta.
    """
    if eta == 0:
        return 0.0
    up, down = _rounding(eta)
    above = _at_or_above(eta, up)
    r = up.divide(above, down.subtract(1, up.exp(above.copy_negate()).next_plus(up)))
    return round_up(Fraction(up.subtract(up.subtract(r, 1), down.ln(r).next_minus(down))))


@lru_cache(maxsize=4096)
def epsilon_from_rho(rho: Fraction, delta: Fraction) -> float:
    """The epsilon at delta of a rho-zCDP mechanism (Canonne, Kamath and Steinke 2020, Corollary 13).

    The minimum over alpha = 1 + x of rho alpha + ln(1 - 1/alpha) + (ln(1/delta) - ln alpha) / x. The derivative
    vanishes where rho x**2 + ln alpha = ln(1/delta); every alpha gives a valid bound.
    """
    _check_delta(delta)
    if rho == 0:
        return 0.0
    with working_precision(256):
        nats = -ball(delta).log()
        x = ball(_best(float(rho), float(nats)))
        return max(0.0, round_up(upper(ball(rho) * (1 + x) - (1 / x).log1p() + (nats - x.log1p()) / x)))


def smaller_epsilon(known: float, rho: Fraction, delta: Fraction) -> float:
    """The smaller of a known epsilon and `epsilon_from_rho`, which is computed only where floats leave it open."""
    if rho and 1e-300 < delta < 1 and known < math.inf:
        r, nats = float(rho), -math.log(delta)
        x = float(_best(r, nats))
        if r * (1 + x) - math.log1p(1 / x) + (nats - math.log1p(x)) / x > 1.001 * known + 1e-6:
            return known
    return min(known, epsilon_from_rho(rho, delta))


def _best(rho: float, nats: float) -> Fraction:
    """The x for which alpha = 1 + x gives about the smallest epsilon at delta = exp(-nats)."""
    return _crossing(lambda x: rho * x * x + math.log1p(x) - nats)


@lru_cache(maxsize=4096)
def rho_from_approximate(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest rho for which rho-zCDP implies epsilon at delta, rounded down: the inverse of `epsilon_from_rho`.

    The maximum over alpha = 1 + x of (epsilon - ln(1 - 1/alpha) - (ln(1/delta) - ln alpha) / x) / alpha, which equals
    (ln(1/delta) - ln alpha) / x**2 at the maximum.

    >>> float(rho_from_approximate(Fraction(1), Fraction(1, 10**6)))
    0.024355970359538...
    """
    _check_delta(delta)
    with working_precision(256):
        nats = -ball(delta).log()
        e, most = float(epsilon), float(nats)
        x = ball(_crossing(lambda x: x * x * (e + math.log1p(1 / x)) - (1 + 2 * x) * (most - math.log1p(x))))
        least = -upper(-(ball(epsilon) + (1 / x).log1p() - (nats - x.log1p()) / x) / (1 + x))
    return max(Fraction(0), rational(-round_up(-least), "rho"))


def _rounding(x: Fraction) -> tuple[Context, Context]:
    """Decimals rounded up and down, with 80 digits left after the differences above, which cancel up to x**2."""
    digits = 90 + 3 * max(0, len(str(x.denominator)) - len(str(x.numerator)) + 1)
    up, down = Context(prec=digits, rounding=ROUND_CEILING), Context(prec=digits, rounding=ROUND_FLOOR)
    return up, down


def _at_or_above(x: Fraction, up: Context) -> Decimal:
    return up.divide(up.create_decimal(x.numerator), x.denominator)


def _check_delta(delta: Fraction) -> None:
    if not 0 < delta < 1:
        raise ValueError(f"delta must be greater than 0 and less than 1, got delta={delta}")


def _crossing(sign: Callable[[float], float]) -> Fraction:
    """An approximate root of a function that turns from negative to positive on x > 0, by bisection of ln x."""
    low, high = -340.0, 340.0  # the squares of their exponentials are still finite floats
    for _ in range(62):
        middle = (low + high) / 2
        low, high = (middle, high) if sign(math.exp(middle)) < 0 else (low, middle)
    return Fraction(math.exp(low))
