"""Shares of a summary: what is answered gets what it needs, and all of it adds up to the same."""

import itertools
from fractions import Fraction as F

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nobounds.release.shares import LEVELS, NEEDS, PARTS, STATISTICS, answered, shared, shares

SIZES = [0, 1, 50, 66, 67, 150, 177, 178, 234, 400, 1000, 5000, 10**6, 10**12]
kinds = pytest.mark.parametrize(("neighbors", "zcdp"), list(itertools.product(["add-remove", "swap"], [False, True])))


@kinds
@pytest.mark.parametrize("amount", [F(1, 1000), F(9, 10), F(30)])
def test_shares_add_up_whatever_the_size(amount, neighbors, zcdp):
    """To the amount, or to nothing; none is negative, and a larger size answers no less."""
    before = frozenset()
    for size in SIZES:
        parts = shares(amount, size, neighbors, zcdp)
        assert sum(parts.values()) == (amount if parts else 0)
        assert all(part > 0 for part in parts.values())
        assert before <= answered(parts)
        before = answered(parts)


@kinds
def test_each_part_has_what_it_needs(neighbors, zcdp):
    """Nats are records times epsilon; a rank costs twice as much under swap, and as a range an eighth of its square."""
    for size in SIZES[1:]:
        for part, share in shares(F(1, 2), size, neighbors, zcdp).items():
            ranked, twice = part in LEVELS, neighbors == "swap" and part != "std"
            squared = (8 if ranked else 2) * share
            nats = size * float(squared) ** 0.5 if zcdp else size * float(share)
            assert nats >= NEEDS[part].nats * (2 if twice else 1) * (1 - 1e-12)


def test_the_next_statistic_is_not_bought_below_its_need():
    """A median from 60 nats on, quartiles from 140, a mean from 216; parts are in the order of their needs."""
    for size, number in ((59, 0), (60, 1), (139, 1), (140, 2), (215, 2), (216, 3), (336, 4), (736, 5), (936, 6)):
        assert list(shares(F(1), size, "add-remove", False)) == list(NEEDS)[:number]


def test_every_statistic_is_that_of_one_part():
    """All but the count, which comes first."""
    names = [name for part in NEEDS for name in PARTS[part]]
    assert sorted(names) == sorted({*STATISTICS} - {"count"}) and set(NEEDS) == set(PARTS)
    assert answered({}) == {"count"} and answered(NEEDS) == {*STATISTICS}


AMOUNTS = st.fractions(min_value=0, max_value=3, max_denominator=50)
SOME = st.lists(st.one_of(st.none(), AMOUNTS), min_size=1, max_size=6)


@given(AMOUNTS.filter(bool), SOME)
def test_shares_add_up_to_what_there_is_or_to_nothing(amount, needs):
    """Whatever is needed; nothing if no need fits."""
    parts = shared(amount, needs)
    assert min(parts) >= 0
    assert sum(parts) == (amount if any(need is not None and need <= amount for need in needs) else 0)


@given(AMOUNTS.filter(bool), SOME)
def test_whoever_gets_a_share_gets_what_it_needs(amount, needs):
    """And nobody who needs less goes without one."""
    parts = shared(amount, needs)
    answered = [need for need, part in zip(needs, parts, strict=True) if part]
    without = [need for need, part in zip(needs, parts, strict=True) if not part and need is not None]
    assert all(part >= need for need, part in zip(needs, parts, strict=True) if part)
    assert not without or not answered or min(without) >= max(answered)


@given(AMOUNTS.filter(bool), st.integers(1, 6), st.data())
def test_shares_are_equal_where_that_is_enough(amount, many, data):
    """No statistic pays for another that does not need it."""
    needs = data.draw(st.lists(st.fractions(0, amount / many), min_size=many, max_size=many))
    assert shared(amount, needs) == [amount / many] * many


def test_the_dearest_goes_first():
    """What does not fit gets nothing, and the others share all of it."""
    assert shared(F(1), [F(2), F(1, 2), F(1, 10)]) == [0, F(1, 2), F(1, 2)]
