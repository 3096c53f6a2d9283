"""Options of a quantile: what the user states about the data, and the expert settings, all of them public."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from nobounds.exact import Number, rational
from nobounds.ladders.facts import Facts
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.rungs import MOST_BITS
from nobounds.ladders.stated import DEFAULT_BITS, Stated
from nobounds.noise.discrete import Noise, check_noise
from nobounds.ranks.problem import Method, check_method, check_rows
from nobounds.values import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """How a quantile is searched for.

    rows: the number of records, as the user states it.
    bits: mantissa bits of the candidates; None lets them grow finer with the number of records.
    own: a ladder given by the user, which replaces the one that follows from `stated` and `bits`.
    """

    stated: Stated
    rows: int | None = None
    bits: int | None = None
    own: Ladder | None = None
    noise: Noise = "exponential"
    method: Method = "auto"

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "Options":
        """The options among the keywords that the user gives, checked."""
        lower, upper, resolution = (given.get(name) for name in ("lower", "upper", "resolution"))
        beta, ladder, rows = (given.get(name) for name in ("beta", "ladder", "rows"))
        if ladder is not None and not isinstance(ladder, Ladder):
            raise TypeError(f"ladder must be a nobounds.Ladder, got ladder of type {type(ladder).__name__}")
        if ladder is not None and (beta is not None or resolution is not None):
            raise ValueError("ladder cannot be combined with beta or resolution: it has its own steps")
        return cls(
            Stated.of(lower, upper, resolution),
            None if rows is None else check_rows(rows),
            None if beta is None else _bits(beta),
            ladder,
            check_noise(given.get("noise", "exponential")),
            check_method(given.get("method", "auto")),
        )

    @property
    def grows(self) -> bool:
        """Whether the candidates grow finer with the number of records."""
        return self.bits is None and self.own is None

    def ladder(self, facts: Facts) -> Ladder:
        """The candidates for a column."""
        if self.own is not None:
            return self.stated.limited(self.own, facts)
        return self.stated.ladder(facts, DEFAULT_BITS if self.bits is None else self.bits)


def _bits(beta: Number) -> int:
    """The fewest mantissa bits whose steps are within beta."""
    ratio = rational(beta, "beta")
    if ratio <= 1:
        raise ValueError(f"beta must be greater than 1, got beta={beta!r}")
    return next((bits for bits in range(MOST_BITS) if Fraction(1, 2**bits) <= ratio - 1), MOST_BITS)
