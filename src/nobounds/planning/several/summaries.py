"""What a summary will answer, before anything is spent: `plan_describe`, and the forecast that it returns.

It uses public facts alone: the number of columns, and a number of rows that the user states.
"""

import json
import math
from collections.abc import Iterable
from dataclasses import asdict, replace
from fractions import Fraction
from typing import Any, Literal

from nobounds.accounting.enough import MOST
from nobounds.accounting.loss import Neighbors, Unit
from nobounds.accounting.spending import Spending
from nobounds.accounting.terms import Terms
from nobounds.exact import Number, rational, round_up, shown, text_up
from nobounds.release.shares import NEEDS, PARTS
from nobounds.statistics.foreseen import Foreseen
from nobounds.values import dataclass

_MOST_COLUMNS, _MOST_ROWS = 10_000, 10**12
_RATIO = Fraction(101, 100)  # to which the epsilon for one more statistic is searched


@dataclass(frozen=True, slots=True)
class PlannedPart:
    """Statistics of a column that are answered together.

    cost: what they get in each column, 0 if they are not answered.
    rows, spent: if they are not, how many rows, or how much epsilon or rho for the summary, they need.
    """

    statistics: tuple[str, ...]
    cost: float
    rows: int | None = None
    spent: float | None = None

    @property
    def answered(self) -> bool:
        """Whether they are answered, in at least 95% of columns."""
        return self.cost > 0


@dataclass(frozen=True, slots=True)
class DescribeForecast:
    """What `describe` will answer for a number of columns and rows, and what each statistic gets; nothing is read."""

    columns: int
    rows: int
    spending: Literal["epsilon", "rho"]
    amount: float
    parts: tuple[PlannedPart, ...]
    neighbors: Neighbors = "add-remove"
    rows_per_unit: int | None = None

    @property
    def answered(self) -> tuple[str, ...]:
        """The statistics that are answered, in at least 95% of columns."""
        return tuple(name for part in self.parts if part.answered for name in part.statistics)

    def cells(self) -> dict[str, list[str]]:
        """The cells of the table as text, by the names of its columns."""
        each = [(", ".join(part.statistics), *self._cells(part)) for part in self.parts]
        heads = ("statistic", f"{self.spending} in each column", "answered", "rows needed", f"or {self.spending}")
        return {head: [row[k] for row in each] for k, head in enumerate(heads)}

    def _cells(self, part: PlannedPart) -> tuple[str, str, str, str]:
        if part.answered:
            return text_up(part.cost, 2), "yes", "", ""
        rows = "" if part.rows is None else f"{part.rows:,}"
        return "", "no", rows, "" if part.spent is None else text_up(part.spent, 2)

    def title(self) -> str:
        """What is planned, in a line."""
        many = f"{self.columns:,} numeric column{'s' * (self.columns != 1)}"
        return f"describe {many}, {self.rows:,} rows, {self.spending} {text_up(self.amount)} ({self.neighbors})"

    def sentences(self) -> list[str]:
        """What is answered, and what it rests on, in words."""
        missing = [part for part in self.parts if not part.answered]
        first = f"Answered in each column: {', '.join(self.answered)}."
        if missing:
            first += " The others are left empty: too few rows."
        if missing and missing[0].rows is not None:
            more = f", or {self.spending} {text_up(missing[0].spent, 2)}" if missing[0].spent is not None else ""
            first += f" With {missing[0].rows:,} rows{more}, {' and '.join(missing[0].statistics)} would be answered."
        units = "" if self.rows_per_unit is None else f" Of each unit at most {self.rows_per_unit:,} count."
        return [first, f"The number of rows is taken as stated; nothing was read, and nothing was spent.{units}"]

    def __str__(self) -> str:
        cells = self.cells()
        widths = {head: max(len(head), *map(len, column)) for head, column in cells.items()}
        lines = [list(cells), *map(list, zip(*cells.values(), strict=True))]
        table = [
            "  ".join([line[0].ljust(widths["statistic"]), *map(str.rjust, line[1:], list(widths.values())[1:])])
            for line in lines
        ]
        return "\n".join([self.title(), *(line.rstrip() for line in table), *self.sentences()])

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        fields = asdict(self)
        fields["parts"] = [{**part, "statistics": list(part["statistics"])} for part in fields["parts"]]
        return {"statistic": "describe", "answered": list(self.answered), **fields}

    def to_json(self) -> str:
        """The forecast as one line of JSON."""
        return json.dumps(self.to_dict(), allow_nan=False)


def plan_describe(
    columns: int | Iterable[str],
    *,
    rows: Number,
    epsilon: Number | None = None,
    rho: Number | None = None,
    neighbors: Neighbors = "add-remove",
    rows_per_unit: int | None = None,
) -> DescribeForecast:
    """What `describe` will answer, before anything is spent; no data are read.

    columns: the number of numeric columns, or their names.
    rows: the number of rows, as far as you know it; with units, of those that count.
    rows_per_unit: of a table with a unit.

    What is called answered is answered in at least 95% of columns and runs, but for a mean or a standard deviation of
    which the records say too little: these are left out.

    >>> plan_describe(7, rows=1000, epsilon=1).answered
    ('count', '50%')
    """
    names = _names(columns)
    size = rational(rows, "rows")
    if size.denominator != 1 or not 1 <= size <= _MOST_ROWS:
        raise ValueError(f"rows must be a whole number between 1 and {_MOST_ROWS:.0e}, got rows={shown(rows)}")
    unit = Unit() if rows_per_unit is None else Unit("unit", rows_per_unit)
    foreseen = Foreseen(names, Terms.of(epsilon, rho, neighbors), unit)
    spending = foreseen.terms.spending
    times = unit.rows**2 if spending.zcdp else unit.rows
    given = foreseen.parts(int(size))
    counts = PlannedPart(("count",), round_up(foreseen.plan.count_part * times))
    parts = [
        PlannedPart(PARTS[part], round_up(given[part] * times))
        if part in given
        else PlannedPart(PARTS[part], 0.0, _rounded(foreseen.rows_for(part)), _spent_for(foreseen, part, int(size)))
        for part in NEEDS
    ]
    kind: Literal["epsilon", "rho"] = "rho" if spending.zcdp else "epsilon"
    amount = float(spending.amount)
    return DescribeForecast(
        len(names), int(size), kind, amount, (counts, *parts), foreseen.terms.neighbors, rows_per_unit
    )


def _rounded(rows: int | None) -> int | None:
    """A number of rows, rounded up to two digits."""
    return None if rows is None else math.ceil(float(text_up(float(rows), 2)))


def _names(columns: int | Iterable[str]) -> tuple[str, ...]:
    if isinstance(columns, str):
        raise TypeError(f"columns must be a number or a list of names, got a text; for one column give [{columns!r}]")
    if not isinstance(columns, int | Iterable):
        raise TypeError(f"columns must be a number or a list of names, got {type(columns).__name__}")
    if isinstance(columns, int):
        names = tuple(f"column {k}" for k in range(columns if 0 < columns <= _MOST_COLUMNS else 0))
    else:
        names = tuple(columns)
    if not names:
        raise ValueError(f"columns must be at least 1 and at most {_MOST_COLUMNS:,}, got columns={shown(columns)}")
    return names


def _spent_for(foreseen: Foreseen, part: str, rows: int) -> float | None:
    """The smallest epsilon or rho, to 1%, for which a part is answered with this many rows; None if it is too large."""
    spending = foreseen.terms.spending

    def reached(amount: Fraction) -> bool:
        terms = replace(foreseen.terms, spending=Spending(amount, spending.zcdp))
        return part in Foreseen(foreseen.names, terms, foreseen.unit).parts(rows)

    low = high = spending.amount
    while not reached(high):
        if high >= MOST:
            return None
        low, high = high, min(2 * high, Fraction(MOST))
    while high > low * _RATIO:
        middle = Fraction(math.sqrt(low * high)).limit_denominator(10**9)
        low, high = (low, middle) if reached(middle) else (middle, high)
    return float(text_up(float(high), 3))
