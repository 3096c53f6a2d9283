"""The commands: a private summary of a table, and private quantiles, extremes, sums, means and counts of columns."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import Annotated, Any

import typer

import nobounds as nb
from nobounds import plots
from nobounds.accounting.budget import read
from nobounds.ask import Ask
from nobounds.cli.commands.agg import show_answers
from nobounds.cli.commands.audit import audit
from nobounds.cli.commands.budget import app as budget_app
from nobounds.cli.commands.counts import cdf, count_distinct, histogram, top_k, value_counts
from nobounds.cli.commands.explain import explain
from nobounds.cli.commands.groups import answer_once, show_groups
from nobounds.cli.commands.info import info
from nobounds.cli.commands.paper import paper
from nobounds.cli.commands.plan import dry_run as planned_summary
from nobounds.cli.commands.plan import numeric, plan, show_planned_summary
from nobounds.cli.commands.studio import studio
from nobounds.cli.flat import flat
from nobounds.cli.help import ANSWERS, AROUND, TRUST, Command, Main
from nobounds.cli.keys import grouped
from nobounds.cli.options import (
    NUMBER,
    ColumnNames,
    Columns,
    CommonOptions,
    Condition,
    CountedColumns,
    EndOptions,
    FactOptions,
    GroupOptions,
    PerColumn,
    Plot,
    Quantiles,
    RangeOptions,
    SearchOptions,
    WalkOptions,
    second_column,
)
from nobounds.cli.output import show, show_description, written
from nobounds.cli.sources import opened
from nobounds.cli.units import left_out, rows_per_unit, suggest
from nobounds.expressions.view import named

# Plain Python tracebacks only: the decorated ones can show local variables, and those hold sensitive data.
app = typer.Typer(cls=Main, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def nobounds(show_version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    """Differentially private answers about a table, with no bounds given.

    Example: nobounds describe people.csv --header yes --epsilon 1
    """
    if show_version:
        typer.echo(f"nobounds {version('nobounds')}")
        raise typer.Exit


def _command(name: str, short: str, panel: str = ANSWERS, text: str | None = None) -> Callable[..., Any]:
    """Register a command under a heading of the help."""
    return app.command(name, cls=Command, help=text, short_help=short, rich_help_panel=panel)


@_command("describe", "A summary of every numeric column, for one epsilon.")
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
        bool, typer.Option("--dry-run", help="Say what will be answered, and read no record and charge nothing.")
    ] = False,
    rows: Annotated[str | None, typer.Option(metavar=NUMBER, help="Of --dry-run: the number of rows, roughly.")] = None,
) -> None:
    """Count, mean, standard deviation, minimum, quantiles and maximum of every numeric column, for one epsilon.

    Example: nobounds describe people.csv --header yes --epsilon 1 --plot out.png

    Example: nobounds describe people.csv --header yes --epsilon 1 --dry-run --rows 5000
    """
    if dry_run:
        _dry_run(common, column, rows)
        return
    if rows is not None:
        raise ValueError("--rows is for --dry-run: a summary counts the rows itself, with noise")
    options = {"lower": lower, "upper": upper, "resolution": resolution}
    given: dict[str, Any] = {name: _per_column(name, values) for name, values in options.items()}
    if groups.by:
        if plot is not None or not column:
            raise ValueError("--by goes without --plot, and with --column for each column of the summary")
        _by_group(common, groups, column, given)
        return
    if plot is not None:
        plots.check_target(plot)
    with opened(common, *(column or []), every=not column) as handle:
        described = handle.table.describe(column or None, **common.spend.amount, **given)
    with handle.shown():
        if plot is not None:
            plots.plot_description(described).savefig(plot, dpi=150)
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
    if common.out is not None:
        raise ValueError("--out is for answers, and --dry-run has none")
    free = replace(common, spend=replace(common.spend, budget=None))
    terms = {**common.spend.amount, "neighbors": common.whom.checked_neighbors}
    with opened(free, *(columns or []), every=not columns) as handle:
        names = numeric(handle.table, common.whom.unit, columns)
    planned = planned_summary(names, rows, common.whom.rows_per_unit, terms)
    show_planned_summary(planned, as_json=common.as_json)


def _per_column(option: str, values: list[str] | None) -> str | dict[str, str] | None:
    """One number for all columns, or numbers by column."""
    if not values:
        return None
    named = {name: number for name, equals, number in (value.rpartition("=") for value in values) if equals}
    if len(named) == len(values):
        return named
    if len(values) > 1:
        raise ValueError(f"{option} must be one number for all columns, or NAME=NUMBER each time, got {values!r}")
    return values[0]


@_command("quantile", "One or several quantiles of a column.")
@flat
def quantile(
    column: ColumnNames,
    q: Quantiles,
    common: CommonOptions,
    groups: GroupOptions,
    facts: FactOptions,
    walk: WalkOptions,
    search: SearchOptions,
) -> None:
    """Private quantiles, all for one epsilon; --beta, --noise, --method and --interval go with a single --q.

    Example: nobounds quantile people.csv --column income --q 0.5 --q 0.99 --epsilon 1
    """
    if groups.by and (walk != WalkOptions() or (search.method, search.rows) != ("auto", None)):
        raise ValueError("--by goes without --beta, --noise, --method and --rows")
    if groups.by and len(q) == 1:
        _answer(common, groups, "quantile", column, q[0], **facts.known, **search.interval_keywords)
    elif len(q) == 1:
        _answer(common, groups, "quantile", column, q[0], **facts.known, **walk.keywords, **search.keywords)
    elif walk != WalkOptions() or replace(search, rows=None) != SearchOptions():
        raise ValueError("--beta, --noise, --method and --interval go with a single --q; leave them out for several")
    else:
        rows = {} if groups.by else {"rows": search.rows}
        _answer(common, groups, "quantiles", column, q, **rows, **facts.known)


@_command("median", "The median of a column.")
@flat
def median(
    column: ColumnNames,
    common: CommonOptions,
    groups: GroupOptions,
    facts: FactOptions,
    walk: WalkOptions,
    search: SearchOptions,
) -> None:
    """The private median, with an interval if --interval gives its level.

    Example: nobounds median people.csv --column income --epsilon 1 --interval 0.95
    """
    if groups.by and (walk != WalkOptions() or (search.method, search.rows) != ("auto", None)):
        raise ValueError("--by goes without --beta, --noise, --method and --rows")
    own = search.interval_keywords if groups.by else {**walk.keywords, **search.keywords}
    _answer(common, groups, "median", column, **facts.known, **own)


def _command_for_extreme(name: str, summary: str) -> None:
    def command(
        column: ColumnNames,
        common: CommonOptions,
        groups: GroupOptions,
        facts: FactOptions,
        walk: WalkOptions,
        ends: EndOptions,
    ) -> None:
        if groups.by and walk != WalkOptions():
            raise ValueError("--by goes without --beta and --noise")
        _answer(common, groups, name, column, **facts.known, **ends.keywords, **({} if groups.by else walk.keywords))

    _add(name, summary, command)


def _command_with_clip(name: str, summary: str) -> None:
    def command(column: ColumnNames, common: CommonOptions, groups: GroupOptions, facts: FactOptions) -> None:
        _answer(common, groups, name, column, **facts.known)

    _add(name, summary, command)


def _add(name: str, summary: str, command: Any) -> None:
    example = f"Example: nobounds {name} people.csv --column income --epsilon 1"
    _command(name, summary, text=f"{summary}\n\n{example}")(flat(command))


_command_for_extreme("maximum", "The maximum of a column.")
_command_for_extreme("minimum", "The minimum of a column.")


@_command("bounds", "The minimum and the maximum of a column together.")
@flat
def bounds(
    column: ColumnNames,
    common: CommonOptions,
    groups: GroupOptions,
    facts: FactOptions,
    walk: WalkOptions,
    ends: EndOptions,
) -> None:
    """The private minimum and maximum, for one total epsilon.

    Example: nobounds bounds people.csv --column income --epsilon 1
    """
    if groups.by and walk != WalkOptions():
        raise ValueError("--by goes without --beta and --noise")
    _answer(common, groups, "bounds", column, **facts.known, **ends.keywords, **({} if groups.by else walk.keywords))


_command_with_clip("sum", "The sum of a column, within bounds that it finds itself.")
_command_with_clip("mean", "The mean of a column, within bounds that it finds itself.")


_command_with_clip("std", "The standard deviation of a column, within bounds that it finds itself.")
_command_with_clip("variance", "The variance of a column, within bounds that it finds itself.")


@_command("iqr", "The interquartile range of a column.")
@flat
def iqr(
    column: ColumnNames, common: CommonOptions, groups: GroupOptions, facts: FactOptions, ends: RangeOptions
) -> None:
    """The private distance between the quartiles, with an interval if --interval gives its level.

    Example: nobounds iqr people.csv --column income --epsilon 1 --interval 0.95
    """
    if groups.by and ends.of != RangeOptions().of:
        raise ValueError("--by goes without --of")
    own = {"interval": ends.interval} if groups.by else ends.keywords
    _answer(common, groups, "iqr", column, **facts.known, **own)


def _command_for_two(name: str, summary: str, first: str, second: str, example: str) -> None:
    """A command for a statistic of two columns, each an option of its own."""

    def command(one: str, other: str, common: CommonOptions, groups: GroupOptions) -> None:
        answer_once(common, groups, name, [one, other], one, other)

    for place, option in (("one", first), ("other", second)):
        command.__annotations__[place] = second_column(option)
    shell = name.replace("_", "-")
    text = f"{summary}\n\nExample: nobounds {shell} {example} --epsilon 1"
    _command(shell, summary, text=text)(flat(command))


_command_for_two(
    "ratio",
    "The ratio of the sums of two columns.",
    "--numerator",
    "--denominator",
    "people.csv --numerator income --denominator age",
)
_command_for_two(
    "weighted_mean",
    "The mean of a column, weighted by another.",
    "--column",
    "--weights",
    "people.csv --column income --weights age",
)
_command_for_two("covariance", "The covariance of two columns.", "--x", "--y", "people.csv --x age --y income")
_command_for_two("correlation", "The correlation of two columns.", "--x", "--y", "people.csv --x age --y income")


@_command("proportion", "The share of rows for which a condition is true.")
@flat
def proportion(condition: Condition, common: CommonOptions, groups: GroupOptions) -> None:
    """The private share of rows for which a condition is true, or of those that are true in a boolean column.

    Example: nobounds proportion people.csv --condition "age > 40" --epsilon 1
    """
    answer_once(common, groups, "proportion", named(condition), condition)


@_command("count", "The number of rows, or of the numbers in a column.")
@flat
def count(common: CommonOptions, groups: GroupOptions, column: CountedColumns = None) -> None:
    """The private number of rows, or of those that have a number in a column.

    Example: nobounds count people.csv --column income --epsilon 1
    """
    _answer(common, groups, "count", column or [None])


@_command("agg", "Several statistics of several columns, for one epsilon.")
@flat
def agg(
    ask: Annotated[
        list[str],
        typer.Option(
            "--ask",
            metavar="STATISTIC",
            help="'mean(income)', 'quantile(fare, 0.95)' or 'count()'; may be repeated.",
            show_default=False,
        ),
    ],
    common: CommonOptions,
    groups: GroupOptions,
) -> None:
    """Several statistics of several columns, for one epsilon that is charged once and split by need.

    Example: nobounds agg people.csv --ask 'mean(income)' --ask 'count()' --epsilon 1

    Example: nobounds agg people.csv --ask 'count()' --by age --delta 1e-6 --epsilon 1
    """
    groups.check(common)
    asks, by = [Ask.parse(text) for text in ask], groups.by or []
    with opened(common, *(name for each in asks for name in each.columns), *by) as handle:
        table = grouped(handle, groups) if by else handle.table
        answers = table.agg(*asks, **common.spend.amount)
    with handle.shown(), written(answers, out=common.out):
        show_answers(answers, as_json=common.as_json, as_csv=groups.csv)


def _answer(
    common: CommonOptions,
    groups: GroupOptions,
    statistic: str,
    columns: Sequence[str | None],
    *given: Any,
    **options: Any,
) -> None:
    """Compute a statistic of columns of the table, or of its groups, and print it."""
    groups.check(common)
    by, names = groups.by or [], list(dict.fromkeys(columns))
    if by and len(names) > 1:
        raise ValueError("--by goes with a single --column; ask for each column in turn")
    spend = common.spend.each(len(names))
    with opened(common, *names, *by) as handle:
        if len(names) > 1:
            _require_all(common)
        table = grouped(handle, groups) if by else handle.table
        releases = [getattr(table, statistic)(name, *given, **spend.amount, **options) for name in names]
    with handle.shown(), written(*releases, out=common.out):
        if isinstance(releases[0], nb.Answers):
            show_answers(releases[0], as_json=common.as_json, as_csv=groups.csv)
        elif by:
            show_groups(releases[0], as_json=common.as_json, as_csv=groups.csv)
        else:
            show(*releases, as_json=common.as_json)


def _require_all(common: CommonOptions) -> None:
    """Refuse several answers that do not fit in the budget together, before the first of them is charged."""
    spend = common.spend
    if spend.budget is None:
        return
    statement, whom, unit = read(spend.budget), common.whom.checked_neighbors, common.whom.unit or "row"
    if spend.epsilon is not None:
        statement.check(nb.PrivacyLoss.pure(spend.epsilon, neighbors=whom, unit=unit))
    elif spend.rho is not None and statement.terms.rho is not None:
        statement.check(nb.PrivacyLoss.zcdp(spend.rho, neighbors=whom, unit=unit))


_command("histogram", "The number of records in each bin.")(histogram)
_command("cdf", "The share of records up to each point.")(cdf)
_command("value-counts", "How many rows have each value of a column.")(value_counts)
_command("top-k", "The most frequent values of a column.")(top_k)
_command("count-distinct", "The number of distinct units, or of distinct values in a column.")(count_distinct)
_command("info", "The columns of a file and their types; a schema to edit.", AROUND)(info)
_command("rows-per-unit", "How many rows most units have: a number for --rows-per-unit.", AROUND)(rows_per_unit)
_command("suggest", "The rows and groups per unit with the smallest error to expect.", AROUND)(suggest)
_command("left-out", "The share of rows that --rows-per-unit leaves out.", AROUND)(left_out)
_command("plan", "The error to expect, before anything is spent.", AROUND)(plan)
app.add_typer(
    budget_app,
    name="budget",
    short_help="Budget files: make one, show or export what was spent.",
    rich_help_panel=AROUND,
)
_command("explain", "A release in plain words, for the person who signs off.", AROUND)(explain)
_command("studio", "A local web page to plan, to spend a budget and to download.", AROUND)(studio)
_command("audit", "What every mechanism claims, beside its worst exact loss.", TRUST)(audit)
_command("paper", "The figures and tables of the paper again.", TRUST)(paper)
