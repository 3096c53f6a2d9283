"""Tables of edges: each edge is where exact arithmetic puts it."""

import math
import random
from fractions import Fraction
from itertools import pairwise

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from support.ladders import (
    INF,
    MAX,
    TABLES,
    finite,
    rung_of,
)

from nobounds.ladders.ladder import Ladder

GEOMETRIC = {
    "1.001": (Fraction(1001, 1000), Fraction(0), Fraction(1)),
    "1.01": (Fraction(101, 100), Fraction(0), Fraction(1)),
    "2": (Fraction(2), Fraction(0), Fraction(1)),
    "3/2": (Fraction(3, 2), Fraction(0), Fraction(1)),
    "1+1/1024": (Fraction(1025, 1024), Fraction(0), Fraction(1)),
    "1.1 from -3, scale 1/7": (Fraction(11, 10), Fraction(-3), Fraction(1, 7)),
    "1.1 from 1/3, scale 1e-9": (Fraction(11, 10), Fraction(1, 3), Fraction(1, 10**9)),
}
geometric = pytest.mark.parametrize(("beta", "lower", "scale"), GEOMETRIC.values(), ids=GEOMETRIC.keys())


def some_edges(table: np.ndarray, beta: Fraction) -> list[int]:
    """The first 300 edges, the last ones if their powers are not too long, and some at random in between."""
    most = min(len(table), int(300_000 / math.log2(beta.denominator + beta.numerator)))
    rng = random.Random(2)
    return sorted({*range(min(300, most)), most - 1, *(rng.randrange(most) for _ in range(40))})


@pytest.mark.medium
@geometric
def test_geometric_edges_are_the_exact_ones_rounded_up(beta, lower, scale):
    """Edge i is the smallest float at or above lower + scale * (beta**i - 1), by exact fractions."""
    table = Ladder.geometric(beta, lower=lower, scale=scale, upper=1e25).map.table
    for i in some_edges(table, beta):
        exact = lower + scale * (beta**i - 1)
        assert Fraction(float(table[i])) >= exact
        assert Fraction(math.nextafter(float(table[i]), -INF)) < exact


@pytest.mark.medium
@geometric
def test_geometric_ladders_decide_exactly_at_their_edges(beta, lower, scale):
    """At an edge, one float below and one above, the rung is the number of exact edges at or below the value."""
    ladder = Ladder.geometric(beta, lower=lower, scale=scale, upper=1e25)
    table = ladder.map.table
    for i in some_edges(table, beta)[:-1]:
        exact = lower + scale * (beta**i - 1)
        edge = float(table[i])
        for value in (math.nextafter(edge, -INF), edge, math.nextafter(edge, INF)):
            if i == 0 or table[i - 1] <= value < table[i + 1]:
                assert rung_of(ladder, value) == (i if value < exact else i + 1)


@geometric
def test_geometric_ladders_end_at_upper(beta, lower, scale):
    """The last edge is at most `upper`, and the next would exceed it."""
    upper = Fraction(1234)
    table = Ladder.geometric(beta, lower=lower, scale=scale, upper=upper).map.table
    assert lower + scale * (beta ** (len(table) - 1) - 1) <= upper < lower + scale * (beta ** len(table) - 1)


def test_edges_closer_to_a_float_than_any_ball_are_decided_exactly():
    """An edge 1e-70 above or below 1, or at 1 by way of 0.1 + 0.9, is rounded up by exact arithmetic."""
    close = Fraction(1, 10**70)
    after = math.nextafter(1, INF)
    for lower, edge in ((1 + close, after), (1 - close, 1.0), (Fraction(1), 1.0)):
        assert Ladder.geometric(2, lower=lower, upper=100).map.table[0] == edge
    for scale, edge in ((Fraction(9, 10), 1.0), (Fraction(9, 10) + close, after), (Fraction(9, 10) - close, 1.0)):
        assert Ladder.geometric(2, lower=0.1, scale=scale, upper=100).map.table[1] == edge


@pytest.mark.medium
def test_the_papers_ladder_reaches_the_end_of_the_floats():
    """With no `upper` the edges beta**i - 1 go on while there are floats: ln(1.8e308)/ln(1.001) of them."""
    table = Ladder.geometric().map.table
    assert table[0] == 0
    assert len(table) == 1 + math.floor(math.log(MAX) / math.log(1.001))
    assert MAX / 1.002 < table[-1] <= MAX


def test_an_edge_next_to_the_largest_float():
    """A table may end at the largest float, without a warning."""
    assert Ladder.geometric(MAX).map.table.tolist() == [0.0, MAX]


def test_a_beta_read_from_a_float_is_its_decimal_text():
    """beta=1.1 and beta="11/10" are the same ladder, not the binary neighbour of 1.1."""
    assert np.array_equal(Ladder.geometric(1.1).map.table, Ladder.geometric("11/10").map.table)
    binary = Ladder.geometric(Fraction(1.1)).map.table
    assert not np.array_equal(Ladder.geometric(1.1).map.table, binary)


@pytest.mark.parametrize(
    ("lower", "upper", "steps"), [(0, 1, 10), (-3, Fraction(1, 3), 77), (-1e9, 1e9, 1), (0, 0.3, 3)]
)
def test_uniform_edges_are_the_exact_ones_rounded_up(lower, upper, steps):
    """Edge i is the smallest float at or above lower + (upper - lower) * i / steps."""
    ladder = Ladder.uniform(lower, upper, steps)
    low = Fraction(str(lower))
    width = (Fraction(str(upper)) - low) / steps
    assert ladder.size == steps + 1  # and one rung below the lower bound
    for i, edge in enumerate(ladder.map.table.tolist()):
        assert Fraction(math.nextafter(edge, -INF)) < low + width * i <= Fraction(edge)


@pytest.mark.medium
@given(edges=st.lists(st.fractions(-1000, 1000), min_size=1, max_size=12, unique=True), value=finite)
def test_given_edges_decide_exactly(edges, value):
    """The rung is the number of exact edges at or below the value, the last rung taking all above."""
    edges.sort()
    if len({float(edge) for edge in edges}) < len(edges) or any(b - a < 1e-9 for a, b in pairwise(edges)):
        return
    ladder = Ladder.of(edges)
    for at in [value, *(float(edge) for edge in edges), *(math.nextafter(float(edge), INF) for edge in edges)]:
        assert rung_of(ladder, at) == min(sum(edge <= at for edge in edges), len(edges) - 1)


@pytest.mark.parametrize("ladder", TABLES.values(), ids=TABLES.keys())
def test_rungs_of_a_table_hold_their_values(ladder):
    """rung(value(r)) = r for the rungs between two edges; the first stands for all below its edge."""
    for rung in range(1, min(ladder.size, 500)):
        low, high = ladder.map.interval(rung)
        assert low < ladder.value(rung) < high == ladder.top(rung)
        assert rung_of(ladder, ladder.value(rung)) == rung
    assert rung_of(ladder, -1e300) == 0
    assert ladder.value(0) == ladder.map.table[0]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Ladder.uniform(0, 1, 4),
        lambda: Ladder.of([1, 2, 3]),
        lambda: Ladder.geometric(2),
        lambda: Ladder.float_bits(9),
        lambda: Ladder.grid("0.01"),
    ],
    ids=["uniform", "given", "geometric", "float-bits", "grid"],
)
def test_ladders_with_the_same_edges_are_equal(make):
    """Ladders made twice from the same parameters are equal, and have one hash."""
    assert make() == make()
    assert hash(make()) == hash(make())


def test_ladders_with_other_edges_are_not_equal():
    """One edge or one bit more makes another ladder."""
    assert Ladder.of([1, 2, 3]) != Ladder.of([1, 2, 4])
    assert Ladder.of([1, 2, 3]) != Ladder.of([1, 2])
    assert Ladder.float_bits(8) != Ladder.float_bits(9)
    assert Ladder.grid(1) != Ladder.grid(2)
