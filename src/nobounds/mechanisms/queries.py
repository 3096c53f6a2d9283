"""Query values: numbers of any type, read exactly.

Parameters are read differently (see `exact`): the parameter 0.1 means the decimal 1/10 as written, the value 0.1 the
binary number near it as computed.
"""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from nobounds.exact import MOST_DIGITS, binary_value

Query: TypeAlias = int | float | Decimal | Fraction | np.integer[Any] | np.floating[Any] | np.bool_

# Decimals have exponents up to 10**18, so their fractions can fill the memory. Parameters have at most 1000 digits, so
# every value above 10**4000 is out of reach of the noise, and every value below 10**-4000 is less than a lattice step.
_MOST_DIGITS = 4 * MOST_DIGITS


def exact_value(value: Query) -> Fraction | float:
    """The exact number that `value` holds, or an infinity. NaN counts as minus infinity.

    Subclasses are read as their base class, so their own arithmetic is never used later.

    >>> import numpy as np
    >>> exact_value(np.longdouble(0.75)), exact_value(math.nan)
    (Fraction(3, 4), -inf)
    """
    if isinstance(value, int):
        return Fraction(int.__int__(value))
    if isinstance(value, np.integer | np.bool_):
        return Fraction(int(value))
    if isinstance(value, Fraction):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, Decimal):
        return _exact_decimal(Decimal(value))
    if not isinstance(value, float | np.floating):
        raise TypeError(f"a query must be a number, got one of type {type(value).__name__}")
    try:
        return binary_value(value)
    except OverflowError:
        return math.copysign(math.inf, value)
    except ValueError:  # NaN
        return -math.inf


def _exact_decimal(value: Decimal) -> Fraction | float:
    """The decimal as a fraction; beyond 10**4000 or below 10**-4000, that power of ten with the sign of the value."""
    if value.is_nan():
        return -math.inf
    sign = -1 if value.is_signed() else 1
    if value.is_infinite():
        return sign * math.inf
    if value and abs(value.adjusted()) > _MOST_DIGITS:
        return sign * Fraction(10) ** (_MOST_DIGITS if value.adjusted() > 0 else -_MOST_DIGITS)
    return Fraction(value)
