"""Counts on a ladder, in one pass over unsorted data.

The rule for special records, the same in every engine:
- NaN and null are missing: they are not counted, and the size of the data is the number of the other records;
- infinities lie beyond every edge: they go to the first or the last rung, as do records outside `lower` and `upper`;
- every other record counts as its nearest float64 (the integer 2**53 + 1 as 2**53), and -0.0 as 0.
"""

import math
from collections.abc import Iterable
from dataclasses import field
from itertools import chain, islice
from typing import Any

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.counting.classes import Classes
from nobounds.counting.compiled import LeadingCounts
from nobounds.counting.deviation import Deviation
from nobounds.counting.scan import Chunk, Chunks, InOrder, blocks, changed, present, scan
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.rungs import FloatBits, Grid
from nobounds.values import dataclass

_WAITING = 1 << 21  # rungs that wait to be merged, and of a table of leading bits, at most: 16 MB
_SPARSE = 4  # rungs that a table may span for each value: sorting takes less time than to clear a larger one
_WIDEST = 1 << 16  # rungs of a table of all between the lowest and the highest
_FEW = 1 << 14  # values converted to rungs at a time: the temporaries stay in the cache, in memory already mapped
_MANY = 1 << 12  # values from which a table of leading bits is faster, ...
_EACH = 4  # ... if an octave has no more of them than this for each value
_ALL = 1 << 17  # values from which a table of all octaves is faster, ...
_ALL_BITS = 9  # ... if they are no finer than this: it has 16 MB
_MOST_BITS = 18  # of the mantissa, for a table of octaves
_OCTAVES = 12  # log2 of the patterns of sign and exponent
_INFINITE = 2047  # the exponent of infinities and of missing records
_UNSEEN = -(1 << 40)  # where the table of an octave would begin that has none


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

    def __post_init__(self) -> None:
        object.__setattr__(self, "up_to", self.counts.cumsum(dtype=np.int64))
        if self.exact == (0, -1):
            object.__setattr__(self, "exact", (self.ladder.first, self.ladder.last))

    @classmethod
    def of(cls, chunks: Chunks, ladder: Ladder) -> "Histogram":
        """The histogram of float64 chunks, in one pass, independent of the chunking, in bounded memory."""
        return scan(chunks, Counted(ladder), cls.__add__)

    @classmethod
    def of_deviations(cls, chunks: Chunks, deviation: Deviation, ladder: Ladder) -> "Histogram":
        """The histogram of the deviations of records."""
        return scan(chunks, Counted(ladder, deviation), cls.__add__)

    @property
    def total(self) -> int:
        """The number of records that are not missing (sensitive)."""
        return int(self.up_to[-1]) if len(self.up_to) else 0

    @property
    def down_to(self) -> Ints:
        """The number of records at or above each occupied rung (sensitive)."""
        return self.total - self.up_to + self.counts

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

    def scaled(self, octave: int, ladder: Ladder) -> "Histogram":
        """The same counts on another ladder of float bits, whose rungs are parts of these ones times 2**octave."""
        assert isinstance(self.ladder.map, FloatBits)
        assert isinstance(ladder.map, FloatBits)
        rungs = ladder.clamped(self.ladder.map.scaled(self.rungs, octave, ladder.map))
        return Histogram(ladder, *_added_up(rungs, self.counts))

    def __add__(self, other: "Histogram") -> "Histogram":
        """The histogram of both parts of the data."""
        if self.ladder != other.ladder:
            raise ValueError("only histograms on the same ladder can be added")
        return Histogram(self.ladder, *merged([(self.rungs, self.counts), (other.rungs, other.counts)]))

    def __repr__(self) -> str:
        return f"Histogram({self.ladder.describe()}, counts hidden)"


@dataclass(frozen=True, slots=True)
class Counted:
    """The pass that counts records on a ladder, or their deviations."""

    ladder: Ladder
    deviation: Deviation | None = None

    @property
    def classes(self) -> Classes:
        """Records on the same rung."""
        return Classes(self.ladder, self.deviation)

    def __call__(self, chunks: Iterable[Chunk]) -> Histogram:
        if isinstance(chunks, InOrder) and not isinstance(chunks[0], tuple):
            values = chunks[0] if self.deviation is None else self.deviation(chunks[0])
            return Histogram(self.ladder, *_repeated(self.ladder.rungs(values)))  # in order: the maps are monotone
        if self.deviation is not None and self.deviation.unit is not None:
            return _counted(self.ladder, None, changed(chunks, self.deviation))
        return _counted(self.ladder, self.deviation, chunks)


def _counted(ladder: Ladder, deviation: Deviation | None, chunks: Iterable[Chunk]) -> Histogram:
    some = list(islice(chunks := iter(chunks), 2))
    if len(some) == 1 and not isinstance(some[0], tuple) and len(some[0]) <= _FEW:  # without tables for many
        few = np.asarray(some[0], dtype=np.float64)
        values, _ = present(few if deviation is None else deviation(few), None)
        return Histogram(ladder, *_distinct(ladder.rungs(values)))
    counter, compiled = _Counter(ladder), LeadingCounts(ladder.map, deviation)
    left = compiled.left(chain(some, chunks))
    for block, times in blocks(left if deviation is None else changed(left, deviation)):
        counter.add(block, times)
    for rungs, counts in compiled.rungs():
        counter.keep(ladder.clamped(rungs), counts)
    return Histogram(ladder, *counter.table())


class _Counter:
    """Counts few records by rung, in sorted parts, and many by leading bits, if a table of those is small enough."""

    def __init__(self, ladder: Ladder) -> None:
        self._ladder = ladder
        rungs = ladder.map
        self._octaves: _Octaves | None = None
        self._window: _Window | None = _Window()  # until a table would be too large
        self._many: float = math.inf  # values from which there is a table of octaves
        if isinstance(rungs, FloatBits | Grid) and rungs.bits <= _MOST_BITS:
            self._many = max(_MANY, (1 << rungs.bits) // _EACH)
        self._seen = 0
        self._parts: list[tuple[Ints, Ints]] = []
        self._waiting = 0

    def add(self, values: Floats, weights: Ints | None = None) -> None:
        """Count each value that is not missing with its weight, or once without weights."""
        if self._octaves is not None and weights is None and self._seen >= _ALL and self._octaves.has_all:
            self._octaves.add_all(values)
            return
        values, weights = present(values, weights)
        self._seen += len(values)
        if not len(values):
            return
        if self._window is not None and self._seen < _ALL:
            place = 0  # of the first value that is not counted yet
            while place < len(values):
                part = slice(place, place + _FEW)
                rungs = self._ladder.rungs(values[part])
                if not self._window.add(rungs, None if weights is None else weights[part]):
                    self.keep(*self._window.table())
                    self._window = None
                    break
                place += _FEW
            values, weights = values[place:], None if weights is None else weights[place:]
            if not len(values):
                return
        if self._seen > self._many:
            self._octaves = self._octaves or _Octaves(self._ladder.map)
            left = self._octaves.add(values, weights, self._seen >= _ALL)
            if left is None:
                return
            values, weights = values[left], None if weights is None else weights[left]
        for start in range(0, len(values), _FEW):
            window = slice(start, start + _FEW)
            self._add(self._ladder.rungs(values[window]), None if weights is None else weights[window])

    def _add(self, rungs: Ints, weights: Ints | None) -> None:
        self.keep(*_distinct(rungs, weights))

    def keep(self, rungs: Ints, counts: Ints) -> None:
        """Add counts of rungs, in any order."""
        self._parts.append((rungs, counts.astype(np.int64, copy=False)))
        self._waiting += len(rungs)
        if self._waiting > _WAITING:
            self._parts = [merged(self._parts)]
            self._waiting = 0

    def table(self) -> tuple[Ints, Ints]:
        """The occupied rungs, in order, and their counts."""
        if self._octaves is not None:
            rungs, counts = self._octaves.rungs()
            self.keep(self._ladder.clamped(rungs), counts)
        if self._window is not None:
            self.keep(*self._window.table())
        return merged(self._parts)


class _Window:
    """Counts by rung, in a table of all rungs from the lowest to the highest that has occurred, if these are few."""

    def __init__(self) -> None:
        self._low = 0
        self._counts: Ints = np.zeros(0, dtype=np.int64)

    def add(self, rungs: Ints, weights: Ints | None) -> bool:
        """Count each rung; False, and nothing is counted, if the table would be too large."""
        low, high = int(np.minimum.reduce(rungs)), int(np.maximum.reduce(rungs))
        if len(self._counts):
            low, high = min(low, self._low), max(high, self._low + len(self._counts) - 1)
        if high - low >= _WIDEST:
            return False
        if high - low >= len(self._counts):
            counts = np.zeros(high - low + 1, dtype=np.int64)
            counts[self._low - low : self._low - low + len(self._counts)] = self._counts
            self._low, self._counts = low, counts
        np.add.at(self._counts, rungs - low, 1 if weights is None else weights)
        return True

    def table(self) -> tuple[Ints, Ints]:
        """The occupied rungs, in order, and their counts."""
        occupied = self._counts.nonzero()[0]
        return occupied + self._low, self._counts[occupied]


class _Octaves:
    """Counts by leading bits, in a table of those octaves, with their signs, that have occurred."""

    def __init__(self, rungs: Any) -> None:
        self._map: FloatBits | Grid = rungs
        self._bits: int = self._map.bits
        self._starts = np.full(1 << _OCTAVES, _UNSEEN)  # where each octave begins in the table, minus its first pattern
        self._firsts: list[int] = []  # what is subtracted there, in the order of the table
        self._table: Ints = np.zeros(0, dtype=np.int64)
        self._all: Ints = np.zeros(0, dtype=np.int64)
        self._keys: Ints = np.zeros(0, dtype=np.int64)  # room for those of a block

    @property
    def has_all(self) -> bool:
        """Whether a table of all octaves is small enough."""
        return self._bits <= _ALL_BITS

    def add_all(self, values: Floats) -> None:
        """Count values in the table of all octaves, among which some may be missing."""
        if not len(self._all):
            self._all = np.zeros(1 << _OCTAVES + self._bits, dtype=np.int64)
        if len(self._keys) < len(values):
            self._keys = np.empty(len(values), dtype=np.int64)
        infinities = _INFINITE << self._bits, (_INFINITE | 1 << 11) << self._bits  # the leading bits of both
        before = [self._all.item(key) for key in infinities]
        np.add.at(self._all, self._map.leading(values, self._keys[: len(values)]), 1)
        if before != [self._all.item(key) for key in infinities]:  # some missing records have these leading bits
            missing = self._map.leading(values[np.isnan(values)])
            for key in infinities:
                self._all[key] -= np.count_nonzero(missing == key)

    def add(self, values: Floats, weights: Ints | None, many: bool) -> Ints | None:
        """Count these values; returns the places of those for whose octaves there is no room."""
        if many and self.has_all and weights is None:
            self.add_all(values)
            return None
        keys = self._map.leading(values)
        places = keys + self._starts[keys >> self._bits]
        left = None
        if int(places.min()) < 0:
            self._grow(keys[places < 0] >> self._bits)
            places = keys + self._starts[keys >> self._bits]
            if int(places.min()) < 0:
                left, some = np.flatnonzero(places < 0), places >= 0
                places, weights = places[some], None if weights is None else weights[some]
        np.add.at(self._table, places, 1 if weights is None else weights)
        return left

    def _grow(self, octaves: Ints) -> None:
        for octave in np.bincount(octaves).nonzero()[0].tolist()[: (_WAITING >> self._bits) - len(self._firsts)]:
            first = (len(self._firsts) - octave) << self._bits
            self._starts[octave] = first
            self._firsts.append(first)
        more = (len(self._firsts) << self._bits) - len(self._table)
        self._table = np.concatenate([self._table, np.zeros(more, dtype=np.int64)])

    def rungs(self) -> tuple[Ints, Ints]:
        """Rungs of the map and their counts, in any order."""
        places = np.flatnonzero(self._table != 0)  # faster than without the comparison
        firsts = np.array(self._firsts, dtype=np.int64)[places >> self._bits]
        every = np.flatnonzero(self._all != 0)
        every = every[(every & (1 << 11 + self._bits) - 1) <= _INFINITE << self._bits]  # the others are missing
        keys = np.concatenate([places - firsts, every])
        return self._map.of_leading(keys), np.concatenate([self._table[places], self._all[every]])


def merged(parts: list[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
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


def _distinct(rungs: Ints, weights: Ints | None = None) -> tuple[Ints, Ints]:
    """The distinct rungs, in order, and the weight of each, or how often it occurs."""
    if not len(rungs):
        return rungs, rungs
    low, high = int(np.minimum.reduce(rungs)), int(np.maximum.reduce(rungs))  # without the wrappers of the methods
    if high - low >= _SPARSE * len(rungs):
        return _repeated(np.sort(rungs)) if weights is None else merged([(rungs, weights)])
    counts = np.bincount(rungs - low, weights).astype(np.int64, copy=False)  # exact up to 2**53 records
    occupied = counts.nonzero()[0]
    return occupied + low, counts[occupied]


def _repeated(rungs: Ints) -> tuple[Ints, Ints]:
    """The distinct rungs of a sorted array, and how often each occurs."""
    begins = np.empty(len(rungs) + 1, dtype=bool)
    begins[0] = begins[-1] = True
    np.not_equal(rungs[1:], rungs[:-1], out=begins[1:-1])
    firsts = begins.nonzero()[0]
    return rungs[firsts[:-1]], firsts[1:] - firsts[:-1]


def _added_up(rungs: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """The distinct rungs of a sorted array, and the sum of the counts of each."""
    begins = np.ones(len(rungs), dtype=bool)
    np.not_equal(rungs[1:], rungs[:-1], out=begins[1:])
    firsts = begins.nonzero()[0]
    return (rungs[firsts], np.add.reduceat(counts, firsts)) if len(firsts) < len(rungs) else (rungs, counts)
