"""Privacy of users: one of them has half of the rows, and the law changes by no more than the stated loss without them.

The laws are exact: those of the whole answer, on a fixed ladder, on the rows that bounding keeps.
"""

import math
import random
from dataclasses import replace
from fractions import Fraction as F
from functools import partial

import numpy as np
import pytest

import nobounds as nb
from nobounds.accounting.cost import monotonic, moving_threshold, pure
from nobounds.accounting.loss import Unit
from nobounds.accounting.spending import Spending
from nobounds.accounting.terms import Terms
from nobounds.auditing.audit import pair_loss
from nobounds.auditing.claims.answers import log_law
from nobounds.counting.lattice import Lattice
from nobounds.counting.scan import gathered
from nobounds.counting.tally import BITS
from nobounds.engines.source import Bounding, Keyed
from nobounds.ladders.ladder import Ladder
from nobounds.ranks.options import Options
from nobounds.ranks.plan import problem_of
from nobounds.ranks.question import Question

LADDER = Ladder.float_bits(0)  # one rung a power of two, the whole line
BIG = [-40.0, -3.0, 0.0, 5.0, 5.0, 70.0, 900.0, 900.0]  # the rows of the user who has half of them
OTHERS = [("ann", -3.0), ("ann", 5.0), ("bob", 5.0), ("bob", 70.0), ("cid", 0.0), ("dee", -40.0), ("dee", 5.0)]
REGIONS = ["north", "south", "west"]
ROWS = [("big", x) for x in BIG] + OTHERS
EPSILON = 2


def table(rows, most):
    """A table of users, regions and values."""
    regions = [REGIONS[round(abs(x)) % 3] for _, x in rows]
    columns = {"user": [u for u, _ in rows], "x": np.array([x for _, x in rows]), "region": regions}
    return nb.Table(columns, unit="user", rows_per_unit=most)


def kept(rows, most, salt):
    """The records that count, and the public facts of the column."""
    data = table(rows, most)._opened.column("x", {"rng": random.Random(salt)})
    return data, gathered(data.chunks()).tolist()


def asked(data, q, epsilon=EPSILON):
    """The question on a fixed ladder, whose law can be enumerated."""
    facts, terms = data.facts, Terms.of(epsilon, None)
    problem = problem_of(facts, terms, Options.of({"ladder": LADDER}), (q,))
    return terms.spending.each(facts.unit.rows).plan(partial(Question.of, problem))


@pytest.mark.medium
@pytest.mark.parametrize("most", [1, 3, 5])
@pytest.mark.parametrize("q", [F(0), F(1, 4), F(1, 2), F(1)], ids=str)
def test_a_user_with_half_of_the_rows_costs_no_more_than_is_stated(q, most):
    """Removing the user changes the log-probability of no answer by more than epsilon, whichever rows were chosen."""
    worst = 0.0
    for salt in range(3):
        data, with_big = kept(ROWS, most, salt)
        _, without = kept(OTHERS, most, salt)
        question = asked(data, q)
        loss = data.facts.unit.loss(question.cost(), "add-remove")
        assert loss.unit == "user"
        assert loss.epsilon == EPSILON
        found = pair_loss(log_law(question, with_big), log_law(question, without))
        assert found[0] <= loss.epsilon + 1e-9
        assert found[1] <= loss.eta + 1e-9
        worst = max(worst, found[0])
    assert worst > EPSILON / 4  # it is not for nothing


@pytest.mark.medium
def test_without_the_scaling_the_same_user_costs_too_much():
    """The audit sees a mechanism that spends on each row what it may spend on a user."""
    data, with_big = kept(ROWS, 5, 0)
    question = asked(replace(data, facts=replace(data.facts, unit=Unit("user", 1))), F(1))
    found = pair_loss(log_law(question, with_big), log_law(question, kept(OTHERS, 5, 0)[1]))
    assert found[0] > EPSILON + 0.5


@pytest.mark.medium
def test_without_bounding_the_same_user_costs_too_much():
    """The audit sees a mechanism that is scaled for three rows and is given eight."""
    data, _ = kept(ROWS, 3, 0)
    question = asked(data, F(1))
    found = pair_loss(log_law(question, [x for _, x in ROWS]), log_law(question, [x for _, x in OTHERS]))
    assert found[0] > EPSILON + 0.5


def by_region(rows, most, groups, salt):
    """The records of each region that count."""
    source = table(rows, most)._opened.source
    keyed = Keyed(("region",), source.known_keys(("region",), [REGIONS]))
    bounding, ladder = Bounding("user", most, groups, salt), Ladder.float_bits(BITS)
    found = source.tally("x", ladder, keyed, bounding)
    values = ladder.map.floats(found.tally.rungs)
    return source.rows("x", keyed, bounding), [
        np.repeat(values, found.tally.counts)[np.repeat(found.tally.groups, found.tally.counts) == k] for k in range(3)
    ]


@pytest.mark.medium
@pytest.mark.parametrize(("most", "groups"), [(1, 1), (3, 3), (3, 1), (4, 2)])
@pytest.mark.parametrize("q", [F(1, 4), F(1)], ids=str)
def test_all_groups_together_cost_no_more_than_is_stated(q, most, groups):
    """Groups are answered on their own, so log-ratios add up over them; for a user they stay within epsilon."""
    worst = 0.0
    data, _ = kept(ROWS, most, 0)
    question = asked(data, q)
    for salt in range(3):
        (_, with_big), (_, without) = by_region(ROWS, most, groups, salt), by_region(OTHERS, most, groups, salt)
        ups, downs = [], []
        for one, other in zip(with_big, without, strict=True):
            ratio = log_law(question, one) - log_law(question, other)
            ups.append(np.nanmax(ratio))
            downs.append(-np.nanmin(ratio))
        assert max(sum(ups), sum(downs)) <= EPSILON + 1e-9
        assert sum(ups) + sum(downs) <= data.facts.unit.loss(question.cost(), "add-remove").eta + 1e-9
        worst = max(worst, sum(ups), sum(downs))
        changed = sum(len(one) != len(other) for one, other in zip(with_big, without, strict=True))
        assert changed <= groups
    assert worst > EPSILON / 5


@pytest.mark.medium
@pytest.mark.parametrize(("most", "groups"), [(1, 1), (3, 2), (5, 3)])
def test_sums_of_all_groups_change_by_no_more_than_the_rows_of_a_user(most, groups):
    """In steps of the lattice, over all groups; and the noise of a sum is for that many."""
    lattice = Lattice.of(F(-50), F(100), False)
    for salt in range(10):
        (one, _), (other, _) = by_region(ROWS, most, groups, salt), by_region(OTHERS, most, groups, salt)
        (counts, (sums,)), (fewer, (less,)) = one.totals(lattice.steps), other.totals(lattice.steps)
        assert np.abs(counts - fewer).sum() <= most
        assert np.abs((sums - less) + lattice.low * (counts - fewer)).sum() <= most * lattice.largest
        assert np.count_nonzero(counts - fewer) <= groups


def test_a_unit_of_many_rows_costs_the_sides_of_one_row_many_times():
    """Pure costs and ranges add up row by row; rho is the least of what the rows, the epsilon and the range say."""
    for cost in (pure(F(1, 7)), monotonic(F(1, 5), F(1, 3)), moving_threshold(F(1, 4), F(1, 5), F(1, 3))):
        many = cost.times(6)
        assert (many.epsilon, many.eta) == (6 * cost.epsilon, 6 * cost.eta)
        assert cost.rho < many.rho <= 36 * cost.rho
        assert cost.times(1) == cost


@pytest.mark.parametrize("spending", [Spending.of(1, None), Spending.of(None, "0.1")])
def test_what_each_row_may_cost_adds_up_to_what_the_unit_may(spending):
    """Epsilons add up, and roots of rho do."""
    each = spending.each(9)
    assert spending.amount == each.amount * (81 if spending.zcdp else 9)


@pytest.mark.medium
def test_a_release_for_users_says_so_and_costs_what_was_asked():
    """Whatever the statistic, the loss is per user and not above the epsilon or rho that was asked for."""
    people = table(ROWS * 30, 3)
    for ask_for, spend in (("epsilon", 0.7), ("rho", 0.2)):
        given = {ask_for: spend}
        releases = [
            people.quantile("x", 0.5, **given),
            people.quantiles("x", [0.25, 0.5, 0.75], **given),
            people.bounds("x", **given),
            people.sum("x", **given),
            people.mean("x", **given),
            people.count("x", **given),
            people.count(**given),
            people.describe(["x"], **given),
            people.group_by("region", keys=REGIONS).quantile("x", 0.5, **given),
            people.group_by("region", keys=REGIONS).sum("x", **given),
            people.group_by("region", keys=REGIONS).mean("x", **given),
            people.group_by("region", keys=REGIONS).count(**given),
        ]
        for release in releases:
            assert release.loss.unit == "user"
            assert 0.98 * spend < getattr(release.loss, ask_for) <= spend
            assert math.isfinite(release.loss.rho)


def test_a_swap_of_users_is_refused():
    """A user who is swapped for another may have fewer rows, so that their number is not public."""
    with pytest.raises(ValueError, match="neighbors='add-remove'"):
        Unit("user", 3).loss(pure(F(1)), "swap")
    with pytest.raises(ValueError, match="neighbors='add-remove'"):
        nb.Table({"user": [1], "x": [2.0]}, unit="user", rows_per_unit=3, neighbors="swap")
