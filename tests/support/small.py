"""Small columns on a line of a few whole numbers, and their neighbours."""

from itertools import combinations_with_replacement

import numpy as np

from nobounds.core.prior import key_of
from nobounds.counting.order import Order
from nobounds.counting.scan import read_once
from nobounds.ladders.ladder import Ladder

FLOATS = Ladder.float_bits(8)


def whole_line(last):
    """The whole numbers from 0 to `last`."""
    return Ladder.grid(1).limited(0, last)


def order_of(values, ladder=FLOATS, chunks=None):
    """The order of some records, kept in order, or read again chunk by chunk."""
    array = np.array(values, dtype=float)
    if chunks is None:
        return Order(read_once(lambda: iter([array])), ladder)
    return Order(lambda: iter(np.array_split(array, chunks)), ladder)


def masses_of(last, ladder):
    """The prior masses of 0 to `last`, as parts of their sum."""
    prior = order_of([], ladder).line.prior
    masses = np.array([float(prior.mass(key_of(float(x)), key_of(float(x)))) for x in range(last + 1)])
    return masses / masses.sum()


def neighbours(numbers, most, relation):
    """All pairs of up to `most` records of these numbers that differ by one record."""
    for n in range(most + 1):
        for data in combinations_with_replacement(numbers, n):
            if relation == "add-remove":
                yield from ((data, tuple(sorted((*data, x)))) for x in numbers if n < most)
            else:
                rests = {data[:k] + data[k + 1 :] for k in range(n)}
                yield from ((data, tuple(sorted((*rest, x)))) for rest in rests for x in numbers)
