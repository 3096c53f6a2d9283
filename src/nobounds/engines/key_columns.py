"""Columns in memory as keys and units: Arrow arrays whose type follows from the declared type of the column alone.

A type inferred from records is itself sensitive: one missing id would turn integers into floats, and ids beyond 2**53
would become equal. So the type is always the one that the container declares, never that of a numpy array of its
choice.

Lists and object columns declare no type, and their elements are read as text. So are the categories of a pandas
Categorical: pandas infers them from the records, and one odd record turns an integer type into objects. Equal numbers
have one text, whatever their type: 7, 7.0 and Decimal("7.00") are "7", and True is "1", because pandas makes one
category of them. The categories of polars are text, and the values of an Arrow dictionary have a declared type: both
stay unchanged.
"""

from array import array
from collections.abc import Iterable
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nobounds.engines.keys import plain, text_of
from nobounds.engines.loaded import loaded
from nobounds.engines.memory.arrow import import_pyarrow
from nobounds.engines.memory.sequences import nearest_float

_LONGS = range(-(1 << 63), 1 << 63)
_DAYS = np.iinfo(np.int32)  # the range of an Arrow date


def key_type(given: Any) -> Any:
    """The Arrow type of a column as keys, or None if it cannot hold keys; reads no record."""
    pandas = loaded("pandas")
    labeled = pandas is not None and isinstance(given, pandas.Series)
    try:
        return key_array(given.iloc[:0] if labeled else given[:0]).type
    except Exception:  # a type that Arrow does not have
        return None


def key_array(given: Any) -> Any:
    """A column of keys as an Arrow array, in the canonical form of `keys.plain`; TypeError by the declared type."""
    pa = import_pyarrow()
    pandas, polars = loaded("pandas"), loaded("polars")
    if isinstance(given, pa.Array | pa.ChunkedArray):
        return plain(given)
    if isinstance(given, list | tuple):
        return _texts(map(_text, given))
    if isinstance(given, range):
        return _whole_numbers(given)
    if isinstance(given, np.ndarray | array):
        return _from_numpy(given if isinstance(given, np.ma.MaskedArray) else np.asarray(given))
    if pandas is not None and isinstance(given, pandas.Series | pandas.Index | pandas.api.extensions.ExtensionArray):
        return _from_pandas(given, pandas)
    if polars is not None and isinstance(given, polars.Series):
        return _from_polars(given, polars)
    raise TypeError(f"keys must be a column in memory, got {type(given).__name__}")


def _from_numpy(given: NDArray[Any]) -> Any:
    missing = np.ma.getmaskarray(given) if isinstance(given, np.ma.MaskedArray) else None
    records: NDArray[Any] = np.ma.getdata(given)
    if records.dtype.kind in "OUT":  # numpy's text may have code points that are invalid elsewhere
        elements = records.tolist()
        if missing is not None:
            elements = [None if m else e for e, m in zip(elements, missing, strict=True)]
        return _texts(map(_text, elements))
    if records.dtype.kind == "M" and np.datetime_data(records.dtype)[1] != 1:
        raise TypeError("keys must have a plain unit of time")  # Arrow would treat steps of two days as days
    if records.dtype.kind == "M" and np.datetime_data(records.dtype)[0] == "D":
        days = records.astype(np.int64)
        outside = (days < _DAYS.min) | (days > _DAYS.max)  # Arrow would truncate them to other days
        missing = outside if missing is None else missing | outside
    records = records.astype(records.dtype.newbyteorder("="), copy=False)
    return plain(import_pyarrow().array(records, mask=missing))


def _from_pandas(given: Any, pandas: Any) -> Any:
    pa = import_pyarrow()
    values = given if isinstance(given, pandas.api.extensions.ExtensionArray) else given.array
    dtype = values.dtype
    if isinstance(values, pandas.arrays.NumpyExtensionArray) or isinstance(dtype, np.dtype):
        return _from_numpy(values.to_numpy())
    if isinstance(dtype, pandas.CategoricalDtype):
        return _from_categories(values)
    if isinstance(dtype, pandas.StringDtype) and dtype.storage == "python":
        return _texts(map(_text, values.tolist()))
    typed = (pandas.StringDtype, pandas.ArrowDtype, pandas.DatetimeTZDtype)
    numbers = (pandas.arrays.IntegerArray, pandas.arrays.FloatingArray, pandas.arrays.BooleanArray)
    if not isinstance(dtype, typed) and not isinstance(values, numbers):
        # Sparse, period and interval columns, and those of other libraries: their Arrow type may depend on records.
        raise TypeError(f"keys of pandas type {type(dtype).__name__} are not known")
    arrow_array = pa.array(values)
    return plain(arrow_array.combine_chunks() if isinstance(arrow_array, pa.ChunkedArray) else arrow_array)


def _from_categories(values: Any) -> Any:
    pa = import_pyarrow()
    codes = np.asarray(values.codes, dtype=np.int64)
    texts = _texts(_category(category) for category in values.categories)
    return texts.take(pa.array(codes, mask=codes < 0))


def _from_polars(given: Any, polars: Any) -> Any:
    if given.dtype == polars.Object:  # Arrow would get memory addresses
        return _texts(map(_text, given.to_list()))
    return plain(given.alias("").to_arrow())  # Arrow refuses names with a NUL


def _whole_numbers(given: range) -> Any:
    pa = import_pyarrow()
    if not given or (given[0] in _LONGS and given[-1] in _LONGS):
        return pa.array(np.asarray(given, dtype=np.int64))
    return pa.array([element if element in _LONGS else None for element in given], type=pa.int64())


def _texts(texts: Iterable[str | None]) -> Any:
    pa = import_pyarrow()
    return pa.array(list(texts), type=pa.large_string())


def _text(element: Any) -> str | None:
    """The text of an element; None, NaN and elements without a text are missing."""
    try:
        if element is None or element != element:
            return None
        return text_of(str(element).encode("utf-8", "surrogatepass"))
    except Exception:  # the error of a foreign object would depend on the record
        return None


def _category(category: Any) -> str | None:
    """The text of a category, the same for equal categories: pandas keeps the first of these for all rows.

    >>> [_category(x) for x in (7, 7.0, np.int8(7), Decimal("7.00"), True, 0.5, Decimal("0.50"), "7", "07")]
    ['7', '7', '7', '7', '1', '0.5', '0.5', '7', '07']
    """
    try:
        if isinstance(category, complex | np.complexfloating) and category.imag == 0:
            category = category.real
        if isinstance(category, Real | Decimal | np.bool_) and not isinstance(category, np.timedelta64):
            whole = _whole(category)
            category = whole if whole == category else nearest_float(category)
    except Exception:  # the error of a foreign number would depend on the record
        return None
    return _text(str.__str__(category) if isinstance(category, str) else category)


def _whole(number: Any) -> int | None:
    try:
        return int(number)
    except (OverflowError, ValueError):  # infinity and NaN
        return None
