"""The noisy sum and average of whole numbers between 0 and a public width, for a number of records that may be private.

Under swap the number of rows is public. If a record can be missing, the sum is taken around the middle: a record that
moves then changes it by the width, one that turns from missing to present by half of it, and what that pair leaves of
epsilon buys the number of records.

Under add-remove the sum of k and the sum of width - k get noise of the same scale: a record changes both by the width
together (Kulesza, Suresh and Wang 2024). The average is never noisier than under swap, and no epsilon goes to a count.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from nobounds.loss import Cost, Neighbors, both, pure
from nobounds.noise import Source, discrete_laplace

# Rows count as all present unless the noisy number of missing ones is above this, over its epsilon: no noise then, and
# at most so few records are overlooked.
FEW_MISSING = 2


@dataclass(frozen=True, slots=True)
class Average:
    """The noisy number of records, sum and average of whole numbers from 0 to `width`.

    `scales` are those of the independent Laplace variables in the error of the sum around the average.
    """

    width: int
    count: Fraction
    total: Fraction
    value: Fraction
    scales: tuple[float, float]

    def half_interval(self, chance: float) -> float:
        """The noise alone moves the average by more than this with at most this probability."""
        if self.count <= 0:
            return float(self.width)
        return min(two_laplace(*self.scales, chance) / float(self.count), float(self.width))


@dataclass(frozen=True, slots=True)
class AverageRule:
    """How the average is taken, all of it public."""

    epsilon: Fraction
    neighbors: Neighbors
    rows: int | None  # public under swap
    nullable: bool
    spent: Fraction = Fraction(0)  # of the epsilon for the number of records under swap, on an earlier look at it

    def cost(self) -> Cost:
        """Epsilon, for a record that moves and for one that is added."""
        if self.neighbors == "swap" and self.nullable:
            return both(pure(self.epsilon), pure(self.epsilon - self.spent))
        return pure(self.epsilon)

    @property
    def for_count(self) -> Fraction:
        """Epsilon for the number of records under swap, if some can be missing."""
        return self.epsilon / 2 - self.spent

    def release(self, count: int, total: int, width: int, bits: Source) -> Average:
        """The noisy average of `count` whole numbers with this sum."""
        rate = self.epsilon / width
        scale = float(1 / rate)
        if self.neighbors == "add-remove":
            above = total + discrete_laplace(rate, bits)
            below = width * count - total + discrete_laplace(rate, bits)
            share = Fraction(above, above + below) if above + below > 0 else Fraction(1, 2)
            share = min(max(share, Fraction(0)), Fraction(1))
            part = float(share)
            scales = ((1 - part) * scale, part * scale)
            return Average(width, Fraction(above + below, width), Fraction(above), share * width, scales)
        assert self.rows is not None
        if not self.nullable:
            noisy = Fraction(total + discrete_laplace(rate, bits))
            return Average(width, Fraction(self.rows), noisy, _average(noisy, self.rows, width), (scale, 0.0))
        around = 2 * total - width * count + discrete_laplace(rate / 2, bits)
        each = self.for_count
        missing = self.rows - count + discrete_laplace(each, bits)
        found = self.rows if missing <= FEW_MISSING / each else max(self.rows - missing, 0)
        noisy_sum = Fraction(around + width * found, 2)
        value = _average(noisy_sum, found, width)
        uneven = abs(float(value) - width / 2) / float(each)  # also where a few missing records may be overlooked
        return Average(width, Fraction(found), noisy_sum, value, (scale, uneven))


def sum_scales(rule: AverageRule, lattice_low: int, width: int) -> tuple[float, float, float]:
    """The scales of the two Laplace variables in a sum under swap, and how much overlooked missing records may add."""
    scale = width / float(rule.epsilon)
    if not rule.nullable:
        return scale, 0.0, 0.0
    each = abs(lattice_low + width / 2) / float(rule.for_count)
    return scale, each, FEW_MISSING * each


def _average(total: Fraction, count: int, width: int) -> Fraction:
    return min(max(total / count, Fraction(0)), Fraction(width)) if count > 0 else Fraction(width, 2)


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
