"""Expressions of polars as our tree, by their JSON; what has no counterpart is refused by its name.

The operations mean what they mean in nobounds: NaN is null, and a cast that fails is null.
"""

import json
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, NoReturn

from nobounds.expressions.sql import negative, refused
from nobounds.expressions.tree import (
    And,
    Arithmetic,
    Call,
    Cast,
    Column,
    Comparison,
    Constant,
    In,
    IsNull,
    Literal,
    Node,
    Not,
    Or,
    check_size,
)

_COMPARISONS = {"Eq": "=", "NotEq": "<>", "Lt": "<", "LtEq": "<=", "Gt": ">", "GtEq": ">="}
_ARITHMETIC = {"Plus": "+", "Minus": "-", "Multiply": "*", "TrueDivide": "/"}
_ENDS = {"Both": (">=", "<="), "Left": (">=", "<"), "Right": (">", "<="), "None": (">", "<")}
_TO = {"Float64": "number", "Int64": "integer", "String": "text", "Date": "date"}
_FUNCTIONS = {"Abs": "abs", "Floor": "floor", "Ceil": "ceil", "Coalesce": "coalesce", "FillNull": "coalesce"}
_UNITS = {"Milliseconds": 1_000_000, "Microseconds": 1_000, "Nanoseconds": 1}
_WHAT = {
    "Agg": "the aggregate",
    "Over": "the window",
    "Window": "the window",
    "AnonymousFunction": "a function of Python",
    "Selector": "a selection of several columns",
    "Ternary": "when, then and otherwise",
    "Len": "the number of rows",
    "RollingFunction": "the window",
}


def parsed(expression: Any) -> Node:
    """The tree of a polars expression."""
    node = _node(json.loads(expression.meta.serialize(format="json"), parse_float=Decimal))
    check_size(node)
    return node


def _node(given: Any, depth: int = 0) -> Node:
    if depth > 300:
        raise ValueError("an expression may not be nested so deep; prepare the column before")

    def inner(part: Any) -> Node:
        return _node(part, depth + 1)

    match given:
        case {"Column": str(name)}:
            return Column(name)
        case {"Alias": [part, _]}:
            return inner(part)
        case {"Literal": literal}:
            return Literal(_constant(literal))
        case {"BinaryExpr": {"left": left, "op": operator, "right": right}}:
            return _binary(operator, inner(left), inner(right))
        case {"Cast": {"expr": part, "dtype": {"Literal": str(to)}}} if to in _TO:
            return Cast(inner(part), _TO[to])
        case {"Cast": {"dtype": to}}:
            refused(f"a cast to the polars type {_word(to)}")
        case {"Function": {"input": parts, "function": {"Boolean": function}}}:
            return _boolean(function, parts, inner)
        case {"Function": {"input": [part], "function": "Negate"}}:
            return negative(inner(part))
        case {"Function": {"input": parts, "function": str(function)}} if function in _FUNCTIONS:
            return Call(_FUNCTIONS[function], tuple(map(inner, parts)))
        case {"Function": {"function": function}}:
            refused(f"the polars function {_word(function)}")
    word = _word(given)
    refused(_WHAT.get(word, f"the polars expression {word}"))


def _binary(operator: str, left: Node, right: Node) -> Node:
    if operator in _COMPARISONS:
        return Comparison(_COMPARISONS[operator], left, right)
    if operator in _ARITHMETIC:
        return Arithmetic(_ARITHMETIC[operator], left, right)
    if operator == "Modulus":  # in polars it has the sign of the divisor
        return Arithmetic("%", Arithmetic("+", Arithmetic("%", left, right), right), right)
    if operator in ("And", "LogicalAnd"):
        return And((*_parts(left, And), *_parts(right, And)))
    if operator in ("Or", "LogicalOr"):
        return Or((*_parts(left, Or), *_parts(right, Or)))
    refused(f"the polars operator {operator}")


def _parts(node: Node, kind: type[And] | type[Or]) -> tuple[Node, ...]:
    """The parts of a chain of and, or of or."""
    return node.parts if isinstance(node, And | Or) and type(node) is kind else (node,)


def _boolean(function: Any, given: list[Any], inner: Any) -> Node:
    match function, given:
        case "Not", [part]:
            return Not(inner(part))
        case "IsNull", [part]:
            return IsNull(inner(part))
        case "IsNotNull", [part]:
            return Not(IsNull(inner(part)))
        case "AllHorizontal", parts:
            return And(tuple(map(inner, parts)))
        case "AnyHorizontal", parts:
            return Or(tuple(map(inner, parts)))
        case {"IsBetween": {"closed": closed}}, [part, low, high]:
            above, below = _ENDS[closed]
            operand = inner(part)
            return And((Comparison(above, operand, inner(low)), Comparison(below, operand, inner(high))))
        case {"IsIn": {"nulls_equal": False}}, [part, {"Literal": {"Scalar": {"List": listed}} | {"Series": listed}}]:
            return In(inner(part), _listed(listed))
    refused(f"the polars function {_word(function)}")


def _listed(serialized: list[int]) -> tuple[Literal, ...]:
    """The constants of a list, which polars writes as an Arrow stream."""
    import pyarrow as pa

    values = pa.ipc.open_stream(bytes(serialized)).read_all().column(0).to_pylist()
    if not values:
        raise ValueError("is_in needs at least one value, got none")
    return tuple(Literal(_python(value)) for value in values)


def _python(value: Any) -> Constant:
    """A constant of Python as one of the tree."""
    if isinstance(value, float):
        return Decimal(repr(value))
    if value is None or isinstance(value, bool | int | Decimal | str | date | datetime | time):
        return value
    refused(f"a constant of type {type(value).__name__}")


def _constant(given: Any) -> Constant:
    match given:
        case {"Dyn": {"Int": int(value)}} | {"Dyn": {"Str": str(value)}} | {"Dyn": {"Float": Decimal() as value}}:
            return value
        case {"Dyn": {"Float": int(value)}}:
            return Decimal(value)
        case {"Scalar": scalar}:
            return _scalar(scalar)
    _no_constant(given)


def _scalar(given: Any) -> Constant:
    match given:
        case {"Null": _}:
            return None
        case {"Boolean": bool(value)} | {"String": str(value)}:
            return value
        case {"Decimal": [int(value), _, int(scale)]}:
            return Decimal((int(value < 0), tuple(map(int, str(abs(value)))), -scale))  # scaleb would round
        case {"Date": int(days)}:
            return date(1970, 1, 1) + timedelta(days=days)
        case {"Datetime": [int(value), str(unit), zone]}:
            since = value * _UNITS[unit]
            if since % 1000:
                refused("a constant finer than microseconds")
            # Without a zone they are read as UTC, and the zone is dropped again.
            return datetime(1970, 1, 1, tzinfo=None if zone is None else UTC) + timedelta(microseconds=since // 1000)
        case {"Time": int(value)} if value % 1000 == 0:
            return (datetime(1970, 1, 1) + timedelta(microseconds=value // 1000)).time()
    if isinstance(given, dict) and len(given) == 1:
        ((kind, value),) = given.items()
        if kind in ("Float64", "Float32") and isinstance(value, int | Decimal) and not isinstance(value, bool):
            return Decimal(value)
        if kind.startswith(("Int", "UInt")) and isinstance(value, int):
            return value
    _no_constant(given)


def _no_constant(given: Any) -> NoReturn:
    refused(f"a constant of the polars type {_word(given)}, or one that is not finite")


def _word(given: Any) -> str:
    """The name of a part of polars' JSON."""
    while isinstance(given, dict) and len(given) == 1:
        ((name, part),) = given.items()
        if name not in ("Boolean", "StringExpr", "TemporalExpr", "Literal", "Scalar", "Dyn", "ListExpr", "Random"):
            return str(name)
        given = part
    return given if isinstance(given, str) else "of this kind"
