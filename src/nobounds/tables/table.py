"""A table of people, events or sales in any format, and private statistics of its columns: the public class.

A method imports the statistic that it is for: a process that asks for one loads none of the others.
"""

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack

from nobounds.accounting.loss import Neighbors
from nobounds.accounting.spending import Chargeable, labelled
from nobounds.accounting.terms import Terms
from nobounds.ask import Ask
from nobounds.engines.csv.dialect import Csv
from nobounds.engines.files.paths import name_of
from nobounds.engines.memory.frames import Frame
from nobounds.engines.open import open_source
from nobounds.engines.schemas.schema import SchemaLike
from nobounds.engines.source import Progress
from nobounds.exact import Number
from nobounds.noise.source import Rng
from nobounds.release.answers import Answers
from nobounds.release.description import Description
from nobounds.release.grouped import GroupedRelease
from nobounds.release.release import Release, Several, Single
from nobounds.statistics.door import release_column
from nobounds.statistics.keywords import (
    Averaged,
    Binned,
    Budgeted,
    Counted,
    Distinct,
    Each,
    Enclosed,
    Ended,
    Keys,
    Paired,
    Pointed,
    Ranged,
    Searched,
    Spent,
    ValuedByUnit,
    flag,
    spelled_out,
)
from nobounds.statistics.quantiles import bounds, maximum, median, minimum, quantile, quantiles
from nobounds.tables.opened import OpenedTable, SharedOnly, whole_number
from nobounds.tables.sql import SOURCE

if TYPE_CHECKING:
    from nobounds.tables.by_group.table import GroupedTable

_SUGGESTED = Fraction(19, 20)


class Table(SharedOnly):
    """A table, and private statistics of its columns, each charged to the budget before a record is read.

    data: a path, a glob or a list of paths of CSV, JSON lines, Parquet, Arrow, Feather or Excel files; a pandas
    or polars frame, eager or lazy; an Arrow table; a DuckDB relation; a Spark DataFrame; a dict of columns or a numpy
    array. `Table.sql` takes a query.
    unit: the column that says whose row it is. Then privacy is for all rows of a unit together, of which at most
    `rows_per_unit` are used, chosen anew for each statistic; `suggest_rows_per_unit` helps to choose that number.
    Without a unit privacy is for single rows.
    neighbors: "add-remove" or "swap"; units and groups need "add-remove".
    budget: a `Budget` that every statistic is charged to.
    label: the name of the data in the budget's history, by default that of the file; a budget covers the name that it
    was charged for first, and refuses others until `budget.allow(label)`. Data in memory and queries have no name.
    csv: how the text of CSV files is to be read, a `Csv`; it has to state whether the first line is a header.
    schema: the types of columns of files by name, such as "integer", "text", "date" or "money"; or a `Schema`, or the
    path of one. A column of a CSV file without a type is text, and is read as numbers where a statistic of numbers
    names it. Of tables in memory, the types of columns of objects,
    texts or lists: "date", "datetime(Europe/Berlin)", "decimal(12,2)" and the like; what is no such value is missing.

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
        label: str | None = None,
        csv: Csv | None = None,
        schema: SchemaLike | None = None,
        progress: Progress | None = None,
    ) -> None:
        source, purse = open_source(data, progress, csv, schema), labelled(budget, label, name_of(data))
        self._opened = OpenedTable.of(source, neighbors, purse, unit, rows_per_unit)

    @classmethod
    def sql(
        cls,
        connection: Any,
        query: str,
        *,
        rows_of: str = SOURCE,
        folder: str | PathLike[str] | None = None,
        csv: Csv | None = None,
        unit: str | None = None,
        rows_per_unit: int | None = None,
        neighbors: Neighbors = "add-remove",
        budget: Chargeable | None = None,
        label: str | None = None,
        progress: Progress | None = None,
    ) -> "Table":
        """The table that a query gives, by a connection to DuckDB, PostgreSQL or another database, or by SQLAlchemy.

        The query selects rows and columns of one table, as `nb.sql` does: one row of the table makes at most one row of
        the result, and whatever else is refused. nobounds computes its expressions, and reads whole columns.
        folder: where the files are that the query may name in quotes; without it there are none.
        csv: how the text of CSV files is to be read, a `Csv`.
        rows_of: "result" lets the database run any select, with joins, aggregates or functions of its own. Privacy is
        then for one row of the result, or for the rows of a unit in it, whatever a person or a row of the tables
        underneath can change of them; releases say so by `parameters["rows_of"]`. So do those of lazy frames,
        relations, streams of Arrow batches and Spark DataFrames, which are queries too.
        """
        from nobounds.tables.sql.query import query_stream

        stream = query_stream(connection, query, rows_of, masked=neighbors == "swap", folder=folder, csv=csv)
        return cls(
            stream,
            unit=unit,
            rows_per_unit=rows_per_unit,
            neighbors=neighbors,
            budget=budget,
            label=label,
            progress=progress,
        )

    @property
    def columns(self) -> dict[str, str]:
        """The columns and the families of their types; public."""
        return self._opened.columns

    def where(self, condition: Any) -> "Table":
        """The rows for which a condition is true, as a table of its own; of several conditions all must hold.

        condition: SQL text, or an expression of polars or DuckDB, on the columns of one row: comparisons, and, or, not,
        in, between, is null and arithmetic. A row for which it is null is dropped. The condition is public, and must be
        chosen without looking at the data; releases state it in `parameters["where"]`.

        >>> people = Table({"age": range(10_000), "pay": range(10_000)})
        >>> print(people.where("age >= 18 and age < 5000").count(epsilon=1).parameters["where"])
        age >= 18 and age < 5000
        """
        return self._like(self._opened.where(condition))

    def with_columns(self, **formulas: Any) -> "Table":
        """The table with more columns, each computed from the columns of one row: `rate="late / trips"`.

        A formula is SQL text, or an expression of polars or DuckDB. What cannot be computed, like a division by 0, is
        missing. Releases state the formulas of their columns in `parameters["formulas"]`.

        >>> trips = Table({"late": range(10_000), "trips": range(10_000)}).with_columns(share="late / trips")
        >>> trips.columns["share"]
        'number'
        """
        return self._like(self._opened.with_columns(formulas))

    def _like(self, opened: OpenedTable) -> "Table":
        table = object.__new__(type(self))
        table._opened = opened
        return table

    @spelled_out
    def quantile(self, column: str, q: Number, **options: Unpack[Searched]) -> Single:
        """A private q-quantile of a column, as `nobounds.quantile` gives it."""
        return quantile(self._opened.column(column, options), q, **self._charged, **options)

    @spelled_out
    def median(self, column: str, **options: Unpack[Searched]) -> Single:
        """A private median of a column, as `nobounds.median` gives it."""
        return median(self._opened.column(column, options), **self._charged, **options)

    @spelled_out
    def quantiles(self, column: str, q: Iterable[Number], **options: Unpack[Counted]) -> Several:
        """Private quantiles of a column, as `nobounds.quantiles` gives them."""
        return quantiles(self._opened.column(column, options), q, **self._charged, **options)

    @spelled_out
    def maximum(self, column: str, **options: Unpack[Ended]) -> Single:
        """A private maximum."""
        return maximum(self._opened.column(column, options), **self._charged, **options)

    @spelled_out
    def minimum(self, column: str, **options: Unpack[Ended]) -> Single:
        """A private minimum."""
        return minimum(self._opened.column(column, options), **self._charged, **options)

    @spelled_out
    def bounds(self, column: str, **options: Unpack[Ended]) -> Several:
        """A private minimum and maximum."""
        return bounds(self._opened.column(column, options), **self._charged, **options)

    @spelled_out
    def sum(self, column: str, **options: Unpack[Enclosed]) -> Single:
        """A private sum."""
        from nobounds.statistics.sums import sum

        return sum(self._opened.column(column, options), **self._charged, **options)

    @spelled_out
    def mean(self, column: str, **options: Unpack[Averaged]) -> Single:
        """A private mean."""
        from nobounds.statistics.sums import mean

        return mean(self._opened.column(column, options), **self._charged, **options)

    @spelled_out
    def std(self, column: str, **options: Unpack[Enclosed]) -> Single:
        """A private standard deviation."""
        from nobounds.statistics.moments.spreads import std

        return std(self._opened.column(column, options), **self._charged, **options)

    @spelled_out
    def variance(self, column: str, **options: Unpack[Enclosed]) -> Single:
        """A private variance."""
        from nobounds.statistics.moments.spreads import variance

        return variance(self._opened.column(column, options), **self._charged, **options)

    @spelled_out
    def proportion(self, condition: Any, **options: Unpack[Spent]) -> Single:
        """A private share of the rows for which a condition is true, with an interval that holds for every data set.

        condition: the name of a boolean column, or a condition as `where` takes it. A row for which it is null does not
        count.

        >>> import random
        >>> people = Table({"age": range(10_000)})
        >>> people.proportion("age < 2500", epsilon=1, rng=random.Random(1)).value
        0.25...
        """
        from nobounds.statistics.moments.proportions import proportion

        return proportion(self._opened.condition(condition, options), **self._charged, **options)

    @spelled_out
    def iqr(self, column: str, **options: Unpack[Ranged]) -> Single:
        """A private interquartile range."""
        from nobounds.statistics.moments.ranges import iqr

        return iqr(self._opened.column(column, options), **self._charged, **options)

    @spelled_out
    def ratio(self, numerator: str, denominator: str, **options: Unpack[Paired]) -> Single:
        """A private ratio of the sums of two columns, over the rows that have a value in both."""
        from nobounds.statistics.moments.pairs import ratio_of

        return ratio_of(self._opened.pair(numerator, denominator, options), {**self._charged, **options})

    @spelled_out
    def weighted_mean(self, column: str, weights: str, **options: Unpack[Paired]) -> Single:
        """A private mean of a column, weighted by another one."""
        from nobounds.statistics.moments.pairs import weighted_mean_of

        return weighted_mean_of(self._opened.pair(column, weights, options), {**self._charged, **options})

    @spelled_out
    def covariance(self, x: str, y: str, **options: Unpack[Paired]) -> Single:
        """A private covariance of two columns."""
        from nobounds.statistics.moments.pairs import covariance_of

        return covariance_of(self._opened.pair(x, y, options), {**self._charged, **options})

    @spelled_out
    def correlation(self, x: str, y: str, **options: Unpack[Paired]) -> Single:
        """A private correlation of two columns."""
        from nobounds.statistics.moments.pairs import correlation_of

        return correlation_of(self._opened.pair(x, y, options), {**self._charged, **options})

    @spelled_out
    def histogram(self, column: str, **options: Unpack[Binned]) -> GroupedRelease:
        """A private histogram, as `nobounds.histogram` gives it."""
        from nobounds.statistics.histograms import histogram

        return histogram(self._opened.column(column, options), **self._charged, **options)

    @spelled_out
    def cdf(self, column: str, **options: Unpack[Pointed]) -> GroupedRelease:
        """A private cumulative distribution, as `nobounds.cdf` gives it."""
        from nobounds.statistics.histograms import cdf

        return cdf(self._opened.column(column, options), **self._charged, **options)

    @spelled_out
    def count(self, column: str | None = None, **options: Unpack[Spent]) -> Single:
        """A private number of rows, or of those with a value in a column; of a unit at most `rows_per_unit` count."""
        from nobounds.statistics.sums import count

        if column is not None:
            return count(self._opened.column(column, options), **self._charged, **options)
        marks = self._opened.source.row_marks(self._opened.bounding(options))
        return count(self._opened.named(marks, "rows", counted=True), **self._charged, **options)

    @spelled_out
    def value_counts(self, column: str, **options: Unpack[ValuedByUnit]) -> GroupedRelease:
        """Private numbers of rows with each value of a column, as `nobounds.value_counts` gives it."""
        groups = self._of_values(column, options)
        return groups._grouping().value_counts(groups._spending(options), options.get("rng"))

    @spelled_out
    def top_k(self, column: str, k: int, **options: Unpack[ValuedByUnit]) -> GroupedRelease:
        """Private counts of the k most frequent values of a column, as `nobounds.top_k` gives them."""
        most, groups = whole_number(k, "k"), self._of_values(column, options)
        return groups._grouping().top_k(most, groups._spending(options), options.get("rng"))

    def _of_values(self, column: str, options: ValuedByUnit) -> "GroupedTable":
        given = {name: options.get(name) for name in ("keys", "delta", "groups_per_unit")}
        return self.group_by(column, **given)  # type: ignore[arg-type]

    @spelled_out
    def count_distinct(self, column: str | None = None, **options: Unpack[Distinct]) -> Single:
        """A private number of distinct units, or of the distinct values in a column.

        Every unit counts once, so the number of units needs no `rows_per_unit`. A unit may have several values in
        another column: then at most `values_per_unit` of them are used, by default `rows_per_unit`, and the answer is
        the number of distinct values among those. Without a unit, one row has one value.
        """
        from nobounds.tables.distinct import distinct_units, distinct_values

        if column is None or column == self._opened.unit:
            if options.get("values_per_unit") is not None:
                raise ValueError("values_per_unit is for a column that is not the unit: a unit counts once")
            return distinct_units(self._opened, options)
        return distinct_values(self._opened, column, options)

    @spelled_out
    def describe(self, columns: Iterable[str] | None = None, **options: Unpack[Each]) -> Description:
        """A private summary of the numeric columns, as `nobounds.describe` gives it; the unit is not one of them."""
        from nobounds.statistics.describe import describe

        table, source = self._opened, self._opened.source
        names = table.numeric_columns(columns)
        skipped = {name: kind for name, kind in source.others.items() if columns is None}
        # A column that is named explicitly is assumed to be numeric.
        typed = source.typed or columns is not None or all(source.facts[name].declared for name in names)
        read, view = source.columns(names, table.bounding(options), several=True), table.view
        frame = Frame(read, skipped, typed, source.query, view.text, view.used(names))
        return describe(frame, **self._charged, **options)

    @spelled_out
    def agg(self, *asks: Ask | str, **options: Unpack[Spent]) -> Answers:
        """Private statistics of several columns, for one epsilon that is charged once and split by need.

        asks: by the functions of `nobounds.ask`, or as text.

        >>> import random
        >>> from nobounds.ask import count, mean, median
        >>> people = Table({"age": [18 + i % 60 for i in range(6000)], "pay": [i % 900 for i in range(6000)]})
        >>> answers = people.agg(mean("pay", lower=0), median("age"), "count()", epsilon=1, rng=random.Random(1))
        >>> round(answers["median(age)"].value)
        47
        """
        from nobounds.statistics.agg import agg

        marks = flag(options, "marks")
        terms = Terms.of(options.get("epsilon"), options.get("rho"), self._opened.neighbors)
        read = tuple(Ask.of(ask) for ask in asks)
        data = self._opened.columns_for(read, options)
        return agg(data, read, terms, marks, {"budget": self._opened.budget, "rng": options.get("rng")})

    def group_by(
        self,
        *by: str,
        keys: Keys | None = None,
        delta: Number | None = None,
        groups_per_unit: int | None = None,
    ) -> "GroupedTable":
        """The same table by groups: the rows that have the same values in one or several columns.

        keys: the public keys, values of the column or tuples of them; there are answers for all of these, and for no
        others; "enum" stands for the values that the type of a polars Enum declares, if these are public.
        Or delta: the keys that enough units have are chosen privately at this delta, for a quarter of epsilon; counts
        choose their keys themselves, for all of it.
        groups_per_unit: how many groups of a unit are used at most; by default `rows_per_unit`.
        """
        from nobounds.tables.by_group.table import GroupedTable

        return GroupedTable(self._opened, by, keys, delta, groups_per_unit)

    def suggest_rows_per_unit(
        self, *, epsilon: Number | None = None, rho: Number | None = None, q: Number = _SUGGESTED, rng: Rng = None
    ) -> Single:
        """A private quantile of the number of rows that a unit has: 95% of all units have no more than its value.

        With a larger `rows_per_unit` there is more noise, and fewer rows of the largest units are left out; this is
        the number to start with.
        """
        table = self._opened
        if table.unit is None:
            raise ValueError("rows per unit need unit, the column that says whose row it is")
        sizes = table.named(table.source.rows_of_units(table.unit), f"rows per {table.unit}")
        release = quantile(sizes, q, epsilon=epsilon, rho=rho, lower=1, budget=table.budget, rng=rng)
        return _of_all_rows(release)

    def suggest_contributions(
        self,
        *by: str,
        later: Number = 1,
        epsilon: Number | None = None,
        rho: Number | None = None,
        rng: Rng = None,
    ) -> Release:
        """The `rows_per_unit` with the smallest error to expect of a count at the epsilon `later`, a power of two.

        With columns to group by, the value is that number and a `groups_per_unit`: the smallest that raises the error
        by at most a tenth. A larger number of rows means more noise, a smaller one leaves out more rows;
        `parameters["candidates"]` has the noise and the share left out for some of them.
        """
        from nobounds.tables.contributions import ContributionsPlan
        from nobounds.tables.contributions import answer as contributions

        table = self._opened
        if table.unit is None:
            raise ValueError("contributions need unit, the column that says whose row it is")
        for name in by:
            table.require(name)
        table.source.check_keys(by)
        terms, unit = Terms.of(epsilon, rho, table.neighbors), table.unit
        rows, groups = table.source.groups_of_units(unit, by) if by else (table.source.rows_of_units(unit), None)
        release = release_column(
            "contributions",
            "contributions" + (f" by {', '.join(by)}" if by else ""),
            terms,
            lambda facts: ContributionsPlan.of(terms.spending, later, bool(by)),
            lambda plan, rows: contributions(plan, rows, groups),
            table.named(rows, f"rows per {unit}"),
            {"budget": table.budget, "rng": rng},
        )
        return _of_all_rows(release)

    def rows_left_out(self, *, epsilon: Number | None = None, rho: Number | None = None, rng: Rng = None) -> Single:
        """A private estimate of the share of all rows that `rows_per_unit` leaves out, with a 95% interval.

        A unit counts once, however many rows it has, so this costs little: a twentieth of an epsilon of 1 is enough for
        a few thousand units. The estimate is about rows, and says nothing of the values in them.
        """
        from nobounds.tables.left_out import LeftOutPlan
        from nobounds.tables.left_out import answer as left_out

        table = self._opened
        if table.unit is None:
            raise ValueError("rows are left out where a table has unit, the column that says whose row it is")
        most, terms = table.privacy_unit.rows, Terms.of(epsilon, rho, table.neighbors)
        release = release_column(
            "rows_left_out",
            "rows left out",
            terms,
            lambda facts: LeftOutPlan.of(terms.spending, most),
            left_out,
            table.named(table.source.rows_of_units(table.unit), f"rows per {table.unit}"),
            {"budget": table.budget, "rng": rng},
        )
        return _of_all_rows(release)

    @property
    def _charged(self) -> Budgeted:
        return {"neighbors": self._opened.neighbors, "budget": self._opened.budget}

    def __repr__(self) -> str:
        return str(self._opened)


def _of_all_rows(release: Release) -> Release:
    """A release about units with all of their rows: none of them is left out of it."""
    parameters = {name: value for name, value in release.parameters.items() if name != "rows_per_unit"}
    return replace(release, parameters=parameters)
