"""Values are read exactly, whatever type holds them, and whatever a subclass makes of its arithmetic."""

import enum
import math
from decimal import Decimal
from fractions import Fraction as F

import numpy as np
import pytest

from nobounds.mechanisms.queries import exact_value

KINDS = (float, np.float16, np.float32, np.float64, np.longdouble)


@pytest.mark.parametrize("kind", KINDS)
def test_floats_are_the_numbers_that_they_hold(kind):
    """A float is read down to the last bit of its type, the largest one and the smallest one too."""
    limits = np.finfo(kind)
    step = F(2) ** -int(limits.nmant)
    assert exact_value(kind(1) + kind(limits.eps)) == 1 + step
    assert exact_value(-kind(1) - kind(limits.eps)) == -1 - step
    assert exact_value(kind(limits.max)) == (2 - step) * F(2) ** (int(limits.maxexp) - 1)
    assert exact_value(kind(limits.smallest_subnormal)) == step * F(2) ** int(limits.minexp)
    assert exact_value(kind(0)) == exact_value(-kind(0)) == 0


@pytest.mark.parametrize("kind", (*KINDS, Decimal))
def test_infinities_and_nan(kind):
    """Infinities are infinities, and NaN counts as the negative one."""
    assert [exact_value(kind(text)) for text in ("inf", "-inf", "nan", "-nan")] == [math.inf, *[-math.inf] * 3]
    assert exact_value(Decimal("sNaN")) == -math.inf


@pytest.mark.parametrize(
    "value", [True, 7, 10**4000, np.bool_(True), np.int8(-7), np.uint64(2**64 - 1), F(22, 7), Decimal("1e-400"), 0.1]
)
def test_the_result_is_a_plain_fraction(value):
    """Whatever goes in, arithmetic goes on with a Fraction of Python integers that is equal to it."""
    found = exact_value(value)
    assert type(found) is F and type(found.numerator) is type(found.denominator) is int
    assert found == (value if isinstance(value, float) else F(value) if isinstance(value, Decimal) else value)


def test_subclasses_are_read_as_their_base_class():
    """A subclass that lies about its arithmetic, ratio or text is the number that it was made of."""

    class Whole(int):
        def __mul__(self, other):
            raise AssertionError

        __rmul__ = __floordiv__ = __truediv__ = __int__ = __index__ = __mul__

    class Binary(float):
        def as_integer_ratio(self):
            raise AssertionError

        __float__ = __gt__ = __mul__ = as_integer_ratio

    class Money(Decimal):
        def as_integer_ratio(self):
            raise AssertionError

        adjusted = is_nan = __str__ = as_integer_ratio

    class Part(F):
        def __mul__(self, other):
            raise AssertionError

        __truediv__ = __floor__ = __mul__

    class Level(enum.IntEnum):
        HIGH = 3

    numbers = (Whole(3), Binary(0.75), Money("0.3"), Part(2, 3), Level.HIGH)
    assert [exact_value(number) for number in numbers] == [3, F(3, 4), F(3, 10), F(2, 3), 3]
    assert [exact_value(Binary(text)) for text in ("inf", "-inf", "nan")] == [math.inf, -math.inf, -math.inf]


def test_enormous_decimals_fill_no_memory():
    """A Decimal with an enormous exponent is a power of ten of its sign, and zero is zero with any exponent."""
    assert exact_value(Decimal("-7e999999999")) == -(10**4000)
    assert exact_value(Decimal("7e-999999999")) == F(1, 10**4000)
    assert exact_value(Decimal("-7e-999999999")) == -F(1, 10**4000)
    assert exact_value(Decimal("0e999999999")) == exact_value(Decimal("-0e-999999999")) == 0
    assert exact_value(Decimal("7e-4000")) == F(7, 10**4000)
    assert exact_value(Decimal("7e4000")) == 7 * 10**4000


@pytest.mark.parametrize("value", ["3", None, 1j, [1], np.array([1.0]), np.array(1.0), b"1", np.datetime64("2020")])
def test_what_is_no_number_is_refused_by_its_type(value):
    """The error names the type and nothing of the value."""
    with pytest.raises(TypeError, match=f"^a query must be a number, got one of type {type(value).__name__}$"):
        exact_value(value)
