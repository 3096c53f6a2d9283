"""Shares of a summary: what is answered gets what it needs, and all of it adds up to the same."""

import itertools
from fractions import Fraction as F

import pytest

from nobounds.release.shares import LEVELS, NEEDS, PARTS, STATISTICS, answered, shares

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
            ranked, twice = part in LEVELS, neighbors == "swap" and part not in ("mean", "std")
            squared = (8 if ranked else 2) * share
            nats = size * float(squared) ** 0.5 if zcdp else size * float(share)
            assert nats >= NEEDS[part].nats * (2 if twice else 1) * (1 - 1e-12)


def test_the_next_statistic_is_not_bought_below_its_need():
    """A median from 60 nats on, quartiles from 160, a mean from 210; parts are in the order of their needs."""
    for size, number in ((59, 0), (60, 1), (159, 1), (160, 2), (209, 2), (210, 3), (330, 4), (730, 5), (930, 6)):
        assert list(shares(F(1), size, "add-remove", False)) == list(NEEDS)[:number]


def test_every_statistic_is_that_of_one_part():
    """All but the count, which comes first."""
    names = [name for part in NEEDS for name in PARTS[part]]
    assert sorted(names) == sorted({*STATISTICS} - {"count"}) and set(NEEDS) == set(PARTS)
    assert answered({}) == {"count"} and answered(NEEDS) == {*STATISTICS}
