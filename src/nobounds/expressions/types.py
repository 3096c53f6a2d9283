"""The types of expressions: public facts that follow from the types of columns, never from records."""

from typing import Any

from nobounds.values import dataclass


@dataclass(frozen=True, slots=True)
class Type:
    """The type of an expression.

    name: "boolean", "integer" (64 bits), "number" (float64), "decimal", "text", "date", "datetime", "time", "duration",
    "null" for what is always null, "open" for a column of no declared type, which is read as text or as numbers, and
    "other" for what can only be null or not.
    precision, scale: of decimals, the number of digits and how many of them follow the point.
    unit, zone: of datetimes and durations, the unit of time ("s", "ms", "us", "ns"); of datetimes, the zone if any.
    """

    name: str
    precision: int = 0
    scale: int = 0
    unit: str = ""
    zone: str | None = None

    def __str__(self) -> str:
        if self.name == "decimal":
            return f"decimal({self.precision}, {self.scale})"
        if self.name == "datetime":
            return "datetime without a zone" if self.zone is None else "datetime with a zone"
        return {"open": "a type that is not declared", "other": "another type"}.get(self.name, self.name)


BOOLEAN, INTEGER, NUMBER, TEXT = Type("boolean"), Type("integer"), Type("number"), Type("text")
DATE, TIME, NULL, OPEN, OTHER = Type("date"), Type("time"), Type("null"), Type("open"), Type("other")

MOST_DIGITS = 38
"""Of a decimal."""


def decimal(precision: int, scale: int) -> Type:
    """The type of decimals with `precision` digits, `scale` of them after the point."""
    return Type("decimal", precision, scale)


def of_arrow(kind: Any) -> Type:
    """The type of an Arrow column of keys, in the canonical form that engines give it."""
    import pyarrow as pa

    types = pa.types
    plain = ((types.is_boolean, BOOLEAN), (types.is_date, DATE), (types.is_time, TIME), (types.is_null, NULL))
    for fits, known in plain:
        if fits(kind):
            return known
    if types.is_uint64(kind):
        return decimal(20, 0)  # beyond the integers of 64 bits with a sign
    if types.is_integer(kind):
        return INTEGER
    if types.is_floating(kind):
        return NUMBER
    if types.is_string(kind) or types.is_large_string(kind):
        return TEXT
    if types.is_timestamp(kind):
        return Type("datetime", unit=kind.unit, zone=kind.tz)
    if types.is_duration(kind):
        return Type("duration", unit=kind.unit)
    if types.is_decimal(kind) and 0 <= kind.scale <= kind.precision <= MOST_DIGITS:
        return decimal(kind.precision, kind.scale)
    return OTHER


def to_arrow(kind: Type) -> Any:
    """The Arrow type of a computed column."""
    import pyarrow as pa

    match kind.name:
        case "boolean":
            return pa.bool_()
        case "integer":
            return pa.int64()
        case "number":
            return pa.float64()
        case "text":
            return pa.large_string()
        case "date":
            return pa.date32()
        case "time":
            return pa.time64("ns")
        case "datetime":
            return pa.timestamp(kind.unit, kind.zone)
        case "duration":
            return pa.duration(kind.unit)
        case "decimal":
            return pa.decimal128(kind.precision, kind.scale)
        case _:
            return pa.null()
