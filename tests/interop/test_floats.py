"""Floats at the edge to other libraries: what they get is never more, and what comes back never less."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from nobounds.exact import rational
from nobounds.interop.floats import at_most, exactly


@given(st.floats(1e-300, 1e6))
def test_what_goes_out_is_at_most_its_decimal_text(number):
    """Its binary value is, and the next float is not or is another number."""
    assert 0 <= rational(number, "number") - Fraction(at_most(number)) <= rational(number, "number") / 2**51


@given(st.floats(0, 1e6))
def test_what_comes_back_is_the_binary_value(number):
    """Not its decimal text, which may be smaller."""
    assert exactly(number) == Fraction(number)
