"""The commands that count the values of a column, one by one or in bins."""

from typing import Annotated, Any

import typer

from nobounds.cli.commands.groups import answer_once, show_groups
from nobounds.cli.complete import columns
from nobounds.cli.flat import flat
from nobounds.cli.keys import grouped, public_keys
from nobounds.cli.options import NUMBER, BinnedGroups, CommonOptions, FactOptions, GroupOptions, KeyOptions, listed
from nobounds.cli.output import written
from nobounds.cli.sources import opened

ColumnName = Annotated[
    str, typer.Option("--column", metavar="NAME", help="The column's name.", show_default=False, autocompletion=columns)
]


@flat
def value_counts(column: ColumnName, common: CommonOptions, keys: KeyOptions) -> None:
    """How many rows have each value of a column, with an interval for each: public values, or chosen privately.

    Example: nobounds value-counts people.csv --column age --keys 18,19 --epsilon 1

    Example: nobounds value-counts people.csv --column age --delta 1e-6 --epsilon 1
    """
    _show_values("value_counts", column, common, keys)


@flat
def top_k(
    column: ColumnName,
    k: Annotated[int, typer.Option("--k", metavar=NUMBER, help="How many values are shown at most.")],
    common: CommonOptions,
    keys: KeyOptions,
) -> None:
    """The most frequent values of a column by their private counts, the most frequent first.

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
        str | None, typer.Option("--column", metavar="NAME", help="The column. Default: the one of --unit.")
    ] = None,
    values_per_unit: Annotated[
        int | None,
        typer.Option(metavar=NUMBER, help="How many values of a unit are used at most. Default: --rows-per-unit."),
    ] = None,
) -> None:
    """The number of distinct units, or of distinct values in a column.

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
    typer.Option("--bins", metavar=NUMBER, help="The most bins, where they are chosen privately. Default: 20."),
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
    """The number of records in each bin, with an interval for each; the first and the last bin are open.

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
    """The share of records up to each point, with an interval for each.

    Example: nobounds cdf people.csv --column age --points 18,30,65 --epsilon 1
    """
    answer_once(common, groups, "cdf", [column], column, points=listed(points), bins=bins, **facts.known)
