"""The SQL text of a tree: canonical, and read back to the same tree by `sql.parsed`."""

import re
from datetime import date, datetime, time
from decimal import Decimal

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

_PLAIN = re.compile(r"[a-z_][a-z0-9_]*", re.IGNORECASE | re.ASCII)
# Words that SQL would not read as a column.
_SQL = """
    all and any array as asc between by case cast coalesce collate column create cross current_date current_time
    current_timestamp date datetime desc distinct div else end escape except exists extract false filter first float
    for from full glob group having if ilike in inner int integer intersect interval into is isnull join last lateral
    left like limit map natural not notnull null numeric offset on or order outer over overlaps partition position
    precision qualify real regexp right rlike row rows select set similar smallint some struct substring table text
    then time timestamp timestamptz to trim true try_cast union unique unnest using values when where window with
    xor abs floor ceil ceiling bigint boolean bool char decimal double varchar string
"""
_WORDS = frozenset(_SQL.split())
_OR, _AND, _NOT, _COMPARED, _ADDED, _TIMES, _UNARY, _ATOM = range(8)
_LEVELS = {"+": _ADDED, "-": _ADDED, "*": _TIMES, "/": _TIMES, "%": _TIMES}


def text(node: Node) -> str:
    r"""The SQL text of a tree.

    >>> print(text(And((Comparison(">=", Column("age"), Literal(18)), In(Column("State of"), (Literal("NY"),))))))
    age >= 18 and "State of" in ('NY')
    """
    return _text(node)[0]


def name(column: str) -> str:
    """The name of a column as SQL, quoted if it has to be."""
    if _PLAIN.fullmatch(column) and column.lower() not in _WORDS:
        return column
    return '"' + column.replace('"', '""') + '"'


def _text(node: Node) -> tuple[str, int]:
    """The text, and how strongly it holds together."""
    match node:
        case Column(named):
            return name(named), _ATOM
        case Literal(value):
            return _literal(value)
        case Or(parts):
            return " or ".join(_inside(part, _AND) for part in parts), _OR
        case And(parts):
            return " and ".join(_inside(part, _NOT) for part in parts), _AND
        case Not(IsNull(operand)):
            return f"{_inside(operand, _ADDED)} is not null", _COMPARED
        case Not(In(operand, items)):
            return f"{_inside(operand, _ADDED)} not in ({_list(items)})", _COMPARED
        case Not(operand):
            return f"not {_inside(operand, _COMPARED)}", _NOT
        case IsNull(operand):
            return f"{_inside(operand, _ADDED)} is null", _COMPARED
        case In(operand, items):
            return f"{_inside(operand, _ADDED)} in ({_list(items)})", _COMPARED
        case Comparison(operator, left, right):
            return f"{_inside(left, _ADDED)} {operator} {_inside(right, _ADDED)}", _COMPARED
        case Arithmetic(operator, left, right):
            level = _LEVELS[operator]
            return f"{_inside(left, level)} {operator} {_inside(right, level + 1)}", level
        case Call("negative", (operand,)):
            return f"-{_inside(operand, _ATOM)}", _UNARY
        case Call("case", (*branches, last)):
            whens = zip(branches[::2], branches[1::2], strict=True)
            written = " ".join(f"when {text(condition)} then {text(value)}" for condition, value in whens)
            return f"case {written} else {text(last)} end", _ATOM
        case Call(function, arguments):
            return f"{function}({', '.join(map(text, arguments))})", _ATOM
        case Cast(operand, to):
            return f"cast({text(operand)} as {to})", _ATOM


def _inside(node: Node, level: int) -> str:
    written, own = _text(node)
    return written if own >= level else f"({written})"


def _list(items: tuple[Literal, ...]) -> str:
    return ", ".join(map(text, items))


def _literal(value: object) -> tuple[str, int]:
    match value:
        case None:
            return "null", _ATOM
        case bool():
            return str(value).lower(), _ATOM
        case int():
            return str(value), _ATOM if value >= 0 else _UNARY
        case Decimal():
            return _decimal(value), _ATOM if value >= 0 else _UNARY
        case datetime():
            kind = "timestamp" if value.tzinfo is None else "timestamptz"
            return f"{kind} '{value.isoformat(sep=' ')}'", _ATOM
        case date():
            return f"date '{value.isoformat()}'", _ATOM
        case time():
            return f"time '{value.isoformat()}'", _ATOM
        case _:
            return "'" + str(value).replace("'", "''") + "'", _ATOM


def _decimal(value: Decimal) -> str:
    """A number with a point or an exponent, so that it is read as a Decimal again."""
    if not -20 < value.adjusted() < 20:
        return str(value).lower() if "E" in str(value) else f"{value}e0"
    plain = format(value, "f")
    return plain if "." in plain else f"{plain}.0"
