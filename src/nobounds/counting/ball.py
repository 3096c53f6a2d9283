"""Vectors of whole numbers in a ball: rows of numbers clipped by Euclidean norm, and added up without rounding.

A row is clipped by itself, and its norm is checked in whole numbers. So the sum changes by no more than the radius when
a row is added, exactly, and whole numbers add up in any order.
"""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from nobounds.arrays import Floats, Ints
from nobounds.exact import MAX, finite_float
from nobounds.values import dataclass

_LEAST_EXPONENT = -1074


@dataclass(frozen=True, slots=True)
class Ball:
    """Vectors of whole numbers of steps of 2**exponent with a Euclidean norm of at most `radius`."""

    exponent: int
    radius: int
    reach: float  # the clip in steps: where rows are scaled to before they are rounded, which adds sqrt(d) / 2 at most

    @classmethod
    def of(cls, clip: Fraction, dimensions: int) -> "Ball":
        """The lattice for a clip: 2**28 steps, or as many as let the squares of d whole numbers add up to 2**62."""
        bits = min(28, (60 - dimensions.bit_length()) // 2)
        exponent = math.frexp(finite_float(clip))[1] - bits if clip else _LEAST_EXPONENT
        reach = clip / Fraction(2) ** exponent
        return cls(exponent, math.ceil(reach) + math.isqrt(dimensions - 1) // 2 + 1, float(reach))

    @property
    def step(self) -> Fraction:
        """What one step is worth."""
        return Fraction(2) ** self.exponent

    def steps(self, rows: Floats) -> Ints:
        """The rows that are not missing, scaled into the ball and rounded to whole numbers."""
        scaled, exponents, lengths = _scaled(rows[np.isfinite(rows).all(axis=1)])
        with np.errstate(over="ignore", under="ignore"):
            whole = np.minimum(np.ldexp(1.0, exponents - self.exponent), self.reach / np.maximum(lengths, 0.5))
            steps = np.rint(scaled * whole[:, None]).astype(np.int64)
        return self.enforced(steps)

    def enforced(self, whole: Ints) -> Ints:
        """The same vectors, with those outside the ball drawn towards 0 until they are inside.

        Rounding leaves none outside; this makes it so whatever the floats do.
        """
        whole = np.clip(whole, -self.radius, self.radius)  # so that the squares cannot overflow
        while (outside := np.square(whole).sum(axis=1) > self.radius**2).any():
            whole[outside] -= np.sign(whole[outside])
        return whole


def norms(rows: Floats) -> Floats:
    """The norm of each row; NaN if it is missing, and the largest float if it is larger."""
    present = np.isfinite(rows).all(axis=1)
    _, exponents, lengths = _scaled(rows[present])
    lengths_of_all = np.full(len(rows), np.nan)
    with np.errstate(over="ignore", under="ignore"):
        lengths_of_all[present] = np.minimum(np.ldexp(lengths, exponents), MAX)
    return lengths_of_all


def _scaled(rows: Floats) -> tuple[Floats, NDArray[np.int32], Floats]:
    """Each row over a power of two that leaves its largest magnitude in [1/2, 1), the exponent, and its norm then.

    No square overflows, and none that matters underflows. They are added up in halves, by operations on single numbers:
    the order in which a library sums a row may depend on the rows around it, and a norm must not.
    """
    exponents = np.frexp(np.abs(rows).max(axis=1))[1]
    with np.errstate(under="ignore"):
        scaled = np.ldexp(rows, -exponents[:, None])
        squares = np.square(scaled)
        while (width := squares.shape[1]) > 1:
            half = (width + 1) // 2
            squares[:, : width - half] += squares[:, half:]
            squares = squares[:, :half]
    return scaled, exponents, np.sqrt(squares[:, 0])
