"""What is known of a table's columns before it is read: their types in the words of a schema. All of it is public."""

from typing import Any

from nobounds.engines.memory.arrow import import_pyarrow
from nobounds.engines.memory.frames import arrow_family
from nobounds.engines.schemas.schema import Schema
from nobounds.engines.streams.stream import TableStream

MAYBE_NUMBERS = "text that may be numbers"
"""The type of a column that none was declared for."""

_NUMERIC = (MAYBE_NUMBERS, "number", "integer", "boolean", "decimal", "date", "datetime", "time", "duration")


def is_numeric(name: str) -> bool:
    """Whether statistics of numbers answer columns of a type, by its name as in `Table.columns`."""
    return name.partition("(")[0] in _NUMERIC


def column_types(stream: TableStream) -> dict[str, str | None]:
    """The types of the columns, in the words of a schema; None for those that are not declared."""
    names = dict.fromkeys([*stream.kinds, *stream.facts, *stream.others])  # in their order, but for types of no keys
    return {name: _type_of(stream, name) for name in names}


def _type_of(stream: TableStream, name: str) -> str | None:
    if name in stream.facts and not stream.facts[name].declared:
        return None
    kind = stream.kinds.get(name)
    return stream.others.get(name, "number") if kind is None else type_name(kind)


def type_name(kind: Any) -> str:
    """The type of a column in the words of a schema, by its Arrow type; the family of a type that has no such word."""
    types = import_pyarrow().types
    if types.is_boolean(kind):
        return "boolean"
    if types.is_integer(kind):
        return "integer"
    if types.is_floating(kind):
        return "number"
    if types.is_decimal(kind):
        return f"decimal({kind.precision},{kind.scale})"
    if types.is_date(kind):
        return "date"
    if types.is_timestamp(kind):
        return "datetime" if kind.tz is None else f"datetime({kind.tz})"
    if types.is_time(kind):
        return "time"
    if types.is_duration(kind):
        return "duration"
    return arrow_family(kind)


def check_stated(stream: TableStream, schema: Schema) -> None:
    """ValueError if a schema states other columns or types than a file with types of its own has."""
    known = column_types(stream)
    for name, rule in schema.columns.items():
        if name not in known:
            raise ValueError(f"column {name!r} of the schema is not in the file")
        stated = "decimal(18,2)" if rule.type == "money" else rule.type
        if stated is not None and stated != known[name]:
            raise ValueError(
                f"column {name!r} is of type {known[name]} in the file, got {rule.type} in the schema; "
                "a file with types of its own is read by these"
            )
