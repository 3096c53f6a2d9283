"""Floats at the edge to another library: it computes with their binary value, nobounds with their decimal text."""

import math
from fractions import Fraction
from typing import Any

from nobounds.exact import rational


def at_most(number: float) -> float:
    """The largest float whose binary value is not above the decimal text of this one.

    >>> at_most(0.5), at_most(0.1)
    (0.5, 0.09999999999999999)
    """
    return number if Fraction(number) <= rational(number, "number") else math.nextafter(number, 0)


def exactly(number: Any) -> Fraction:
    """The binary value of a float that another library computed, as an exact number."""
    return Fraction(float(number))
