"""An opened table: its source, whom privacy is for, and the budget; what a table and its groups share."""

import operator
import os
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, NoReturn, Self

from nobounds.accounting.loss import Neighbors, Unit, check_neighbors
from nobounds.accounting.spending import Chargeable
from nobounds.ask import Ask
from nobounds.engines.column import Column
from nobounds.engines.pairs import Pair
from nobounds.engines.schemas.known import MAYBE_NUMBERS
from nobounds.engines.source import Bounding, TableSource
from nobounds.exact import shown
from nobounds.expressions.types import BOOLEAN
from nobounds.expressions.view import View, named
from nobounds.kinds.kind import NUMBER
from nobounds.ladders.facts import Facts
from nobounds.mechanisms.decisions import Bits
from nobounds.programs.program import driver_of
from nobounds.values import dataclass

if TYPE_CHECKING:
    from nobounds.statistics.agg import AskedColumns

MOST_ROWS = 1 << 31  # of a unit
_CONDITION = "condition"  # the name of a computed column, if the table has none of that name


class SharedOnly:
    """An object whose copies are itself, because nothing in it changes; pickles are refused."""

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a table cannot be pickled: it holds data, and the budget that they are charged to; "
            "open it in the process that asks, with Budget(path=...)"
        )


@dataclass(frozen=True, slots=True)
class OpenedTable:
    """A table that was opened and not read.

    unit, rows_per_unit: the column that says whose row it is, and how many rows of a unit are used at most.
    """

    held: TableSource = field(repr=False)
    neighbors: Neighbors
    budget: Chargeable | None
    unit: str | None
    rows_per_unit: int | None
    process: int = field(default_factory=os.getpid)
    view: View = field(default_factory=View, repr=False)
    whole: TableSource | None = field(default=None, repr=False)  # without the view

    @classmethod
    def of(
        cls, held: TableSource, neighbors: object, budget: Chargeable | None, unit: str | None, rows_per_unit: Any
    ) -> "OpenedTable":
        """The table, with its unit checked."""
        most = None if rows_per_unit is None else whole_number(rows_per_unit, "rows_per_unit")
        table = cls(held, check_neighbors(neighbors), budget, unit, most)
        if unit is None and rows_per_unit is not None:
            raise ValueError("rows_per_unit needs unit, the column that says whose row it is")
        if unit is not None:
            table.require(unit)
            table.source.check_keys((unit,))
            if unit == Unit().name:
                raise ValueError(f"the unit cannot be called {unit!r}, which stands for single rows; rename the column")
            if table.neighbors == "swap":
                raise ValueError("a table with a unit needs neighbors='add-remove', got neighbors='swap'")
        return table

    def where(self, condition: Any) -> "OpenedTable":
        """The table with one more condition on its rows."""
        self._require_all(condition)
        return self._viewed(self._own_view().where(condition))

    def with_columns(self, formulas: Mapping[str, Any]) -> "OpenedTable":
        """The table with computed columns."""
        if not formulas:
            raise ValueError("with_columns needs a column, for example with_columns(rate='late / trips')")
        for name, formula in formulas.items():
            if name == self.unit:
                raise ValueError(f"the unit {name!r} cannot be computed; give the new column another name")
            self._require_all(formula)
        return self._viewed(self._own_view().with_columns(formulas))

    def _require_all(self, expression: Any) -> None:
        for name in named(expression):
            self.require(name)

    def _own_view(self) -> View:
        return self.view if self.whole is not None else View(self.source.types)

    def _viewed(self, view: View) -> "OpenedTable":
        whole = self.source if self.whole is None else self.whole
        return replace(self, held=whole.viewed(view, self.neighbors == "swap"), view=view, whole=whole)

    @property
    def source(self) -> TableSource:
        """The source, before anything is charged; one that is a query belongs to the process that opened it.

        Two processes that read by one connection, or one file position, get each other's bytes.
        """
        if self.process != os.getpid() and self.held.connected:
            raise ValueError("the table is a query that another process has opened; open it again in this one")
        return self.held

    @property
    def privacy_unit(self) -> Unit:
        """Whom privacy is for."""
        if self.unit is None:
            return Unit()
        if self.rows_per_unit is None:
            raise ValueError(
                "a table with a unit needs rows_per_unit, the most rows of a unit to use; "
                "table.suggest_rows_per_unit(epsilon=...) helps to choose it"
            )
        return Unit(self.unit, self.rows_per_unit)

    def column(self, name: str, options: Mapping[str, Any]) -> Column:
        """A numeric column, to be read when it is paid for."""
        self.require_numeric(name)
        return self.named(self.source.columns([name], self.bounding(options))[name], name)

    def columns_for(self, asks: tuple[Ask, ...], options: Mapping[str, Any]) -> "AskedColumns":
        """The columns that are asked about, to be read together when they are paid for."""
        from nobounds.statistics.agg import AskedColumns

        conditions = dict.fromkeys(name for ask in asks if ask.statistic == "proportion" for name in ask.columns)
        names = list(dict.fromkeys(name for ask in asks for name in ask.columns if name not in conditions))
        for name in names:
            self.require_numeric(name)
        bounding = self.bounding(options)
        read: dict[str | None, Column] = {name: self.condition(name, options) for name in conditions}
        if names:
            columns = self.source.columns(names, bounding, several=len(asks) > 1)
            read |= {name: self.named(columns[name], name) for name in names}
        if not all(ask.columns for ask in asks):
            read[None] = self.named(self.source.row_marks(bounding), "rows", counted=True)
        return AskedColumns(read, self.view.text, self.view.used(names))

    def pair(self, first: str, second: str, options: Mapping[str, Any]) -> Pair:
        """Two numeric columns of the same rows, to be read when they are paid for."""
        for name in (first, second):
            self.require_numeric(name)
        read = self.source.columns(list(dict.fromkeys((first, second))), self.bounding(options))
        return Pair(self.named(read[first], first), self.named(read[second], second))

    def condition(self, given: Any, options: Mapping[str, Any]) -> Column:
        """A boolean column: one of the table, or whether a condition on its rows is true."""
        table, name, text = self.with_condition(given)
        if table is self:
            return self.column(name, options)
        column = table.source.columns([name], self.bounding(options))[name]
        return self.named(column, text)

    def with_condition(self, given: Any) -> tuple["OpenedTable", str, str]:
        """The table with a boolean column that is a condition, its name, and its text; or the name of one it has."""
        known = {*self.source.facts, *self.source.others}
        if isinstance(given, str) and given in known:
            return self, given, given
        self._require_all(given)
        own = _CONDITION
        while own in known:
            own += "_"
        view = self._own_view().with_columns({own: given})
        formula = view.formulas[own]
        if formula.type != BOOLEAN:
            raise TypeError(f"a condition must be true or false for each row, got one that is {formula.type}")
        return self._viewed(view), own, formula.text

    def numeric_columns(self, columns: Iterable[str] | None, without: tuple[str, ...] = ()) -> list[str]:
        """The numeric columns with these names; by default all, except the unit and some others."""
        if isinstance(columns, str):
            raise TypeError(f"columns must be a list of names, got a text; for one column give [{columns!r}]")
        numeric = (name for name in self.source.facts if name not in (self.unit, *without))
        names = list(dict.fromkeys(numeric if columns is None else columns))
        for name in names:
            self.require_numeric(name)
        if not names:
            raise ValueError("describe needs a numeric column, got none")
        return names

    def named(self, column: Column, name: str, *, counted: bool = False) -> Column:
        """The column with its name, and whether its rows are those of a query, among its public facts."""
        facts = replace(column.facts, name=name, query=self.source.query, counted=counted)
        return replace(column, facts=replace(facts, where=self.view.text, formulas=self.view.used([name])))

    def bounding(self, options: Mapping[str, Any]) -> Bounding | None:
        """How rows of a unit are chosen, if there are units."""
        unit = self.privacy_unit
        if unit == Unit():
            return None
        return Bounding(unit.name, unit.rows, unit.rows, driver_of(options.get("rng")).decide(Bits(62)))

    @property
    def columns(self) -> dict[str, str]:
        """The columns and their types; public."""
        return {name: _type(facts) for name, facts in self.source.facts.items()} | self.source.others

    def require(self, name: str) -> None:
        """An error if there is no such column."""
        if not isinstance(name, str):
            raise TypeError(f"a column is called by its name, a text, got {type(name).__name__}")
        if name not in self.source.facts and name not in self.source.others:
            raise ValueError(
                f"column {name!r} is not in the table; the columns are {', '.join(map(repr, self.columns))}"
            )

    def require_numeric(self, name: str) -> None:
        """An error if there is no such numeric column."""
        self.require(name)
        if name not in self.source.facts:
            family = self.source.others[name]
            state = f", or state what the objects are: schema={{{name!r}: 'date'}}" if family == "object" else ""
            if "interval" in family:
                state = "; its months have no fixed length, so select its seconds, in DuckDB by epoch(...)"
            raise TypeError(f"column {name!r} must be numeric, got {family}; cast it first{state}")

    def __str__(self) -> str:
        unit = "" if self.unit is None else f", unit={self.unit!r}, rows_per_unit={self.rows_per_unit}"
        return f"Table({len(self.source.facts) + len(self.source.others)} columns{unit})"


def _type(facts: Facts) -> str:
    """The type of a column in the words of a schema."""
    if not facts.declared:
        return MAYBE_NUMBERS
    if facts.kind != NUMBER or not facts.integral:
        return str(facts.kind)
    return "boolean" if (facts.lower, facts.upper) == (0, 1) else "integer"


def whole_number(given: Any, name: str) -> int:
    """A whole number from 1 on, also one of numpy."""
    try:
        number = 0 if isinstance(given, bool) else operator.index(given)
    except TypeError:
        number = 0
    if not 1 <= number <= MOST_ROWS:
        raise ValueError(f"{name} must be a whole number from 1 to {MOST_ROWS}, got {name}={shown(given)}")
    return number
