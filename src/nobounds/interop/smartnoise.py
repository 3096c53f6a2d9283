"""SmartNoise SQL: its metadata with private bounds, and the loss of a query."""

import math
from collections.abc import Mapping
from typing import Any

from nobounds.accounting.loss import PrivacyLoss
from nobounds.interop.floats import exactly
from nobounds.interop.ranges import Range


def metadata(
    ranges: Mapping[str, Range],
    table: str,
    *,
    schema: str = "public",
    unit: str | None = None,
    rows_per_unit: int = 1,
    columns: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The metadata of a table: columns with ranges have these as bounds, and `columns` gives the types of others.

    unit: the column that names a user, with at most `rows_per_unit` rows each; without one a row is protected.
    """
    described: dict[str, Any] = {name: {"type": kind} for name, kind in (columns or {}).items()}
    for name, each in ranges.items():
        lower, upper = each.bounds
        kind = "int" if isinstance(lower, int) and isinstance(upper, int) else "float"
        described[name] = {"type": kind, "lower": lower, "upper": upper}
    if unit is None:
        about: dict[str, Any] = {"row_privacy": True}
    else:
        about = {"max_ids": rows_per_unit}
        described[unit] = {"type": "int"} | described.get(unit, {}) | {"private_id": True}
    return {"": {schema: {table: about | described}}}


def loss(reader: Any, query: str, *, unit: str = "row") -> PrivacyLoss:
    """The loss of a query to a private reader, by its own accounting, rounded up; charge it before the query runs."""
    spent = [float(part) for part in reader.get_privacy_cost(query)]
    if not all(map(math.isfinite, spent)):
        raise ValueError("the query has no finite loss: its columns need bounds")
    epsilon, delta = map(exactly, spent)
    if delta == 0:
        return PrivacyLoss.pure(epsilon, unit=unit)
    return PrivacyLoss.approximate(epsilon, delta, unit=unit)
