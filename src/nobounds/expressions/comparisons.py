"""Which of two values is greater, exactly: integers beside floats, decimals of any scale, instants of any unit.

Text is compared by its UTF-8 bytes, which is the order of code points. A decimal beside a float64 is first rounded to
the nearest float64, as statistics do.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nobounds.expressions.types import NUMBER
from nobounds.expressions.values import UNITS, Values

Signs = NDArray[np.int8]

_A_DAY = 86_400


def signs(a: Values, b: Values) -> Signs:
    """1 where `a` is greater, -1 where `b` is, and 0 where they are equal; anything where one of them is null."""
    names = {a.type.name, b.type.name}
    if "null" in names:
        return np.zeros(len(a.valid), dtype=np.int8)
    if names <= {"integer", "number", "decimal"}:
        return _numeric(a, b)
    if names == {"text"}:
        return _arrow(a.data, b.data)
    if names <= {"date", "datetime", "duration"} and names != {"date"}:
        return _instants(a, b)
    return _of(a.data, b.data)


def equal(a: Values, b: Values) -> NDArray[np.bool_]:
    """Where two values are equal."""
    return np.asarray(signs(a, b) == 0)


def to_floats(values: Values) -> NDArray[np.float64]:
    """The float64 nearest to each integer, number, boolean or decimal."""
    if values.type.name != "decimal":
        return np.asarray(values.data, dtype=np.float64)
    # By their texts: Arrow's own cast from decimals to floats is sometimes off by a bit.
    floats = values.data.cast("string").cast("float64").fill_null(0)
    return np.asarray(floats.to_numpy(zero_copy_only=False), dtype=np.float64)


def _numeric(a: Values, b: Values) -> Signs:
    match a.type.name, b.type.name:
        case ("integer", "integer") | ("number", "number"):
            return _of(a.data, b.data)
        case ("integer", "number"):
            return _integer_and_float(a.data, b.data)
        case ("number", "integer"):
            return -_integer_and_float(b.data, a.data)
    if NUMBER in (a.type, b.type):
        return _of(to_floats(a), to_floats(b))
    scale = max(a.type.scale, b.type.scale)
    return _arrow(_wide(a, scale), _wide(b, scale))


def _wide(values: Values, scale: int) -> Any:
    """Integers or decimals as decimals that hold all digits of both sides."""
    import pyarrow as pa

    array = pa.array(values.data) if values.type.name == "integer" else values.data
    return array.cast(pa.decimal256(76, scale))


def _of(a: NDArray[Any], b: NDArray[Any]) -> Signs:
    return (a > b).astype(np.int8) - (a < b).astype(np.int8)


def _arrow(a: Any, b: Any) -> Signs:
    import pyarrow.compute as pc

    above, below = (
        compare(a, b).fill_null(False).to_numpy(zero_copy_only=False).astype(np.int8)
        for compare in (pc.greater, pc.less)
    )
    return np.asarray(above - below)


def _integer_and_float(whole: NDArray[np.int64], floats: NDArray[np.float64]) -> Signs:
    """By the integers below the floats and what is left: an integer beyond 2**53 is not rounded."""
    low, high = floats < -(2.0**63), floats >= 2.0**63
    inside = np.where(low | high, 0.0, floats)
    below = np.floor(inside)
    exact = _of(whole, below.astype(np.int64))
    signs = np.where((exact == 0) & (inside > below), np.int8(-1), exact)
    return np.asarray(np.where(low, np.int8(1), np.where(high, np.int8(-1), signs)))


def _instants(a: Values, b: Values) -> Signs:
    (first, first_rest), (second, second_rest) = seconds(a), seconds(b)
    whole = _of(first, second)
    return np.asarray(np.where(whole == 0, _of(first_rest, second_rest), whole))


def seconds(values: Values) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Whole seconds of dates, datetimes or durations, and the nanoseconds after them."""
    if values.type.name == "date":
        return values.data * _A_DAY, np.zeros(len(values.data), dtype=np.int64)
    unit = UNITS[values.type.unit]
    whole = values.data // unit
    return whole, (values.data - whole * unit) * (UNITS["ns"] // unit)
