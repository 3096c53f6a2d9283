"""Exact noise: an exponential variable whose bits are drawn on demand, and the discrete samplers built on it.

No float is ever released from here. A draw is an integer, decided by comparing an exponential variable with certified
bounds: first in double precision, then in ball arithmetic with more random bits while the comparison is undecided
(docs/costs.md). The three kinds of noise of the paper are "exponential" (on a lattice), "laplace" (discrete) and
"gumbel".
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from nobounds.exact import ball, working_precision
from nobounds.noise.source import RandomSource, signs_and_bits
from nobounds.noise.unique import Unique

if TYPE_CHECKING:
    from flint import arb

Noise: TypeAlias = Literal["exponential", "laplace", "gumbel"]

FIRST_BITS = 64

# Relative error assumed for log and log1p in double precision: numpy and libm promise a few units of 2**-53.
_SLACK = 2.0**-48
_NEAR_ENDS = 1 << 12
_ALL, _HALF, _UNIT = 1 << FIRST_BITS, 1 << FIRST_BITS - 1, 2.0**-FIRST_BITS
_LAST = _ALL - _NEAR_ENDS
_BELOW, _ABOVE = 1 - 2 * _SLACK, 1 + 2 * _SLACK
_MOST = 2.0**52  # whole numbers that doubles decide


def check_noise(noise: object) -> Noise:
    """The name of the noise, validated."""
    if not isinstance(noise, str) or noise not in get_args(Noise):
        raise ValueError(f"noise must be one of {', '.join(get_args(Noise))}, got noise={noise!r}")
    return noise  # type: ignore[return-value]


class Uniform(Unique):
    """A uniform variable U in (0, 1), drawn to as many bits as needed."""

    __slots__ = ("_bits", "_source", "_u")

    def __init__(self, source: RandomSource, first: int | None = None) -> None:
        self._source = source
        self._bits = FIRST_BITS
        self._u = source(FIRST_BITS) if first is None else first  # the first bits, if they are drawn already

    @property
    def first_bits(self) -> int:
        """The first 64 bits of U as a whole number."""
        return self._u >> (self._bits - FIRST_BITS)

    def bounds(self) -> tuple[float, float]:
        """Doubles below and above U, computed from its first bits."""
        u = self.first_bits
        return math.ldexp(u, -FIRST_BITS) * (1 - _SLACK), math.ldexp(u + 1, -FIRST_BITS) * (1 + _SLACK)

    def ball(self, precision: int) -> "arb":
        """U as a ball with about `precision` bits, drawing more random bits as needed."""
        from flint import arb

        while self._bits < precision + FIRST_BITS or self._u == 0:
            self._u = (self._u << FIRST_BITS) | self._source(FIRST_BITS)
            self._bits += FIRST_BITS
        scale = arb(2) ** -(self._bits + 1)
        return arb(ball(2 * self._u + 1) * scale, scale)


class Exponential(Unique):
    """An exponential variable E = -ln U, with P(E > t) = exp(-t), drawn to as many bits as needed."""

    __slots__ = ("_uniform",)

    def __init__(self, source: RandomSource, first: int | None = None) -> None:
        self._uniform = Uniform(source, first)

    def bounds(self) -> tuple[float, float]:
        """Doubles below and above E, computed from the first bits of U."""
        return _exponential_bounds(self._uniform.first_bits)

    def ball(self, precision: int) -> "arb":
        """E as a ball with about `precision` bits, drawing more random bits as needed."""
        return -self._uniform.ball(precision).log()


def uniform_below(n: int, source: RandomSource) -> int:
    """A whole number from 0 to n - 1, all equally likely."""
    width = (n - 1).bit_length()
    while True:
        drawn = source(width) if width else 0
        if drawn < n:
            return drawn


def _minus_log(u: int) -> float:
    """-ln(u / 2**64), accurate for u near 0 and near 2**64."""
    if u == 0:
        return math.inf
    rest = (1 << FIRST_BITS) - u
    return -math.log1p(-math.ldexp(rest, -FIRST_BITS)) if rest < u else -math.log(math.ldexp(u, -FIRST_BITS))


# Working precisions to try in turn; the second is needed with a probability below 2**-60.
_PRECISIONS = [128 << k for k in range(12)]


def decide(attempt: Callable[[int], int | None]) -> int:
    """The first result of `attempt(precision)` that is not None, at increasing precision."""
    for precision in _PRECISIONS:
        with working_precision(precision):
            answer = attempt(precision)
        if answer is not None:
            return answer
    raise ArithmeticError("a certified comparison stayed open at the highest precision")


def _exponential_bounds(u: int) -> tuple[float, float]:
    """Doubles below and above -ln U, for the first 64 bits of U: U lies between u / 2**64 and (u + 1) / 2**64.

    One logarithm serves for both: -ln((u + 1) / 2**64) is at least -ln(u / 2**64) - 1 / u. Near both ends of the range
    that difference would cancel, or be too large.
    """
    if not _NEAR_ENDS < u < (1 << FIRST_BITS) - _NEAR_ENDS:
        return _minus_log(u + 1) * (1 - _SLACK), _minus_log(u) * (1 + _SLACK)
    log = _minus_log(u)
    return (log - 1 / u) * (1 - _SLACK), log * (1 + _SLACK)


def geometric(rate: Fraction, source: RandomSource) -> int:
    """An exact draw of J with P(J >= j) = exp(-rate * j): exponential noise on a lattice."""
    first = source(FIRST_BITS)
    whole = _in_doubles(first, _double(rate))
    return _in_balls(first, rate, source) if whole is None else whole


def _double(rate: Fraction) -> float:
    try:
        return rate.numerator / rate.denominator
    except OverflowError:
        return math.inf


def _in_doubles(u: int, rate: float) -> int | None:
    """The whole part of E / rate, for the first 64 bits of U; None if double precision does not decide.

    The bounds on E are those of `_exponential_bounds`, with one slack for both divisions.
    """
    if not (_NEAR_ENDS < u < _LAST and 1e-290 < rate < math.inf):
        return None
    log = -math.log1p((u - _ALL) * _UNIT) if u > _HALF else -math.log(u * _UNIT)
    at_most = log / rate * _ABOVE
    if at_most >= _MOST:
        return None
    whole = int(at_most)
    return whole if (log - 1 / u) / rate * _BELOW >= whole else None


def _in_balls(first: int, rate: Fraction, source: RandomSource) -> int:
    e = Exponential(source, first)

    def attempt(precision: int) -> int | None:
        whole = (e.ball(precision) / ball(rate)).floor().unique_fmpz()
        return None if whole is None else int(whole)

    return decide(attempt)


def truncated_geometric(rate: Fraction, n: int, source: RandomSource) -> int:
    """An exact draw of J from 0 to n - 1 with P(J = j) proportional to exp(-rate j).

    By rejection; at least half of all proposals are accepted.

    >>> import random
    >>> truncated_geometric(Fraction(1, 10**6), 3, random.Random(1).getrandbits) in range(3)
    True
    """
    while True:
        if rate * n >= 1:
            drawn = geometric(rate, source)
            if drawn < n:
                return drawn
        else:
            drawn = uniform_below(n, source)
            if drawn == 0 or geometric(rate * drawn, source) > 0:
                return drawn


def discrete_laplace(rate: Fraction, source: RandomSource) -> int:
    """An exact draw of J with P(J = j) proportional to exp(-rate * |j|)."""
    return discrete_laplaces(rate, 1, source)[0]


def discrete_laplaces(rate: Fraction, many: int, source: RandomSource) -> list[int]:
    """Independent draws of it."""
    drawn, double = list[int](), _double(rate)
    while len(drawn) < many:
        for negative, first in signs_and_bits(source, many - len(drawn)):
            size = _in_doubles(first, double)
            if size is None:
                size = _in_balls(first, rate, source)
            if size or not negative:  # zero is accepted with one sign only, or it would be twice as likely
                drawn.append(-size if negative else size)
    return drawn


def threshold_noise(noise: Noise, rate: Fraction, source: RandomSource) -> int:
    """A draw of the noise on the threshold, in lattice steps; not for Gumbel noise, which has no lattice."""
    return geometric(rate, source) if noise == "exponential" else discrete_laplace(rate, source)
