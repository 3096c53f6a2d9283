"""docs/proofs/overshoot.md: the tail past the last record, the infinite mean, and the slope that makes it finite."""

import math
from fractions import Fraction as F

import numpy as np
import pytest
from support.laws import overshoot_bound as bound

from nobounds.mechanisms.halting import Law
from nobounds.mechanisms.walk import Walk

SPLITS = [(F(1, 2), F(1, 2)), (F(13, 20), F(7, 20)), (F(1, 4), F(3, 4))]


def tails(before, drop, ms, eps1, eps2, step, n=30):
    """P(silent on `before` rungs of lower counts and on the first m rungs of count n), for each m."""
    lower = np.sort(np.arange(before) % n)
    starts, levels = np.arange(before + 1), np.append(lower, n)
    walk = Walk(starts, levels, before + max(ms) + 1, F(n) - drop, step, eps1, eps2)
    return Law(walk).tail(before + np.array(ms))


@pytest.mark.parametrize(("eps1", "eps2"), SPLITS, ids=str)
@pytest.mark.parametrize("drop", [F(0), F(3)], ids=str)
@pytest.mark.parametrize("step", [F(1), F(1, 200)], ids=str)
def test_the_tail_lies_between_its_bounds(eps1, eps2, drop, step):
    """With and without rungs before: at most B(m), at least e^(-eps1 step) B(m + rungs before)."""
    ms = [1, 10, 231, 10**4, 10**6]
    for before in (0, 25):
        for m, tail in zip(ms, tails(before, drop, ms, eps1, eps2, step), strict=True):
            low, high = bound(m + before, eps1, eps2, drop) * math.exp(-float(eps1 * step)), bound(m, eps1, eps2, drop)
            assert low * (1 - 1e-6) <= tail <= high * (1 + 1e-6)


@pytest.mark.parametrize(("eps1", "eps2"), SPLITS, ids=str)
def test_the_tail_is_a_power(eps1, eps2):
    """On a fine lattice Gamma(1+a) m^-a to 1% from ten thousand rungs on, whatever lies before."""
    a, ms = float(eps1 / eps2), [10**4, 10**6, 10**8]
    wanted = [math.gamma(1 + a) * m**-a for m in ms]
    assert tails(25, F(0), ms, eps1, eps2, F(1, 1000)) == pytest.approx(wanted, rel=0.01)


@pytest.mark.parametrize(("eps1", "eps2"), SPLITS, ids=str)
def test_the_expected_candidate_is_infinite(eps1, eps2):
    """beta^m P(m rungs past) has no bound: at beta 1.01 it passes 10^9 within five thousand rungs, for every split."""
    ms = [100, 1000, 5000]
    grown = [m * math.log(1.01) + math.log(t) for m, t in zip(ms, tails(10, F(0), ms, eps1, eps2, F(1)), strict=True)]
    assert grown[0] < grown[1] < grown[2] and grown[2] > 9 * math.log(10)


def parts_of_the_mean(ratio, eps1=F(1, 2), eps2=F(1, 2), rungs=8, octaves=40):
    """What blocks of rungs add to the mean of beta^O, for a tilt of 1/rungs a rung and ln beta = ratio eps1 tilt."""
    m = np.arange(1, rungs * octaves + 1)
    walk = Walk.of(m // rungs, F(0), eps1=eps1, eps2=eps2)
    beta = math.exp(ratio * float(eps1) / rungs)
    parts = (beta ** m.astype(float) - beta ** (m - 1.0)) * Law(walk).tail(m)
    return parts.reshape(-1, 5 * rungs).sum(axis=1)


def test_a_tilt_makes_the_mean_finite_only_if_it_is_steeper_than_ln_beta_over_eps1():
    """Steeper: what later rungs add falls geometrically. Less steep: it grows. Exactly as steep: it stays, for ever."""
    steep, equal, flat = (parts_of_the_mean(ratio) for ratio in (0.8, 1.0, 1.2))
    assert np.all(steep[3:] / steep[2:-1] < 0.7)
    assert np.all(flat[3:] / flat[2:-1] > 1.3)
    assert equal[2:] == pytest.approx(np.full(len(equal) - 2, equal[-1]), rel=0.02)


def test_the_tilted_tail_is_below_its_exponential():
    """P(m rungs past) <= exp(-eps1 b_m) for counts n + b_i against n, and more than a hundredth of it."""
    m = np.arange(1, 321)
    tail = Law(Walk.of(m // 8, F(0), eps1=F(1, 2), eps2=F(1, 2))).tail(m)
    limit = np.exp(-0.5 * (m // 8))
    assert np.all(tail <= limit * (1 + 1e-9)) and np.all(tail >= limit / 100)
