"""The records of a column as the search for a clip sees them."""

from functools import partial

import numpy as np

from nobounds.arrays import Floats
from nobounds.clipping.widths import DEVIATIONS
from nobounds.counting.histogram import Histogram
from nobounds.counting.lattice import totals
from nobounds.counting.scan import Records, mapped
from nobounds.counting.second_look import Counts
from nobounds.mechanisms.decisions import Nested, Noisy
from nobounds.noise.additive import Additive
from nobounds.ranks.question import Question
from nobounds.ranks.route import Price
from nobounds.ranks.view import View


class RecordsView:
    """Decisions about records (see `clip.ClipView`); each pass over them is made once. Sensitive."""

    __slots__ = ("_records", "_seen")

    def __init__(self, records: Records) -> None:
        self._records = records
        self._seen: dict[tuple[float, float, float, bool], Histogram] = {}

    def number(self, noise: Additive, cost: Price) -> Noisy:
        return Noisy(totals(self._records())[0], noise, cost)

    def ranks(self, question: Question) -> View:
        """The records as programs for ranks see them."""
        return View(Counts.of(self._records, question.ladder))

    def median(self, question: Question) -> Nested[tuple[int | float, ...]]:
        return Nested(lambda: question.program(self.ranks(question)), question.cost)

    def deviations(self, center: float, low: float, high: float, all_present: bool) -> Histogram:
        key = (center, low, high, all_present)
        if key not in self._seen:
            self._seen[key] = Histogram.of(mapped(self._records(), partial(_deviations, *key)), DEVIATIONS)
        return self._seen[key]


def _deviations(center: float, low: float, high: float, all_present: bool, values: Floats) -> Floats:
    with np.errstate(over="ignore"):
        deviations: Floats = np.clip(values, low, high) - center
    if all_present:
        deviations[np.isnan(deviations)] = 0.0
    return deviations
