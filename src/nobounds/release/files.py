"""Answers in files: CSV, JSON and Parquet, each written at once, so that a reader never sees half of one.

A text of a CSV file that starts with =, +, -, @, a tab or a line break gets an apostrophe in front of it, because
spreadsheets would run it as a formula. Numbers are not texts.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, time, timedelta
from decimal import Decimal
from io import StringIO
from pathlib import Path
from secrets import token_hex
from typing import Any, TextIO

from nobounds.kinds.kind import NUMBER

SUFFIXES = (".csv", ".json", ".parquet")
_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", *"\uff1d\uff0b\uff0d\uff20")  # also in full width


def check_out(path: Path) -> None:
    """Raise, before anything is spent, if no answer can be written to this file."""
    if path.suffix.lower() not in SUFFIXES:
        raise ValueError(f"the name of an output file must end in {', '.join(SUFFIXES)}, got {path.name}")
    if path.is_dir():
        raise ValueError(f"an output file cannot be a folder, got {path}")
    if not path.parent.is_dir():
        raise ValueError(f"the folder of an output file must exist, got {path.parent}")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A new file beside `path` that takes its place at the end of the block; it is removed if the block fails."""
    unfinished = path.with_name(f".{path.name}.{token_hex(4)}")
    try:
        yield unfinished
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def write_parquet(table: Any, path: Path) -> None:
    """An Arrow table as a Parquet file."""
    import pyarrow.parquet as pq

    with replacing(path) as unfinished:
        pq.write_table(table, unfinished)


def write_text(text: str, path: Path) -> None:
    """A text as a file in UTF-8."""
    with replacing(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8", newline="")


def csv_text(columns: Mapping[str, Sequence[Any]]) -> str:
    """Columns as CSV."""
    buffer = StringIO()
    write_csv(buffer, columns)
    return buffer.getvalue()


def write_csv(file: TextIO, columns: Mapping[str, Sequence[Any]], text: Callable[[str], str] = str) -> None:
    """The names and rows of columns as CSV; `text` is applied to every cell."""
    for row in (tuple(columns), *zip(*columns.values(), strict=True)):
        file.write(",".join(_quoted(text(cell_text(cell))) for cell in row) + "\n")


def _quoted(cell: str) -> str:
    """A cell in quotes if it needs them; Python's own writer leaves a carriage return bare."""
    return '"' + cell.replace('"', '""') + '"' if any(mark in cell for mark in ',"\r\n') else cell


def cell_text(cell: Any) -> str:
    """A cell of CSV: empty if there is no value, numbers with all digits, dates and durations in ISO 8601.

    >>> cell_text(-2.5), cell_text("-2+3"), cell_text(None), cell_text(True)
    ('-2.5', "'-2+3", '', 'true')
    """
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, int | float):
        return repr(cell)
    if isinstance(cell, date | time | timedelta | Decimal):
        return str(NUMBER.to_json(cell))
    return f"'{cell}" if str(cell).startswith(_FORMULAS) else str(cell)
