"""The commands: a private summary of a file, and private quantiles, extremes, sums and means of one of its columns.

Numbers stay text until the library reads them, so that 0.1 on the command line means one tenth exactly.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer

import nobounds as nb
from nobounds import plots
from nobounds.cli.budget import app as budget_app
from nobounds.cli.errors import plain_errors
from nobounds.cli.output import show, show_description
from nobounds.cli.paper import paper
from nobounds.cli.plan import plan
from nobounds.engines.files import read_column
from nobounds.engines.frames import read_frame
from nobounds.spending import Spending, charged

# Python's own tracebacks only: the decorated ones can show local variables, and with them the data.
app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None)
app.add_typer(budget_app, name="budget")

NUMBER = "NUMBER"
File = Annotated[Path, typer.Argument(help="A CSV, TSV (.gz too) or Parquet file.", show_default=False)]
ColumnName = Annotated[str, typer.Option("--column", metavar="NAME", help="The column's name.", show_default=False)]
Quantiles = Annotated[
    list[str], typer.Option("--q", metavar=NUMBER, help="From 0 to 1; may be repeated.", show_default=False)
]
Epsilon = Annotated[str | None, typer.Option(metavar=NUMBER, help="The privacy loss of all answers together.")]
Rho = Annotated[str | None, typer.Option(metavar=NUMBER, help="The same as a rho of zCDP, instead of --epsilon.")]
BudgetFile = Annotated[
    Path | None, typer.Option("--budget", metavar="FILE", help="A budget file to charge before the data are read.")
]
Lower = Annotated[str | None, typer.Option(metavar=NUMBER, help="A public lower bound, if there is one.")]
Upper = Annotated[str | None, typer.Option(metavar=NUMBER, help="A public upper bound, if there is one.")]
Resolution = Annotated[
    str | None, typer.Option(metavar=NUMBER, help="The grid the data live on: 0.01 for cents, 1 for whole numbers.")
]
Neighbors = Annotated[str, typer.Option(metavar="RELATION", help="What one record may change: add-remove or swap.")]
Beta = Annotated[str | None, typer.Option(metavar=NUMBER, help="The largest ratio of neighbouring candidates.")]
Noise = Annotated[str, typer.Option(metavar="KIND", help="exponential, laplace or gumbel.")]
Method = Annotated[str, typer.Option(metavar="METHOD", help="auto, walk, flip or exponential.")]
Rows = Annotated[
    str | None, typer.Option(metavar=NUMBER, help="The number of records, if it may be stated; roughly will do.")
]
Columns = Annotated[
    list[str] | None, typer.Option("--column", metavar="NAME", help="A column; may be repeated. Default: all of them.")
]
PerColumn = typer.Option(metavar="[NAME=]NUMBER", help="For one column or, without a name, for all; may be repeated.")
Plot = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the private quantiles into a PNG, PDF or SVG.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@app.callback(invoke_without_command=True)
def nobounds(show_version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    """Differentially private summaries, quantiles, extremes, sums and means of a file, with no bounds given."""
    if show_version:
        typer.echo(f"nobounds {version('nobounds')}")
        raise typer.Exit


@app.command()
def describe(
    file: File,
    epsilon: Epsilon = None,
    rho: Rho = None,
    column: Columns = None,
    lower: Annotated[list[str] | None, PerColumn] = None,
    upper: Annotated[list[str] | None, PerColumn] = None,
    resolution: Annotated[list[str] | None, PerColumn] = None,
    neighbors: Neighbors = "add-remove",
    budget: BudgetFile = None,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Count, mean, standard deviation, minimum, quantiles and maximum of every numeric column, for one epsilon.

    Example: nobounds describe people.csv --epsilon 1 --resolution age=1 --plot people.png
    """
    with plain_errors():
        spend = _spend(epsilon, rho, budget, f"in {file.name}")
        options = {"lower": lower, "upper": upper, "resolution": resolution}
        given = {name: _per_column(name, values) for name, values in options.items()}
        if plot is not None:
            plots.check_target(plot)
        table = read_frame(file, column)
        described = nb.describe(table, neighbors=neighbors, **spend, **given)  # type: ignore[arg-type]
        if plot is not None:
            plots.plot_description(described).savefig(plot, dpi=150)
        show_description(described, file.name, as_json=as_json)


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


@app.command()
def quantile(
    file: File,
    column: ColumnName,
    q: Quantiles,
    epsilon: Epsilon = None,
    rho: Rho = None,
    lower: Lower = None,
    upper: Upper = None,
    resolution: Resolution = None,
    neighbors: Neighbors = "add-remove",
    beta: Beta = None,
    noise: Noise = "exponential",
    method: Method = "auto",
    rows: Rows = None,
    budget: BudgetFile = None,
    as_json: Json = False,
) -> None:
    """Private quantiles, all for one epsilon; --beta, --noise and --method go with a single --q.

    Example: nobounds quantile people.csv --column income --q 0.5 --q 0.99 --epsilon 1
    """
    with plain_errors():
        spend = _spend(epsilon, rho, budget, f"of {column} in {file.name}")
        data = read_column(file, column)
        known = {"lower": lower, "upper": upper, "resolution": resolution, "neighbors": neighbors, "rows": rows}
        if len(q) == 1:
            ways = {"beta": beta, "noise": noise, "method": method}
            found = nb.quantile(data, q[0], **spend, **known, **ways)  # type: ignore[arg-type]
        elif beta is not None or (noise, method) != ("exponential", "auto"):
            raise ValueError("--beta, --noise and --method go with a single --q; leave them out for several")
        else:
            found = nb.quantiles(data, q, **spend, **known)  # type: ignore[arg-type]
        show(found, as_json=as_json)


def _command_without_q(statistic: Callable[..., nb.Release], summary: str) -> None:
    name = statistic.__name__

    def command(
        file: File,
        column: ColumnName,
        epsilon: Epsilon = None,
        rho: Rho = None,
        lower: Lower = None,
        upper: Upper = None,
        resolution: Resolution = None,
        neighbors: Neighbors = "add-remove",
        beta: Beta = None,
        noise: Noise = "exponential",
        budget: BudgetFile = None,
        as_json: Json = False,
    ) -> None:
        with plain_errors():
            spend = _spend(epsilon, rho, budget, f"of {column} in {file.name}")
            options = {"lower": lower, "upper": upper, "resolution": resolution, "neighbors": neighbors}
            found = statistic(read_column(file, column), beta=beta, noise=noise, **spend, **options)
            show(found, as_json=as_json)

    example = f"Example: nobounds {name} people.csv --column income --epsilon 1"
    app.command(name, help=f"{summary}\n\n{example}", short_help=summary)(command)


_command_without_q(nb.maximum, "The private maximum.")
_command_without_q(nb.minimum, "The private minimum.")
_command_without_q(nb.bounds, "The private minimum and maximum, for one total epsilon.")


def _command_with_clip(statistic: Callable[..., nb.Release], summary: str) -> None:
    name = statistic.__name__

    def command(
        file: File,
        column: ColumnName,
        epsilon: Epsilon = None,
        rho: Rho = None,
        lower: Lower = None,
        upper: Upper = None,
        resolution: Resolution = None,
        neighbors: Neighbors = "add-remove",
        budget: BudgetFile = None,
        as_json: Json = False,
    ) -> None:
        with plain_errors():
            spend = _spend(epsilon, rho, budget, f"of {column} in {file.name}")
            options = {"lower": lower, "upper": upper, "resolution": resolution, "neighbors": neighbors}
            show(statistic(read_column(file, column), **spend, **options), as_json=as_json)

    example = f"Example: nobounds {name} people.csv --column income --epsilon 1"
    app.command(name, help=f"{summary}\n\n{example}", short_help=summary)(command)


_command_with_clip(nb.sum, "The private sum, with a clipping bound that it finds itself.")
_command_with_clip(nb.mean, "The private mean, with clipping bounds that it finds itself.")


@app.command()
def count(
    file: File,
    column: ColumnName,
    epsilon: Epsilon = None,
    rho: Rho = None,
    neighbors: Neighbors = "add-remove",
    budget: BudgetFile = None,
    as_json: Json = False,
) -> None:
    """The private number of records that are numbers.

    Example: nobounds count people.csv --column income --epsilon 1
    """
    with plain_errors():
        spend = _spend(epsilon, rho, budget, f"of {column} in {file.name}")
        show(nb.count(read_column(file, column), neighbors=neighbors, **spend), as_json=as_json)  # type: ignore[arg-type]


app.command()(plan)
app.command()(paper)


def _spend(epsilon: str | None, rho: str | None, budget: Path | None, where: str) -> dict[str, Any]:
    """What may be spent, checked before any file is opened, and the budget it is charged to."""
    Spending.of(epsilon, rho)
    return {"epsilon": epsilon, "rho": rho, "budget": None if budget is None else _Named(nb.Budget(path=budget), where)}


@dataclass(frozen=True, slots=True)
class _Named:
    """A budget whose charges name the column and the file."""

    budget: nb.Budget
    where: str

    def charge(self, loss: nb.PrivacyLoss, what: str) -> None:
        """Charge it."""
        charged(loss, self.budget, f"{what} {self.where}")
