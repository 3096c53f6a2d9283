"""The plan command: the error to expect before anything is spent, and the epsilon needed for an error."""

import json
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from nobounds import plots
from nobounds.accounting.loss import check_neighbors
from nobounds.cli.errors import plain_errors
from nobounds.cli.help import words
from nobounds.cli.output import Printer, say, show_table
from nobounds.engines.csv.dialect import Csv
from nobounds.engines.files.columns import read_column
from nobounds.engines.files.formats import is_parquet
from nobounds.planning.families import FAMILIES
from nobounds.planning.forecast import Forecast
from nobounds.planning.forecasters import Statistic, check_statistic
from nobounds.planning.plan import plan as forecast

NUMBER = "NUMBER"
Numbers = list[str] | None


def plan(
    statistic: Annotated[
        str,
        typer.Argument(
            metavar="STATISTIC",
            help="quantile, quantiles, maximum, minimum, bounds, sum, mean or count.",
            show_default=False,
            autocompletion=words(*get_args(Statistic)),
        ),
    ],
    n: Annotated[
        str | None, typer.Option("--n", metavar=NUMBER, help="The number of records. Default: that of the sample.")
    ] = None,
    q: Annotated[Numbers, typer.Option("--q", metavar=NUMBER, help="From 0 to 1; repeated for quantiles.")] = None,
    family: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help=f"The shape of the data: {', '.join(FAMILIES)}.", autocompletion=words(*FAMILIES)
        ),
    ] = None,
    scale: Annotated[str | None, typer.Option(metavar=NUMBER, help="What the family is multiplied by.")] = None,
    sample: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Or a file with a PUBLIC sample: never the private data.")
    ] = None,
    column: Annotated[str | None, typer.Option(metavar="NAME", help="The sample's column.")] = None,
    epsilon: Annotated[Numbers, typer.Option(metavar=NUMBER, help="May be repeated. Default: 0.02 to 10.")] = None,
    rho: Annotated[Numbers, typer.Option(metavar=NUMBER, help="Instead, a rho (zCDP); may be repeated.")] = None,
    rank_error: Annotated[
        str | None, typer.Option(metavar=NUMBER, help="Find the smallest epsilon for this expected error in ranks.")
    ] = None,
    value_error: Annotated[
        str | None, typer.Option(metavar=NUMBER, help="Find the smallest epsilon for this expected error in value.")
    ] = None,
    lower: Annotated[str | None, typer.Option(metavar=NUMBER, help="A public lower bound, if there is one.")] = None,
    upper: Annotated[str | None, typer.Option(metavar=NUMBER, help="A public upper bound, if there is one.")] = None,
    resolution: Annotated[str | None, typer.Option(metavar=NUMBER, help="The grid the data live on.")] = None,
    neighbors: Annotated[
        str, typer.Option(metavar="RELATION", help="add-remove or swap.", autocompletion=words("add-remove", "swap"))
    ] = "add-remove",
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the errors into a PNG, PDF or SVG.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """The error to expect of a private statistic, before anything is spent.

    Example: nobounds plan quantile --q 0.5 --n 1000 --family lognormal --epsilon 1
    """
    with plain_errors():
        checked, ranks = check_statistic(statistic), _ranks(statistic, q)
        if plot is not None:
            plots.check_target(plot)
        planned = forecast(
            checked,
            data=_data(family, sample, column),
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
        )
        if plot is not None:
            planned.plot().savefig(plot, dpi=150)
        show(planned, as_json=as_json)


def _ranks(statistic: str, q: Numbers) -> Any:
    """A single q, except for the statistic `quantiles`."""
    if not q or statistic == "quantiles":
        return q or None
    if len(q) > 1:
        raise ValueError(f"{statistic} takes one --q, got {len(q)}; for more of them plan quantiles")
    return q[0]


def _data(family: str | None, sample: Path | None, column: str | None) -> object:
    """The name of a family, or a column of a public sample."""
    if (family is None) == (sample is None):
        raise ValueError(f"give --family or --sample, got {'neither' if family is None else 'both'}")
    if sample is None:
        if column is not None:
            raise ValueError("--column is for a --sample")
        return family
    if column is None:
        raise ValueError("--sample needs --column, the name of its column")
    return read_column(sample, column, None if is_parquet(sample) else Csv(header=True))  # a sample is public


def show(planned: Forecast, *, as_json: bool) -> None:
    """Print a forecast to the standard output: a table and a sentence, or one JSON object."""
    if as_json:
        print(json.dumps(planned.to_dict(), indent=2, allow_nan=False))
        return
    console = Printer()
    console.print(f"Errors to expect: {planned.title()}", style="bold", soft_wrap=not console.is_terminal)
    console.print()
    show_table(console, _table(planned))
    console.print()
    for sentence in planned.sentences():
        say(console, sentence)


def _table(planned: Forecast) -> Table:
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    cells = planned.columns()
    for head in cells:
        table.add_column(head, justify="right", no_wrap=True, style="bold" if head == planned.spending else None)
    for row in zip(*cells.values(), strict=True):
        table.add_row(*row)
    return table
