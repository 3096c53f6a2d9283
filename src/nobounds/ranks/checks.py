"""Checks of ranks and of stated numbers of records."""

from collections.abc import Iterable
from fractions import Fraction

from nobounds.exact import Number, rational


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
