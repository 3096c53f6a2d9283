"""Records around some ranks, sorted: whole coarse rungs of them, read in one pass and kept.

Their ranks are known, because all records are counted on coarse rungs. So everything finer follows from the few records
around a rank, and the others are only numbers.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from typing import NamedTuple

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.counting.classes import Classes
from nobounds.counting.histogram import Histogram, merged
from nobounds.counting.scan import Chunk, Records, scan
from nobounds.counting.spans import Spans, selected
from nobounds.ladders.cells import ends
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.rungs import FloatBits, Grid
from nobounds.values import dataclass

MOST = 1 << 20  # records that are kept: 8 MB


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """The records on some of the coarse rungs, by the place of the rung in the coarse histogram. Sensitive."""

    coarse: Histogram
    records: Records = field(repr=False)
    _sorted: dict[int, Floats] = field(default_factory=dict, repr=False)
    _touched: dict[Ladder, tuple[Ints, Ints]] = field(default_factory=dict, repr=False)

    def places(self, ladder: Ladder, low: float, high: float) -> range:
        """The places of the coarse rungs with the records of these ranks, and with one more record on both sides.

        With a rung of the ladder that is wider than a coarse rung come all coarse rungs on it.
        """
        first, last = np.searchsorted(self.coarse.up_to, self._ends(low, high), side="right").tolist()
        least, most = self._wide(ladder)
        if least[first] == most[first]:
            first = min(first, int(np.searchsorted(most, least[first])))
        if least[last] == most[last]:
            last = max(last, int(np.searchsorted(least, most[last], side="right")) - 1)
        return range(first, last + 1)

    def _wide(self, ladder: Ladder) -> tuple[Ints, Ints]:
        """About the first and the last rung of the ladder that each coarse rung touches."""
        if ladder not in self._touched:
            low, high = self._edges()
            unit = float(getattr(self.coarse.ladder.map, "unit", 1))
            with np.errstate(over="ignore"):
                self._touched[ladder] = ladder.rungs(low * unit), ladder.rungs(high * unit)
        return self._touched[ladder]

    def _edges(self) -> tuple[Floats, Floats]:
        if isinstance(self.coarse.ladder.map, FloatBits | Grid):
            return ends(self.coarse.ladder, self.coarse.rungs)
        middle = self.coarse.ladder.map.floats(self.coarse.rungs)
        return middle, middle

    @property
    def read(self) -> frozenset[int]:
        """The places of the rungs whose records are kept."""
        return frozenset(self._sorted)

    def has(self, places: Iterable[int]) -> bool:
        """Whether the records on these rungs are kept, or are few enough to be: then they are read now."""
        wanted = sorted({place for place in places if place not in self._sorted})
        if int(self.coarse.counts[wanted].sum()) + sum(map(len, self._sorted.values())) > MOST:
            return False
        if wanted:
            read = np.sort(scan(self.records(), Gathered(self._spans(wanted)), _appended))
            parts = np.split(read, np.cumsum(self.coarse.counts[wanted])[:-1])
            self._sorted.update(zip(wanted, parts, strict=True))
        return True

    def near(self, ladder: Ladder, ranks: Sequence[tuple[float, float]]) -> tuple[Histogram, list[tuple[int, int]]]:
        """The histogram on another ladder, and the rungs where it is exact, one pair for each interval of ranks.

        The records between are on one rung there, so the number of records below an exact rung is exact as well.
        """
        looks = [self._whole(ladder, *interval) for interval in ranks]
        total, passed, after, parts = self.coarse.total, 0, _Beside(ladder.last, False), []
        for look in sorted(looks, key=lambda look: look.first):
            if look.first > passed:
                between = after if passed and after.is_record else look.before
                parts.append((np.array([between.rung]), np.array([look.first - passed])))
            parts.append(_counted(look.rungs[max(passed - look.first, 0) :]))
            if (end := look.first + len(look.rungs)) > passed:
                passed, after = end, look.after
        if passed < total:
            parts.append((np.array([after.rung]), np.array([total - passed])))
        return Histogram(ladder, *merged(parts)), [look.exact for look in looks]

    def _ends(self, low: float, high: float) -> tuple[int, int]:
        """The first and the last record of these ranks, and one more on both sides, as numbers from 0 on."""
        last = self.coarse.total - 1
        return int(min(max(low - 2, 0), last)), int(max(min(high + 2, last), 0))

    def _whole(self, ladder: Ladder, low: float, high: float) -> "_Look":
        """The look at these ranks, with all records on its outer rungs if they are few enough."""
        places = self.places(ladder, low, high)
        while True:
            look = self._look(ladder, places, *self._ends(low, high))
            wider = range(places[0] - look.shares[0], places[-1] + look.shares[1] + 1)
            if wider == places or not self.has(wider):
                return look
            places = wider

    def _look(self, ladder: Ladder, places: range, first: int, last: int) -> "_Look":
        start = int(self.coarse.up_to[places[0]] - self.coarse.counts[places[0]])
        values = np.concatenate([self._sorted[place] for place in places])
        rungs = ladder.rungs(values[first - start : last - start + 1])
        # All records on the outer rungs belong to the look, as far as they are kept.
        head, tail = values[: first - start][::-1], values[last - start + 1 :]
        more, most = (_of_same(ladder, *side) for side in ((head, int(rungs[0])), (tail, int(rungs[-1]))))
        rungs = np.concatenate([np.full(more, rungs[0]), rungs, np.full(most, rungs[-1])])
        exact, shares = [ladder.first, ladder.last], [False, False]
        if first - more > 0:
            shares[0] = more == len(head) and self._edge(ladder, places[0] - 1, 1) >= rungs[0]
            exact[0] = int(rungs[0]) + shares[0]
        if last + most < self.coarse.total - 1:
            shares[1] = most == len(tail) and self._edge(ladder, places[-1] + 1, 0) <= rungs[-1]
            exact[1] = int(rungs[-1]) - shares[1]
        before = self._beside(ladder, head[more : more + 1], places[0] - 1)
        after = self._beside(ladder, tail[most : most + 1], places[-1] + 1)
        return _Look(first - more, rungs, (exact[0], exact[1]), (shares[0], shares[1]), before, after)

    def _edge(self, ladder: Ladder, place: int, side: int) -> int:
        """The rung of the smallest or the largest float on a coarse rung."""
        rung = int(self.coarse.rungs[place])
        return int(ladder.rungs(np.array([self.coarse.ladder.span(rung, rung)[side]]))[0])

    def _beside(self, ladder: Ladder, record: Floats, place: int) -> "_Beside":
        """The rung of the next record on a side, or of its coarse rung if it is not kept."""
        if len(record):
            return _Beside(int(ladder.rungs(record)[0]), True)
        if not 0 <= place < len(self.coarse.rungs):
            return _Beside(ladder.first, False)  # there is none
        value = self.coarse.ladder.map.floats(self.coarse.rungs[place : place + 1])
        return _Beside(int(ladder.rungs(value)[0]), False)

    def _spans(self, places: list[int]) -> Spans:
        """The intervals of floats on these rungs; rungs beside each other are one."""
        rungs, ladder = self.coarse.rungs, self.coarse.ladder
        begins = [k for k, place in enumerate(places) if k == 0 or places[k - 1] != place - 1]
        stops = [*(k - 1 for k in begins[1:]), len(places) - 1]
        return Spans.of(
            ladder.span(int(rungs[places[k]]), int(rungs[places[m]])) for k, m in zip(begins, stops, strict=True)
        )


@dataclass(frozen=True, slots=True)
class _Look:
    """The rungs of the records from the one with number `first` on, and where they are all there are."""

    first: int
    rungs: Ints
    exact: tuple[int, int]
    shares: tuple[bool, bool]  # whether other records may be on the first and on the last of them
    before: "_Beside"
    after: "_Beside"


class _Beside(NamedTuple):
    """A rung for the records beside a look: that of the next one, or of its coarse rung."""

    rung: int
    is_record: bool


def _of_same(ladder: Ladder, values: Floats, rung: int) -> int:
    """How many of these records, the nearest first, are on this rung."""
    if not len(values) or int(ladder.rungs(values[:1])[0]) != rung:
        return 0
    return int(np.count_nonzero(ladder.rungs(values) == rung))


def _counted(rungs: Ints) -> tuple[Ints, Ints]:
    """The distinct rungs of a sorted array, and how often each occurs."""
    firsts = np.flatnonzero(np.diff(rungs, prepend=rungs[:1] - 1))
    return rungs[firsts], np.diff(firsts, append=len(rungs))


@dataclass(frozen=True, slots=True)
class Gathered:
    """The pass that gathers the records in some intervals."""

    spans: Spans = field(repr=False)

    @property
    def classes(self) -> Classes:
        """Records with the same value."""
        return Classes(spans=self.spans)

    def __call__(self, chunks: Iterable[Chunk]) -> Floats:
        return np.concatenate([np.zeros(0), *_single(selected(chunks, self.spans))])


def _single(chunks: Iterable[Chunk]) -> Iterator[Floats]:
    for chunk in chunks:
        yield np.repeat(*chunk) if isinstance(chunk, tuple) else chunk


def _appended(one: Floats, other: Floats) -> Floats:
    return np.concatenate([one, other])
