"""The options about the types of columns, and about the text of files."""

from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

import nobounds as nb
from nobounds.cli.help import words
from nobounds.engines.schemas.rules import TYPES
from nobounds.values import dataclass

_YES_NO = words("yes", "no")
_TYPES = "Types of columns"  # the heading of their options
_STATED = ("schema", "type", "sheet", "header_row")
_MARKS = {"tab": "\t", "\\t": "\t", "space": " "}


@dataclass(frozen=True, slots=True)
class Text:
    """The types of columns, and how files are written. Nothing is guessed from records."""

    panel: ClassVar = "CSV files"

    schema: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A JSON file with types, date formats and the CSV format. 'nobounds info --save' creates one.",
            rich_help_panel=_TYPES,
        ),
    ] = None
    type: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=TYPE",
            help=f"A column's type: {TYPES}. Repeatable. With --header no, name all columns in order.",
            rich_help_panel=_TYPES,
        ),
    ] = None
    sheet: Annotated[
        str | None, typer.Option(metavar="NAME", help="The sheet of an Excel file.", rich_help_panel=_TYPES)
    ] = None
    header_row: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            help="The row of an Excel file that holds the names; 0 if there is none. Default: 1.",
            rich_help_panel=_TYPES,
        ),
    ] = None
    header: Annotated[
        str | None,
        typer.Option(
            metavar="yes|no",
            help="Whether the first line holds column names. A CSV file needs it, or a schema that says so.",
            autocompletion=_YES_NO,
        ),
    ] = None
    delimiter: Annotated[
        str | None,
        typer.Option(
            metavar="CHAR", help="Between fields, for example ; or tab. Default: the most frequent in the first line."
        ),
    ] = None
    decimal: Annotated[str, typer.Option(metavar="CHAR", help="The decimal mark: . or ,")] = "."
    thousands: Annotated[
        str | None, typer.Option(metavar="CHAR", help="Between groups of digits, for example , in 1,234.50.")
    ] = None
    quote: Annotated[str, typer.Option(metavar="CHAR", help="Around fields; 'none' if fields are not quoted.")] = '"'
    encoding: Annotated[str, typer.Option(metavar="NAME", help="utf-8, latin-1, utf-16, ...")] = "utf-8"
    comment: Annotated[str | None, typer.Option(metavar="CHAR", help="Skip lines that start with it.")] = None
    na: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", help="A field that means missing, for example NA. Repeatable.")
    ] = None
    newlines_in_fields: Annotated[
        str,
        typer.Option(
            metavar="yes|no", help="'no' makes each line one record, whatever quotes it has.", autocompletion=_YES_NO
        ),
    ] = "yes"

    @property
    def csv(self) -> nb.Csv | None:
        """The dialect, if any option differs from its default."""
        if all(getattr(self, each.name) == each.default for each in fields(self) if each.name not in _STATED):
            return None
        return nb.Csv(
            header=None if self.header is None else _yes("--header", self.header),
            delimiter=_mark(self.delimiter),
            quote=None if self.quote == "none" else _mark(self.quote),
            decimal=self.decimal,
            thousands=_mark(self.thousands),
            encoding=self.encoding,
            comment=_mark(self.comment),
            missing=tuple(self.na or ()),
            newlines_in_fields=_yes("--newlines-in-fields", self.newlines_in_fields),
        )

    @property
    def stated(self) -> nb.Schema | None:
        """The schema: that of --schema, changed by --type, --sheet and --header-row; None if none of them is given."""
        if all(getattr(self, name) in (None, []) for name in _STATED):
            return None
        base = nb.Schema({}) if self.schema is None else nb.Schema.load(self.schema)
        return nb.Schema(
            {**base.columns, **self._types()},
            csv=base.csv,
            sheet=self.sheet or base.sheet,
            header_row=base.header_row if self.header_row is None else self.header_row,
        )

    def _types(self) -> dict[str, str]:
        pairs = [text.rpartition("=") for text in self.type or ()]
        if not all(name and kind for name, _, kind in pairs):
            raise ValueError(f"--type must be NAME=TYPE with a type of {TYPES}")
        names = [name for name, _, _ in pairs]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"--type must be given once for each column, got it twice for {name!r}")
        return {name: kind for name, _, kind in pairs}

    def declared(self, names: list[str]) -> nb.Schema:
        """The schema of one of several files, with these columns."""
        stated = self.stated or nb.Schema({})
        return nb.Schema({name: rule for name, rule in stated.columns.items() if name in names}, csv=stated.csv)

    @property
    def options(self) -> dict[str, Any]:
        """The keywords of the library."""
        stated = self.stated
        plain = stated is not None and stated == nb.Schema(stated.columns)
        return {"csv": self.csv, "schema": stated.to_json()["columns"] if stated is not None and plain else stated}


def _yes(option: str, given: str) -> bool:
    if given not in ("yes", "no"):
        raise ValueError(f"{option} must be yes or no, got {given!r}")
    return given == "yes"


def _mark(given: str | None) -> str | None:
    return _MARKS.get(given, given) if given is not None else None
