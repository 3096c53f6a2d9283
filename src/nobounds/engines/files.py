"""Columns of files: CSV and TSV, gzipped or not, and Parquet, all read as a stream.

The text of a CSV file tells no types, and to guess them is to look at the data. So each record is read on its own, as
its own text, and what cannot be read as a number is a missing record. So is a row with another number of fields than
the header; blank lines are no records. A quoted field may span lines, so rows are the unit of privacy
in well-formed files: a quote that never closes joins the lines behind it. The header of a CSV file and the schema of a
Parquet file are public; nothing else in the file can cause an error.
"""

import csv
import gzip
import math
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from nobounds.engines.arrow import import_pyarrow, is_integral, stated_bounds, to_floats
from nobounds.engines.column import CHUNK, Column

_DELIMITERS = {".csv": ",", ".csv.gz": ",", ".tsv": "\t", ".tsv.gz": "\t"}


def read_column(path: str | PathLike[str], name: str) -> Column:
    """The Column of that name in a CSV, TSV or Parquet file, told apart by the suffix; read when its chunks are."""
    path = Path(path)
    names = column_names(path)
    require_name(path, name, names)
    return _from_parquet(path, name) if is_parquet(path) else _from_csv(path, name)


def column_names(path: str | PathLike[str]) -> list[str]:
    """The names of a file's columns, in order: the first row of a CSV or TSV file, or a Parquet file's schema."""
    path = Path(path)
    if is_parquet(path):
        with readable(path), open_parquet(path) as file:
            return list(file.schema_arrow.names)
    with readable(path), open_text(path) as text:
        return next_header(csv_rows(text, path))


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """What is wrong inside a file is not told, for that can contain records; what the system says of it is."""
    try:
        yield
    except ImportError:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise OSError(f"{path.name} cannot be read: it is damaged, or of another format") from None


def is_parquet(path: Path) -> bool:
    """Whether a file's name says Parquet; ValueError if it says none of the formats, or is not of a regular file."""
    if path.exists() and not path.is_file():
        raise ValueError(f"the file must be a regular file, which can be read more than once, got {path.name}")
    return _suffix(path) == ".parquet"


def require_name(path: Path, name: str, names: list[str]) -> None:
    """ValueError unless exactly one of a file's column names is `name`."""
    if names.count(name) != 1:
        problem = "appears more than once" if name in names else "is not in the file"
        # A CSV file may have no header, and then its first row is somebody's record: do not show it.
        known = f"; the columns are {', '.join(map(repr, names)) or 'none'}"
        raise ValueError(f"column {name!r} {problem}{known if is_parquet(path) else ' (see its first line)'}")


def parse_number(text: str) -> float:
    """The float64 nearest to a decimal number, spaces around it ignored; NaN if the text is not one.

    >>> parse_number(" 1e-3 "), parse_number("-inf"), parse_number("12 apples")
    (0.001, -inf, nan)
    """
    # Python also reads 1_000 and digits of other scripts; most other readers of CSV do not.
    if "_" in text or not text.isascii():
        return math.nan
    try:
        return float(text)
    except ValueError:
        return math.nan


def _from_csv(path: Path, name: str) -> Column:
    def chunks() -> Iterator[NDArray[np.float64]]:
        with readable(path), open_text(path) as text:
            rows = csv_rows(text, path)
            header = next_header(rows)
            wanted, width = header.index(name), len(header)
            numbers = (parse_number(row[wanted]) if len(row) == width else math.nan for row in rows)
            while len(chunk := np.fromiter(islice(numbers, CHUNK), dtype=np.float64)):
                yield chunk

    return Column(integral=False, nullable=True, chunks=chunks, rows=lambda: sum(map(len, chunks())))


def open_text(path: Path) -> TextIO:
    """A CSV or TSV file opened as text, its bytes never an error."""
    # Bytes that are not UTF-8 become lone surrogates, which are in no number.
    if path.suffix.lower() == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", errors="surrogateescape", newline="")
    return path.open(encoding="utf-8-sig", errors="surrogateescape", newline="")


def csv_rows(text: TextIO, path: Path) -> Iterator[list[str]]:
    """The rows of the text of a CSV or TSV file, its header first and blank lines left out."""
    reader = csv.reader(text, delimiter=_DELIMITERS[_suffix(path)], skipinitialspace=True)
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error:  # a field of more than 128 KB, as after a quote that never closes; reading goes on below it
            continue
        if row:
            yield row


def next_header(rows: Iterator[list[str]]) -> list[str]:
    """The column names in the first of these rows, with what is no UTF-8 replaced; none if there is no row."""
    return [name.strip().encode("utf-8", "surrogateescape").decode("utf-8", "replace") for name in next(rows, [])]


def _from_parquet(path: Path, name: str) -> Column:
    with open_parquet(path) as file:
        field, length = file.schema_arrow.field(name), file.metadata.num_rows
    integral = is_integral(field.type)

    def chunks() -> Iterator[NDArray[np.float64]]:
        with readable(path), open_parquet(path) as file:
            for batch in file.iter_batches(batch_size=CHUNK, columns=[name], use_threads=False):
                yield to_floats(batch.column(name))

    stated = stated_bounds(field.type)
    return Column(integral, field.nullable or not integral, chunks, rows=lambda: length, **stated)


def open_parquet(path: Path) -> Any:
    """A Parquet file opened to be read as a stream."""
    import_pyarrow()
    from pyarrow.parquet import ParquetFile

    # A small buffer and no prefetch: memory stays the same however large the row groups are. From the root on, because
    # Arrow takes a path that starts with s3: for an address.
    return ParquetFile(path.absolute(), buffer_size=1 << 20, pre_buffer=False)


def _suffix(path: Path) -> str:
    suffix = "".join(path.suffixes[-2:] if path.suffix.lower() == ".gz" else path.suffixes[-1:]).lower()
    if suffix not in _DELIMITERS and suffix != ".parquet":
        known = ", ".join([*_DELIMITERS, ".parquet"])
        raise ValueError(f"the file's name must end in one of {known}, got {path.name}")
    return suffix
