"""Numbers are read as they are written, and rounded against whoever gains by it."""

import math
from decimal import Decimal
from fractions import Fraction as F

import hypothesis.strategies as st
import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import given
from support.laws import text

from nobounds.exact import ball, float_at_or_above, positive, rational, round_up, upper, upper_bound


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (0.1, F(1, 10)),
        (1e-6, F(1, 10**6)),
        (1e22, F(10**22)),
        (-2.5, F(-5, 2)),
        (5e-324, F(5, 10**324)),
        (3, F(3)),
        (10**400, F(10**400)),
        ("0.1", F(1, 10)),
        ("1e-3", F(1, 1000)),
        ("2/3", F(2, 3)),
        (" 7 ", F(7)),
        (Decimal("0.30"), F(3, 10)),
        (F(22, 7), F(22, 7)),
        (np.float64(0.1), F(1, 10)),
        (np.float32(0.1), F(1, 10)),
        (np.float16(0.1), F(1, 10)),
        (np.longdouble("0.1"), F(1, 10)),
        (np.float32(1) / 3, F("0.33333334")),
        (np.int8(-5), F(-5)),
        (np.uint64(2**64 - 1), F(2**64 - 1)),
    ],
)
def test_numbers_are_read_as_written(written, meant):
    """A float is the decimal that prints it, whatever its width; strings and decimals are what they say."""
    assert rational(written, "x") == meant
    assert type(rational(written, "x")) is F


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.longdouble])
def test_print_options_do_not_change_a_number(kind):
    """A parameter has all its digits, however numpy is told to print."""
    number = kind(1) / kind(3)
    meant = rational(number, "x")
    with np.printoptions(legacy="1.13", precision=2):
        assert rational(number, "x") == meant
    assert abs(meant - F(1, 3)) < F(1, 10**7)


def test_a_subclass_is_read_as_its_number():
    """What a subclass prints, and its own arithmetic, do not change a parameter."""

    class Percent(float):
        def __str__(self):
            return f"{self * 100:g}%"

        __repr__ = __str__

    class Money(Decimal):
        def __str__(self):
            return f"{self:f} EUR"

    assert rational(Percent(0.1), "x") == rational(Money("0.1"), "x") == F(1, 10)


@pytest.mark.parametrize("kind", [float, np.float64, np.float32, np.float16, np.longdouble])
def test_a_bound_is_at_least_what_is_written_and_what_is_held(kind):
    """0.1 is a little more than 1/10 as a double, 0.7 a little less than 7/10; the larger one bounds both."""
    above_and_below = set()
    for decimal in ("0.1", "0.2", "0.3", "0.4", "0.7", "0.9"):
        number = kind(decimal)
        written, held = F(decimal), F(*number.as_integer_ratio())
        assert rational(number, "x") == written
        assert upper_bound(number, "x") == max(written, held)
        above_and_below.add(held > written)
    assert above_and_below == {True, False}
    assert upper_bound("0.1", "x") == upper_bound(F(1, 10), "x") == F(1, 10)
    with pytest.raises(ValueError, match="x must be greater than 0"):
        upper_bound(kind(0), "x")


@given(x=st.floats(-1e308, 1e308))
def test_reading_and_rounding_up_undo_each_other(x):
    """round_up(rational(x)) = x for floats up to 1e308."""
    assert round_up(rational(x, "x")) == x


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, "nan", "1/0", "abc", "", Decimal("inf"), "1/2/3"])
def test_values_that_are_not_finite_are_refused(value):
    """NaN, infinities and text that is no number get a ValueError with name and value."""
    with pytest.raises(ValueError) as caught:
        rational(value, "epsilon")
    assert str(caught.value) == f"epsilon must be a finite number, got epsilon={value!r}"


@pytest.mark.parametrize("value", [None, True, np.bool_(False), [1], 1j, b"1", np.array([1.0, 2.0])])
def test_things_that_are_no_numbers_are_refused(value):
    """Booleans, nothing, lists, arrays and complex numbers get a TypeError with name and value."""
    with pytest.raises(TypeError) as caught:
        rational(value, "epsilon")
    assert str(caught.value) == f"epsilon must be a number, got epsilon={value!r}"


@pytest.mark.parametrize("value", [0, -1, -0.0, "-1/3"])
def test_positive_refuses_zero_and_less(value):
    """Zero is not positive."""
    with pytest.raises(ValueError) as caught:
        positive(value, "scale")
    assert str(caught.value) == f"scale must be greater than 0, got scale={value!r}"
    assert positive("1/3", "scale") == F(1, 3)


fractions = st.fractions() | st.fractions(0, 1) | st.floats(-1e308, 1e308).map(F)
near_floats = st.builds(
    lambda x, k: F(x) + F(k, 10**30) * abs(F(x)), st.floats(-1e300, 1e300), st.integers(-(10**14), 10**14)
)


@given(x=fractions | near_floats)
def test_round_up_is_the_smallest_float_whose_text_is_at_least_x(x):
    """Its text is at least x, and the text of the float below is not."""
    found = round_up(x)
    assert found == math.inf or text(found) >= x
    below = math.nextafter(found, -math.inf)
    assert below == -math.inf or text(below) < x


@given(x=fractions | near_floats)
def test_float_at_or_above_is_the_smallest_such_float(x):
    """It is at least x, and the float below is not."""
    found = float_at_or_above(x)
    assert found >= x
    below = math.nextafter(found, -math.inf)
    assert below == -math.inf or F(below) < x


@given(x=fractions | near_floats, value=st.floats(allow_nan=False))
def test_float_at_or_above_decides_comparisons(x, value):
    """value < x and value < float_at_or_above(x) agree for every float, those next to x too."""
    edge = float_at_or_above(x)
    for at in (value, edge, math.nextafter(edge, -math.inf), math.nextafter(edge, math.inf)):
        assert (at < x) == (at < edge)


def test_rounding_up_past_the_floats_is_infinity():
    """No finite float is at least 1e400, nor at least a little more than the largest one."""
    largest = F(math.nextafter(math.inf, 0))
    for x in (F(10**400), largest + 1):
        assert round_up(x) == float_at_or_above(x) == math.inf
    assert float_at_or_above(largest) == largest


def test_rounding_up_the_most_negative_float():
    """The most negative float is its own rounding."""
    lowest = -math.nextafter(math.inf, 0)
    assert round_up(rational(lowest, "x")) == lowest


def test_rounding_up_from_below_the_floats():
    """The smallest float at or above -1e400 is the most negative finite one: minus infinity is below -1e400."""
    x = -F(10**400)
    assert float_at_or_above(x) == -math.nextafter(math.inf, 0)
    assert (-math.inf < x) == (-math.inf < float_at_or_above(x))


@given(x=fractions)
def test_balls_hold_their_number(x):
    """A ball contains the fraction it was made of, and `upper` is at or above it, if only by a little."""
    with ctx.workprec(64):
        made = ball(x)
        assert made.contains(arb(fmpq(x.numerator, x.denominator))) or made.overlaps(arb(0))
        assert x <= upper(made) <= x + abs(x) / 2**60
        assert upper(ball(int(x))) >= int(x)
