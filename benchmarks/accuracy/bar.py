"""One bar: a limit, what was measured, and where it is worst."""

import math
from typing import NamedTuple

from nobounds.research.bench.cells import Cell


class Bar(NamedTuple):
    """A limit, what was measured (NaN if nothing was), and where it is worst."""

    name: str
    limit: float
    value: float
    where: str = ""

    @property
    def verdict(self) -> str:
        """Whether it holds, as far as it was measured."""
        return "not measured" if math.isnan(self.value) else "holds" if self.value <= self.limit else "**missed**"


def place(cell: Cell) -> str:
    """The cell in words."""
    more = (f" times {cell.scale:g}" if cell.scale != 1 else "") + (f", {cell.stated} stated" if cell.stated else "")
    return (
        f"{cell.statistic} of {cell.family}{more} at {cell.offset:g}, n = {cell.n:,}, epsilon {cell.epsilon:g}, "
        f"{cell.relation}"
    )
