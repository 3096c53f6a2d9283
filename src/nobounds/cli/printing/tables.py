"""Tables, and plain text in a pipe: without colors, and as wide as it has to be."""

import os
from contextlib import suppress
from typing import Any, Literal, NamedTuple

_GAP = 3  # spaces between columns
_WIDTH = 80  # columns of a terminal whose size is unknown


class Column(NamedTuple):
    """How a column is shown."""

    head: str
    justify: Literal["left", "right"]
    style: str
    folds: bool  # into several lines, on a terminal that is too narrow


class Table:
    """A table with a head, for `printer().show`."""

    def __init__(self) -> None:
        self.columns: list[Column] = []
        self.rows: list[tuple[tuple[str, ...], bool]] = []  # cells, and whether a space follows

    def add_column(
        self, head: str, *, justify: Literal["left", "right"] = "left", style: str = "", folds: bool = False
    ) -> None:
        """Add a column to the right."""
        self.columns.append(Column(head, justify, style, folds))

    def add_row(self, *cells: str, end_section: bool = False) -> None:
        """Add a row below; a blank line follows it at the end of a section."""
        self.rows.append((cells, end_section))

    def text(self) -> str:
        """The table as plain text."""
        heads = tuple(column.head for column in self.columns)
        columns = list(zip(heads, *(cells for cells, _ in self.rows), strict=True))
        widths = [max(map(_cells, column)) for column in columns]
        total = sum(widths) + _GAP * (len(widths) - 1)
        lines = [self._line(heads, widths), "─" * total]
        for place, (cells, ends) in enumerate(self.rows):
            lines.append(self._line(cells, widths))
            if ends and place < len(self.rows) - 1:
                lines.append(" " * total)
        return "\n".join(lines)

    def _line(self, cells: tuple[str, ...], widths: list[int]) -> str:
        filled = []
        for cell, width, column in zip(cells, widths, self.columns, strict=True):
            space = " " * (width - _cells(cell))
            filled.append(space + cell if column.justify == "right" else cell + space)
        return (" " * _GAP).join(filled)


class Lines:
    """Prints plain text into a pipe."""

    is_terminal = False

    @property
    def width(self) -> int:
        """The width of the terminal behind the pipe, for what has to be cut into pieces."""
        with suppress(ValueError):
            return int(os.environ.get("COLUMNS", ""))
        for stream in range(3):
            with suppress(OSError):
                return os.get_terminal_size(stream).columns
        return _WIDTH

    def print(self, text: str = "", *, style: str | None = None, soft_wrap: bool = True) -> None:
        """Print a line."""
        print(text)

    def show(self, table: Table) -> None:
        """Print a table."""
        print(table.text())


def _cells(text: str) -> int:
    """The width of a text on a terminal."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    length: Any = cell_len(text)
    return int(length)
