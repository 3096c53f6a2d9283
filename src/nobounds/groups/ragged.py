"""Sums along the groups of an array that holds them one behind the other, each with one entry at least."""

import numpy as np

from nobounds.rungs import Floats, Ints


def running(values: Floats, starts: Ints) -> Floats:
    """The sums of each group up to each entry, for values of one sign, in place.

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
