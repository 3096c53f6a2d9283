"""Counts of one column on any ladder: all records on a coarse ladder, and a second look at those around some ranks.

A mechanism for a rank hardly depends on the positions of records far from that rank. So the first pass counts on a
coarse ladder. When the steps of the answer are known, a second pass reads the few records around the rank (see `kept`);
all others are only counted as below or above, and the histogram states between which rungs it is exact. A sampler that
cannot decide from these requests the full fine histogram, so the law of the answer is that of the fine ladder.
"""

from collections.abc import Iterable, Sequence
from dataclasses import field, replace

import numpy as np

from nobounds.arrays import Floats
from nobounds.counting.classes import Classes
from nobounds.counting.histogram import Histogram, merged
from nobounds.counting.kept import Kept
from nobounds.counting.scan import Chunk, Records, scan
from nobounds.counting.spans import Spans, selected
from nobounds.ladders.ladder import Ladder
from nobounds.values import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """A coarse histogram of records, and a function to read the records again. Sensitive: its repr hides them."""

    coarse: Histogram
    chunks: Records = field(repr=False)
    kept: Kept = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kept", Kept(self.coarse, self.chunks))

    @classmethod
    def of(cls, chunks: Records, ladder: Ladder) -> "Counts":
        """The counts of a first pass over the records."""
        return cls(Histogram.of(chunks(), ladder), chunks)

    def full(self, ladder: Ladder) -> Histogram:
        """The histogram of all records on another ladder."""
        return self.coarse if ladder == self.coarse.ladder else Histogram.of(self.chunks(), ladder)

    def on_rung(self, ladder: Ladder, value: Floats) -> Histogram:
        """The records on the coarse rung of one value, on another ladder."""
        rung = int(self.coarse.ladder.rungs(value)[0])
        spans = Spans.of([self.coarse.ladder.span(rung, rung)])
        return scan(self.chunks(), Within(ladder, spans), Histogram.__add__)

    def around(self, ladder: Ladder, low: float, high: float) -> Histogram:
        """The histogram on another ladder, exact on all rungs whose ranks touch the interval from `low` to `high`."""
        if ladder == self.coarse.ladder:
            return self.coarse
        if self._rungs(ladder, low, high) == (ladder.first, ladder.last):
            return self.full(ladder)
        histogram, exact = self.near(ladder, [(low, high)])
        return replace(histogram, exact=exact[0])

    def near(
        self, ladder: Ladder, ranks: Sequence[tuple[float, float]], soon: Sequence[tuple[float, float]] = ()
    ) -> tuple[Histogram, list[tuple[int, int]]]:
        """The histogram on another ladder, and rungs where it is exact: all whose ranks touch one of these intervals.

        The records between them are on one rung there, so the number of records below an exact rung is exact as well.
        soon: intervals that will be looked at next, and are read in the same pass.
        """
        if not self.coarse.total:
            return self.full(ladder), [(ladder.first, ladder.last)] * len(ranks)
        now = {place for interval in ranks for place in self.kept.places(ladder, *interval)}
        next_ = {place for interval in soon for place in self.kept.places(ladder, *interval)}
        more = set() if now <= self.kept.read else next_
        if self.kept.has(now | more) or self.kept.has(now):
            return self.kept.near(ladder, ranks)
        return self._counted(ladder, ranks)

    def _counted(self, ladder: Ladder, ranks: Sequence[tuple[float, float]]) -> tuple[Histogram, list[tuple[int, int]]]:
        """The same where too many records lie around these ranks to be kept: whole coarse rungs are counted again."""
        coarse, outside = self.coarse, np.ones(len(self.coarse.rungs), dtype=bool)
        exact = [self._rungs(ladder, *interval) for interval in ranks]
        if any(rungs == (ladder.first, ladder.last) for rungs in exact):
            return self.full(ladder), [(ladder.first, ladder.last)] * len(ranks)
        edges = coarse.ladder.rungs(np.array([ladder.span(*rungs) for rungs in exact]).ravel())
        for first, last in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            outside[slice(*np.searchsorted(coarse.rungs, [first, last + 1]))] = False
        begins = np.flatnonzero(np.diff(outside, prepend=True, append=True))  # of what is inside, and ends
        spans = Spans.of(
            coarse.ladder.span(int(coarse.rungs[begin]), int(coarse.rungs[end - 1]))
            for begin, end in zip(begins[::2].tolist(), begins[1::2].tolist(), strict=True)
        )
        inside = scan(self.chunks(), Within(ladder, spans), Histogram.__add__)
        gaps = np.flatnonzero(outside & ~np.append(False, outside[:-1]))  # the first coarse rung of each
        moved = np.add.reduceat(np.where(outside, coarse.counts, 0), gaps) if len(gaps) else gaps
        rungs = ladder.rungs(coarse.ladder.map.floats(coarse.rungs[gaps]))
        return _narrowed(inside + Histogram(ladder, *merged([(rungs, moved)])), exact, ranks)

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


def _narrowed(
    histogram: Histogram, exact: Sequence[tuple[int, int]], ranks: Sequence[tuple[float, float]]
) -> tuple[Histogram, list[tuple[int, int]]]:
    """The same with the rungs alone that these ranks touch, and one more on both sides; others between are on one rung.

    A coarse rung of very many records has very many fine rungs, of which mechanisms need few.
    """
    rungs, up_to, ladder = histogram.rungs, histogram.up_to, histogram.ladder
    keep, narrow = np.zeros(len(rungs), dtype=bool), []
    for (first, last), (low, high) in zip(exact, ranks, strict=True):
        before = int(np.searchsorted(up_to, low)) - 1
        after = int(np.searchsorted(up_to - histogram.counts, high, side="right"))
        keep[max(before, 0) : after + 1] = True
        narrow.append(
            (
                first if before < 0 else max(first, int(rungs[before])),
                last if after >= len(rungs) else min(last, int(rungs[after])),
            )
        )
    begins = np.flatnonzero(keep | np.append(True, keep[:-1]))  # of each rung that is kept, and of what is between
    return Histogram(ladder, rungs[begins], np.add.reduceat(histogram.counts, begins)), narrow


@dataclass(frozen=True, slots=True)
class Within:
    """The pass that counts the records in some intervals on a ladder."""

    ladder: Ladder
    spans: Spans = field(repr=False)

    @property
    def classes(self) -> Classes:
        """Records on the same rung."""
        return Classes(self.ladder, spans=self.spans)

    def __call__(self, chunks: Iterable[Chunk]) -> Histogram:
        return Histogram.of(selected(chunks, self.spans), self.ladder)
