"""Parts of an epsilon: they add up to the whole, and nominal ones by their squares, never to more."""

from fractions import Fraction as F

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nobounds.accounting.cost import gaussian, pure, range_bounded
from nobounds.accounting.spending import Spending, nominal, rest, share

amounts = st.fractions(F(1, 10**9), 10**3, max_denominator=10**9)
CLOSE = F(1, 2**50)


@given(amounts, st.lists(st.fractions(0, F(1, 10), max_denominator=1000), max_size=8))
def test_what_is_left_and_the_parts_are_the_whole(total, parts):
    """Exactly for epsilons; the squares of nominal ones from below, to a part in 2**50."""
    spent = [total * part for part in parts]
    assert rest(total, spent, False) + sum(spent) == total
    left = rest(total, spent, True)
    whole = left**2 + sum(part**2 for part in spent)
    assert total**2 * (1 - CLOSE) <= whole <= total**2


@given(amounts, st.integers(1, 100))
def test_equal_shares_are_the_whole(total, many):
    """Exactly for epsilons; the squares of nominal ones from below."""
    assert many * share(total, many, False) == total
    assert total**2 * (1 - CLOSE) <= many * share(total, many, True) ** 2 <= total**2


@pytest.mark.parametrize("zcdp", [False, True])
def test_nothing_spent_leaves_all(zcdp):
    """One share of one is the whole, but for the last digits of a root."""
    assert F(1) * (1 - CLOSE) <= rest(F(1), (), zcdp) <= 1
    assert F(7, 3) * (1 - CLOSE) <= share(F(7, 3), 1, zcdp) <= F(7, 3)
    assert rest(F(1), (F(1),), zcdp) == 0


@given(amounts)
def test_a_nominal_epsilon_is_within_rho(rho):
    """Its square over two is at most rho, and nearly so."""
    assert rho * (1 - CLOSE) <= nominal(rho) ** 2 / 2 <= rho


class Priced:
    """A plan whose rho is a function of its nominal epsilon."""

    def __init__(self, epsilon, rho):
        self.epsilon, self._rho = epsilon, rho

    def cost(self):
        return gaussian(self._rho(self.epsilon))


COSTS = {
    "square": lambda epsilon: epsilon**2 / 2,
    "linear": lambda epsilon: epsilon / 4,
    "pure": lambda epsilon: pure(epsilon).rho,
    "range": lambda epsilon: range_bounded(epsilon).rho,
}


@pytest.mark.medium
@given(st.fractions(F(1, 10**6), 50, max_denominator=10**7).filter(lambda rho: rho > 0), st.sampled_from(list(COSTS)))
@settings(deadline=None, max_examples=80)
def test_the_largest_plan_within_a_rho_is_found(rho, name):
    """It costs at most rho, and within a thousandth of it, if costs grow without jumps."""
    plan = Spending(rho, True).plan(lambda epsilon, zcdp: Priced(epsilon, COSTS[name]))
    assert rho * (1 - F(1, 1000)) <= plan.cost().rho <= rho


def test_spending_is_an_epsilon_or_a_rho():
    """Exactly one of them, exact; a pure plan is made once, for all of epsilon."""
    made = []
    assert Spending.of(0.1, None) == Spending(F(1, 10), False)
    assert Spending.of(None, "1/3") == Spending(F(1, 3), True)
    Spending.of(0.1, None).plan(lambda *given: made.append(given) or Priced(F(1), COSTS["square"]))
    assert made == [(F(1, 10), False)]
