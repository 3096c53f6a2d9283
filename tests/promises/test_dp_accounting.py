"""Google's dp-accounting as a second opinion: wherever it covers a case, it and nobounds agree."""

import math
from fractions import Fraction as F

import dp_accounting
import pytest
from dp_accounting import pld, rdp
from dp_accounting.pld.common import DifferentialPrivacyParameters

from nobounds.accounting.bands import Band, cheapest, delta_of, epsilon_of
from nobounds.accounting.conversions import epsilon_from_rho, rho_from_approximate, rho_from_pure, rho_from_range
from nobounds.accounting.cost import Sides, fixed_threshold, gaussian, general, monotonic, pure
from nobounds.accounting.loss import PrivacyLoss
from nobounds.groups.key_selection import KeySelection
from nobounds.noise.gaussian import DiscreteGaussian

FINE = 1e-5  # the width to which the package rounds losses
COUNTS = [1, 3, 10, 30]
EPSILONS = [0.0, 0.1, 0.5, 1.0]
MICRO = F(1, 10**6)


def encloses(make, count, bands):
    """Whether the package's estimates, by rounding losses down and up, have our delta between them at each epsilon."""
    low, high = (make(pessimistic_estimate=up).self_compose(count) for up in (False, True))
    for epsilon in EPSILONS:
        least, most = (float(one.get_delta_for_epsilon(epsilon)) for one in (low, high))
        found = delta_of(bands, epsilon)
        if not least * (1 - 1e-9) - 1e-13 <= found <= most * (1 + 1e-9) + 1e-13:
            return False
        assert most - least < 0.01 * found + 1e-4  # a test that cannot fail is worse than none
    return True


@pytest.mark.medium
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("size", [F(1, 10), F(1)], ids=str)
def test_pure_composition_is_that_of_randomised_response(size, count):
    """The pure composition lies between the package's two estimates for randomised response; 1% more does not."""

    def response(pessimistic_estimate):
        lie = 2 / (1 + math.exp(size))  # the package replaces the true answer by a uniform one with this probability
        return pld.privacy_loss_distribution.from_randomized_response(
            lie, 2, pessimistic_estimate=pessimistic_estimate, value_discretization_interval=FINE
        )

    assert encloses(response, count, [Band.of(size, 2 * size)] * count)
    assert not encloses(response, count, [Band.of(size * F(101, 100), 2 * size * F(101, 100))] * count)


@pytest.mark.medium
@pytest.mark.parametrize("count", COUNTS)
def test_pure_composition_is_that_of_privacy_parameters(count):
    """So is that of a mechanism of which only its epsilon is known."""
    for epsilon in EPSILONS:
        known = pld.privacy_loss_distribution.from_privacy_parameters(
            DifferentialPrivacyParameters(0.2, 0.0), value_discretization_interval=FINE
        )
        theirs = float(known.self_compose(count).get_delta_for_epsilon(epsilon))
        found = delta_of([Band.of(F(1, 5), F(2, 5))] * count, epsilon)
        assert theirs * 0.99 - 1e-12 <= found <= theirs * (1 + 1e-9) + 1e-12


@pytest.mark.medium
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize(
    "cost", [monotonic(F(1, 4), F(1, 4)), fixed_threshold(F(1, 2), F(1, 5)), general(F(1, 9), F(1, 9))]
)
def test_sides_compose_as_the_package_composes_their_laws(cost, count):
    """One-sided losses are a pair of two-point laws; the package's estimates for it enclose ours, both ways round."""
    ((forth, back),) = cost.kinds
    for t, rest in ((forth, back), (back, forth)):
        on_x = math.expm1(-rest) / math.expm1(-(t + rest))
        laws = [{0: math.log(p), 1: math.log1p(-p)} for p in (on_x * math.exp(-t), on_x)]

        def pair(pessimistic_estimate, laws=laws):
            return pld.privacy_loss_distribution.from_two_probability_mass_functions(
                *laws, pessimistic_estimate, FINE, symmetric=True
            )

        assert encloses(pair, count, [Band.fixed(Sides(t, rest))] * count)


@pytest.mark.medium
def test_mechanisms_of_several_sizes_compose_as_in_the_package():
    """A convolution of four different pure mechanisms, one of them twenty times."""
    sizes = [(F(1, 10), 20), (F(1, 3), 1), (F(1, 2), 2), (F(1, 7), 3)]
    steps = [Band.of(size, 2 * size) for size, count in sizes for _ in range(count)]
    whole = pld.privacy_loss_distribution.identity(value_discretization_interval=FINE)
    for size, count in sizes:
        one = pld.privacy_loss_distribution.from_privacy_parameters(
            DifferentialPrivacyParameters(float(size), 0.0), value_discretization_interval=FINE
        )
        whole = whole.compose(one.self_compose(count))
    theirs = float(whole.get_epsilon_for_delta(1e-6))
    assert theirs * 0.999 < epsilon_of(steps, MICRO) <= theirs


@pytest.mark.parametrize("count", COUNTS)
def test_laplace_noise_is_within_the_pure_composition(count):
    """Laplace noise is pure, and better than any pure mechanism may be; ours is an upper bound, and not a far one."""
    noise = pld.privacy_loss_distribution.from_laplace_mechanism(5.0, value_discretization_interval=1e-4)
    theirs = float(noise.self_compose(count).get_epsilon_for_delta(1e-6))
    ours = cheapest([pure(F(1, 5))] * count, MICRO).epsilon
    assert theirs * (1 - 1e-3) <= ours <= 1.15 * theirs


@pytest.mark.parametrize("rho", [F(1, 1000), F(1, 50), F(1, 2), F(10)], ids=str)
@pytest.mark.parametrize("delta", [F(1, 100), MICRO, F(1, 10**12)], ids=str)
def test_zcdp_is_converted_as_in_the_package(rho, delta):
    """Ours is the least over all orders, theirs over some: not larger, and within 1% with enough of them."""
    orders = [1 + 10 ** (k / 40) for k in range(-120, 160)]
    accountant = rdp.RdpAccountant(orders).compose(dp_accounting.ZCDpEvent(float(rho)))
    theirs = accountant.get_epsilon(float(delta))
    assert theirs * 0.99 - 1e-9 <= epsilon_from_rho(rho, delta) <= theirs * (1 + 1e-9) + 1e-12


def test_rhos_add_up_as_in_the_package():
    """A sum of losses of rho has the epsilon of the package's composition."""
    parts = [F(1, 50), F(1, 10), F(1, 1000)]
    accountant = rdp.RdpAccountant([1 + 10 ** (k / 40) for k in range(-120, 160)])
    total = PrivacyLoss.zcdp(0)
    for rho in parts:
        accountant.compose(dp_accounting.ZCDpEvent(float(rho)))
        total = total + PrivacyLoss.zcdp(rho)
    assert total.at(MICRO) == pytest.approx(accountant.get_epsilon(1e-6), rel=0.01)
    assert total.at(MICRO) <= accountant.get_epsilon(1e-6) * (1 + 1e-12)


@pytest.mark.parametrize("count", [1, 10, 100])
def test_gaussian_noise_is_within_its_rho(count):
    """Discrete Gaussian noise composed by its rho is above the package's exact composition, by less than 12%."""
    rho = F(1, 200)
    law = DiscreteGaussian(1 / (2 * rho))
    noise = pld.privacy_loss_distribution.from_discrete_gaussian_mechanism(
        math.sqrt(law.variance), value_discretization_interval=1e-4
    )
    theirs = float(noise.self_compose(count).get_epsilon_for_delta(1e-6))
    ours = cheapest([gaussian(rho)] * count, MICRO).epsilon
    assert theirs <= ours <= 1.12 * theirs


@pytest.mark.parametrize("size", [F(1, 10), F(1), F(4)], ids=str)
def test_rho_of_randomised_response_is_that_of_the_package(size):
    """At no order the package knows a larger Renyi divergence than rho times the order, and near 1 it is reached."""
    orders = [1.0001, 1.5, 2.0, 8.0, 64.0]
    lie = 2 / (1 + math.exp(size))
    accountant = rdp.RdpAccountant(orders, dp_accounting.NeighboringRelation.REPLACE_ONE)
    accountant.compose(dp_accounting.RandomizedResponseDpEvent(lie, 2))
    ratios = [divergence / order for order, divergence in zip(orders, accountant._rdp, strict=True)]
    rho = rho_from_pure(size)
    assert max(ratios) <= rho * (1 + 1e-9)
    assert max(ratios) >= rho * 0.99


def test_discrete_laplace_noise_of_step_one_is_randomised_response():
    """On a count it has the whole delta of randomised response, where continuous noise of that epsilon has less."""
    size, epsilon = F(1, 2), 0.25
    discrete = pld.privacy_loss_distribution.from_discrete_laplace_mechanism(0.5, value_discretization_interval=FINE)
    continuous = pld.privacy_loss_distribution.from_laplace_mechanism(2.0, value_discretization_interval=FINE)
    found = delta_of([Band.of(size, 2 * size)], F(1, 4))
    assert float(discrete.get_delta_for_epsilon(epsilon)) == pytest.approx(found, rel=1e-3)
    assert float(continuous.get_delta_for_epsilon(epsilon)) < 0.95 * found


@pytest.mark.parametrize("epsilon", [F(1, 10), F(1), F(3)], ids=str)
def test_discrete_laplace_noise_is_within_epsilon_and_rho(epsilon):
    """On a count the package's law of our noise reaches the pure epsilon, and its Renyi divergences are below rho."""
    noise = pld.privacy_loss_distribution.from_discrete_laplace_mechanism(
        float(epsilon), value_discretization_interval=1e-4
    )
    assert float(noise.get_delta_for_epsilon(float(epsilon) + 2e-4)) <= 1e-12
    assert float(noise.get_delta_for_epsilon(0.9 * float(epsilon))) > 1e-3
    p = math.exp(-epsilon)
    orders = [1.01, 1.5, 2.0, 8.0]
    for order in orders:  # of two laws p**|j| one step apart
        law = [(abs(j), abs(j - 1)) for j in range(-2000, 2001)]
        total = math.fsum((1 - p) / (1 + p) * p**a * math.exp(float(epsilon) * (order - 1) * (b - a)) for a, b in law)
        assert math.log(total) / (order - 1) <= order * rho_from_pure(epsilon) * (1 + 1e-9)


@pytest.mark.parametrize("rho", [F(1, 50), F(1, 2), F(3)], ids=str)
def test_discrete_gaussian_noise_is_within_its_rho_at_every_delta(rho):
    """The epsilon that rho gives is above the package's exact one for one release, at small and large deltas."""
    noise = pld.privacy_loss_distribution.from_discrete_gaussian_mechanism(
        math.sqrt(1 / (2 * rho)), value_discretization_interval=1e-4
    )
    for delta in (F(1, 100), MICRO, F(1, 10**9)):
        exact = float(noise.get_epsilon_for_delta(float(delta)))
        assert exact <= epsilon_from_rho(rho, delta) <= 1.5 * exact + 0.05


@pytest.mark.parametrize("eta", [F(1, 4), F(1), F(3)], ids=str)
def test_rho_of_a_range_is_above_the_divergences_of_all_its_laws(eta):
    """Two-point laws whose log-ratios span eta have Renyi divergences below rho_from_range, and one is near it."""
    worst = 0.0
    for share in range(1, 100):
        forth = float(eta) * share / 100  # the largest log-ratio; the least is forth - eta
        on_other = math.expm1(float(eta) - forth) / math.expm1(float(eta))
        laws = [(q * math.exp(r), q) for q, r in ((on_other, forth), (1 - on_other, forth - float(eta)))]
        assert math.fsum(p for p, _ in laws) == pytest.approx(1)
        for order in (1.0001, 2.0, 16.0):
            divergence = math.log(math.fsum(q * (p / q) ** order for p, q in laws)) / (order - 1)
            worst = max(worst, divergence / order)
    assert 0.98 * rho_from_range(eta) <= worst <= rho_from_range(eta) * (1 + 1e-6)


@pytest.mark.parametrize("groups", [1, 3])
def test_the_choice_of_keys_is_within_its_loss(groups):
    """The package's delta for a key of n or n + 1 units, composed over a unit's groups, is within the loss told."""
    choice = KeySelection(F(1), F(1, 1000), groups)
    worst = 0.0
    for n in range(choice.certain() + 1):
        chances = [choice.probability(n), choice.probability(n + 1)]
        laws = [{k: math.log(p) for k, p in ((0, 1 - one), (1, one)) if p > 0} for one in chances]
        for lower, upper in (laws, laws[::-1]):
            pair = pld.privacy_loss_distribution.from_two_probability_mass_functions(lower, upper, True, FINE)
            worst = max(worst, float(pair.self_compose(groups).get_delta_for_epsilon(1.0 + groups * 2 * FINE)))
    assert worst <= float(choice.loss().delta) * (1 + 1e-6)
    assert worst >= 0.3 * float(choice.loss().delta)


@pytest.mark.parametrize("epsilon", [F(1, 2), F(2)], ids=str)
@pytest.mark.parametrize("delta", [F(1, 100), MICRO], ids=str)
def test_the_rho_for_an_epsilon_at_a_delta_is_accepted_by_the_package(epsilon, delta):
    """What may be spent as rho is worth no more than the epsilon by the package's accountant, and nearly all of it."""
    orders = [1 + 10 ** (k / 40) for k in range(-120, 160)]
    accountant = rdp.RdpAccountant(orders).compose(dp_accounting.ZCDpEvent(float(rho_from_approximate(epsilon, delta))))
    assert float(epsilon) * 0.999 <= accountant.get_epsilon(float(delta)) <= float(epsilon) * 1.01
