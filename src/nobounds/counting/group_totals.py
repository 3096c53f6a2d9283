"""Exact sums of groups: the number of records of each group, and the sums of maps to whole numbers over them.

Like `lattice.totals`, for many groups in one pass. The whole number of a record depends on the record alone, and whole
numbers add up to the same totals in any order and any chunking.
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nobounds.arrays import Floats, Ints

StepsMap: TypeAlias = Callable[[Floats], Ints]

Totals: TypeAlias = tuple[Ints, list[NDArray[Any]]]
"""The number of records of each group, and the sums; whole numbers of 64 bits, or Python's where they are too large."""

_MOST = 1 << 62  # what a sum in 64 bits may reach


class GroupTotals:
    """Totals that grow chunk by chunk; memory grows with the number of groups only. Sensitive."""

    def __init__(self, number: int, maps: tuple[StepsMap, ...]) -> None:
        self._maps = maps
        self.counts: Ints = np.zeros(number, dtype=np.int64)
        self._sums = [_Sum(number) for _ in maps]

    def add(self, groups: NDArray[Any], values: Floats) -> None:
        """Add a chunk: the group of each record, -1 for none, and the records, none of them missing in a group."""
        inside = groups >= 0
        if not inside.all():
            groups, values = groups[inside], values[inside]
        self.counts += np.bincount(groups, minlength=len(self.counts))
        for total, steps in zip(self._sums, self._maps, strict=True):
            total.add(groups, steps(values))

    @property
    def sums(self) -> list[NDArray[Any]]:
        """The sum of each map over the records of each group, in 64 bits or as Python's whole numbers."""
        return [total.all() for total in self._sums]


class _Sum:
    """Sums of whole numbers from 0 on; once 64 bits may not hold the next chunk, they go on in Python's numbers."""

    def __init__(self, number: int) -> None:
        self._now: Ints = np.zeros(number, dtype=np.int64)
        self._reach = 0  # no sum in `_now` is larger
        self._before: NDArray[Any] | None = None

    def add(self, groups: NDArray[Any], whole: Ints) -> None:
        """Add a whole number to the sum of each group."""
        reach = int(whole.max(initial=0)) * len(whole)
        if self._reach + reach >= _MOST:
            self._before, self._now, self._reach = self.all().astype(object), np.zeros_like(self._now), 0
        if self._before is not None and reach >= _MOST:
            np.add.at(self._before, groups, whole.astype(object))
            return
        np.add.at(self._now, groups, whole)
        self._reach += reach

    def all(self) -> NDArray[Any]:
        """The sums so far."""
        return self._now if self._before is None else self._before + self._now


def group_totals(chunks: Iterable[tuple[NDArray[Any], Floats]], number: int, maps: tuple[StepsMap, ...]) -> Totals:
    """The number of records of each of `number` groups, and the sum of each map over them (sensitive)."""
    totals = GroupTotals(number, maps)
    for groups, values in chunks:
        totals.add(groups, values)
    return totals.counts, totals.sums


def fitting(numbers: NDArray[Any]) -> NDArray[Any]:
    """Python's whole numbers in 64 bits, if all of them fit."""
    return numbers.astype(np.int64) if max(map(abs, numbers.tolist()), default=0) < _MOST else numbers
