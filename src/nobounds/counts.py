"""Counts of one column on any ladder: all records on a coarse ladder, and a second look at those around a rank.

A mechanism that looks for a rank hardly depends on where the records far from it lie. So the first pass counts on a
coarse ladder; when the steps of the answer are known, a second look takes the few records around the rank to their fine
rungs. All others are only counted, below or above, and the histogram says between which rungs it is exact. A sampler
that cannot decide from those asks for the full fine histogram, so the law of the answer is that of the fine ladder.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from nobounds.histogram import CHUNK, Histogram
from nobounds.ladder import Ladder
from nobounds.rungs import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """A coarse histogram of some records, and how to read the records again. Sensitive: its repr hides them."""

    coarse: Histogram
    chunks: Callable[[], Iterable[Floats]] = field(repr=False)

    @classmethod
    def of(cls, chunks: Callable[[], Iterable[Floats]], ladder: Ladder) -> "Counts":
        """The coarse pass."""
        return cls(Histogram.of(chunks(), ladder), chunks)

    def full(self, ladder: Ladder) -> Histogram:
        """All records on another ladder."""
        return self.coarse if ladder == self.coarse.ladder else Histogram.of(self.chunks(), ladder)

    def around(self, ladder: Ladder, low: float, high: float) -> Histogram:
        """The records on another ladder, exact on all rungs whose ranks touch those from `low` to `high`."""
        if ladder == self.coarse.ladder:
            return self.coarse
        rungs, up_to = self.coarse.rungs, self.coarse.up_to
        # The last occupied coarse rung whose records all rank below `low`, and the first whose records rank above.
        before = int(np.searchsorted(up_to, low)) - 1
        after = int(np.searchsorted(up_to - self.coarse.counts, high, side="right"))
        value = self.coarse.ladder.map.floats
        first = ladder.first if before < 0 else int(ladder.rungs(value(rungs[before : before + 1]))[0])
        last = ladder.last if after >= len(rungs) else int(ladder.rungs(value(rungs[after : after + 1]))[0])
        smallest, largest = ladder.span(first, last)
        below = [0]
        inside = Histogram.of(_between(self.chunks(), smallest, largest, below), ladder)
        moved = np.array([below[0], max(0, self.coarse.total - inside.total - below[0])])
        ends = Histogram(ladder, np.array([ladder.first, ladder.last])[moved > 0], moved[moved > 0])
        return replace(inside + ends, exact=(first, last))


def _between(chunks: Iterable[Floats], low: float, high: float, below: list[int]) -> Iterator[Floats]:
    """The values from `low` to `high`, a good many at a time; those that are smaller are counted in below[0]."""
    found, waiting = [], 0
    for chunk in chunks:
        for start in range(0, len(chunk), CHUNK):
            values = chunk[start : start + CHUNK]
            wanted = values <= high
            if low > -math.inf:
                smaller = values < low
                below[0] += int(np.count_nonzero(smaller))
                wanted ^= smaller  # what is smaller than `low` is not above `high`
            found.append(values[wanted])
            waiting += len(found[-1])
        if waiting >= CHUNK:
            yield np.concatenate(found)
            found, waiting = [], 0
    yield np.concatenate([*found, np.zeros(0)])
