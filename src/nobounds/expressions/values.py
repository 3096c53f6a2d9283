"""The values of an expression for some rows: an array of a plain form for each type, and which of them are not null.

Booleans, integers and numbers are numpy arrays. Dates are days, times nanoseconds, and datetimes and durations whole
numbers in their unit, all since 1970 or midnight, as int64. Text and decimals are Arrow arrays. NaN is null.
"""

from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nobounds.expressions.types import Type, to_arrow
from nobounds.values import dataclass

Mask = NDArray[np.bool_]

UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
"""How many of a unit of time are a second."""

_EPOCH = date(1970, 1, 1).toordinal()
_IN_ARROW = ("text", "decimal")


@dataclass(frozen=True, slots=True)
class Values:
    """The values of some rows; what `data` has where `valid` is False means nothing. Sensitive: its repr hides them."""

    type: Type
    data: Any
    valid: Mask

    def __repr__(self) -> str:
        return f"Values({self.type})"


def nulls(kind: Type, rows: int) -> Values:
    """Nulls for each of these rows."""
    import pyarrow as pa

    none = np.zeros(rows, dtype=bool)
    return Values(kind, pa.nulls(rows, to_arrow(kind)) if kind.name in _IN_ARROW else np.zeros(rows), none)


def from_arrow(array: Any, kind: Type) -> Values:
    """The values of an Arrow array, whose type is one that `types.of_arrow` maps to this type."""
    import pyarrow as pa

    if pa.types.is_null(array.type):
        return nulls(kind, len(array))
    valid = np.asarray(array.is_valid().to_numpy(zero_copy_only=False), dtype=bool)
    match kind.name:
        case "text":
            return Values(kind, array.cast(to_arrow(kind)), valid)
        case "decimal":
            kept = _kept(array, kind)
            return Values(kind, kept, np.asarray(kept.is_valid().to_numpy(zero_copy_only=False), dtype=bool))
        case "boolean":
            return Values(kind, np.asarray(array.fill_null(False).to_numpy(zero_copy_only=False), dtype=bool), valid)
        case "number":
            floats = np.array(array.cast(pa.float64(), safe=False).fill_null(0).to_numpy(), dtype=np.float64)
            missing = np.isnan(floats)
            return Values(kind, np.where(missing, 0.0, floats), valid & ~missing)
        case "other":
            return Values(kind, None, valid)
        case _:
            return Values(kind, _whole(array), valid)


def _kept(array: Any, kind: Type) -> Any:
    """Decimals, null where they have more digits than their type declares, which Arrow does not check.

    DuckDB hands over a HUGEINT, of up to 39 digits, as a decimal of 38, and no comparison holds more than 76.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_decimal(array.type):
        return array.cast(to_arrow(kind))
    narrow, wide = pa.decimal128(38, 0), pa.decimal256(76, 0)
    held = {32: pa.int32(), 64: pa.int64(), 128: narrow, 256: wide}[array.type.bit_width]
    digits = array.view(held).cast(wide)
    high, low = (pa.scalar(Decimal((sign, (1,), kind.precision)), wide) for sign in (0, 1))
    kept = pc.if_else(pc.and_(pc.less(digits, high), pc.greater(digits, low)), digits, None)
    return kept.cast(narrow).view(to_arrow(kind))


def _whole(array: Any) -> NDArray[np.int64]:
    """Integers, dates and times as whole numbers."""
    import pyarrow as pa

    types = pa.types
    kind = array.type
    narrow = types.is_date32(kind) or types.is_time32(kind)
    whole = array if types.is_integer(kind) else array.view(pa.int32() if narrow else pa.int64())
    numbers = np.array(whole.cast(pa.int64()).fill_null(0).to_numpy(), dtype=np.int64)
    if types.is_date64(kind):
        return numbers // 86_400_000
    return numbers * (UNITS["ns"] // UNITS[kind.unit]) if types.is_time(kind) else numbers


def to_array(values: Values) -> Any:
    """The values as an Arrow array of the type `types.to_arrow`."""
    import pyarrow as pa

    kind = to_arrow(values.type)
    if values.type.name in _IN_ARROW:
        return values.data if values.data.null_count == int((~values.valid).sum()) else _masked(values)
    if values.type.name in ("boolean", "integer", "number"):
        return pa.array(values.data.astype(kind.to_pandas_dtype(), copy=False), type=kind, mask=~values.valid)
    if values.type.name == "null":
        return pa.nulls(len(values.valid))
    whole = values.data.astype(np.int32 if values.type.name == "date" else np.int64)
    return pa.array(whole, mask=~values.valid).view(kind)


def _masked(values: Values) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.if_else(pa.array(values.valid), values.data, pa.scalar(None, type=values.data.type))


def constant(value: object, kind: Type, rows: int) -> Values:
    """The same constant in each row."""
    import pyarrow as pa

    if value is None:
        return nulls(kind, rows)
    valid = np.ones(rows, dtype=bool)
    if kind.name in _IN_ARROW:
        exact = Decimal(value) if isinstance(value, int) else value
        return Values(kind, pa.repeat(pa.scalar(exact, type=to_arrow(kind)), rows), valid)
    return Values(kind, np.full(rows, _plain(value, kind)), valid)


def _plain(value: object, kind: Type) -> bool | int | float:
    """A constant in the plain form of its type."""
    match value:
        case datetime():
            return microseconds(value)
        case date():
            return value.toordinal() - _EPOCH
        case time():
            seconds = (value.hour * 60 + value.minute) * 60 + value.second
            return seconds * UNITS["ns"] + value.microsecond * 1000
        case Decimal():
            return float(value)
        case bool() | int() | float():
            return float(value) if kind.name == "number" else value
        case _:
            raise TypeError(f"an expression has no constants of type {type(value).__name__}")


def microseconds(given: datetime) -> int:
    """Microseconds since 1970, in UTC if there is a zone."""
    since = given - datetime(1970, 1, 1, tzinfo=given.tzinfo)
    if given.tzinfo is not None:
        offset = given.utcoffset()
        assert offset is not None
        since -= offset
    return (since.days * 86_400 + since.seconds) * 10**6 + since.microseconds
