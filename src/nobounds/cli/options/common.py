"""The options that all commands share, in groups, and which of them can be combined.

Numbers stay text until the library reads them: 0.1 on the command line means exactly one tenth.
"""

from dataclasses import field, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, get_args

import typer

from nobounds.accounting.composition import round_down
from nobounds.accounting.loss import Neighbors, check_neighbors
from nobounds.cli.complete import columns
from nobounds.cli.help import words
from nobounds.cli.options.text import Text
from nobounds.exact import privacy_parameter
from nobounds.release.files import check_out
from nobounds.values import dataclass

NUMBER = "NUMBER"
FORMATS = ("csv", "tsv", "jsonl", "parquet", "arrow", "xlsx")


def number(*names: str, help: str, **more: Any) -> Any:
    """An option that takes a number; its name is that of the field, unless `names` has another one."""
    return typer.Option(*names, metavar=NUMBER, help=help, **more)


def name(*names: str, help: str, **more: Any) -> Any:
    """An option that takes the name of a column, and completes it."""
    return typer.Option(*names, metavar="NAME", help=help, autocompletion=columns, **more)


def word(*known: str, metavar: str, help: str) -> Any:
    """An option that takes one of a few words."""
    return typer.Option(metavar=metavar, help=help, autocompletion=words(*known))


RowsOf = Annotated[
    str,
    typer.Option(
        "--rows-of",
        metavar="WHAT",
        help="What --sql protects. source: a row of the table; queries that mix rows are refused. result: a row of the "
        "query's result, from any select. A join, aggregate, window, limit or distinct can spread one person over "
        "several rows of a result.",
        autocompletion=words("source", "result"),
    ),
]
Database = Annotated[
    str | None,
    typer.Option(
        metavar="URL", help="The database of --sql: postgresql://..., mariadb://..., or a DuckDB or SQLite file."
    ),
]
Folder = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Where the files are that --sql or a statement may name. Default: none."),
]
Out = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Also write the answer to a .csv, .json or .parquet file.")
]


@dataclass(frozen=True, slots=True)
class Data:
    """Where the table is: files, the standard input or a query; and how CSV files are written."""

    panel: ClassVar = "The table"

    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILES",
            help="CSV, TSV or JSON lines (also .gz, .bz2 and .zst), Parquet, Arrow, Feather or Excel files, globs, "
            "or - for standard input.",
            show_default=False,
        ),
    ] = None
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CONDITION",
            help="Use only rows for which this SQL condition is true. The condition is public. Repeatable.",
        ),
    ] = None
    computed: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="NAME=FORMULA", help="Add a column computed by an SQL formula. Repeatable."),
    ] = None
    sql: Annotated[
        str | None,
        typer.Option(
            metavar="QUERY",
            help="Instead of FILES: select rows and columns of a table of --database, or of one file of --folder, with "
            "its name in quotes.",
        ),
    ] = None
    database: Database = None
    folder: Folder = None
    rows_of: RowsOf = "source"
    format: Annotated[
        str | None,
        word(*FORMATS, metavar="KIND", help=f"The format of standard input: {', '.join(FORMATS)}. Default: csv."),
    ] = None
    text: Text = field(default_factory=Text)

    def __post_init__(self) -> None:
        if any(not (name.strip() and formula) for name, formula in self.formulas):
            raise ValueError("--with must be NAME=FORMULA, for example --with 'rate=late / trips'")
        if bool(self.files) == (self.sql is not None):
            got = "both" if self.files else "neither; for example nobounds count people.parquet --epsilon 1"
            raise ValueError(f"give files or --sql, got {got}")
        if self.database is not None and self.sql is None:
            raise ValueError("--database needs --sql, the query to run on it")
        if self.folder is not None and self.sql is None:
            raise ValueError("--folder needs --sql, the query that may name its files")
        if self.rows_of != "source" and self.sql is None:
            raise ValueError("--rows-of needs --sql, the query whose rows are protected")
        if self.files and "-" in self.files and len(self.files) > 1:
            raise ValueError("standard input (-) cannot be combined with other files")
        if self.format is not None and self.files != ["-"]:
            raise ValueError("--format is for standard input (-); the format of a file follows from its name")
        if self.format is not None and self.format not in FORMATS:
            raise ValueError(f"--format must be one of {', '.join(FORMATS)}, got {self.format!r}")

    @property
    def formulas(self) -> list[tuple[str, str]]:
        """The names and formulas of --with."""
        pairs = (text.partition("=") for text in self.computed or ())
        return [(name.strip(), formula) for name, _, formula in pairs]


@dataclass(frozen=True, slots=True)
class Spend:
    """What may be spent, and the budget it is charged to."""

    panel: ClassVar = "Privacy loss"

    epsilon: Annotated[str | None, number(help="The total privacy loss. Smaller is more private.")] = None
    rho: Annotated[str | None, number(help="The privacy loss as rho of zCDP, instead of --epsilon.")] = None
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="The budget to charge before the data are read: a file, or postgresql://host/database#name.",
        ),
    ] = None
    note: Annotated[str | None, typer.Option(metavar="TEXT", help="What the answer is for; kept in the budget.")] = None
    author: Annotated[str | None, typer.Option(metavar="NAME", help="Who asks; kept in the budget.")] = None
    label: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The name of the data in the budget. Default: the file's name."),
    ] = None

    def __post_init__(self) -> None:
        for name in ("note", "author", "label"):
            if self.budget is None and getattr(self, name) is not None:
                raise ValueError(f"--{name} needs --budget, the file that keeps it")
        if (self.epsilon is None) == (self.rho is None):
            got = "neither" if self.epsilon is None else "both"
            raise ValueError(f"give --epsilon or --rho, got {got}; for example --epsilon 1")

    @property
    def amount(self) -> dict[str, Any]:
        """The keywords of the library."""
        return {"epsilon": self.epsilon, "rho": self.rho}

    def each(self, many: int) -> "Spend":
        """An even part of the amount, rounded down, so that no more than the amount is spent by all."""
        if many == 1:
            return self
        return replace(self, rho=part(self.rho, "rho", many), epsilon=part(self.epsilon, "epsilon", many))


@dataclass(frozen=True, slots=True)
class Whom:
    """The privacy unit: a row, or all rows of a unit; and which tables are neighbours."""

    panel: ClassVar = "Who is protected"

    unit: Annotated[
        str | None,
        name(help="The column that identifies a person; all rows of a person are protected. Default: one row is."),
    ] = None
    rows_per_unit: Annotated[int | None, number(help="Use at most this number of rows of each unit.")] = None
    neighbors: Annotated[
        str,
        word(
            *get_args(Neighbors),
            metavar="RELATION",
            help="add-remove hides whether a row is there; swap hides its content, and the number of rows is public.",
        ),
    ] = "add-remove"

    def __post_init__(self) -> None:
        if self.checked_neighbors == "swap" and self.unit is not None:
            raise ValueError("--unit needs --neighbors add-remove")
        if self.unit is None and self.rows_per_unit is not None:
            raise ValueError("--rows-per-unit needs --unit, the column that identifies the unit of a row")

    def require_rows(self) -> None:
        """Refuse a unit whose rows are not limited, where they have to be."""
        if self.unit is not None and self.rows_per_unit is None:
            raise ValueError("--unit needs --rows-per-unit; the command nobounds rows-per-unit helps to choose it")

    @property
    def checked_neighbors(self) -> Neighbors:
        """The value of --neighbors, checked."""
        return check_neighbors(self.neighbors)


@dataclass(frozen=True, slots=True)
class CommonOptions:
    """The options of every command: the table, the spending, the privacy unit, and how to print."""

    data: Data
    spend: Spend
    whom: Whom
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False
    quiet: Annotated[bool, typer.Option("--quiet", help="Hide the progress of long reads.")] = False
    out: Out = None

    def __post_init__(self) -> None:
        if self.out is not None:
            check_out(self.out)


def part(amount: str | None, name: str, many: int) -> str | None:
    """An even part of an amount, rounded down; None if there is none."""
    if amount is None or many == 1:
        return amount
    return repr(round_down(privacy_parameter(amount, name) / many))
