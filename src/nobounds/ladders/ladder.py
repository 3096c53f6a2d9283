"""Ladders: public, increasing candidates for the answer.

A ladder maps records to numbered rungs; records beyond its first or last rung belong to that rung. The paper's ladder
is `Ladder.geometric`; the default is `Ladder.float_bits`, which needs no lower bound and no scale; `Ladder.grid` is for
data on a grid.
"""

import math
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.exact import MAX, Number, ball, finite_float, float_at_or_above, positive, rational, working_precision
from nobounds.ladders.rungs import Edges, FloatBits, Grid, Rungs, smallest_float
from nobounds.values import dataclass

if TYPE_CHECKING:
    from flint import arb

MOST_EDGES = 1 << 22
_MOST = Fraction(MAX)


@dataclass(frozen=True, slots=True)
class Ladder:
    """Rungs `first` to `last` of a map; records beyond an end belong to the rung at that end.

    >>> ages = Ladder.grid(1)
    >>> ages.value(int(ages.rungs(np.array([37.0]))[0]))
    37
    """

    map: Rungs
    first: int
    last: int
    lower: Fraction | None = None
    upper: Fraction | None = None

    @classmethod
    def _whole(cls, rungs: Rungs) -> "Ladder":
        return cls(rungs, *rungs.ends)

    @classmethod
    def float_bits(cls, bits: int = 8, floor: int = -100) -> "Ladder":
        """A ladder over the whole line by the leading bits of a float64: 8 mantissa bits give steps of 0.2% to 0.4%.

        Magnitudes below 2**floor (8e-31 by default) count as 0; for data that small, scale it up or set floor=-1022.
        """
        return cls._whole(FloatBits(bits, floor))

    @classmethod
    def grid(cls, resolution: Number, bits: int = 8, *, clock: bool = False) -> "Ladder":
        """The multiples of `resolution`, one per rung near 0 and then in steps of at most 2**-bits of the value.

        The grid ends at 1.8e308 steps. An answer there stands for all numbers beyond: it is 1.8e308, as for infinities.
        clock: values are seconds of a clock, and answers are round on it where they can be.
        """
        return cls._whole(Grid(positive(resolution, "resolution"), bits, clock))

    @classmethod
    def geometric(
        cls, beta: Number = 1.001, *, lower: Number = 0, scale: Number = 1, upper: Number | None = None
    ) -> "Ladder":
        """Edges at lower + scale * (beta**i - 1), i = 0, 1, ...: with scale 1, the candidates of the paper."""
        ratio = rational(beta, "beta")
        if ratio <= 1:
            raise ValueError(f"beta must be greater than 1, got beta={beta!r}")
        end = Fraction(MAX) if upper is None else rational(upper, "upper")
        start, size = rational(lower, "lower"), positive(scale, "scale")
        if end <= start:
            raise ValueError(f"upper must be greater than lower, got lower={lower!r} and upper={upper!r}")
        with working_precision(192):
            if (ball((end - start) / size) + 1).log() / ball(ratio).log() > MOST_EDGES:
                raise ValueError(
                    f"beta={beta!r} needs more than {MOST_EDGES} edges; give upper=, a larger beta, "
                    "or use Ladder.float_bits with more bits, which has no table"
                )
        return cls._whole(_geometric_edges(ratio, start, size, end))

    @classmethod
    def uniform(cls, lower: Number, upper: Number, steps: int) -> "Ladder":
        """`steps` rungs of equal width between two known bounds."""
        low, high = rational(lower, "lower"), rational(upper, "upper")
        if high <= low:
            raise ValueError(f"upper must be greater than lower, got lower={lower!r} and upper={upper!r}")
        if isinstance(steps, bool) or not isinstance(steps, int) or not 1 <= steps <= MOST_EDGES:
            raise ValueError(f"steps must be between 1 and {MOST_EDGES}, got steps={steps!r}")
        edges = (low + (high - low) * i / steps for i in range(steps + 1))
        return cls._whole(Edges(_table(edges), "uniform"))

    @classmethod
    def of(cls, edges: Iterable[Number]) -> "Ladder":
        """A ladder with the given edges, in increasing order."""
        return cls._whole(Edges(_table(rational(edge, "edge") for edge in edges), "given"))

    def limited(self, lower: Fraction | None, upper: Fraction | None) -> "Ladder":
        """The part between two public bounds, either of which may be None; records outside go to the ends."""
        for name, bound in (("lower", lower), ("upper", upper)):
            if bound is not None and abs(bound) > MAX:
                raise ValueError(f"{name} must be within the range of floats, got {name} beyond 1.8e308 in magnitude")
        if lower is not None and upper is not None and lower >= upper:
            raise ValueError(f"upper must be greater than lower, got lower={float(lower)!r} and upper={float(upper)!r}")
        lower, upper = self.lower if lower is None else lower, self.upper if upper is None else upper
        first = self.first if lower is None else self._rung(lower)
        last = self.last if upper is None else self._rung(upper)
        return replace(self, first=first, last=last, lower=lower, upper=upper)

    @property
    def size(self) -> int:
        """The number of rungs."""
        return self.last - self.first + 1

    @property
    def is_settled(self) -> bool:
        """Whether its public bounds leave nothing to search for."""
        return self.size <= 2 and self.lower is not None and self.upper is not None

    def rungs(self, values: Floats) -> Ints:
        """The rung of each value; NaN is not allowed."""
        return self.clamped(self.map.of(np.ascontiguousarray(values, dtype=np.float64)))

    def clamped(self, rungs: Ints) -> Ints:
        """Rungs of the map as rungs of the ladder: those beyond an end become the end rung."""
        return np.minimum(np.maximum(rungs, self.first), self.last)  # faster than np.clip for few

    def value(self, rung: int) -> int | float:
        """The value that represents a rung: its middle or its grid point, clipped to the bounds."""
        return self._plain(self.map.value(rung))

    def top(self, rung: int) -> float:
        """The upper edge of a rung, clipped to the bounds."""
        return finite_float(self._within(self.map.interval(rung)[1]))

    def span(self, first: int, last: int) -> tuple[float, float]:
        """The smallest and the largest float on the rungs from `first` to `last`; infinite at its ends."""
        return self.lowest(first), self.highest(last)

    def lowest(self, rung: int) -> float:
        """The smallest float on a rung, infinite on the first one."""
        return -math.inf if rung <= self.first else smallest_float(self.map, rung)

    def highest(self, rung: int) -> float:
        """The largest float on a rung, infinite on the last one."""
        return math.inf if rung >= self.last else math.nextafter(smallest_float(self.map, rung + 1), -math.inf)

    @property
    def is_grid(self) -> bool:
        """Whether the rungs are multiples of a unit."""
        return isinstance(self.map, Grid)

    def finest(self, bits: int, floor: int) -> "Ladder":
        """The same ladder with steps of 2**-bits of the value, down to 2**floor unless it is a grid."""
        return _finest(self, bits, floor)

    def _like(self, rungs: Rungs) -> "Ladder":
        return Ladder._whole(rungs).limited(self.lower, self.upper)

    def within(self, value: Fraction) -> int | float:
        """A value kept within the bounds, as it is released."""
        return self._plain(value)

    @property
    def _reach(self) -> Fraction:
        """The magnitude from which on a value stands for all numbers beyond: on a fine grid, that of the last rung."""
        return _last_rung(self.map) if isinstance(self.map, Grid) and self.map.unit < 1 else _MOST

    def is_beyond(self, end: float, upper: int) -> bool:
        """Whether the lower or the upper end of an interval is on the last rung of a grid, and so not known."""
        return self.is_grid and (end if upper else -end) >= self._reach

    @property
    def integral(self) -> bool:
        """Whether all values are whole numbers; they are ints then."""
        ends = (end for end in (self.lower, self.upper) if end is not None)
        return isinstance(self.map, Grid) and all(x.denominator == 1 for x in (self.map.unit, *ends))

    def describe(self) -> dict[str, Any]:
        """The parameters of the ladder, for a release."""
        ends = {name: str(end) for name, end in (("lower", self.lower), ("upper", self.upper)) if end is not None}
        if isinstance(self.map, FloatBits):
            return {"ladder": "float-bits", "bits": self.map.bits, "floor": self.map.floor, **ends}
        if isinstance(self.map, Grid):
            return {"ladder": "grid", "resolution": str(self.map.unit), "bits": self.map.bits, **ends}
        return {"ladder": getattr(self.map, "name", "own"), **ends}

    def _rung(self, bound: Fraction) -> int:
        return int(self.rungs(np.array([finite_float(bound)]))[0])

    def _plain(self, value: Fraction) -> int | float:
        return int(self._within(value)) if self.integral else finite_float(self._within(value))

    def _within(self, value: Fraction) -> Fraction:
        """The value clipped to the bounds and the range of floats; beyond the end of a grid lie all larger numbers."""
        most = self._reach
        value = _MOST if value >= most else -_MOST if value <= -most else value
        value = value if self.lower is None else max(value, self.lower)
        return value if self.upper is None else min(value, self.upper)


def float_bounds(ladder: Ladder) -> tuple[float, float]:
    """The public bounds of the records as floats, infinite where there is none."""
    low, high = ladder.lower, ladder.upper
    return -math.inf if low is None else finite_float(low), math.inf if high is None else finite_float(high)


@lru_cache(maxsize=256)
def _last_rung(grid: Grid) -> Fraction:
    return grid.interval(grid.ends[1])[0]


@lru_cache(maxsize=256)
def _finest(ladder: Ladder, bits: int, floor: int) -> Ladder:
    assert isinstance(ladder.map, FloatBits | Grid)
    finer: Rungs = FloatBits(bits, floor) if isinstance(ladder.map, FloatBits) else replace(ladder.map, bits=bits)
    return ladder._like(finer)


def _table(edges: Iterable[Fraction]) -> Floats:
    return np.array([float_at_or_above(edge) for edge in edges], dtype=np.float64)


@lru_cache(maxsize=8)
def _geometric_edges(beta: Fraction, lower: Fraction, scale: Fraction, upper: Fraction) -> Edges:
    """The edges lower + scale * (beta**i - 1) up to `upper`, each rounded up to a float64 with certified rounding."""
    from flint import arb

    table: list[float] = []
    with working_precision(192):
        ratio, start, size = ball(beta), ball(lower), ball(scale)
        power, end, i = arb(1), ball(upper), 0
        while True:
            edge = start + size * (power - 1)
            if edge > end:
                break
            table.append(_certified_ceiling(edge, i, beta, lower, scale))
            power, i = power * ratio, i + 1
    return Edges(np.array(table), f"geometric, beta={beta}")


def _certified_ceiling(edge: "arb", i: int, beta: Fraction, lower: Fraction, scale: Fraction) -> float:
    from flint import arb

    middle = float(edge.mid())
    for candidate in (math.nextafter(middle, -math.inf), middle, math.nextafter(middle, math.inf)):
        if edge <= arb(candidate):
            return candidate
        if not edge > arb(candidate):  # the ball touches a float: only exact arithmetic decides
            return float_at_or_above(lower + scale * (beta**i - 1))
    raise ArithmeticError("an edge lies further than one float from its approximation")
