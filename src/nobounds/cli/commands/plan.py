"""The plan command: the error to expect before anything is spent, and the epsilon needed for an error."""

import json
import math
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

import nobounds as nb
from nobounds.accounting.loss import check_neighbors
from nobounds.cli.errors import plain_errors
from nobounds.cli.help import words
from nobounds.cli.options.answers import listed
from nobounds.cli.printing.printer import printer, say
from nobounds.cli.printing.tables import Table
from nobounds.engines.csv.dialect import Csv
from nobounds.engines.files.columns import read_column
from nobounds.engines.files.formats import format_of
from nobounds.engines.schemas.known import is_numeric
from nobounds.planning.counts.counted import COUNTED
from nobounds.planning.families import FAMILIES
from nobounds.planning.forecast import NO_INTERVAL, Forecast, lacking
from nobounds.planning.forecasters import Statistic, check_statistic
from nobounds.planning.plan import plan as forecast
from nobounds.planning.rows_needed import rows_needed
from nobounds.planning.several.summaries import DescribeForecast, plan_describe

NUMBER = "NUMBER"
Numbers = list[str] | None


def plan(
    statistic: Annotated[
        str,
        typer.Argument(
            metavar="STATISTIC",
            help=f"{', '.join(get_args(Statistic))} or describe; "
            "or rows: how many rows the statistic that follows needs.",
            show_default=False,
            autocompletion=words(*get_args(Statistic), "describe", "rows"),
        ),
    ],
    of: Annotated[
        str | None,
        typer.Argument(
            metavar="OF",
            help="For describe: a file; its columns are read, its records are not. For rows: a statistic.",
            show_default=False,
        ),
    ] = None,
    n: Annotated[
        str | None,
        typer.Option("--n", "--rows", metavar=NUMBER, help="The number of records. Default: that of the sample."),
    ] = None,
    columns: Annotated[
        int | None, typer.Option(metavar=NUMBER, help="For describe without a file: the number of numeric columns.")
    ] = None,
    schema: Annotated[
        Path | None, typer.Option(metavar="FILE", help="For describe: the schema of the file, in JSON.")
    ] = None,
    q: Annotated[Numbers, typer.Option("--q", metavar=NUMBER, help="From 0 to 1. Repeatable for quantiles.")] = None,
    family: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help=f"The shape of the data: {', '.join(FAMILIES)}.", autocompletion=words(*FAMILIES)
        ),
    ] = None,
    scale: Annotated[
        str | None, typer.Option(metavar=NUMBER, help="Multiply the values of the family by this.")
    ] = None,
    sample: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A file with a PUBLIC sample instead. Never use the sensitive data here."),
    ] = None,
    column: Annotated[str | None, typer.Option(metavar="NAME", help="The column of the sample.")] = None,
    epsilon: Annotated[Numbers, typer.Option(metavar=NUMBER, help="Repeatable. Default: 0.02 to 10.")] = None,
    rho: Annotated[Numbers, typer.Option(metavar=NUMBER, help="rho of zCDP instead of --epsilon. Repeatable.")] = None,
    rank_error: Annotated[
        str | None, typer.Option(metavar=NUMBER, help="Find the smallest epsilon for this expected error in ranks.")
    ] = None,
    value_error: Annotated[
        str | None, typer.Option(metavar=NUMBER, help="Find the smallest epsilon for this expected error in value.")
    ] = None,
    percentiles: Annotated[
        str | None, typer.Option(metavar=NUMBER, help="For rows: the expected error of a quantile, in percentiles.")
    ] = None,
    relative_error: Annotated[
        str | None, typer.Option(metavar=NUMBER, help="For rows: the expected error as a share of the true value.")
    ] = None,
    groups: Annotated[
        int | None, typer.Option(metavar=NUMBER, help="The number of groups of equal size, for answers by group.")
    ] = None,
    delta: Annotated[
        str | None, typer.Option(metavar=NUMBER, help="For --groups: choose the keys privately, with this delta.")
    ] = None,
    rows_per_unit: Annotated[
        int | None,
        typer.Option(metavar=NUMBER, help="Use at most this number of rows of each unit. Default: protect one row."),
    ] = None,
    groups_per_unit: Annotated[
        int | None,
        typer.Option(metavar=NUMBER, help="Use at most this number of groups of each unit. Default: --rows-per-unit."),
    ] = None,
    edges: Annotated[str | None, typer.Option(metavar="VALUE,...", help="For histogram: public edges.")] = None,
    points: Annotated[str | None, typer.Option(metavar="VALUE,...", help="For cdf: public points.")] = None,
    bins: Annotated[
        int | None,
        typer.Option(metavar=NUMBER, help="For histogram and cdf: the largest number of bins, chosen privately."),
    ] = None,
    lower: Annotated[str | None, typer.Option(metavar=NUMBER, help="A public lower bound, if there is one.")] = None,
    upper: Annotated[str | None, typer.Option(metavar=NUMBER, help="A public upper bound, if there is one.")] = None,
    resolution: Annotated[str | None, typer.Option(metavar=NUMBER, help="The step between possible values.")] = None,
    neighbors: Annotated[
        str, typer.Option(metavar="RELATION", help="add-remove or swap.", autocompletion=words("add-remove", "swap"))
    ] = "add-remove",
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the errors as a PNG, PDF or SVG.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """The error to expect, what a summary will answer, or how many rows you need. Spends nothing.

    Example: nobounds plan quantile --q 0.5 --n 1000 --family lognormal --epsilon 1

    Example: nobounds plan describe --columns 7 --rows 1000 --epsilon 1

    Example: nobounds plan rows quantile --q 0.5 --epsilon 1

    Example: nobounds plan rows mean --groups 9 --epsilon 1

    Example: nobounds plan mean --groups 9 --n 900 --family normal --epsilon 1

    Example: nobounds plan histogram --edges 20,40,60 --n 1000 --epsilon 1
    """
    with plain_errors():
        cells: dict[str, Any] = {"bins": bins, "edges": listed(edges), "points": listed(points)}
        if statistic == "describe":
            terms = {"epsilon": _one("epsilon", epsilon), "rho": _one("rho", rho), "neighbors": neighbors}
            show_planned_summary(_summary(of, schema, columns, n, rows_per_unit, terms), as_json=as_json)
            return
        if statistic == "rows":
            facts = {"scale": scale, "lower": lower, "upper": upper, "resolution": resolution, "neighbors": neighbors}
            goals = {"percentiles": percentiles, "value_error": value_error, "relative_error": relative_error}
            spent = {"epsilon": _one("epsilon", epsilon), "rho": _one("rho", rho)}
            data = _data(family, sample, column, optional=True)
            name = check_statistic((of or "").replace("-", "_"))
            units = {"rows_per_unit": rows_per_unit, "groups_per_unit": groups_per_unit}
            parts = {"groups": groups, "delta": delta, **units, **cells}
            needed = rows_needed(name, data=data, q=_ranks(name, q), **spent, **goals, **facts, **parts)  # type: ignore[arg-type]
            wanted = {goal: given for goal, given in goals.items() if given is not None}
            _show_rows(name, needed, wanted, groups, as_json=as_json)
            return
        if of is not None or percentiles is not None or relative_error is not None or columns is not None:
            raise ValueError("OF, --columns, --percentiles and --relative-error are for plan describe and plan rows")
        checked, ranks = check_statistic(statistic.replace("-", "_")), _ranks(statistic, q)
        if plot is not None:
            from nobounds.plots.figures import check_target

            check_target(plot)
        planned = forecast(
            checked,
            data=_data(family, sample, column, optional=checked in COUNTED),
            n=n,
            q=ranks,
            epsilon=epsilon or None,
            rho=rho or None,
            rank_error=rank_error,
            value_error=value_error,
            scale=scale,
            lower=lower,
            upper=upper,
            resolution=resolution,
            neighbors=check_neighbors(neighbors),
            groups=groups,
            delta=delta,
            rows_per_unit=rows_per_unit,
            groups_per_unit=groups_per_unit,
            **cells,
        )
        if plot is not None:
            planned.plot().savefig(plot, dpi=150)
        show(planned, as_json=as_json)


def _one(name: str, numbers: Numbers) -> str | None:
    """The only number of an option, if it is given."""
    if numbers and len(numbers) > 1:
        raise ValueError(f"give one --{name} here, got {len(numbers)}")
    return numbers[0] if numbers else None


def _summary(
    file: str | None,
    schema: Path | None,
    columns: int | None,
    rows: str | None,
    rows_per_unit: int | None,
    terms: dict[str, Any],
) -> DescribeForecast:
    """What a summary will answer of a file's columns, or of a number of columns; the schema of a file alone is read."""
    if (file is None) == (columns is None):
        raise ValueError(f"plan describe needs a file or --columns, got {'neither' if file is None else 'both'}")
    if file is None:
        assert columns is not None
        return dry_run(columns, rows, rows_per_unit, terms)
    csv = nb.Schema.of(schema).csv
    if format_of(Path(file)) == "csv" and (csv is None or csv.header is None):
        raise ValueError(
            f"the first line of {Path(file).name} may be a record: if it holds the names of the columns, use "
            "nobounds describe with --header yes and --dry-run, or a --schema that nobounds info --header yes has saved"
        )
    table = nb.Table(file, schema=schema)
    return dry_run(numeric(table), rows, rows_per_unit, terms)


def numeric(table: nb.Table, unit: str | None = None, only: list[str] | None = None) -> list[str]:
    """The columns of a table that a summary may answer, by their types alone."""
    kinds = {name: kind for name, kind in table.columns.items() if name != unit and name in (only or table.columns)}
    return [name for name, kind in kinds.items() if is_numeric(kind)]


def dry_run(
    columns: int | list[str], rows: str | None, rows_per_unit: int | None, terms: dict[str, Any]
) -> DescribeForecast:
    """What a summary will answer, for a number of rows that the user states."""
    if rows is None:
        raise ValueError("give --rows, the number of rows as far as you know it: it is not read from the table")
    return plan_describe(columns, rows=rows, rows_per_unit=rows_per_unit, **terms)


def show_planned_summary(planned: DescribeForecast, *, as_json: bool) -> None:
    """Print what a summary will answer to the standard output."""
    if as_json:
        print(json.dumps(planned.to_dict(), indent=2, allow_nan=False))
        return
    console = printer()
    console.print(f"Before spending: {planned.title()}", style="bold", soft_wrap=not console.is_terminal)
    console.print()
    table = Table()
    cells = planned.cells()
    for k, head in enumerate(cells):
        table.add_column(head, justify="right" if k else "left")
    for row in zip(*cells.values(), strict=True):
        table.add_row(*row)
    console.show(table)
    console.print()
    for sentence in planned.sentences():
        say(console, sentence)


def _show_rows(statistic: str, rows: int, goals: dict[str, str], groups: int | None, *, as_json: bool) -> None:
    """Print how many rows a statistic needs."""
    if as_json:
        of = {} if groups is None else {"groups": groups}
        print(json.dumps({"statistic": statistic, "rows_needed": rows, **of, **goals}, indent=2))
        return
    goal = "".join(f" with an expected {name.replace('_', ' ')} of {value}" for name, value in goals.items())
    least = " with an interval" if lacking(statistic, groups is not None) == NO_INTERVAL else " at all"
    how = goal or f"{least}, 95% of the time"
    each = "" if groups is None else f": {math.ceil(rows / groups):,} in each of {groups:,} groups"
    say(printer(), f"About {rows:,} rows are needed to answer the {statistic}{how}{each}. Nothing was read or spent.")


def _ranks(statistic: str, q: Numbers) -> Any:
    """A single q, except for the statistic `quantiles`."""
    if not q or statistic == "quantiles":
        return q or None
    if len(q) > 1:
        raise ValueError(f"{statistic} takes one --q, got {len(q)}; for more of them plan quantiles")
    return q[0]


def _data(family: str | None, sample: Path | None, column: str | None, *, optional: bool = False) -> object:
    """The name of a family, or a column of a public sample; neither is needed if they are optional."""
    if optional and family is None and sample is None:
        return None
    if (family is None) == (sample is None):
        raise ValueError(f"give --family or --sample, got {'neither' if family is None else 'both'}")
    if sample is None:
        if column is not None:
            raise ValueError("--column is for a --sample")
        return family
    if column is None:
        raise ValueError("--sample needs --column, the name of its column")
    return read_column(sample, column, Csv(header=True) if format_of(sample) == "csv" else None)  # a sample is public


def show(planned: Forecast, *, as_json: bool) -> None:
    """Print a forecast to the standard output: a table and a sentence, or one JSON object."""
    if as_json:
        print(json.dumps(planned.to_dict(), indent=2, allow_nan=False))
        return
    console = printer()
    console.print(f"Errors to expect: {planned.title()}", style="bold", soft_wrap=not console.is_terminal)
    console.print()
    console.show(_table(planned))
    console.print()
    for sentence in planned.sentences():
        say(console, sentence)


def _table(planned: Forecast) -> Table:
    table = Table()
    cells = planned.columns()
    for head in cells:
        table.add_column(head, justify="right", style="bold" if head == planned.spending else "")
    for row in zip(*cells.values(), strict=True):
        table.add_row(*row)
    return table
