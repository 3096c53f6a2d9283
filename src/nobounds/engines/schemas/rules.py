"""A rule: the type of one column, and how its texts are read. All of it is public, and checked before data are read."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from nobounds.engines.memory.arrow import import_pyarrow
from nobounds.engines.refusals import raise_alone
from nobounds.engines.schemas.formats import check_format
from nobounds.kinds.kind import Kind
from nobounds.values import dataclass

TYPES = "number, integer, text, boolean, date, datetime, datetime(ZONE), time, duration, decimal(P,S) or money"
"""The types of columns, for messages."""

_SHORT = 38  # digits of a decimal of 128 bits
_WITH_FORMAT = ("date", "datetime", "time", "duration")
_WITH_MARKS = ("number", "integer", "decimal", "money")


@dataclass(frozen=True, slots=True)
class ColumnRule:
    """The type of a column, and how its texts are read.

    type: None if it is not declared: then the column is text, and read as numbers where a statistic names it.
    format: how dates and times are written, as in "%d.%m.%Y" (see `formats`); by default as ISO 8601 says. Of a
    duration, the unit of plain numbers, for example "minutes".
    missing: texts that stand for a missing value in this column, besides those of the file.
    decimal, thousands: the marks of numbers in this column, if they differ from those of the file.

    >>> ColumnRule.of({"type": "date", "format": "%d.%m.%Y"}, "born")
    ColumnRule(type='date', format='%d.%m.%Y')
    """

    type: str | None = None
    format: str | None = None
    missing: tuple[str, ...] = ()
    decimal: str | None = None
    thousands: str | None = None

    def __repr__(self) -> str:
        stated = {each.name: getattr(self, each.name) for each in fields(self) if getattr(self, each.name)}
        return f"ColumnRule({', '.join(f'{name}={value!r}' for name, value in stated.items())})"

    @classmethod
    def of(cls, given: object, name: str) -> "ColumnRule":
        """The rule that a type, or a mapping with a type and how it is written, states for a column."""
        if isinstance(given, ColumnRule):
            return given
        parts: dict[str, Any] = dict(given) if isinstance(given, Mapping) else {"type": given}
        known = [each.name for each in fields(cls)]
        for part in parts:
            if part not in known:
                raise ValueError(f"column {name!r} of the schema may state {', '.join(known)}, got {part!r}")
        parts["type"] = _checked_type(parts.get("type"), name)
        parts["missing"] = _texts(parts.get("missing"), name)
        rule = cls(**parts)
        rule._check(name)
        return rule

    def _check(self, name: str) -> None:
        if self.format is not None:
            if self.family not in _WITH_FORMAT:
                raise ValueError(f"a format is for {', '.join(_WITH_FORMAT)}, got one for column {name!r}")
            check_format(self.format, self.family, name)
        for mark in ("decimal", "thousands"):
            given = getattr(self, mark)
            if given is None:
                continue
            if self.family not in _WITH_MARKS:
                raise ValueError(f"{mark} is for {', '.join(_WITH_MARKS)}, got it for column {name!r}")
            if not isinstance(given, str) or len(given) != 1 or given.isalnum() or given in "+-\r\n\0":
                raise ValueError(f"{mark} of column {name!r} must be one character, no digit or letter, got {given!r}")
        if self.decimal not in (None, ".", ","):
            raise ValueError(f"decimal of column {name!r} must be '.' or ',', got {self.decimal!r}")
        if self.decimal is not None and self.decimal == self.thousands:
            raise ValueError(f"decimal and thousands of column {name!r} must differ, got {self.decimal!r} for both")

    @property
    def family(self) -> str | None:
        """The type without what stands in brackets."""
        return None if self.type is None else self.type.partition("(")[0]

    @property
    def kind(self) -> Kind | None:
        """The kind of the values; None for text."""
        return None if self.type in (None, "text") else Kind.parse(self.type)

    @property
    def arrow(self) -> Any:
        """The Arrow type of the values; text if no type is declared."""
        pa, kind = import_pyarrow(), self.kind
        match None if kind is None else kind.name:
            case "number":
                return pa.float64()
            case "integer":
                return pa.int64()
            case "boolean":
                return pa.bool_()
            case "date":
                return pa.date32()
            case "datetime":
                return pa.timestamp("us", kind.zone)  # type: ignore[union-attr]
            case "time":
                return pa.time64("us")
            case "duration":
                return pa.duration("us")
            case "decimal":
                sized = pa.decimal128 if kind.precision <= _SHORT else pa.decimal256  # type: ignore[union-attr]
                return sized(kind.precision, kind.scale)  # type: ignore[union-attr]
            case _:
                return pa.large_string()

    def to_json(self) -> str | dict[str, Any] | None:
        """The type alone if nothing else is stated, and otherwise all that is."""
        stated = {each.name: value for each in fields(self) if (value := getattr(self, each.name))}
        stated = {name: list(value) if isinstance(value, tuple) else value for name, value in stated.items()}
        return stated if len(stated) > 1 or (stated and self.type is None) else self.type


def _checked_type(given: object, name: str) -> str | None:
    """A type in its one spelling."""
    if given is None:
        return None
    text = given.strip() if isinstance(given, str) else ""
    if text in ("text", "money"):
        return text
    try:
        kind = Kind.parse(text)
    except ValueError:
        raise_alone(ValueError(f"the type of a column must be one of {TYPES}, got {given!r} for column {name!r}"))
    return str(kind)


def _texts(given: object, name: str) -> tuple[str, ...]:
    if given is None:
        return ()
    texts = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, Iterable) else (None,)
    if not all(isinstance(text, str) and text.isprintable() for text in texts):
        raise TypeError(f"missing of column {name!r} must be a list of texts, got something else")
    return tuple(text.strip() for text in texts if isinstance(text, str))
