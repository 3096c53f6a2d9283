"""The commands that count the values of a column, one by one or in bins."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from nobounds.cli.commands.each import answer_each
from nobounds.cli.flat import flat
from nobounds.cli.keys import grouped, public_keys
from nobounds.cli.options.answers import BinnedGroups, ColumnNames, FactOptions, GroupOptions, KeyOptions, listed
from nobounds.cli.options.common import NUMBER, CommonOptions
from nobounds.cli.sources import Opened


@flat
def value_counts(column: ColumnNames, common: CommonOptions, keys: KeyOptions) -> None:
    """The private number of rows for each value of a column. Values are public, or chosen privately.

    Example: nobounds value-counts people.parquet --column age --keys 18,19 --epsilon 1

    Example: nobounds value-counts people.parquet --column age --delta 1e-6 --epsilon 1
    """
    _show_values("value_counts", column, common, keys)


@flat
def top_k(
    column: ColumnNames,
    k: Annotated[int, typer.Option("--k", metavar=NUMBER, help="Show at most this number of values.")],
    common: CommonOptions,
    keys: KeyOptions,
) -> None:
    """The most frequent values of a column, by their private counts.

    Example: nobounds top-k people.parquet --column age --k 5 --delta 1e-6 --epsilon 1
    """
    _show_values("top_k", column, common, keys, k)


def _show_values(statistic: str, columns: list[str], common: CommonOptions, keys: KeyOptions, *given: Any) -> None:
    names = list(dict.fromkeys(columns))
    values, groups = keys.values(names), keys.groups(len(names))
    for each in values.values():
        each.check(common)

    def ask(handle: Opened, name: str | None, amount: dict[str, Any]) -> Any:
        own = values[str(name)]
        known: dict[str, Any] = {"keys": public_keys(handle, own)}
        if groups is None:
            known |= {"delta": own.delta, "groups_per_unit": own.groups_per_unit}
        table = handle.table if groups is None else grouped(handle, groups)
        return getattr(table, statistic)(name, *given, **known, **amount)

    answer_each(common, names, ask, beside=keys.by or (), delta=keys.delta, as_csv=keys.csv)


@flat
def count_distinct(
    common: CommonOptions,
    groups: GroupOptions,
    column: Annotated[
        list[str] | None,
        typer.Option("--column", metavar="NAME", help="The column. Repeatable. Default: that of --unit."),
    ] = None,
    values_per_unit: Annotated[
        int | None,
        typer.Option(metavar=NUMBER, help="Use at most this number of values of each unit. Default: --rows-per-unit."),
    ] = None,
) -> None:
    """The private number of distinct people or other units, or of distinct values in a column.

    Example: nobounds count-distinct people.parquet --unit user_id --epsilon 1
    """
    names: list[str | None] = [*column] if column else [None]
    of_units = all(name in (None, common.whom.unit) for name in names)
    limited = values_per_unit is None and not (of_units and (not groups.by or groups.groups_per_unit is not None))
    _answer_each(common, groups, "count_distinct", names, rows_limited=limited, values_per_unit=values_per_unit)


def _answer_each(
    common: CommonOptions,
    groups: GroupOptions,
    statistic: str,
    columns: Sequence[str | None],
    *,
    rows_limited: bool = True,
    **options: Any,
) -> None:
    """Print a statistic of each column, or of its groups."""
    groups.check(common)
    own = groups.each(len(set(columns)))

    def ask(handle: Opened, name: str | None, amount: dict[str, Any]) -> Any:
        table = grouped(handle, own) if own.by else handle.table
        return getattr(table, statistic)(name, **amount, **options)

    answer_each(
        common,
        columns,
        ask,
        beside=groups.by or (),
        delta=groups.delta,
        as_csv=groups.csv,
        rows_limited=rows_limited,
    )


_RISING = "in rising order. Default: chosen privately."
Edges = Annotated[str | None, typer.Option(metavar="VALUE,...", help=f"Public edges, {_RISING}")]
Points = Annotated[str | None, typer.Option(metavar="VALUE,...", help=f"Public points, {_RISING}")]
Bins = Annotated[
    int | None,
    typer.Option(
        "--bins", metavar=NUMBER, help="The largest number of bins, if they are chosen privately. Default: 20."
    ),
]


@flat
def histogram(
    column: ColumnNames,
    common: CommonOptions,
    groups: BinnedGroups,
    facts: FactOptions,
    edges: Edges = None,
    bins: Bins = None,
) -> None:
    """The private number of records in each bin, each with an interval. The first and the last bin are open.

    Example: nobounds histogram people.parquet --column age --edges 20,40,60 --epsilon 1

    Example: nobounds histogram people.parquet --column age --bins 10 --epsilon 1
    """
    _answer_each(common, groups, "histogram", column, edges=listed(edges), bins=bins, **facts.known)


@flat
def cdf(
    column: ColumnNames,
    common: CommonOptions,
    groups: BinnedGroups,
    facts: FactOptions,
    points: Points = None,
    bins: Bins = None,
) -> None:
    """The private share of records up to each point, each with an interval.

    Example: nobounds cdf people.parquet --column age --points 18,30,65 --epsilon 1
    """
    _answer_each(common, groups, "cdf", column, points=listed(points), bins=bins, **facts.known)
