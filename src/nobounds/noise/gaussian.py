"""Exact discrete Gaussian noise: whole numbers j with probability proportional to exp(-j**2 / (2 variance)).

It has the cost of continuous Gaussian noise and no larger variance (Canonne, Kamath and Steinke 2020).
"""

import math
from fractions import Fraction
from functools import lru_cache

from nobounds.exact import ball, working_precision
from nobounds.noise.discrete import Exponential, decide, discrete_laplace
from nobounds.noise.source import RandomSource

# Between these variances the squares that decide a draw neither overflow nor underflow.
_LEAST, _MOST = 1e-100, 1e100
# More than a few roundings of 2**-53 each.
_SLACK = 2.0**-48
# Up to this variance, tails are summed term by term.
_SUMMED = 2**14


def discrete_gaussian(variance: Fraction, source: RandomSource) -> int:
    """An exact draw of J with P(J = j) proportional to exp(-j**2 / (2 variance))."""
    return DiscreteGaussian(variance).draw(source)


class DiscreteGaussian:
    """The law P(J = j) proportional to exp(-j**2 / (2 variance)), prepared for many draws."""

    __slots__ = ("_center", "_doubles", "_rate", "variance")

    def __init__(self, variance: Fraction) -> None:
        self.variance = variance
        scale = math.isqrt(math.floor(variance)) + 1
        self._rate = Fraction(1, scale)
        self._center = variance / scale
        self._doubles = (float(self._center), float(2 * variance)) if _LEAST < variance < _MOST else None

    def draw(self, source: RandomSource) -> int:
        """An exact draw, by rejection from discrete Laplace noise (Canonne, Kamath and Steinke 2020, Algorithm 3)."""
        while True:
            j = discrete_laplace(self._rate, source)
            if self.accepts(abs(j), Exponential(source)):
                return j

    def accepts(self, size: int, e: Exponential) -> bool:
        """Whether E > x, which has probability exp(-x), for x = (size - variance / scale)**2 / (2 variance)."""
        low, high = e.bounds()
        least, most = self.exponent_bounds(size)
        if low > most or high < least:
            return low > most
        exact = (size - self._center) ** 2 / (2 * self.variance)

        def attempt(precision: int) -> int | None:
            variable, x = e.ball(precision), ball(exact)
            return 1 if variable > x else 0 if variable < x else None

        return bool(decide(attempt))

    def exponent_bounds(self, size: int) -> tuple[float, float]:
        """Doubles below and above the x of `accepts`."""
        if self._doubles is None or size > _MOST:
            return 0.0, math.inf
        center, twice = self._doubles
        off, slack = abs(size - center), (size + center) * _SLACK
        return max(off - slack, 0.0) ** 2 / twice * (1 - _SLACK), (off + slack) ** 2 / twice * (1 + _SLACK)


@lru_cache(maxsize=4096)
def two_sided(variance: Fraction, chance: Fraction) -> int:
    """The smallest j with P(|J| > j) <= chance; for a large variance, at most one more than that.

    The weights sum to at least sqrt(2 pi variance), and each is at most the integral over the unit step before it.
    Beyond the standard deviation the density is convex, so each is at most the integral over the unit step around it.
    Hence P(|J| > j) <= P(|N| > j) for N normal with the same variance, and <= P(|N| > j + 1/2) beyond the standard
    deviation. For a small variance the tail is summed instead.
    """
    with working_precision(128 + math.ceil(variance).bit_length()):
        return _summed(variance, chance) if variance <= _SUMMED else _on_the_line(variance, chance)


def _summed(variance: Fraction, chance: Fraction) -> int:
    """`two_sided` by summing the terms w(i) = exp(-i**2 / (2 variance)) that matter, and bounding the rest.

    As i**2 >= m**2 + 2 m (i - m), the sum of w(i) over i >= m is at most w(m) / (1 - exp(-m / variance)).
    """
    nats = math.log(chance.denominator) - math.log(chance.numerator) + 60
    last = math.isqrt(math.ceil(2 * variance * math.ceil(max(nats, 60)))) + 1
    terms = [(ball(-i * i) / ball(2 * variance)).exp() for i in range(last + 2)]
    allowed = ball(chance) * (sum(terms[1:], ball(0)) * 2 + 1)
    tail = terms[-1] / -(ball(-(last + 1)) / ball(variance)).expm1()
    for j in range(last, 0, -1):
        tail += terms[j]
        if not 2 * tail <= allowed:
            return j
    return 0


def _on_the_line(variance: Fraction, chance: Fraction) -> int:
    """`two_sided` by the bound of the normal law: the smallest j for which it is certified, by bisection."""
    deviation, allowed = ball(2 * variance).sqrt(), ball(chance)

    def within(j: int) -> bool:
        half = Fraction(1, 2) if j * j >= variance else 0
        return bool((ball(j + half) / deviation).erfc() <= allowed)

    low, high = -1, math.isqrt(math.ceil(variance))
    while not within(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if within(middle) else (middle, high)
    return high
