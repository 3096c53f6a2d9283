"""Casts that never fail: what has no form in the new type is null.

A text is a number as in a CSV file: a decimal number in ASCII, spaces around it ignored. A date is year-month-day.
"""

import math
import re
from collections.abc import Callable
from datetime import date
from typing import Any

import numpy as np

from nobounds.expressions.comparisons import to_floats
from nobounds.expressions.types import DATE, INTEGER, NUMBER, TEXT
from nobounds.expressions.values import UNITS, Values, nulls, to_array

_WHOLE = re.compile(r"\s*[+-]?[0-9]+\s*", re.ASCII)
_DAY = re.compile(r"\s*[0-9]{4}-[0-9]{2}-[0-9]{2}\s*", re.ASCII)
_LONGEST = 400  # characters of a number
_EPOCH = date(1970, 1, 1).toordinal()
_TYPES = {"number": NUMBER, "integer": INTEGER, "text": TEXT, "date": DATE}


def cast(values: Values, to: str) -> Values:
    """The values as number, integer, text or date."""
    kind = _TYPES[to]
    if values.type == kind:
        return values
    if values.type.name == "null":
        return nulls(kind, len(values.valid))
    if to == "text":
        return Values(TEXT, to_array(values).cast("string").cast("large_string"), values.valid)
    if values.type == TEXT:
        return _parsed(values, to)
    if to == "date":  # of datetimes without a zone
        return Values(DATE, values.data // (UNITS[values.type.unit] * 86_400), values.valid)
    if to == "integer":  # of booleans
        return Values(INTEGER, values.data.astype(np.int64), values.valid)
    return Values(NUMBER, to_floats(values), values.valid)


def _parsed(values: Values, to: str) -> Values:
    """Each distinct text is read once."""
    encoded = values.data.dictionary_encode()
    read: Callable[[str], Any] = {"number": as_number, "integer": as_integer, "date": as_day}[to]
    parsed = [read(each) for each in encoded.dictionary.to_pylist()]
    known = np.array([each is not None for each in [*parsed, None]], dtype=bool)
    kind = np.float64 if to == "number" else np.int64
    data = np.array([0 if each is None else each for each in [*parsed, None]], dtype=kind)
    places = encoded.indices.fill_null(len(parsed)).to_numpy(zero_copy_only=False)
    return Values(_TYPES[to], data[places], known[places])


def as_number(text: str) -> float | None:
    """The float64 nearest to a decimal number; None for any other text.

    >>> as_number(" 1e-3 "), as_number("1_000"), as_number("nan"), as_number("12 apples")
    (0.001, None, None, None)
    """
    if "_" in text or not text.isascii() or len(text) > _LONGEST:
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return None if math.isnan(number) else number


def as_integer(text: str) -> int | None:
    """A whole number of 64 bits.

    >>> as_integer(" -12"), as_integer("12.0"), as_integer("9" * 19)
    (-12, None, None)
    """
    if len(text) > _LONGEST or not _WHOLE.fullmatch(text):
        return None
    number = int(text)
    return number if -(1 << 63) <= number < 1 << 63 else None


def as_day(text: str) -> int | None:
    """The number of days since 1970 of a date.

    >>> as_day("1970-01-02"), as_day("2024-02-30"), as_day("2.1.1970")
    (1, None, None)
    """
    if not _DAY.fullmatch(text):
        return None
    try:
        return date.fromisoformat(text.strip()).toordinal() - _EPOCH
    except ValueError:
        return None
