"""What every answer can do as data: frames of pandas, polars and Arrow, files, plots, and plain words; and `later`.

Libraries are loaded when they are used, and so are the rooms above this one.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from nobounds.exact import Number
from nobounds.release.files import csv_text, write_parquet, write_text

T = TypeVar("T")
C = TypeVar("C", bound=type[Any])


class Answer(ABC):
    """A release, answers by group, or a description. Frames and files keep all digits."""

    __slots__ = ()

    @abstractmethod
    def to_json(self) -> str:
        """The answer as one line of JSON, with what it cost and how it was made."""

    @abstractmethod
    def to_arrow(self) -> Any:
        """The answer as a pyarrow table."""

    def to_pandas(self) -> Any:
        """The table of `to_arrow` as a pandas frame."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """The table of `to_arrow` as a polars frame."""
        return import_module("polars").from_arrow(self.to_arrow())

    def to_csv(self, path: "str | PathLike[str]") -> None:
        """Write the rows as CSV, over a file that is there.

        A text that a spreadsheet would run as a formula, because it starts with =, +, - or @, gets an apostrophe in
        front of it.
        """
        write_text(csv_text(self.cells()), Path(path))

    def to_parquet(self, path: "str | PathLike[str]") -> None:
        """Write the rows as a Parquet file, over a file that is there."""
        write_parquet(self._table(), Path(path))

    def cells(self) -> dict[str, list[Any]]:
        """The columns of the rows in files."""
        table = self._table()
        return dict(zip(table.column_names, (column.to_pylist() for column in table.columns), strict=True))

    def _table(self) -> Any:
        """The table in files: a row for each number."""
        return self.to_arrow()

    def plot(self) -> Any:
        """A matplotlib figure of the answer with its intervals; notebooks show it as vector graphics."""
        return import_module("nobounds.plots").plot(self)

    def explain(self, *, n: Number | None = None) -> Any:
        """The answer in plain words, as `nobounds.explain` gives it."""
        return import_module("nobounds.explaining.explain").explain(self, n=n)

    def _repr_html_(self) -> str:
        """The answer as HTML, for notebooks."""
        text: str = import_module("nobounds.release.html").html(self)
        return text


def write(answer: Answer, path: Path) -> None:
    """An answer as a file, of the type that its name ends in: .csv, .parquet or .json."""
    suffix = path.suffix.lower()
    if suffix == ".json":
        write_text(f"{answer.to_json()}\n", path)
    else:
        answer.to_csv(path) if suffix == ".csv" else answer.to_parquet(path)


class _Later(NamedTuple):
    compute: Callable[[], Any]


def later(compute: Callable[[], T]) -> T:
    """A value for a field that may wait until it is read; `compute` uses noisy numbers and public facts alone.

    Intervals and parameters follow from noisy numbers, so reading only the value does not pay for them. What is
    read, compared, printed, pickled or written to JSON is always the computed value.
    """
    return _Later(compute)  # type: ignore[return-value]


def may_wait(*names: str) -> Callable[[C], C]:
    """Let fields of a frozen dataclass with slots hold what is to be computed `later`, until they are read."""

    def changed(kind: C) -> C:
        for name in names:
            slot = kind.__dict__[name]
            setattr(kind, name, property(partial(_read, slot), slot.__set__))
        return kind

    return changed


def _read(slot: Any, held: Any) -> Any:
    """The value of a field, computed if it has waited."""
    value = slot.__get__(held)
    if isinstance(value, _Later):
        value = value.compute()
        slot.__set__(held, value)
    return value
