"""Expressions of Spark SQL; `test_table` runs them beside numpy."""

from fractions import Fraction

from nobounds.counting.lattice import Lattice, Squares
from nobounds.engines.spark.expressions import steps_of, sums_of, whole


def test_there_is_an_expression_only_where_it_is_exact():
    """Not for steps beyond the range where a product with a power of two is exact, nor for maps that nobody knows."""
    near, far = (Lattice.of(Fraction(0), Fraction(size), integral=False) for size in (100, Fraction(2) ** 1000))
    assert steps_of(near) == steps_of(near.steps) is not None and steps_of(Squares(near, 3)) is not None
    assert steps_of(far) is None and steps_of(Squares(far, 3)) is None and steps_of(len) is None


def test_two_halves_are_one_whole():
    """Of any number of up to 63 bits."""
    for number in (0, 1, 2**21 - 1, 2**21, 2**40 + 12345):
        assert whole(number >> 21, number & (2**21 - 1)) == number
    assert len(sums_of("x")) == 2
