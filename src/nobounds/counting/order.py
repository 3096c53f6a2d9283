"""The order of the records of a column: how many lie below a number, and which lie around a rank.

All records are counted on coarse rungs in one pass. Where a mechanism looks closer, the records on a few rungs are read
again, and sorted; all others stay counts. So a table of occupied intervals of keys grows finer where it is needed.
"""

from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.core.line import Line
from nobounds.counting.classes import Classes
from nobounds.counting.histogram import Histogram, merged
from nobounds.counting.scan import FEW, Chunk, InOrder, Records, blocks, scan
from nobounds.counting.second_look import Within
from nobounds.counting.spans import Spans, selected
from nobounds.ladders.cells import ends
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.rungs import Grid
from nobounds.values import dataclass

MOST = 1 << 17  # records that are read again one by one
_SPLIT = 12  # bits by which rungs of more records are split
_FINEST = 48  # bits of rungs that are split no more
_FLOOR = -1022  # smaller magnitudes count as 0
_EXACT = -1  # the level of a single number


class Cells(NamedTuple):
    """Intervals of keys that cover a line, in order, with the records below each one and up to its end. Sensitive."""

    first: Ints
    last: Ints
    low: Ints
    high: Ints


class Order:
    """The records of a column on a line, as far as they were looked at. Sensitive: its repr hides them."""

    def __init__(self, records: Records, ladder: Ladder) -> None:
        self._records = records
        self.line = line_of(ladder)
        self._ladders = [ladder.finest(8, _FLOOR)]
        chunks = records()
        if isinstance(chunks, InOrder):
            values, each = chunks[0] if isinstance(chunks[0], tuple) else (chunks[0], np.ones(len(chunks[0]), np.int64))
            keys, counts = merged([(self.line.keys(values), each)])
            self._table = _Table(keys, keys, counts, np.full(len(keys), _EXACT), keys)
        else:
            self._table = self._of(Histogram.of(chunks, self._ladders[0]), 0)
            if self.total <= FEW:  # then all engines have the same cells, and the same draws by a seed
                self._refine(0, self.total, 0)

    @cached_property
    def total(self) -> int:
        """The number of records that are not missing."""
        return int(self._table.counts.sum())

    def ranks(self, key: int) -> tuple[int, int]:
        """How many records lie below a number, and how many at or below it."""
        while True:
            table = self._table
            place = int(np.searchsorted(table.last, key))
            below = int(table.counts[:place].sum())
            if place == len(table.last) or table.first[place] > key:
                return below, below
            if table.level[place] == _EXACT:
                return below, below + int(table.counts[place])
            self._look(np.array([place]))

    def between(self, low: int, high: int) -> tuple[Ints, Ints]:
        """The keys of the records with ranks `low` to before `high`, in order, and how many records each has."""
        low, high = max(low, 0), min(high, self.total)
        if low >= high:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        self._refine(low, high, 0)
        up_to = self._table.counts.cumsum()
        first, last = np.searchsorted(up_to, [low, high - 1], side="right").tolist()
        some = slice(first, last + 1)
        counts = np.minimum(up_to[some], high) - np.maximum(up_to[some] - self._table.counts[some], low)
        return self._table.first[some], counts

    def cells(self, low: int, high: int, each: int) -> Cells:
        """Cells that cover the line; those that the ranks `low` to `high` touch have hardly more records than `each`.

        A number with more records is a cell of its own, and so is what lies between the cells of records.
        """
        self._refine(low, high, each)
        table, up_to = self._table, self._table.counts.cumsum()
        begin, end = self.line.ends
        if not len(up_to):
            return Cells(*(np.array([x], dtype=np.int64) for x in (begin, end, 0, 0)))
        groups = up_to if each < 2 else (up_to - 1) // each
        groups = np.where(up_to <= low, -1, np.where(up_to - table.counts >= high, np.int64(2**62), groups))
        heavy = (table.counts > each) & (groups >= 0) & (groups < 2**62)
        alone = heavy | np.append(False, heavy[:-1])
        starts = np.flatnonzero((np.diff(groups, prepend=groups[0] - 1) != 0) | alone)
        stops = np.append(starts[1:], len(groups)) - 1
        first, last = table.first[starts], table.last[stops]
        before, after = up_to[starts] - table.counts[starts], up_to[stops]
        edges = np.concatenate([[begin - 1], np.column_stack([first - 1, last]).ravel(), [end]])
        ranks = np.concatenate([[0], np.column_stack([before, after]).ravel(), [self.total]])
        keep = edges[1:] > edges[:-1]
        return Cells((edges[:-1] + 1)[keep], edges[1:][keep], ranks[:-1][keep], ranks[1:][keep])

    def _refine(self, low: int, high: int, each: int) -> None:
        """Look closer until no interval that these ranks touch has more than `each` records, but for single numbers."""
        while True:
            table = self._table
            up_to = table.counts.cumsum()
            touched = (up_to > low) & (up_to - table.counts < high) & (table.level != _EXACT) & (table.counts > each)
            if not touched.any():
                return
            self._look(np.flatnonzero(touched))

    def _look(self, places: Ints) -> None:
        """Read the records on these intervals again: their numbers if these are few, or else on finer rungs."""
        table = self._table
        level = int(table.level[places[0]])
        places = places[table.level[places] == level]
        ladder = self._ladders[level]
        spans = Spans.of(_spans(ladder, table.rungs[places]))
        bits = ladder.map.bits + _SPLIT  # type: ignore[attr-defined]
        if int(table.counts[places].sum()) <= MOST or bits > _FINEST:
            values, each = scan(self._records(), Distinct(spans), _both)
            keys, counts = merged([(self.line.keys(values), each)])
            finer = _Table(keys, keys, counts, np.full(len(keys), _EXACT), keys)
        else:
            if level + 1 == len(self._ladders):
                self._ladders.append(ladder.finest(bits, _FLOOR))
            within = Within(self._ladders[level + 1], spans)
            finer = self._of(scan(self._records(), within, Histogram.__add__), level + 1)
        rest = np.ones(len(table.first), dtype=bool)
        rest[places] = False
        both = _Table(*(np.concatenate([a[rest], b]) for a, b in zip(table, finer, strict=True)))
        order = np.argsort(both.first, kind="stable")
        self._table = _Table(*(each[order] for each in both))

    def _of(self, histogram: Histogram, level: int) -> "_Table":
        """The intervals of the occupied rungs."""
        ladder, rungs = histogram.ladder, histogram.rungs
        low, high = ends(ladder, rungs)
        # On a grid these are multiples of the unit already.
        line = Line() if isinstance(ladder.map, Grid) else self.line
        begin, end = self.line.ends
        first, last = (np.clip(line.keys(each), begin, end) for each in (low, high))
        first, last = (
            np.where(rungs == 0, 0, each) if not self.line.unit and begin <= 0 <= end else each
            for each in (first, last)
        )
        return _Table(first, last, histogram.counts, np.where(first == last, _EXACT, level), rungs)

    def __repr__(self) -> str:
        return "Order(hidden)"


class _Table(NamedTuple):
    """Disjoint intervals of keys that have records, in order: the rung that each one is, and its level of fineness."""

    first: Ints
    last: Ints
    counts: Ints
    level: Ints
    rungs: Ints


def line_of(ladder: Ladder) -> Line:
    """The line that a ladder of float bits or on a grid counts on."""
    unit = ladder.map.unit if isinstance(ladder.map, Grid) else None
    return Line(unit, ladder.lower, ladder.upper)


def _spans(ladder: Ladder, rungs: Ints) -> Iterable[tuple[float, float]]:
    """The intervals of floats on these rungs; rungs beside each other are one."""
    cuts = np.flatnonzero(np.diff(rungs) != 1) + 1
    for part in np.split(rungs, cuts):
        yield ladder.span(int(part[0]), int(part[-1]))


@dataclass(frozen=True)
class Distinct:
    """The pass that counts the distinct records in some intervals."""

    spans: Spans

    @property
    def classes(self) -> Classes:
        """Records with the same value."""
        return Classes(spans=self.spans)

    def __call__(self, chunks: Iterable[Chunk]) -> tuple[Floats, Ints]:
        distinct = np.zeros(0), np.zeros(0, dtype=np.int64)
        for values, counts in blocks(selected(chunks, self.spans)):
            distinct = _both(distinct, (values, np.ones(len(values), dtype=np.int64) if counts is None else counts))
        return distinct


def _both(one: tuple[Floats, Ints], other: tuple[Floats, Ints]) -> tuple[Floats, Ints]:
    unique, places = np.unique(np.concatenate([one[0], other[0]]), return_inverse=True)
    totals = np.zeros(len(unique), dtype=np.int64)
    np.add.at(totals, places, np.concatenate([one[1], other[1]]))
    return unique, totals
