"""The JSON of releases: one versioned form for a release, for answers by group and for a description.

All of them state `schema`, `kind`, `statistic`, `loss` and `parameters`. A number that is not answered is null, with a
reason; the ends of an interval are null where they are infinite. Where `parameters` has a `type`, answers and the ends
of intervals are texts: dates, times and durations in ISO 8601, and the digits of decimals. `schema.json` says the same
as a JSON Schema.
"""

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias

from nobounds.kinds.kind import NUMBER, Kind

VERSION = 1

Interval: TypeAlias = tuple[float, float]  # or two values of the type of the column


@cache
def json_schema() -> dict[str, Any]:
    """The JSON Schema of all releases."""
    schema: dict[str, Any] = json.loads(files(__package__).joinpath("schema.json").read_text())
    return schema


def head(kind: str) -> dict[str, Any]:
    """What the JSON of a release starts with."""
    return {"schema": VERSION, "kind": kind}


def loaded(text: str, kind: str) -> dict[str, Any]:
    """The fields of a release of this kind."""
    fields = json.loads(text)
    if not isinstance(fields, dict) or fields.get("kind") != kind or fields.get("schema") != VERSION:
        raise ValueError(f'this is not a {kind} in version {VERSION} of the schema: it needs "kind" and "schema"')
    return fields


def type_in(parameters: Mapping[str, Any]) -> Kind:
    """The type that answers of a release are written in, mostly that of the column; numbers if it says nothing."""
    return Kind.parse(parameters["type"]) if "type" in parameters else NUMBER


def column_type_in(parameters: Mapping[str, Any]) -> Kind:
    """The type of the column itself, where answers are distances between its values and have another type."""
    return Kind.parse(parameters["column_type"]) if "column_type" in parameters else type_in(parameters)


def to_ends(bar: Sequence[Any], kind: Kind = NUMBER) -> list[Any]:
    """An interval for JSON, where null stands for an infinite end."""
    if kind.typed:
        return [kind.to_json(end) for end in bar]
    return [float(end) if math.isfinite(end) else None for end in bar]


def from_ends(bar: Sequence[Any], kind: Kind = NUMBER) -> Interval:
    """The interval that `to_ends` wrote."""
    low, high = bar
    if kind.typed:
        return kind.from_json(low), kind.from_json(high)
    return -math.inf if low is None else low, math.inf if high is None else high
