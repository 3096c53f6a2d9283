"""Noise added to a whole number before its release: discrete Laplace for an epsilon, discrete Gaussian under zCDP.

Under zCDP epsilon is nominal: the noise has standard deviation sensitivity / epsilon, so rho = epsilon**2 / 2. Where a
rho is given and its root is not needed, `GaussianNoise` has exactly that rho.
"""

import math
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist

from nobounds.accounting.cost import Cost, gaussian, pure
from nobounds.noise.discrete import discrete_laplace, discrete_laplaces
from nobounds.noise.gaussian import DiscreteGaussian, discrete_gaussian
from nobounds.noise.source import RandomSource
from nobounds.values import dataclass

NOTHING = 1e-3  # the probability with which noise alone may pass for records
_MANY = 1 << 16  # steps of which one does not matter


@dataclass(frozen=True, slots=True)
class Additive:
    """The noise of a pure or nominal epsilon."""

    epsilon: Fraction
    zcdp: bool = False

    @property
    def name(self) -> str:
        """Name of the noise distribution."""
        return "gaussian" if self.zcdp else "laplace"

    def cost(self) -> Cost:
        """Cost of releasing a number, or a vector in the norm of the noise, that changes by at most its sensitivity."""
        return gaussian(self.epsilon**2 / 2) if self.zcdp else pure(self.epsilon)

    @property
    def is_gaussian(self) -> bool:
        return self.zcdp

    def parameter(self, sensitivity: int) -> Fraction:
        if self.zcdp:
            return sensitivity**2 / self.epsilon**2
        return self.epsilon if sensitivity == 1 else self.epsilon / sensitivity

    def draw(self, sensitivity: int, source: RandomSource) -> int:
        return (discrete_gaussian if self.zcdp else discrete_laplace)(self.parameter(sensitivity), source)

    def draws(self, sensitivity: int, many: int, source: RandomSource) -> list[int]:
        parameter = self.parameter(sensitivity)
        if self.zcdp:
            law = DiscreteGaussian(parameter)
            return [law.draw(source) for _ in range(many)]
        return discrete_laplaces(parameter, many, source)

    def scale(self, sensitivity: float) -> float:
        """The scale of Laplace noise, or the standard deviation of Gaussian noise."""
        return sensitivity / float(self.epsilon)

    def half_interval(self, a: float, b: float, chance: float) -> float:
        """The smallest z with P(|a X + b Y| > z) <= chance, for independent noise X and Y of scale 1."""
        return two_normal(a, b, chance) if self.zcdp else two_laplace(a, b, chance)

    def half_steps(self, a: float, b: float, chance: float) -> float:
        """The same for whole numbers: rounded up, because the next one may be likely; among many that is nothing.

        >>> noise = Additive(Fraction(3))
        >>> round(noise.half_interval(1 / 3, 0, 0.05), 4), noise.half_steps(1 / 3, 0, 0.05)
        (0.9986, 1.0)
        """
        half = self.half_interval(a, b, chance)
        return float(math.ceil(half)) if half < _MANY else half


@dataclass(frozen=True, slots=True)
class GaussianNoise:
    """Discrete Gaussian noise of exactly this rho."""

    rho: Fraction

    def cost(self) -> Cost:
        """Cost of releasing a vector that changes by at most the sensitivity, in the Euclidean norm."""
        return gaussian(self.rho)

    @property
    def is_gaussian(self) -> bool:
        return True

    def parameter(self, sensitivity: int) -> Fraction:
        return self.law(sensitivity).variance

    @lru_cache(maxsize=64)  # noqa: B019 - a small public value
    def law(self, sensitivity: int) -> DiscreteGaussian:
        """The noise for a sensitivity: rho = sensitivity**2 / (2 variance) (Canonne, Kamath and Steinke 2020)."""
        return DiscreteGaussian(Fraction(sensitivity**2) / (2 * self.rho))

    def draw(self, sensitivity: int, source: RandomSource) -> int:
        return self.law(sensitivity).draw(source)

    def draws(self, sensitivity: int, many: int, source: RandomSource) -> list[int]:
        law = self.law(sensitivity)
        return [law.draw(source) for _ in range(many)]


def reach(scale: float, gaussian: bool, other: float = 0.0) -> float:
    """What a noisy number of no records exceeds with probability NOTHING: up to it one counts as 0, everywhere.

    `other` is the scale of a second, independent noise in the number.

    >>> round(reach(1, False), 2), round(reach(1, True), 2), reach(0, False)
    (6.21, 3.09, 0.0)
    """
    return (two_normal if gaussian else two_laplace)(scale, other, 2 * NOTHING)


@lru_cache(maxsize=1024)
def two_laplace(a: float, b: float, chance: float) -> float:
    """The smallest z with P(|a X + b Y| > z) <= chance, for independent Laplace variables X and Y of scale 1.

    The tail is (a^2 exp(-z/a) - b^2 exp(-z/b)) / (a^2 - b^2), and (1 + z/2a) exp(-z/a) for a = b.
    """
    a, b = max(a, b), min(a, b)
    if a == 0:
        return 0.0

    def tail(z: float) -> float:
        if b < 1e-3 * a:
            return math.exp(-z / a) / (1 - (b / a) ** 2)
        if a - b < 1e-6 * a:
            return (1 + z / (2 * a)) * math.exp(-z / a)
        return (a * a * math.exp(-z / a) - b * b * math.exp(-z / b)) / (a * a - b * b)

    low, high = 0.0, a * (5 - 2 * math.log(chance))
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) > chance else (low, middle)
    return high


def two_normal(a: float, b: float, chance: float) -> float:
    """Like `two_laplace`, for standard normal variables."""
    return math.hypot(a, b) * NormalDist().inv_cdf(1 - chance / 2)
