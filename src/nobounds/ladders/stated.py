"""What the user states about the values of a column, and the ladder that follows from it and from the column's type."""

from dataclasses import dataclass
from fractions import Fraction

from nobounds.exact import Number, rational
from nobounds.ladders.facts import Facts
from nobounds.ladders.ladder import Ladder

# Steps of 0.2 to 0.4%: the ladder that is counted on first, and that of a walk without a frame.
DEFAULT_BITS = 8


@dataclass(frozen=True, slots=True)
class Stated:
    """Public bounds on the values, and the grid that they lie on; None where the user states nothing."""

    lower: Fraction | None = None
    upper: Fraction | None = None
    resolution: Fraction | None = None

    @classmethod
    def of(cls, lower: Number | None = None, upper: Number | None = None, resolution: Number | None = None) -> "Stated":
        """The numbers as the user gives them, read exactly."""
        return cls(_number(lower, "lower"), _number(upper, "upper"), _number(resolution, "resolution"))

    def ladder(self, facts: Facts, bits: int = DEFAULT_BITS) -> Ladder:
        """The ladder for a column: a grid if its values lie on one, between the bounds stated by user or type."""
        grid = 1 if self.resolution is None and facts.integral else self.resolution
        return self.limited(Ladder.float_bits(bits) if grid is None else Ladder.grid(grid, bits), facts)

    def limited(self, ladder: Ladder, facts: Facts) -> Ladder:
        """A ladder between the bounds stated by the user, or else by the type if that leaves a range."""
        low, high = self.lower, self.upper
        if low is None and facts.lower is not None and (high is None or high > facts.lower):
            low = Fraction(facts.lower)
        if high is None and facts.upper is not None and (low is None or low < facts.upper):
            high = Fraction(facts.upper)
        return ladder.limited(low, high)


def _number(given: Number | None, name: str) -> Fraction | None:
    return None if given is None else rational(given, name)
