"""The options that commands share, in groups, and which of them can be combined.

Numbers stay text until the library reads them: 0.1 on the command line means exactly one tenth.
"""

from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, get_args

import typer

from nobounds.accounting.composition import round_down
from nobounds.accounting.loss import Neighbors, check_neighbors
from nobounds.cli.complete import columns
from nobounds.cli.help import words
from nobounds.cli.text import Text
from nobounds.exact import privacy_parameter
from nobounds.release.files import check_out
from nobounds.statistics.keywords import Method, Noise, Of

NUMBER = "NUMBER"
ColumnNames = Annotated[
    list[str],
    typer.Option(
        "--column",
        metavar="NAME",
        help="The column's name; several share epsilon evenly.",
        show_default=False,
        autocompletion=columns,
    ),
]
CountedColumns = Annotated[
    list[str] | None,
    typer.Option("--column", metavar="NAME", help="A column; default: count all rows.", autocompletion=columns),
]
Condition = Annotated[
    str,
    typer.Option(
        metavar="CONDITION", help="An SQL condition on the columns of one row, or a boolean column.", show_default=False
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column", metavar="NAME", help="A column; may be repeated. Default: all of them.", autocompletion=columns
    ),
]


def second_column(option: str) -> Any:
    """The name of one of two columns."""
    return Annotated[
        str, typer.Option(option, metavar="NAME", help="A column.", show_default=False, autocompletion=columns)
    ]


Quantiles = Annotated[
    list[str], typer.Option("--q", metavar=NUMBER, help="From 0 to 1; may be repeated.", show_default=False)
]
SQL = (
    "Instead of files: a select of rows and columns of one file, whose name is in quotes, or of a table of --database."
)
RowsOf = Annotated[
    str,
    typer.Option(
        "--rows-of",
        metavar="WHAT",
        help="source: each row of a query is a row of its table, and other queries are refused. result: any select. "
        "Privacy is for one row of its result: a join, aggregate, window, limit or distinct may spread a person over "
        "several.",
        autocompletion=words("source", "result"),
    ),
]
Database = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Where the query's tables are: postgresql://..., or a DuckDB or SQLite file."),
]
FORMATS = ("csv", "tsv", "jsonl", "parquet", "arrow", "xlsx")
PerColumn = typer.Option(metavar="[NAME=]NUMBER", help="For one column or, without a name, for all; may be repeated.")
Plot = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the private quantiles into a PNG, PDF or SVG.")]

Out = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write the answer to a .csv, .json or .parquet as well.")
]


@dataclass(frozen=True, slots=True)
class Data:
    """Where the table is: files, the standard input or a query; and how CSV files are written."""

    panel: ClassVar = "The table"

    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILES",
            help="CSV, TSV or JSON lines (.gz, .bz2 and .zst too), Parquet, Arrow, Feather or Excel files, globs, "
            "or - for the standard input.",
            show_default=False,
        ),
    ] = None
    sql: Annotated[str | None, typer.Option(metavar="QUERY", help=SQL)] = None
    database: Database = None
    rows_of: RowsOf = "source"
    format: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help=f"Of the standard input: {', '.join(FORMATS)}. Default: csv.",
            autocompletion=words(*FORMATS),
        ),
    ] = None
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CONDITION", help="Only rows for which this SQL condition is true; it is public. May be repeated."
        ),
    ] = None
    computed: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="NAME=FORMULA", help="One more column, by an SQL formula; may be repeated."),
    ] = None
    text: Text = field(default_factory=Text)

    def __post_init__(self) -> None:
        if any(not (name.strip() and formula) for name, formula in self.formulas):
            raise ValueError("--with must be NAME=FORMULA, for example --with 'rate=late / trips'")
        if bool(self.files) == (self.sql is not None):
            raise ValueError(f"give files or --sql, got {'both' if self.files else 'neither'}")
        if self.database is not None and self.sql is None:
            raise ValueError("--database needs --sql, the query to run on it")
        if self.rows_of != "source" and self.sql is None:
            raise ValueError("--rows-of is for --sql, the query whose rows are protected")
        if self.files and "-" in self.files and len(self.files) > 1:
            raise ValueError("the standard input (-) goes without other files")
        if self.format is not None and self.files != ["-"]:
            raise ValueError("--format is for the standard input (-); the name of a file tells its own")
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

    panel: ClassVar = "What it may cost"

    epsilon: Annotated[str | None, typer.Option(metavar=NUMBER, help="The privacy loss of all answers together.")] = (
        None
    )
    rho: Annotated[
        str | None, typer.Option(metavar=NUMBER, help="The same as a rho of zCDP, instead of --epsilon.")
    ] = None
    budget: Annotated[
        str | None,
        typer.Option(
            "--budget",
            metavar="FILE",
            help="A budget to charge before the data are read: a file, or postgresql://host/database#name.",
        ),
    ] = None
    note: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Of --budget: what the answer is for; kept with the charge.")
    ] = None
    author: Annotated[str | None, typer.Option(metavar="NAME", help="Of --budget: who asks; kept with the charge.")] = (
        None
    )
    label: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Of --budget: the name of the data. Default: the name of the file."),
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
        if self.rho is not None:
            return replace(self, rho=_part(self.rho, "rho", many))
        return replace(self, epsilon=_part(self.epsilon, "epsilon", many))


@dataclass(frozen=True, slots=True)
class FactOptions:
    """What is public about a column."""

    panel: ClassVar = "What is public about the column"

    lower: Annotated[str | None, typer.Option(metavar=NUMBER, help="A public lower bound, if there is one.")] = None
    upper: Annotated[str | None, typer.Option(metavar=NUMBER, help="A public upper bound, if there is one.")] = None
    resolution: Annotated[
        str | None, typer.Option(metavar=NUMBER, help="The grid the data live on: 0.01 for cents, 1 for whole numbers.")
    ] = None

    @property
    def known(self) -> dict[str, Any]:
        """The keywords of the library."""
        return {"lower": self.lower, "upper": self.upper, "resolution": self.resolution}


@dataclass(frozen=True, slots=True)
class Whom:
    """The privacy unit: a row, or all rows of a unit; and which tables are neighbours."""

    panel: ClassVar = "Who is protected"

    unit: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The column that says whose row it is. Default: rows alone.", autocompletion=columns
        ),
    ] = None
    rows_per_unit: Annotated[
        int | None, typer.Option(metavar=NUMBER, help="How many rows of a unit are used at most.")
    ] = None
    neighbors: Annotated[
        str,
        typer.Option(
            metavar="RELATION",
            help="What one record may change: add-remove or swap.",
            autocompletion=words(*get_args(Neighbors)),
        ),
    ] = "add-remove"

    def __post_init__(self) -> None:
        if self.checked_neighbors == "swap" and self.unit is not None:
            raise ValueError("--unit needs --neighbors add-remove")
        if self.unit is None and self.rows_per_unit is not None:
            raise ValueError("--rows-per-unit needs --unit, the column that says whose row it is")

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
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress on long reads.")] = False
    out: Out = None

    def __post_init__(self) -> None:
        if self.out is not None:
            check_out(self.out)


Delta = Annotated[
    str | None, typer.Option(metavar=NUMBER, help="Or choose the keys privately, at this delta; 1e-6, say.")
]
GroupsPerUnit = Annotated[
    int | None, typer.Option(metavar=NUMBER, help="How many groups of a unit are used. Default: --rows-per-unit.")
]


@dataclass(frozen=True, slots=True)
class KeyOptions:
    """Which values of a column are counted."""

    panel: ClassVar = "Which values are counted"

    keys: Annotated[
        list[str] | None, typer.Option(metavar="KEY,...", help="The public values; all of them are counted.")
    ] = None
    keys_file: Annotated[Path | None, typer.Option(metavar="FILE", help="Or a file of public values, one a line.")] = (
        None
    )
    delta: Delta = None
    groups_per_unit: GroupsPerUnit = None
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Count in each group of this column; may be repeated.", autocompletion=columns
        ),
    ] = None
    by_keys: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY,...", help="The public keys of --by, one --by-keys for each; or --delta for both."),
    ] = None
    csv: Annotated[bool, typer.Option("--csv", help="Print the values and counts as CSV.")] = False

    def values(self, column: str) -> "GroupOptions":
        """The groups that these values make."""
        if [self.keys, self.keys_file, self.delta].count(None) != 2:
            raise ValueError("give --keys or --keys-file (public), or --delta (values are chosen privately)")
        return GroupOptions([column], self.keys, self.keys_file, self.delta, self.groups_per_unit, self.csv)

    def groups(self) -> "GroupOptions | None":
        """The groups that values are counted in, if there are any."""
        if not self.by and self.by_keys:
            raise ValueError("--by-keys needs --by, the column that tells the groups")
        if self.by and (self.by_keys is None) == (self.delta is None):
            got = "none of them" if self.delta is None else "--by-keys and --delta"
            raise ValueError(f"--by needs --by-keys (public) or --delta (keys are chosen privately), got {got}")
        return (
            GroupOptions(self.by, self.by_keys, None, self.delta, self.groups_per_unit, self.csv) if self.by else None
        )


@dataclass(frozen=True, slots=True)
class GroupOptions:
    """Which groups are answered."""

    panel: ClassVar = "Answers by groups"
    alone: ClassVar[tuple[str, ...]] = ("by",)  # options that need no --by

    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Answer for each group of this column; may be repeated.", autocompletion=columns
        ),
    ] = None
    keys: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY,...", help="The public keys; with several --by one --keys for each, in their order."),
    ] = None
    keys_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Or a file of public keys, one a line; with several --by a CSV row each."),
    ] = None
    delta: Delta = None
    groups_per_unit: GroupsPerUnit = None
    csv: Annotated[bool, typer.Option("--csv", help="Print the keys and answers of --by as CSV.")] = False

    def __post_init__(self) -> None:
        given = [
            _option(each.name) for each in fields(self) if getattr(self, each.name) and each.name not in self.alone
        ]
        if not self.by and given:
            raise ValueError(f"{given[0]} needs --by, the column that tells the groups")
        key_options = [name for name in given if name in {"--keys", "--keys-file", "--delta"}]
        if self.by and len(key_options) != 1:
            got = " and ".join(key_options) or "none of them"
            raise ValueError(f"--by needs --keys, --keys-file or --delta (keys are chosen privately), got {got}")

    def check(self, common: CommonOptions) -> None:
        """Refuse other options that groups cannot be combined with, or that lack a unit."""
        if self.by and common.whom.checked_neighbors == "swap":
            raise ValueError("--by needs --neighbors add-remove")
        if self.groups_per_unit is not None and common.whom.unit is None:
            raise ValueError("--groups-per-unit needs --unit and --rows-per-unit")
        if self.csv and common.as_json:
            raise ValueError("give --json or --csv, got both")


@dataclass(frozen=True, slots=True)
class BinnedGroups(GroupOptions):
    """Which groups are answered, where one answer is a table, too."""

    alone: ClassVar[tuple[str, ...]] = ("by", "csv")

    csv: Annotated[bool, typer.Option("--csv", help="Print the answers as CSV.")] = False


@dataclass(frozen=True, slots=True)
class WalkOptions:
    """How AboveThreshold walks up the candidates."""

    panel: ClassVar = "How it is found"

    beta: Annotated[str | None, typer.Option(metavar=NUMBER, help="The largest ratio of neighbouring candidates.")] = (
        None
    )
    noise: Annotated[
        str,
        typer.Option(metavar="KIND", help="exponential, laplace or gumbel.", autocompletion=words(*get_args(Noise))),
    ] = "exponential"

    @property
    def keywords(self) -> dict[str, Any]:
        """The keywords of the library."""
        return {"beta": self.beta, "noise": self.noise}


@dataclass(frozen=True, slots=True)
class EndOptions:
    """What can be said about an extreme."""

    panel: ClassVar = "How it is found"

    interval: Annotated[
        str | None,
        typer.Option(metavar="LEVEL", help="What it is at least, or at most, at this level, 0.95 say; same epsilon."),
    ] = None

    @property
    def keywords(self) -> dict[str, Any]:
        """The keywords of the library."""
        return {"interval": self.interval}


Level = Annotated[
    str | None, typer.Option(metavar="LEVEL", help="An interval at this level, 0.95 say; for the same epsilon.")
]
OfWhat = Annotated[
    str,
    typer.Option(metavar="WHAT", help="It is for the population or the sample.", autocompletion=words(*get_args(Of))),
]


@dataclass(frozen=True, slots=True)
class RangeOptions:
    """The interval of an interquartile range."""

    panel: ClassVar = "How it is found"

    interval: Level = None
    of: OfWhat = "population"

    @property
    def keywords(self) -> dict[str, Any]:
        """The keywords of the library."""
        return {"interval": self.interval, "of": self.of}


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How a quantile is computed."""

    panel: ClassVar = "How it is found"

    method: Annotated[
        str,
        typer.Option(
            metavar="METHOD", help="auto, walk, flip or exponential.", autocompletion=words(*get_args(Method))
        ),
    ] = "auto"
    rows: Annotated[
        str | None, typer.Option(metavar=NUMBER, help="The number of records, if it may be stated; roughly will do.")
    ] = None

    interval: Level = None
    of: OfWhat = "population"
    guarantee: Annotated[
        bool, typer.Option("--guarantee", help="An interval that holds for every data set, by proven bounds.")
    ] = False

    @property
    def keywords(self) -> dict[str, Any]:
        """The keywords of the library."""
        return {"method": self.method, "rows": self.rows, **self.interval_keywords}

    @property
    def interval_keywords(self) -> dict[str, Any]:
        """Those of an interval, which groups have too."""
        return {"interval": self.interval, "of": self.of, "guarantee": self.guarantee}


def listed(texts: str | None) -> list[str] | None:
    """The values of an option, between commas."""
    return None if texts is None else [text.strip() for text in texts.split(",")]


def _option(field: str) -> str:
    """The name of an option on the command line."""
    return "--" + field.replace("_", "-")


def _part(amount: str | None, name: str, many: int) -> str:
    return repr(round_down(privacy_parameter(amount, name) / many))


def per_column(option: str, values: list[str] | None) -> str | dict[str, str] | None:
    """One number for all columns, or numbers by column."""
    if not values:
        return None
    named = {name: number for name, equals, number in (value.rpartition("=") for value in values) if equals}
    if len(named) == len(values):
        return named
    if len(values) > 1:
        raise ValueError(f"{option} must be one number for all columns, or NAME=NUMBER each time, got {values!r}")
    return values[0]
