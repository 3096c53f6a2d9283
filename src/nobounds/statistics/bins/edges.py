"""Edges of bins: those that a user states, and round ones around noisy quartiles.

Between k edges and beyond them there are k + 1 bins, the first and the last one open. A record is in one bin. Records
are the float64 nearest to them, and so are edges: a decimal 0.3 lies at an edge 0.3.
"""

from collections.abc import Iterable, Iterator
from datetime import date
from fractions import Fraction
from itertools import chain, count
from typing import Any, TypeAlias

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.counting.classes import Classes
from nobounds.counting.scan import Chunk, Chunks, blocks, present, scan
from nobounds.exact import finite_float
from nobounds.kinds.kind import Kind
from nobounds.kinds.spans import DAY
from nobounds.values import dataclass

Edges: TypeAlias = tuple[Fraction, ...]

MOST = 1000  # edges
LEAST = 4  # bins: a negative and a positive number lie between three multiples of a step, whatever the step
_DIGITS = (1, 2, 5)
_CLOCK = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200)  # seconds
_DAYS = (1, 2, 7)
_MONTHS = (1, 3, 6)
_FIRST, _EPOCH = date.min.year, date(1970, 1, 1).toordinal()


def stated_edges(given: Any, kind: Kind, name: str) -> Edges:
    """Edges that a user states, in the type of the column; they must rise."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise TypeError(
            f"{name} must be a list of numbers, or of values of the column's type, got {type(given).__name__}"
        )
    edges = tuple(kind.number(each, name) for each in given)
    if not 1 <= len(edges) <= MOST:
        raise ValueError(f"{name} must have from 1 to {MOST} values, got {len(edges)}")
    if not _rise(edges):
        raise ValueError(f"{name} must be in rising order, without repetition")
    return edges


def as_floats(edges: Edges) -> Floats:
    """The float64 nearest to each edge, as records have it."""
    return np.array([finite_float(edge) for edge in edges])


def counts_between(chunks: Chunks, edges: Edges, closed: bool) -> Ints:
    """How many records each bin has; a record at an edge is in the bin above it, or below it if bins are `closed`.

    Missing records are in no bin, and infinite ones in the first or the last.
    """
    return scan(chunks, CountsBetween(tuple(as_floats(edges).tolist()), closed), np.add)


@dataclass(frozen=True, slots=True)
class CountsBetween:
    """The pass that counts records between edges."""

    edges: tuple[float, ...]
    closed: bool

    @property
    def classes(self) -> Classes:
        """Records at the same place among the edges."""
        return Classes(edges=self.edges)

    def __call__(self, chunks: Iterable[Chunk]) -> Ints:
        total = np.zeros(len(self.edges) + 1, dtype=np.int64)
        for values, many in (present(*block) for block in blocks(chunks)):
            places = np.searchsorted(np.array(self.edges), values, side="left" if self.closed else "right")
            if many is None:
                total += np.bincount(places, minlength=len(total))
            else:
                np.add.at(total, places, many)
        return total


def round_edges(low: Fraction, high: Fraction, bins: int, kind: Kind, grid: Fraction | None) -> Edges:
    """Round edges that enclose two numbers, for at most `bins` bins, four or more: the smallest step that will do.

    Steps are 1, 2 or 5 times a power of ten, and multiples of the grid that values lie on; of moments they are whole
    seconds, minutes and hours, and of days they are days, weeks, months, quarters and years.

    >>> [float(edge) for edge in round_edges(Fraction(3), Fraction(97), 7, Kind("number"), None)]
    [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]
    """
    for edges in _ever_fewer(low, high, bins - 1, kind, grid):
        if len(edges) <= bins - 1 and _rise(edges):
            return edges
    raise AssertionError("some step is large enough")


def _rise(edges: Edges) -> bool:
    return bool((np.diff(as_floats(edges)) > 0).all())


def _ever_fewer(low: Fraction, high: Fraction, most: int, kind: Kind, grid: Fraction | None) -> Iterator[Edges]:
    """Edges by steps that grow; `most` is what is wanted, so that small steps are left out."""
    least = (high - low) / most
    if kind.name == "date":
        yield from _by_calendar(int(low), int(high), least, kind)
    elif kind.name == "datetime":
        steps = (Fraction(step) for step in _CLOCK if step >= least)
        yield from (_multiples(low, high, step) for step in steps)
        yield from _by_calendar(int(low // DAY) - 1, int(high // DAY) + 1, least / DAY, kind)
    elif kind.name in ("time", "duration") and least > 1:
        longer = (DAY * step for step in _tens(least / DAY, None))
        on_clock = (Fraction(step) for step in _CLOCK if step >= least)
        yield from (_multiples(low, high, step) for step in chain(on_clock, longer))
    else:
        size = least if high > low else abs(low) / 100
        yield from (_multiples(low, high, step) for step in _tens(size, grid))


def _multiples(low: Fraction, high: Fraction, step: Fraction) -> Edges:
    """The multiples of a step from the last one that is not above `low` to the first one above `high`."""
    first, last = low // step, high // step + 1
    return tuple(step * place for place in range(first, min(last, first + MOST) + 1))


def _tens(least: Fraction, grid: Fraction | None) -> Iterator[Fraction]:
    """1, 2 and 5 times powers of ten, from about `least` on; with a grid, its multiples of these."""
    unit, power = Fraction(1) if grid is None else grid, 0
    while Fraction(10) ** (power + 1) * unit <= least:
        power += 1
    while grid is None and 0 < least < Fraction(10) ** power:
        power -= 1
    return (unit * digit * Fraction(10) ** exponent for exponent in count(power) for digit in _DIGITS)


def _by_calendar(low: int, high: int, least: Fraction, kind: Kind) -> Iterator[Edges]:
    """Edges at the start of days, weeks, months, quarters and years, for days since 1970."""
    for days in _DAYS:
        if days >= least:
            yield tuple(_midnight(day, kind) for day in _listed(low, high, days))
    first, last = (date.fromordinal(min(max(day + _EPOCH, 1), date.max.toordinal())) for day in (low, high))
    start, end = (12 * (day.year - _FIRST) + day.month - 1 for day in (first, last))
    years = (12 * digit * 10**power for power in count() for digit in _DIGITS)
    for months in chain(_MONTHS, years):
        place = range(start // months, min(end // months + 1, start // months + MOST) + 1)
        yield tuple(_midnight(_month(months * each), kind) for each in place)


def _listed(low: int, high: int, days: int) -> list[int]:
    first = (low // days) * days
    return list(range(first, min((high // days + 1) * days, first + MOST * days) + 1, days))


def _month(months: int) -> int:
    """The first day of a month, as days since 1970; the last day of all beyond the calendar."""
    year = _FIRST + months // 12
    last = date.max.toordinal()
    return (last if year > date.max.year else date(year, months % 12 + 1, 1).toordinal()) - _EPOCH


def _midnight(day: int, kind: Kind) -> Fraction:
    """The start of a day in a type: of datetimes with a zone, by its clock."""
    clipped = min(max(day + _EPOCH, 1), date.max.toordinal())
    return kind.number(date.fromordinal(clipped), "edges")
