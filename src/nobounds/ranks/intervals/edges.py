"""The outer edges of rungs, as the ends of intervals: what lies on a rung is never beyond its edge."""

import math
from fractions import Fraction

from nobounds.exact import MAX, finite_float
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.rungs import Grid


def edge(own: Ladder, ladder: Ladder, rung: int, upper: int) -> float:
    """The lower or the upper edge of a rung of another ladder: the outermost number on it, within the bounds of `own`.

    On a grid it is a point of the grid; of moments, which may lie between the seconds of theirs, the point beyond.
    Infinite records count as the last floats: no upper edge is below, and no lower edge above, all floats.
    """
    end = max(ladder.highest(rung), -MAX) if upper else min(ladder.lowest(rung), MAX)
    if own.is_beyond(end, upper):
        return bounded(own, math.inf if upper else -math.inf)
    if isinstance(own.map, Grid) and math.isfinite(end):
        steps = Fraction(end) / own.map.unit
        down = bool(upper) != own.map.clock
        end = finite_float((math.floor(steps) if down else math.ceil(steps)) * own.map.unit)
    return bounded(own, end)


def bounded(own: Ladder, end: float) -> float:
    """An end within the public bounds."""
    low, high = own.lower, own.upper
    end = end if low is None else max(end, finite_float(low))
    return end if high is None else min(end, finite_float(high))
