"""Private statistics as attributes of frames and series: `frame.nb.describe(epsilon=1)`.

`import nobounds.pandas` and `import nobounds.polars` add them. They go through the same door as `Table`: a frame's is a
table that is opened for each question, and a series' one with a single column.
"""

from functools import partial, wraps
from inspect import signature
from typing import Any

from nobounds.tables.table import Table

_OF_COLUMN = tuple(
    name
    for name, method in vars(Table).items()
    if callable(method) and not name.startswith("_") and [*signature(method).parameters][1:2] == ["column"]
)
_UNNAMED = "value"


class FrameAccessor:
    """The private statistics of a frame, all methods of `nobounds.Table`: `frame.nb.mean("pay", epsilon=1)`.

    With options it is a table: `frame.nb(unit="name", rows_per_unit=3, budget=budget).mean("pay", epsilon=1)`.
    """

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def __call__(self, **options: Any) -> Table:
        """The frame as a `nobounds.Table` with these options."""
        return Table(self._frame, **options)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(Table(self._frame), name)

    def __dir__(self) -> list[str]:
        return [name for name in dir(Table) if not name.startswith("_")]

    def __repr__(self) -> str:
        return repr(Table(self._frame))


class SeriesAccessor:
    """The private statistics of a series: `series.nb.median(epsilon=1)`, with `series.nb(budget=budget)` if charged."""

    def __init__(self, series: Any) -> None:
        self._series = series

    def __call__(self, **options: Any) -> "SeriesQuestions":
        """The statistics of the series with these options of `nobounds.Table`."""
        name = str(self._series.name) if self._series.name not in (None, "") else _UNNAMED
        return SeriesQuestions(Table(self._series.rename(name).to_frame(), **options), name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self(), name)

    def __dir__(self) -> list[str]:
        return [*_OF_COLUMN, "describe"]


class SeriesQuestions:
    """The statistics of the only column of a table."""

    def __init__(self, table: Table, name: str) -> None:
        self._table, self._name = table, name

    def __getattr__(self, name: str) -> Any:
        if name == "describe":
            return partial(self._table.describe, [self._name])
        if name not in _OF_COLUMN:
            raise AttributeError(f"a series has no private {name}; it has {', '.join(self.__dir__())}")
        method = getattr(self._table, name)
        return wraps(method)(partial(method, self._name))

    def __dir__(self) -> list[str]:
        return [*_OF_COLUMN, "describe"]
