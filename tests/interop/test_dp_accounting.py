"""Losses as events and distributions of dp_accounting, and its events and accountants as losses, run on the package."""

from fractions import Fraction as F

import dp_accounting
import pytest
from dp_accounting import pld as google
from dp_accounting import rdp
from dp_accounting.dp_event import DiscreteLaplaceDpEvent

import nobounds as nb
from nobounds.accounting.bands import Band, delta_of
from nobounds.exact import rational
from nobounds.interop import dp_accounting as interop
from nobounds.research import cheapest

RELATIONS = {
    "add-remove": dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE,
    "swap": dp_accounting.NeighboringRelation.REPLACE_ONE,
}
MICRO, PURE = 1e-6, nb.PrivacyLoss.pure("0.1")


@pytest.mark.medium
@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("count", [1, 10])
def test_pure_events_compose_as_here(neighbors, count):
    """The accountant of the relation takes the event, and has the epsilon of the optimal composition: no less."""
    loss = nb.PrivacyLoss.pure("0.2", neighbors=neighbors)
    accountant = google.PLDAccountant(RELATIONS[neighbors], 1e-5)
    for _ in range(count):
        accountant.compose(interop.event(loss))
    ours = cheapest([loss] * count, MICRO).epsilon
    assert ours * (1 - 1e-6) <= accountant.get_epsilon(MICRO) <= ours * 1.002


def test_rhos_are_zcdp_events():
    """A loss with a rho alone, or by request, composes in the RDP accountant."""
    gaussian, pure = nb.PrivacyLoss.zcdp("0.02"), nb.PrivacyLoss.pure("0.2")
    for loss, event in ((gaussian, interop.event(gaussian)), (pure, interop.event(pure, zcdp=True))):
        assert isinstance(event, dp_accounting.ZCDpEvent) and rational(event.rho, "rho") >= rational(loss.rho, "rho")
        accountant = rdp.RdpAccountant([1 + 10 ** (k / 40) for k in range(-120, 160)]).compose(event)
        theirs = accountant.get_epsilon(MICRO)
        assert loss.at(MICRO) <= theirs * (1 + 1e-9) or loss is pure
    with pytest.raises(ValueError, match="no event"):
        interop.event(nb.PrivacyLoss.approximate(1, MICRO))


@pytest.mark.parametrize("eta", ["0.5", "0.7", "1"])
def test_a_distribution_is_no_less_than_the_largest_delta(eta):
    """At each epsilon; for a range below 2 epsilon it is smaller than for the epsilon alone."""
    loss = nb.PrivacyLoss(0.5, 1.0, float(eta), "add-remove")
    found, alone = interop.pld(loss), interop.pld(nb.PrivacyLoss.pure("0.5"))
    band = Band.of(rational("0.5", "epsilon"), rational(eta, "eta"))
    ts = [band.low + (band.high - band.low) * F(k, 200) for k in range(201)]
    for epsilon in (0.0, 0.1, 0.3, 0.45):
        exact = max(delta_of([Band(band.eta, t, t)], epsilon) for t in ts)
        assert exact * (1 - 1e-12) <= found.get_delta_for_epsilon(epsilon) <= exact * 1.001 + 1e-9
    assert (found.get_delta_for_epsilon(0.1) < 0.99 * alone.get_delta_for_epsilon(0.1)) == (eta != "1")


def test_distributions_compose_with_those_of_the_package():
    """An exponential mechanism of nobounds, ten times, and Gaussian noise from elsewhere.

    Each of the ten may have another worst t, so the package's epsilon is above our recursion, and below that of ten
    pure mechanisms.
    """
    range_bounded = interop.pld(nb.PrivacyLoss.range_bounded("0.1")).self_compose(10)
    ours, pure = (cheapest([loss] * 10, MICRO).epsilon for loss in (nb.PrivacyLoss.range_bounded("0.1"), PURE))
    assert ours <= range_bounded.get_epsilon_for_delta(MICRO) <= ours * 1.1 < 0.8 * pure
    gaussian = google.privacy_loss_distribution.from_gaussian_mechanism(5.0, value_discretization_interval=1e-4)
    both = range_bounded.compose(gaussian).get_epsilon_for_delta(MICRO)
    alone = gaussian.get_epsilon_for_delta(MICRO)
    assert max(ours, alone) < both < ours + alone


def test_an_epsilon_at_a_delta_has_a_distribution_and_a_rho_has_none():
    """As the package reads privacy parameters."""
    found = interop.pld(nb.PrivacyLoss.approximate("0.5", MICRO))
    assert found.get_epsilon_for_delta(2 * MICRO) <= 0.5 + 1e-4
    with pytest.raises(ValueError, match="rho alone"):
        interop.pld(nb.PrivacyLoss.zcdp("0.02"))


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_an_event_and_its_loss_are_inverses(neighbors):
    """A loss becomes an event, and the event a loss that is not smaller, and not larger by more than rounding."""
    loss = nb.PrivacyLoss.pure("0.3", neighbors=neighbors)
    again = interop.loss(interop.event(loss), neighbors=neighbors)
    assert loss.epsilon <= again.epsilon <= loss.epsilon * (1 + 1e-12)
    assert again.neighbors == neighbors


def test_composed_events_add_up():
    """Three Gaussian mechanisms and one of Laplace noise."""
    event = dp_accounting.ComposedDpEvent(
        [
            dp_accounting.SelfComposedDpEvent(dp_accounting.GaussianDpEvent(5.0), 3),
            dp_accounting.NoOpDpEvent(),
            dp_accounting.LaplaceDpEvent(4.0),
        ]
    )
    found = interop.loss(event, unit="user_id")
    assert found.rho == pytest.approx(3 / 50 + nb.PrivacyLoss.pure("0.25").rho) and found.unit == "user_id"
    assert interop.loss(DiscreteLaplaceDpEvent(0.25, 2)).epsilon == 0.5
    assert interop.loss(dp_accounting.ZCDpEvent(0.25)).rho == 0.25


@pytest.mark.parametrize(
    "event",
    [
        dp_accounting.NonPrivateDpEvent(),
        dp_accounting.PoissonSampledDpEvent(0.1, dp_accounting.GaussianDpEvent(1.0)),
        dp_accounting.GaussianDpEvent(0.0),
        dp_accounting.RandomizedResponseDpEvent(0.5, 2),  # has neighbours under swap alone
        dp_accounting.ZCDpEvent(0.1, 0.5),
    ],
    ids=lambda event: type(event).__name__,
)
def test_what_has_no_loss_of_its_own_is_refused(event):
    """Never a smaller loss than it has."""
    with pytest.raises(ValueError, match="accountant"):
        interop.loss(event)


@pytest.mark.medium
def test_a_training_run_is_charged_to_a_budget():
    """DP-SGD in the RDP accountant, then as a loss: the budget refuses a second run."""
    step = dp_accounting.PoissonSampledDpEvent(0.01, dp_accounting.GaussianDpEvent(1.1))
    accountant = rdp.RdpAccountant().compose(dp_accounting.SelfComposedDpEvent(step, 1000))
    loss = interop.loss(accountant, delta="1e-6")
    assert loss.epsilon >= accountant.get_epsilon(MICRO) and loss.delta == MICRO and loss.neighbors == "add-remove"
    budget = nb.Budget(epsilon=4, delta="1e-5")
    budget.charge(loss, "a training run")
    with pytest.raises(nb.BudgetExceeded):
        budget.charge(loss, "a training run")
    with pytest.raises(ValueError, match="needs a delta"):
        interop.loss(accountant)
    special = google.PLDAccountant(dp_accounting.NeighboringRelation.REPLACE_SPECIAL)
    with pytest.raises(ValueError, match="REPLACE_SPECIAL"):
        interop.loss(special, delta=MICRO)
