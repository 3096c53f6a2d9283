"""Features: the columns of a matrix or a frame as scikit-learn takes them, each with the type that it declares.

`numpy.asarray` of a frame infers a type from the records: one null turns the whole numbers of polars and Arrow into
floats, and the ladder of each feature changes with it. So frames are read column by column. What numpy makes of the
object of another library is treated as floats, whatever its type.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from nobounds.arrays import Floats
from nobounds.engines.column import Column, refuse_type, windows
from nobounds.engines.loaded import loaded
from nobounds.engines.memory.arrays import column
from nobounds.engines.memory.arrow import is_decimal, speaks_arrow, to_floats
from nobounds.engines.memory.frames import named_columns
from nobounds.engines.memory.sequences import nearest_float
from nobounds.engines.refusals import raise_alone
from nobounds.ladders.facts import Facts


def is_frame(data: Any) -> bool:
    """Whether data are columns with a type each (or a masked array), rather than one array."""
    pandas, polars = loaded("pandas"), loaded("polars")
    if pandas is not None and isinstance(data, pandas.DataFrame):
        return True
    if polars is not None and isinstance(data, polars.DataFrame):
        return True
    return isinstance(data, np.ma.MaskedArray) or speaks_arrow(data)


def frame_features(frame: Any) -> list[Column]:
    """The columns of a frame; TypeError for one whose type is not of numbers.

    Columns of objects and of categories do not declare a type of number: what is not a number in them is missing.
    """
    return [_feature(str(name), given) for name, given in named_columns(frame)]


def matrix_features(matrix: Any, typed: bool) -> list[Column]:
    """The columns of a numpy matrix; without `typed` its type is not reliable, and all of them are floats."""
    columns = [matrix[:, j] for j in range(matrix.shape[1])]
    if matrix.dtype.kind not in "biuf" or matrix.dtype == np.float16:
        return [_objects(records.tolist, len(records)) for records in columns]
    return [column(records if typed else records.astype(np.float64)) for records in columns]


def _feature(name: str, given: Any) -> Column:
    try:
        opened = column(given)
        if opened.facts.kind.typed:
            raise refuse_type(
                opened.facts.kind.name, "leave it out, or convert it to numbers first, for example to days"
            )
        return opened
    except TypeError as refusal:
        untyped = _untyped(given)
        if untyped is None:
            raise_alone(TypeError(f"feature {name!r}: {refusal}"))
        return untyped


def _untyped(given: Any) -> Column | None:
    """A column of objects, categories, sparse numbers or decimals as floats; None for one of another type."""
    pandas, polars = loaded("pandas"), loaded("polars")
    if pandas is not None and isinstance(given, pandas.Series):
        dtype = given.dtype
        if isinstance(dtype, pandas.ArrowDtype) and is_decimal(dtype.pyarrow_dtype):
            return _decimals(given.array.__arrow_array__())
        if isinstance(dtype, pandas.CategoricalDtype):
            return _floats(lambda: _of_categories(given.array), len(given))
        if isinstance(dtype, pandas.SparseDtype) and dtype.subtype.kind in "biuf":
            return _floats(lambda: np.array(given.array, dtype=np.float64), len(given))
        return _objects(given.tolist, len(given)) if isinstance(dtype, np.dtype) and dtype.kind == "O" else None
    if polars is not None and isinstance(given, polars.Series):
        if given.dtype == polars.Decimal:
            return _decimals(given.alias("").to_arrow())
        return _objects(given.to_list, len(given)) if given.dtype == polars.Object else None
    if isinstance(given, np.ndarray):  # of a masked array
        return _objects(lambda: np.ma.filled(given, None).tolist(), len(given)) if given.dtype.kind == "O" else None
    return _decimals(given) if is_decimal(given.type) else None


def _floats(made: Callable[[], Floats], rows: int) -> Column:
    """A column of floats that are made when it is read."""

    def chunks() -> Iterator[Floats]:
        floats = made()
        return (floats[window].copy() for window in windows(len(floats)))

    return Column(Facts(integral=False, nullable=True), chunks, rows=lambda: rows)


def _objects(elements: Callable[[], list[Any]], rows: int) -> Column:
    return _floats(lambda: np.array([nearest_float(element) for element in elements()], dtype=np.float64), rows)


def _decimals(records: Any) -> Column:
    return _floats(lambda: to_floats(records), len(records))


def _of_categories(values: Any) -> Floats:
    floats = np.array([*map(nearest_float, values.categories), np.nan], dtype=np.float64)
    return floats[np.asarray(values.codes, dtype=np.int64)]  # the code of a missing record is -1
