"""The tails of discrete noise are the sums of its probabilities."""

import math
from fractions import Fraction

import pytest

from nobounds.noise.laws import geometric_at_least, laplace_at_least


@pytest.mark.parametrize("rate", [Fraction(1, 7), Fraction(3)])
@pytest.mark.parametrize("j", [-9, -1, 0, 1, 4])
def test_tails_are_sums(rate, j):
    """Of discrete Laplace noise, and of exponential noise on a lattice."""
    r = float(rate)
    laplace = math.fsum(math.tanh(r / 2) * math.exp(-r * abs(k)) for k in range(j, 400))
    geometric = math.fsum(-math.expm1(-r) * math.exp(-r * k) for k in range(max(j, 0), 400))
    assert laplace_at_least(rate, j) == pytest.approx(laplace, rel=1e-9)
    assert geometric_at_least(rate, j) == pytest.approx(geometric, rel=1e-9)
