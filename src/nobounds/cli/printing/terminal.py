"""Tables and lines on a terminal, by rich."""

import sys
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as RichTable

from nobounds.cli import PIPE_CLOSED
from nobounds.cli.printing.tables import Table

_WIDEST = 10_000  # characters of a table in a pipe


class Terminal(Console):
    """A console that prints text literally, and ends the command if its reader is gone, as after `| head`."""

    def __init__(self) -> None:
        super().__init__(markup=False, highlight=False, emoji=False, soft_wrap=True)

    def on_broken_pipe(self) -> None:
        """Exit quietly; main handles the rest of the buffer."""
        self.quiet = True
        sys.exit(PIPE_CLOSED)

    def show(self, table: Table) -> None:
        """Print a table: at full width in a pipe, and with a line for each cell on a terminal that is too narrow."""
        made = _rich(table)
        narrow, self.width = self.width, _WIDEST
        fits = self.measure(made).maximum <= narrow
        if self.is_terminal:
            self.width = narrow
        if fits or not self.is_terminal or any(column.folds for column in table.columns):
            self.print(made)
            self.width = narrow
            return
        for cells, _ in table.rows:
            for column, cell in zip(table.columns, cells, strict=True):
                if cell:
                    self.print(f"{column.head}: {cell}" if column.head else cell, soft_wrap=False)


def _rich(table: Table) -> RichTable:
    made = RichTable(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for column in table.columns:
        how: Any = {"overflow": "fold"} if column.folds else {"no_wrap": True}
        made.add_column(column.head, justify=column.justify, style=column.style, **how)
    for cells, ends in table.rows:
        made.add_row(*cells, end_section=ends)
    return made
