"""docs/proofs/fine_ladders.md: m rungs a record halt a walk about ln(m) / eps2 ranks early."""

import math
from fractions import Fraction as F

import numpy as np
import pytest

from nobounds.mechanisms.halting import Law
from nobounds.mechanisms.walk import Walk

FROZEN = F(10**6)  # a threshold without noise


def gaps_law(m, eps2, far):
    """P(silent at all rungs whose count is g or more below the threshold), g = 1, ..., far; m rungs a count."""
    starts = np.arange(far) * m
    walk = Walk(starts, np.arange(-far, 0), far * m, F(0), F(1), FROZEN, eps2)
    return Law(walk).tail(np.append(starts[1:], far * m))[::-1]  # after the run of gap g, for g = 1, 2, ...


@pytest.mark.parametrize("m", [1, 30, 10**6])
@pytest.mark.parametrize("eps2", [F(1, 10), F(1)], ids=str)
def test_the_law_of_the_gap_lies_between_its_bounds(m, eps2):
    """exp(-S - R) <= P <= exp(-S), with S = m y / (1 - e^-eps2) and R = m y^2 / (1 - e^-2eps2), y = e^-(eps2 g)."""
    e, far = float(eps2), math.ceil(60 / eps2)
    g = np.arange(1, far + 1)
    y = np.exp(-e * g)
    s, r = m * y / -math.expm1(-e), m * y**2 / -math.expm1(-2 * e)
    silent = gaps_law(m, eps2, far)
    left_out = math.exp(-m * math.exp(-e * (far + 1)) / -math.expm1(-e))  # the walk begins at `far`, the sums do not
    assert np.all(silent * left_out <= np.exp(-s) * (1 + 1e-6))
    inner = y <= 0.5
    assert np.all(silent[inner] >= np.exp(-(s + r)[inner]) * (1 - 1e-6))


@pytest.mark.parametrize("eps2", [F(1, 10), F(1, 2)], ids=str)
def test_m_times_as_many_rungs_halt_ln_m_over_eps2_earlier(eps2):
    """The mean rank at which a walk halts, by its exact law, falls by ln(100) / eps2 each time, to 0.1 ranks."""
    far = math.ceil(80 / eps2)
    means = []
    for m in (100, 10**4, 10**6):
        silent = np.append(gaps_law(m, eps2, far)[::-1], 0.0)  # from far to near
        before = np.concatenate([[1.0], silent[:-1]])
        means.append(float((before - silent) @ -np.append(np.arange(far, 0, -1), 0)))
    assert np.diff(means) == pytest.approx(-math.log(100) / float(eps2), abs=0.1)
