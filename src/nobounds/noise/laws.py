"""The laws of discrete noise, in doubles: for laws and audits of what the samplers draw."""

import math
from fractions import Fraction


def laplace_at_least(rate: Fraction, j: int) -> float:
    """P(J >= j) for discrete Laplace noise."""
    p = math.exp(-float(rate))
    return math.exp(-float(rate * j)) / (1 + p) if j > 0 else 1 - math.exp(-float(rate * (1 - j))) / (1 + p)


def geometric_at_least(rate: Fraction, j: int) -> float:
    """P(J >= j) for exponential noise on a lattice."""
    return math.exp(-float(rate) * max(j, 0))
