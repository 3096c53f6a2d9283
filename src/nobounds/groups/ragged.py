"""Arrays that hold groups one after another: room for one more entry per group, and cumulative sums."""

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.groups.draws import Bools
from nobounds.values import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Room:
    """A layout with one more entry at the end of each group, so no group is empty."""

    firsts: Ints  # the first place of each group
    lasts: Ints  # the added place of each group
    inner: Bools  # which places hold the original entries

    @classmethod
    def behind(cls, starts: Ints) -> "Room":
        """The layout for groups whose entries start at `starts`; the last start is the number of entries."""
        moved = np.arange(len(starts) - 1)
        firsts, lasts = starts[:-1] + moved, starts[1:] + moved
        inner = np.ones(int(starts[-1]) + len(moved), dtype=bool)
        inner[lasts] = False
        return cls(firsts, lasts, inner)

    def filled(self, entries: Ints, last: int) -> Ints:
        """The entries of all groups, each group followed by `last`."""
        filled = np.empty(len(self.inner), dtype=np.int64)
        filled[self.inner], filled[self.lasts] = entries, last
        return filled

    def spread(self, each: Ints) -> Ints:
        """One number per group, repeated in all places of the group."""
        return np.repeat(each, self.lasts - self.firsts + 1)


def running(values: Floats, starts: Ints) -> Floats:
    """Cumulative sums within each group, in place, for values of one sign; no group is empty.

    Entries are added at distances 1, 2, 4, ... within a group, so each sum has as many roundings as the length of its
    group has bits. Nothing cancels, as it would in a difference of cumulative sums over all groups.
    """
    sizes = np.diff(starts, append=len(values))
    longest = int(sizes.max(initial=1))
    if longest == 1:
        return values
    place = np.arange(len(values))
    place -= np.repeat(starts, sizes)
    step = 1
    while step < longest:
        values[step:] += np.where(place[step:] >= step, values[:-step], 0.0)
        step *= 2
    return values
