"""Few records are read once and kept in order: every pass after the first then takes a fraction of the time."""

from itertools import chain, islice

import numpy as np

from nobounds.arrays import Floats
from nobounds.counting.scan import Chunks, Records, Remote

FEW = 1 << 13


class InOrder(list[Floats]):
    """One chunk of records in rising order, none of which is missing. Sensitive: its repr hides them."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "InOrder(hidden)"


def read_once(records: Records) -> Records:
    """The same records; if there are few, only the first pass reads them."""
    kept: list[Chunks] = []

    def chunks() -> Chunks:
        if kept:
            return kept[0]
        read = records()
        if isinstance(read, Remote):
            return read
        some = list(islice(read := iter(read), 2))
        if len(some) != 1 or isinstance(some[0], tuple) or len(some[0]) > FEW:
            return chain(some, read)
        values = np.sort(np.asarray(some[0], dtype=np.float64))  # missing ones come last
        kept.append([values] if not len(values) or np.isnan(values[-1]) else InOrder([values]))
        return kept[0]

    return chunks
