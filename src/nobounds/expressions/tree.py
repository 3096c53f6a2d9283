"""The tree of an expression on one row: columns, constants, and operations that are defined for all values.

The same tree is read from SQL, polars and DuckDB, checked by `check`, written by `text` and computed by `evaluate`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import date, datetime, time
from decimal import Decimal
from typing import TypeAlias

from nobounds.expressions.types import Type
from nobounds.values import dataclass

Constant: TypeAlias = bool | int | Decimal | str | date | datetime | time | None

LARGEST = 2_000
"""The most nodes of a tree."""
DEEPEST = 100
"""The most nodes from the top of a tree down to a column."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column by its name; `type` is None until it was checked.

    as_number: the column has no declared type, and is read as numbers, as statistics of numbers read it.
    """

    name: str
    type: Type | None = None
    as_number: bool = False


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant. A number that is not whole is a Decimal, as it was written; `type` is None until it was checked."""

    value: Constant
    type: Type | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left` compared with `right`, by one of =, <>, <, <=, > and >=; null if one of them is."""

    operator: str
    left: "Node"
    right: "Node"


@dataclass(frozen=True, slots=True)
class And:
    """False if a part is; else null if a part is; else true."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Or:
    """True if a part is; else null if a part is; else false."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite; null if the operand is."""

    operand: "Node"


@dataclass(frozen=True, slots=True)
class In:
    """Whether the operand equals one of some constants; null if it does not and one of them is null."""

    operand: "Node"
    items: tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class IsNull:
    """Whether the operand is null; never null itself."""

    operand: "Node"


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Two numbers joined by +, -, *, / or %; null if the result is not a finite number of its type."""

    operator: str
    left: "Node"
    right: "Node"


@dataclass(frozen=True, slots=True)
class Call:
    """A function of its arguments: negative, abs, floor, ceil, coalesce or case.

    The arguments of case are a condition and its value, in turn, and the value if none of the conditions is true.
    """

    function: str
    arguments: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Cast:
    """The operand as number, integer, text or date; null if it has no such form."""

    operand: "Node"
    to: str


Node: TypeAlias = Column | Literal | Comparison | And | Or | Not | In | IsNull | Arithmetic | Call | Cast


def parts(node: Node) -> tuple[Node, ...]:
    """The nodes right below a node."""
    match node:
        case Column() | Literal():
            return ()
        case Comparison(_, left, right) | Arithmetic(_, left, right):
            return (left, right)
        case And(several) | Or(several) | Call(_, several):
            return several
        case In(operand, items):
            return (operand, *items)
        case Not(operand) | IsNull(operand) | Cast(operand, _):
            return (operand,)


def rebuilt(node: Node, change: Callable[[Node], Node]) -> Node:
    """The node with each node right below it changed."""
    match node:
        case Column() | Literal():
            return node
        case Comparison(_, left, right) | Arithmetic(_, left, right):
            return replace(node, left=change(left), right=change(right))
        case And(several) | Or(several):
            return replace(node, parts=tuple(map(change, several)))
        case Call(_, several):
            return replace(node, arguments=tuple(map(change, several)))
        case In(operand, _) | Not(operand) | IsNull(operand) | Cast(operand, _):
            return replace(node, operand=change(operand))


def walk(node: Node) -> Iterator[Node]:
    """The node and all nodes below it."""
    waiting = [node]
    while waiting:
        yield (here := waiting.pop())
        waiting += reversed(parts(here))


def columns(node: Node) -> tuple[str, ...]:
    """The names of the columns in a tree, each once, in the order of the text."""
    return tuple(dict.fromkeys(here.name for here in walk(node) if isinstance(here, Column)))


def substituted(node: Node, formulas: Mapping[str, Node]) -> Node:
    """The tree with columns that have a formula replaced by it."""
    if isinstance(node, Column):
        return formulas.get(node.name, node)
    return rebuilt(node, lambda part: substituted(part, formulas))


def check_size(node: Node) -> None:
    """ValueError if a tree is too large or too deep to be computed safely."""
    level, size = [node], 0
    for _ in range(DEEPEST):
        size += len(level)
        if size > LARGEST:
            break
        level = [part for here in level for part in parts(here)]
        if not level:
            return
    raise ValueError(
        f"an expression may have at most {LARGEST} parts and {DEEPEST} levels; "
        "write a long list of values with in (...), or prepare the column before"
    )
