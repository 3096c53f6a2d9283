"""Expressions from SQL text, by sqlglot: a small part of SQL, and all else is refused by its name."""

from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, NoReturn

from nobounds.exact import shown
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
    check_size,
)

KNOWN = (
    "an expression may use =, <>, <, <=, >, >=, and, or, not, in, between, is null, +, -, *, /, %, abs, floor, ceil, "
    "coalesce, case and cast to number, integer, text or date; other functions of one row can be computed before, in a "
    "column of the table"
)
_LONGEST = 100_000  # characters

_COMPARISONS = {"EQ": "=", "NEQ": "<>", "LT": "<", "LTE": "<=", "GT": ">", "GTE": ">="}
_ARITHMETIC = {"Add": "+", "Sub": "-", "Mul": "*", "Div": "/", "Mod": "%"}
_FUNCTIONS = {"Abs": "abs", "Floor": "floor", "Ceil": "ceil"}
_TO = {
    "number": ("DOUBLE", "FLOAT", "DECIMAL"),  # number is another word for decimal in sqlglot
    "integer": ("INT", "BIGINT"),
    "text": ("VARCHAR", "TEXT", "CHAR"),
    "date": ("DATE",),
}
_TARGETS = {name: to for to, names in _TO.items() for name in names}
_TIMES: dict[str, Callable[[str], date | datetime | time]] = {
    "DATE": date.fromisoformat,
    "TIME": time.fromisoformat,
    "TIMESTAMP": datetime.fromisoformat,
    "TIMESTAMPNTZ": datetime.fromisoformat,
    "TIMESTAMPTZ": datetime.fromisoformat,
    "DATETIME": datetime.fromisoformat,
}
_WHAT = {
    "Rand": "the function random",
    "Window": "the window function",
    "Subquery": "the subquery",
    "Select": "the subquery",
}
_WHAT |= {"If": "the function if", "Exists": "the subquery after exists"}


def parsed(text: str) -> Node:
    """The tree of an SQL expression; ValueError if it is none, or has something that a row alone cannot answer.

    >>> parsed("age between 18 and 65")
    And(parts=(Comparison(operator='>=', ...), Comparison(operator='<=', ...)))
    """
    if not isinstance(text, str):
        raise TypeError(f"an expression must be a text, or one of polars or DuckDB, got {type(text).__name__}")
    if not text.strip():
        raise ValueError(f"an expression must not be empty; {KNOWN}")
    if len(text) > _LONGEST:
        raise ValueError(f"an expression may have at most {_LONGEST} characters, got {len(text)}")
    return from_syntax(_syntax(text))


def from_syntax(syntax: Any, column: Callable[[Any], Node] | None = None) -> Node:
    """The tree of an expression of sqlglot; `column` says what a column of it stands for."""
    node = _node(syntax, column or _column)
    check_size(node)
    return node


def _syntax(text: str) -> Any:
    """The syntax tree of sqlglot."""
    sqlglot = import_sqlglot()
    try:
        # As a condition, so that a statement is not one.
        statements = [each for each in sqlglot.parse(f"select ({text}\n)") if each is not None]
    except (sqlglot.errors.SqlglotError, RecursionError):
        quotes = 'a name that is a word of SQL or has spaces goes in double quotes, as in "when" > 3'
        raise ValueError(f"{shown(text)} is not an SQL expression that nobounds can read; {quotes}; {KNOWN}") from None
    if len(statements) != 1 or type(statements[0]).__name__ != "Select" or not _is_whole(text):
        raise ValueError(f"{shown(text)} must be one SQL expression; {KNOWN}")
    selected = statements[0].expressions
    others = [key for key, value in statements[0].args.items() if value and key not in ("expressions", "kind")]
    if len(selected) != 1 or others:
        raise ValueError(f"{shown(text)} must be one SQL expression; {KNOWN}")
    return selected[0]


def _is_whole(text: str) -> bool:
    """Whether an expression ends where its text does: without a semicolon, and no parenthesis closes ours."""
    depth = 0
    for token in import_sqlglot().tokenize(text):
        name = token.token_type.name
        depth += (name == "L_PAREN") - (name == "R_PAREN")
        if depth < 0 or name == "SEMICOLON":
            return False
    return True


def after_semicolon(text: str, dialect: str | None = None) -> bool:
    """Whether anything but semicolons follows one; sqlglot reads some words there as no statement."""
    kinds = [token.token_type.name for token in import_sqlglot().tokenize(text, read=dialect)]
    return "SEMICOLON" in kinds and set(kinds[kinds.index("SEMICOLON") :]) != {"SEMICOLON"}


def _node(given: Any, column: Callable[[Any], Node], depth: int = 0) -> Node:
    """Our tree of a syntax tree."""
    if depth > 300:
        raise ValueError("an expression may not be nested so deep; prepare the column before")
    kind = type(given).__name__

    def inner(part: Any) -> Node:
        return _node(part, column, depth + 1)

    match kind:
        case "Paren":
            return inner(given.this)
        case "Column":
            return column(given)
        case "Literal":
            return Literal(given.this if given.is_string else _number(given.this))
        case "Boolean":
            return Literal(bool(given.this))
        case "Null":
            return Literal(None)
        case "Neg":
            return negative(inner(given.this))
        case "And" | "Or":
            return _chain([inner(part) for part in given.flatten()], And if kind == "And" else Or)
        case "Not":
            return Not(inner(given.this))
        case "Is":
            return _is(given, inner)
        case "Between":
            operand, low, high = inner(given.this), inner(given.args["low"]), inner(given.args["high"])
            if given.args.get("symmetric"):
                refused("between symmetric")
            return And((Comparison(">=", operand, low), Comparison("<=", operand, high)))
        case "In":
            return _in(given, inner)
        case "Coalesce":
            return Call("coalesce", tuple(map(inner, [given.this, *given.expressions])))
        case "Case":
            return _case(given, inner)
        case "Cast":
            return _cast(given, inner)
    if kind in _COMPARISONS:
        return Comparison(_COMPARISONS[kind], inner(given.this), inner(given.expression))
    if kind in _ARITHMETIC:
        return Arithmetic(_ARITHMETIC[kind], inner(given.this), inner(given.expression))
    if kind in _FUNCTIONS and len([part for part in given.args.values() if part]) == 1:
        return Call(_FUNCTIONS[kind], (inner(given.this),))
    _refuse(given)


def _chain(nodes: list[Node], kind: type[And] | type[Or]) -> Node:
    """One node for a chain of the same word, also where it has parentheses."""
    return kind(tuple(part for node in nodes for part in (node.parts if isinstance(node, kind) else (node,))))


def negative(operand: Node) -> Node:
    """The opposite of a number; a constant with a sign is one constant, to its last digit."""
    if isinstance(operand, Literal) and isinstance(operand.value, Decimal):
        return Literal(operand.value.copy_negate() if operand.value else operand.value)
    if isinstance(operand, Literal) and isinstance(operand.value, int) and not isinstance(operand.value, bool):
        return Literal(-operand.value)
    return Call("negative", (operand,))


def _column(given: Any) -> Column:
    if given.args.get("table") is not None:
        raise ValueError(f"a column is called by its name alone, got {shown(given.sql())}; write {given.name}")
    if type(given.this).__name__ != "Identifier":
        refused(f"{given.sql()}")
    return Column(given.name)


def _number(text: str) -> int | Decimal:
    try:
        return int(text) if text.isdigit() else Decimal(text)
    except (ValueError, ArithmeticError):
        raise ValueError(f"{shown(text)} is not a number in an expression; {KNOWN}") from None


def _is(given: Any, inner: Callable[[Any], Node]) -> Node:
    right = type(given.expression).__name__
    if right == "Null":
        return IsNull(inner(given.this))
    if right == "Boolean":
        truth = inner(given.this)
        return Call("coalesce", (truth if given.expression.this else Not(truth), Literal(False)))
    refused(f"is {given.expression.sql()}")


def _in(given: Any, inner: Callable[[Any], Node]) -> Node:
    others = [key for key, value in given.args.items() if value and key not in ("this", "expressions")]
    if others or not given.expressions:
        refused("the subquery after in", "write the values of in (...) out")
    items = [inner(item) for item in given.expressions]
    constants = [item for item in items if isinstance(item, Literal)]
    if len(constants) < len(items):
        raise ValueError("in (...) takes constants alone; compare with columns by = and or")
    return In(inner(given.this), tuple(constants))


def _case(given: Any, inner: Callable[[Any], Node]) -> Node:
    """Both forms of case: with conditions, and with values that one operand is compared with."""
    operand = None if given.this is None else inner(given.this)
    arguments: list[Node] = []
    for branch in given.args["ifs"]:
        when = inner(branch.this)
        arguments += [when if operand is None else Comparison("=", operand, when), inner(branch.args["true"])]
    last = given.args.get("default")
    return Call("case", (*arguments, Literal(None) if last is None else inner(last)))


def _cast(given: Any, inner: Callable[[Any], Node]) -> Node:
    others = [name for name, part in given.args.items() if part and name not in ("this", "to")]
    if others:
        refused(f"a cast with {others[0]}", "what cannot be cast is null")
    target, operand = given.to, inner(given.this)
    plain = str(getattr(target.this, "name", target.this))
    if isinstance(operand, Literal) and isinstance(operand.value, str) and plain in _TIMES:
        try:
            return Literal(_TIMES[plain](operand.value.strip()))
        except ValueError:
            raise ValueError(f"{shown(operand.value)} is not a {plain.lower()}; write it like 2024-12-31") from None
    if isinstance(operand, Literal) and plain == "DECIMAL" and target.expressions:
        return _decimal(operand, [int(each.name) for each in target.expressions])
    to = None if target.expressions else _TARGETS.get(plain)
    if to is None:
        refused(f"a cast to {target.sql().lower()}")
    return Cast(operand, to)


def _decimal(operand: Literal, digits: list[int]) -> Literal:
    """A constant with the type of a decimal, as DuckDB writes it."""
    scale = (*digits, 0)[1]
    value = _number(operand.value) if isinstance(operand.value, str) else operand.value
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        exact = Decimal(value)
        _, figures, exponent = exact.as_tuple()
        if isinstance(exponent, int) and not any(
            figures[len(figures) + exponent + scale :] if -exponent > scale else ()
        ):
            return Literal(exact)
    refused(f"a cast of {shown(operand.value)} to a decimal of {scale} places")


def _refuse(given: Any) -> NoReturn:
    """Refuse a part of SQL by its name."""
    kind = type(given).__name__
    sqlglot = import_sqlglot()
    if kind == "Anonymous":
        refused(f"the function {given.name.lower()}")
    if isinstance(given, sqlglot.exp.AggFunc):
        refused(f"the aggregate {given.sql_name().lower()}", "a filter sees one row at a time")
    if isinstance(given, sqlglot.exp.Func) and kind not in _WHAT:
        refused(f"the function {given.sql_name().lower()}")
    refused(_WHAT.get(kind, shown(given.sql())))


def refused(what: str, why: str = KNOWN) -> NoReturn:
    """The error for something that is not allowed in a filter or a formula."""
    raise ValueError(f"{what} is not allowed in an expression on rows; {why}")


def import_sqlglot() -> Any:
    """The sqlglot module, imported on demand; ImportError with the fix if it is not installed."""
    try:
        import sqlglot
    except ImportError:
        raise ImportError("expressions need sqlglot: pip install 'nobounds[all]'") from None
    return sqlglot
