"""Parts of a spending: the mechanisms of each cost just that."""

from fractions import Fraction as F
from functools import partial

import pytest

from nobounds.answers.many import cut_rate
from nobounds.answers.spent import Part, short_rank
from nobounds.mechanisms.choice import choice_cost
from nobounds.mechanisms.clock import fixed_cost, walk_cost

PARTS = [Part(F(amount), zcdp, relation) for amount in ("0.01", "1", "20") for zcdp in (False, True)
         for relation in ("add-remove", "swap")]  # fmt: skip
parts = pytest.mark.parametrize("part", PARTS, ids=lambda part: f"{float(part.amount)} {part.zcdp} {part.neighbors}")


def within(cost, part):
    """A cost is at most the part, and nearly all of it."""
    measure = cost.rho if part.zcdp else cost.epsilon
    assert part.amount * F(99, 100) < measure <= part.amount


@parts
def test_mechanisms_cost_the_part_that_they_are_given(part):
    """Choices, walks inward and outward, and those to a fixed number of records."""
    for q in (F(1, 2), F(1, 4), F(99, 100)):
        within(choice_cost(q, part.rate(q), part.neighbors), part)
        for inward in (True, False):
            within(walk_cost(min(q, 1 - q), inward, *part.walk(min(q, 1 - q), inward), part.neighbors), part)
    within(walk_cost(F(0), False, *part.walk(F(0), False), part.neighbors), part)
    within(fixed_cost(*part.fixed_walk(), part.neighbors), part)


@parts
def test_two_cuts_of_one_level_cost_the_part_under_swap(part):
    """The slice that a record leaves, and the one that it enters; and the root changes by one record alone."""
    cost = partial(choice_cost, F(1, 2), cut_rate(part, F(1, 2)))
    measure = "rho" if part.zcdp else "epsilon"
    assert getattr(cost(part.neighbors), measure) <= part.amount
    if part.neighbors == "swap":
        assert 2 * getattr(cost("add-remove"), measure) <= part.amount


@parts
def test_shares_add_up(part):
    """What is left after shares is the rest."""
    third, half = part.of(F(1, 3)), part.of(F(1, 2))
    assert part.less(third, half) == part.of(F(1, 6))
    assert getattr(part.cost, "rho" if part.zcdp else "epsilon") == part.amount


def test_ranks_are_short():
    """To a part in 10**9; those beside 0 and 1 are these."""
    assert short_rank(F(1, 3)) == F(1, 3) and short_rank(F(1, 10**30)) == 0 and short_rank(1 - F(1, 10**30)) == 1
    assert abs(short_rank(F("0.123456789012345")) - F("0.123456789012345")) < F(1, 10**9)
