"""Exact noise: random bits, an exponential variable revealed bit by bit, and the discrete samplers made from it.

Nothing here is a float that leaves the machine. A draw is an integer, decided by comparing an exponential variable with
certified bounds: double precision first, ball arithmetic with more random bits whenever the comparison is still open
(docs/costs.md). The three kinds of noise of the paper are "exponential" (on a lattice), "laplace" (discrete) and
"gumbel".
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from nobounds.exact import ball, working_precision
from nobounds.noise.source import RandomSource
from nobounds.noise.unique import Unique

if TYPE_CHECKING:
    from flint import arb

Noise: TypeAlias = Literal["exponential", "laplace", "gumbel"]

FIRST_BITS = 64

# Double precision is trusted to 2**-48 in log and log1p: numpy and libm promise a few units of 2**-53.
_SLACK = 2.0**-48


def check_noise(noise: object) -> Noise:
    """The name of the noise, checked."""
    if not isinstance(noise, str) or noise not in get_args(Noise):
        raise ValueError(f"noise must be one of {', '.join(get_args(Noise))}, got noise={noise!r}")
    return noise  # type: ignore[return-value]


class Uniform(Unique):
    """A variable U in (0, 1), known to as many bits as were needed."""

    __slots__ = ("_bits", "_more", "_u")

    def __init__(self, source: RandomSource) -> None:
        self._more = source
        self._bits = FIRST_BITS
        self._u = source(FIRST_BITS)

    @property
    def first_bits(self) -> int:
        """The first 64 bits as a whole number."""
        return self._u >> (self._bits - FIRST_BITS)

    def bounds(self) -> tuple[float, float]:
        """Doubles below and above U, from the first bits."""
        u = self.first_bits
        return math.ldexp(u, -FIRST_BITS) * (1 - _SLACK), math.ldexp(u + 1, -FIRST_BITS) * (1 + _SLACK)

    def ball(self, precision: int) -> "arb":
        """U as a ball with about `precision` bits, drawing more random bits as needed."""
        from flint import arb

        while self._bits < precision + FIRST_BITS or self._u == 0:
            self._u = (self._u << FIRST_BITS) | self._more(FIRST_BITS)
            self._bits += FIRST_BITS
        scale = arb(2) ** -(self._bits + 1)
        return arb(ball(2 * self._u + 1) * scale, scale)


class Exponential(Unique):
    """A variable E = -ln U with the law P(E > t) = exp(-t), known to as many bits as were needed."""

    __slots__ = ("_uniform",)

    def __init__(self, source: RandomSource) -> None:
        self._uniform = Uniform(source)

    def bounds(self) -> tuple[float, float]:
        """Doubles below and above E, from the first bits."""
        u = self._uniform.first_bits
        return _minus_log(u + 1) * (1 - _SLACK), _minus_log(u) * (1 + _SLACK)

    def ball(self, precision: int) -> "arb":
        """E as a ball with about `precision` bits, drawing more random bits as needed."""
        return -self._uniform.ball(precision).log()


def uniform_below(n: int, source: RandomSource) -> int:
    """A whole number from 0 to n - 1, all equally likely."""
    width = (n - 1).bit_length()
    while True:
        found = source(width) if width else 0
        if found < n:
            return found


def _minus_log(u: int) -> float:
    """-ln(u / 2**64), accurate at both ends."""
    if u == 0:
        return math.inf
    rest = (1 << FIRST_BITS) - u
    return -math.log1p(-math.ldexp(rest, -FIRST_BITS)) if rest < u else -math.log(math.ldexp(u, -FIRST_BITS))


# Working precisions to try in turn; the chance to need the second is below 2**-60.
_PRECISIONS = [128 << k for k in range(12)]


def decide(attempt: Callable[[int], int | None]) -> int:
    """The first answer of `attempt(precision)` that is not None, at growing precision."""
    for precision in _PRECISIONS:
        with working_precision(precision):
            answer = attempt(precision)
        if answer is not None:
            return answer
    raise ArithmeticError("a certified comparison stayed open at the highest precision")


def geometric(rate: Fraction, source: RandomSource) -> int:
    """J with P(J >= j) = exp(-rate * j), exactly: exponential noise on a lattice."""
    e = Exponential(source)
    low, high = e.bounds()
    r = float(rate) if rate < 10**300 else math.inf
    if r > 1e-290 and high < 1e290:
        at_least, at_most = low / r * (1 - _SLACK), high / r * (1 + _SLACK)
        if at_most < 2.0**52 and math.floor(at_least) == math.floor(at_most):
            return math.floor(at_least)

    def attempt(precision: int) -> int | None:
        whole = (e.ball(precision) / ball(rate)).floor().unique_fmpz()
        return None if whole is None else int(whole)

    return decide(attempt)


def truncated_geometric(rate: Fraction, n: int, source: RandomSource) -> int:
    """J from 0 to n - 1 with P(J = j) proportional to exp(-rate j), by rejection: at least half of all draws are kept.

    >>> import random
    >>> truncated_geometric(Fraction(1, 10**6), 3, source(random.Random(1))) in range(3)
    True
    """
    while True:
        if rate * n >= 1:
            found = geometric(rate, source)
            if found < n:
                return found
        else:
            found = uniform_below(n, source)
            if found == 0 or geometric(rate * found, source) > 0:
                return found


def discrete_laplace(rate: Fraction, source: RandomSource) -> int:
    """J with P(J = j) proportional to exp(-rate * |j|), exactly."""
    while True:
        negative = source(1)
        size = geometric(rate, source)
        if size or not negative:  # zero is reached by one sign only, or it would count twice
            return -size if negative else size


def threshold_noise(noise: Noise, rate: Fraction, source: RandomSource) -> int:
    """A draw of the threshold's noise, in lattice steps (Gumbel noise has no lattice)."""
    return geometric(rate, source) if noise == "exponential" else discrete_laplace(rate, source)
