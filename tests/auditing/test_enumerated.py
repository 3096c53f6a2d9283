"""The law of a release by enumeration: every outcome of each decision within a reach, and losses between laws."""

import math
from fractions import Fraction as F

import numpy as np
import pytest

from nobounds.accounting.cost import pure
from nobounds.auditing.claims import streams
from nobounds.auditing.divergences import rho_between
from nobounds.auditing.enumerated import (
    divergence_between,
    enumerated_law,
    gaussian_within,
    geometric_within,
    laplace_within,
    loss_between,
)
from nobounds.mechanisms.decisions import Noisy
from nobounds.mechanisms.halting import Law
from nobounds.mechanisms.walk import Walk
from nobounds.noise.additive import Additive


def noisy(n, zcdp=False):
    """A release of a number with noise, as a call that is given a driver."""
    decision = Noisy(n, Additive(F(1), zcdp), lambda: pure(F(1)))
    return lambda driver: driver.decide(decision)


def test_the_law_of_a_count_is_that_on_paper():
    """Also of no records, where all negative noise is one outcome; what is beyond the reach is all that is missing."""
    rate = 1.0
    for n in (0, 1, 5):
        found = enumerated_law(lambda driver, n=n: max(noisy(n)(driver), 0), 30)
        p = {k: math.exp(log) for k, log in found.logs.items()}
        for k in range(1, 9):
            assert p[k] == pytest.approx(math.tanh(rate / 2) * math.exp(-rate * abs(k - n)), rel=1e-12)
        assert p[0] == pytest.approx(math.exp(-rate * n) / (1 + math.exp(-rate)), rel=1e-12)
        assert math.fsum(p.values()) + math.exp(found.beyond) == pytest.approx(1, abs=1e-14)


@pytest.mark.parametrize("rate", [F(1, 3), F(1), F(5)])
def test_noise_within_a_reach_and_beyond_it_is_all_of_it(rate):
    """The probabilities of all values and of those beyond sum to 1, for short reaches too."""
    for within, reach in ((laplace_within, 2), (geometric_within, 2), (gaussian_within, 1.5), (laplace_within, 9)):
        drawn = within(rate, reach)
        assert math.fsum(map(math.exp, [*drawn.logs, drawn.beyond])) == pytest.approx(1, abs=1e-8)


def test_enumerated_losses_are_bounds_below_the_true_ones():
    """However short the reach, no loss is found that is not there; a long one finds all of it."""
    for reach in (0.5, 1, 2, 5, 30):
        x, y = (enumerated_law(noisy(n), reach) for n in (0, 1))
        epsilon, eta = loss_between(x, y)
        assert epsilon <= 1 + 1e-12 and eta <= 2 + 1e-12
    assert epsilon == pytest.approx(1) and eta == pytest.approx(2)
    for reach in (1, 3, 80):
        x, y = (enumerated_law(noisy(n, zcdp=True), reach) for n in (0, 1))
        assert divergence_between(x, y) <= 0.5 + 1e-9
    assert divergence_between(x, y) == pytest.approx(0.5)


def test_what_only_one_of_two_can_release_is_seen():
    """An outcome that is impossible on the other side is a loss beyond all claims, for a pure one and for rho."""
    sure, other = (enumerated_law(release, 30) for release in (lambda driver: 0, noisy(0)))
    assert loss_between(sure, other) == (math.inf, math.inf)
    assert divergence_between(sure, other) == math.inf
    x, y = (enumerated_law(noisy(n, zcdp=True), 20) for n in (0, 101))
    assert divergence_between(x, y) > 100
    log_p, log_q = np.array([0.0, -np.inf, -np.inf]), np.log(np.array([0.5, 0.5, 1e-300]))
    assert rho_between(log_p, log_q) == math.inf and rho_between(log_p, log_p) == 0


@pytest.mark.medium
@pytest.mark.parametrize("noise", ["exponential", "laplace"])
@pytest.mark.parametrize("queries", [(0,), (-1, 0), (3, -2, 0, 1)], ids=str)
def test_the_loop_and_the_sampler_have_the_law_on_paper(noise, queries):
    """AboveThreshold as it is called, and the sampler of walks as it runs, halt by the exact law: all three are one."""

    def make(rng):
        return streams.CoarseAboveThreshold(0, epsilon=2, monotonic=True, noise=noise, rng=rng)

    on_paper = Law(Walk.of(list(queries), F(0), eps1=F(1), eps2=F(1), noise=noise)).pmf()
    loop = streams.called_law(make, queries)
    walk = streams.walk_law(noise, F(1), F(1), queries)
    for k in range(len(queries) + 1):
        halted = k if k < len(queries) else "never"
        assert math.exp(loop.logs[halted]) == pytest.approx(on_paper[k], abs=1e-12)
        assert math.exp(walk.logs[k]) == pytest.approx(on_paper[k], abs=1e-7)
    assert max(loop.beyond, walk.beyond) < math.log(1e-6)


def test_gumbel_walks_are_sampled_by_the_law_on_paper():
    """The sampler of Gumbel noise has one variable, and halts by the exact law."""
    queries = (3, -2, 0, 1)
    on_paper = Law(Walk.of(list(queries), F(0), eps1=F(1), eps2=F(1), noise="gumbel")).pmf()
    walk = streams.walk_law("gumbel", F(1), F(1), queries)
    assert [math.exp(walk.logs[k]) for k in range(5)] == pytest.approx(on_paper.tolist(), abs=1e-7)
