"""A table of people, events or sales, wherever it lies, and private statistics of its columns: the public class."""

import operator
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, Unpack

from nobounds.accounting.loss import Neighbors, Unit, check_neighbors
from nobounds.accounting.spending import Chargeable
from nobounds.engines.column import Column
from nobounds.engines.csv.dialect import Csv
from nobounds.engines.csv.layout import HEADER_UNKNOWN
from nobounds.engines.memory.frames import Frame
from nobounds.engines.open import open_source
from nobounds.engines.source import Bounding, Progress, TableSource
from nobounds.exact import Number, shown
from nobounds.ladders.facts import Facts
from nobounds.noise.source import Rng, random_source
from nobounds.release.description import Description
from nobounds.release.release import Release
from nobounds.statistics.describe import describe
from nobounds.statistics.keywords import Bounded, Charged, Counted, Each, Searched, Spent, Walked, spelled_out
from nobounds.statistics.quantiles import bounds, maximum, minimum, quantile, quantiles
from nobounds.statistics.sums import count, mean, sum

if TYPE_CHECKING:
    from nobounds.tables.grouped import GroupedTable

_SUGGESTED = Fraction(19, 20)
_MOST = 1 << 31
NO_PICKLE = (
    "a table cannot be pickled: it holds data, and the budget that they are charged to; "
    "open it in the process that asks, with Budget(path=...)"
)


class Table:
    """A table whose columns are asked for private statistics, each charged to the budget before a record is read.

    data: a path, a glob or a list of paths of CSV or Parquet files; a frame of pandas or polars, eager or lazy; an
    Arrow table; a DuckDB relation; a Spark DataFrame; a dict of columns or a numpy array. `Table.sql` takes a query.
    unit: the column that says whose row it is. Then privacy is for all rows of a unit together, of which at most
    `rows_per_unit` are used, chosen anew for each statistic; `suggest_rows_per_unit` helps to choose that number.
    Without a unit privacy is for single rows.
    neighbors: "add-remove" or "swap"; units and groups need "add-remove".
    budget: a `Budget` that every statistic is charged to.
    csv: how the text of CSV files is to be read, a `Csv`.
    schema: the types of columns of CSV files by name: "number", "integer" or "text". A column without a type is text,
    and is read as numbers where a statistic of numbers names it.

    Threads may share a table. A copy of it is the table itself, and pickles are refused; a query is for the process
    that opened it.

    >>> import random
    >>> people = Table({"age": [18 + i % 60 for i in range(6000)], "name": [f"p{i % 3000}" for i in range(6000)]},
    ...                unit="name", rows_per_unit=2)
    >>> people.quantile("age", 0.5, epsilon=1, resolution=1, rng=random.Random(1)).value
    47
    """

    def __init__(
        self,
        data: object,
        *,
        unit: str | None = None,
        rows_per_unit: int | None = None,
        neighbors: Neighbors = "add-remove",
        budget: Chargeable | None = None,
        csv: Csv | None = None,
        schema: Mapping[str, str] | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._opened, self._process = open_source(data, progress, csv, schema), os.getpid()
        self._neighbors, self._budget = check_neighbors(neighbors), budget
        self._unit = unit
        self._rows_per_unit = None if rows_per_unit is None else whole_number(rows_per_unit, "rows_per_unit")
        if unit is None and rows_per_unit is not None:
            raise ValueError("rows_per_unit needs unit, the column that says whose row it is")
        if unit is not None:
            self._require(unit)
            self._source.check_keys((unit,))
            if unit == Unit().name:
                raise ValueError(f"the unit cannot be called {unit!r}, which stands for single rows; rename the column")
            if self._neighbors == "swap":
                raise ValueError("a table with a unit needs neighbors='add-remove', got neighbors='swap'")

    @classmethod
    def sql(
        cls,
        connection: Any,
        query: str,
        *,
        unit: str | None = None,
        rows_per_unit: int | None = None,
        neighbors: Neighbors = "add-remove",
        budget: Chargeable | None = None,
        progress: Progress | None = None,
    ) -> "Table":
        """The table that a query gives, on a connection to DuckDB, PostgreSQL or any database of DB-API 2 or ADBC.

        Privacy is for one row of the query's result, or for the rows of a unit in it. If a person, or a row of the
        tables underneath, can change several of them (by a join, an aggregate, a window, a limit or distinct), the loss
        does not cover that. Releases say so by `parameters["rows_of"]`. So do those of lazy frames, relations, streams
        of Arrow batches and Spark DataFrames, which are queries too.
        """
        from nobounds.engines.sql.database import from_query

        stream = from_query(connection, query)
        return cls(
            stream, unit=unit, rows_per_unit=rows_per_unit, neighbors=neighbors, budget=budget, progress=progress
        )

    @property
    def columns(self) -> dict[str, str]:
        """The columns and the families of their types; public.

        Of a CSV file only what the user states is public: that it has a header, or the columns in `schema`.
        """
        kinds = {name: _kind(facts) for name, facts in self._source.facts.items()} | self._source.others
        shown = self._source.shown
        if shown is not None and not shown:
            raise ValueError(HEADER_UNKNOWN)
        return {name: kind for name, kind in kinds.items() if self._shows(name)}

    @spelled_out
    def quantile(self, column: str, q: Number, **options: Unpack[Searched]) -> Release:
        """A private q-quantile of a column, as `nobounds.quantile` gives it."""
        return quantile(self._column(column, options), q, **self._charged, **options)

    @spelled_out
    def quantiles(self, column: str, q: Iterable[Number], **options: Unpack[Counted]) -> Release:
        """Private quantiles of a column, as `nobounds.quantiles` gives them."""
        return quantiles(self._column(column, options), q, **self._charged, **options)

    @spelled_out
    def maximum(self, column: str, **options: Unpack[Walked]) -> Release:
        """A private maximum."""
        return maximum(self._column(column, options), **self._charged, **options)

    @spelled_out
    def minimum(self, column: str, **options: Unpack[Walked]) -> Release:
        """A private minimum."""
        return minimum(self._column(column, options), **self._charged, **options)

    @spelled_out
    def bounds(self, column: str, **options: Unpack[Walked]) -> Release:
        """A private minimum and maximum."""
        return bounds(self._column(column, options), **self._charged, **options)

    @spelled_out
    def sum(self, column: str, **options: Unpack[Bounded]) -> Release:
        """A private sum."""
        return sum(self._column(column, options), **self._charged, **options)

    @spelled_out
    def mean(self, column: str, **options: Unpack[Bounded]) -> Release:
        """A private mean."""
        return mean(self._column(column, options), **self._charged, **options)

    @spelled_out
    def count(self, column: str | None = None, **options: Unpack[Spent]) -> Release:
        """A private number of rows, or of those with a value in a column; of a unit at most `rows_per_unit` count."""
        if column is not None:
            return count(self._column(column, options), **self._charged, **options)
        marks = self._source.row_marks(self._bounding(options))
        return count(self._named(marks, "rows", counted=True), **self._charged, **options)

    @spelled_out
    def describe(self, columns: Iterable[str] | None = None, **options: Unpack[Each]) -> Description:
        """A private summary of the numeric columns, as `nobounds.describe` gives it; the unit is not one of them."""
        if isinstance(columns, str):
            raise TypeError(f"columns must be a list of names, got a text; for one column give [{columns!r}]")
        if columns is None and self._source.shown is not None and not self._source.shown:
            raise ValueError(HEADER_UNKNOWN)
        numeric = (name for name in self._source.facts if self._shows(name) and name != self._unit)
        names = list(dict.fromkeys(numeric if columns is None else columns))
        for name in names:
            self._require_numeric(name)
        if not names:
            raise ValueError("describe needs a numeric column, got none")
        numeric_columns = self._source.columns(names, self._bounding(options))
        skipped = {name: kind for name, kind in self._source.others.items() if columns is None and self._shows(name)}
        # A column that is named explicitly is assumed to be numeric.
        typed = self._source.typed or columns is not None or all(self._source.facts[name].declared for name in names)
        return describe(Frame(numeric_columns, skipped, typed, self._source.query), **self._charged, **options)

    def group_by(
        self,
        *by: str,
        keys: Iterable[Any] | None = None,
        delta: Number | None = None,
        groups_per_unit: int | None = None,
    ) -> "GroupedTable":
        """The same table by groups: the rows that have the same values in one or several columns.

        keys: the public keys, values of the column or tuples of them; there are answers for all of these, and for none
        else. Or delta: the keys that enough units have are chosen privately, for a quarter of epsilon at this delta.
        groups_per_unit: at most so many groups of a unit are used; by default as many as it has rows.
        """
        from nobounds.tables.grouped import GroupedTable

        return GroupedTable(self, by, keys, delta, groups_per_unit)

    def suggest_rows_per_unit(
        self, *, epsilon: Number | None = None, rho: Number | None = None, q: Number = _SUGGESTED, rng: Rng = None
    ) -> Release:
        """A private quantile of the number of rows that a unit has: 95 % of all units have no more than its value.

        Noise grows with `rows_per_unit`, and what is left of the largest units shrinks; this is the number to begin
        with.
        """
        if self._unit is None:
            raise ValueError("rows per unit need unit, the column that says whose row it is")
        sizes = self._named(self._source.rows_of_units(self._unit), f"rows per {self._unit}")
        release = quantile(sizes, q, epsilon=epsilon, rho=rho, lower=1, budget=self._budget, rng=rng)
        counts_all = {name: value for name, value in release.parameters.items() if name != "rows_per_unit"}
        return replace(release, parameters=counts_all)

    @property
    def _source(self) -> TableSource:
        """The source, before anything is charged; one that is a query belongs to the process that opened it.

        Two processes that read by one connection, or one file position, get each other's bytes.
        """
        if self._process != os.getpid() and self._opened.query:
            raise ValueError("the table is a query that another process has opened; open it again in this one")
        return self._opened

    def __copy__(self) -> "Table":
        """The table itself: nothing in it changes, and a copy is charged to the same budget."""
        return self

    def __deepcopy__(self, memo: object) -> "Table":
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(NO_PICKLE)

    def _column(self, name: str, options: Any) -> Column:
        self._require_numeric(name)
        return self._named(self._source.columns([name], self._bounding(options))[name], name)

    def _named(self, column: Column, name: str, *, counted: bool = False) -> Column:
        """The column with its name, and whether its rows are those of a query, among its public facts."""
        return replace(column, facts=replace(column.facts, name=name, query=self._source.query, counted=counted))

    @property
    def _charged(self) -> Charged:
        return {"neighbors": self._neighbors, "budget": self._budget}

    def _bounding(self, options: Any) -> Bounding | None:
        """How rows of a unit are chosen, if there are units."""
        unit = self._privacy_unit
        if unit == Unit():
            return None
        return Bounding(unit.name, unit.rows, unit.rows, random_source(options.get("rng"))(62))

    @cached_property
    def _privacy_unit(self) -> Unit:
        if self._unit is None:
            return Unit()
        if self._rows_per_unit is None:
            raise ValueError(
                "a table with a unit needs rows_per_unit, the most rows of a unit to use; "
                "table.suggest_rows_per_unit(epsilon=...) helps to choose it"
            )
        return Unit(self._unit, self._rows_per_unit)

    def _shows(self, name: str) -> bool:
        """Whether the name of a column may be shown."""
        return self._source.shown is None or name in self._source.shown

    def _require(self, name: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"a column is called by its name, a text, got {type(name).__name__}")
        if name not in self._source.facts and name not in self._source.others:
            shown = self._source.shown
            known = HEADER_UNKNOWN if shown == frozenset() else f"the columns are {', '.join(map(repr, self.columns))}"
            raise ValueError(f"column {name!r} is not in the table; {known}")

    def _require_numeric(self, name: str) -> None:
        self._require(name)
        if name not in self._source.facts:
            raise TypeError(f"column {name!r} must be numeric, got {self._source.others[name]}; cast it first")

    def __repr__(self) -> str:
        unit = "" if self._unit is None else f", unit={self._unit!r}, rows_per_unit={self._rows_per_unit}"
        return f"Table({len(self._source.facts) + len(self._source.others)} columns{unit})"


def _kind(facts: Facts) -> str:
    return "number" if facts.declared else "text that may be numbers"


def whole_number(given: Any, name: str) -> int:
    """A whole number from 1 on, one of numpy too."""
    try:
        number = 0 if isinstance(given, bool) else operator.index(given)
    except TypeError:
        number = 0
    if not 1 <= number <= _MOST:
        raise ValueError(f"{name} must be a whole number from 1 to {_MOST}, got {name}={shown(given)}")
    return number
