"""Spans: intervals of floats, and the records in them, copied in one pass."""

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from nobounds.arrays import Floats, Ints
from nobounds.counting.kernels import Kernels, address, kernels_for
from nobounds.counting.scan import CHUNK, Chunk, blocks
from nobounds.values import dataclass

_BITS = 8  # of the mantissa, by which most records are left out first


@dataclass(frozen=True, slots=True)
class Spans:
    """Disjoint intervals of floats, in order, and the leading bits of the floats in them."""

    edges: Floats  # the smallest and the largest float of each
    touched: NDArray[np.bool_]  # for each pattern of sign, exponent and _BITS bits, whether it may lie in one

    @classmethod
    def of(cls, intervals: Iterable[tuple[float, float]]) -> "Spans":
        """These intervals."""
        edges = np.array(list(intervals)).reshape(-1, 2)
        touched = np.zeros(1 << 12 + _BITS if len(edges) > 1 else 0, dtype=bool)
        for low, high in edges if len(edges) > 1 else ():
            for sign, near, far in ((0, max(low, 0.0), high + 0.0), (1, max(-high, 0.0), 0.0 - low)):  # no -0.0
                if near <= far:
                    first, last = (np.array([near, far]).view(np.int64) >> 52 - _BITS).tolist()
                    touched[(sign << 11 + _BITS) + first : (sign << 11 + _BITS) + last + 1] = True
        return cls(edges.ravel(), touched)

    def copied(self, values: Floats, kernels: Kernels) -> Floats:
        """The values in them, in compiled code."""
        out, numbers = np.empty(len(values) + 1), np.empty(2, dtype=np.int64)
        if len(self.edges) == 2:
            kernels.between(values, *self.edges.tolist(), address(out), address(numbers))
            return out[: int(numbers[0])].copy()
        kernels.touched(values, 52 - _BITS, address(self.touched), address(out), address(numbers))
        some = out[: int(numbers[0])]
        return some[self._inside(some)]

    def inside(self, values: Floats) -> Ints | NDArray[np.bool_]:
        """The places of the values that lie in one of the intervals, or whether each does."""
        if len(self.edges) == 2:
            low, high = self.edges.tolist()
            within: NDArray[np.bool_] = values >= low
            within &= values <= high
            return within
        keys = (values.view(np.uint64) >> np.uint64(52 - _BITS)).view(np.int64)  # as an index is, without a copy
        some = self.touched[keys].nonzero()[0]
        return np.asarray(some[self._inside(values[some])])

    def _inside(self, few: Floats) -> NDArray[np.bool_]:
        after = np.searchsorted(self.edges, few)  # an odd number of edges below it, or it is the lower edge itself
        at_edge = self.edges[np.minimum(after, len(self.edges) - 1)] == few
        return np.asarray((after % 2 == 1) | at_edge)


def selected(chunks: Iterable[Chunk], spans: Spans) -> Iterator[Chunk]:
    """The records in these intervals, in large chunks."""
    parts: list[tuple[Floats, Ints | None]] = []
    waiting = 0
    for values, counts in blocks(chunks):
        if counts is None and (kernels := kernels_for(values)) is not None:
            parts.append((spans.copied(values, kernels), None))
        else:
            wanted = spans.inside(values)
            parts.append((values[wanted], None if counts is None else counts[wanted]))
        waiting += len(parts[-1][0])
        if waiting >= CHUNK:
            yield from _joined(parts)
            parts, waiting = [], 0
    yield from _joined(parts)


def _joined(parts: list[tuple[Floats, Ints | None]]) -> Iterator[Chunk]:
    """The parts joined into at most two chunks: single records, and values with counts."""
    if single := [values for values, counts in parts if counts is None]:
        yield np.concatenate(single)
    if many := [(values, counts) for values, counts in parts if counts is not None]:
        yield np.concatenate([values for values, _ in many]), np.concatenate([counts for _, counts in many])
