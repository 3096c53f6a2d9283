"""Counts of one column on any ladder: all records on a coarse ladder, and a second look at those around a rank.

A mechanism for a rank hardly depends on the positions of records far from that rank. So the first pass counts on a
coarse ladder. When the steps of the answer are known, a second pass counts the few records around the rank on their
fine rungs; all others are only counted as below or above, and the histogram states between which rungs it is exact. A
sampler that cannot decide from these requests the full fine histogram, so the law of the answer is that of the fine
ladder.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from nobounds.arrays import Floats, Ints
from nobounds.counting.histogram import Histogram, merged
from nobounds.counting.kernels import address, kernels_for
from nobounds.counting.scan import CHUNK, Chunk, Chunks, blocks, scan
from nobounds.ladders.ladder import Ladder

_BITS = 8  # of the mantissa, by which most records are left out first


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """A coarse histogram of records, and a function to read the records again. Sensitive: its repr hides them."""

    coarse: Histogram
    chunks: Callable[[], Chunks] = field(repr=False)

    @classmethod
    def of(cls, chunks: Callable[[], Chunks], ladder: Ladder) -> "Counts":
        """The counts of a first pass over the records."""
        return cls(Histogram.of(chunks(), ladder), chunks)

    def full(self, ladder: Ladder) -> Histogram:
        """The histogram of all records on another ladder."""
        return self.coarse if ladder == self.coarse.ladder else Histogram.of(self.chunks(), ladder)

    def on_rung(self, ladder: Ladder, value: Floats) -> Histogram:
        """The records on the coarse rung of one value, on another ladder."""
        rung = int(self.coarse.ladder.rungs(value)[0])
        return scan(self.chunks(), partial(_inside, ladder, *self.coarse.ladder.span(rung, rung)), _added)[1]

    def around(self, ladder: Ladder, low: float, high: float) -> Histogram:
        """The histogram on another ladder, exact on all rungs whose ranks touch the interval from `low` to `high`."""
        if ladder == self.coarse.ladder:
            return self.coarse
        first, last = self._rungs(ladder, low, high)
        if (first, last) == (ladder.first, ladder.last):
            return self.full(ladder)
        smallest, largest = ladder.span(first, last)
        below, inside = scan(self.chunks(), partial(_inside, ladder, smallest, largest), _added)
        moved = np.array([below, max(0, self.coarse.total - inside.total - below)])
        ends = Histogram(ladder, np.array([ladder.first, ladder.last])[moved > 0], moved[moved > 0])
        return replace(inside + ends, exact=(first, last))

    def near(self, ladder: Ladder, ranks: Sequence[tuple[float, float]]) -> tuple[Histogram, list[tuple[int, int]]]:
        """The histogram on another ladder, and rungs where it is exact: all whose ranks touch one of these intervals.

        Whole coarse rungs are counted again. The records between them are on one rung there, so the number of records
        below an exact rung is exact as well.
        """
        coarse, outside = self.coarse, np.ones(len(self.coarse.rungs), dtype=bool)
        exact = [self._rungs(ladder, *interval) for interval in ranks]
        edges = coarse.ladder.rungs(np.array([ladder.span(*rungs) for rungs in exact]).ravel())
        for first, last in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            outside[slice(*np.searchsorted(coarse.rungs, [first, last + 1]))] = False
        begins = np.flatnonzero(np.diff(outside, prepend=True, append=True))  # of what is inside, and ends
        spans = Spans.of(
            coarse.ladder.span(int(coarse.rungs[begin]), int(coarse.rungs[end - 1]))
            for begin, end in zip(begins[::2].tolist(), begins[1::2].tolist(), strict=True)
        )
        inside = scan(self.chunks(), partial(_within, ladder, spans), Histogram.__add__)
        gaps = np.flatnonzero(outside & ~np.append(False, outside[:-1]))  # the first coarse rung of each
        moved = np.add.reduceat(np.where(outside, coarse.counts, 0), gaps) if len(gaps) else gaps
        rungs = ladder.rungs(coarse.ladder.map.floats(coarse.rungs[gaps]))
        return inside + Histogram(ladder, *merged([(rungs, moved)])), exact

    def _rungs(self, ladder: Ladder, low: float, high: float) -> tuple[int, int]:
        """The first and the last rung of another ladder that these ranks may touch, as far as coarse rungs tell."""
        rungs, up_to = self.coarse.rungs, self.coarse.up_to
        # The last occupied coarse rung with all ranks below `low`, and the first with all ranks above `high`.
        before = int(np.searchsorted(up_to, low)) - 1
        after = int(np.searchsorted(up_to - self.coarse.counts, high, side="right"))
        value = self.coarse.ladder.map.floats
        first = ladder.first if before < 0 else int(ladder.rungs(value(rungs[before : before + 1]))[0])
        last = ladder.last if after >= len(rungs) else int(ladder.rungs(value(rungs[after : after + 1]))[0])
        return first, last


@dataclass(frozen=True, slots=True)
class Spans:
    """Disjoint intervals of floats, in order, and the leading bits of the floats in them."""

    edges: Floats  # the smallest and the largest float of each
    touched: NDArray[np.bool_]  # for each pattern of sign, exponent and _BITS bits, whether it may lie in one

    @classmethod
    def of(cls, intervals: Iterable[tuple[float, float]]) -> "Spans":
        """These intervals."""
        edges, touched = np.array(list(intervals)).reshape(-1, 2), np.zeros(1 << 12 + _BITS, dtype=bool)
        for low, high in edges:
            for sign, near, far in ((0, max(low, 0.0), high + 0.0), (1, max(-high, 0.0), 0.0 - low)):  # no -0.0
                if near <= far:
                    first, last = (np.array([near, far]).view(np.int64) >> 52 - _BITS).tolist()
                    touched[(sign << 11 + _BITS) + first : (sign << 11 + _BITS) + last + 1] = True
        return cls(edges.ravel(), touched)

    def copied(self, values: Floats) -> Floats | None:
        """The values that may lie in one, in compiled code; None if there is none."""
        if (kernels := kernels_for(values)) is None:
            return None
        out, number = np.empty(len(values) + 1), np.empty(1, dtype=np.int64)
        kernels.touched(values, 52 - _BITS, address(self.touched), address(out), address(number))
        return out[: int(number[0])]

    def inside(self, values: Floats) -> Ints:
        """The places of the values that lie in one of the intervals."""
        some = np.flatnonzero(self.touched[values.view(np.uint64) >> np.uint64(52 - _BITS)])
        few = values[some]
        after = np.searchsorted(self.edges, few)  # an odd number of edges below it, or it is the lower edge itself
        at_edge = self.edges[np.minimum(after, len(self.edges) - 1)] == few
        return np.asarray(some[(after % 2 == 1) | at_edge])


def _within(ladder: Ladder, spans: Spans, chunks: Iterable[Chunk]) -> Histogram:
    """The histogram of the records in these intervals."""
    return Histogram.of(_selected(chunks, spans), ladder)


def _selected(chunks: Iterable[Chunk], spans: Spans) -> Iterator[Chunk]:
    parts: list[tuple[Floats, Ints | None]] = []
    waiting = 0
    for values, counts in blocks(chunks):
        if counts is None and (some := spans.copied(values)) is not None:
            values = some
        wanted = spans.inside(values)
        parts.append((values[wanted], None if counts is None else counts[wanted]))
        waiting += len(wanted)
        if waiting >= CHUNK:
            yield from _joined(parts)
            parts, waiting = [], 0
    yield from _joined(parts)


def _inside(ladder: Ladder, low: float, high: float, chunks: Iterable[Chunk]) -> tuple[int, Histogram]:
    """The number of records below `low`, and the histogram of the records from `low` to `high`."""
    below = [0]
    inside = Histogram.of(_between(chunks, low, high, below), ladder)
    return below[0], inside


def _added(one: tuple[int, Histogram], other: tuple[int, Histogram]) -> tuple[int, Histogram]:
    return one[0] + other[0], one[1] + other[1]


def _between(chunks: Iterable[Chunk], low: float, high: float, below: list[int]) -> Iterator[Chunk]:
    """The values from `low` to `high` in large chunks; smaller records are counted in below[0]."""
    parts: list[tuple[Floats, Ints | None]] = []
    waiting = 0
    out, numbers = np.empty(0), np.empty(2, dtype=np.int64)
    for values, counts in blocks(chunks):
        if counts is None and (kernels := kernels_for(values)) is not None:
            out = out if len(out) > len(values) else np.empty(len(values) + 1)
            kernels.between(values, low, high, address(out), address(numbers))
            below[0] += int(numbers[1])
            parts.append((out[: int(numbers[0])].copy(), None))
        else:
            wanted = values <= high
            if low > -math.inf:
                smaller = values < low
                below[0] += int(np.count_nonzero(smaller) if counts is None else counts[smaller].sum())
                wanted ^= smaller  # a value below `low` is not above `high`
            parts.append((values[wanted], None if counts is None else counts[wanted]))
        waiting += len(parts[-1][0])
        if waiting >= CHUNK:
            yield from _joined(parts)
            parts, waiting = [], 0
    yield from _joined(parts)


def _joined(parts: list[tuple[Floats, Ints | None]]) -> Iterator[Chunk]:
    """The parts joined into at most two chunks: single records, and values with counts."""
    if single := [values for values, counts in parts if counts is None]:
        yield np.concatenate(single)
    if many := [(values, counts) for values, counts in parts if counts is not None]:
        yield np.concatenate([values for values, _ in many]), np.concatenate([counts for _, counts in many])
