"""The types of a tree, checked from the types of columns alone: a wrong one is refused before anything is read.

Constants take the type of what they meet: a text beside a date is a date, 0.1 beside a decimal is exactly a tenth, and
beside a float64 the float64 nearest to it. A column of no declared type is read as numbers where it meets a number, and
as text elsewhere.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, time
from decimal import Decimal
from math import isinf
from typing import NoReturn

from nobounds.expressions.text import text
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
)
from nobounds.expressions.types import (
    BOOLEAN,
    DATE,
    INTEGER,
    MOST_DIGITS,
    NULL,
    NUMBER,
    OPEN,
    TEXT,
    TIME,
    Type,
    decimal,
)

INTEGERS = range(-(1 << 63), 1 << 63)
_LONGEST = 1_000  # characters of a text, which is repeated for each row of a batch
_NUMERIC = ("integer", "number", "decimal")
_TIMES = ("date", "datetime", "time")


def checked(node: Node, columns: Mapping[str, Type]) -> tuple[Node, Type]:
    """The tree with the types of its columns and constants, and its own type; TypeError if types do not fit."""
    match node:
        case Column(name):
            return replace(node, type=columns[name]), columns[name]
        case Literal(value):
            known = _literal_type(value)
            return Literal(value, known), known
        case And(parts):
            return And(tuple(_condition(part, columns) for part in parts)), BOOLEAN
        case Or(parts):
            return Or(tuple(_condition(part, columns) for part in parts)), BOOLEAN
        case Not(operand):
            return Not(_condition(operand, columns)), BOOLEAN
        case IsNull(operand):
            inner, known = checked(operand, columns)
            return IsNull(_as_text(inner) if known == OPEN else inner), BOOLEAN
        case Comparison(operator, left, right):
            first, second = _comparable(checked(left, columns), checked(right, columns), node)
            return Comparison(operator, first, second), BOOLEAN
        case In(operand, items):
            return _checked_in(node, checked(operand, columns), items), BOOLEAN
        case Arithmetic(operator, left, right):
            return _arithmetic(operator, checked(left, columns), checked(right, columns), node)
        case Call("case", arguments):
            return _case(arguments, columns, node)
        case Call(function, arguments):
            return _call(function, [checked(argument, columns) for argument in arguments], node)
        case Cast(operand, to):
            return _cast(checked(operand, columns), to, node)


def condition(node: Node, columns: Mapping[str, Type]) -> Node:
    """The checked tree of a condition; TypeError if it is not true or false."""
    return _condition(node, columns)


def formula(node: Node, columns: Mapping[str, Type]) -> tuple[Node, Type]:
    """The checked tree of a column, and its type; TypeError if it has none."""
    inner, known = checked(node, columns)
    if known == OPEN:
        raise TypeError(f"the type of {text(node)} is not declared; write cast({text(node)} as number), or as text")
    if known.name in ("null", "other"):
        raise TypeError(f"a column must be a number, true or false, a text, a date or a time, got {text(node)}")
    return inner, known


def _condition(node: Node, columns: Mapping[str, Type]) -> Node:
    inner, known = checked(node, columns)
    if known not in (BOOLEAN, NULL):
        raise TypeError(
            f"a condition must be true or false, and {text(node)} is {_a(known)}; "
            f"compare it with something, for example {text(node)} is not null"
        )
    return inner


def _checked_in(node: In, operand: tuple[Node, Type], items: tuple[Literal, ...]) -> Node:
    known: list[Literal] = []
    inner = operand[0]
    for item in items:
        kind = _literal_type(item.value)
        left, right = _comparable(operand, (Literal(item.value, kind), kind), node)
        assert isinstance(right, Literal)
        if item.value is not None or len(items) == 1:
            if known and left != inner:
                raise TypeError(f"the constants of {text(node)} must all be of one type")
            inner = left
        known.append(right)
    return In(inner, tuple(known))


def _comparable(left: tuple[Node, Type], right: tuple[Node, Type], whole: Node) -> tuple[Node, Node]:
    """Both sides in types that can be compared."""
    (a, first), (b, second) = left, right
    if first == OPEN:
        a, first = _declared((a, first), second, whole)
    if second == OPEN:
        b, second = _declared((b, second), first, whole)
    if "null" in (first.name, second.name):
        return a, b
    if first.name in _NUMERIC and second.name in _NUMERIC:
        number = NUMBER in (first, second)
        return (_as_number(a), _as_number(b)) if number else (a, b)
    if first.name in _TIMES and isinstance(b, Literal):
        b, second = _timed(b, first, whole)
    if second.name in _TIMES and isinstance(a, Literal):
        a, first = _timed(a, second, whole)
    names, zoned = {first.name, second.name}, (first.zone is None) != (second.zone is None)
    if names == {"datetime"} and zoned:
        raise TypeError(f"one side of {text(whole)} has a time zone and the other has none; convert one of them before")
    if names == {"date", "datetime"} and zoned:
        raise TypeError(f"{text(whole)} compares dates with datetimes of a time zone; convert one of them before")
    if names == {"date", "datetime"} or (len(names) == 1 and first.name != "other"):
        return a, b
    _refuse(whole, first, second)


def _declared(open_side: tuple[Node, Type], other: Type, whole: Node) -> tuple[Node, Type]:
    """A column of no declared type in the type that the other side asks for."""
    node = open_side[0]
    if other.name in _NUMERIC:
        return _as_numbers(node), NUMBER
    if other.name in ("text", "null"):
        return _as_text(node), TEXT
    name = text(node)
    if other == OPEN:
        raise TypeError(
            f"the columns of {text(whole)} have no declared types; declare them, "
            f"or write cast({name} as number) or cast({name} as text)"
        )
    fix = f"cast({name} as date)" if other.name in ("date", "datetime") else f"cast({name} as text)"
    raise TypeError(f"column {name} has no declared type, and meets {_a(other)}; declare its type, or write {fix}")


def _as_text(node: Node) -> Node:
    return replace(node, type=TEXT) if isinstance(node, Column) else node


def _as_numbers(node: Node) -> Node:
    return replace(node, type=NUMBER, as_number=True) if isinstance(node, Column) else node


def _as_number(node: Node) -> Node:
    """A constant beside a float64 is one."""
    return replace(node, type=NUMBER) if isinstance(node, Literal) and isinstance(node.value, Decimal) else node


def _timed(literal: Literal, other: Type, whole: Node) -> tuple[Literal, Type]:
    """A text or a date as the date or time that the other side asks for; others unchanged."""
    value: Constant = literal.value
    try:
        if isinstance(value, str):
            if other.name == "date":
                value = date.fromisoformat(value.strip())
            elif other.name == "time":
                value = time.fromisoformat(value.strip())
            else:
                value = datetime.fromisoformat(value.strip())
    except ValueError:
        example = {"date": "2024-12-31", "time": "23:59:00"}.get(other.name, "2024-12-31 23:59:00")
        raise ValueError(f"{text(literal)} in {text(whole)} must be written like '{example}'") from None
    if isinstance(value, date) and not isinstance(value, datetime) and other.name == "datetime":
        value = datetime.combine(value, time())
    if isinstance(value, datetime) and value.tzinfo is None and other.zone is not None:
        value = value.replace(tzinfo=UTC)
    known = _literal_type(value)
    return Literal(value, known), known


def _refuse(whole: Node, first: Type, second: Type) -> NoReturn:
    fix = "convert one of them, for example with cast(... as number), or declare its type"
    if "boolean" in (first.name, second.name):
        fix = "write a boolean alone, or not before it; cast(... as integer) makes it 0 or 1"
    raise TypeError(f"{text(whole)} compares {_a(first)} with {_a(second)}; {fix}")


def _arithmetic(operator: str, left: tuple[Node, Type], right: tuple[Node, Type], whole: Node) -> tuple[Node, Type]:
    (a, first), (b, second) = left, right
    if operator == "-" and first.name == second.name and first.name in ("date", "datetime"):
        _comparable(left, right, whole)  # both have a zone, or none has
        return Arithmetic(operator, a, b), INTEGER if first == DATE else NUMBER
    if operator == "-" and {first.name, second.name} in ({"date", "text"}, {"datetime", "text"}, {"date", "datetime"}):
        first_node, second_node = _comparable(left, right, whole)
        types = checked_types(first_node, first), checked_types(second_node, second)
        if types[0].name == types[1].name:
            return Arithmetic(operator, first_node, second_node), INTEGER if types[0] == DATE else NUMBER
    a, first = _number(a, first, whole)
    b, second = _number(b, second, whole)
    whole_numbers = {first.name, second.name} <= {"integer", "null"}
    if whole_numbers and operator != "/":
        return Arithmetic(operator, a, b), INTEGER
    return Arithmetic(operator, _as_number(a), _as_number(b)), NUMBER


def checked_types(node: Node, known: Type) -> Type:
    """The type of a constant after it has met another type; of others the known one."""
    return node.type or known if isinstance(node, Literal) else known


def _number(node: Node, known: Type, whole: Node) -> tuple[Node, Type]:
    """An operand of arithmetic."""
    if known == OPEN:
        return _as_numbers(node), NUMBER
    if known.name in (*_NUMERIC, "null"):
        return node, known
    fixes = {"boolean": f"cast({text(node)} as integer)", "text": f"cast({text(node)} as number)"}
    fix = f"; write {fixes[known.name]}" if known.name in fixes else ""
    raise TypeError(f"{text(whole)} needs numbers, and {text(node)} is {_a(known)}{fix}")


def _call(function: str, arguments: list[tuple[Node, Type]], whole: Node) -> tuple[Node, Type]:
    if function == "coalesce":
        return _coalesce(arguments, whole)
    ((node, known),) = arguments
    node, known = _number(node, known, whole)
    to_whole = function in ("floor", "ceil")
    return Call(function, (_as_number(node),)), INTEGER if to_whole or known.name in ("integer", "null") else NUMBER


def _case(arguments: tuple[Node, ...], columns: Mapping[str, Type], whole: Node) -> tuple[Node, Type]:
    """The values are of one type, as those of coalesce are."""
    conditions = [_condition(part, columns) for part in arguments[:-1:2]]
    values, known = _coalesce([checked(part, columns) for part in (*arguments[1::2], arguments[-1])], whole)
    assert isinstance(values, Call)
    *own, last = values.arguments
    pairs = zip(conditions, own, strict=True)
    return Call("case", (*(part for pair in pairs for part in pair), last)), known


def _coalesce(arguments: list[tuple[Node, Type]], whole: Node) -> tuple[Node, Type]:
    known = [each for each in arguments if each[1].name not in ("null", "open")]
    columns = [each for each in known if not isinstance(each[0], Literal)]
    lead = (columns or known or [(whole, TEXT)])[0]
    nodes, types = [], []
    for argument in arguments:
        node = argument[0]
        if argument[1] != NULL:
            node = _comparable(argument, lead, whole)[0]
        kind = checked_types(node, argument[1])
        if argument[1] == OPEN and isinstance(node, Column):
            kind = node.type or TEXT
        nodes.append(node)
        types.append(kind)
    distinct = {kind for kind in types if kind != NULL}
    if not distinct:
        return Call("coalesce", tuple(nodes)), NULL
    if {kind.name for kind in distinct} <= set(_NUMERIC) and len(distinct) > 1:
        return Call("coalesce", tuple(map(_as_number, nodes))), NUMBER
    if len({replace(kind, unit="", zone=None) for kind in distinct}) > 1:
        raise TypeError(f"the parts of {text(whole)} must be of one type, got {', '.join(sorted(map(str, distinct)))}")
    (result,) = {kind for kind in [lead[1] if lead[1] in distinct else next(iter(distinct))]}
    return Call("coalesce", tuple(nodes)), result


_CASTS = {
    "number": ("integer", "number", "decimal", "boolean", "text", "null"),
    "integer": ("integer", "boolean", "text", "null"),
    "text": ("text", "integer", "boolean", "date", "null"),
    "date": ("date", "text", "datetime", "null"),
}
_TO = {"number": NUMBER, "integer": INTEGER, "text": TEXT, "date": DATE}


def _cast(operand: tuple[Node, Type], to: str, whole: Node) -> tuple[Node, Type]:
    node, known = operand
    if known == OPEN:
        if to == "number":
            return _as_numbers(node), NUMBER
        node, known = _as_text(node), TEXT
    if (known.name == "number" and to == "integer") or (known.name == "decimal" and to == "integer"):
        raise TypeError(f"{text(whole)} would have to round; write floor({text(node)}) or ceil({text(node)})")
    if known.name not in _CASTS[to] or (known.name == "datetime" and known.zone is not None):
        raise TypeError(f"{text(whole)} casts {_a(known)}, which cannot become {to}")
    if isinstance(node, Literal) and to == "number" and isinstance(node.value, int | Decimal):
        return _float_literal(node), NUMBER
    if isinstance(node, Literal) and to == "date" and isinstance(node.value, str):
        return _timed(node, DATE, whole)
    return (node if known == _TO[to] else Cast(node, to)), _TO[to]


def _float_literal(node: Literal) -> Literal:
    value = node.value
    assert isinstance(value, int | Decimal)
    return Literal(Decimal(value), NUMBER)


def _literal_type(value: Constant) -> Type:
    match value:
        case None:
            return NULL
        case bool():
            return BOOLEAN
        case int():
            return INTEGER if value in INTEGERS else _decimal_type(Decimal(value))
        case Decimal():
            return _decimal_type(value)
        case str():
            if len(value) > _LONGEST:
                raise ValueError(f"a text in an expression may have at most {_LONGEST} characters, got {len(value)}")
            if not value.isascii() and value.encode(errors="replace").decode() != value:  # half of a surrogate pair
                raise ValueError(f"a text in an expression must be Unicode, got {value!a}")
            return TEXT
        case datetime():
            return Type("datetime", unit="us", zone=None if value.tzinfo is None else "UTC")
        case date():
            return DATE
        case time():
            return TIME


def _decimal_type(value: Decimal) -> Type:
    """The decimals that have a number as it was written, or the floats if it has too many digits."""
    if not value.is_finite() or isinf(float(value)):
        raise ValueError("a number in an expression must be within the range of float64")
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    scale = max(0, -exponent)
    precision = max(len(digits) + max(exponent, 0), scale, 1)
    return decimal(precision, scale) if precision <= MOST_DIGITS else NUMBER


def _a(known: Type) -> str:
    article = {
        "integer": "an integer",
        "open": "a column of no declared type",
        "text": "text",
        "other": "a column of another type",
        "null": "null",
    }
    return article.get(known.name, f"a {known}")
