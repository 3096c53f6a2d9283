"""Column: what every engine makes of its data, a stream of float64 records and two public facts about their type.

A record becomes the float64 nearest to it (IEEE round-to-nearest, ties to even; beyond the range, an infinity), and a
missing record becomes NaN. That depends on the record alone, so the same number gives the same float in each engine.

Data are refused by public facts only: their type, dtype or number of dimensions. No message tells a value or a length.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from nobounds.accounting.loss import Unit
from nobounds.counting.scan import Chunks

CHUNK = 65_536
"""The number of records that are converted at a time."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of numbers: two public facts about its type, and its records as float64 chunks.

    `integral` says that the type is an integer or boolean type, and `nullable` that it can hold a missing value.
    `chunks` starts a pass over the records and may be called again; each chunk is a fresh contiguous array, with NaN
    for the missing records. `rows` counts all records, missing ones too: private unless neighbours have equal sizes.
    `lower` and `upper` are the bounds that the type itself states: booleans are 0 or 1, unsigned integers not below 0.
    `unit` says whom privacy is for, and that no unit has more records than its `rows`.
    """

    integral: bool
    nullable: bool
    chunks: Callable[[], Chunks] = field(repr=False)
    rows: Callable[[], int] = field(repr=False)
    lower: int | None = field(default=None, repr=False)
    upper: int | None = field(default=None, repr=False)
    unit: Unit = field(default=Unit(), repr=False)


def type_bounds(*, boolean: bool, unsigned: bool) -> dict[str, Any]:
    """The `lower` and `upper` of a Column that its type states."""
    return {"lower": 0, "upper": 1} if boolean else {"lower": 0} if unsigned else {}


def windows(length: int) -> Iterator[slice]:
    """The consecutive slices of at most CHUNK records that cover `length` records."""
    return (slice(start, start + CHUNK) for start in range(0, length, CHUNK))


def refuse_type(name: str, fix: str) -> TypeError:
    """The error for one column whose element type is not a type of real numbers."""
    return TypeError(f"data must have an integer, float or boolean type, got {name}; {fix}")


def refuse_frame(name: str) -> TypeError:
    """The error for a whole table where one column is wanted."""
    return TypeError(f"data must be one column, got a {name}; pass one column, for example df['income']")
