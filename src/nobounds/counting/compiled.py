"""Counts of leading bits in compiled code: a pass takes 2 to 3 times as long as numpy.sum instead of 8 to 10 times.

`make bench` measures this. Loading numba takes as long as numpy needs for 10^8 values. So a process that has loaded
numba uses it for all large arrays; any other process loads it at its 10^8th value, when more are likely to come. The
counts are the same either way.

Threads count parts of an array in kernels that release the GIL, and end before the call returns: a process may fork
between any two calls.
"""

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nobounds.arrays import Floats, Ints
from nobounds.counting.scan import Chunk
from nobounds.ladders.rungs import FloatBits, Grid

MOST_BITS = 9  # of the mantissa: a table of 2**21 entries, 8 MB
_LOADING = 1 << 27  # values that numpy counts in the time it takes to load numba
_MANY = 1 << 20  # values in one pass from which compiled code is faster
_PART = 1 << 17  # values that a thread counts at a time
_THREADS = 4
_FULL = 1 << 32  # this many values could overflow an entry

_Table: TypeAlias = NDArray[np.uint32]  # half the cache of 64-bit entries

_seen = 0  # values that numpy has counted in this process
_spare: dict[int, list[_Table]] = {}  # empty tables by size: fresh memory takes as long as a million values


class LeadingCounts:
    """The number of records with each pattern of leading bits. Missing records are not counted."""

    def __init__(self, rungs: object) -> None:
        self._map = rungs if isinstance(rungs, FloatBits | Grid) and rungs.bits <= MOST_BITS else None
        self._tables: list[_Table] = []
        self._parts: list[tuple[Ints, Ints]] = []
        self._room = 0

    def left(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        """Count the chunks for which compiled code is faster, and yield the others."""
        global _seen
        passed = 0
        for chunk in chunks:
            if self._map is None or isinstance(chunk, tuple) or not _plain(chunk):
                yield chunk
            elif (passed := passed + len(chunk)) >= _MANY and loaded(_seen + len(chunk)):
                self.add(chunk)
            else:
                _seen += len(chunk)
                yield chunk

    def add(self, values: Floats) -> None:
        """Count the values of a contiguous array."""
        assert self._map is not None
        for start in range(0, len(values), _FULL - 1):
            self._add(values[start : start + _FULL - 1], _counter(self._map))

    def _add(self, values: Floats, count: Callable[[Floats, _Table], None]) -> None:
        assert self._map is not None
        if self._room < len(values):
            self.parts()
            self._room = _FULL - 1
        self._room -= len(values)
        waiting = deque(values[start : start + _PART] for start in range(0, len(values), _PART))
        threads = min(len(waiting), _THREADS, _cores())
        while len(self._tables) < threads:
            self._tables.append(_empty(1 << 12 + self._map.bits))
        if threads == 1:
            _work(count, waiting, self._tables[0])
            return
        from concurrent.futures import ThreadPoolExecutor  # not loaded by an import of nobounds

        with ThreadPoolExecutor(threads - 1) as pool:
            others = [pool.submit(_work, count, waiting, table) for table in self._tables[1:threads]]
            _work(count, waiting, self._tables[0])
        for other in others:
            other.result()

    def parts(self) -> list[tuple[Ints, Ints]]:
        """Patterns and their counts, in tables that remain to be added up."""
        while self._tables:
            self._parts.append(_emptied(self._tables.pop()))
        return self._parts

    def rungs(self) -> list[tuple[Ints, Ints]]:
        """Rungs of the map and their counts, in tables that remain to be added up."""
        return [] if self._map is None else [(self._map.of_leading(keys), counts) for keys, counts in self.parts()]


def loaded(values: int) -> bool:
    """Whether numba is loaded; loads it if it is installed and `values` are enough to make up for the loading time."""
    return "numba" in sys.modules or (values >= _LOADING and _loads())


@lru_cache(maxsize=1)
def _loads() -> bool:
    try:
        import numba  # noqa: F401
    except ImportError:  # not installed, or not compatible with this numpy
        return False
    return True


def _plain(chunk: Floats) -> bool:
    return chunk.dtype == np.float64 and chunk.flags.c_contiguous and chunk.flags.aligned


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _work(count: Callable[[Floats, _Table], None], waiting: deque[Floats], table: _Table) -> None:
    """Count the waiting parts one at a time; several threads share the queue."""
    with suppress(IndexError):
        while True:
            count(waiting.popleft(), table)


def _empty(size: int) -> _Table:
    with suppress(KeyError, IndexError):
        return _spare[size].pop()
    return np.zeros(size, dtype=np.uint32)


def _emptied(table: _Table) -> tuple[Ints, Ints]:
    """The patterns and counts of a table; the emptied table is kept for reuse."""
    keys = np.flatnonzero(table != 0)
    counts = table[keys].astype(np.int64)
    table[keys] = 0
    if len(tables := _spare.setdefault(len(table), [])) < _THREADS:
        tables.append(table)
    return keys, counts


def _counter(rungs: FloatBits | Grid) -> Callable[[Floats, _Table], None]:
    shift, kernels = 52 - rungs.bits, _kernels()
    if isinstance(rungs, FloatBits):
        return lambda values, table: kernels.of_floats(values.view(np.uint64), shift, table)
    unit = float(rungs.unit)
    return lambda values, table: kernels.of_points(values, unit, shift, table)


class _Kernels(NamedTuple):
    of_floats: Callable[[NDArray[np.uint64], int, _Table], None]
    of_points: Callable[[Floats, float, int, _Table], None]


@lru_cache(maxsize=1)
def _kernels() -> _Kernels:
    """The functions below, compiled now or read from the cache of an earlier process."""
    from numba import types

    table, shift, real = types.Array(types.uint32, 1, "C"), types.uint64, types.float64
    floats, patterns = (types.Array(kind, 1, "C", readonly=True) for kind in (real, types.uint64))
    return _Kernels(
        _compiled(_count_floats, types.void(patterns, shift, table)),
        _compiled(_count_points, types.void(floats, real, shift, table)),
    )


def _compiled(function: Callable[..., None], signature: Any) -> Any:
    from numba import njit

    def kernel(cache: bool) -> Any:
        return njit(signature, nogil=True, error_model="numpy", cache=cache)(function)

    try:
        return kernel(cache=True)
    except RuntimeError:  # no folder is writable for the cache
        return kernel(cache=False)


def _count_floats(patterns: NDArray[np.uint64], shift: np.uint64, table: _Table) -> None:
    for i in range(patterns.size):
        if patterns[i] & np.uint64(0x7FFF_FFFF_FFFF_FFFF) <= np.uint64(0x7FF0_0000_0000_0000):  # not NaN
            table[patterns[i] >> shift] += np.uint32(1)


def _count_points(values: Floats, unit: float, shift: np.uint64, table: _Table) -> None:
    points = np.empty(256)  # in small blocks: divisions are vectorised, counts cannot be
    patterns = points.view(np.uint64)
    for start in range(0, values.size, 256):
        block = values[start : start + 256]
        missing = False
        for i in range(block.size):
            points[i] = np.rint(block[i] / unit)
            missing |= block[i] != block[i]
        for i in range(block.size):
            if not missing or block[i] == block[i]:
                table[patterns[i] >> shift] += np.uint32(1)
