"""Counts of leading bits in compiled code (see `kernels`): a pass takes twice as long as numpy.sum.

`make bench` measures this. The counts are the same as those of numpy.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nobounds.arrays import Floats, Ints
from nobounds.counting.deviation import Deviation
from nobounds.counting.kernels import Kernels, address, is_plain, kernels_for
from nobounds.counting.scan import Chunk
from nobounds.ladders.rungs import FloatBits, Grid

MOST_BITS = 9  # of the mantissa: a table of 2**21 entries, 8 MB
_MANY = 1 << 20  # values in one pass from which compiled code is faster
_SPARE = 4  # empty tables of a size that are kept
_FULL = 1 << 32  # this many values could overflow an entry

_Table: TypeAlias = NDArray[np.uint32]  # half the cache of 64-bit entries
_Loop: TypeAlias = Callable[[Floats, _Table], None]

_spare: dict[int, list[_Table]] = {}  # empty tables by size: fresh memory takes as long as a million values


class LeadingCounts:
    """The number of records, or of deviations of records, with each pattern of leading bits.

    Missing records are not counted, unless they lie at the centre of the deviations.
    """

    def __init__(self, rungs: object, deviation: Deviation | None = None) -> None:
        fits = isinstance(rungs, FloatBits | Grid) if deviation is None else isinstance(rungs, FloatBits)
        self._map = rungs if isinstance(rungs, FloatBits | Grid) and fits and rungs.bits <= MOST_BITS else None
        self._deviation = deviation
        if deviation is not None and not deviation.is_product:
            self._map = None
        self._tables: list[_Table] = []
        self._parts: list[tuple[Ints, Ints]] = []
        self._room = self._read = 0

    def left(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        """Count the chunks for which compiled code is faster, and yield the others."""
        passed = 0
        for chunk in chunks:
            if self._map is None or isinstance(chunk, tuple) or not is_plain(chunk):
                yield chunk
            elif (passed := passed + len(chunk)) >= _MANY and (kernels := kernels_for(chunk)) is not None:
                self.add(chunk, kernels)
            else:
                yield chunk

    def add(self, values: Floats, kernels: Kernels) -> None:
        """Count the values of a contiguous array."""
        for start in range(0, len(values), _FULL - 1):
            self._add(values[start : start + _FULL - 1], self._loop(kernels))

    def _loop(self, kernels: Kernels) -> _Loop:
        rungs, deviation = self._map, self._deviation
        assert rungs is not None
        shift = 52 - rungs.bits
        if isinstance(rungs, Grid):
            unit = float(rungs.unit)
            return lambda values, table: kernels.count_points(values, shift, address(table), unit)
        if deviation is None:
            return lambda values, table: kernels.count_floats(values, shift, address(table))
        return lambda values, table: kernels.count_deviations(values, shift, address(table), *deviation.arguments)

    def _add(self, values: Floats, count: _Loop) -> None:
        assert self._map is not None
        if self._room < len(values):
            self.parts()
            self._room = _FULL - 1
        self._room -= len(values)
        self._read += len(values)
        if not self._tables:
            self._tables.append(_empty(1 << 12 + self._map.bits))
        count(values, self._tables[0])

    def parts(self) -> list[tuple[Ints, Ints]]:
        """Patterns and their counts, in tables that remain to be added up."""
        while self._tables:
            self._parts.append(_emptied(self._tables.pop()))
        return self._parts

    def rungs(self) -> list[tuple[Ints, Ints]]:
        """Rungs of the map and their counts, in tables that remain to be added up."""
        if self._map is None:
            return []
        rungs = [(self._map.of_leading(keys), counts) for keys, counts in self.parts()]
        if self._deviation is not None and self._deviation.all_present:
            missing = self._read - sum(int(counts.sum()) for _, counts in rungs)
            if missing:
                rungs.append((np.zeros(1, dtype=np.int64), np.array([missing])))
        return rungs


def _empty(size: int) -> _Table:
    with suppress(KeyError, IndexError):
        return _spare[size].pop()
    return np.zeros(size, dtype=np.uint32)


def _emptied(table: _Table) -> tuple[Ints, Ints]:
    """The patterns and counts of a table; the emptied table is kept for reuse."""
    keys = np.flatnonzero(table != 0)
    counts = table[keys].astype(np.int64)
    table[keys] = 0
    if len(tables := _spare.setdefault(len(table), [])) < _SPARE:
        tables.append(table)
    return keys, counts
