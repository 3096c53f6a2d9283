"""A condition on the rows of a Spark DataFrame, and computed columns: the one evaluator, on the workers."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from nobounds.engines.keys import plain
from nobounds.engines.memory.arrow import import_pyarrow
from nobounds.expressions.evaluate import Rows
from nobounds.expressions.types import BOOLEAN, DATE, INTEGER, NUMBER, OTHER, TEXT, TIME, Type, decimal
from nobounds.expressions.view import View
from nobounds.values import dataclass

KEPT = "kept"
"""The column that is false in rows which a condition drops, where these stay."""

_PLAIN = {"boolean": BOOLEAN, "date": DATE, "float": NUMBER, "double": NUMBER, "time": TIME}
_PLAIN |= dict.fromkeys(("byte", "short", "integer", "long"), INTEGER)
_PLAIN |= dict.fromkeys(("string", "char", "varchar"), TEXT)
_PLAIN |= {"timestamp": Type("datetime", unit="us", zone="UTC"), "timestamp_ntz": Type("datetime", unit="us")}


def spark_type(kind: Any) -> Type:
    """The type of a Spark column in expressions."""
    name = kind.typeName().split("(")[0]
    if name == "decimal" and kind.scale >= 0:
        return decimal(kind.precision, kind.scale)
    return OTHER if "collate" in kind.simpleString() else _PLAIN.get(name, OTHER)


def spark_kind(known: Type) -> Any:
    """The Spark type of a computed column."""
    from pyspark.sql import types

    if known.name == "decimal":
        return types.DecimalType(known.precision, known.scale)
    if known.name == "datetime":
        return types.TimestampNTZType() if known.zone is None else types.TimestampType()
    plain_kinds = {
        "boolean": types.BooleanType,
        "integer": types.LongType,
        "number": types.DoubleType,
        "text": types.StringType,
        "date": types.DateType,
    }
    if known.name not in plain_kinds:
        raise TypeError(f"a column of Spark cannot be computed as {known}; compute a number, a text or a date")
    return plain_kinds[known.name]()


@dataclass(frozen=True, slots=True)
class Applied:
    """Runs on the workers: batches with the columns `passed` and those of expressions, to the columns of a view."""

    view: View
    passed: tuple[str, ...]  # names in Spark, as they are
    own: tuple[str, ...]  # columns of expressions, after these
    made: tuple[tuple[str, str], ...]  # names in Spark and in the view
    masked: bool

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The rows that are kept; with `masked` all of them, those that are not with nulls."""
        pa = import_pyarrow()
        for batch in batches:
            start = len(self.passed)
            columns = {name: plain(batch.column(start + k)) for k, name in enumerate(self.own)}
            rows = Rows(columns, {}, len(batch))
            arrays = [batch.column(k) for k in range(start)]
            arrays += [_spark(self.view.computed(name, rows)) for _, name in self.made]
            mask = self.view.kept(rows)
            kept = pa.array(np.ones(len(batch), dtype=bool) if mask is None else mask)
            if self.masked:
                arrays = [_where(kept, array) for array in arrays]
            else:
                arrays = [array.filter(kept) for array in arrays]
                kept = kept.filter(kept)
            yield pa.record_batch([*arrays, kept], names=[*self.passed, *(place for place, _ in self.made), KEPT])


def _where(kept: Any, array: Any) -> Any:
    import pyarrow.compute as pc

    return pc.if_else(kept, array, import_pyarrow().scalar(None, type=array.type))


def _spark(array: Any) -> Any:
    """An array in the layout that Spark reads."""
    pa = import_pyarrow()
    if pa.types.is_large_string(array.type):
        return array.cast(pa.string())
    if pa.types.is_timestamp(array.type) and array.type.tz is not None:
        return array.cast(pa.timestamp("us", "UTC"))
    return array


def applied(frame: Any, view: View, places: dict[str, tuple[str, Any]], keys: dict[str, str], masked: bool) -> Any:
    """The rows of a view of a frame: the columns `places`, those of the frame and computed ones, and KEPT.

    places: the name in Spark and the Spark type of each column that is wanted.
    keys: the SQL expressions of the columns that expressions need, in their canonical form.
    """
    made = tuple((place, name) for name, (place, _) in places.items() if name in view.formulas)
    passed = tuple(place for name, (place, _) in places.items() if name not in view.formulas)
    chosen = frame.selectExpr(*passed, *(f"{key} as e{k}" for k, key in enumerate(keys.values())), "1 as one")
    order = [*passed, *(place for place, _ in made)]
    kinds = {place: kind.simpleString() for place, kind in places.values()}
    schema = ", ".join([*(f"{place} {_declared(kinds[place])}" for place in order), f"{KEPT} boolean"])
    return chosen.mapInArrow(Applied(view, passed, tuple(keys), made, masked), schema)


def _declared(kind: str) -> str:
    return "string" if kind.startswith(("char", "varchar")) else kind


def wanted(names: Iterable[str], view: View) -> list[str]:
    """The computed ones of these columns."""
    return [name for name in names if name in view.formulas]
