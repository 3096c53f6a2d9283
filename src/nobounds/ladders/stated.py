"""What the user states about the values of a column, and the ladder that follows from it and from the column's type."""

from datetime import date, time, timedelta
from fractions import Fraction

import numpy as np

from nobounds.exact import rational
from nobounds.kinds.kind import DATE, DATETIME, DURATION, TIME, Given, Kind
from nobounds.ladders.facts import Facts
from nobounds.ladders.ladder import Ladder
from nobounds.values import dataclass

# Steps of 0.2 to 0.4%: the ladder that is counted on first, and that of a walk without a frame.
DEFAULT_BITS = 8


@dataclass(frozen=True, slots=True)
class Stated:
    """Public bounds on the values, and the grid that they lie on; None where the user states nothing.

    Values of a type, and texts, are kept as they are given until the type of the column is known.
    """

    lower: Given | None = None
    upper: Given | None = None
    resolution: Given | None = None

    @classmethod
    def of(cls, lower: Given | None = None, upper: Given | None = None, resolution: Given | None = None) -> "Stated":
        """What the user gives, numbers read exactly; an error for what is no value of any type."""
        return cls(_given(lower, "lower"), _given(upper, "upper"), _given(resolution, "resolution"))

    def in_kind(self, kind: Kind) -> tuple[Fraction | None, Fraction | None, Fraction | None]:
        """The bounds and the grid as numbers of a kind of columns; an error if they are of another."""
        return (
            None if self.lower is None else kind.number(self.lower, "lower"),
            None if self.upper is None else kind.number(self.upper, "upper"),
            None if self.resolution is None else kind.span(self.resolution, "resolution"),
        )

    def ladder(self, facts: Facts, bits: int = DEFAULT_BITS) -> Ladder:
        """The ladder for a column: a grid if its values lie on one, between the bounds stated by user or type."""
        grid = self.in_kind(facts.kind)[2]
        if grid is None:
            grid = Fraction(1) if facts.integral else facts.kind.resolution
        return self.limited(
            Ladder.float_bits(bits) if grid is None else Ladder.grid(grid, bits, clock=facts.kind.on_clock), facts
        )

    def limited(self, ladder: Ladder, facts: Facts) -> Ladder:
        """A ladder between the bounds stated by the user, or else by the type if that leaves a range.

        A type with values of its own has no others, so bounds beyond its range are those of the type.
        """
        low, high, _ = self.in_kind(facts.kind)
        if facts.kind.typed:
            low, high = _inside(low, facts.kind), _inside(high, facts.kind)
        if low is None and facts.lower is not None and (high is None or high > facts.lower):
            low = Fraction(facts.lower)
        if high is None and facts.upper is not None and (low is None or low < facts.upper):
            high = Fraction(facts.upper)
        return ladder.limited(low, high)


def _inside(bound: Fraction | None, kind: Kind) -> Fraction | None:
    assert kind.lower is not None and kind.upper is not None
    return None if bound is None else min(max(bound, kind.lower), kind.upper)


def _given(given: Given | None, name: str) -> Given | None:
    """A number exactly, or a value or a text of another type as it is."""
    if given is None or isinstance(given, date | time | timedelta | np.datetime64 | np.timedelta64):
        return given
    if isinstance(given, str) and any(kind.takes(given) for kind in (DATE, DATETIME, TIME, DURATION, _UTC)):
        return given
    try:
        return rational(given, name)
    except ValueError as error:
        if not isinstance(given, str):
            raise
        other = (
            "a span of time such as '1h' or '7d'"
            if name == "resolution"
            else "a value such as '2024-12-31' or '90 min'"
        )
        raise ValueError(f"{error}; of dates, times and durations give {other}") from None


_UTC = Kind("datetime", zone="UTC")
