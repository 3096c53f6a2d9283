"""Tables of all kinds to a Source: files, frames, Arrow data, relations and queries, or a Spark DataFrame."""

from dataclasses import replace
from os import PathLike

from nobounds.engines.csv.dialect import Csv
from nobounds.engines.files.paths import expand, from_paths
from nobounds.engines.loaded import loaded
from nobounds.engines.memory.arrow import is_arrow_stream
from nobounds.engines.memory.arrow_stream import from_arrow_stream
from nobounds.engines.memory.tables import from_lazy, from_memory
from nobounds.engines.schemas.schema import SchemaLike
from nobounds.engines.source import Progress, TableSource
from nobounds.engines.spark import is_spark
from nobounds.engines.streams.local import Local
from nobounds.engines.streams.stream import TableStream

_TYPED = "schema is for files, and for columns of objects or texts in memory; other tables have types of their own"


def open_source(
    data: object,
    progress: Progress | None = None,
    csv: Csv | None = None,
    schema: SchemaLike | None = None,
) -> TableSource:
    """The Source of a table. It reads names and types, and no record."""
    if csv is not None and not isinstance(csv, Csv):
        raise TypeError(f"csv must be a nobounds.Csv, got {type(csv).__name__}")
    if is_spark(data) and csv is None:
        if schema is not None:
            raise ValueError(_TYPED)
        from nobounds.engines.spark.table import from_spark

        return from_spark(data)
    local = Local(open_stream(data, csv, schema))
    return local if progress is None else replace(local, progress=progress)


def open_stream(data: object, csv: Csv | None = None, schema: SchemaLike | None = None) -> TableStream:
    """The Stream of a table in this process."""
    if isinstance(data, str | PathLike | list | tuple):
        return from_paths(expand(data), csv, schema)
    if csv is not None:
        raise ValueError("csv is for files; other tables have types of their own")
    if isinstance(data, TableStream):
        if schema is not None:
            raise ValueError(_TYPED)
        return data
    polars, duckdb = loaded("polars"), loaded("duckdb")
    lazy = polars is not None and isinstance(data, polars.LazyFrame)
    relation = duckdb is not None and isinstance(data, duckdb.DuckDBPyRelation)
    if schema is not None and (lazy or relation or is_arrow_stream(data)):
        raise ValueError(_TYPED)
    if lazy:
        return from_lazy(data)
    if relation:
        from nobounds.engines.sql.duck import from_relation

        return from_relation(data)
    return from_arrow_stream(data) if is_arrow_stream(data) else from_memory(data, schema)
