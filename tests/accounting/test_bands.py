"""Composition of mechanisms with bounded log-ratios: never below the truth, and close to it."""

import itertools
import math
from fractions import Fraction as F

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from support.laws import text

from nobounds.accounting import bands as module
from nobounds.accounting.bands import Band, Cheapest, cheapest, delta_nonadaptive, delta_of, epsilon_of, oriented
from nobounds.accounting.conversions import epsilon_from_rho
from nobounds.accounting.cost import Sides, both, gaussian, general, mirrored, monotonic, pure, range_bounded
from nobounds.accounting.loss import PrivacyLoss

MICRO = F(1, 10**6)

sizes = st.fractions(F(1, 20), 3, max_denominator=20)
fixed = st.builds(lambda forth, back: Band.fixed(Sides(forth, back)), sizes, sizes)
loose = st.builds(lambda epsilon, part: Band.of(epsilon, epsilon * part), sizes, st.fractions(F(1, 5), 2))


def chances(t, eta):
    """P(log-ratio t) on x and on x', of the mechanism with log-ratios t and t - eta."""
    on_x = -np.expm1(t - eta) / -math.expm1(-eta)
    return on_x, on_x * np.exp(-t)


def nothing(epsilon):
    """The delta of no mechanism at all."""
    return np.maximum(-np.expm1(np.minimum(epsilon, 50.0)), 0.0)


def by_strategies(steps, epsilon, points):
    """The largest delta over strategies that choose each t, from a few, after what the earlier ones answered."""
    if not steps:
        return nothing(epsilon)
    (eta, low, high), rest = (float(x) for x in (steps[0].eta, steps[0].low, steps[0].high)), steps[1:]
    t = np.linspace(low, high, points if high > low else 1)
    on_x, _ = chances(t, eta)
    later = by_strategies(rest, np.stack([epsilon[..., None] - t, epsilon[..., None] - t + eta]), points)
    return (on_x * later[0] + (1 - on_x) * later[1]).max(axis=-1)


def hockey_stick(p, q, epsilon):
    """The delta at epsilon between two laws."""
    return float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum())


# --- the convolution ----------------------------------------------------------------------------------------------


@pytest.mark.medium
@given(steps=st.lists(fixed, min_size=1, max_size=7), epsilon=st.fractions(0, 5, max_denominator=10))
def test_the_convolution_is_the_sum_over_all_outcomes(steps, epsilon):
    """Mechanisms with one t each: delta is that of the product of their laws, here written out."""
    p, q = np.ones(1), np.ones(1)
    for step in steps:
        on_x, on_y = chances(float(step.high), float(step.eta))
        p, q = np.outer(p, [on_x, 1 - on_x]).ravel(), np.outer(q, [on_y, 1 - on_y]).ravel()
    assert delta_of(steps, epsilon) == pytest.approx(hockey_stick(p, q, float(epsilon)), rel=1e-9, abs=1e-14)


@pytest.mark.medium
@settings(max_examples=20, deadline=None)
@given(steps=st.lists(fixed, min_size=1, max_size=6), delta=st.sampled_from([F(1, 100), MICRO]))
def test_the_grid_is_never_below_the_convolution(steps, delta):
    """Where both can be had, the grid's delta is not smaller, and its epsilon at most 2% larger."""
    exact = epsilon_of(steps, delta)
    deltas = [(x, delta_of(steps, x)) for x in (F(0), F(1, 10), F(1), F(3))]
    terms, module._TERMS = module._TERMS, 0
    try:
        assert all(found <= delta_of(steps, x) for x, found in deltas)
        assert exact <= epsilon_of(steps, delta) <= 1.02 * exact
    finally:
        module._TERMS = terms


def test_pure_mechanisms_compose_as_randomised_response():
    """The band of a pure mechanism has one t, its epsilon, and a hundred have the delta that is known to be best."""
    band = Band.of(F(1, 10), F(2, 10))
    assert band == Band.fixed(Sides(F(1, 10), F(1, 10))) == Band.of(F(1, 10), F(5))
    n, e = 100, 0.1  # the sum of Kairouz, Oh and Viswanath (2017)
    for epsilon in (1.0, 3.0, 5.0):
        terms = (
            math.comb(n, i) * (math.exp((n - i) * e) - math.exp(epsilon + i * e))
            for i in range(n)
            if (n - 2 * i) * e > epsilon
        )
        assert delta_of([band] * n, epsilon) == pytest.approx(math.fsum(terms) / (1 + math.exp(e)) ** n, rel=1e-9)


# --- the recursion ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("eta", [F(1, 10), F(1), F(4)], ids=str)
def test_one_range_bounded_mechanism(eta):
    """Its delta is (1 - e^((epsilon - eta)/2))**2 / (1 - e^-eta): held, and reached to one in a thousand."""
    for part in (0, 0.1, 0.5, 0.9):
        epsilon = F(part).limit_denominator(10) * eta
        exact = (-math.expm1(float(epsilon - eta) / 2)) ** 2 / -math.expm1(-float(eta))
        assert exact <= delta_of([Band.of(eta, eta)], epsilon) <= 1.001 * exact


CASES = {
    "ranges": [Band.of(F(1), F(1))] * 3,
    "monotonic": [Band.of(F(2, 10), F(3, 10))] * 3,
    "sizes": [Band.of(F(1), F(1)), Band.of(F(1, 3), F(1, 2)), Band.fixed(Sides(F(1), F(1, 4)))],
    "backwards": [Band.fixed(Sides(F(1), F(1, 4))), Band.of(F(1, 3), F(1, 2)), Band.of(F(1), F(1))],
}


@pytest.mark.medium
@pytest.mark.parametrize("steps", CASES.values(), ids=CASES)
def test_no_strategy_on_a_grid_of_t_exceeds_the_recursion(steps):
    """Over all adaptive choices of 81 values of each t delta is not larger, and at most 1% smaller."""
    epsilons = np.array([0.0, 0.05, 0.2, 0.5, 1.0])
    for epsilon, best in zip(epsilons, by_strategies(steps, epsilons, 81), strict=True):
        found = delta_of(steps, F(repr(float(epsilon))))
        assert best <= found
        assert found <= 1.01 * best + 1e-12


def test_the_order_counts():
    """A large range before a small one is not a small one before a large one."""
    large, small = Band.of(F(2), F(2)), Band.of(F(1, 2), F(1, 2))
    assert abs(delta_of([large, small], 1) / delta_of([small, large], 1) - 1) > 1e-3


@pytest.mark.medium
@settings(max_examples=100, deadline=None)
@given(data=st.data(), eta=st.floats(0.1, 2), size=st.integers(2, 5), epsilon=st.fractions(0, 2, max_denominator=20))
def test_no_mechanism_exceeds_its_band(data, eta, size, epsilon):
    """Two random mechanisms of range eta, the second chosen by the answer of the first, are within the recursion."""
    seed = data.draw(st.integers(0, 2**32))
    rng = np.random.default_rng(seed)

    def pair():
        q = rng.dirichlet(np.full(size, 0.5)) + 1e-300
        p = q * np.exp(eta * rng.choice([0.0, 1.0, rng.uniform()], size))
        return p / p.sum(), q / q.sum()

    first = pair()
    second = [pair() for _ in range(size)]
    p = np.concatenate([first[0][i] * second[i][0] for i in range(size)])
    q = np.concatenate([first[1][i] * second[i][1] for i in range(size)])
    band = Band.of(F(repr(eta)), F(repr(eta)))
    assert hockey_stick(p, q, float(epsilon)) <= delta_of([band, band], epsilon) + 1e-15


@pytest.mark.medium
@settings(max_examples=25, deadline=None)
@given(steps=st.lists(fixed | loose, min_size=1, max_size=5), delta=st.sampled_from([F(1, 3), F(1, 1000), MICRO]))
def test_delta_and_epsilon_undo_each_other(steps, delta):
    """epsilon_of(delta) has at most that delta, and an epsilon less by one in a million has more."""
    epsilon = text(epsilon_of(steps, delta))
    assert text(delta_of(steps, epsilon)) <= delta
    if epsilon:
        assert text(delta_of(steps, epsilon * (1 - MICRO))) > delta * (1 - F(1, 10**9))
    assert epsilon <= text(epsilon_of(steps, 0))


def test_the_ends():
    """At delta 0 epsilon is the sum, no mechanism costs nothing, and neither does one of range 0."""
    steps = [Band.of(F(1, 10), F(1, 10)), Band.fixed(Sides(F(2, 10), F(5)))]
    assert epsilon_of(steps, 0) == 0.3
    assert delta_of(steps, "0.3") == delta_of([], 0) == delta_of([Band.of(F(0), F(0))], 0) == 0.0
    assert epsilon_of([], MICRO) == epsilon_of(steps, F(1, 2)) == 0.0
    with pytest.raises(ValueError, match="epsilon must not be negative, got epsilon=-1"):
        delta_of(steps, -1)


@pytest.mark.medium
def test_many_mechanisms():
    """Three hundred mechanisms are within 1% of the limit in which the loss is normal."""
    eta, n = 0.05, 300
    found = epsilon_of([Band.of(F(1, 20), F(1, 20))] * n, MICRO)
    mean, deviation = n * eta**2 / 8, math.sqrt(n) * eta / 2
    normal = [mean + z * deviation for z in (4.0, 4.9)]  # delta of normal noise is 1e-6 between 4 and 4.9 deviations
    assert normal[0] < found < normal[1]


# --- without looking at earlier answers ---------------------------------------------------------------------------


@pytest.mark.medium
@pytest.mark.parametrize("count", [1, 2, 3, 5])
@pytest.mark.parametrize("eta", [F(3, 10), F(1), F(3)], ids=str)
def test_equal_mechanisms_that_do_not_look_have_the_closed_form(count, eta):
    """The closed form is the maximum over 2,001 equal t, and no unequal t of 200 random choices exceed it."""
    rng = np.random.default_rng(5)
    for part in (0, F(1, 5), F(1, 2), F(9, 10)):
        epsilon = part * count * eta
        closed = delta_nonadaptive(eta, count, epsilon)

        def at(t, epsilon=epsilon):
            on_x, on_y = (np.stack([side, 1 - side]) for side in chances(np.asarray(t), float(eta)))
            p, q = on_x[:, 0], on_y[:, 0]
            for i in range(1, count):
                p, q = np.outer(p, on_x[:, i]).ravel(), np.outer(q, on_y[:, i]).ravel()
            return hockey_stick(p, q, float(epsilon))

        best = max(at(np.full(count, t)) for t in np.linspace(0, float(eta), 2001))
        assert best <= closed * (1 + 1e-9)
        assert closed <= best * (1 + 1e-4) + 1e-12
        assert max(at(rng.uniform(0, float(eta), count)) for _ in range(200)) <= closed * (1 + 1e-9)


@pytest.mark.medium
def test_looking_at_earlier_answers_costs():
    """A strategy for three mechanisms has 2% more than the closed form allows, which is therefore not charged."""
    band = Band.of(F(1), F(1))
    assert float(by_strategies([band] * 3, np.array(0.5), 41)) > 1.02 * delta_nonadaptive(F(1), 3, 0.5)
    for count in (1, 2, 4, 8):
        assert delta_of([band] * count, 0.5) >= delta_nonadaptive(F(1), count, 0.5)


# --- the cheapest way ---------------------------------------------------------------------------------------------


@pytest.mark.medium
def test_each_way_is_the_cheapest_somewhere():
    """An epsilon at a delta among them: the sum. Gaussian noise: zCDP. Losses: ranges. Costs: sides."""
    one = monotonic(F(1, 10), F(1, 10))
    losses = [PrivacyLoss.of(one, "swap")] * 30
    assert cheapest([*losses, PrivacyLoss.approximate(1, MICRO, neighbors="swap")], MICRO).rule == "sum"
    assert cheapest([one] * 30 + [gaussian(F(1, 100))], MICRO).rule == "zCDP"
    assert cheapest(losses, MICRO).rule == "ranges"
    assert cheapest([one] * 30, MICRO).rule == "sides"


@pytest.mark.medium
@pytest.mark.parametrize("cost", [monotonic(F(1, 10), F(1, 10)), general(F(1, 10), F(1, 20)), range_bounded(F(1, 5))])
@pytest.mark.parametrize("count", [2, 10, 40])
def test_the_ways_are_in_order(cost, count):
    """sides are at most ranges if both are known, and either is at most what zCDP and the sum give."""
    bands = [Band.of(cost.epsilon, cost.eta)] * count
    ranges = epsilon_of(bands, MICRO)
    assert ranges <= epsilon_from_rho(count * cost.rho, MICRO) * 1.001
    assert text(ranges) <= count * cost.epsilon
    if cost.span is None:
        assert max(epsilon_of(each, MICRO) for each in oriented([cost] * count)) <= ranges * (1 + 1e-9)
    assert cheapest([cost] * count, MICRO).epsilon <= ranges


@pytest.mark.medium
def test_both_directions_and_all_kinds_are_taken():
    """Sides that lean one way have another delta the other way, and the larger one counts; so for kinds of pairs."""
    lean = monotonic(F(1), F(1, 4))
    forth, back = oriented([lean] * 5)
    found = [epsilon_of(bands, MICRO) for bands in (forth, back)]
    assert abs(found[0] / found[1] - 1) > 0.1
    for same in (lean, mirrored(lean), both(lean, pure(F(0))), both(pure(F(0)), lean)):
        assert cheapest([same] * 5, MICRO) == Cheapest(max(found), "sides")


@pytest.mark.medium
def test_mechanisms_of_opposite_orientation_are_told_apart():
    """Sides that lean to and fro compose to something else than sides that all lean one way."""
    lean = monotonic(F(1), F(1, 4))
    mixed = max(epsilon_of(bands, MICRO) for bands in oriented([lean, mirrored(lean)] * 5))
    assert abs(mixed / cheapest([lean] * 10, MICRO).epsilon - 1) > 0.02


def test_losses_at_a_delta_and_of_different_meaning():
    """Deltas are part of the sum only if they fit; losses for different units do not compose."""
    known = [PrivacyLoss.approximate(1, 1e-7), PrivacyLoss.pure(1)]
    assert cheapest(known, 1e-7) == Cheapest(2.0, "sum")
    assert cheapest(known, 1e-8).epsilon == math.inf
    with pytest.raises(ValueError, match="same neighbour relation"):
        cheapest([PrivacyLoss.pure(1), PrivacyLoss.pure(1, unit="person")], MICRO)


@pytest.mark.medium
def test_etas_of_a_loss_are_read_as_a_band():
    """A range-bounded loss composes by its range, and one whose range says nothing by its epsilon."""
    assert cheapest([PrivacyLoss.range_bounded(F(1, 10))] * 30, MICRO).epsilon == pytest.approx(
        epsilon_of([Band.of(F(1, 10), F(1, 10))] * 30, MICRO)
    )
    wide = PrivacyLoss(0.1, 1.0, 3.0, "add-remove")
    assert cheapest([wide] * 30, MICRO) == cheapest([PrivacyLoss.pure(F(1, 10))] * 30, MICRO)


def test_all_strategies_of_two_steps_are_the_product_of_choices():
    """The brute force of this file agrees with an enumeration of strategies written another way."""
    steps, ts = [Band.of(F(1), F(1))] * 2, np.linspace(0, 1, 7)
    best = 0.0
    for first, up, down in itertools.product(ts, repeat=3):
        law = [chances(t, 1.0) for t in (first, up, down)]
        p = np.concatenate(
            [law[0][0] * np.array([law[1][0], 1 - law[1][0]]), (1 - law[0][0]) * np.array([law[2][0], 1 - law[2][0]])]
        )
        q = np.concatenate(
            [law[0][1] * np.array([law[1][1], 1 - law[1][1]]), (1 - law[0][1]) * np.array([law[2][1], 1 - law[2][1]])]
        )
        best = max(best, hockey_stick(p, q, 0.3))
    assert float(by_strategies(steps, np.array(0.3), 7)) == pytest.approx(best, rel=1e-12)
