"""Composition: exact sums, and rules that keep an epsilon at a delta against an adversary who sees every answer."""

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nobounds.accounting.composition import Rules, Totals, pure_within, round_down, text_down
from nobounds.accounting.conversions import rho_from_approximate, rho_from_pure
from nobounds.accounting.cost import gaussian, pure
from nobounds.accounting.loss import PrivacyLoss
from nobounds.exact import rational

TENTH = PrivacyLoss.of(pure(Fraction(1, 10)), "swap")
NOTHING = Totals()
GAUSSIAN = PrivacyLoss.of(gaussian(Fraction(1, 100)), "swap")
decimals = st.decimals(min_value=0, max_value=10, allow_nan=False, places=12).map(float)


def total(losses: list[PrivacyLoss]) -> Totals:
    return sum(losses, NOTHING)


def loss(epsilon: float, rho: float = math.inf, delta: float = 0.0) -> PrivacyLoss:
    return PrivacyLoss(epsilon, rho, math.inf, "swap", "row", delta)


@pytest.mark.medium
@given(st.lists(st.tuples(decimals, decimals, st.floats(0, 1e-3))))
def test_totals_are_the_exact_sums_of_the_numbers_as_written(found: list[tuple[float, float, float]]):
    """Epsilons, rhos and deltas add up as the fractions that their decimal texts are."""
    totals = total([loss(*numbers) for numbers in found])
    sums = [sum((Fraction(repr(number)) for number in column), Fraction(0)) for column in zip(*found, strict=True)]
    assert [totals.epsilon, totals.rho, totals.delta] == (sums or [0, 0, 0])


@pytest.mark.medium
@given(st.lists(decimals, min_size=1), st.integers(1, 40))
def test_what_remains_is_the_limit_less_the_sum_rounded_down(epsilons: list[float], limit: int):
    """What remains is at most the exact difference, and the next float is above it."""
    rules = Rules.of(Fraction(limit), None, None)
    totals = total([loss(epsilon) for epsilon in epsilons])
    difference = limit - sum(Fraction(repr(epsilon)) for epsilon in epsilons)
    remaining = rules.remaining(totals)
    assert rules.allow(totals) == (difference >= 0)
    if difference > 0:
        assert Fraction(repr(remaining)) <= difference < Fraction(repr(math.nextafter(remaining, math.inf)))
    else:
        assert remaining == 0


def test_thirty_tenths_are_three():
    """Thirty losses of 0.1 fit in 3 exactly, and not one more."""
    rules = Rules.of(Fraction(3), None, None)
    totals = total([TENTH] * 30)
    assert rules.allow(totals) and rules.remaining(totals) == 0
    assert not rules.allow(totals + TENTH)


def test_an_infinite_part_makes_the_sum_infinite():
    """Gaussian noise has no pure epsilon, and neither has a sum with it; its rho adds up."""
    totals = total([TENTH, GAUSSIAN, loss(1e308, 0.0), loss(1e308, 0.0)])
    assert totals.epsilon == math.inf
    assert totals.rho == rational(TENTH.rho, "rho") + Fraction(1, 100)


def test_the_totals_of_two_losses_are_their_sum():
    """Two independent ways to one loss: through the totals, and by adding the losses."""
    other = PrivacyLoss.of(pure(Fraction(1, 3)), "swap")
    assert Rules.of(Fraction(1), None, None).spent(total([TENTH, other]), TENTH) == TENTH + other


@pytest.mark.parametrize("rho", [Fraction(1, 10**9), Fraction(1, 7), Fraction(1), Fraction(40), Fraction(10**12)])
def test_pure_within_undoes_rho_from_pure(rho: Fraction):
    """Every mechanism with that pure epsilon is within rho, and with a trillionth more it need not be."""
    epsilon = rational(pure_within(rho), "epsilon")
    assert rational(rho_from_pure(epsilon), "rho") <= rho
    assert rational(rho_from_pure(epsilon * (1 + Fraction(1, 10**12))), "rho") > rho


@pytest.mark.medium
@given(st.fractions(min_value=0, max_value=10**6))
def test_rounding_down_never_says_more(x: Fraction):
    """What is said to be left, as a float or as a text, is there."""
    assert Fraction(text_down(round_down(x))) <= Fraction(repr(round_down(x))) <= x


class TestTwoRules:
    """epsilon 1 at delta 1e-5."""

    EPSILON, DELTA = Fraction(1), Fraction(1, 10**5)
    RULES = Rules.of(EPSILON, DELTA, None)
    RHO = rho_from_approximate(EPSILON, DELTA * 9 / 10)

    def test_pure_losses_may_come_to_epsilon(self):
        """Ten tenths fit by the first rule although their rho is too much for the second, and eleven do not."""
        ten = total([TENTH] * 10)
        assert ten.rho > self.RHO and self.RULES.allow(ten)
        assert not self.RULES.allow(ten + TENTH)

    def test_gaussian_noise_may_come_to_rho(self):
        """A loss with a rho and no epsilon fits by the second rule, up to its last digit."""
        assert self.RULES.allow(total([loss(math.inf, round_down(self.RHO))]))
        assert not self.RULES.allow(total([loss(math.inf, math.nextafter(round_down(self.RHO), 1))]))

    def test_many_small_pure_losses_may_come_to_more_than_epsilon(self):
        """Hundreds of losses of 0.01 fit by the second rule when their epsilons no longer fit by the first."""
        small = PrivacyLoss.of(pure(Fraction(1, 100)), "swap")
        totals = total([small] * 300)
        assert totals.epsilon == 3 and self.RULES.allow(totals)

    def test_deltas_have_a_tenth_of_delta(self):
        """Losses with a delta and no rho add up to epsilon and a tenth of delta, and then the second rule is gone."""
        assert self.RULES.allow(total([loss(0.5, delta=5e-7)] * 2))
        assert not self.RULES.allow(total([loss(0.5, delta=5e-7)] * 2 + [loss(0, delta=1e-12)]))
        assert not self.RULES.allow(total([loss(0.5, delta=1e-12), GAUSSIAN]))

    def test_a_loss_with_a_delta_and_a_rho_counts_by_either(self):
        """Gaussian noise that is stated at a delta fits by its rho, however large that delta is."""
        assert self.RULES.allow(total([replace(GAUSSIAN, epsilon=0.9, delta=1e-3)]))
        assert self.RULES.allow(total([loss(0.9, 1.0, 1e-6)]))
        assert not self.RULES.allow(total([loss(0.9, 1.0, 1e-3)]))

    @pytest.mark.parametrize("before", [[], [TENTH] * 3, [GAUSSIAN], [GAUSSIAN, TENTH], [loss(0.3, delta=1e-7)]])
    def test_a_pure_loss_of_what_remains_fits_and_a_little_more_does_not(self, before: list[PrivacyLoss]):
        """What remains is the largest pure epsilon that can be charged, by whichever rule is kinder."""
        totals = total(before)
        epsilon = rational(self.RULES.remaining(totals), "epsilon")
        assert epsilon > 0
        assert self.RULES.allow(totals + PrivacyLoss.of(pure(epsilon), "swap"))
        assert not self.RULES.allow(totals + PrivacyLoss.of(pure(epsilon * (1 + Fraction(1, 10**9))), "swap"))

    def test_what_is_spent_is_told_by_the_kinder_rule(self):
        """A tenth is an epsilon of a tenth; Gaussian noise is an epsilon at nine tenths of delta."""
        assert self.RULES.spent(total([TENTH]), TENTH) == TENTH
        spent = self.RULES.spent(total([GAUSSIAN, TENTH]), TENTH)
        assert spent.delta == 9e-6 and TENTH.epsilon < spent.epsilon < 1

    def test_what_is_spent_is_never_more_than_the_limit(self):
        """Once a rule is used up to its end, what is spent is epsilon at no more than delta."""
        for losses in ([TENTH] * 10, [loss(math.inf, round_down(self.RHO))]):
            spent = self.RULES.spent(total(losses), TENTH)
            assert spent.epsilon <= 1 and spent.delta <= self.DELTA


Policy = Callable[[tuple[str, ...]], list[tuple[float, float]]]


def transcripts(
    rules: Rules, policy: Policy, depth: int, p: float = 1.0, q: float = 1.0, totals: Totals = NOTHING, seen=()
) -> Iterator[tuple[float, float]]:
    """The probabilities under x and x' of every transcript that a policy can bring about while the rules allow it.

    With probability delta a mechanism tells which of the two it is; otherwise it is randomised response.
    """
    allowed = [(e, d) for e, d in policy(seen) if rules.allow(totals + priced(e, d))]
    if not allowed or not depth:
        yield p, q
        return
    epsilon, delta = allowed[0]
    after = totals + priced(epsilon, delta)
    likely = (1 - delta) / (1 + math.exp(-epsilon))
    outcomes = {"1": (likely, 1 - delta - likely), "0": (1 - delta - likely, likely), "x": (delta, 0), "x'": (0, delta)}
    for outcome, (on_x, on_other) in outcomes.items():
        if on_x or on_other:
            yield from transcripts(rules, policy, depth - 1, p * on_x, q * on_other, after, (*seen, outcome))


def priced(epsilon: float, delta: float) -> PrivacyLoss:
    """What randomised response costs; with a chance to tell all, it has no rho."""
    return loss(epsilon, math.inf if delta else rho_from_pure(rational(epsilon, "epsilon")), delta)


def excess(epsilon: float, found: list[tuple[float, float]]) -> float:
    """The least delta for which the transcripts are within epsilon at delta."""
    one_way = sum(max(0.0, p - math.exp(epsilon) * q) for p, q in found)
    return max(one_way, sum(max(0.0, q - math.exp(epsilon) * p) for p, q in found))


def greedy(seed: int, menu: list[tuple[float, float]]) -> Policy:
    """An adversary who orders the menu anew after every answer."""
    return lambda seen: random.Random(f"{seed} {seen}").sample(menu, len(menu))


MENU = [(0.5, 0.0), (0.3, 0.0), (0.2, 0.0), (0.1, 0.0), (0.3, 0.01), (0.1, 0.005)]


@pytest.mark.medium
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("menu", [MENU, MENU[:4]], ids=["some-with-delta", "pure"])
def test_an_adaptive_adversary_stays_within_epsilon_at_delta(seed: int, menu: list[tuple[float, float]]):
    """Whatever is asked next after each answer, all answers together are within epsilon 1/2 at delta 0.2."""
    rules = Rules.of(Fraction(1, 2), Fraction(1, 5), None)
    found = list(transcripts(rules, greedy(seed, menu), 7))
    assert sum(p for p, _ in found) == pytest.approx(1)
    assert excess(0.5, found) <= 0.2


@pytest.mark.medium
def test_the_second_rule_bites():
    """Many small questions do go beyond epsilon, and only delta covers it; three times the rho is too much."""
    epsilon, delta = Fraction(1, 2), Fraction(1, 5)
    rules = Rules.of(epsilon, delta, None)
    ask = greedy(0, [(0.3, 0.0)])
    assert 0.05 < excess(0.5, list(transcripts(rules, ask, 10))) <= 0.2
    assert rules.rho is not None
    assert excess(0.5, list(transcripts(replace(rules, rho=3 * rules.rho), ask, 12))) > 0.2


def test_the_first_rule_bites():
    """Pure losses that come to epsilon show all of it, and so do deltas that come to a tenth of delta."""
    rules = replace(Rules.of(Fraction(1, 2), Fraction(1, 5), None), rho=Fraction(0))
    pairs = list(transcripts(rules, greedy(0, [(0.1, 0.0)]), 9))
    assert max(math.log(p / q) for p, q in pairs) == pytest.approx(0.5)
    assert excess(0.5, list(transcripts(rules, greedy(0, [(0.1, 0.004)]), 9))) == pytest.approx(0.02, rel=0.03)
