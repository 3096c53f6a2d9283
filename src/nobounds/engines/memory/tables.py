"""Tables in memory to a Stream: frames of pandas and polars, Arrow tables, dicts of columns and numpy arrays."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from nobounds.engines.column import Column, windows
from nobounds.engines.key_columns import key_array, key_type
from nobounds.engines.keys import plain
from nobounds.engines.loaded import loaded
from nobounds.engines.memory.arrow import import_pyarrow
from nobounds.engines.memory.declared import stated_columns
from nobounds.engines.memory.frames import collected, lazy_failed, named_columns, read_columns, sort_columns
from nobounds.engines.refusals import replacing_errors
from nobounds.engines.schemas.schema import SchemaLike
from nobounds.engines.streams.stream import TableStream


def from_memory(data: object, schema: SchemaLike | None = None) -> TableStream:
    """The Stream of a table in memory; `schema` has the types of columns of objects or texts."""
    named = list(read_columns(named_columns(data)))
    opened = stated_columns(named, schema)
    table, raw, stated = sort_columns(opened), dict(named), dict(opened)
    if len({_length(column) for column in raw.values()}) > 1:
        raise ValueError("the columns of a table must all have the same length")

    def batches(keys: list[str], values: list[str]) -> Iterator[Any]:
        pa = import_pyarrow()
        arrays = [key_array(raw[name]) for name in keys]
        floats = [_short(table.columns[name].chunks()) for name in values]
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
        name: replace(column.facts, declared=not isinstance(stated[name], list | tuple))
        for name, column in table.columns.items()
    }
    kinds = {name: kind for name, column in raw.items() if (kind := key_type(column)) is not None}
    enums = {name: declared for name, column in raw.items() if (declared := _declared(column)) is not None}
    return TableStream(facts, table.skipped, kinds, batches, rows, again, table.typed, enums=enums)


def _declared(column: Any) -> list[str] | None:
    """The categories of a polars Enum; those of other types come from records."""
    polars = loaded("polars")
    if polars is None or not isinstance(column, polars.Series) or not isinstance(column.dtype, polars.Enum):
        return None
    return [str(category) for category in column.dtype.categories.to_list()]


def _length(column: Any) -> int:
    return column.rows() if isinstance(column, Column) else len(column)


def from_lazy(lazy: Any) -> TableStream:
    """The Stream of a polars LazyFrame: a query that is run, for the columns that are needed, when it is read."""
    import polars

    failed = "the schema of the LazyFrame could not be resolved; run lf.collect_schema() to see why"
    with replacing_errors(lambda: ValueError(failed)):
        empty = from_memory(polars.DataFrame(schema=lazy.collect_schema()))

    def batches(keys: list[str], values: list[str]) -> Iterator[Any]:
        names = list(dict.fromkeys([*keys, *values]))
        # By name, because a text alone may be a pattern.
        wanted = lazy.select(polars.selectors.by_name(names) if names else polars.lit(0).alias("rows"))
        stream = from_memory(collected(wanted))
        same = all(stream.kinds.get(name) == empty.kinds[name] for name in keys)
        if not (same and all(stream.facts.get(name) == empty.facts[name] for name in values)):
            raise lazy_failed()  # a function in the query may return other types than it declares
        return stream.batches(keys, values)

    def rows() -> int:
        return int(collected(lazy.select(polars.len())).item())

    return TableStream(empty.facts, empty.others, empty.kinds, batches, rows, query=True, enums=empty.enums)


def _short(chunks: Any) -> Iterator[Any]:
    """Chunks that begin where all columns have one: they are as long as windows, or whole numbers of these."""
    return (chunk[window] for chunk in chunks for window in windows(len(chunk)))
