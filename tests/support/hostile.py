"""Hostile records: what floats, numbers, texts and objects of no type can be, for hypothesis."""

import math
import sys
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

CHARACTERS = "u" if sys.version_info < (3, 13) else "w"  # the type code of characters in array.array; "u" goes in 3.16
ODD = [
    math.nan,
    math.inf,
    -math.inf,
    0.0,
    -0.0,
    5e-324,
    -5e-324,
    1e-310,
    1.7976931348623157e308,
    -1.7976931348623157e308,
]
ODD += [2.0**53, 2.0**63, -(2.0**63), 2.0**64, 1.0, 2.5, -3.0, 1e16, 1 + 2**-52]


class Angry:
    """An object of which nothing can be asked."""

    def __float__(self):
        raise ZeroDivisionError("a secret")

    __str__ = __bool__ = __index__ = __len__ = __float__

    def __eq__(self, other):
        raise ZeroDivisionError("a secret")

    def __hash__(self):
        raise ZeroDivisionError("a secret")


class AngryFloat(float):
    """A number that does not want to be one."""

    def __float__(self):
        raise MemoryError("a secret")

    def __str__(self):
        raise RecursionError("a secret")


class Liar:
    """An object that will not say what it is."""

    @property
    def __class__(self):
        raise OSError("a secret")


floats = st.sampled_from(ODD) | st.floats(width=64)
small_floats = st.sampled_from([0.0, -0.0, math.nan, math.inf, -math.inf]) | st.floats(width=32)
longs = st.integers(-(2**63), 2**63 - 1) | st.sampled_from([-(2**63), 2**63 - 1, 0, 1])
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
wild_words = words | st.sampled_from(["a", "b", "", "\ud800", "\x00", "a\nb", "\x1b[2J", "'; drop table x; --", "nan"])
THINGS = [
    None,
    True,
    10**400,
    -(10**400),
    10**5000,
    Decimal("NaN"),
    Decimal("sNaN"),
    Decimal("1e999999"),
    Fraction(10**500, 3),
    3 + 4j,
    b"12",
    [1.0],
    (2,),
    {},
    date(2020, 1, 1),
    timedelta(1),
    np.float16(1.5),
    np.longdouble(2.5),
    np.int8(-3),
    np.datetime64("NaT", "s"),
    np.timedelta64(3, "D"),
    np.array([1, 2]),
    np.array(7.0),
    np.ma.masked,
    Angry(),
    AngryFloat(2.0),
    Liar(),
    float,
]
# By their places: hypothesis wants to print what it draws.
objects = floats | longs | wild_words | st.integers(0, len(THINGS) - 1).map(THINGS.__getitem__)


def neighbours(records, least=0, most=12):
    """Two lists of which the second has one record less, or another one at the same place."""

    def pair(drawn):
        data, at, other = drawn
        at %= len(data)
        rest = [*data[:at], *data[at + 1 :]]
        return data, rest, [*data[:at], other, *data[at + 1 :]]

    lists = st.lists(records, min_size=max(least + 1, 1), max_size=most)
    return st.tuples(lists, st.integers(0, 99), records).map(pair)
