"""The options about the text of CSV files."""

from dataclasses import dataclass, fields
from typing import Annotated, Any, ClassVar, get_args

import typer

import nobounds as nb
from nobounds.cli.help import words
from nobounds.engines.csv.dialect import ColumnType

_YES_NO = words("yes", "no")
_MARKS = {"tab": "\t", "\\t": "\t", "space": " "}


@dataclass(frozen=True, slots=True)
class Text:
    """How CSV files are written. Nothing is guessed from records."""

    panel: ClassVar = "CSV files"

    header: Annotated[
        str | None,
        typer.Option(
            metavar="yes|no",
            help="Whether the first line holds names. Default: it does, but they are not shown.",
            autocompletion=_YES_NO,
        ),
    ] = None
    type: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=TYPE",
            help="A column's type: number, integer or text; may be repeated. With --header no, all columns in order.",
        ),
    ] = None
    delimiter: Annotated[
        str | None,
        typer.Option(metavar="CHAR", help="Between fields; 'tab' is one. Default: told by the header line."),
    ] = None
    decimal: Annotated[str, typer.Option(metavar="CHAR", help="The decimal mark: . or ,")] = "."
    thousands: Annotated[str | None, typer.Option(metavar="CHAR", help="Between groups of digits, as in 1,234.50.")] = (
        None
    )
    quote: Annotated[str, typer.Option(metavar="CHAR", help="Around fields; 'none' if nothing is.")] = '"'
    encoding: Annotated[str, typer.Option(metavar="NAME", help="Of the text: utf-8, latin-1, utf-16 ...")] = "utf-8"
    comment: Annotated[str | None, typer.Option(metavar="CHAR", help="Lines that start with it are not records.")] = (
        None
    )
    na: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", help="A field to read as missing; may be repeated.")
    ] = None
    newlines_in_fields: Annotated[
        str,
        typer.Option(
            metavar="yes|no", help="'no' makes each line one record, whatever its quotes.", autocompletion=_YES_NO
        ),
    ] = "yes"

    @property
    def csv(self) -> nb.Csv | None:
        """The dialect, if any option differs from its default."""
        if all(getattr(self, each.name) == each.default for each in fields(self) if each.name != "type"):
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
    def schema(self) -> dict[str, str] | None:
        """The declared types, if there are any."""
        if not self.type:
            return None
        pairs = [text.rpartition("=") for text in self.type]
        if not all(name and kind in get_args(ColumnType) for name, _, kind in pairs):
            raise ValueError(f"--type must be NAME=TYPE with a type of {', '.join(get_args(ColumnType))}")
        names = [name for name, _, _ in pairs]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"--type must be given once for each column, got it twice for {name!r}")
        return {name: kind for name, _, kind in pairs}

    @property
    def shown(self) -> frozenset[str] | None:
        """The column names that may be shown: all (None) after --header, otherwise the declared ones."""
        return frozenset(self.schema or ()) if self.header is None else None

    def declared(self, names: list[str]) -> dict[str, str]:
        """The types of the columns of one of several files."""
        return {name: kind for name, kind in (self.schema or {}).items() if name in names}

    @property
    def options(self) -> dict[str, Any]:
        """The keywords of the library."""
        return {"csv": self.csv, "schema": self.schema}


def _yes(option: str, given: str) -> bool:
    if given not in ("yes", "no"):
        raise ValueError(f"{option} must be yes or no, got {given!r}")
    return given == "yes"


def _mark(given: str | None) -> str | None:
    return _MARKS.get(given, given) if given is not None else None
