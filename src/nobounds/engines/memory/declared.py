"""Columns in memory without a type of values: objects and texts, read as the type that the user states.

No fact about the elements is public, so none of them can be refused: an element that is no value of the type is a
missing record. What an element becomes depends on that element alone; texts are read as in a file.
"""

import math
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nobounds.engines.column import Column, windows
from nobounds.engines.csv.fields import FieldReader
from nobounds.engines.key_columns import key_array
from nobounds.engines.keys import text_of
from nobounds.engines.loaded import loaded
from nobounds.engines.memory.arrow import import_pyarrow
from nobounds.engines.memory.sequences import nearest_float
from nobounds.engines.schemas.rules import ColumnRule
from nobounds.engines.schemas.schema import Schema, SchemaLike
from nobounds.engines.schemas.texts import TypedReader
from nobounds.engines.units import seconds
from nobounds.exact import rational
from nobounds.kinds.kind import DATE, DATETIME, DURATION, Kind
from nobounds.ladders.facts import Facts

_LARGEST = (1 << 63) - 1
_EPOCH, _START, _MICRO = date(1970, 1, 1).toordinal(), datetime(1970, 1, 1), timedelta(microseconds=1)


def stated_columns(named: list[tuple[str, Any]], schema: SchemaLike | None) -> list[tuple[str, Any]]:
    """The columns of a table, those that a schema states as Columns; an error for an unknown column or type."""
    rules = Schema.of(schema).columns
    for name in rules:
        if name not in dict(named):
            raise ValueError(f"column {name!r} of the schema is not in the table")
    return [(name, given if name not in rules else _stated(name, given, rules[name])) for name, given in named]


def _stated(name: str, data: Any, rule: ColumnRule) -> Any:
    """Objects or texts as values of a type, a Column; TypeError if their container has a type of its own."""
    elements, kind = _elements(data), rule.kind
    if kind is None:
        return key_array(data) if rule.type == "text" else data
    if elements is None:
        raise TypeError(
            f"column {name!r} has a type of its own, so a schema cannot state one; leave it out of the schema, "
            "or cast the column"
        )
    read, length = _reader(kind, TypedReader.of(rule, FieldReader())), len(data)

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


def _reader(kind: Kind, texts: TypedReader) -> Callable[[list[Any]], NDArray[np.float64]]:
    """How elements become the numbers of a type, NaN where one is no value of it; texts as in a file."""

    def read(elements: list[Any]) -> NDArray[np.float64]:
        floats = _objects(elements, kind)
        written = [k for k, element in enumerate(elements) if type(element) in (str, np.str_)]
        if written:
            fields = [text_of(str(elements[k]).encode("utf-8", "surrogatepass")) for k in written]
            floats[written] = texts.floats(import_pyarrow().array(fields, import_pyarrow().string()))
        return floats

    return read


def _objects(elements: list[Any], kind: Kind) -> NDArray[np.float64]:
    """The numbers of elements that are no texts; NaN for texts."""
    one = {"number": _number, "integer": _whole, "boolean": _truth}.get(kind.name)
    if kind.name == "decimal":
        one = partial(_decimal, kind=kind)
    if one is not None:
        return np.fromiter(map(one, elements), dtype=np.float64, count=len(elements))
    steps = [_moment(element, kind) for element in elements]
    missing = np.array([step is None for step in steps], dtype=bool)
    whole = np.array([0 if step is None else min(max(step, -_LARGEST), _LARGEST) for step in steps], dtype=np.int64)
    floats = whole.astype(np.float64) if kind.name == "date" else seconds(whole, "us")
    floats[missing] = np.nan
    return floats


def _moment(element: Any, kind: Kind) -> int | None:
    """The days of a date, or the microseconds of another element; None if it is no value of the type."""
    try:
        if type(element) is timedelta and kind == DURATION:
            return element // _MICRO
        if type(element) is date and kind == DATE:
            return element.toordinal() - _EPOCH
        if type(element) is datetime and kind == DATETIME and element.tzinfo is None:
            return (element - _START) // _MICRO
        if isinstance(element, str):
            return None
        number = kind.record(element)
        return None if number is None else round(number * (1 if kind.name == "date" else 10**6))
    except Exception:  # a foreign object may raise anything, and what it raises would depend on the record
        return None


def _number(element: Any) -> float:
    return math.nan if type(element) in (str, np.str_) else nearest_float(element)


def _whole(element: Any) -> float:
    number = _number(element)
    return number if number.is_integer() else math.nan


def _truth(element: Any) -> float:
    return float(element) if type(element) in (bool, np.bool_) else math.nan


def _decimal(element: Any, kind: Kind) -> float:
    """A number rounded to the digits of the type, half to even; missing if it has too many before the point."""
    try:
        if isinstance(element, bool | np.bool_ | str) or not isinstance(element, Real | Decimal):
            return math.nan
        if type(element) is Decimal and element.is_finite() and int(element.as_tuple().exponent) >= -kind.scale:
            return float(element) if element.copy_abs() < 10 ** (kind.precision - kind.scale) else math.nan
        units = round(rational(element, "record") * 10**kind.scale)
        return float(Fraction(units, 10**kind.scale)) if abs(units) < 10**kind.precision else math.nan
    except Exception:  # as above
        return math.nan
