"""The options of statistics, in groups: columns, public facts, groups and keys, and how an answer is computed."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, get_args

import typer

from nobounds.cli.options.common import CommonOptions, name, number, part, word
from nobounds.statistics.keywords import Method, Noise, Of
from nobounds.values import dataclass

COMPUTED = "How it is computed"  # the heading of options about methods and intervals

ColumnName = Annotated[str, name("--column", help="The column.", show_default=False)]
ColumnNames = Annotated[
    list[str],
    name("--column", help="The column. Repeatable: several columns share epsilon evenly.", show_default=False),
]
CountedColumns = Annotated[list[str] | None, name("--column", help="A column. Repeatable. Default: count all rows.")]
Columns = Annotated[list[str] | None, name("--column", help="A column. Repeatable. Default: all columns.")]
Condition = Annotated[
    str, typer.Option(metavar="CONDITION", help="An SQL condition, or a boolean column.", show_default=False)
]
Quantiles = Annotated[list[str], number("--q", help="From 0 to 1: 0.5 is the median. Repeatable.", show_default=False)]
PerColumn = typer.Option(metavar="[NAME=]NUMBER", help="For one column or, without a name, for all. Repeatable.")
Plot = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the private quantiles as a PNG, PDF or SVG.")]
Delta = Annotated[str | None, number(help="Choose the keys privately instead, with this delta, for example 1e-6.")]
GroupsPerUnit = Annotated[
    int | None, number(help="Use at most this number of groups of each unit. Default: --rows-per-unit.")
]
Level = Annotated[
    str | None,
    typer.Option(
        metavar="LEVEL", help="The level of the interval: 0.95 by default, and none by group; none for no interval."
    ),
]
OfWhat = Annotated[
    str, word(*get_args(Of), metavar="WHAT", help="Whether the interval is for the population or the sample.")
]


def one_of_two(option: str) -> Any:
    """The name of one of two columns."""
    return Annotated[str, name(option, help="A column.", show_default=False)]


@dataclass(frozen=True, slots=True)
class FactOptions:
    """What is public about a column."""

    panel: ClassVar = "What is public about the column"

    lower: Annotated[str | None, number(help="A public lower bound, if there is one.")] = None
    upper: Annotated[str | None, number(help="A public upper bound, if there is one.")] = None
    resolution: Annotated[
        str | None, number(help="The step between possible values: 0.01 for cents, 1 for whole numbers.")
    ] = None

    @property
    def known(self) -> dict[str, Any]:
        """The keywords of the library."""
        return {"lower": self.lower, "upper": self.upper, "resolution": self.resolution}


@dataclass(frozen=True, slots=True)
class KeyOptions:
    """Which values of a column are counted."""

    panel: ClassVar = "Which values are counted"

    keys: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY,...",
            help="The public values; all of them are counted. With several --column, one --keys for each, in order.",
        ),
    ] = None
    keys_file: Annotated[Path | None, typer.Option(metavar="FILE", help="A file of public values, one per line.")] = (
        None
    )
    delta: Delta = None
    groups_per_unit: GroupsPerUnit = None
    by: Annotated[list[str] | None, name(help="Count in each group of this column. Repeatable.")] = None
    by_keys: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY,...", help="The public keys of --by, one --by-keys for each; or --delta for both."),
    ] = None
    csv: Annotated[bool, typer.Option("--csv", help="Print the values and counts as CSV.")] = False

    def values(self, columns: list[str]) -> dict[str, "GroupOptions"]:
        """The groups that these values make, by column; several columns share delta evenly."""
        if [self.keys, self.keys_file, self.delta].count(None) != 2:
            raise ValueError("give --keys or --keys-file (public), or --delta (values are chosen privately)")
        many = len(columns)
        if many > 1 and (self.keys_file or (self.keys and len(self.keys) != many)):
            raise ValueError("several --column need one --keys each, in the same order, or --delta")
        keys = [self.keys] if many == 1 else [[each] for each in self.keys] if self.keys else [None] * many
        delta = part(self.delta, "delta", many)
        return {
            column: GroupOptions([column], own, self.keys_file, delta, self.groups_per_unit, self.csv)
            for column, own in zip(columns, keys, strict=True)
        }

    def groups(self, many: int) -> "GroupOptions | None":
        """The groups that values of each of `many` columns are counted in, if there are any."""
        if not self.by and self.by_keys:
            raise ValueError("--by-keys needs --by, the column of the groups")
        if self.by and (self.by_keys is None) == (self.delta is None):
            got = "none of them" if self.delta is None else "--by-keys and --delta"
            raise ValueError(f"--by needs --by-keys (public) or --delta (keys are chosen privately), got {got}")
        delta = part(self.delta, "delta", many)
        return GroupOptions(self.by, self.by_keys, None, delta, self.groups_per_unit, self.csv) if self.by else None


@dataclass(frozen=True, slots=True)
class GroupOptions:
    """Which groups are answered."""

    panel: ClassVar = "Answers by group"
    alone: ClassVar[tuple[str, ...]] = ("by",)  # options that need no --by

    by: Annotated[list[str] | None, name(help="Answer for each group of this column. Repeatable.")] = None
    keys: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY,...", help="The public keys. With several --by, one --keys for each, in order."),
    ] = None
    keys_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A file of public keys, one per line; with several --by, CSV rows."),
    ] = None
    delta: Delta = None
    groups_per_unit: GroupsPerUnit = None
    csv: Annotated[bool, typer.Option("--csv", help="Print the keys and answers as CSV.")] = False

    def __post_init__(self) -> None:
        given = [
            _option(each.name) for each in fields(self) if getattr(self, each.name) and each.name not in self.alone
        ]
        if not self.by and given:
            raise ValueError(f"{given[0]} needs --by, the column of the groups")
        key_options = [name for name in given if name in {"--keys", "--keys-file", "--delta"}]
        if self.by and not key_options:
            raise ValueError(
                "--by needs the groups: list them with --keys or --keys-file if they are public, "
                "or add --delta 1e-6 to choose them privately"
            )
        if len(key_options) > 1:
            raise ValueError(f"give one of --keys, --keys-file and --delta, got {' and '.join(key_options)}")

    def each(self, many: int) -> Self:
        """The same groups for each of several columns, with an even part of delta."""
        return replace(self, delta=part(self.delta, "delta", many))

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

    panel: ClassVar = COMPUTED

    beta: Annotated[str | None, number(help="The largest ratio of neighbouring candidates.")] = None
    noise: Annotated[str, word(*get_args(Noise), metavar="KIND", help="exponential, laplace or gumbel.")] = (
        "exponential"
    )

    @property
    def keywords(self) -> dict[str, Any]:
        """The keywords of the library."""
        return {"beta": self.beta, "noise": self.noise}

    def refuse_groups(self, groups: GroupOptions) -> dict[str, Any]:
        """The keywords where there are no groups; groups take none of them."""
        if groups.by and self != WalkOptions():
            raise ValueError("--by cannot be combined with --beta or --noise")
        return {} if groups.by else self.keywords


@dataclass(frozen=True, slots=True)
class EndOptions:
    """What can be said about an extreme."""

    panel: ClassVar = COMPUTED

    interval: Annotated[
        str | None,
        typer.Option(
            metavar="LEVEL",
            help="The level at which it is said what the extreme is at least, or at most: 0.95 by default, or none.",
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class RangeOptions:
    """The interval of an interquartile range."""

    panel: ClassVar = COMPUTED

    interval: Level = None
    of: OfWhat = "population"


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How a quantile is computed."""

    panel: ClassVar = COMPUTED

    interval: Level = None
    of: OfWhat = "population"
    guarantee: Annotated[
        bool, typer.Option("--guarantee", help="Use proven bounds, so that the interval holds for every data set.")
    ] = False
    method: Annotated[str, word(*get_args(Method), metavar="METHOD", help="auto, walk, flip or exponential.")] = "auto"
    rows: Annotated[str | None, number(help="The rough number of rows, if it is public.")] = None

    def keywords(self, groups: GroupOptions, walk: WalkOptions) -> dict[str, Any]:
        """The keywords of the library; groups take those of the interval alone."""
        interval = {**level(self.interval, groups), "of": self.of, "guarantee": self.guarantee}
        if groups.by and (walk != WalkOptions() or (self.method, self.rows) != ("auto", None)):
            raise ValueError("--by cannot be combined with --beta, --noise, --method or --rows")
        return interval if groups.by else {**interval, **walk.keywords, "method": self.method, "rows": self.rows}


def level(given: str | None, groups: GroupOptions) -> dict[str, Any]:
    """The interval of one answer, which has one by default, or of groups, which have none."""
    if groups.by:
        return {"interval": given}
    return {} if given is None else {"interval": None if given == "none" else given}


def listed(texts: str | None) -> list[str] | None:
    """The values of an option, between commas."""
    return None if texts is None else [text.strip() for text in texts.split(",")]


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


def _option(field: str) -> str:
    """The name of an option on the command line."""
    return "--" + field.replace("_", "-")
