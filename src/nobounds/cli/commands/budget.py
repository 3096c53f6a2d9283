"""The budget command: make a budget file, and show what was spent from it."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from nobounds.accounting.budget import Budget, Statement, read
from nobounds.accounting.composition import round_down
from nobounds.accounting.loss import check_neighbors
from nobounds.cli.errors import plain_errors, require_budget
from nobounds.cli.help import Command, Group, words
from nobounds.cli.output import Printer, say, show_table
from nobounds.exact import printable

app = typer.Typer(
    help="Budget files: make one, and show what was spent from it.",
    cls=Group,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

NUMBER = "NUMBER"
File = Annotated[Path, typer.Argument(help="The budget's file, on a local disk.", show_default=False)]
Epsilon = Annotated[str | None, typer.Option(metavar=NUMBER, help="All that may be spent, as an epsilon.")]
Delta = Annotated[str | None, typer.Option(metavar=NUMBER, help="The delta of that epsilon, if it need not be pure.")]
Rho = Annotated[str | None, typer.Option(metavar=NUMBER, help="All that may be spent, as a rho (zCDP).")]
Neighbors = Annotated[
    str | None,
    typer.Option(
        metavar="RELATION",
        help="add-remove or swap. Default: that of the first charge.",
        autocompletion=words("add-remove", "swap"),
    ),
]
Unit = Annotated[
    str | None, typer.Option(metavar="NAME", help="Whose data are protected. Default: the unit of the first charge.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@app.command(cls=Command)
def create(
    file: File,
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    neighbors: Neighbors = None,
    unit: Unit = None,
) -> None:
    """Make a budget file.

    Example: nobounds budget create people.budget --epsilon 3
    """
    with plain_errors():
        if epsilon is None and rho is None:
            raise ValueError("a budget needs --epsilon, --rho, or --epsilon and --delta")
        checked = None if neighbors is None else check_neighbors(neighbors)
        Budget(epsilon=epsilon, delta=delta, rho=rho, path=file, neighbors=checked, unit=unit)
        made = read(file)
        print(f"Created {printable(str(file))}: {made.limit} to spend{_for_whom(made)}.")


@app.command(cls=Command)
def show(file: File, as_json: Json = False) -> None:
    """Every charge, and what is spent and left.

    Example: nobounds budget show people.budget
    """
    with plain_errors():
        statement = read(require_budget(file))
        if as_json:
            print(json.dumps(_plain(statement), indent=2, allow_nan=False))
            return
        console = Printer()
        if statement.history:
            if console.is_terminal:  # long reasons are wrapped there
                console.print(_table(statement))
            else:
                show_table(console, _table(statement))
            console.print()
        say(console, f"Budget: {statement}{_for_whom(statement)}.")


def _table(statement: Statement) -> Table:
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("when (UTC)", no_wrap=True)
    table.add_column("what", overflow="fold", style="bold")
    table.add_column("cost", no_wrap=True)
    for charge in statement.history:
        table.add_row(f"{charge.when:%Y-%m-%d %H:%M:%S}", printable(charge.what), statement.price(charge.loss))
    return table


def _for_whom(statement: Statement) -> str:
    """The neighbours and the unit, as far as they are fixed."""
    unit = f"per {printable(statement.unit)}" if statement.unit else ""
    known = ", ".join(part for part in (statement.neighbors, unit) if part)
    return f" ({known})" if known else ""


def _plain(statement: Statement) -> dict[str, Any]:
    terms = statement.terms
    limit = {"epsilon": terms.epsilon, "delta": terms.delta, "rho": terms.rho}
    return {
        **{name: round_down(value) for name, value in limit.items() if value is not None},
        "neighbors": statement.neighbors,
        "unit": statement.unit,
        "spent": statement.spent.to_dict() if statement.spent else None,
        "remaining": statement.remaining,
        "charges": [
            {"when": charge.when.isoformat(), "what": charge.what, "loss": charge.loss.to_dict()}
            for charge in statement.history
        ],
    }
