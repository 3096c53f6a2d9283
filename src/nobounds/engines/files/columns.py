"""One column of a CSV, TSV or Parquet file, read as a stream. The header and the schema of a file are public."""

from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nobounds.engines.column import CHUNK, Column, windows
from nobounds.engines.csv.dialect import Csv
from nobounds.engines.csv.layout import layout_of
from nobounds.engines.csv.table import CsvFiles
from nobounds.engines.files.arrow_files import arrow_schema
from nobounds.engines.files.formats import format_of, is_parquet, readable
from nobounds.engines.memory.arrow import facts_of, import_pyarrow, to_floats
from nobounds.engines.schemas.schema import Schema, SchemaLike
from nobounds.ladders.facts import Facts


def read_column(
    path: str | PathLike[str], name: str, csv: Csv | None = None, schema: SchemaLike | None = None
) -> Column:
    """The Column of that name in a file, whose suffix gives the format; records are read with its chunks."""
    path = Path(path)
    if format_of(path) not in ("csv", "parquet"):
        raise ValueError(f"one column is read from a CSV, TSV or Parquet file, got {path.name}")
    names = column_names(path, csv, schema)
    if names.count(name) != 1:
        problem = "appears more than once" if name in names else "is not in the file"
        raise ValueError(f"column {name!r} {problem}; the columns are {', '.join(map(repr, names)) or 'none'}")
    return _from_parquet(path, name) if is_parquet(path) else _from_csv(path, name, csv, schema)


def column_names(path: str | PathLike[str], csv: Csv | None = None, schema: SchemaLike | None = None) -> list[str]:
    """The names of a file's columns, in order: those in the header of a CSV file, or in a Parquet file's schema."""
    path = Path(path)
    stated = Schema.of(schema)
    match format_of(path):
        case "parquet":
            with readable(path), open_parquet(path) as file:
                return list(file.schema_arrow.names)
        case "arrow":
            return list(arrow_schema(path).names)
        case "csv":
            return list(layout_of(path, stated.with_csv(csv) or Csv(), stated.columns).names)
        case _:
            return list(stated.columns)


def _from_csv(path: Path, name: str, csv: Csv | None, schema: SchemaLike | None) -> Column:
    files = CsvFiles.of([path], csv, schema, only=[name])
    facts = files.stream().facts
    if name not in facts:
        raise TypeError(f"column {name!r} must be numeric, got text")

    def chunks() -> Iterator[NDArray[np.float64]]:
        for batch in files.batches([], [name]):
            floats = batch.column(0).to_numpy()
            yield from (floats[window].copy() for window in windows(len(floats)))

    return Column(Facts(facts[name].integral, nullable=True), chunks, rows=files.rows)


def _from_parquet(path: Path, name: str) -> Column:
    with open_parquet(path) as file:
        field, length = file.schema_arrow.field(name), file.metadata.num_rows
    facts = facts_of(field.type, nullable=field.nullable)

    def chunks() -> Iterator[NDArray[np.float64]]:
        with readable(path), open_parquet(path) as file:
            for batch in file.iter_batches(batch_size=CHUNK, columns=[name], use_threads=False):
                yield to_floats(batch.column(name))

    return Column(facts, chunks, rows=lambda: length)


def open_parquet(path: Path) -> Any:
    """A Parquet file, opened to be streamed."""
    import_pyarrow()
    from pyarrow.parquet import ParquetFile

    # A small buffer and no prefetch keep memory independent of the size of row groups. The path is absolute, because
    # Arrow treats a path that starts with s3: as a URL.
    return ParquetFile(path.absolute(), buffer_size=1 << 20, pre_buffer=False)
