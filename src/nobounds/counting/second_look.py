"""Counts of one column on any ladder: all records on a coarse ladder, and a second look at those around some ranks.

A mechanism for a rank hardly depends on the positions of records far from that rank. So the first pass counts on a
coarse ladder. When the steps of the answer are known, a second pass reads the few records around the rank (see `kept`);
all others are only counted as below or above, and the histogram states between which rungs it is exact. A sampler that
cannot decide from these requests the full fine histogram, so the law of the answer is that of the fine ladder.
"""

from collections.abc import Iterable, Sequence
from dataclasses import field, replace

import numpy as np
from numpy.typing import NDArray

from nobounds.arrays import Floats
from nobounds.counting.classes import Classes
from nobounds.counting.histogram import Histogram, merged
from nobounds.counting.kept import Kept
from nobounds.counting.scan import Chunk, Records, scan
from nobounds.counting.spans import Spans, selected
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.rungs import MOST_BITS, FloatBits
from nobounds.values import dataclass

MANY = 1 << 18  # fine rungs that are counted at once: a few megabytes
_SPLIT = 8  # bits by which coarse rungs of more records are split before


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
        if self.coarse.total <= MANY and _touched(self.coarse, ladder, low, high) == (ladder.first, ladder.last):
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
        """The same where too many records lie around these ranks to be kept: whole coarse rungs are counted again.

        Those of very many records are split into finer ones first, so that no more than a few have to be counted.
        """
        coarse = self.coarse
        while True:
            exact = [_touched(coarse, ladder, *interval) for interval in ranks]
            outside = np.ones(len(coarse.rungs), dtype=bool)
            edges = coarse.ladder.rungs(np.array([ladder.span(*rungs) for rungs in exact]).ravel())
            for first, last in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
                outside[slice(*np.searchsorted(coarse.rungs, [first, last + 1]))] = False
            finer = _finer(coarse.ladder)
            fine = sum(last - first + 1 for first, last in exact)  # rungs
            if finer is None or min(int(coarse.counts[~outside].sum()), fine) <= MANY:
                if any(rungs == (ladder.first, ladder.last) for rungs in exact):
                    return self.full(ladder), [(ladder.first, ladder.last)] * len(ranks)
                return _narrowed(self._within(coarse, outside, ladder), exact, ranks)
            coarse = self._within(coarse, outside, finer)

    def _within(self, coarse: Histogram, outside: NDArray[np.bool_], ladder: Ladder) -> Histogram:
        """The records on another ladder; those on a stretch of coarse rungs `outside` are all on one rung."""
        begins = np.flatnonzero(np.diff(outside, prepend=True, append=True))  # of what is inside, and ends
        spans = Spans.of(
            coarse.ladder.span(int(coarse.rungs[begin]), int(coarse.rungs[end - 1]))
            for begin, end in zip(begins[::2].tolist(), begins[1::2].tolist(), strict=True)
        )
        inside = scan(self.chunks(), Within(ladder, spans), Histogram.__add__)
        gaps = np.flatnonzero(outside & ~np.append(False, outside[:-1]))  # the first coarse rung of each
        moved = np.add.reduceat(np.where(outside, coarse.counts, 0), gaps) if len(gaps) else gaps
        rungs = ladder.rungs(coarse.ladder.map.floats(coarse.rungs[gaps]))
        return inside + Histogram(ladder, *merged([(rungs, moved)]))


def _touched(coarse: Histogram, ladder: Ladder, low: float, high: float) -> tuple[int, int]:
    """The first and the last rung of another ladder that these ranks may touch, as far as coarse rungs tell.

    They reach over the whole of the coarse rungs around these ranks, so that those of finer rungs never reach further.
    """
    rungs, up_to = coarse.rungs, coarse.up_to
    # The last occupied coarse rung with all ranks below `low`, and the first with all ranks above `high`.
    before = int(np.searchsorted(up_to, low)) - 1
    after = int(np.searchsorted(up_to - coarse.counts, high, side="right"))
    first, last = ladder.first, ladder.last
    if before >= 0:
        first = int(ladder.rungs(np.array([coarse.ladder.lowest(int(rungs[before]))]))[0])
    if after < len(rungs):
        last = int(ladder.rungs(np.array([coarse.ladder.highest(int(rungs[after]))]))[0])
    return first, last


def _finer(ladder: Ladder) -> Ladder | None:
    """A ladder that splits each rung of a coarse one; None if there is none."""
    rungs = ladder.map
    if not isinstance(rungs, FloatBits) or rungs.bits + _SPLIT > MOST_BITS:
        return None
    return ladder.finest(rungs.bits + _SPLIT, rungs.floor)


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
