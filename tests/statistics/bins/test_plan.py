"""Plans for bins: what edges and counts cost, when edges are public, and what they need."""

from fractions import Fraction

import numpy as np
import pytest

from nobounds.accounting.terms import Terms
from nobounds.ladders.facts import Facts
from nobounds.ladders.stated import Stated
from nobounds.statistics.bins.plan import EDGE_SHARE, BinPlan

FACTS = Facts(False, True)
relations = pytest.mark.parametrize("neighbors", ["add-remove", "swap"])
SPENT = [(Fraction(1), None), (None, Fraction(1, 10))]


def made(epsilon, rho, neighbors, edges=None, stated=None, facts=FACTS):
    return BinPlan.of(facts, Terms.of(epsilon, rho, neighbors), stated or Stated(), edges, 20)


@relations
@pytest.mark.parametrize(("epsilon", "rho"), SPENT)
@pytest.mark.parametrize("edges", [None, (Fraction(1), Fraction(2))], ids=["private", "public"])
def test_edges_and_counts_cost_no_more_than_the_spending(edges, epsilon, rho, neighbors):
    """And the parts are those of the whole; public edges cost nothing."""
    plan = made(epsilon, rho, neighbors, edges)
    used, amount = (plan.cost().epsilon, epsilon) if rho is None else (plan.cost().rho, rho)
    assert 0.9 * amount < used <= amount
    assert set(plan.parts()) == ({"noise"} if edges else {"edges", "noise"})
    if edges is None and rho is None:
        assert plan.parts()["edges"].epsilon <= EDGE_SHARE * amount


def test_a_record_that_moves_changes_two_counts():
    """So under swap the noise of an epsilon is twice as large, and with both bounds stated edges are public."""
    one, two = (made(1, None, neighbors, (Fraction(0),)).counting.noise for neighbors in ("add-remove", "swap"))
    assert two.scale(1) == 2 * one.scale(1)
    plan = made(1, None, "add-remove", stated=Stated.of(0, 100))
    assert plan.outer is None and len(plan.edges) > 3 and plan.edges[0] == 0 and plan.edges[-2] == 100


def test_edges_need_fewer_rows_with_more_epsilon():
    """About as the inverse of it."""
    few, many = (made(epsilon, None, "add-remove").needed_rows() for epsilon in (4, 1))
    assert 3 < many / few < 5
    assert made(1, None, "swap").needed_rows() > many


def test_noisy_counts_are_counts_with_noise_of_the_plan():
    """One for each bin, from one decision that costs what the plan says."""
    plan = made(10**6, None, "add-remove", (Fraction(0),))
    program = plan.noisy(np.array([5, 7]))
    decision = next(program)
    assert decision.numbers == [5, 7] and decision.cost() == plan.counting.cost()
