"""Rows by group in this process: the code of the group of each row, and the records, which each pass reads again.

A code takes four bytes. Records are read in place where the table can be read again, and otherwise from a spool or from
the rows that were chosen of each unit.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nobounds.arrays import Floats, Ints
from nobounds.counting.group_totals import StepsMap, Totals, group_totals
from nobounds.values import dataclass

Codes = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class CodedRows:
    """The rows of one column by group (see `source.GroupRows`); a row with the code -1 is in no group. Sensitive.

    values: starts a pass over the records of all rows; without one, each row is a record 0.
    """

    keys: tuple[Any, ...]
    units: Ints
    codes: Codes
    values: Callable[[], Iterable[Floats]] | None

    def only(self, kept: Ints, keys: tuple[Any, ...]) -> "CodedRows":
        """The rows of the groups `kept`, numbered in that order, with their keys."""
        places = np.full(len(self.units) + 1, -1, dtype=np.int32)  # the last is that of no group
        places[kept] = np.arange(len(kept), dtype=np.int32)
        return replace(self, keys=keys, units=self.units[kept], codes=places[self.codes])

    def records(self) -> Iterator[Floats]:
        """The records of all groups."""
        for codes, values in self._chunks():
            inside = codes >= 0
            yield values if inside.all() else values[inside]

    def totals(self, *maps: StepsMap) -> Totals:
        """The number of records of each group, and the sum of each map over them."""
        if not maps:
            inside = self.codes[self.codes >= 0] if self.codes.min(initial=0) < 0 else self.codes
            return np.bincount(inside, minlength=len(self.units)), []
        return group_totals(self._chunks(), len(self.units), maps)

    def _chunks(self) -> Iterator[tuple[Codes, Floats]]:
        if self.values is None:
            yield self.codes, np.zeros(len(self.codes))
            return
        start = 0
        for values in self.values():
            yield self.codes[start : start + len(values)], values
            start += len(values)

    def __repr__(self) -> str:
        return "CodedRows(hidden)"
