"""Arrays that hold groups one behind the other: room for one more entry in each, and sums along them."""

from dataclasses import dataclass

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.groups.draws import Bools


@dataclass(frozen=True, slots=True, eq=False)
class Room:
    """Room for one entry behind those of each group, so that none is empty."""

    firsts: Ints  # the first place of each group
    lasts: Ints  # the places behind their entries
    inner: Bools  # which places are for entries

    @classmethod
    def behind(cls, starts: Ints) -> "Room":
        """Room for groups whose entries start here; the last start is the number of entries."""
        moved = np.arange(len(starts) - 1)
        firsts, lasts = starts[:-1] + moved, starts[1:] + moved
        inner = np.ones(int(starts[-1]) + len(moved), dtype=bool)
        inner[lasts] = False
        return cls(firsts, lasts, inner)

    def filled(self, entries: Ints, last: int) -> Ints:
        """The entries of all groups, each group followed by `last`."""
        found = np.empty(len(self.inner), dtype=np.int64)
        found[self.inner], found[self.lasts] = entries, last
        return found

    def spread(self, each: Ints) -> Ints:
        """One number a group, in all places of the group."""
        return np.repeat(each, self.lasts - self.firsts + 1)


def running(values: Floats, starts: Ints) -> Floats:
    """The sums of each group up to each entry, for values of one sign, in place; no group is empty.

    An entry is added to the one 1, 2, 4, ... before it in its group, so each sum has as many roundings as the length of
    its group has bits; and nothing cancels, as it would between two sums over all groups.
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
