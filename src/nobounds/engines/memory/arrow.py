"""Arrow data to a Column: pyarrow's arrays, and whatever speaks Arrow's C interface."""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nobounds.engines.column import Column, refuse_frame, refuse_type, windows
from nobounds.engines.refusals import replacing_errors
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
    integral = is_integral(data.type)

    def chunks() -> Iterator[NDArray[np.float64]]:
        return (to_floats(data[window]) for window in windows(len(data)))

    return Column(Facts(integral, nullable=True, **stated_bounds(data.type)), chunks, rows=lambda: len(data))


def in_memory(data: Any) -> Any:
    """The pyarrow Array or ChunkedArray of an object for which `speaks_arrow` is true."""
    pa, failed = import_pyarrow(), "the Arrow data could not be read; make a table first, for example pa.table(data)"
    with replacing_errors(lambda: ValueError(failed)):  # a stream may be a query, which may fail on a record
        return pa.chunked_array(data) if hasattr(data, "__arrow_c_stream__") else pa.array(data)


def is_integral(kind: Any) -> bool:
    """Whether an Arrow type is an integer or boolean type; TypeError if it is no type of real numbers."""
    types = import_pyarrow().types
    if types.is_struct(kind):
        raise refuse_frame("table")
    if types.is_integer(kind) or types.is_boolean(kind):
        return True
    if types.is_floating(kind) or types.is_null(kind):
        return False
    # The first word alone: the rest of a type's text can reveal data, like the digits that decimals need.
    name = re.split(r"\W", str(kind), maxsplit=1)[0]
    raise refuse_type(f"Arrow type {name}", "cast it first, for example column.cast('float64')")


def is_decimal(kind: Any) -> bool:
    """Whether an Arrow type is one of decimals that Arrow can write as text: not if its scale is beyond its digits."""
    return bool(import_pyarrow().types.is_decimal(kind)) and abs(kind.scale) <= _DIGITS[kind.bit_width]


def stated_bounds(kind: Any) -> dict[str, Any]:
    """The bounds that an Arrow type states."""
    types = import_pyarrow().types
    return type_bounds(boolean=types.is_boolean(kind), unsigned=types.is_unsigned_integer(kind))


def to_floats(records: Any) -> NDArray[np.float64]:
    """The float64 nearest to each record of a short Arrow array, NaN for the nulls."""
    if import_pyarrow().types.is_decimal(records.type):
        records = records.cast("string")  # Arrow's own cast from decimals to floats is sometimes off by a bit
    floats = records.cast("float64", safe=False)
    return np.array(floats.to_numpy(zero_copy_only=False), dtype=np.float64)


def import_pyarrow() -> Any:
    """The pyarrow module, imported now; ImportError with the fix if it is not installed."""
    try:
        import pyarrow
    except ImportError:
        raise ImportError("Arrow and Parquet data need pyarrow: pip install 'nobounds[all]'") from None
    return pyarrow
