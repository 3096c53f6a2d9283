"""docs/proofs/accounting.md: Renyi divergences of pure, range-bounded and Laplace mechanisms, step by step."""

import math
from fractions import Fraction as F

import numpy as np
import pytest

from nobounds.accounting.conversions import rho_from_pure, rho_from_range
from nobounds.exact import rational

ORDERS = [1 + 1e-6, 1.001, 1.1, 1.5, 2.0, 3.7, 10.0, 60.0]
SIZES = [0.05, 0.5, 1.0, 3.0, 8.0]


def kappa(x, eta):
    """ln of sinh(x eta / 2) / (x eta / 2), 0 at x = 0."""
    z = x * eta / 2
    return 0.0 if z == 0 else z - math.log(2 * z) + math.log(-math.expm1(-2 * z))


def two_points(t, eta, alpha):
    """ln of the Q-mean of r^alpha for the law with ratios e^t and e^(t - eta)."""
    low = (math.exp(-t) - math.exp(-eta)) / -math.expm1(-eta)  # Q of the ratio e^t
    return math.log(low * math.exp(alpha * t) + (1 - low) * math.exp(alpha * (t - eta)))


@pytest.mark.parametrize("eta", SIZES)
@pytest.mark.parametrize("alpha", ORDERS)
def test_the_worst_two_point_law_has_the_closed_form(eta, alpha):
    """Over t the largest mean is alpha kappa(alpha) - kappa(1) - (alpha - 1) kappa(alpha - 1), by a dense search."""
    closed = alpha * kappa(alpha, eta) - kappa(1, eta) - (alpha - 1) * kappa(alpha - 1, eta)
    found = max(two_points(t, eta, alpha) for t in np.linspace(0, eta, 4001))
    assert found <= closed + 1e-12
    assert found == pytest.approx(closed, rel=1e-5, abs=1e-13)


@pytest.mark.parametrize("eta", SIZES)
def test_no_order_exceeds_rho_from_range_and_order_one_reaches_it(eta):
    """The closed form over alpha (alpha - 1) is at most rho, and rho in the limit of order 1."""
    rho = rho_from_range(rational(eta, "eta"))
    over = [
        (a * kappa(a, eta) - kappa(1, eta) - (a - 1) * kappa(a - 1, eta)) / (a * (a - 1)) for a in (1.0001, *ORDERS[1:])
    ]
    assert max(over) <= rho * (1 + 1e-9)
    assert over[0] == pytest.approx(rho, rel=1e-3)


@pytest.mark.parametrize("eta", SIZES)
def test_rho_from_range_is_the_sum_over_the_product_formula(eta):
    """rho = sum of ln(1 + a_k) + 2 a_k / (1 + a_k), a_k = (eta / 2 pi k)^2: two independent ways to one number."""
    a = (eta / (2 * math.pi * np.arange(1, 10**6 + 1))) ** 2
    total = float((np.log1p(a) + 2 * a / (1 + a)).sum()) + 3 * eta**2 / (4 * math.pi**2) / 10**6
    assert rho_from_range(rational(eta, "eta")) == pytest.approx(total, rel=1e-6)


@pytest.mark.parametrize("epsilon", SIZES)
def test_randomised_response_is_a_quotient_of_cosh(epsilon):
    """ln of its mean is ln cosh((alpha - 1/2) eps) - ln cosh(eps / 2), at most alpha (alpha - 1) rho."""
    rho = rho_from_pure(rational(epsilon, "epsilon"))
    p = 1 / (1 + math.exp(epsilon))  # Q of the ratio e^eps
    for alpha in (1.1, 1.5, 2.0, 3.7, 10.0):
        mean = p * math.exp(alpha * epsilon) + (1 - p) * math.exp(-alpha * epsilon)
        closed = math.log(math.cosh((alpha - 0.5) * epsilon) / math.cosh(epsilon / 2))
        assert math.log(mean) == pytest.approx(closed, rel=1e-9)
        assert closed <= alpha * (alpha - 1) * rho * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", SIZES)
def test_continuous_laplace_noise_has_the_smaller_rho(epsilon):
    """Its divergences are at most alpha (eps + e^-eps - 1), which is reached at order 1 and below eps tanh(eps / 2)."""
    rho = epsilon + math.exp(-epsilon) - 1
    for alpha in (1.0001, 1.1, 1.5, 2.0, 3.7, 10.0, 60.0):
        parts = [(alpha - 1) * epsilon + math.log(alpha), -alpha * epsilon + math.log(alpha - 1)]
        divergence = (np.logaddexp(*parts) - math.log(2 * alpha - 1)) / (alpha - 1)
        assert divergence <= alpha * rho * (1 + 1e-9)
        if alpha < 1.001:
            assert divergence / alpha == pytest.approx(rho, rel=1e-2)
    assert rho < rho_from_pure(rational(epsilon, "epsilon"))


def order_one(rate, shift):
    """The divergence of order 1 of discrete Laplace noise and itself, shifted by so many steps."""
    js = np.arange(-20_000, 20_000)
    logs = -rate * np.abs(js)
    p = np.exp(logs - np.logaddexp.reduce(logs))
    return float(p @ (rate * (np.abs(js - shift) - np.abs(js))))


def test_on_a_lattice_of_step_one_laplace_noise_costs_what_randomised_response_does():
    """One step: eps tanh(eps / 2), what is charged; more and finer steps come down to the continuous noise."""
    epsilon = F(1)
    found = [order_one(float(epsilon / k), k) for k in (1, 2, 5, 100)]
    assert found[0] == pytest.approx(rho_from_pure(epsilon), rel=1e-9)
    assert found[-1] == pytest.approx(math.exp(-1), rel=1e-3)
    assert found == sorted(found, reverse=True)
