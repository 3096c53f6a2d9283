"""What a pass over a column leaves on the driver for the next ones: all values with their numbers, if they are few.

Of many values, one of each class: records of a class have the same leading bits, so they are on the same rung of every
coarse ladder.
"""

from dataclasses import field
from typing import Any

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.counting.scan import Chunk
from nobounds.engines.spark.expressions import COARSE
from nobounds.ladders.rungs import FloatBits
from nobounds.values import dataclass

MOST = 1 << 20  # values that the driver keeps, as many as a second look does


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """Values of a column, the missing one among them, with the number of records of each. Sensitive.

    is_whole: these are all values; otherwise there is one of each class.
    tasks: how many tasks have read them.
    """

    values: Floats
    counts: Ints = field(repr=False)
    is_whole: bool = True
    tasks: int = 1

    @classmethod
    def none(cls) -> "Known":
        """What is known of no records."""
        return cls(np.zeros(0), np.zeros(0, dtype=np.int64))

    def grown(self, values: Floats) -> "Known":
        """The same with more records of the same task."""
        return _merged(self, Known(values, np.ones(len(values), dtype=np.int64)), self.tasks)

    def __add__(self, other: "Known") -> "Known":
        """The values of both parts."""
        return _merged(self, other, self.tasks + other.tasks)

    def serves(self, part: Any) -> bool:
        """Whether a pass has the same result on these as on all records."""
        classes = getattr(part, "classes", None)
        if self.is_whole or classes is None:
            return self.is_whole
        coarse = classes.ladder is not None and isinstance(classes.ladder.map, FloatBits)
        alone = classes.deviation is None and classes.spans is None
        return alone and (classes.edges == () or (coarse and classes.ladder.map.bits <= COARSE))

    @property
    def chunks(self) -> list[Chunk]:
        """The values and their numbers, as passes take them."""
        return [(self.values, self.counts)]

    def __repr__(self) -> str:
        return "Known(hidden)"


def _merged(one: Known, other: Known, tasks: int) -> Known:
    values, counts = np.concatenate([one.values, other.values]), np.concatenate([one.counts, other.counts])
    is_whole = one.is_whole and other.is_whole
    if is_whole:
        some, sums = _counted(values, values, counts)
        if len(some) <= MOST:
            return Known(some, sums, True, tasks)
        values, counts = some, sums
    # Of a missing record, the bits that are left may be those of an infinity.
    keys = np.where(np.isnan(values), -1, (values.view(np.uint64) >> np.uint64(52 - COARSE)).view(np.int64))
    return Known(*_counted(keys, values, counts), False, tasks)


def _counted(keys: Any, values: Floats, counts: Ints) -> tuple[Floats, Ints]:
    """One value of each key, and the sum of the counts."""
    _, firsts, places = np.unique(keys, return_index=True, return_inverse=True)
    sums = np.zeros(len(firsts), dtype=np.int64)
    np.add.at(sums, places, counts)
    return values[firsts], sums
