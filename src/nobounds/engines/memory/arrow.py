"""Arrow data to a Column: pyarrow's arrays, and whatever speaks Arrow's C interface."""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nobounds.engines.column import Column, refuse_frame, refuse_type, windows
from nobounds.engines.memory.arrow_floats import floats_in
from nobounds.engines.refusals import replacing_errors
from nobounds.engines.units import decimal_kind, seconds
from nobounds.kinds.kind import DATE, DURATION, TIME, Kind
from nobounds.ladders.facts import Facts, type_bounds

_DIGITS = {32: 9, 64: 18, 128: 38, 256: 76}  # of decimals by their number of bits


def is_arrow_stream(data: object) -> bool:
    """Whether data may have to be computed before they are read: not a table or a column in memory."""
    if not hasattr(data, "__arrow_c_stream__") or type(data).__module__.split(".")[0] in ("pandas", "polars"):
        return False
    pa = import_pyarrow()
    return not isinstance(data, pa.Table | pa.ChunkedArray | pa.Array | pa.RecordBatch)


def speaks_arrow(data: object) -> bool:
    """Whether an object offers its data by Arrow's C interface (the PyCapsule protocol)."""
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")


def from_arrow(data: Any) -> Column:
    """The Column of a pyarrow Array or ChunkedArray, or of any object for which `speaks_arrow` is true."""
    pa = import_pyarrow()
    if not isinstance(data, pa.Array | pa.ChunkedArray):
        data = in_memory(data)
    facts = facts_of(data.type)

    def chunks() -> Iterator[NDArray[np.float64]]:
        return (to_floats(data[window]) for window in windows(len(data)))

    return Column(facts, chunks, rows=lambda: len(data))


def in_memory(data: Any) -> Any:
    """The pyarrow Array or ChunkedArray of an object for which `speaks_arrow` is true."""
    pa, failed = import_pyarrow(), "the Arrow data could not be read; make a table first, for example pa.table(data)"
    with replacing_errors(lambda: ValueError(failed)):  # a stream may be a query, which may fail on a record
        return pa.chunked_array(data) if hasattr(data, "__arrow_c_stream__") else pa.array(data)


def facts_of(kind: Any, *, nullable: bool = True) -> Facts:
    """The public facts of a column of an Arrow type; TypeError if it is no type of numbers, dates or times.

    nullable: whether a record can be missing; floats always can be.
    """
    types = import_pyarrow().types
    if types.is_struct(kind):
        raise refuse_frame("table")
    if types.is_integer(kind) or types.is_boolean(kind):
        bounds = type_bounds(boolean=types.is_boolean(kind), unsigned=types.is_unsigned_integer(kind))
        return Facts(integral=True, nullable=nullable, **bounds)
    if types.is_floating(kind) or types.is_null(kind):
        return Facts(integral=False, nullable=True)
    known = kind_of(kind)
    if known is not None:
        return Facts.of(known, nullable=nullable)
    # The first word alone: the rest of a type's text can reveal data, like the digits that decimals need.
    name = re.split(r"\W", str(kind), maxsplit=1)[0]
    raise refuse_type(f"Arrow type {name}", "cast it first, for example column.cast('float64')")


def kind_of(kind: Any) -> Kind | None:
    """The kind of an Arrow type of decimals, dates, times or durations; None for another, or for an unknown zone."""
    types = import_pyarrow().types
    if is_decimal(kind):
        return decimal_kind(kind.precision, kind.scale)
    if types.is_timestamp(kind):
        try:
            return Kind("datetime", zone=kind.tz)
        except ValueError:
            return None
    families = ((types.is_date, DATE), (types.is_time, TIME), (types.is_duration, DURATION))
    return next((known for family, known in families if family(kind)), None)


def is_decimal(kind: Any) -> bool:
    """Whether an Arrow type is one of decimals that Arrow can write as text: not if its scale is beyond its digits."""
    return bool(import_pyarrow().types.is_decimal(kind)) and abs(kind.scale) <= _DIGITS[kind.bit_width]


def to_floats(records: Any) -> NDArray[np.float64]:
    """The number of each record of a short Arrow array as a float64, NaN for the nulls; may be the data themselves."""
    pa = import_pyarrow()
    types, kind = pa.types, records.type
    if types.is_decimal(kind):
        records = records.cast("string")  # Arrow's own cast from decimals to floats is sometimes off by a bit
    elif types.is_temporal(kind):
        return _temporal(records, kind, pa)
    return floats_in(records if types.is_float64(records.type) else records.cast("float64", safe=False))


def _temporal(records: Any, kind: Any, pa: Any) -> NDArray[np.float64]:
    """Days of dates, and seconds of datetimes, times and durations."""
    if isinstance(records, pa.ChunkedArray):
        records = records.combine_chunks()
    whole = records.view("int32") if pa.types.is_date32(kind) or pa.types.is_time32(kind) else records.view("int64")
    missing = np.asarray(records.is_null())
    numbers = np.asarray(whole.fill_null(0), dtype=np.int64)
    if pa.types.is_date32(kind):
        floats = numbers.astype(np.float64)
    elif pa.types.is_date64(kind):
        floats = np.floor_divide(numbers, 86_400_000).astype(np.float64)
    else:
        floats = seconds(numbers, kind.unit)
    floats[missing] = np.nan
    return floats


def import_pyarrow() -> Any:
    """The pyarrow module, imported now; ImportError with the fix if it is not installed."""
    try:
        import pyarrow
    except ImportError:
        raise ImportError("Arrow and Parquet data need pyarrow: pip install 'nobounds[all]'") from None
    return pyarrow
