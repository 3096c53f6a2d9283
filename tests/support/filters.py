"""Random expressions, a table with odd values of each type, and what an expression is by a loop over Python values.

The loop shares no code with the evaluator: it computes with Python's own exact integers, Decimals and dates.
"""

import math
import operator
import random
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pyarrow as pa

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

WHOLE = [0, 1, -1, 2, 3, 7, -5, 2**31, 2**53, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63), 10**18]
FLOATS = [0.0, -0.0, 1.0, -1.5, 0.1, 0.5, 2.0**53, 2.0**63, -(2.0**63), 1e308, -1e308, 5e-324, math.inf, -math.inf]
FLOATS += [math.nan, 3.0, 7.25, 1e18]
TEXTS = ["", "a", "A", "b", "aa", "NY", "nj", "é", "z", "ß", "\U0001f600", "\uffff", "12", " 7 ", "1e3", "2024-02-29"]
TEXTS += ["x'y", "2023-02-29", "0x1", "-3.5", "nan", "inf", "1_0", "\u0663", "9" * 30, "true", "%", "\\", '"', "--"]
DAYS = [date(1, 1, 1), date(9999, 12, 31), date(1970, 1, 1), date(1969, 12, 31), date(2024, 2, 29), date(2024, 3, 1)]
MONEY = [Decimal("0.00"), Decimal("0.10"), Decimal("-1.50"), Decimal("12345678.90"), Decimal("99999999.99")]
MONEY += [Decimal("3.00"), Decimal("-99999999.99")]
KINDS = {
    "integer": ["i", "j"],
    "number": ["f", "g"],
    "decimal": ["m"],
    "text": ["s", "r"],
    "boolean": ["b", "c"],
    "date": ["d", "e"],
    "datetime": ["t", "u"],
    "zoned": ["z"],
}


def records(count: int, seed: int = 22) -> dict[str, list]:
    """The columns of a table as lists, `id` and others with nulls."""
    rng = random.Random(seed)

    def column(values: list, make) -> list:
        return [
            None if rng.random() < 0.15 else rng.choice(values) if rng.random() < 0.6 else make() for _ in range(count)
        ]

    def moment() -> datetime:
        return datetime(2024, 1, 1) + timedelta(microseconds=rng.randrange(10**13))

    times = [
        datetime(1, 1, 2),
        datetime(9999, 12, 30, 23, 59, 59, 999999),
        datetime(2024, 1, 1),
        datetime(1969, 12, 31, 23),
    ]
    table = {
        "i": column(WHOLE, lambda: rng.randrange(-(2**63), 2**63)),
        "j": column([0, 1, 2, 3], lambda: rng.randrange(-20, 20)),
        "f": column(FLOATS, lambda: rng.uniform(-10, 10)),
        "g": column([0.0, 0.5, 1.0, 2.0], lambda: rng.randrange(-40, 40) / 4),
        "m": column(MONEY, lambda: Decimal(rng.randrange(-(10**6), 10**6)).scaleb(-2)),
        "s": column(TEXTS, lambda: rng.choice("abcdéz") * rng.randrange(3)),
        "r": column(TEXTS, lambda: rng.choice("abz") + rng.choice("abz")),
        "b": column([True, False], lambda: rng.random() < 0.5),
        "c": column([True, False], lambda: rng.random() < 0.5),
        "d": column(DAYS, lambda: date(2024, 1, 1) + timedelta(days=rng.randrange(400))),
        "e": column(DAYS, lambda: date(2024, 1, 1) + timedelta(days=rng.randrange(400))),
        "t": column(times, moment),
        "u": column(times, moment),
    }
    table["z"] = [None if value is None else value.replace(tzinfo=UTC) for value in column(times, moment)]
    return {"id": list(range(count)), **table}


def arrow(columns: dict[str, list]) -> pa.Table:
    """The columns as an Arrow table."""
    kinds = dict(zip("ijfgmsrbcdetuz", [pa.int64()] * 2 + [pa.float64()] * 2 + [pa.decimal128(10, 2)], strict=False))
    kinds |= {"s": pa.string(), "r": pa.string(), "b": pa.bool_(), "c": pa.bool_(), "d": pa.date32(), "e": pa.date32()}
    kinds |= {"t": pa.timestamp("us"), "u": pa.timestamp("us"), "z": pa.timestamp("us", "UTC"), "id": pa.int64()}
    return pa.table({name: pa.array(values, type=kinds[name]) for name, values in columns.items()})


class Writer:
    """Writes random expressions of a type."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def condition(self, depth: int = 3) -> Node:
        """A random condition."""
        rng = self.rng
        kind = rng.choice(["in", "null", "and", "or", "not", "between", "boolean", "truth", *["compare"] * 3])
        if depth == 0 and kind in ("and", "or", "not"):
            kind = "compare"
        match kind:
            case "and" | "or":
                parts = tuple(self.condition(depth - 1) for _ in range(rng.choice([2, 2, 3])))
                return And(parts) if kind == "and" else Or(parts)
            case "not":
                return Not(self.condition(depth - 1))
            case "null":
                return IsNull(self.value(rng.choice(list(KINDS)), depth))
            case "boolean":
                return Column(rng.choice(KINDS["boolean"]))
            case "truth":
                return Literal(rng.choice([True, False, None]))
            case "in":
                of = rng.choice(["integer", "number", "decimal", "text", "date", "datetime", "zoned"])
                items = tuple(self.literal(of) for _ in range(rng.randrange(1, 5)))
                items += (Literal(None),) if rng.random() < 0.2 else ()
                return In(self.value(of, depth), items)
            case "between":
                of = rng.choice(["integer", "number", "decimal", "text", "date", "datetime", "zoned"])
                left = self.value(of, depth)
                return And((Comparison(">=", left, self.literal(of)), Comparison("<=", left, self.value(of, depth))))
        of = rng.choice(list(KINDS))
        numeric = ["integer", "number", "decimal"]
        other = rng.choice(numeric) if of in numeric else of
        right = self.literal(other) if rng.random() < 0.5 else self.value(other, depth)
        return Comparison(rng.choice(["=", "<>", "<", "<=", ">", ">="]), self.value(of, depth), right)

    def value(self, kind: str, depth: int) -> Node:
        """A random expression of a type."""
        rng = self.rng
        column = Column(rng.choice(KINDS[kind]))
        if depth == 0 or rng.random() < 0.4:
            return column
        choices = ["coalesce", "case"]
        choices += {"integer": ["+", "-", "*", "%", "negative", "abs", "floor", "days", "parse", "bool"]}.get(kind, [])
        choices += {"number": ["+", "-", "*", "/", "%", "negative", "abs", "seconds", "parse", "cast"]}.get(kind, [])
        choices += {"date": ["parse", "day"], "text": ["write"], "boolean": ["inner"]}.get(kind, [])
        choice = rng.choice(choices)
        numeric = rng.choice(["integer", "number", "decimal"]) if kind == "number" else "integer"
        match choice:
            case "coalesce":
                other = (
                    self.literal(kind) if rng.random() < 0.4 and kind != "decimal" else Column(rng.choice(KINDS[kind]))
                )
                return Call("coalesce", (column, other))
            case "case":
                values = [self.value(kind, depth - 1), Literal(None) if rng.random() < 0.3 else column]
                branches = (part for each in values for part in (self.condition(depth - 1), each))
                return Call("case", (*branches, Column(rng.choice(KINDS[kind]))))
            case "+" | "-" | "*" | "/" | "%":
                left = self.value(kind if choice != "/" else numeric, depth - 1)
                right = self.literal(numeric) if rng.random() < 0.4 else self.value(numeric, depth - 1)
                pair = (left, right) if rng.random() < 0.5 else (right, left)
                return Arithmetic(choice, *pair)
            case "negative" | "abs":
                return Call(choice, (self.value(kind, depth - 1),))
            case "floor":
                return Call(rng.choice(["floor", "ceil"]), (self.value(rng.choice(["number", "decimal"]), depth - 1),))
            case "days":
                return Arithmetic("-", self.value("date", depth - 1), self.value("date", depth - 1))
            case "seconds":
                of = rng.choice(["datetime", "zoned"])
                return Arithmetic("-", self.value(of, depth - 1), self.value(of, depth - 1))
            case "parse":
                return Cast(self.value("text", depth - 1), kind)
            case "cast":
                return Cast(self.value(rng.choice(["integer", "decimal", "boolean"]), depth - 1), "number")
            case "bool":
                return Cast(self.value("boolean", depth - 1), "integer")
            case "day":
                return Cast(self.value("datetime", depth - 1), "date")
            case "write":
                return Cast(self.value(rng.choice(["integer", "boolean", "date"]), depth - 1), "text")
            case _:
                return self.condition(depth - 1)

    def literal(self, kind: str) -> Literal:
        """A random constant; times as texts, sometimes."""
        rng = self.rng
        match kind:
            case "integer":
                return Literal(rng.choice([*WHOLE, 2, 5, 10]))
            case "number":
                finite = [x for x in FLOATS if math.isfinite(x)]
                return Literal(Decimal(repr(rng.choice([*finite, rng.randrange(-20, 20) / 4]) + 0.0)))
            case "decimal":
                return Literal(rng.choice(MONEY))
            case "text":
                return Literal(rng.choice(TEXTS))
            case "boolean":
                return Literal(rng.random() < 0.5)
            case "date":
                return Literal(rng.choice(DAYS))
        moment = rng.choice([datetime(2024, 1, 1), datetime(1969, 12, 31, 23), datetime(2024, 2, 1, 12, 30, 0, 500)])
        return Literal(moment.replace(tzinfo=UTC) if kind == "zoned" else moment)


COMPARE = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def fitting(whole: int | None) -> int | None:
    """An integer of 64 bits, or None."""
    return whole if whole is not None and -(2**63) <= whole < 2**63 else None


def value(node: Node, row: dict) -> object:
    """The value of an expression for a row, None for null."""
    match node:
        case Column(name):
            return None if isinstance(row[name], float) and math.isnan(row[name]) else row[name]
        case Literal(constant):
            return constant
        case Comparison(sign, left, right):
            return compared(COMPARE[sign], value(left, row), value(right, row))
        case And(parts):
            found = [value(part, row) for part in parts]
            return False if False in found else None if None in found else True
        case Or(parts):
            found = [value(part, row) for part in parts]
            return True if True in found else None if None in found else False
        case Not(operand):
            found = value(operand, row)
            return None if found is None else not found
        case IsNull(operand):
            return value(operand, row) is None
        case In(operand, items):
            same = [compared(operator.eq, value(operand, row), item.value) for item in items]
            return True if True in same else None if None in same else False
        case Arithmetic(sign, left, right):
            return arithmetic(sign, value(left, row), value(right, row))
        case Call("coalesce", arguments):
            return next((found for part in arguments if (found := value(part, row)) is not None), None)
        case Call("case", (*branches, last)):
            whens = zip(branches[::2], branches[1::2], strict=True)
            return value(next((chosen for when, chosen in whens if value(when, row) is True), last), row)
        case Call(function, (argument,)):
            return called(function, value(argument, row))
        case Cast(operand, to):
            return cast(value(operand, row), to)


def compared(compare, a: object, b: object) -> bool | None:
    if a is None or b is None:
        return None
    if {type(a), type(b)} == {float, Decimal}:
        a, b = float(a), float(b)
    return bool(compare(a, b))


def arithmetic(sign: str, a: object, b: object) -> object:
    if a is None or b is None:
        return None
    if isinstance(a, datetime):
        between = a - b
        return float(between.days * 86_400 + between.seconds) + between.microseconds * 1000 / 1e9
    if isinstance(a, date):
        return (a - b).days
    if isinstance(a, int) and isinstance(b, int) and sign != "/":
        if sign == "%":
            found = None if b == 0 else int(math.copysign(1, a)) * (abs(a) % abs(b))
        else:
            found = {"+": a + b, "-": a - b, "*": a * b}[sign]
        return fitting(found)
    a, b = float(a), float(b)
    try:
        found = {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: a / b}.get(
            sign, lambda: math.fmod(a, b)
        )()
    except (ZeroDivisionError, ValueError):
        return None
    return found + 0.0 if math.isfinite(found) else None


def called(function: str, a: object) -> object:
    if a is None:
        return None
    if function in ("floor", "ceil"):
        a = float(a) if isinstance(a, Decimal) else a
        if not math.isfinite(a):
            return None
        return fitting(getattr(math, function)(a))
    a = float(a) if isinstance(a, Decimal) else a
    found = -a if function == "negative" else abs(a)
    if isinstance(found, int):
        return fitting(found)
    return found + 0.0 if math.isfinite(found) else None


def cast(a: object, to: str) -> object:
    if a is None:
        return None
    match to:
        case "number":
            if not isinstance(a, str):
                return float(a)
            try:
                found = float(a) if a.isascii() and "_" not in a else math.nan
            except ValueError:
                return None
            return None if math.isnan(found) else found
        case "integer":
            if not isinstance(a, str):
                return int(a)
            digits = a.strip().lstrip("+-")
            plain = a.isascii() and digits.isdigit() and len(a.strip()) - len(digits) <= 1
            return fitting(int(a)) if plain else None
        case "text":
            return (
                {True: "true", False: "false"}[a]
                if isinstance(a, bool)
                else a.isoformat()
                if isinstance(a, date)
                else str(a)
            )
        case _:
            if isinstance(a, datetime):
                return a.date()
            try:
                return (
                    date.fromisoformat(a.strip())
                    if isinstance(a, str) and len(a.strip()) == 10
                    else a
                    if isinstance(a, date)
                    else None
                )
            except ValueError:
                return None
