"""What slices see of the records: all of them, or those around the ranks that a level aims at, read again for each."""

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np

from nobounds.counting.histogram import Histogram
from nobounds.counting.second_look import Counts
from nobounds.ladders.ladder import Ladder
from nobounds.ranks.many.slices import Slice, SliceAim
from nobounds.ranks.view import FEW

_ENDS = 2  # ranks around the ends of a slice that are read again
_SOON = 2  # times the ranks around an aim, that the records of later levels are expected in
_PART = 8  # records are read again where no more than one in this many is


class Look:
    """The records of a column on a ladder. `near` is exact on some rungs alone; `full` everywhere."""

    def __init__(self, counts: Counts, ladder: Ladder) -> None:
        self._counts, self._ladder = counts, ladder
        self._exact: list[tuple[int, int]] = []
        self._spans: dict[tuple[Slice, SliceAim], tuple[int, int]] = {}
        self.near = Histogram(ladder, np.array([ladder.first]), np.array([counts.coarse.total]))

    @cached_property
    def full(self) -> Histogram:
        """All records, on their rungs."""
        return self._counts.full(self._ladder)

    def around(self, slices: Sequence[tuple[Slice, SliceAim]], far: float, qs: Sequence[Fraction] = ()) -> None:
        """Read the records again that are within `far` ranks of those aimed at, if these are few and not all are known.

        All slices of a level come together: their ends lie where the look before was exact. `qs` are all quantiles:
        the records around them are read in the same pass.
        """
        total, self._spans = self._counts.coarse.total, {}
        if total <= max(FEW, _PART * 2 * far * len(slices)) or "full" in self.__dict__ or not self._knows(slices):
            return
        ranks = list[tuple[float, float]]()
        for piece, aim in slices:
            low, target, high = piece.ranks(self.near, aim)
            ranks += [(target - far, target + far), (low - _ENDS, low + _ENDS), (high - _ENDS, high + _ENDS)]
        soon = [(float(q * total) - _SOON * far, float(q * total) + _SOON * far) for q in qs]
        self.near, self._exact = self._counts.near(self._ladder, ranks, soon)
        self._spans = dict(zip(slices, self._exact[::3], strict=True))

    def exact(self, piece: Slice, aim: SliceAim) -> tuple[int, int] | None:
        """The rungs that `near` is exact on around the rank that is aimed at; None without such a look."""
        return self._spans.get((piece, aim))

    def _knows(self, slices: Sequence[tuple[Slice, SliceAim]]) -> bool:
        """Whether all ends of slices lie on exact rungs, or are those of the ladder."""
        ends = {rung for piece, _ in slices for rung in piece.rungs} - {self._ladder.first, self._ladder.last}
        return all(any(first <= rung <= last for first, last in self._exact) for rung in ends)
