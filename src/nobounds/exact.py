"""Exact numbers: parameters are read as exact rationals, and results are rounded up to floats.

A float stands for its decimal text: 0.1 means 1/10. Reading and printing follow the same rule, so 0.3 is printed as
0.3, and a printed loss is never below the true one. The text of a numpy float is the shortest decimal that its own type
reads back as the same number: np.float32(0.1) and np.longdouble("0.1") mean 1/10 as well. The text does not depend on
numpy's print options.
"""

import math
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import ROUND_CEILING, Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from flint import arb  # imported on first use: it would take a fifth of the import time of nobounds

MAX = sys.float_info.max
MOST_DIGITS = 1000
_LARGEST = 10**MOST_DIGITS
_SMALLEST = Fraction(1, 10**12)  # privacy parameter
Number: TypeAlias = int | float | str | Decimal | Fraction


def rational(value: object, name: str) -> Fraction:
    """The exact rational that the text of `value` denotes; raises an error that names the parameter.

    >>> rational(0.1, "epsilon")
    Fraction(1, 10)
    """
    if type(value) in (int, float, str):  # most parameters: read once
        return _read(value, name)
    return _checked(value, name)


@lru_cache(maxsize=1024, typed=True)
def _read(value: int | float | str, name: str) -> Fraction:
    return _checked(value, name)


def _checked(value: object, name: str) -> Fraction:
    if isinstance(value, bool | np.bool_) or not isinstance(
        value, int | float | str | Decimal | Fraction | np.integer | np.floating
    ):
        raise TypeError(f"{name} must be a number, got {name}={shown(value)}")
    try:
        number = _parsed(value)
    except (InvalidOperation, OverflowError, ZeroDivisionError, ValueError):
        point = "; write decimals with a point" if isinstance(value, str) and "," in value else ""
        raise ValueError(f"{name} must be a finite number, got {name}={shown(value)}{point}") from None
    if number is None or max(abs(number.numerator), number.denominator) > _LARGEST:
        raise ValueError(f"{name} must have at most {MOST_DIGITS} digits, got {name}={shown(value)}")
    return number


def _parsed(value: int | float | str | Decimal | Fraction | np.integer | np.floating) -> Fraction | None:
    """The rational of `value`, or None if its fraction would fill the memory, like 1e999999999."""
    if isinstance(value, int | Fraction | np.integer):
        return Fraction(int(value)) if isinstance(value, np.integer) else Fraction(value)
    if isinstance(value, str) and "/" in value:
        return Fraction(value)
    decimal = Decimal(_text(value) if isinstance(value, float | np.floating) else value)
    if decimal and decimal.is_finite() and abs(decimal.adjusted()) > MOST_DIGITS:
        return None
    return Fraction(decimal)


def _text(value: "float | np.floating[Any]") -> str:
    """The shortest decimal text of a float, independent of its `repr`."""
    return float.__repr__(value) if isinstance(value, float) else np.format_float_scientific(value)


def shown(value: object) -> str:
    """The value of a parameter for an error message, cut to one line; an exact number as a person writes it.

    >>> shown(Fraction(4)), shown(Fraction(1, 10)), shown(Fraction(1, 3)), shown("4")
    ('4', '0.1', '1/3', "'4'")
    """
    try:
        text = _written(value) if isinstance(value, Fraction) else repr(value)
    except ValueError:  # more digits than Python prints
        text = "a number of thousands of digits"
    return text if len(text) <= 80 else text[:80] + "..."


def _written(x: Fraction) -> str:
    decimal = repr(finite_float(x))
    return str(x) if x.denominator == 1 or Fraction(decimal) != x else decimal


def printable(text: str) -> str:
    r"""The text unchanged, or quoted and escaped if it has unprintable characters, which a terminal would obey.

    >>> printable("Ann"), printable("\x1b[2J")
    ('Ann', "'\\x1b[2J'")
    """
    return text if text.isprintable() else ascii(text)


def positive(value: object, name: str) -> Fraction:
    """Like `rational`, for numbers greater than 0."""
    number = rational(value, name)
    if number <= 0:
        raise ValueError(f"{name} must be greater than 0, got {name}={shown(value)}")
    return number


def upper_bound(value: object, name: str) -> Fraction:
    """Like `positive`, for a bound on floats: the larger of the decimal text and the binary value of a float.

    >>> upper_bound(0.1, "sensitivity") == Fraction(0.1) > Fraction(1, 10)
    True
    """
    number = positive(value, name)
    return max(number, binary_value(value)) if isinstance(value, float | np.floating) else number


def binary_value(value: "float | np.floating[Any]") -> Fraction:
    """The exact binary value of a float; raises OverflowError for infinities and ValueError for NaN."""
    if isinstance(value, float):
        return Fraction(*float.as_integer_ratio(value))  # a subclass may override the method
    return Fraction(*value.as_integer_ratio())


def privacy_parameter(value: object, name: str) -> Fraction:
    """Like `positive`, for privacy parameters: limited to the range in which every later step is exact."""
    number = positive(value, name)
    if not _SMALLEST <= number <= 10**12:
        raise ValueError(f"{name} must be between 1e-12 and 1e12, got {name}={shown(value)}")
    return number


@lru_cache(maxsize=4096)
def round_up(x: Fraction) -> float:
    """The smallest float whose decimal text is at least x (infinity if there is none).

    >>> round_up(Fraction(3, 10)), round_up(Fraction(1, 3))
    (0.3, 0.33333333333333337)
    """
    try:
        candidate = max(math.nextafter(float(x), -math.inf), -MAX)
    except OverflowError:
        return math.inf if x > 0 else -MAX
    while candidate < math.inf and Fraction(repr(candidate)) < x:
        candidate = math.nextafter(candidate, math.inf)
    return candidate + 0.0  # never -0.0


def text_up(x: float, digits: int = 6) -> str:
    """x in at most `digits` significant digits, rounded up: the printed number is never below x.

    >>> text_up(0.3), text_up(0.4621171572600098, 4)
    ('0.3', '0.4622')
    """
    if not math.isfinite(x) or x == 0:
        return f"{x:g}"
    exact = Decimal(repr(x))
    rounded = exact.quantize(Decimal(1).scaleb(exact.adjusted() - digits + 1), rounding=ROUND_CEILING)
    return f"{float(rounded):.{digits}g}"


def rounded_up(number: float) -> float:
    """A number in two digits, not below it."""
    power = math.floor(math.log10(number)) - 1 if number > 0 else 0
    step = Fraction(10) ** power
    return float(math.ceil(Fraction(number) / step) * step)


def float_at_or_above(x: Fraction) -> float:
    """The smallest float64 that is at least x: `value < x` and `value < float_at_or_above(x)` agree for every float."""
    try:
        candidate = float(x)
    except OverflowError:
        return math.inf if x > 0 else -MAX
    return candidate if candidate >= x else math.nextafter(candidate, math.inf)


_precision = threading.RLock()


def _renew() -> None:
    global _precision
    _precision = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=lambda: _precision.acquire(), after_in_parent=lambda: _precision.release(), after_in_child=_renew
    )


@contextmanager
def working_precision(bits: int) -> Iterator[None]:
    """Set the precision of balls to `bits` for a while; the process has one precision, so threads take turns."""
    from flint import ctx

    with _precision, ctx.workprec(bits):
        yield


def ball(x: Fraction | int) -> "arb":
    """x as an Arb ball at the working precision."""
    from flint import arb, fmpq, fmpz

    if isinstance(x, int):
        return arb(fmpz(x))
    return arb(fmpq(x.numerator, x.denominator))


def upper(x: "arb") -> Fraction:
    """An exact rational at or above every number in the ball."""
    mantissa, exponent = x.upper().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def finite_float(x: Fraction) -> float:
    """The nearest float64, never infinite."""
    try:
        return float(x)
    except OverflowError:
        return MAX if x > 0 else -MAX
