"""The value of a checked tree for some rows: one evaluator for all engines, in which nothing can fail.

Logic has three values. A row for which a condition is null is dropped, as if it were false.
"""

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nobounds.expressions.arithmetic import called, joined
from nobounds.expressions.casts import cast
from nobounds.expressions.comparisons import equal, signs, to_floats
from nobounds.expressions.tree import (
    And,
    Arithmetic,
    Call,
    Cast,
    Column,
    Comparison,
    In,
    IsNull,
    Literal,
    Node,
    Not,
    Or,
)
from nobounds.expressions.types import BOOLEAN, INTEGER, NULL, NUMBER, Type
from nobounds.expressions.values import Mask, Values, constant, from_arrow, nulls, to_array
from nobounds.values import dataclass

_COMPARE: dict[str, Callable[[NDArray[np.int8]], Any]] = {
    "=": lambda sign: sign == 0,
    "<>": lambda sign: sign != 0,
    "<": lambda sign: sign < 0,
    "<=": lambda sign: sign <= 0,
    ">": lambda sign: sign > 0,
    ">=": lambda sign: sign >= 0,
}


@dataclass(frozen=True, slots=True)
class Rows:
    """Some rows: columns in their own types, and columns of no declared type as float64, all as Arrow arrays."""

    columns: Mapping[str, Any]
    numbers: Mapping[str, Any]
    count: int


def kept(condition: Node, rows: Rows) -> Mask:
    """For which rows a condition is true."""
    with np.errstate(all="ignore"):  # no warning may depend on the records
        values = evaluate(condition, rows)
    return values.valid if values.type == NULL else np.asarray(values.data & values.valid, dtype=bool)


def computed(formula: Node, rows: Rows) -> Any:
    """The Arrow array of a formula."""
    with np.errstate(all="ignore"):
        return to_array(evaluate(formula, rows))


def evaluate(node: Node, rows: Rows) -> Values:
    """The values of a checked tree."""
    match node:
        case Column(name, kind, as_number):
            assert kind is not None
            return from_arrow((rows.numbers if as_number else rows.columns)[name], kind)
        case Literal(value, kind):
            assert kind is not None
            return constant(value, kind, rows.count)
        case Comparison(operator, left, right):
            a, b = evaluate(left, rows), evaluate(right, rows)
            return Values(BOOLEAN, _COMPARE[operator](signs(a, b)), a.valid & b.valid)
        case And(parts):
            return reduce(_both, (_boolean(part, rows) for part in parts))
        case Or(parts):
            return _opposite(reduce(_both, (_opposite(_boolean(part, rows)) for part in parts)))
        case Not(operand):
            return _opposite(_boolean(operand, rows))
        case In(operand, items):
            return _is_in(evaluate(operand, rows), items)
        case IsNull(operand):
            return Values(BOOLEAN, ~evaluate(operand, rows).valid, np.ones(rows.count, dtype=bool))
        case Arithmetic(operator, left, right):
            a, b = evaluate(left, rows), evaluate(right, rows)
            whole = {a.type.name, b.type.name} <= {"integer", "null"} and operator != "/"
            return joined(operator, a, b, INTEGER if whole else NUMBER)
        case Call("coalesce", arguments):
            return _coalesce([evaluate(argument, rows) for argument in arguments])
        case Call("case", (*branches, last)):
            return _case(
                [_boolean(part, rows) for part in branches[::2]], [evaluate(p, rows) for p in (*branches[1::2], last)]
            )
        case Call(function, (argument,)):
            a = evaluate(argument, rows)
            return called(function, a, INTEGER if a.type.name in ("integer", "null") else NUMBER)
        case Cast(operand, to):
            return cast(evaluate(operand, rows), to)
    raise TypeError(f"an expression has no part {type(node).__name__}")


def _boolean(node: Node, rows: Rows) -> Values:
    values = evaluate(node, rows)
    return Values(BOOLEAN, np.zeros(rows.count, dtype=bool), values.valid) if values.type == NULL else values


def _opposite(values: Values) -> Values:
    return Values(BOOLEAN, ~values.data, values.valid)


def _both(a: Values, b: Values) -> Values:
    """True where both are, false where one is, else null."""
    wrong = (a.valid & ~a.data) | (b.valid & ~b.data)
    return Values(BOOLEAN, a.data & b.data & ~wrong, (a.valid & b.valid) | wrong)


def _is_in(a: Values, items: tuple[Literal, ...]) -> Values:
    present = [item for item in items if item.value is not None]
    matches = _matches(a, present)
    return Values(BOOLEAN, matches, a.valid & (matches | (len(present) == len(items))))


def _matches(a: Values, items: list[Literal]) -> Mask:
    """Where a value equals a constant."""
    rows = len(a.valid)
    if a.type.name == "text":
        import pyarrow as pa
        import pyarrow.compute as pc

        known = pa.array([item.value for item in items], type=a.data.type)
        return np.asarray(pc.is_in(a.data, value_set=known).to_numpy(zero_copy_only=False), dtype=bool)
    if a.type == INTEGER and all(item.type == INTEGER for item in items):
        return np.isin(a.data, np.array([item.value for item in items], dtype=np.int64))
    matches = np.zeros(rows, dtype=bool)
    for item in items:
        assert item.type is not None
        matches |= equal(a, constant(item.value, item.type, rows))
    return matches


def _coalesce(parts: list[Values]) -> Values:
    """The first value of each row that is not null."""
    known = [part for part in parts if part.type != NULL]
    if not known:
        return parts[0]
    kind = _common([part.type for part in known])
    first, *rest = [_as(part, kind) for part in known]
    for part in rest:
        first = _filled(first, part)
    return first


def _case(conditions: list[Values], values: list[Values]) -> Values:
    """The value of the first condition that is true; of each row one value is left, and the others are null."""
    rest, left = np.ones(len(values[-1].valid), dtype=bool), []
    for condition, value in zip(conditions, values, strict=False):
        chosen = rest & condition.data & condition.valid
        rest = rest & ~chosen
        left.append(_only(value, chosen))
    return _coalesce([*left, _only(values[-1], rest)])


def _only(values: Values, chosen: Mask) -> Values:
    """The values of some rows, and nulls in the others."""
    if values.type == NULL or isinstance(values.data, np.ndarray):
        return Values(values.type, values.data, values.valid & chosen)
    import pyarrow as pa
    import pyarrow.compute as pc

    return Values(values.type, pc.if_else(pa.array(chosen), values.data, None), values.valid & chosen)


def _common(types: list[Type]) -> Type:
    """The type of the result, as `check` has it."""
    if len(set(types)) == 1:
        return types[0]
    return NUMBER if types[0].name in ("integer", "number", "decimal") else types[0]


def _as(values: Values, kind: Type) -> Values:
    return Values(NUMBER, to_floats(values), values.valid) if kind == NUMBER != values.type else values


def _filled(a: Values, b: Values) -> Values:
    if isinstance(a.data, np.ndarray):
        return Values(a.type, np.where(a.valid, a.data, b.data), a.valid | b.valid)
    import pyarrow.compute as pc

    return Values(a.type, pc.coalesce(a.data, b.data), a.valid | b.valid)


def all_null(kind: Type, rows: int) -> Any:
    """An Arrow array of nulls."""
    return to_array(nulls(kind, rows))
