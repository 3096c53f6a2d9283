"""The records of a column as the search for a clip sees them."""

from nobounds.clipping.widths import BITS, DEVIATIONS, FINEST, FLOOR
from nobounds.counting.deviation import Deviation
from nobounds.counting.histogram import Histogram
from nobounds.counting.lattice import Outside, totals
from nobounds.counting.scan import Records
from nobounds.counting.second_look import Counts
from nobounds.ladders.ladder import Ladder, float_bounds
from nobounds.ladders.rungs import FloatBits
from nobounds.mechanisms.decisions import Noisy, NoisyMany
from nobounds.noise.additive import Additive
from nobounds.ranks.route import Price
from nobounds.ranks.view import View


class RecordsView:
    """Decisions about records (see `clip.ClipView`); each pass over them is made once. Sensitive."""

    __slots__ = ("_counts", "_ladder", "_records", "_seen")

    def __init__(self, records: Records, ladder: Ladder | None = None) -> None:
        """A view of records, which may be counted on a ladder."""
        self._records, self._ladder = records, ladder
        self._counts: dict[Ladder, Counts] = {}
        self._seen: dict[Deviation, Histogram] = {}

    @classmethod
    def of(cls, counts: Counts) -> "RecordsView":
        """A view of records that are counted already."""
        view = cls(counts.chunks, counts.coarse.ladder)
        view._counts[counts.coarse.ladder] = counts
        return view

    def number(self, noise: Additive, cost: Price) -> Noisy:
        total = totals(self._records())[0] if self._ladder is None else self.counts(self._ladder).coarse.total
        return Noisy(total, noise, cost)

    def outer(self, low: float, high: float, noise: Additive, cost: Price) -> NoisyMany:
        n, below, above = totals(self._records(), Outside(low, upwards=False), Outside(high, upwards=True))
        return NoisyMany([below, n - below - above, above], noise, cost)

    def ranks(self, ladder: Ladder) -> View:
        return View(self.counts(ladder))

    def counts(self, ladder: Ladder) -> Counts:
        """The counts on a ladder."""
        counts = self._counts.get(ladder)
        if counts is None:
            counts = self._counts[ladder] = Counts.of(self._records, ladder)
        return counts

    def deviations(self, center: float, low: float, high: float, all_present: bool, octave: int) -> Histogram:
        return self._deviations(Deviation(center, low, high, octave, all_present)).scaled(0, DEVIATIONS)

    def at_center(self, center: float, low: float, high: float, octave: int) -> int:
        """How many records do not deviate from the centre at all, by the pass for `deviations` (sensitive)."""
        counted = self._deviations(Deviation(center, low, high, octave))
        return int(counted.counts[counted.rungs == 0].sum())

    def _deviations(self, key: Deviation) -> Histogram:
        """The deviations on the finest rungs."""
        counted = self._seen.get(key)
        if counted is None and key.center == 0 and not key.all_present:
            counted = self._magnitudes(key.low, key.high, key.octave)
        if counted is None:
            counted = Histogram.of_deviations(self._records(), key, FINEST)
        self._seen[key] = counted
        return counted

    def _magnitudes(self, low: float, high: float, octave: int) -> Histogram | None:
        """The deviations from 0, from coarse counts if these decide them: their rungs are parts of wider ones then."""
        for ladder, counts in self._counts.items():
            rungs = ladder.map
            fits = isinstance(rungs, FloatBits) and rungs.bits >= BITS and rungs.floor <= octave + FLOOR
            if fits and float_bounds(ladder) == (low, high):
                return counts.coarse.scaled(octave, FINEST)
        return None
