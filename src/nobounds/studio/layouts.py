"""How data are written and whom they are about: the fields of the first step, and the keywords of a table.

Everything here is stated by the user. Nothing is taken from records: the names in the first line of a CSV file are
shown only once the user says that they are names.
"""

from typing import Any

import nobounds as nb
from nobounds.engines.schemas.known import MAYBE_NUMBERS, is_numeric
from nobounds.studio.fields import Checks, Fields, Mistakes, chosen, text, whole
from nobounds.studio.sources import Source
from nobounds.values import dataclass

TYPES = {
    "": "not stated",
    "number": "number",
    "integer": "whole number",
    "text": "text",
    "boolean": "yes or no",
    "date": "date",
    "datetime": "date and time",
    "time": "time of day",
    "duration": "duration",
    "money": "money",
}
DELIMITERS = {"": "as in the first line", ",": "comma ,", ";": "semicolon ;", "tab": "tab", "|": "bar |"}
DECIMALS = {".": "a point: 3.5", ",": "a comma: 3,5"}
THOUSANDS = {"": "nothing: 1234", ",": "a comma: 1,234", ".": "a point: 1.234", "'": "an apostrophe: 1'234"}
ENCODINGS = {"utf-8": "UTF-8", "cp1252": "Windows (Western Europe)", "latin-1": "Latin-1", "utf-16": "UTF-16"}
DATES = {
    "": "2024-12-31",
    "%d.%m.%Y": "31.12.2024",
    "%d/%m/%Y": "31/12/2024",
    "%m/%d/%Y": "12/31/2024",
    "%d-%m-%Y": "31-12-2024",
}


@dataclass(frozen=True, slots=True)
class Layout:
    """What the user states about the data; `types` has the declared types of columns by name."""

    csv: nb.Csv | None = None
    types: tuple[tuple[str, str], ...] = ()
    dates: str = ""
    sheet: str | None = None
    header_row: int | None = None
    unit: str | None = None
    rows_per_unit: int | None = None

    @classmethod
    def of(cls, source: Source, fields: Fields) -> "Layout":
        """The layout in the fields of a form; Mistakes says what is wrong with them."""
        checks, kind = Checks(), source.format
        csv = checks.get(lambda: _csv(fields), None) if kind == "csv" else None
        listed = checks.get(lambda: _listed(text(fields, "names")), {}) if needs_names(source, fields) else {}
        picked = {name: each for name, each in zip(fields.get("column", ()), fields.get("type", ()), strict=False)}
        types = (
            (listed | {name: each for name, each in picked.items() if each and (not listed or name in listed)})
            if (kind in ("csv", "json", "excel"))
            else {}
        )
        sheet = text(fields, "sheet") or None if kind == "excel" else None
        row = checks.get(lambda: _header_row(fields), None) if kind == "excel" else None
        dates = checks.get(lambda: chosen(fields, "dates", list(DATES), ""), "")
        unit, rows = checks.get(lambda: _unit(fields), (None, None))
        layout = cls(csv, tuple(types.items()), dates, sheet, row, unit, rows)
        with checks.field("names" if listed else "column"):
            layout.schema  # noqa: B018 - refuses what is no type
        checks.done()
        return layout

    @property
    def schema(self) -> nb.Schema | None:
        """The schema, if anything of it is stated."""
        if not self.types and self.sheet is None and self.header_row is None:
            return None
        rules = {
            name: {"type": kind or None} | ({"format": self.dates} if self.dates and kind == "date" else {})
            for name, kind in self.types
        }
        return nb.Schema(rules, sheet=self.sheet, header_row=self.header_row)

    @property
    def options(self) -> dict[str, Any]:
        """The keywords of the table that differ from the defaults."""
        given = {"csv": self.csv, "schema": self.schema, "unit": self.unit, "rows_per_unit": self.rows_per_unit}
        return {name: value for name, value in given.items() if value is not None}

    def columns(self, source: Source) -> dict[str, str]:
        """The columns and the types that are known of them; no record is read."""
        given = {name: value for name, value in self.options.items() if name in ("csv", "schema")}
        with source.opened(**given) as table:
            return table.columns


def is_ready(source: Source, fields: Fields) -> bool:
    """Whether enough is stated to show the columns."""
    if source.format == "csv":
        header = text(fields, "header")
        return header == "yes" or (header == "no" and bool(text(fields, "names")))
    return source.format not in ("json", "excel") or bool(text(fields, "names"))


def needs_names(source: Source, fields: Fields) -> bool:
    """Whether the user has to name the columns: the file does not, or not in a way that is safe to show."""
    return source.format in ("json", "excel") or (source.format == "csv" and text(fields, "header") == "no")


def type_in_words(kind: str) -> str:
    """The type of a column on the pages."""
    return "not stated" if kind == MAYBE_NUMBERS else TYPES.get(kind, kind)


def numeric(columns: dict[str, str], unit: str | None) -> list[str]:
    """The columns that statistics can be asked of, without the one that says whose row it is."""
    return [name for name, kind in columns.items() if is_numeric(kind) and name != unit]


def _csv(fields: Fields) -> nb.Csv:
    header = chosen(fields, "header", ("yes", "no"), "")
    delimiter = chosen(fields, "delimiter", list(DELIMITERS), "")
    decimal = chosen(fields, "decimal", list(DECIMALS), ".")
    thousands = chosen(fields, "thousands", list(THOUSANDS), "")
    encoding = chosen(fields, "encoding", list(ENCODINGS), "utf-8")
    missing = tuple(each.strip() for each in text(fields, "missing").split(",") if each.strip())
    if thousands == decimal:
        raise Mistakes({"thousands": "The thousands are separated by another mark than the decimals."})
    if delimiter == decimal == ",":
        raise Mistakes({"delimiter": "Where decimals have a comma, the fields need another separator."})
    return nb.Csv(
        header=header == "yes",
        delimiter={"": None, "tab": "\t"}.get(delimiter, delimiter),
        decimal=decimal,
        thousands=thousands or None,
        encoding=encoding,
        missing=missing,
    )


def _listed(given: str) -> dict[str, str]:
    """Columns named one to a line, each with or without a type: "age: whole number"."""
    words = {label: name for name, label in TYPES.items() if name}
    columns: dict[str, str] = {}
    for line in filter(None, map(str.strip, given.splitlines())):
        name, colon, kind = line.rpartition(":")
        name, kind = (name.strip(), kind.strip()) if colon else (line, "")
        if name in columns:
            raise Mistakes({"names": f"The column {name} is listed twice."})
        columns[name] = words.get(kind, kind)
    if not columns:
        raise Mistakes({"names": "Name the columns, one on each line."})
    return columns


def _header_row(fields: Fields) -> int | None:
    given = text(fields, "header_row")
    if given == "0" or not given:
        return 0 if given else None
    return whole(fields, "header_row", "the row with the names", 1 << 20)


def _unit(fields: Fields) -> tuple[str | None, int | None]:
    if chosen(fields, "belongs", ("row", "unit"), "row") == "row":
        return None, None
    unit, checks = text(fields, "unit"), Checks()
    if not unit:
        checks.fields["unit"] = "Choose the column that identifies the person."
    rows = checks.get(lambda: whole(fields, "rows_per_unit", "the number of rows", 10**6), None)
    checks.done()
    return unit, rows
