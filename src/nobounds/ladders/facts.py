"""Public facts about a numeric column, kept apart from its records: all that a plan may use."""

from dataclasses import field
from fractions import Fraction
from typing import Any

from nobounds.accounting.loss import Unit, rows_of
from nobounds.kinds.kind import BOOLEAN, NUMBER, Kind
from nobounds.values import dataclass


@dataclass(frozen=True, slots=True)
class Facts:
    """What is public about a numeric column.

    integral, nullable: the type holds integers or booleans alone; it can hold a missing value.
    lower, upper: the bounds that the type itself states: booleans are 0 or 1, unsigned integers not below 0.
    declared: False for a column that may or may not be of numbers.
    texts: whether its records are texts that no type was declared for, read as numbers.
    unit: whom privacy is for; no unit has more records than its `rows`.
    name, query: the name of the column, and whether its rows are the result of a query; both appear in a release.
    where, formulas: the condition on the rows, and the names and formulas of computed columns; both in SQL.
    counted: whether its records stand for the rows of a table, whatever is in them.
    rows: the number of records, missing ones included, where it is public: under swap.
    size: a noisy number of records that are not missing, if another part of the same request has paid for it.
    kind: the type that answers are written in; records and plans are numbers.
    """

    integral: bool
    nullable: bool
    lower: int | Fraction | None = field(default=None, repr=False)
    upper: int | Fraction | None = field(default=None, repr=False)
    declared: bool = field(default=True, repr=False)
    texts: bool = field(default=False, repr=False)
    unit: Unit = field(default=Unit(), repr=False)
    name: str | None = field(default=None, repr=False)
    query: bool = field(default=False, repr=False)
    counted: bool = field(default=False, repr=False)
    rows: int | None = field(default=None, repr=False)
    size: int | None = field(default=None, repr=False)
    kind: Kind = field(default=NUMBER, repr=False)
    where: str | None = field(default=None, repr=False)
    formulas: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, kind: Kind, *, nullable: bool = True) -> "Facts":
        """The facts that a type states."""
        whole = kind.name in ("integer", "boolean", "date")
        return cls(whole, nullable, lower=kind.lower, upper=kind.upper, kind=kind)

    def origin(self) -> dict[str, Any]:
        """For the parameters of a release: the column, its formula, which rows count, and what they are rows of."""
        column = {} if self.name is None or self.counted else {"column": self.name}
        return column | viewed(self.where, self.formulas) | rows_of(self.query)

    def purpose(self, statistic: str) -> str:
        """What a charge is for, as a budget's ledger states it."""
        of = "" if self.name is None else f" of {self.name}"
        return f"{statistic}{of}{where_in_words(self.where)}"


def viewed(where: str | None, formulas: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    """For the parameters of a release: the condition on the rows, and the formulas of computed columns."""
    return ({} if where is None else {"where": where}) | ({"formulas": dict(formulas)} if formulas else {})


def where_in_words(where: str | None) -> str:
    """The condition on the rows as the end of a sentence."""
    return "" if where is None else f" where {where}"


@dataclass(frozen=True, slots=True)
class VectorFacts:
    """What is public about vectors: how many numbers each has, and the facts of their norms."""

    dimensions: int
    norms: Facts


def type_bounds(*, boolean: bool, unsigned: bool) -> dict[str, Any]:
    """The `lower`, `upper` and `kind` that a type of numbers states."""
    return {"lower": 0, "upper": 1, "kind": BOOLEAN} if boolean else {"lower": 0} if unsigned else {}
