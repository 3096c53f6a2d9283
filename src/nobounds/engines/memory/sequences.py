"""Python lists and tuples, whose elements have no common type, to a Column.

No fact about the elements is public, so none of them can be refused. A rule like "a list of nothing but text is
refused" would reveal a record: with one number more the list is answered. So each element is read by itself, and one
that is not a real number (None, a complex number, a list) is a missing record.

Text is read as the text of a CSV file is: "12" is 12, and "12 apples" is missing. So a list of numbers that were never
converted has the right mean, and not one of no records at all. Data whose type says text (numpy's str, Series and Arrow
arrays of text) are refused, because their type is public.
"""

import math
from collections.abc import Iterator, Sequence
from decimal import Decimal
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from nobounds.engines.column import Column, windows
from nobounds.engines.numbers import parse_number
from nobounds.ladders.facts import Facts

_PLAIN = frozenset({bool, int, float})


def from_sequence(data: Sequence[object]) -> Column:
    """The Column of a list or a tuple, or of a range, which can hold integers only."""
    always_int = isinstance(data, range)

    def chunks() -> Iterator[NDArray[np.float64]]:
        return (_convert(data[window]) for window in windows(len(data)))

    return Column(Facts(integral=always_int, nullable=not always_int), chunks, rows=lambda: len(data))


def nearest_float(record: object) -> float:
    """The float64 nearest to a record, an infinity if it is too large, NaN if it is not a real number or its text.

    >>> nearest_float(2**53 + 1), nearest_float(-(10**400)), nearest_float(" 3 "), nearest_float("three")
    (9007199254740992.0, -inf, 3.0, nan)
    """
    try:
        if isinstance(record, str):
            return parse_number(str.__str__(record))
        # numpy counts its spans of time among the integers; they have a unit, so they are not numbers here.
        if not isinstance(record, Real | Decimal | np.bool_) or isinstance(record, np.timedelta64):
            return math.nan
        try:
            return float(record)
        except OverflowError:
            return -math.inf if record < 0 else math.inf
    except Exception:  # a foreign number type may raise anything, and what it raises would depend on the record
        return math.nan


def _convert(records: Sequence[object]) -> NDArray[np.float64]:
    # numpy would read numbers out of strings and nested lists, so it may see only Python's own numbers.
    if _PLAIN.issuperset(map(type, records)):
        try:
            return np.array(records, dtype=np.float64)
        except OverflowError:
            pass
    with np.errstate(all="ignore"):
        return np.fromiter(map(nearest_float, records), dtype=np.float64, count=len(records))
