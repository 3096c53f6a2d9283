"""A table of people, events or sales, wherever it lies, and private statistics of its columns: the public class."""

import operator
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any, NoReturn, TypedDict, Unpack

from nobounds.accounting.loss import Neighbors, PrivacyLoss, Unit, check_neighbors, rows_of
from nobounds.accounting.spending import Chargeable, Spending, charged
from nobounds.engines.column import Column
from nobounds.engines.csv.dialect import Csv
from nobounds.engines.csv.layout import HEADER_UNKNOWN
from nobounds.engines.keys import all_differ
from nobounds.engines.memory.frames import Frame
from nobounds.engines.open import open_source
from nobounds.engines.source import Bounding, Facts, Keyed, Progress, TableSource
from nobounds.exact import Number, shown
from nobounds.noise.discrete import Noise
from nobounds.noise.source import Rng, random_source
from nobounds.ranks.auto import Method
from nobounds.release.description import Description
from nobounds.release.grouped import GroupedRelease
from nobounds.release.release import Release
from nobounds.statistics.describe import PerColumn, describe
from nobounds.statistics.quantile import bounds, maximum, minimum, quantile
from nobounds.statistics.quantiles import quantiles
from nobounds.statistics.sums import count, mean, sum
from nobounds.tables.grouping import Grouping, check_delta

_SUGGESTED = Fraction(19, 20)
_MOST = 1 << 31
_NO_PICKLE = (
    "a table cannot be pickled: it holds data, and the budget that they are charged to; "
    "open it in the process that asks, with Budget(path=...)"
)


class Spent(TypedDict, total=False):
    """What a statistic may cost: epsilon (pure) or rho (zCDP); and a seeded generator, for tests alone."""

    epsilon: Number | None
    rho: Number | None
    rng: Rng


class Options(Spent, total=False):
    """The keywords of the statistics of a column; they are those of `nobounds.quantile`."""

    lower: Number | None
    upper: Number | None
    resolution: Number | None


class Walk(Options, total=False):
    """The further keywords of extremes."""

    beta: Number | None
    noise: Noise


class Search(Walk, total=False):
    """The further keywords of a quantile."""

    method: Method
    rows: Number | None


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
        self._rows_per_unit = None if rows_per_unit is None else _whole(rows_per_unit, "rows_per_unit")
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

    def quantile(self, column: str, q: Number, **options: Unpack[Search]) -> Release:
        """A private q-quantile of a column, as `nobounds.quantile` gives it."""
        return self._told(column, quantile(self._column(column, options), q, **self._common(column), **options))

    def quantiles(self, column: str, q: Iterable[Number], **options: Unpack[Options]) -> Release:
        """Private quantiles of a column, as `nobounds.quantiles` gives them."""
        return self._told(column, quantiles(self._column(column, options), q, **self._common(column), **options))

    def maximum(self, column: str, **options: Unpack[Walk]) -> Release:
        """A private maximum."""
        return self._told(column, maximum(self._column(column, options), **self._common(column), **options))

    def minimum(self, column: str, **options: Unpack[Walk]) -> Release:
        """A private minimum."""
        return self._told(column, minimum(self._column(column, options), **self._common(column), **options))

    def bounds(self, column: str, **options: Unpack[Walk]) -> Release:
        """A private minimum and maximum."""
        return self._told(column, bounds(self._column(column, options), **self._common(column), **options))

    def sum(self, column: str, **options: Unpack[Options]) -> Release:
        """A private sum."""
        return self._told(column, sum(self._column(column, options), **self._common(column), **options))

    def mean(self, column: str, **options: Unpack[Options]) -> Release:
        """A private mean."""
        return self._told(column, mean(self._column(column, options), **self._common(column), **options))

    def count(self, column: str | None = None, **options: Unpack[Spent]) -> Release:
        """A private number of rows, or of those with a value in a column; of a unit at most `rows_per_unit` count."""
        if column is not None:
            return self._told(column, count(self._column(column, options), **self._common(column), **options))
        marks = self._source.row_marks(self._bounding(options))
        return self._told(None, count(marks, **self._common("rows"), **options))

    def describe(
        self,
        columns: Iterable[str] | None = None,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        lower: PerColumn = None,
        upper: PerColumn = None,
        resolution: PerColumn = None,
        rng: Rng = None,
    ) -> Description:
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
        found = self._source.columns(names, self._bounding({"rng": rng}))
        skipped = {name: kind for name, kind in self._source.others.items() if columns is None and self._shows(name)}
        # A column that is named explicitly is assumed to be numeric.
        typed = self._source.typed or columns is not None or all(self._source.facts[name].declared for name in names)
        return describe(
            Frame(found, skipped, typed, self._source.query),
            epsilon=epsilon,
            rho=rho,
            lower=lower,
            upper=upper,
            resolution=resolution,
            neighbors=self._neighbors,
            budget=self._budget,
            rng=rng,
        )

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
        sizes = self._source.rows_of_units(self._unit)
        budget = None if self._budget is None else _Named(self._budget, f"rows per {self._unit}")
        found = quantile(sizes, q, epsilon=epsilon, rho=rho, lower=1, budget=budget, rng=rng)
        told = {name: value for name, value in found.parameters.items() if name != "rows_per_unit"}  # all rows count
        return self._told(f"rows per {self._unit}", replace(found, parameters=told))

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
        raise TypeError(_NO_PICKLE)

    def _column(self, name: str, options: Any) -> Column:
        self._require_numeric(name)
        return self._source.columns([name], self._bounding(options))[name]

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

    def _told(self, column: str | None, release: Release) -> Release:
        """The release, with the name of its column, and what its rows are those of."""
        of = {} if column is None else {"column": column}
        return replace(release, parameters=of | rows_of(self._source.query) | release.parameters)

    def _common(self, column: str) -> dict[str, Any]:
        budget = None if self._budget is None else _Named(self._budget, column)
        return {"neighbors": self._neighbors, "budget": budget}

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


class GroupedTable:
    """A table by groups: each statistic gives an answer for each key, all of them for one epsilon."""

    def __init__(
        self,
        table: Table,
        by: tuple[str, ...],
        keys: Iterable[Any] | None,
        delta: Number | None,
        groups_per_unit: int | None,
    ) -> None:
        if not by:
            raise ValueError("group_by needs a column, for example group_by('region', keys=['north', 'south'])")
        for name in by:
            table._require(name)
        if len(set(by)) < len(by):
            raise ValueError("group_by needs each column once, got one of them twice")
        table._source.check_keys(by)
        if (keys is None) == (delta is None):
            got = "neither" if keys is None else "both"
            raise ValueError(f"group_by needs keys= (public) or delta= (keys are chosen privately), got {got}")
        if table._neighbors == "swap":
            raise ValueError("groups need neighbors='add-remove', got neighbors='swap'")
        if groups_per_unit is not None and table._unit is None:
            raise ValueError("groups_per_unit needs a table with a unit")
        self._table, self._by = table, by
        self._delta = None if delta is None else check_delta(delta)
        self._groups_per_unit = None if groups_per_unit is None else _whole(groups_per_unit, "groups_per_unit")
        self._keys = None
        if keys is not None:
            self._keys = table._source.known_keys(by, _by_column(keys, len(by)))
            if not all_differ(self._keys):
                raise ValueError("keys must differ, got one of them twice")

    def quantile(self, column: str, q: Number, **options: Unpack[Options]) -> GroupedRelease:
        """A private q-quantile of each group."""
        return self._quantile("quantile", column, q, options)

    def maximum(self, column: str, **options: Unpack[Options]) -> GroupedRelease:
        """A private maximum of each group."""
        return self._quantile("maximum", column, 1, options)

    def minimum(self, column: str, **options: Unpack[Options]) -> GroupedRelease:
        """A private minimum of each group."""
        return self._quantile("minimum", column, 0, options)

    def sum(self, column: str, **options: Unpack[Options]) -> GroupedRelease:
        """A private sum of each group, within one clip for all of them."""
        _refuse_unknown(options, Options)
        self._table._require_numeric(column)
        return self._grouping().sum(
            column, self._spending(options), random_source(options.get("rng")), **_facts(options)
        )

    def mean(self, column: str, **options: Unpack[Options]) -> GroupedRelease:
        """A private mean of each group, within one clip for all of them."""
        _refuse_unknown(options, Options)
        self._table._require_numeric(column)
        return self._grouping().mean(
            column, self._spending(options), random_source(options.get("rng")), **_facts(options)
        )

    def count(self, column: str | None = None, **options: Unpack[Spent]) -> GroupedRelease:
        """A private number of rows of each group, or of those with a value in a column."""
        _refuse_unknown(options, Spent)
        if column is not None:
            self._table._require_numeric(column)
        return self._grouping().count(column, self._spending(options), random_source(options.get("rng")))

    def _quantile(self, statistic: str, column: str, q: Number, options: Options) -> GroupedRelease:
        _refuse_unknown(options, Options)
        self._table._require_numeric(column)
        spending, source = self._spending(options), random_source(options.get("rng"))
        return self._grouping().quantile(column, q, spending, source, statistic, **_facts(options))

    def _spending(self, options: Any) -> Spending:
        spending = Spending.of(options.get("epsilon"), options.get("rho"))
        if spending.zcdp and self._delta is not None:
            raise ValueError("keys that are chosen privately need epsilon, got rho; give epsilon, or public keys")
        return spending

    def _grouping(self) -> Grouping:
        table, unit = self._table, self._table._privacy_unit
        most = min(self._groups_per_unit or unit.rows, unit.rows)
        return Grouping(table._source, Keyed(self._by, self._keys), self._delta, unit, most, table._budget)

    def __copy__(self) -> "GroupedTable":
        """As that of a Table."""
        return self

    def __deepcopy__(self, memo: object) -> "GroupedTable":
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(_NO_PICKLE)

    def __repr__(self) -> str:
        return f"GroupedTable(by {', '.join(self._by)}, of {self._table!r})"


class _Named:
    """A budget whose charges say which column they are for."""

    def __init__(self, budget: Chargeable, name: str) -> None:
        self._budget, self._name = budget, name

    def charge(self, loss: PrivacyLoss, what: str) -> None:
        """Charge it."""
        charged(loss, self._budget, f"{what} of {self._name}")


def _kind(facts: Facts) -> str:
    return "number" if facts.declared else "text that may be numbers"


def _facts(options: Any) -> dict[str, Any]:
    return {name: options.get(name) for name in ("lower", "upper", "resolution")}


def _refuse_unknown(options: Any, known: type) -> None:
    """Refuse other keywords, as a function that lists its own would."""
    for name in options:
        if name not in known.__annotations__:
            raise TypeError(
                f"{name} is no keyword of a statistic by groups; there are {', '.join(known.__annotations__)}"
            )


def _whole(given: Any, name: str) -> int:
    """A whole number from 1 on, one of numpy too."""
    try:
        found = 0 if isinstance(given, bool) else operator.index(given)
    except TypeError:
        found = 0
    if not 1 <= found <= _MOST:
        raise ValueError(f"{name} must be a whole number from 1 to {_MOST}, got {name}={shown(given)}")
    return found


def _by_column(keys: Iterable[Any], width: int) -> list[list[Any]]:
    """Public keys as a list for each column."""
    if isinstance(keys, str | bytes) or not isinstance(keys, Iterable):
        raise TypeError(f"keys must be a list of keys, got {type(keys).__name__}")
    found = list(keys)
    if not found:
        raise ValueError("keys must have at least one key, got none")
    if width == 1:
        return [found]
    if not all(isinstance(key, tuple | list) and len(key) == width for key in found):
        raise ValueError(f"each key must be a tuple of {width} values, one for each column")
    return [list(column) for column in zip(*found, strict=True)]
