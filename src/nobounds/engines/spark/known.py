"""What a pass over a column leaves on the driver for the next ones: classes of records, and how many are in each.

A class is an interval between two records, with those between them. What a pass tells apart depends on the order of
records alone, so it cannot tell the records of a class apart if it does not tell the two ends apart. Few records are
classes of equal ones, which serve every pass.
"""

from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nobounds.arrays import Floats, Ints
from nobounds.counting.classes import Classes
from nobounds.counting.scan import Chunk
from nobounds.counting.spans import Spans
from nobounds.engines.spark.expressions import COARSE
from nobounds.values import dataclass

MOST = 1 << 20  # values of a column that the driver keeps, as many as a second look does
_OF_TASK = 1 << 16  # values that a task returns; of more, it returns classes
_TRIED = 1 << 17  # records in which a task looks for as many


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """Classes of records by their least and their largest, missing ones among them, with their numbers. Sensitive."""

    low: Floats
    high: Floats
    counts: Ints = field(repr=False)
    wide: NDArray[np.bool_] = field(init=False, repr=False)  # whether a class has different records

    def __post_init__(self) -> None:
        object.__setattr__(self, "wide", self.low < self.high)

    @classmethod
    def none(cls) -> "Known":
        """What is known of no records."""
        return cls.of(np.zeros(0))

    @classmethod
    def of(cls, values: Floats) -> "Known":
        """All of these records, missing ones among them."""
        known, counts = np.unique(values, return_counts=True)
        return cls(known, known, counts.astype(np.int64))

    @property
    def is_whole(self) -> bool:
        """Whether the records of each class are equal."""
        return not self.wide.any()

    def grown(self, values: Floats) -> "Known":
        """The same with more records of the same task."""
        if self.is_whole and len(np.unique(values[:_TRIED])) <= _OF_TASK:
            return _merged(self, Known.of(values), _OF_TASK)
        return _merged(self, _coarse(values, values, np.ones(len(values), dtype=np.int64)), _OF_TASK)

    def __add__(self, other: "Known") -> "Known":
        """The records of both parts."""
        return _merged(self, other, MOST)

    def serves(self, part: Any) -> bool:
        """Whether a pass has the same result on one record of each class as on all records."""
        classes: Classes | None = getattr(part, "classes", None)
        if self.is_whole or classes is None:
            return self.is_whole
        if classes.spans is not None:
            return not bool((self.wide & self._touched(classes.spans)).any())
        low, high = self.low[self.wide], self.high[self.wide]
        if classes.edges is not None:
            places = (
                (np.searchsorted(classes.edges, low, side), np.searchsorted(classes.edges, high, side))
                for side in ("left", "right")
            )
            return all(np.array_equal(one, other) for one, other in places)
        if classes.ladder is None:
            return False
        if classes.deviation is not None:
            low, high = classes.deviation(low), classes.deviation(high)
        return np.array_equal(classes.ladder.rungs(low), classes.ladder.rungs(high))

    def most_inside(self, spans: Spans) -> int:
        """How many records lie in these intervals, at most."""
        return int(self.counts[self._touched(spans)].sum())

    def _touched(self, spans: Spans) -> NDArray[np.bool_]:
        begun = np.searchsorted(spans.edges[::2], self.high, side="right")
        touched: NDArray[np.bool_] = begun > np.searchsorted(spans.edges[1::2], self.low)
        return touched & ~np.isnan(self.low)

    @property
    def chunks(self) -> list[Chunk]:
        """A record of each class and their numbers, as passes take them."""
        return [(self.low, self.counts)]

    def __repr__(self) -> str:
        return "Known(hidden)"


def _merged(one: Known, other: Known, most: int) -> Known:
    low, high, counts = (
        np.concatenate([getattr(each, name) for each in (one, other)]) for name in ("low", "high", "counts")
    )
    if one.is_whole and other.is_whole:
        known, places = np.unique(low, return_inverse=True)
        if len(known) <= most:
            sums = np.zeros(len(known), dtype=np.int64)
            np.add.at(sums, places, counts)
            return Known(known, known, sums)
    return _coarse(low, high, counts)


def _coarse(low: Floats, high: Floats, counts: Ints) -> Known:
    """Classes of the same sign, exponent and leading bits, from classes that are parts of these."""
    # Of a missing record, the bits that are left may be those of an infinity.
    keys = np.where(np.isnan(low), -1, ((low + 0.0).view(np.uint64) >> np.uint64(52 - COARSE)).view(np.int64))
    _, places = np.unique(keys, return_inverse=True)
    size = int(places.max(initial=-1)) + 1
    least, most, sums = np.full(size, np.inf), np.full(size, -np.inf), np.zeros(size, dtype=np.int64)
    with np.errstate(invalid="ignore"):  # a warning would reveal a missing record
        np.minimum.at(least, places, low)
        np.maximum.at(most, places, high)
    np.add.at(sums, places, counts)
    return Known(least, most, sums)
