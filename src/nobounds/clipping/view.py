"""The records of a column as the search for a clip sees them."""

from functools import partial

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.clipping.widths import DEVIATIONS
from nobounds.counting.histogram import Histogram
from nobounds.counting.lattice import totals
from nobounds.counting.scan import Records, mapped
from nobounds.counting.second_look import Counts
from nobounds.ladders.ladder import Ladder
from nobounds.mechanisms.decisions import Noisy, NoisyMany
from nobounds.noise.additive import Additive
from nobounds.ranks.route import Price
from nobounds.ranks.view import View


class RecordsView:
    """Decisions about records (see `clip.ClipView`); each pass over them is made once. Sensitive."""

    __slots__ = ("_records", "_seen")

    def __init__(self, records: Records) -> None:
        self._records = records
        self._seen: dict[tuple[float, float, float, bool, int], Histogram] = {}

    def number(self, noise: Additive, cost: Price) -> Noisy:
        return Noisy(totals(self._records())[0], noise, cost)

    def outer(self, low: float, high: float, noise: Additive, cost: Price) -> NoisyMany:
        n, below, above = totals(self._records(), partial(_up_to, low), partial(_from, high))
        return NoisyMany([below, n - below - above, above], noise, cost)

    def ranks(self, ladder: Ladder) -> View:
        return View(Counts.of(self._records, ladder))

    def deviations(self, center: float, low: float, high: float, all_present: bool, octave: int) -> Histogram:
        key = (center, low, high, all_present, octave)
        if key not in self._seen:
            self._seen[key] = Histogram.of(mapped(self._records(), partial(_deviations, *key)), DEVIATIONS)
        return self._seen[key]


def _deviations(center: float, low: float, high: float, all_present: bool, octave: int, values: Floats) -> Floats:
    with np.errstate(over="ignore", under="ignore"):
        deviations: Floats = np.ldexp(np.clip(values, low, high) - center, -octave)
    if all_present:
        deviations[np.isnan(deviations)] = 0.0
    return deviations


def _up_to(end: float, values: Floats) -> Ints:
    return (values <= end).astype(np.int64)


def _from(end: float, values: Floats) -> Ints:
    return (values >= end).astype(np.int64)
