"""Counts on a ladder, in one pass over unsorted data.

The rule for special records, the same in every engine:
- NaN and null are missing: they are not counted, and the size of the data is the number of the other records;
- infinities lie beyond every edge: they go to the first or the last rung, as do records outside `lower` and `upper`;
- every other record counts as its nearest float64 (the integer 2**53 + 1 as 2**53), and -0.0 as 0.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.counting.compiled import LeadingCounts
from nobounds.counting.scan import Chunk, Chunks, blocks, present, scan
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.rungs import FloatBits, Grid

_DENSE = 1 << 21  # most rungs that a dense table may span: 16 MB
_SPARSE = 64  # rungs that a dense table may span for each value: sorting takes less time than to clear a larger one
_FEW = 1 << 14  # values converted to rungs at a time: the temporaries stay in the cache, in memory already mapped
_MANY = 1 << 17  # values from which a table of leading bits is faster


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """The occupied rungs of a ladder, in order, and the number of records on each. Sensitive: its repr hides them.

    Between the two rungs `exact` (by default the whole ladder) every record is on its own rung; records below and above
    may have been moved to the ends of the ladder (see `second_look`).
    """

    ladder: Ladder
    rungs: Ints
    counts: Ints
    exact: tuple[int, int] = (0, -1)  # replaced by the whole ladder
    up_to: Ints = field(init=False)  # records at or below each occupied rung
    down_to: Ints = field(init=False)  # records at or above it

    def __post_init__(self) -> None:
        up_to = np.cumsum(self.counts, dtype=np.int64)
        object.__setattr__(self, "up_to", up_to)
        object.__setattr__(self, "down_to", self.total - up_to + self.counts)
        if self.exact == (0, -1):
            object.__setattr__(self, "exact", (self.ladder.first, self.ladder.last))

    @classmethod
    def of(cls, chunks: Chunks, ladder: Ladder) -> "Histogram":
        """The histogram of float64 chunks, in one pass, independent of the chunking, in bounded memory."""
        return scan(chunks, partial(_counted, ladder), cls.__add__)

    @property
    def total(self) -> int:
        """The number of records that are not missing (sensitive)."""
        return int(self.up_to[-1]) if len(self.up_to) else 0

    def below(self, rung: int) -> int:
        """The number of records on lower rungs (sensitive)."""
        k = int(np.searchsorted(self.rungs, rung))
        return int(self.up_to[k - 1]) if k else 0

    def on(self, ladder: Ladder) -> "Histogram":
        """The same counts on another ladder, each record at the value of its rung."""
        if ladder is self.ladder or ladder == self.ladder:
            return self
        rungs = ladder.rungs(self.ladder.map.floats(self.rungs))  # in order, because the maps are monotone
        return Histogram(ladder, *_added_up(rungs, self.counts))

    def __add__(self, other: "Histogram") -> "Histogram":
        """The histogram of both parts of the data."""
        if self.ladder != other.ladder:
            raise ValueError("only histograms on the same ladder can be added")
        return Histogram(self.ladder, *_merge([(self.rungs, self.counts), (other.rungs, other.counts)]))

    def __repr__(self) -> str:
        return f"Histogram({self.ladder.describe()}, counts hidden)"


def _counted(ladder: Ladder, chunks: Iterable[Chunk]) -> Histogram:
    counter, compiled = _Counter(ladder), LeadingCounts(ladder.map)
    for block, times in blocks(compiled.left(chunks)):
        values, weights = present(block, times)
        if len(values):
            counter.add(values, weights)
    for rungs, counts in compiled.rungs():
        counter.keep(ladder.clamped(rungs), counts)
    return Histogram(ladder, *counter.table())


class _Counter:
    """Counts records by rung, or many records by leading bits if a table of those is small enough.

    Rungs are counted in a dense table while their span is small, and in sorted parts otherwise.
    """

    def __init__(self, ladder: Ladder) -> None:
        self._ladder = ladder
        rungs = ladder.map
        self._map = rungs if isinstance(rungs, FloatBits | Grid) and 1 << 12 + rungs.bits <= _DENSE else None
        self._leading: Ints | None = None
        self._seen = 0
        self._base = 0
        self._dense: Ints = np.zeros(0, dtype=np.int64)
        self._parts: list[tuple[Ints, Ints]] = []
        self._waiting = 0

    def add(self, values: Floats, weights: Ints | None = None) -> None:
        """Count each value with its weight, or once without weights."""
        self._seen += len(values)
        if self._map is None or self._seen <= _MANY:
            for start in range(0, len(values), _FEW):
                window = slice(start, start + _FEW)
                self._add(self._ladder.rungs(values[window]), None if weights is None else weights[window])
            return
        if self._leading is None:
            self._leading = np.zeros(1 << 12 + self._map.bits, dtype=np.int64)
        np.add.at(self._leading, self._map.leading(values), 1 if weights is None else weights)

    def _add(self, rungs: Ints, weights: Ints | None) -> None:
        low, high = int(rungs.min()), int(rungs.max())
        if high - low >= min(_DENSE, _SPARSE * len(rungs)):
            self.keep(*(_sorted(rungs) if weights is None else _merge([(rungs, weights)])))
            return
        counts = np.bincount(rungs - low, weights).astype(np.int64, copy=False)  # exact up to 2**53 records
        if not self._covers(low, high):
            occupied = np.flatnonzero(counts)
            self.keep(occupied + low, counts[occupied])
            return
        self._dense[low - self._base : high - self._base + 1] += counts

    def _covers(self, low: int, high: int) -> bool:
        """Whether the dense table spans these rungs; grows it up to its largest size."""
        if len(self._dense) and self._base <= low and high < self._base + len(self._dense):
            return True
        first = min(low, self._base) if len(self._dense) else low
        last = max(high + 1, self._base + len(self._dense)) if len(self._dense) else high + 1
        if last - first > _DENSE:
            return False
        grown = np.zeros(last - first, dtype=np.int64)
        grown[self._base - first : self._base - first + len(self._dense)] = self._dense
        self._base, self._dense = first, grown
        return True

    def keep(self, rungs: Ints, counts: Ints) -> None:
        """Add counts of rungs, in any order."""
        self._parts.append((rungs, counts.astype(np.int64, copy=False)))
        self._waiting += len(rungs)
        if self._waiting > _DENSE:
            self._parts = [_merge(self._parts)]
            self._waiting = 0

    def table(self) -> tuple[Ints, Ints]:
        """The occupied rungs, in order, and their counts."""
        if self._map is not None and self._leading is not None:
            keys = np.flatnonzero(self._leading != 0)  # faster than without the comparison
            self.keep(self._ladder.clamped(self._map.of_leading(keys)), self._leading[keys])
        occupied = np.flatnonzero(self._dense)
        return _merge([(occupied + self._base, self._dense[occupied]), *self._parts])


def _merge(parts: list[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    """One sorted table from several; the counts of equal rungs are added up."""
    parts = [part for part in parts if len(part[0])]
    if not parts:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    if len(parts) == 1 and bool(np.all(parts[0][0][:-1] < parts[0][0][1:])):
        return parts[0]
    rungs, counts = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    if bool(np.any(rungs[:-1] > rungs[1:])):
        order = np.argsort(rungs, kind="stable")  # fast where parts are sorted
        rungs, counts = rungs[order], counts[order]
    return _added_up(rungs, counts)


def _sorted(rungs: Ints) -> tuple[Ints, Ints]:
    """The distinct rungs, in order, and how often each occurs."""
    rungs = np.sort(rungs)
    firsts = np.flatnonzero(np.concatenate([[True], rungs[1:] != rungs[:-1]]))
    return rungs[firsts], np.diff(firsts, append=len(rungs))


def _added_up(rungs: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """The distinct rungs of a sorted array, and the sum of the counts of each."""
    firsts = np.flatnonzero(np.diff(rungs, prepend=rungs[:1] - 1))
    return (rungs[firsts], np.add.reduceat(counts, firsts)) if len(firsts) < len(rungs) else (rungs, counts)
