"""Columns in memory without a type of values: objects and texts, read as the type that the user states.

No fact about the elements is public, so none of them can be refused: an element that is no value of the type is a
missing record. What an element becomes depends on that element alone.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nobounds.engines.column import Column, windows
from nobounds.engines.loaded import loaded
from nobounds.engines.memory.arrow import import_pyarrow
from nobounds.engines.memory.sequences import nearest_float
from nobounds.engines.units import seconds
from nobounds.exact import rational
from nobounds.kinds.kind import DATE, DATETIME, DURATION, Kind
from nobounds.ladders.facts import Facts

_LARGEST = (1 << 63) - 1
_EPOCH, _START, _MICRO = date(1970, 1, 1).toordinal(), datetime(1970, 1, 1), timedelta(microseconds=1)
_TRUTHS = {"true": 1.0, "false": 0.0}


def declared_kinds(schema: Mapping[str, str] | None, names: Sequence[str]) -> dict[str, Kind]:
    """The types that a schema states for columns in memory; ValueError for an unknown column or type."""
    if schema is None:
        return {}
    if not isinstance(schema, Mapping):
        example = "{'born': 'date', 'paid': 'decimal(12,2)'}"
        raise TypeError(f"schema must map names to types, for example {example}, got {type(schema).__name__}")
    for name in schema:
        if name not in names:
            raise ValueError(f"column {name!r} of the schema is not in the table")
    return {name: Kind.parse(str(kind)) for name, kind in schema.items()}


def declared_column(name: str, data: Any, kind: Kind) -> Column:
    """The Column of objects or texts as values of a type; TypeError if the container has a type of its own."""
    elements = _elements(data)
    if elements is None:
        raise TypeError(
            f"column {name!r} has a type of its own, so a schema cannot state one; leave it out of the schema, "
            "or cast the column"
        )
    read, length = _reader(kind), len(data)

    def chunks() -> Iterator[NDArray[np.float64]]:
        return (read(elements(window)) for window in windows(length))

    return Column(Facts.of(kind), chunks, rows=lambda: length)


def _elements(data: Any) -> Callable[[slice], list[Any]] | None:
    """How some elements become a list; None if the container has a type of values."""
    pandas, polars, pa = loaded("pandas"), loaded("polars"), loaded("pyarrow")
    if isinstance(data, list | tuple):
        return lambda window: list(data[window])
    if isinstance(data, np.ndarray):
        if data.dtype.kind not in "OUT":
            return None
        return lambda window: (
            np.ma.filled(data[window], None).tolist() if data.dtype.kind == "O" else _texts(data, window)
        )
    if pandas is not None and isinstance(data, pandas.Series | pandas.Index | pandas.api.extensions.ExtensionArray):
        values = data if isinstance(data, pandas.api.extensions.ExtensionArray) else data.array
        if isinstance(values, pandas.arrays.NumpyExtensionArray):
            return _elements(values.to_numpy())
        untyped = isinstance(values.dtype, pandas.StringDtype | pandas.CategoricalDtype)
        return (lambda window: values[window].tolist()) if untyped else None
    if polars is not None and isinstance(data, polars.Series):
        untyped = data.dtype in (polars.Object, polars.String, polars.Categorical)
        return (lambda window: data[window].to_list()) if untyped else None
    if pa is not None and isinstance(data, pa.Array | pa.ChunkedArray):
        types = import_pyarrow().types
        text = any(is_text(data.type) for is_text in (types.is_string, types.is_large_string, types.is_string_view))
        return (lambda window: data[window].to_pylist()) if text else None
    return None


def _texts(data: NDArray[Any], window: slice) -> list[Any]:
    part = data[window]
    missing = np.ma.getmaskarray(part)
    return [None if gone else text for text, gone in zip(np.ma.getdata(part).tolist(), missing.tolist(), strict=True)]


def _reader(kind: Kind) -> Callable[[list[Any]], NDArray[np.float64]]:
    """How elements become the numbers of a type, NaN where one is no value of it."""
    one = {"number": nearest_float, "integer": _whole, "boolean": _truth}.get(kind.name)
    if kind.name == "decimal":
        one = _decimal(kind)
    if one is not None:
        each = one
        return lambda elements: np.fromiter(map(each, elements), dtype=np.float64, count=len(elements))

    def moments(elements: list[Any]) -> NDArray[np.float64]:
        steps = [_moment(element, kind) for element in elements]
        missing = np.array([step is None for step in steps], dtype=bool)
        whole = np.array([0 if step is None else min(max(step, -_LARGEST), _LARGEST) for step in steps], dtype=np.int64)
        floats = whole.astype(np.float64) if kind.name == "date" else seconds(whole, "us")
        floats[missing] = np.nan
        return floats

    return moments


def _moment(element: Any, kind: Kind) -> int | None:
    """The days of a date, or the microseconds of another element; None if it is no value of the type."""
    try:
        if type(element) is timedelta and kind == DURATION:
            return element // _MICRO
        if type(element) is date and kind == DATE:
            return element.toordinal() - _EPOCH
        if type(element) is datetime and kind == DATETIME and element.tzinfo is None:
            return (element - _START) // _MICRO
        number = kind.record(element)
        return None if number is None else round(number * (1 if kind.name == "date" else 10**6))
    except Exception:  # a foreign object may raise anything, and what it raises would depend on the record
        return None


def _whole(element: Any) -> float:
    number = nearest_float(element)
    return number if number.is_integer() else math.nan


def _truth(element: Any) -> float:
    if type(element) in (bool, np.bool_):
        return float(element)
    return _TRUTHS.get(str(element).strip().lower(), math.nan) if type(element) in (str, np.str_) else math.nan


def _decimal(kind: Kind) -> Callable[[Any], float]:
    """Numbers and their texts that have no more digits than the type."""
    most, whole = kind.upper, Decimal(10 ** (kind.precision - kind.scale))
    assert most is not None

    def read(element: Any) -> float:
        try:
            if type(element) is Decimal and element.is_finite() and int(element.as_tuple().exponent) >= -kind.scale:
                return float(element) if element.copy_abs() < whole else math.nan
            if isinstance(element, bool | np.bool_) or not isinstance(element, Real | Decimal | str):
                return math.nan
            if math.isnan(number := nearest_float(element)) or math.isinf(number):
                return math.nan
            exact = rational(element.strip() if isinstance(element, str) else element, "record")
            return number if abs(exact) <= most and (exact * 10**kind.scale).denominator == 1 else math.nan
        except Exception:  # as above
            return math.nan

    return read
