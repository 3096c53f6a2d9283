"""The budget command: make a budget file, show or export what was spent from it, and let it cover more data."""

import json
import math
from pathlib import Path
from typing import Annotated, Any

import typer

from nobounds.accounting.budget import Budget, Statement, read
from nobounds.accounting.composition import round_down
from nobounds.accounting.loss import check_neighbors
from nobounds.accounting.postgres.ledger import install as install_functions
from nobounds.accounting.postgres.ledger import is_address
from nobounds.cli.errors import budget_name, plain_errors, require_budget
from nobounds.cli.help import Command, Group, words
from nobounds.cli.printing.printer import printer, say
from nobounds.cli.printing.tables import Table
from nobounds.exact import printable
from nobounds.release.files import check_out, csv_text, write_text

budget = typer.Typer(
    help="Create a budget; show or export what was spent.",
    cls=Group,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

NUMBER = "NUMBER"
File = Annotated[
    str,
    typer.Argument(
        help="The budget's file, on a local disk, or postgresql://host/database#name.",
        metavar="FILE",
        show_default=False,
    ),
]
Server = Annotated[
    str,
    typer.Argument(metavar="URL", help="The server and the database: postgresql://host/database.", show_default=False),
]
Role = Annotated[str, typer.Argument(help="A role of the server, by which an analyst logs in.", show_default=False)]
Epsilon = Annotated[str | None, typer.Option(metavar=NUMBER, help="The limit, as epsilon.")]
Delta = Annotated[
    str | None, typer.Option(metavar=NUMBER, help="The delta of that epsilon. Default: pure epsilon, without a delta.")
]
Rho = Annotated[str | None, typer.Option(metavar=NUMBER, help="The limit, as rho of zCDP.")]
Neighbors = Annotated[
    str | None,
    typer.Option(
        metavar="RELATION",
        help="add-remove or swap. Default: that of the first charge.",
        autocompletion=words("add-remove", "swap"),
    ),
]
Unit = Annotated[str | None, typer.Option(metavar="NAME", help="The privacy unit. Default: that of the first charge.")]
Labels = Annotated[
    list[str] | None,
    typer.Option(
        "--label", metavar="NAME", help="The data that it covers. Repeatable. Default: those of the first charge."
    ),
]
Out = Annotated[
    Path,
    typer.Option(
        "--out", metavar="FILE", help="A .csv or .json file; an existing file is replaced.", show_default=False
    ),
]
Label = Annotated[str, typer.Argument(help="The name of the data, as --label states it.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@budget.command(cls=Command)
def create(
    file: File,
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    neighbors: Neighbors = None,
    unit: Unit = None,
    label: Labels = None,
) -> None:
    """Create a budget.

    Example: nobounds budget create people.budget --epsilon 3
    """
    with plain_errors():
        if epsilon is None and rho is None:
            raise ValueError("a budget needs --epsilon, --rho, or --epsilon and --delta")
        checked = None if neighbors is None else check_neighbors(neighbors)
        Budget(epsilon=epsilon, delta=delta, rho=rho, path=file, neighbors=checked, unit=unit, labels=label or ())
        made = read(file)
        name = budget_name(file) if is_address(file) else printable(file)
        print(f"Created {name}: {made.limit} to spend{_for_whom(made)}{_for_what(made)}.")


@budget.command(cls=Command)
def show(file: File, as_json: Json = False) -> None:
    """Show every charge, and what is spent and left.

    Example: nobounds budget show people.budget
    """
    with plain_errors():
        statement = read(require_budget(file))
        if as_json:
            print(json.dumps(_plain(statement), indent=2, allow_nan=False))
            return
        console = printer()
        if statement.history:
            console.show(_table(statement))
            console.print()
        say(console, f"Budget: {statement}{_for_whom(statement)}{_for_what(statement)}.")


@budget.command(cls=Command)
def export(file: File, out: Out) -> None:
    """Write every charge to a CSV or JSON file.

    Example: nobounds budget export people.budget --out charges.csv
    """
    with plain_errors():
        as_json = out.suffix.lower() == ".json"
        if not as_json and out.suffix.lower() != ".csv":
            raise ValueError(f"--out must end in .csv or .json, got {printable(out.name)}")
        check_out(out)
        statement = read(require_budget(file))
        if out.exists() and not is_address(file) and out.samefile(file):
            raise ValueError("--out would replace the budget itself; give another file")
        plain = json.dumps(_plain(statement), indent=2, allow_nan=False) + "\n" if as_json else ""
        write_text(plain or csv_text(_columns(statement)), out)
        many = len(statement.history)
        print(f"Wrote {many} charge{'' if many == 1 else 's'} to {printable(str(out))}.")


@budget.command(cls=Command)
def allow(file: File, label: Label) -> None:
    """Let a budget cover data of another name that are about the same people.

    Example: nobounds budget allow people.budget orders.csv
    """
    with plain_errors():
        Budget(path=require_budget(file)).allow(label)
        print(f"{budget_name(file)}{_for_what(read(file))}.".replace(", covers", " covers", 1))


@budget.command(cls=Command)
def install(url: Server) -> None:
    """Prepare a PostgreSQL database for budgets, owned by the role of the URL.

    Example: nobounds budget install postgresql://db.example/shop
    """
    with plain_errors():
        if not is_address(url):
            raise ValueError(f"install needs a postgresql:// URL, got {printable(url)}")
        install_functions(url)
        print(f"{budget_name(url)} can hold budgets: nobounds budget create '{budget_name(url)}#people' --epsilon 3")


@budget.command(cls=Command)
def share(file: File, role: Role, epsilon: Epsilon = None, delta: Delta = None, rho: Rho = None) -> None:
    """Let a role charge up to a share of a budget in PostgreSQL, and nothing else.

    Example: nobounds budget share postgresql://db.example/shop#people ana --epsilon 1
    """
    with plain_errors():
        Budget(path=require_budget(file)).share(role, epsilon=epsilon, delta=delta, rho=rho)
        print(f"{printable(role)} may charge a share of {budget_name(file)}.")


def _table(statement: Statement) -> Table:
    table = Table()
    table.add_column("when (UTC)")
    table.add_column("what", style="bold", folds=True)
    table.add_column("cost")
    said = [name for name in ("label", "note", "author") if any(getattr(each, name) for each in statement.history)]
    for name in said:
        table.add_column(name, folds=True)
    for charge in statement.history:
        remark = [printable(getattr(charge, name) or "") for name in said]
        table.add_row(f"{charge.when:%Y-%m-%d %H:%M:%S}", printable(charge.what), statement.price(charge.loss), *remark)
    return table


def _columns(statement: Statement) -> dict[str, list[Any]]:
    """Every charge as columns of a CSV file; what is not given or infinite is empty."""
    history = statement.history
    numbers = {
        name: [None if (amount := getattr(charge.loss, name)) == math.inf else amount for charge in history]
        for name in ("epsilon", "rho", "delta")
    }
    said = {name: [getattr(charge, name) for charge in history] for name in ("what", "label", "note", "author")}
    whom = {name: [getattr(charge.loss, name) for charge in history] for name in ("neighbors", "unit")}
    when = [charge.when.isoformat() for charge in history]
    return {"number": list(range(1, len(history) + 1)), "when": when, **said, **numbers, **whom}


def _for_what(statement: Statement) -> str:
    """The labels of the data, if any."""
    return f", covers {', '.join(map(printable, statement.labels))}" if statement.labels else ""


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
        "labels": list(statement.labels),
        "spent": statement.spent.to_dict() if statement.spent else None,
        "remaining": statement.remaining,
        "charges": [
            {
                "when": charge.when.isoformat(),
                "what": charge.what,
                "loss": charge.loss.to_dict(),
                **{name: text for name in ("label", "note", "author") if (text := getattr(charge, name))},
            }
            for charge in statement.history
        ],
    }
