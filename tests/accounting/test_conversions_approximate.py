"""zCDP as an epsilon at a delta: tight, rounded to the safe side, and carried by losses."""

import json
import math
from fractions import Fraction as F

import hypothesis.strategies as st
import pytest
from flint import arb, ctx
from hypothesis import given
from scipy import stats
from support.laws import text

from nobounds.accounting.conversions import epsilon_from_rho, rho_from_approximate, rho_from_pure, smaller_epsilon
from nobounds.accounting.cost import Cost, Sides, both, gaussian, mirrored, monotonic, pure, worst
from nobounds.accounting.loss import PrivacyLoss
from nobounds.exact import ball
from nobounds.release.release import Release

RHOS = [F(1, 10**6), F(1, 1000), F(1, 50), F(1, 2), F(3), F(40), F(10**4)]
DELTAS = [F(1, 10), F(1, 10**3), F(1, 10**6), F(1, 10**10), F(1, 10**40), F(1, 10**400)]
rhos = pytest.mark.parametrize("rho", RHOS)
deltas = pytest.mark.parametrize("delta", DELTAS, ids=lambda d: f"1e-{len(str(d.denominator)) - 1}")
MICRO = F(1, 10**6)


# --- conversions --------------------------------------------------------------------------------------------------


def log_delta(rho: F, epsilon: F, x: arb) -> arb:
    """ln of exp((alpha-1)(alpha rho - epsilon)) / (alpha-1) * (1 - 1/alpha)**alpha, at alpha = 1 + x, as printed."""
    alpha = 1 + x
    return x * (alpha * ball(rho) - ball(epsilon)) - x.log() + alpha * (1 - 1 / alpha).log()


def least_log_delta(rho: F, epsilon: F) -> arb:
    """Its least over alpha, by thirds of ln(alpha - 1), at high precision."""
    low, high = arb(-100), arb(100)
    for _ in range(250):
        a, b = ((2 * low + high) / 3).mid(), ((low + 2 * high) / 3).mid()
        low, high = (low, b) if log_delta(rho, epsilon, a.exp()) < log_delta(rho, epsilon, b.exp()) else (a, high)
    return log_delta(rho, epsilon, low.exp())


@pytest.mark.medium
@rhos
@deltas
def test_epsilon_from_rho_is_never_below_the_truth(rho, delta):
    """Some alpha certifies (epsilon, delta) as printed, and none a positive epsilon that is smaller by 2**-50 of it."""
    printed = epsilon_from_rho(rho, delta)
    with ctx.workprec(1000):
        assert least_log_delta(rho, text(printed)) <= ball(delta).log()
        assert printed == 0 or least_log_delta(rho, text(printed) * (1 - F(1, 2**50))) > ball(delta).log()


@pytest.mark.medium
@pytest.mark.parametrize("epsilon", [F(1, 100), F(1, 2), F(1), F(3), F(20), F(500)])
@deltas
def test_rho_from_approximate_is_never_above_the_truth(epsilon, delta):
    """Some alpha certifies (epsilon, delta) for the rho, and none for a rho that is larger by 2**-50 of it."""
    rho = rho_from_approximate(epsilon, delta)
    with ctx.workprec(1000):
        assert least_log_delta(rho, epsilon) <= ball(delta).log()
        assert least_log_delta(rho * (1 + F(1, 2**50)), epsilon) > ball(delta).log()


@pytest.mark.parametrize("rho", [F(1, 10**3), F(1, 2), F(10)])
@pytest.mark.parametrize("delta", [F(1, 10**3), MICRO, F(1, 10**40)])
def test_no_alpha_of_a_dense_grid_does_better(rho, delta):
    """At the epsilon as printed, each of 3,000 alphas gives a delta of at least 1 - 1e-9 of what was asked for."""
    epsilon = text(epsilon_from_rho(rho, delta))
    with ctx.workprec(300):
        best = min(float(log_delta(rho, epsilon, arb(k / 150).exp()) - ball(delta).log()) for k in range(-1500, 1500))
    assert -1e-9 <= best < 1e-2


def delta_of_gaussian(rho: float, epsilon: float) -> float:
    """The exact delta of Gaussian noise on the line (Balle and Wang 2018, Theorem 8)."""
    mu = math.sqrt(2 * rho)
    forth, back = stats.norm.logcdf(mu / 2 - epsilon / mu), epsilon + stats.norm.logcdf(-mu / 2 - epsilon / mu)
    return float(math.exp(forth) * -math.expm1(back - forth))


@rhos
@pytest.mark.parametrize("delta", DELTAS[:-1])
def test_gaussian_noise_is_within_the_conversion(rho, delta):
    """The exact delta of Gaussian noise is below the one asked for, and more than a hundredth of it."""
    epsilon = epsilon_from_rho(rho, delta)
    exact = delta_of_gaussian(float(rho), epsilon)
    assert exact <= delta
    if epsilon > 0:
        assert exact > delta / 100


def test_known_values():
    """At rho 1/2 and delta 1e-6 epsilon is 5.2215: Gaussian noise has 4.89, the simple bound of zCDP gives 5.76."""
    assert epsilon_from_rho(F(1, 2), MICRO) == pytest.approx(5.22153444453, rel=1e-11)
    assert delta_of_gaussian(0.5, 4.89) < 1e-6 < delta_of_gaussian(0.5, 4.88)
    assert 0.5 + 2 * math.sqrt(0.5 * math.log(10**6)) == pytest.approx(5.757, abs=1e-3)
    assert float(rho_from_approximate(F(1), MICRO)) == pytest.approx(0.0243559703595, rel=1e-11)
    assert epsilon_from_rho(F(0), MICRO) == 0


epsilons = st.fractions(F(1, 1000), 100, max_denominator=1000)
powers = st.integers(1, 60).map(lambda k: F(1, 10**k))


@pytest.mark.medium
@given(epsilon=epsilons, delta=powers)
def test_the_conversions_undo_each_other(epsilon, delta):
    """rho for epsilon gives back epsilon: never more, and hardly less; and so the other way round."""
    rho = rho_from_approximate(epsilon, delta)
    back = text(epsilon_from_rho(rho, delta))
    assert back <= text(float(epsilon)) + F(1, 10**15) * epsilon
    assert back >= epsilon * (1 - F(1, 10**12))
    again = rho_from_approximate(back, delta)
    assert rho * (1 - F(1, 10**12)) <= again <= rho * (1 + F(1, 10**12))


@pytest.mark.parametrize("epsilon", [F(k, 10) for k in range(1, 40)])
@pytest.mark.parametrize("delta", [F(1, 10**5), MICRO, F(1, 10**9)])
def test_an_epsilon_as_written_comes_back_as_written(epsilon, delta):
    """The rho bought with a decimal epsilon is printed with no more than that epsilon."""
    assert text(epsilon_from_rho(rho_from_approximate(epsilon, delta), delta)) <= epsilon


@pytest.mark.medium
@given(delta=powers, a=epsilons, b=epsilons)
def test_conversions_are_monotone(delta, a, b):
    """More rho or less delta, more epsilon; more epsilon or more delta, more rho."""
    a, b = sorted((a, b))
    assert epsilon_from_rho(a, delta) <= epsilon_from_rho(b, delta) <= epsilon_from_rho(b, delta / 10)
    assert rho_from_approximate(a, delta / 10) <= rho_from_approximate(a, delta) <= rho_from_approximate(b, delta)


@pytest.mark.parametrize("epsilon", [F(0), F(1, 10**12), F(10**12)])
@pytest.mark.parametrize("delta", [F(1, 10**1000), F(1, 2), F(10**9 - 1, 10**9)])
def test_the_ends_of_the_range(epsilon, delta):
    """From epsilon 0 to 1e12, at any delta, there is a rho, and it is worth no more than epsilon."""
    rho = rho_from_approximate(epsilon, delta)
    assert (rho > 0) or (epsilon == 0)
    assert text(epsilon_from_rho(rho, delta)) <= epsilon + F(1, 10**15)


@pytest.mark.parametrize("delta", [F(0), F(1), F(-1, 10), F(3)])
def test_deltas_outside_the_unit_interval_are_refused(delta):
    """A delta of 0 is no zCDP promise, and one of 1 promises nothing."""
    for convert in (epsilon_from_rho, rho_from_approximate):
        with pytest.raises(ValueError, match=f"^delta must be greater than 0 and less than 1, got delta={delta}$"):
            convert(F(1), delta)


# --- costs without a pure bound -----------------------------------------------------------------------------------


def test_gaussian_noise_has_a_rho_and_nothing_else():
    """Asking for its pure epsilon or its range is an error, not a number."""
    cost = gaussian(F(1, 50))
    assert cost.rho == F(1, 50)
    assert not cost.is_pure and pure(F(1)).is_pure
    for name in ("epsilon", "eta"):
        with pytest.raises(ValueError, match="no pure epsilon and no range"):
            getattr(cost, name)


@pytest.mark.parametrize("other", [pure(F(1)), both(monotonic(F(1), F(2)), pure(F(1))), gaussian(F(3))])
def test_what_is_mixed_with_gaussian_noise_has_no_pure_bound(other):
    """Sums add their rhos, choices take the larger one, and neither has an epsilon; in any order."""
    cost = gaussian(F(1, 50))
    for pair in ((cost, other), (other, cost)):
        assert pair[0] + pair[1] == Cost((), cost.rho + other.rho)
        assert worst(pair) == both(*pair) == Cost((), max(cost.rho, other.rho))
    assert mirrored(cost) == cost


# --- losses -------------------------------------------------------------------------------------------------------


def test_losses_at_a_delta_print_and_travel():
    """Such a loss says epsilon, delta and rho, and comes back from JSON as it was."""
    rho = rho_from_approximate(F(1), MICRO)
    loss = PrivacyLoss.of(gaussian(rho), "add-remove", delta=MICRO)
    assert str(loss) == "epsilon 1 at delta 1e-06 (add-remove, per row; rho 0.02436)"
    assert (loss.epsilon, loss.delta, loss.eta) == (1.0, 1e-6, math.inf)
    assert loss.to_dict()["eta"] is None
    assert PrivacyLoss.from_dict(json.loads(json.dumps(loss.to_dict(), allow_nan=False))) == loss


def test_losses_of_rho_alone_print_and_travel():
    """With no delta there is no epsilon: the loss says rho, its JSON has no infinities, and it comes back."""
    loss = PrivacyLoss.of(gaussian(F(1, 2)), "swap", "person")
    assert str(loss) == "rho 0.5 (zCDP, swap, per person)"
    assert loss.to_dict() == {"epsilon": None, "rho": 0.5, "eta": None, "neighbors": "swap", "unit": "person"}
    release = Release("mean", 3.5, loss)
    assert Release.from_json(release.to_json()) == release


def test_pure_losses_are_as_they_were():
    """A pure loss has delta 0, does not print or send it, and reads JSON with or without it."""
    loss = PrivacyLoss.of(monotonic(F(1, 2), F(1, 2)), "swap")
    assert loss.delta == 0
    assert "delta" not in str(loss)
    assert "delta" not in loss.to_dict()
    assert PrivacyLoss.from_dict(loss.to_dict()) == PrivacyLoss.from_dict(loss.to_dict() | {"delta": 0.0}) == loss


def test_a_delta_is_used_where_it_helps():
    """One pure mechanism needs no delta; of a hundred, rho at a delta is worth less than the sum of their epsilons."""
    one = pure(F(1, 10))
    assert PrivacyLoss.of(one, "swap", delta=MICRO) == PrivacyLoss.of(one, "swap")
    hundred = Cost((Sides(F(10), F(10)),), 100 * one.rho)
    loss = PrivacyLoss.of(hundred, "swap", delta=MICRO)
    assert 5 < loss.epsilon < 5.3
    assert (loss.delta, loss.eta) == (1e-6, math.inf)
    assert text(loss.rho) >= 100 * text(rho_from_pure(F(1, 10)))


def test_losses_at_a_delta_add():
    """Epsilons, deltas and rhos add, exactly as decimals; there is no range any more, whatever is added later."""
    a = PrivacyLoss.of(gaussian(rho_from_approximate(F(1, 10), MICRO)), "swap", delta=MICRO)
    b = PrivacyLoss.of(gaussian(rho_from_approximate(F(3, 10), 2 * MICRO)), "swap", delta=2 * MICRO)
    c = PrivacyLoss.of(pure(F(1)), "swap")
    total = a + b + c
    assert total == c + (b + a)
    assert total.epsilon == pytest.approx(1.4, rel=1e-15)
    assert text(total.epsilon) >= text(a.epsilon) + text(b.epsilon) + 1
    assert (total.delta, total.eta) == (3e-6, math.inf)
    assert text(total.rho) >= text(a.rho) + text(b.rho) + text(c.rho)


def test_a_loss_of_rho_alone_leaves_no_epsilon():
    """Whatever is added to it, epsilon and range stay infinite, and rho adds up."""
    alone = PrivacyLoss.of(gaussian(F(1, 2)), "swap")
    at_delta = PrivacyLoss.of(gaussian(F(1, 4)), "swap", delta=MICRO)
    for other in (alone, at_delta, PrivacyLoss.of(pure(F(1)), "swap")):
        for total in (alone + other, other + alone):
            assert (total.epsilon, total.eta) == (math.inf, math.inf)
            assert text(total.rho) >= F(1, 2) + text(other.rho)
            assert str(total).startswith("rho ")


def test_an_epsilon_at_a_delta_is_not_taken_for_a_pure_one():
    """The range of one mechanism counts with twice the pure epsilon of another; where a delta is, there is none."""
    written = PrivacyLoss(1.0, 0.1, 2.0, "swap", "row", 1e-6)
    assert (written + PrivacyLoss.of(pure(F(1)), "swap")).eta == math.inf


@pytest.mark.parametrize("rho", [F(0), F(1, 10**6), F(1, 100), F(1, 2), F(50)])
@pytest.mark.parametrize("delta", [F(1, 3), MICRO, F(1, 10**400)])
def test_the_smaller_epsilon_is_the_smaller_one(rho, delta):
    """Also just above and below the epsilon of the rho, where floats leave it open."""
    other = epsilon_from_rho(rho, delta)
    for known in (0.0, 1e-9, other * (1 - 1e-15), other, other * (1 + 1e-15), 2 * other + 1, math.inf):
        assert smaller_epsilon(known, rho, delta) == min(known, other)
