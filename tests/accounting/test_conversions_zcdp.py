"""From pure and range-bounded privacy to zCDP: tight, and rounded up."""

import math
from fractions import Fraction as F

import numpy as np
import pytest
from flint import arb, ctx
from support.laws import text

from nobounds.accounting.conversions import rho_from_pure, rho_from_range
from nobounds.accounting.cost import fixed_threshold, general, monotonic, pure, rho_monotonic
from nobounds.exact import ball, rational

EPSILONS = [(F(1), F(1)), (F(1, 3), F(2)), (F(5), F(1, 7)), (F(1, 2), F(1, 2))]
epsilons = pytest.mark.parametrize(("eps1", "eps2"), EPSILONS)
SIZES = [F(1, 10**6), F(1, 1000), F(1, 10), F(1, 3), F(1), F(2), F(7), F(50), F(1000), F(10**6)]
sizes = pytest.mark.parametrize("size", SIZES)


def test_known_values():
    """At epsilon 1, tanh(1/2) = 0.46211715726; at eta 1, 1/(e-1) - ln(e/(e-1)) = 0.12330156148."""
    assert rho_from_pure(F(1)) == pytest.approx(0.46211715726000975, rel=1e-15)
    e = math.e
    assert rho_from_range(F(1)) == pytest.approx(1 / (e - 1) - math.log(e / (e - 1)), rel=1e-13)
    assert rho_from_range(F(1)) == pytest.approx(0.12330156148, rel=1e-9)
    assert (rho_from_pure(F(0)), rho_from_range(F(0))) == (0, 0)


@sizes
def test_rho_from_pure_is_rounded_up_and_tight(size):
    """eps (e^eps - 1) / (e^eps + 1), by the exponential at high precision: never above what is printed, and close."""
    with ctx.workprec(20_000):
        power = ball(size).exp()
        printed = text(rho_from_pure(size))
        assert ball(size - printed) <= 2 * ball(size) / (power + 1)  # eps minus both sides, which may be e^-eps apart
        assert ball(printed) <= ball(size) * (power - 1) / (power + 1) * (1 + arb(2) ** -51)


@sizes
def test_rho_from_range_is_rounded_up_and_tight(size):
    """r - 1 - ln r with r = eta e^eta / (e^eta - 1), at high precision: never above what is printed, and close."""
    with ctx.workprec(20_000):
        power = ball(size).exp()
        r = ball(size) * power / (power - 1)
        true = r - 1 - r.log()
        printed = ball(text(rho_from_range(size)))
        assert true <= printed
        assert printed <= true * (1 + arb(2) ** -51)


@sizes
def test_conversions_are_never_worse_than_the_simple_bounds(size):
    """rho from pure is at most eps**2 / 2 and rho from range at most eta**2 / 8; for small losses they agree."""
    slack = 1 + F(1, 2**50)  # printed values are rounded up
    assert text(rho_from_pure(size)) <= size**2 / 2 * slack
    assert text(rho_from_range(size)) <= size**2 / 8 * slack
    if size <= F(1, 1000):
        assert text(rho_from_pure(size)) >= size**2 / 2 * F(999, 1000)
        assert text(rho_from_range(size)) >= size**2 / 8 * F(999, 1000)


def renyi(p, q, alpha: float) -> float:
    """Renyi divergence of order alpha > 1 of p from q."""
    log_p, log_q = np.log(p), np.log(q)
    return float(np.logaddexp.reduce(alpha * log_p + (1 - alpha) * log_q)) / (alpha - 1)


ORDERS = [1 + 1e-5, 1.01, 1.5, 2, 5, 20, 100]


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 4.0])
def test_randomized_response_reaches_rho_from_pure(epsilon):
    """Its Renyi divergence is at most rho alpha at every order, and within 1% of it near order 1."""
    p = 1 / (1 + math.exp(-epsilon))
    ratios = [renyi([p, 1 - p], [1 - p, p], alpha) / alpha for alpha in ORDERS]
    rho = rho_from_pure(rational(epsilon, "epsilon"))
    assert max(ratios) <= rho * (1 + 1e-6)
    assert max(ratios) >= rho * 0.99


@pytest.mark.parametrize("eta", [0.01, 0.3, 1.0, 4.0])
def test_two_outcomes_reach_rho_from_range(eta):
    """Over mechanisms of two outcomes whose log-ratios differ by eta, the bound holds and is nearly reached."""
    ratios = []
    for p in np.linspace(0.001, 0.999, 400):
        high = math.log(p + (1 - p) * math.exp(eta))  # log-ratios high and high - eta
        neighbour = [p * math.exp(-high), (1 - p) * math.exp(eta - high)]
        assert sum(neighbour) == pytest.approx(1)
        ratios += [renyi([p, 1 - p], neighbour, alpha) / alpha for alpha in ORDERS]
    rho = rho_from_range(rational(eta, "eta"))
    assert max(ratios) <= rho * (1 + 1e-6)
    assert max(ratios) >= rho * 0.99


@epsilons
def test_theorem_1(eps1, eps2):
    """(eps1/2 + eps2)**2 / 2 is eta**2 / 8 for the range of monotonic queries; what is charged is not more."""
    cost = monotonic(eps1, eps2)
    assert rho_monotonic(eps1, eps2) == cost.eta**2 / 8
    assert cost.rho <= rho_monotonic(eps1, eps2)


@pytest.mark.parametrize(
    "cost", [monotonic(F(1), F(1)), pure(F(1)), general(F(1, 2), F(3)), fixed_threshold(F(1), F(9))]
)
def test_rho_is_the_better_of_two(cost):
    """Either conversion is a bound, so the smaller one is charged; each is the smaller one somewhere."""
    assert cost.rho == min(text(rho_from_pure(cost.epsilon)), text(rho_from_range(cost.eta)))
    assert rho_from_range(monotonic(F(1), F(1)).eta) < rho_from_pure(F(2))
    assert rho_from_pure(F(1)) < rho_from_range(F(2))
