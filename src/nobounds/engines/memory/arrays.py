"""Data in memory to a Column: numpy, array.array, pandas and polars, and the choice of engine for the rest.

A library is looked up among the modules already loaded: data of its types cannot exist before it is. So no library is
imported here.
"""

import math
import os
from array import array
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nobounds.engines.column import CHUNK, Column, refuse_frame, refuse_type, windows
from nobounds.engines.loaded import loaded
from nobounds.engines.memory.arrow import from_arrow, speaks_arrow
from nobounds.engines.memory.sequences import from_sequence
from nobounds.engines.memory.temporal import from_moments, from_physical
from nobounds.engines.refusals import raise_alone
from nobounds.kinds.kind import DATE, DATETIME, DURATION, TIME, Kind
from nobounds.kinds.zones import zone_name
from nobounds.ladders.facts import Facts, type_bounds

__all__ = ["CHUNK", "Column", "column"]

_IN_PLACE = 1 << 20
_FILLED = 1 << 18  # records of polars at a time: a call for fewer takes almost as long
_Chunks: TypeAlias = Iterator[NDArray[np.float64]]  # named: functions inside others evaluate their hints at each call
_FIX = "convert it first, for example np.asarray(data, dtype=float) or pd.to_numeric(series, errors='coerce')"


def column(data: object) -> Column:
    """The Column of one column of numbers, of any kind that nobounds knows.

    These are one-dimensional numpy arrays, masked or not, lists, tuples and ranges, array.array, Series of pandas and
    polars, Arrow arrays, and Columns; of any integer, float or boolean type, or of decimals, dates, times or durations.
    Other data raise TypeError, and arrays that are not one-dimensional ValueError, by their type alone.

    >>> column(np.array([3, 1, 2], dtype=np.int16))
    Column(facts=Facts(integral=True, nullable=False))
    """
    if isinstance(data, Column):
        return data
    if isinstance(data, np.ndarray):
        return _from_numpy(data)
    if isinstance(data, list | tuple | range):
        return from_sequence(data)
    if isinstance(data, array):
        return _from_numpy(_from_buffer(data))
    pandas, polars = loaded("pandas"), loaded("polars")
    if pandas is not None and isinstance(data, pandas.Series | pandas.Index | pandas.api.extensions.ExtensionArray):
        return _from_pandas(data, pandas)
    if polars is not None and isinstance(data, polars.Series):
        return _from_polars(data, polars)
    name = type(data).__name__
    if name in {"DataFrame", "LazyFrame", "Table", "RecordBatch"}:
        raise refuse_frame(name)
    if speaks_arrow(data):
        return from_arrow(data)
    fix = "convert it first, for example list(data) or np.asarray(data)"
    if isinstance(data, str | os.PathLike | dict):
        fix = "a file and a dict of columns are tables, for example nb.Table(data).mean('income', epsilon=1)"
    raise TypeError(
        "data must be one column of numbers (a numpy array, list, pandas or polars Series, or pyarrow Array), "
        f"got {name}; {fix}"
    )


def _from_numpy(data: NDArray[Any]) -> Column:
    if data.ndim != 1:
        raise ValueError(f"data must have one dimension, got ndim={data.ndim}; pass one column, for example data[:, 0]")
    if data.dtype.kind in "Mm" and np.datetime_data(data.dtype)[0] != "generic":
        return from_moments(data)
    if data.dtype.kind not in "biuf":
        # The name of the type without its size: the length of the longest string is in the dtype.
        raise refuse_type(f"dtype {data.dtype.type.__name__}", _FIX)
    masked = isinstance(data, np.ma.MaskedArray)
    records: NDArray[Any] = np.ma.getdata(data).view(np.ndarray)

    # Floats are read in place, in chunks as long as a pass likes; others are converted a little at a time.
    in_place = data.dtype == np.float64 and data.flags.c_contiguous and not masked

    def chunks() -> _Chunks:
        for window in windows(len(records), _IN_PLACE if in_place else CHUNK):
            floats = records[window] if in_place else _nearest_floats(records[window], copy=masked)
            if masked:
                floats[np.ma.getmaskarray(data[window])] = np.nan
            floats.flags.writeable = False  # they may be the user's
            yield floats

    return Column(_facts(data.dtype.kind, masked), chunks, rows=lambda: len(records))


@lru_cache(maxsize=16)
def _facts(kind: str, masked: bool) -> Facts:
    """The facts that a kind of numpy types states."""
    stated = type_bounds(boolean=kind == "b", unsigned=kind == "u")
    return Facts(kind != "f", masked or kind == "f", **stated)


def _nearest_floats(records: NDArray[Any], copy: bool = True) -> NDArray[np.float64]:
    with np.errstate(all="ignore"):
        return records.astype(np.float64, order="C", copy=copy)


def _from_buffer(data: "array[Any]") -> NDArray[Any]:
    if data.typecode in "uw":
        raise refuse_type("an array of characters", _FIX)
    return np.asarray(data)


def _from_pandas(data: Any, pandas: Any) -> Column:
    values = data if isinstance(data, pandas.api.extensions.ExtensionArray) else data.array
    dtype = values.dtype
    if isinstance(values, pandas.arrays.NumpyExtensionArray):
        return _from_numpy(values.to_numpy())
    if isinstance(dtype, pandas.ArrowDtype):
        return from_arrow(values.__arrow_array__())
    if isinstance(values, pandas.arrays.DatetimeArray | pandas.arrays.TimedeltaArray):
        return _pandas_moments(values, pandas)
    if not isinstance(values, pandas.arrays.IntegerArray | pandas.arrays.FloatingArray | pandas.arrays.BooleanArray):
        raise refuse_type(f"pandas type {type(dtype).__name__}", _FIX)

    def chunks() -> _Chunks:
        for window in windows(len(values)):
            with np.errstate(all="ignore"):
                floats = values[window].to_numpy(dtype="float64", na_value=np.nan)
            yield np.array(floats, dtype=np.float64)

    stated = type_bounds(boolean=isinstance(values, pandas.arrays.BooleanArray), unsigned=dtype.kind == "u")
    integral = not isinstance(values, pandas.arrays.FloatingArray)
    return Column(Facts(integral, nullable=True, **stated), chunks, rows=lambda: len(values))


def _pandas_moments(values: Any, pandas: Any) -> Column:
    """Datetimes, with a zone or without, and durations: numpy has their moments in UTC."""
    zone = getattr(values.dtype, "tz", None)
    name = None if zone is None else zone_name(zone)
    if zone is not None and name is None:
        raise refuse_type(
            "pandas type DatetimeTZDtype of an unknown zone", "convert it first: series.dt.tz_convert('UTC')"
        )
    moments = values.to_numpy() if zone is None else values.tz_convert("UTC").tz_localize(None).to_numpy()
    return from_moments(moments, None if name is None else Kind("datetime", zone=name))


def _from_polars(data: Any, polars: Any) -> Column:
    dtype = data.dtype
    if dtype == polars.Decimal:
        return from_arrow(data.alias("").to_arrow())
    if dtype.is_temporal():
        return _polars_moments(data, polars)
    integral = dtype.is_integer() or dtype == polars.Boolean
    if not (integral or dtype.is_float() or dtype == polars.Null):
        raise refuse_type(f"polars type {type(dtype).__name__}", "cast it first, for example series.cast(pl.Float64)")

    def chunks() -> _Chunks:
        for window in windows(len(data), _FILLED):
            records = data[window] if dtype == polars.Float64 else data[window].cast(polars.Float64)
            yield (records.fill_null(math.nan) if records.null_count() else records).to_numpy()

    stated = type_bounds(boolean=dtype == polars.Boolean, unsigned=dtype.is_unsigned_integer())
    return Column(Facts(integral, nullable=True, **stated), chunks, rows=lambda: len(data))


def _polars_moments(data: Any, polars: Any) -> Column:
    """Dates, datetimes, times and durations: whole numbers of their units."""
    dtype = data.dtype
    if dtype == polars.Date:
        return from_physical(DATE, "D", len(data), lambda window: _physical(data[window]))
    if dtype == polars.Time:
        return from_physical(TIME, "ns", len(data), lambda window: _physical(data[window]))
    kind = DURATION
    if dtype == polars.Datetime:
        try:
            kind = DATETIME if dtype.time_zone is None else Kind("datetime", zone=dtype.time_zone)
        except ValueError:
            fix = "convert it first, for example series.dt.convert_time_zone('UTC')"
            raise_alone(refuse_type("polars type Datetime of an unknown zone", fix))
    return from_physical(kind, dtype.time_unit, len(data), lambda window: _physical(data[window]))


def _physical(data: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """The whole numbers of some records, and which are missing."""
    numbers = data.to_physical().fill_null(0).to_numpy()
    return numbers.astype(np.int64), data.is_null().to_numpy()
