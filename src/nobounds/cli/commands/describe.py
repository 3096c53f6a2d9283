"""The describe command: a summary of every numeric column, and what it will answer."""

from dataclasses import replace
from typing import Annotated, Any

import typer

from nobounds.cli.commands.agg import show_answers
from nobounds.cli.flat import flat
from nobounds.cli.keys import grouped
from nobounds.cli.options.answers import Columns, GroupOptions, PerColumn, Plot, per_column
from nobounds.cli.options.common import NUMBER, CommonOptions
from nobounds.cli.output import show_description, written
from nobounds.cli.sources import opened


@flat
def describe(
    common: CommonOptions,
    groups: GroupOptions,
    column: Columns = None,
    lower: Annotated[list[str] | None, PerColumn] = None,
    upper: Annotated[list[str] | None, PerColumn] = None,
    resolution: Annotated[list[str] | None, PerColumn] = None,
    plot: Plot = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what will be answered. Reads no records and charges nothing.")
    ] = False,
    rows: Annotated[str | None, typer.Option(metavar=NUMBER, help="The rough number of rows, for --dry-run.")] = None,
) -> None:
    """A private summary of every numeric column: count, mean, standard deviation, minimum, quantiles and maximum.

    Example: nobounds describe people.csv --header yes --epsilon 1 --plot out.png

    Example: nobounds describe people.csv --header yes --epsilon 1 --dry-run --rows 5000
    """
    if dry_run:
        _dry_run(common, column, rows)
        return
    if rows is not None:
        raise ValueError("--rows needs --dry-run; a summary counts the rows itself, with noise")
    options = {"lower": lower, "upper": upper, "resolution": resolution}
    given: dict[str, Any] = {name: per_column(name, values) for name, values in options.items()}
    if groups.by:
        if plot is not None or not column:
            raise ValueError("--by needs --column for each column of the summary, and cannot be combined with --plot")
        _by_group(common, groups, column, given)
        return
    if plot is not None:
        from nobounds.plots.figures import check_target

        check_target(plot)
    with opened(common, *(column or []), every=not column) as handle:
        described = handle.table.describe(column or None, **common.spend.amount, **given)
    with handle.shown():
        if plot is not None:
            described.plot().savefig(plot, dpi=150)
        with written(described, out=common.out):
            show_description(described, handle.name, as_json=common.as_json)


def _by_group(common: CommonOptions, groups: GroupOptions, columns: list[str], given: dict[str, Any]) -> None:
    """Print a summary of each group."""
    groups.check(common)
    with opened(common, *columns, *(groups.by or [])) as handle:
        answers = grouped(handle, groups).describe(columns, **common.spend.amount, **given)
    with handle.shown(), written(answers, out=common.out):
        show_answers(answers, as_json=common.as_json, as_csv=groups.csv)


def _dry_run(common: CommonOptions, columns: list[str] | None, rows: str | None) -> None:
    """Print what a summary will answer, by the schema of the table alone; its budget is not opened."""
    from nobounds.cli.commands.plan import dry_run, numeric, show_planned_summary

    if common.out is not None:
        raise ValueError("--out cannot be combined with --dry-run, which has no answers")
    free = replace(common, spend=replace(common.spend, budget=None))
    terms = {**common.spend.amount, "neighbors": common.whom.checked_neighbors}
    with opened(free, *(columns or []), every=not columns) as handle:
        names = numeric(handle.table, common.whom.unit, columns)
    planned = dry_run(names, rows, common.whom.rows_per_unit, terms)
    show_planned_summary(planned, as_json=common.as_json)
