"""A problem: the quantiles of a column, and the options of the search for them; all of it public, and checked."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Literal, TypeAlias, get_args

from nobounds.accounting.loss import Neighbors
from nobounds.exact import Number, rational
from nobounds.ladders.ladder import Ladder
from nobounds.noise.discrete import Noise
from nobounds.ranks.tuning import TUNING, RankTuning
from nobounds.values import dataclass

Method: TypeAlias = Literal["auto", "walk", "flip", "exponential"]


def check_method(method: object) -> Method:
    """The name of the method, checked."""
    if not isinstance(method, str) or method not in get_args(Method):
        raise ValueError(f"method must be one of {', '.join(get_args(Method))}, got method={method!r}")
    return method  # type: ignore[return-value]


def check_rank(q: Number) -> Fraction:
    """q as an exact rational between 0 and 1."""
    rank = rational(q, "q")
    if not 0 <= rank <= 1:
        raise ValueError(f"q must be between 0 and 1, got q={q!r}")
    return rank


def check_ranks(qs: Iterable[Number], name: str = "q") -> tuple[Fraction, ...]:
    """Ranks in the order given, at least one."""
    if isinstance(qs, str | bytes) or not isinstance(qs, Iterable):
        raise TypeError(f"{name} must be a list of numbers between 0 and 1, got {type(qs).__name__}; for one give [q]")
    ranks = tuple(check_rank(q) for q in qs)
    if not ranks:
        raise ValueError(f"{name} must have at least one number between 0 and 1, got none")
    return ranks


def check_rows(rows: Number) -> int:
    """The number of records that the user states."""
    stated = rational(rows, "rows")
    if stated < 0 or stated.denominator != 1:
        raise ValueError(f"rows must be a whole number of records, got rows={rows!r}")
    return int(stated)


@dataclass(frozen=True, slots=True)
class Problem:
    """Quantiles of one column.

    nullable: whether a record can be missing.
    rows, stated: the number of rows under swap, or the number of records as the user states it.
    grows: whether the ladder grows finer with the number of records.
    """

    qs: tuple[Fraction, ...]
    ladder: Ladder
    neighbors: Neighbors
    nullable: bool = True
    rows: int | None = None
    stated: bool = False
    noise: Noise = "exponential"
    method: Method = "walk"
    grows: bool = False
    tuning: RankTuning = TUNING

    def __hash__(self) -> int:
        """Of what differs most: hashing all constants would take much longer."""
        return hash((self.qs, self.neighbors, self.rows, self.method))
