"""Tables in memory to a Stream: frames of pandas and polars, Arrow tables, dicts of columns and numpy arrays."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from nobounds.engines.arrow import import_pyarrow
from nobounds.engines.column import Column, windows
from nobounds.engines.frames import collected, lazy_failed, named_columns, sort_columns
from nobounds.engines.keys import plain, text_of
from nobounds.engines.refusals import replacing_errors
from nobounds.engines.stream import Stream, facts_of


def from_memory(data: object) -> Stream:
    """The Stream of a table in memory."""
    named = named_columns(data)
    table, raw = sort_columns(named), dict(named)
    if len({_length(column) for column in raw.values()}) > 1:
        raise ValueError("the columns of a table must all have the same length")

    def batches(keys: list[str], values: list[str]) -> Iterator[Any]:
        pa = import_pyarrow()
        arrays = [key_array(raw[name]) for name in keys]
        floats = [iter(table.columns[name].chunks()) for name in values]  # type: ignore[arg-type]
        for window in windows(rows()):
            parts = [plain(array[window]) for array in arrays]
            parts = [part.combine_chunks() if isinstance(part, pa.ChunkedArray) else part for part in parts]
            yield pa.record_batch([*parts, *(pa.array(next(chunks)) for chunks in floats)], names=[*keys, *values])

    def rows() -> int:
        return next(map(_length, raw.values()), 0)

    def again(names: list[str]) -> dict[str, Column]:
        return {name: table.columns[name] for name in names}

    # Elements of a list have no common type.
    facts = {
        name: replace(facts_of(column), declared=not isinstance(raw[name], list | tuple))
        for name, column in table.columns.items()
    }
    kinds = {name: kind for name, column in raw.items() if (kind := _key_kind(column)) is not None}
    return Stream(facts, table.skipped, kinds, batches, rows, again, table.typed)


def _length(column: Any) -> int:
    return column.rows() if isinstance(column, Column) else len(column)


def _key_kind(given: Any) -> Any:
    """The Arrow type of a column as keys, by its type alone; None if it cannot be keys."""
    pandas = sys.modules.get("pandas")
    labeled = pandas is not None and isinstance(given, pandas.Series)
    try:
        return key_array(given.iloc[:0] if labeled else given[:0]).type
    except Exception:  # Arrow does not know this type
        return None


def key_array(given: Any) -> Any:
    """A column of keys as an Arrow array.

    Lists and object columns have no type, and to infer one is to look at the data: their elements are taken as text.
    """
    pa = import_pyarrow()
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    if isinstance(given, pa.Array | pa.ChunkedArray):
        return plain(given)
    if polars is not None and isinstance(given, polars.Series):
        if given.dtype == polars.Object:  # to Arrow these are addresses
            return _texts(given.to_list())
        return plain(given.alias("").to_arrow())  # Arrow takes no name with a NUL
    if isinstance(given, list | tuple | range):
        return _texts(list(given)) if not isinstance(given, range) else pa.array(np.asarray(given, dtype=np.int64))
    if pandas is not None and isinstance(given, pandas.Series | pandas.Index):
        if given.dtype == object or (isinstance(given.dtype, pandas.StringDtype) and given.dtype.storage == "python"):
            return _texts(given.tolist())
        found = pa.Array.from_pandas(given)
        if isinstance(found.type, pa.BaseExtensionType):  # periods and intervals: what stores them means little
            raise TypeError(f"keys of type {found.type} are not known")
        return plain(found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found)
    array = np.asarray(given)
    missing = np.ma.getmaskarray(given) if isinstance(given, np.ma.MaskedArray) else None
    if array.dtype.kind in "OU":  # text of numpy may have code points that are no text elsewhere
        elements = array.tolist()
        return _texts(
            elements if missing is None else [None if m else e for e, m in zip(elements, missing, strict=True)]
        )
    return plain(pa.array(array, mask=missing))


def _texts(elements: list[Any]) -> Any:
    pa = import_pyarrow()
    return pa.array([_text(element) for element in elements], type=pa.large_string())


def _text(element: Any) -> str | None:
    """The text of an element; None, NaN, and what has no text are missing."""
    try:
        if element is None or element != element:
            return None
        return text_of(str(element).encode("utf-8", "surrogatepass"))
    except Exception:  # what a foreign object raises would depend on the record
        return None


def from_lazy(lazy: Any) -> Stream:
    """The Stream of a polars LazyFrame: a query that is run, for the columns that are needed, when it is read."""
    import polars

    failed = "the schema of the LazyFrame could not be resolved; run lf.collect_schema() to see why"
    with replacing_errors(lambda: ValueError(failed)):
        empty = from_memory(polars.DataFrame(schema=lazy.collect_schema()))

    def batches(keys: list[str], values: list[str]) -> Iterator[Any]:
        names = list(dict.fromkeys([*keys, *values]))
        # By name, for a text alone may be a pattern.
        wanted = lazy.select(polars.selectors.by_name(names) if names else polars.lit(0).alias("rows"))
        found = from_memory(collected(wanted))
        same = all(found.kinds.get(name) == empty.kinds[name] for name in keys)
        if not (same and all(found.facts.get(name) == empty.facts[name] for name in values)):
            raise lazy_failed()  # a function in the query may give other types than it declares
        return found.batches(keys, values)

    def rows() -> int:
        return int(collected(lazy.select(polars.len())).item())

    return Stream(empty.facts, empty.others, empty.kinds, batches, rows)
