"""Whole tables in memory to named Columns.

The names and types of a table's columns are public; so is which of them are numeric, because the type of a column
decides that and its values never do. A column of another type is skipped, and only the family of its type is kept.
"""

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nobounds.engines.column import Column, refuse_frame
from nobounds.engines.loaded import loaded
from nobounds.engines.memory.arrays import column
from nobounds.engines.memory.arrow import import_pyarrow, in_memory, is_arrow_stream, speaks_arrow
from nobounds.engines.refusals import raise_alone, replacing_errors
from nobounds.ladders.facts import Facts
from nobounds.values import dataclass

_UNNAMED = "value"
_TEXT = frozenset({"str", "str_", "StringDtype", "String", "string", "large_string", "string_view"})


@dataclass(frozen=True, slots=True)
class FrameFacts:
    """What is public about a table: its numeric columns, and the family of the type of each other column.

    typed: whether types say which columns are numeric; else all are listed as numeric.
    query: as in `source.TableSource`.
    where, formulas: as in `Facts`.
    """

    columns: dict[str, Facts]
    skipped: dict[str, str]
    typed: bool = True
    query: bool = False
    where: str | None = None
    formulas: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Frame:
    """A table: its numeric columns by name, in order, and the family of the type of each column that was skipped."""

    columns: dict[str, Column]
    skipped: dict[str, str]
    typed: bool = field(default=True, repr=False)  # as in FrameFacts
    query: bool = field(default=False, repr=False)
    where: str | None = field(default=None, repr=False)
    formulas: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    def public(self, sized: bool) -> FrameFacts:
        """The public facts of all columns."""
        columns = {name: column.public(sized) for name, column in self.columns.items()}
        return FrameFacts(columns, self.skipped, self.typed, self.query, self.where, self.formulas)


def frame(data: object) -> Frame:
    """The Frame of a table, of any kind that nobounds knows, or of one column.

    Tables are frames of pandas and polars, Arrow tables, dicts of columns, and numpy arrays, two-dimensional (their
    columns are named "0", "1" and so on) or structured. Names become text. One column is called by the name of its
    Series, or "value". Other data raise TypeError and columns of one name ValueError, by types and names alone.

    >>> frame({"age": np.array([31, 45]), "name": np.array(["Ann", "Bob"])})
    Frame(columns={'age': Column(facts=Facts(integral=True, nullable=False))}, skipped={'name': 'text'})
    """
    return replace(sort_columns(named_columns(data)), query=_is_query(data))


def _is_query(data: object) -> bool:
    """Whether a table has to be computed first."""
    polars = loaded("polars")
    return is_arrow_stream(data) or (polars is not None and isinstance(data, polars.LazyFrame))


def named_columns(data: Any) -> list[tuple[str, Any]]:
    """The columns of a table in memory as they are, by name."""
    pandas, polars = loaded("pandas"), loaded("polars")
    if polars is not None and isinstance(data, polars.LazyFrame):
        data = collected(data)
    if polars is not None and isinstance(data, polars.DataFrame):
        return [(series.name, series) for series in data.get_columns()]
    if isinstance(data, Mapping) or (pandas is not None and isinstance(data, pandas.DataFrame)):
        return [(str(name), given) for name, given in data.items()]
    if isinstance(data, np.ndarray):
        return list(_numpy_columns(data))
    records = _arrow_in_memory(data)
    if _is_struct(records):
        names = [records.type.field(i).name for i in range(records.type.num_fields)]
        return list(zip(names, records.flatten(), strict=True))
    if not isinstance(records, Column | list | tuple | range) and _family(records) is None:
        raise TypeError(
            "data must be a table (a pandas or polars DataFrame, an Arrow table, a dict of columns or a numpy array) "
            f"or one column, got {type(data).__name__}; convert it first, for example pd.DataFrame(data)"
        )
    name = getattr(records, "name", None)
    return [(_UNNAMED if name in {None, ""} else str(name), records)]


def sort_columns(named: Iterable[tuple[object, Any]]) -> Frame:
    """The Frame of named columns: those that are numeric by their type, and the others."""
    columns: dict[str, Column] = {}
    skipped: dict[str, str] = {}
    typed = True
    for name, given in read_columns(named):
        typed = typed and not isinstance(given, list | tuple)
        if name in columns or name in skipped:
            raise ValueError(
                f"column {name!r} appears more than once; give each column a name of its own, for example "
                "df.columns = ['age', 'pay'] or table.rename_columns(['age', 'pay'])"
            )
        try:
            columns[name] = column(given)
        except ValueError as refusal:
            raise_alone(ValueError(f"column {name!r}: {refusal}"))
        except TypeError as refusal:
            family = _family(given)
            if family is None:
                raise_alone(TypeError(f"column {name!r}: {refusal}"))
            skipped[name] = family
    return Frame(columns, skipped, typed)


def read_columns(named: Iterable[tuple[object, Any]]) -> Iterator[tuple[str, Any]]:
    """The same columns, those of Arrow's C interface read into memory; a table among them is refused."""
    for name, given in named:
        data = _arrow_in_memory(given)
        if data is not given and _is_struct(data):
            raise TypeError(f"column {str(name)!r}: {refuse_frame('table')}")
        yield str(name), data


def collected(lazy: Any) -> Any:
    """The frame of a LazyFrame."""
    with replacing_errors(lazy_failed):  # a query may fail on a record, and its error then shows it
        return lazy.collect()


def lazy_failed() -> ValueError:
    """The error for a LazyFrame that could not be collected; why may depend on the data."""
    return ValueError("the query of the LazyFrame failed; collect it first, for example lf.collect()")


def _numpy_columns(data: NDArray[Any]) -> Iterator[tuple[str, NDArray[Any]]]:
    table = data if isinstance(data, np.ma.MaskedArray) else np.asarray(data)
    if table.ndim == 1 and table.dtype.names is not None:
        for name in table.dtype.names:
            # A field that is an array in each row is skipped by its type, like a record in each row.
            yield name, table[name] if table[name].ndim == 1 else np.empty(0, dtype=np.void)
    elif table.ndim == 1:
        yield _UNNAMED, table
    elif table.ndim == 2:
        for i in range(table.shape[1]):
            yield str(i), table[:, i]
    else:
        raise ValueError(
            f"data must have one or two dimensions, got ndim={table.ndim}; "
            "pass rows and columns, for example data.reshape(len(data), -1)"
        )


def _arrow_in_memory(data: Any) -> Any:
    """The pyarrow Array or ChunkedArray of an object of Arrow's C interface, which may be read once; others as is."""
    pandas, polars = loaded("pandas"), loaded("polars")
    if not speaks_arrow(data) or _is_arrow(data):
        return data
    if pandas is not None and isinstance(data, pandas.DataFrame | pandas.Series):
        return data
    if polars is not None and isinstance(data, polars.DataFrame | polars.Series):
        return data
    return in_memory(data)


def _is_arrow(data: object) -> bool:
    pa = loaded("pyarrow")
    return pa is not None and isinstance(data, pa.Array | pa.ChunkedArray)


def _is_struct(data: Any) -> bool:
    return _is_arrow(data) and bool(import_pyarrow().types.is_struct(data.type))


def _family(data: Any) -> str | None:
    """The family of the type of a column's records, without sizes, units and categories; None if it is no column."""
    pandas, polars = loaded("pandas"), loaded("polars")
    if isinstance(data, array):
        return "text"  # the only kind of them that is not numbers
    if isinstance(data, np.ndarray):
        return _word(data.dtype.type.__name__)
    if pandas is not None and isinstance(data, pandas.Series | pandas.Index | pandas.api.extensions.ExtensionArray):
        if isinstance(data.dtype, np.dtype):
            return _word(data.dtype.type.__name__)
        if isinstance(data.dtype, pandas.ArrowDtype):
            return arrow_family(data.dtype.pyarrow_dtype)
        return _word(type(data.dtype).__name__, "pandas type ")
    if polars is not None and isinstance(data, polars.Series):
        return _word(type(data.dtype).__name__, "polars type ")
    return arrow_family(data.type) if _is_arrow(data) else None


def arrow_family(kind: Any) -> str:
    """The family of an Arrow type."""
    return _word(re.split(r"\W", str(kind), maxsplit=1)[0], "Arrow type ")


def _word(name: str, prefix: str = "") -> str:
    return "text" if name in _TEXT else prefix + name.rstrip("_")
