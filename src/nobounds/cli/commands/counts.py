"""The commands that count the values of a column, one by one or in bins."""

from typing import Annotated, Any

import typer

from nobounds.cli.commands.groups import answer_once, show_groups
from nobounds.cli.flat import flat
from nobounds.cli.keys import grouped, public_keys
from nobounds.cli.options.answers import BinnedGroups, ColumnName, FactOptions, GroupOptions, KeyOptions, listed
from nobounds.cli.options.common import NUMBER, CommonOptions
from nobounds.cli.output import written
from nobounds.cli.sources import opened


@flat
def value_counts(column: ColumnName, common: CommonOptions, keys: KeyOptions) -> None:
    """The private number of rows for each value of a column. Values are public, or chosen privately.

    Example: nobounds value-counts people.csv --column age --keys 18,19 --epsilon 1

    Example: nobounds value-counts people.csv --column age --delta 1e-6 --epsilon 1
    """
    _show_values("value_counts", column, common, keys)


@flat
def top_k(
    column: ColumnName,
    k: Annotated[int, typer.Option("--k", metavar=NUMBER, help="Show at most this number of values.")],
    common: CommonOptions,
    keys: KeyOptions,
) -> None:
    """The most frequent values of a column, by their private counts.

    Example: nobounds top-k people.csv --column age --k 5 --delta 1e-6 --epsilon 1
    """
    _show_values("top_k", column, common, keys, k)


def _show_values(statistic: str, column: str, common: CommonOptions, keys: KeyOptions, *given: Any) -> None:
    values, groups = keys.values(column), keys.groups()
    values.check(common)
    with opened(common, column, *(keys.by or [])) as handle:
        known: dict[str, Any] = {"keys": public_keys(handle, values)}
        if groups is None:
            known |= {"delta": keys.delta, "groups_per_unit": keys.groups_per_unit}
        table = handle.table if groups is None else grouped(handle, groups)
        release = getattr(table, statistic)(column, *given, **known, **common.spend.amount)
    with handle.shown(), written(release, out=common.out):
        show_groups(release, as_json=common.as_json, as_csv=keys.csv)


@flat
def count_distinct(
    common: CommonOptions,
    groups: GroupOptions,
    column: Annotated[
        str | None, typer.Option("--column", metavar="NAME", help="The column. Default: that of --unit.")
    ] = None,
    values_per_unit: Annotated[
        int | None,
        typer.Option(metavar=NUMBER, help="Use at most this number of values of each unit. Default: --rows-per-unit."),
    ] = None,
) -> None:
    """The private number of distinct people or other units, or of distinct values in a column.

    Example: nobounds count-distinct people.csv --unit user_id --epsilon 1
    """
    of_units = column in (None, common.whom.unit)
    limited = values_per_unit is None and not (of_units and (not groups.by or groups.groups_per_unit is not None))
    names = [] if column is None else [column]
    answer_once(
        common,
        groups,
        "count_distinct",
        names,
        column,
        rows_limited=limited,
        values_per_unit=values_per_unit,
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
    column: ColumnName,
    common: CommonOptions,
    groups: BinnedGroups,
    facts: FactOptions,
    edges: Edges = None,
    bins: Bins = None,
) -> None:
    """The private number of records in each bin, each with an interval. The first and the last bin are open.

    Example: nobounds histogram people.csv --column age --edges 20,40,60 --epsilon 1

    Example: nobounds histogram people.csv --column age --bins 10 --epsilon 1
    """
    answer_once(common, groups, "histogram", [column], column, edges=listed(edges), bins=bins, **facts.known)


@flat
def cdf(
    column: ColumnName,
    common: CommonOptions,
    groups: BinnedGroups,
    facts: FactOptions,
    points: Points = None,
    bins: Bins = None,
) -> None:
    """The private share of records up to each point, each with an interval.

    Example: nobounds cdf people.csv --column age --points 18,30,65 --epsilon 1
    """
    answer_once(common, groups, "cdf", [column], column, points=listed(points), bins=bins, **facts.known)
