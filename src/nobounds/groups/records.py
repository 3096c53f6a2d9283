"""The records of many groups on one fine ladder, group after group."""

from collections.abc import Iterator

import numpy as np

from nobounds.arrays import Ints
from nobounds.counting.histogram import Histogram
from nobounds.ladders.frame import Frame
from nobounds.ladders.ladder import Ladder
from nobounds.values import dataclass

BLOCK = 1 << 16  # entries processed together: their temporaries stay in the cache


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """The occupied rungs of each group, in order, and the number of records on each. Sensitive: its repr hides them.

    A record counts as the value of its rung, so a ladder with many bits, such as 16, is nearly exact.
    """

    ladder: Ladder
    starts: Ints  # one more than the groups: group g has the entries starts[g] to starts[g + 1] - 1
    rungs: Ints  # increasing within each group
    counts: Ints  # greater than 0

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def sizes(self) -> Ints:
        """The number of occupied rungs of each group."""
        return np.diff(self.starts)

    @property
    def totals(self) -> Ints:
        """The number of records of each group (sensitive)."""
        return sums(self.counts, self.starts)

    def histogram(self, g: int) -> Histogram:
        """The histogram of one group."""
        some = slice(int(self.starts[g]), int(self.starts[g + 1]))
        return Histogram(self.ladder, self.rungs[some], self.counts[some])

    def take(self, which: Ints) -> "Groups":
        """The groups `which`, in that order."""
        if len(which) and which[-1] - which[0] == len(which) - 1 and bool(np.all(np.diff(which) == 1)):
            starts = self.starts[which[0] : which[-1] + 2]
            some = slice(int(starts[0]), int(starts[-1]))
            return Groups(self.ladder, starts - starts[0], self.rungs[some], self.counts[some])
        first = self.starts[which]
        sizes = self.starts[which + 1] - first
        starts = np.concatenate([[0], np.cumsum(sizes)])
        entries = np.arange(starts[-1])
        entries += np.repeat(first - starts[:-1], sizes)
        return Groups(self.ladder, starts, self.rungs[entries], self.counts[entries])

    def on(self, ladder: Ladder) -> "Groups":
        """The same counts on another ladder, each record at the value of its rung."""
        if ladder is self.ladder or ladder == self.ladder:
            return self
        return Groups(ladder, self.starts, ladder.rungs(self.ladder.map.floats(self.rungs)), self.counts).merged()

    def within(self, frame: Frame, ladder: Ladder) -> "Groups":
        """The deviations of the records in the frame of each group, on one ladder."""
        values = frame.repeated(self.sizes).deviations(self.ladder.map.floats(self.rungs))
        return Groups(ladder, self.starts, ladder.rungs(values), self.counts).merged()

    def merged(self) -> "Groups":
        """The same counts with equal consecutive rungs of a group merged."""
        if not len(self.rungs):
            return self
        first = np.empty(len(self.rungs), dtype=bool)
        np.not_equal(self.rungs[1:], self.rungs[:-1], out=first[1:])
        first[self.starts[:-1][self.sizes > 0]] = True
        firsts = np.flatnonzero(first)
        if len(firsts) == len(self.rungs):
            return self
        starts = np.searchsorted(firsts, self.starts)
        return Groups(self.ladder, starts, self.rungs[firsts], np.add.reduceat(self.counts, firsts))

    def blocks(self, which: Ints) -> Iterator[Ints]:
        """The groups `which`, in parts of about BLOCK entries."""
        passed = np.cumsum(self.starts[which + 1] - self.starts[which] + 1)
        start = 0
        while start < len(which):
            before = int(passed[start - 1]) if start else 0
            end = max(int(np.searchsorted(passed, before + BLOCK, side="right")), start + 1)
            yield which[start:end]
            start = end

    def __repr__(self) -> str:
        return f"Groups({len(self)} groups, {self.ladder.describe()}, counts hidden)"


def sums(values: Ints, starts: Ints) -> Ints:
    """The sum of the values of each group; 0 for an empty group."""
    totals = np.zeros(len(starts) - 1, dtype=np.int64)
    some = starts[1:] > starts[:-1]
    if some.any():
        totals[some] = np.add.reduceat(values, starts[:-1][some], dtype=np.int64)
    return totals
