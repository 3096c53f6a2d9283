"""Digits: how many of a number are printed. JSON, frames and files keep all of them.

With an interval, a number is rounded to the first digit of half its width, or to the second one if the first is 1 or
2, and the ends are rounded outward to the same place: 31,540.28 in 31,204 to 31,877 is printed as 31,500, from 31,200
to 31,900. Rounding adds at most a sixth of half the width. Without an interval, six digits are printed, and all before
the decimal point; a number above a million that has few digits keeps its thousandths, because quantiles of records far
from 0 are released with the digits that they support. Whole numbers get no decimals, a number that is not 0 is not
printed as 0, and the printed number lies in the interval.
"""

import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from nobounds.kinds.kind import NUMBER, Kind, Value, short_text

_MOST = 6  # digits, without an interval
_FEW = 14  # digits of a number that is released with those that it supports; noise on a sum has more
_FULL = -400  # a place beyond the digits of every float
_LONGEST = 17  # digits before an exponent
_LARGE, _SMALL = 15, -5  # powers of ten from which on, and up to which, numbers have an exponent
_LOPSIDED = 2  # an interval that reaches this many times further on one side
_NUMBERS = (int, float, Decimal, np.number)
_EXACT = Context(prec=5000, Emax=10**6, Emin=-(10**6))


def said(value: Value, bar: Sequence[Any] | None = None, kind: Kind = NUMBER) -> str:
    """A value for people, with the digits that its interval supports; dates, times and durations by their own rule.

    >>> said(31540.2837462, (31204, 31877)), said(1e6), said(1234567.891234567), said(-0.00012345678)
    ('31,500', '1,000,000', '1,234,568', '-0.000123457')
    >>> said(1760301340.25)
    '1,760,301,340.25'
    """
    if not isinstance(value, _NUMBERS):
        return short_text(value)
    exact, ends = _decimal(value), () if bar is None else _ends(bar, kind)
    half = _half(exact, *ends) if ends else None
    if half is not None:
        place = min(_place(half), exact.adjusted() if exact else _FULL)
        tries = [_rounded(exact, near, ROUND_HALF_EVEN) for near in (place, place - 1, place - 2)]
    else:
        tries = [_rounded(exact, _own_place(exact), ROUND_HALF_EVEN).normalize(_EXACT)] * isinstance(value, float)
    return _text(next((rounded for rounded in tries if not ends or _within(rounded, *ends)), exact))


def said_ends(bar: Sequence[Any], kind: Kind = NUMBER, value: Any = None) -> tuple[str | None, str | None]:
    """The ends of an interval for people, rounded outward; None for an end that is not known.

    value: the answer, if it is known: a single end has the digits that its distance supports, and those of a whole
    number are whole.

    >>> said_ends((31204.2, 31877)), said_ends((1.5, math.inf)), said_ends((68.9, 75.1), value=72)
    (('31,200', '31,900'), ('1.5', None), ('68', '76'))
    """
    if not all(isinstance(end, _NUMBERS) for end in bar):
        low, high = (None if kind.is_end(end) else short_text(end) for end in bar)
        return low, high
    least, most = _ends(bar, kind)
    near = value if isinstance(value, _NUMBERS) else None
    half = _half(None if near is None else _decimal(near), least, most)
    place = None if half is None else _place(half)
    if isinstance(near, int | np.integer):
        place = max(0 if place is None else place, 0)
    return _outward(least, ROUND_FLOOR, place), _outward(most, ROUND_CEILING, place)


def said_reach(value: Any, bar: Sequence[Any], kind: Kind = NUMBER) -> str | None:
    """How far an interval reaches from its value, rounded up; None if it reaches much further on one side.

    >>> said_reach(31540.28, (31204, 31877)), said_reach(2, (0, 8)), said_reach(2, (0, math.inf))
    ('400', None, None)
    """
    if any(_unknown(end, kind) for end in bar):
        return None
    typed = kind.typed and kind.name != "decimal"
    at, low, high = (kind.number(each, "interval") if typed else Fraction(_decimal(each)) for each in (value, *bar))
    near, far = sorted((high - at, at - low))
    if near * _LOPSIDED < far:
        return None
    if typed:
        return short_text(kind.difference(far))
    ends = [_decimal(end) for end in bar]
    away = max(_EXACT.subtract(ends[1], _decimal(value)), _EXACT.subtract(_decimal(value), ends[0]))
    place = min(_place(_EXACT.divide(_EXACT.subtract(ends[1], ends[0]), Decimal(2))), away.adjusted())
    return _outward(away, ROUND_CEILING, place)


def _outward(end: Decimal | None, rounding: str, place: int | None = None) -> str | None:
    """An end rounded to a place in one direction; to six digits without a place."""
    if end is None:
        return None
    return _text(
        _rounded(end, _own_place(end), rounding).normalize(_EXACT) if place is None else _rounded(end, place, rounding)
    )


def _ends(bar: Sequence[Any], kind: Kind) -> tuple[Decimal | None, Decimal | None]:
    """The ends of an interval of numbers, None where they are not known."""
    low, high = (None if _unknown(end, kind) else _decimal(end) for end in bar)
    return low, high


def _half(exact: Decimal | None, low: Decimal | None, high: Decimal | None) -> Decimal | None:
    """Half the width of an interval; of one with a single end the distance from it, if there is any."""
    if low is not None and high is not None:
        return _EXACT.divide(_EXACT.subtract(high, low), Decimal(2))
    known = high if low is None else low
    return None if exact is None or known is None or known == exact else _EXACT.subtract(exact, known).copy_abs()


def _place(half: Decimal) -> int:
    """The power of ten to round to: that of the first digit of half the width, or of the second if it is 1 or 2."""
    if half <= 0:
        return _FULL
    first = half.adjusted()
    return first - (half.scaleb(-first) < 3)


def _own_place(exact: Decimal) -> int:
    """The place of the last digit of a number without an interval: whole numbers in full, others to six digits.

    Large ones are whole, or have thousandths if they have few digits.
    """
    place = exact.adjusted() - _MOST + 1
    if exact.adjusted() >= _LARGE:
        return place
    if _whole(exact):
        return 0
    return place if place <= 0 else 0 if len(exact.as_tuple().digits) > _FEW else -3


def _whole(exact: Decimal) -> bool:
    return exact == exact.to_integral_value()


def _unknown(end: Any, kind: Kind) -> bool:
    """Whether an end of an interval is infinite, or the first or the last value of its type."""
    return bool(not math.isfinite(end) if isinstance(end, float | np.floating) else kind.typed and kind.is_end(end))


def _decimal(value: Any) -> Decimal:
    """The decimal of the shortest text of a number; a float that is whole has no decimals."""
    if isinstance(value, Decimal):
        return value
    whole = isinstance(value, int | np.integer) or (float(value).is_integer() and abs(value) < 10**_LARGE)
    return Decimal(int(value)) if whole else Decimal(repr(float(value)))


def _rounded(exact: Decimal, place: int, rounding: str) -> Decimal:
    """The nearest multiple of a power of ten; the number itself if it has no digits beyond that place."""
    exponent = exact.as_tuple().exponent
    if not exact or (isinstance(exponent, int) and exponent >= place):
        return exact
    return exact.quantize(Decimal(1).scaleb(place), rounding, _EXACT)


def _within(rounded: Decimal, low: Decimal | None, high: Decimal | None) -> bool:
    return (low is None or low <= rounded) and (high is None or rounded <= high)


def _text(rounded: Decimal) -> str:
    """The text of a rounded number: thousands separators, and an exponent only far from everyday magnitudes."""
    if not rounded:
        return "0"
    if rounded.adjusted() >= _LARGE or rounded.adjusted() <= _SMALL:
        digits = rounded.normalize(_EXACT).as_tuple().digits
        return f"{rounded:.{min(len(digits), _LONGEST) - 1}e}"
    return f"{rounded:,f}"
