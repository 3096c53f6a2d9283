"""A schema: the columns of a file, their types and how they are written; stated by the user, and kept as JSON."""

import json
from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

from nobounds.engines.csv.dialect import Csv
from nobounds.engines.refusals import raise_alone
from nobounds.engines.schemas.rules import TYPES, ColumnRule
from nobounds.values import dataclass

_HELP = (
    f"types: {TYPES}; null declares none. A column may also be an object: type, format, missing, decimal, thousands."
)
_PARTS = ("help", "csv", "sheet", "header_row", "columns")


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Schema:
    """The types of a file's columns by name, and how the file is written. It may be saved, edited and stated again.

    columns: names to types: "number", "integer", "text", "boolean", "date", "datetime", "datetime(Europe/Berlin)",
    "time", "duration", "decimal(12,2)" or "money"; or to a mapping with a type and, as needed, `format` (of dates:
    "%d.%m.%Y"), `missing` (texts to read as missing), `decimal` and `thousands`. None declares no type.
    csv: how the text of CSV files is written, a `Csv`.
    sheet, header_row: of Excel files, the name of the sheet, and the row with the names of the columns, from 1 on; 0 if
    there is none, and then the columns are those of the schema, in order.

    >>> Schema({"born": {"type": "date", "format": "%d.%m.%Y"}, "paid": "money"}).columns["paid"]
    ColumnRule(type='money')
    """

    columns: Mapping[str, ColumnRule]
    csv: Csv | None
    sheet: str | None
    header_row: int | None

    def __init__(
        self,
        columns: "Mapping[str, Any]",
        *,
        csv: Csv | None = None,
        sheet: str | None = None,
        header_row: int | None = None,
    ) -> None:
        if not isinstance(columns, Mapping):
            example = "{'age': 'integer', 'name': 'text'}"
            raise TypeError(f"schema must map names to types, for example {example}, got {type(columns).__name__}")
        if csv is not None and not isinstance(csv, Csv):
            raise TypeError(f"csv must be a nobounds.Csv, got {type(csv).__name__}")
        if sheet is not None and not isinstance(sheet, str):
            raise TypeError(f"sheet must be the name of a sheet, got {type(sheet).__name__}")
        if header_row is not None and (type(header_row) is not int or not 0 <= header_row <= 1 << 20):
            raise ValueError(f"header_row must be a whole number from 0 on, got {header_row!r}")
        for name in columns:
            if not isinstance(name, str):
                raise TypeError(f"the names in schema must be text, got one of type {type(name).__name__}")
        rules = {name: ColumnRule.of(given, name) for name, given in columns.items()}
        object.__setattr__(self, "columns", MappingProxyType(rules))
        object.__setattr__(self, "csv", csv)
        object.__setattr__(self, "sheet", sheet)
        object.__setattr__(self, "header_row", header_row)

    def __repr__(self) -> str:
        parts = {"csv": self.csv, "sheet": self.sheet, "header_row": self.header_row}
        stated = "".join(f", {name}={part!r}" for name, part in parts.items() if part is not None)
        columns = {name: rule.to_json() for name, rule in self.columns.items()}
        return f"Schema({columns}{stated})"

    def __hash__(self) -> int:
        return hash((tuple(self.columns.items()), str(self.csv), self.sheet, self.header_row))

    def __reduce__(self) -> Any:
        return Schema.from_json, (self.to_json(),)

    @classmethod
    def of(cls, given: "SchemaLike | None") -> "Schema":
        """The schema that a mapping, a path of a JSON file or a schema states; an empty one for None."""
        if isinstance(given, Schema):
            return given
        if isinstance(given, str | PathLike):
            return cls.load(given)
        return cls({} if given is None else given)

    @classmethod
    def load(cls, path: "str | PathLike[str]") -> "Schema":
        """The schema in a JSON file."""
        name = Path(fspath(path)).name
        try:
            parts = json.loads(Path(path).read_text(encoding="utf-8"), object_pairs_hook=_unique)
        except (ValueError, RecursionError):
            raise_alone(ValueError(f"{name} must hold a schema as one JSON object, each name in it once"))
        return cls.from_json(parts)

    @classmethod
    def from_json(cls, parts: Any) -> "Schema":
        """The schema of a JSON object."""
        if not isinstance(parts, Mapping) or not isinstance(parts.get("columns"), Mapping):
            raise ValueError('a schema must be an object with columns, for example {"columns": {"age": "integer"}}')
        for part in parts:
            if part not in _PARTS:
                raise ValueError(f"a schema may have {', '.join(_PARTS)}, got {part!r}")
        csv = parts.get("csv")
        if csv is not None and not isinstance(csv, Mapping):
            raise ValueError('csv of a schema must be an object, for example {"header": true, "delimiter": ";"}')
        try:
            dialect = None if csv is None else Csv(**csv)
        except TypeError:
            raise_alone(ValueError("csv of a schema has options that are not those of nobounds.Csv"))
        return cls(parts["columns"], csv=dialect, sheet=parts.get("sheet"), header_row=parts.get("header_row"))

    def to_json(self) -> dict[str, Any]:
        """The schema as a JSON object."""
        stated = {} if self.csv is None else self.csv.stated
        csv = {name: list(value) if isinstance(value, tuple) else value for name, value in stated.items()}
        parts = {"csv": csv or None, "sheet": self.sheet, "header_row": self.header_row}
        columns = {name: rule.to_json() for name, rule in self.columns.items()}
        return {"help": _HELP} | {name: part for name, part in parts.items() if part is not None} | {"columns": columns}

    def save(self, path: "str | PathLike[str]") -> None:
        """Write the schema as a JSON file, to be edited and stated again."""
        Path(path).write_text(json.dumps(self.to_json(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

    @property
    def types(self) -> dict[str, str | None]:
        """The types of the columns by name; None where none is declared."""
        return {name: rule.type for name, rule in self.columns.items()}

    def with_csv(self, csv: Csv | None) -> Csv | None:
        """The dialect: what `csv` states, and for the rest what this schema states."""
        if csv is None or self.csv is None:
            return csv or self.csv
        return Csv(**{**self.csv.stated, **csv.stated})


SchemaLike: TypeAlias = Schema | Mapping[str, Any] | str | PathLike[str]
"""What may be stated as a schema: the object, names to types, or the path of a JSON file."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError
    return dict(pairs)
