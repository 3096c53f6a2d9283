"""A table by groups, and private statistics of each group: the public class."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import product
from typing import Any, Unpack

from nobounds import ask
from nobounds.accounting.loss import Unit
from nobounds.accounting.spending import Spending
from nobounds.engines.keys import all_differ
from nobounds.engines.memory.frames import Frame
from nobounds.engines.source import Keyed
from nobounds.exact import Number
from nobounds.ladders.facts import Facts
from nobounds.programs.program import Program
from nobounds.ranks.options import Options
from nobounds.ranks.problem import check_rank
from nobounds.release.answers import Answers
from nobounds.release.description import Description
from nobounds.release.grouped import GroupedRelease
from nobounds.release.release import Release
from nobounds.statistics.agg import FUNCTIONS
from nobounds.statistics.describe import describe
from nobounds.statistics.histograms import cdf, histogram
from nobounds.statistics.keywords import (
    Binned,
    Bounded,
    Distinct,
    Each,
    Enclosed,
    Grouped,
    GroupedExtreme,
    Keys,
    Paired,
    Pointed,
    Spent,
    ValuesOfGroups,
    flag,
    spelled_out,
    stated_of,
)
from nobounds.statistics.quantiles import bounds, quantiles
from nobounds.statistics.searched import wanted_of
from nobounds.statistics.split import RANKS
from nobounds.tables.by_group.agg import LEARNING
from nobounds.tables.by_group.answers import Learned
from nobounds.tables.by_group.grouping import Grouping, check_delta
from nobounds.tables.by_group.one_by_one import Columns, Shown
from nobounds.tables.opened import OpenedTable, SharedOnly, whole_number

ENUM = "enum"  # as keys: those that the type of the column declares


class GroupedTable(SharedOnly):
    """A table by groups: each statistic gives an answer for each key, all of them for one epsilon."""

    def __init__(
        self,
        table: OpenedTable,
        by: tuple[str, ...],
        keys: Keys | None,
        delta: Number | None,
        groups_per_unit: int | None,
    ) -> None:
        if not by:
            raise ValueError("group_by needs a column, for example group_by('region', keys=['north', 'south'])")
        for name in by:
            table.require(name)
        if len(set(by)) < len(by):
            raise ValueError("group_by needs each column once, got one of them twice")
        table.source.check_keys(by)
        if (keys is None) == (delta is None):
            got = "neither" if keys is None else "both"
            raise ValueError(f"groups need keys= (public) or delta= (keys are chosen privately), got {got}")
        if table.neighbors == "swap":
            raise ValueError("groups need neighbors='add-remove', got neighbors='swap'")
        if groups_per_unit is not None and table.unit is None:
            raise ValueError("groups_per_unit needs a table with a unit")
        self._table, self._by = table, by
        self._delta = None if delta is None else check_delta(delta)
        self._groups_per_unit = None if groups_per_unit is None else whole_number(groups_per_unit, "groups_per_unit")
        self._keys = None
        if isinstance(keys, str) and keys == ENUM:
            keys = _enum(table, by)
        if keys is not None:
            self._keys = table.source.known_keys(by, _by_column(keys, by))
            if not all_differ(self._keys):
                raise ValueError("keys must differ, got one of them twice")

    @spelled_out
    def quantile(self, column: str, q: Number, **options: Unpack[Grouped]) -> GroupedRelease:
        """A private q-quantile of each group.

        With `interval=0.95` each group has an interval, in `intervals`, for the same epsilon; then at most 10,000 keys.
        """
        return self._quantile("quantile", column, check_rank(q), options)

    @spelled_out
    def median(self, column: str, **options: Unpack[Grouped]) -> GroupedRelease:
        """A private median of each group."""
        return self._quantile("median", column, Fraction(1, 2), options)

    @spelled_out
    def quantiles(self, column: str, q: Iterable[Number], **options: Unpack[Bounded]) -> Answers:
        """Private quantiles of each group, by name: `answers["quantile(fare, 0.95)"]` has one for each group.

        Each group is answered as `nobounds.quantiles` does, for the same epsilon; at most 10,000 keys.
        """
        ranks = list(q)
        asks = [ask.quantile(column, each) for each in ranks]
        return self._several(quantiles, column, ranks, asks, f"quantiles {', '.join(map(str, ranks))}", options)

    @spelled_out
    def bounds(self, column: str, **options: Unpack[Enclosed]) -> Answers:
        """A private minimum and maximum of each group, by name; at most 10,000 keys."""
        asks = [ask.minimum(column), ask.maximum(column)]
        return self._several(bounds, column, None, asks, "bounds", options)

    @spelled_out
    def std(self, column: str, **options: Unpack[Bounded]) -> GroupedRelease:
        """A private standard deviation of each group, within a clip of its own; at most 10,000 keys."""
        return self._number(ask.std(column), options)

    @spelled_out
    def variance(self, column: str, **options: Unpack[Bounded]) -> GroupedRelease:
        """A private variance of each group, within a clip of its own; at most 10,000 keys."""
        return self._number(ask.variance(column), options)

    @spelled_out
    def histogram(self, column: str, **options: Unpack[Binned]) -> GroupedRelease:
        """A private histogram of each group, as `nobounds.histogram` gives it: a count for each key and bin.

        At most 10,000 keys.
        """
        return self._binned(histogram, "histogram", ("from", "to"), column, options)

    @spelled_out
    def cdf(self, column: str, **options: Unpack[Pointed]) -> GroupedRelease:
        """A private cumulative distribution of each group, as `nobounds.cdf` gives it; at most 10,000 keys."""
        return self._binned(cdf, "cdf", ("up_to",), column, options)

    def _binned(
        self, function: Any, statistic: str, inner: tuple[str, ...], column: str, options: Any
    ) -> GroupedRelease:
        self._table.require_numeric(column)
        if taken := [name for name in inner if name in self._by]:
            raise ValueError(f"group_by has a column {taken[0]!r}, as the bins have; rename it with with_columns")
        own = {name: given for name, given in options.items() if name not in ("epsilon", "rho", "rng")}
        own |= {name: list(own[name]) for name in ("edges", "points") if own.get(name) is not None}

        def program(columns: Columns, keywords: dict[str, Any]) -> Program[GroupedRelease]:
            return function(columns[column], **own, **keywords)  # type: ignore[no-any-return]

        def released(shown: Shown, results: list[GroupedRelease], facts: dict[str, Facts]) -> GroupedRelease:
            return shown.of_bins(statistic, inner, facts[column].kind, results)

        return self._grouping().one_by_one(
            [column], f"{statistic} of {column}", self._spending(options), program, released, options.get("rng")
        )

    @spelled_out
    def value_counts(self, column: str, **options: Unpack[ValuesOfGroups]) -> GroupedRelease:
        """Private numbers of rows of each group with each value of a column.

        `keys` are the public values of the column, where those of the groups are public; with a delta, the pairs of a
        group and a value that enough units have are chosen privately.
        """
        cells = self._by_value("value_counts", column, options.get("keys"))
        return cells._grouping().value_counts(self._spending(options), options.get("rng"))

    @spelled_out
    def top_k(self, column: str, k: int, **options: Unpack[ValuesOfGroups]) -> GroupedRelease:
        """Private counts of the k most frequent values of a column in each group, the most frequent first.

        The values that are counted are those of `value_counts`. The 95% intervals of a group hold for all values that
        were counted in it together, because a value may be shown for a count that is large by chance.
        """
        most, cells = whole_number(k, "k"), self._by_value("top_k", column, options.get("keys"))
        return cells._grouping().top_k(most, self._spending(options), options.get("rng"))

    def _by_value(self, statistic: str, column: str, keys: Keys | None) -> "GroupedTable":
        """The table by groups and by the values of a column in them."""
        if (keys is None) != (self._keys is None):
            raise ValueError(f"{statistic} needs keys, the values of the column, where the keys of groups are public")
        pairs = None
        if keys is not None and self._keys is not None:
            values = _enum(self._table, (column,)) if isinstance(keys, str) and keys == ENUM else keys
            groups = zip(*(array.to_pylist() for array in self._keys), strict=True)
            pairs = [(*group, value) for group, value in product(groups, _by_column(values, (column,))[0])]
        return GroupedTable(self._table, (*self._by, column), pairs, self._delta, self._groups_per_unit)

    @spelled_out
    def count_distinct(self, column: str | None = None, **options: Unpack[Distinct]) -> GroupedRelease:
        """A private number of distinct units of each group, or of the distinct values that a column has in it.

        A unit counts once in each of its groups, of which at most `groups_per_unit` are used; this needs no
        `rows_per_unit`. Of the values of a unit in another column at most `values_per_unit` are used, in all groups
        together, by default `rows_per_unit`.
        """
        table, given = self._table, options.get("values_per_unit")
        spending, rng = self._spending(options), options.get("rng")
        if column is None or column == table.unit:
            if given is not None:
                raise ValueError("values_per_unit is for a column that is not the unit: a unit counts once")
            groups = self._groups_per_unit or table.rows_per_unit
            if table.unit is None or groups is None:
                raise ValueError(
                    "count_distinct by group needs a table with a unit and groups_per_unit, the most groups of a unit "
                    "to use; or the column whose distinct values are to be counted"
                )
            return self._grouping(Unit(table.unit, groups), groups).count_distinct(None, spending, rng)
        table.require(column)
        table.source.check_keys((column,))
        if column in self._by:
            raise ValueError(f"count_distinct needs a column that group_by has not, got {column!r}")
        if given is not None and table.unit is None:
            raise ValueError("values_per_unit needs a table with a unit: without one, each row has one value")
        most = table.privacy_unit.rows if given is None else whole_number(given, "values_per_unit")
        unit = Unit() if table.unit is None else Unit(table.unit, most)
        return self._grouping(unit, self._groups_per_unit or most).count_distinct(column, spending, rng)

    @spelled_out
    def iqr(self, column: str, **options: Unpack[GroupedExtreme]) -> GroupedRelease:
        """A private interquartile range of each group; at most 10,000 keys."""
        return self._number(ask.iqr(column), options)

    @spelled_out
    def ratio(self, numerator: str, denominator: str, **options: Unpack[Paired]) -> GroupedRelease:
        """A private ratio of the sums of two columns in each group; at most 10,000 keys."""
        return self._number(ask.ratio(numerator, denominator), options)

    @spelled_out
    def weighted_mean(self, column: str, weights: str, **options: Unpack[Paired]) -> GroupedRelease:
        """A private mean of a column in each group, weighted by another; at most 10,000 keys."""
        return self._number(ask.weighted_mean(column, weights), options)

    @spelled_out
    def covariance(self, x: str, y: str, **options: Unpack[Paired]) -> GroupedRelease:
        """A private covariance of two columns in each group; at most 10,000 keys."""
        return self._number(ask.covariance(x, y), options)

    @spelled_out
    def correlation(self, x: str, y: str, **options: Unpack[Paired]) -> GroupedRelease:
        """A private correlation of two columns in each group; at most 10,000 keys."""
        return self._number(ask.correlation(x, y), options)

    @spelled_out
    def proportion(self, condition: Any, **options: Unpack[Spent]) -> GroupedRelease:
        """A private share of the rows of each group for which a condition is true; at most 10,000 keys.

        condition: the name of a boolean column, or a condition as `Table.where` takes it.
        """
        viewed = self._with_keys(self._keys)
        viewed._table, name, text = self._table.with_condition(condition)
        return viewed._number(ask.proportion(name), options, text)

    def _number(self, each: ask.Ask, options: Any, of: str | None = None) -> GroupedRelease:
        """A number of each group by the program of one column, or of two."""
        function = FUNCTIONS[each.statistic]
        for name in each.columns:
            self._table.require_numeric(name)
        own = {name: given for name, given in options.items() if name not in ("epsilon", "rho", "rng")}

        def program(columns: Columns, keywords: dict[str, Any]) -> Program[Release]:
            return function(*(columns[name] for name in each.columns), **own, **keywords)  # type: ignore[no-any-return]

        def released(shown: Shown, results: list[Release], facts: dict[str, Facts]) -> GroupedRelease:
            return shown.of_numbers(results, [each])[each.name]

        names, purpose = list(dict.fromkeys(each.columns)), f"{each.statistic} of {of or ', '.join(each.columns)}"
        return self._grouping().one_by_one(
            names, purpose, self._spending(options), program, released, options.get("rng")
        )

    @spelled_out
    def describe(self, columns: Iterable[str] | None = None, **options: Unpack[Each]) -> Answers:
        """A private summary of each group, by name: `answers["mean(age)"]` has the mean of each group.

        Each group is summarised as `nobounds.describe` does, for the same epsilon, split by its own noisy counts: what
        a group has too few rows for is masked. At most 10,000 keys.
        """
        marks, table = flag(options, "marks"), self._table
        names = table.numeric_columns(columns, (*self._by,))
        stated = {name: options.get(name) for name in ("lower", "upper", "resolution")}

        def program(columns: Columns, keywords: dict[str, Any]) -> Program[Description]:
            described: Any = describe(Frame(dict(columns), {}), marks=marks, **stated, **keywords)  # type: ignore[arg-type]
            return described  # type: ignore[no-any-return]

        def released(shown: Shown, results: list[Description], facts: dict[str, Facts]) -> Answers:
            return Answers(shown.of_descriptions(results, facts), shown.loss, dict(shown.parameters))

        purpose = f"describe {', '.join(names)}"
        return self._grouping().one_by_one(
            names, purpose, self._spending(options), program, released, options.get("rng")
        )

    def _several(
        self, function: Any, column: str, q: list[Number] | None, asks: list[ask.Ask], purpose: str, options: Any
    ) -> Answers:
        """Several numbers of each group by the program of one column."""
        self._table.require_numeric(column)
        own = {name: given for name, given in options.items() if name not in ("epsilon", "rho", "rng")}

        def program(columns: Columns, keywords: dict[str, Any]) -> Program[Release]:
            given = (columns[column],) if q is None else (columns[column], q)
            return function(*given, **own, **keywords)  # type: ignore[no-any-return]

        def released(shown: Shown, results: list[Release], facts: dict[str, Facts]) -> Answers:
            each = shown.of_numbers(results, asks)
            return Answers(each, shown.loss, dict(shown.parameters))

        return self._grouping().one_by_one(
            [column], f"{purpose} of {column}", self._spending(options), program, released, options.get("rng")
        )

    @spelled_out
    def maximum(self, column: str, **options: Unpack[GroupedExtreme]) -> GroupedRelease:
        """A private maximum of each group."""
        return self._quantile("maximum", column, Fraction(1), options)

    @spelled_out
    def minimum(self, column: str, **options: Unpack[GroupedExtreme]) -> GroupedRelease:
        """A private minimum of each group."""
        return self._quantile("minimum", column, Fraction(0), options)

    @spelled_out
    def sum(self, column: str, **options: Unpack[Bounded]) -> GroupedRelease:
        """A private sum of each group, within one clip for all of them."""
        self._table.require_numeric(column)
        marks = flag(options, "marks")
        return self._grouping().sum(column, self._spending(options), stated_of(options), options.get("rng"), marks)

    @spelled_out
    def mean(self, column: str, **options: Unpack[Bounded]) -> GroupedRelease:
        """A private mean of each group, within one clip for all of them."""
        self._table.require_numeric(column)
        marks = flag(options, "marks")
        return self._grouping().mean(column, self._spending(options), stated_of(options), options.get("rng"), marks)

    @spelled_out
    def count(self, column: str | None = None, **options: Unpack[Spent]) -> GroupedRelease:
        """A private number of rows of each group, or of those with a value in a column."""
        if column is not None:
            self._table.require_numeric(column)
        return self._grouping().count(column, self._spending(options), options.get("rng"))

    @spelled_out
    def agg(self, *asks: ask.Ask | str, **options: Unpack[Spent]) -> Answers:
        """Private statistics of each group, for one epsilon that is charged once and split by need.

        The keys are chosen once for all of them, if they are not public. `answers["mean(pay)"]` has the mean of each
        group; `Table.agg` says what can be asked.
        """
        read, marks, spending = tuple(map(ask.Ask.of, asks)), flag(options, "marks"), self._spending(options)
        for name in dict.fromkeys(name for each in read for name in each.columns):
            self._table.require_numeric(name)

        def part(keys: Any, each: ask.Ask, amount: dict[str, Any], learned: Learned | None) -> Any:
            return self._with_keys(keys)._answer(each, marks, amount, learned)

        return self._grouping().agg(read, spending, part, options.get("rng"))

    def _with_keys(self, keys: tuple[Any, ...] | None) -> "GroupedTable":
        """The table by the groups with these keys, which are as good as public."""
        table = object.__new__(GroupedTable)
        table._table, table._by, table._groups_per_unit = self._table, self._by, self._groups_per_unit
        table._keys, table._delta = keys, None if keys is not None else self._delta
        return table

    def _answer(self, each: ask.Ask, marks: bool, amount: dict[str, Any], learned: Learned | None) -> Any:
        """A statistic of the groups that is a part of another: its program."""
        options = {**dict(each.options), **amount}
        if each.statistic == "count":
            return self.count(*each.columns, **options)
        options["marks"] = marks
        if each.statistic in LEARNING:
            return self._quantile(each.statistic, each.columns[0], RANKS[each.statistic](each)[0], options, learned)
        if each.statistic == "quantiles":
            return self.quantiles(each.columns[0], each.q, **options)
        return getattr(self, each.statistic)(*each.columns, *each.q, **options)

    def _quantile(
        self, statistic: str, column: str, q: Fraction, options: Any, learned: Learned | None = None
    ) -> GroupedRelease:
        self._table.require_numeric(column)
        grouping, spending, marks = self._grouping(), self._spending(options), flag(options, "marks")
        inner = statistic in ("quantile", "median") or options.get("interval") is None
        wanted, stated = (
            wanted_of(Options.of(options), options if inner else {**options, "of": "sample"}),
            stated_of(options),
        )
        return grouping.quantile(statistic, column, q, spending, stated, options.get("rng"), marks, wanted, learned)

    def _spending(self, options: Any) -> Spending:
        spending = Spending.of(options.get("epsilon"), options.get("rho"))
        if spending.zcdp and self._delta is not None:
            raise ValueError("keys that are chosen privately need epsilon, got rho; give epsilon, or public keys")
        return spending

    def _grouping(self, bounded: Unit | None = None, groups_per_unit: int | None = None) -> Grouping:
        table, unit = self._table, bounded or self._table.privacy_unit
        most = groups_per_unit or min(self._groups_per_unit or unit.rows, unit.rows)
        return Grouping(table.source, Keyed(self._by, self._keys), self._delta, unit, most, table.budget, table.view)

    def __repr__(self) -> str:
        return f"GroupedTable(by {', '.join(self._by)}, of {self._table})"


def _enum(table: OpenedTable, by: tuple[str, ...]) -> list[str]:
    """The categories that the type of an Enum column declares."""
    declared = table.source.enums.get(by[0]) if len(by) == 1 else None
    if declared is None:
        raise TypeError(
            f"keys='{ENUM}' needs one column of the polars type Enum, whose type declares its values; "
            "the categories of other types come from records"
        )
    return declared


def _by_column(keys: Iterable[Any], by: tuple[str, ...]) -> list[list[Any]]:
    """Public keys as a list for each column."""
    width = len(by)
    by_name = isinstance(keys, Mapping) and not set(keys) - set(by)  # else they are the keys, with labels for example
    if isinstance(keys, str | bytes) or by_name or not isinstance(keys, Iterable):
        what = "a dict by the names of columns" if by_name else type(keys).__name__
        each = "; of several columns a list of pairs, for example keys=[('Bonn', 2024), ('Rome', 2024)]"
        raise TypeError(f"keys must be a list of keys, got {what}{each if width > 1 else ''}")
    listed = list(keys)
    if not listed:
        raise ValueError("keys must have at least one key, got none")
    if width == 1:
        return [listed]
    if not all(isinstance(key, tuple | list) and len(key) == width for key in listed):
        raise ValueError(f"each key must be a tuple of {width} values, one for each column")
    return [list(column) for column in zip(*listed, strict=True)]
