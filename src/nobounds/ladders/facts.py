"""Public facts about a numeric column, kept apart from its records: all that a plan may use."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from nobounds.accounting.loss import Unit, rows_of
from nobounds.kinds.kind import BOOLEAN, NUMBER, Kind


@dataclass(frozen=True, slots=True)
class Facts:
    """What is public about a numeric column.

    integral, nullable: the type holds integers or booleans alone; it can hold a missing value.
    lower, upper: the bounds that the type itself states: booleans are 0 or 1, unsigned integers not below 0.
    declared: False for a column of text that may or may not be numbers.
    unit: whom privacy is for; no unit has more records than its `rows`.
    name, query: the name of the column, and whether its rows are the result of a query; both appear in a release.
    counted: whether its records stand for the rows of a table, whatever is in them.
    rows: the number of records, missing ones included, where it is public: under swap.
    kind: the type that answers are written in; records and plans are numbers.
    """

    integral: bool
    nullable: bool
    lower: int | Fraction | None = field(default=None, repr=False)
    upper: int | Fraction | None = field(default=None, repr=False)
    declared: bool = field(default=True, repr=False)
    unit: Unit = field(default=Unit(), repr=False)
    name: str | None = field(default=None, repr=False)
    query: bool = field(default=False, repr=False)
    counted: bool = field(default=False, repr=False)
    rows: int | None = field(default=None, repr=False)
    kind: Kind = field(default=NUMBER, repr=False)

    @classmethod
    def of(cls, kind: Kind, *, nullable: bool = True) -> "Facts":
        """The facts that a type states."""
        whole = kind.name in ("integer", "boolean", "date")
        return cls(whole, nullable, lower=kind.lower, upper=kind.upper, kind=kind)

    def origin(self) -> dict[str, Any]:
        """For the parameters of a release: the column, and what its rows are rows of."""
        return ({} if self.name is None or self.counted else {"column": self.name}) | rows_of(self.query)


@dataclass(frozen=True, slots=True)
class VectorFacts:
    """What is public about vectors: how many numbers each has, and the facts of their norms."""

    dimensions: int
    norms: Facts


def type_bounds(*, boolean: bool, unsigned: bool) -> dict[str, Any]:
    """The `lower`, `upper` and `kind` that a type of numbers states."""
    return {"lower": 0, "upper": 1, "kind": BOOLEAN} if boolean else {"lower": 0} if unsigned else {}
