"""Data sets to plan with: sorted values, each with the number of records that it stands for.

Only the records around the requested ranks matter one by one. Up to a few thousand records all are drawn; beyond,
those in a window around each rank are, and the others lie evenly between the windows, in groups that grow with the
distance from them. Where the windows lie is random, as it is for fresh data. So a data set of a billion
records costs no more than one of ten thousand.
"""

from collections.abc import Iterator
from dataclasses import field
from functools import lru_cache

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.planning.families import Shape
from nobounds.values import dataclass

ALL = 1 << 13  # up to this many records, all are drawn
WINDOW = 1 << 11  # ranks in a window
ONE_BY_ONE, GROWTH = 128, 1.01  # outside, groups are single records at first, and then grow by this
_SEED = 20_210_930


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Values in increasing order and how many records each stands for."""

    values: Floats
    counts: Ints
    up_to: Ints = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "up_to", np.cumsum(self.counts, dtype=np.int64))

    @property
    def total(self) -> int:
        return int(self.up_to[-1])

    def quantile(self, q: float) -> float:
        """The q-quantile, between records by a straight line, as in numpy."""
        place = q * (self.total - 1)
        low, high = (self.values[np.searchsorted(self.up_to, int(k), side="right")] for k in (place, np.ceil(place)))
        return float(low + (high - low) * (place - int(place)))

    def rank_errors(self, answers: Floats, q: float) -> Floats:
        """The distance of q n from [records below the answer, records below or at it]."""
        before = np.append(0, self.up_to)
        low, high = (before[np.searchsorted(self.values, answers, side=side)] for side in ("left", "right"))
        return np.maximum(np.maximum(low - q * self.total, q * self.total - high), 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Sampling:
    """Data sets of n records of a shape, for questions about these ranks."""

    shape: Shape
    n: int
    ranks: tuple[float, ...]

    def typical(self) -> Sample:
        """The data set with every record at its expected place."""
        return self._sample(None)

    def fresh(self, number: int) -> Sample:
        """A random data set; the same number gives the same one."""
        return self._sample(number)

    def _sample(self, number: int | None) -> Sample:
        places, counts = _places(self.n, self.ranks, number)
        return Sample(self.shape.at(places), counts)


@lru_cache(maxsize=128)  # data sets of all shapes begin with the same ones
def _places(n: int, ranks: tuple[float, ...], number: int | None) -> tuple[Floats, Ints]:
    """Where groups of records lie in their distribution, from 0 to 1, and their sizes; with no number, as expected."""
    rng = None if number is None else np.random.default_rng([_SEED, n, number])
    pieces = list(_pieces(n, ranks))
    sizes = np.array([last - first for first, last, _ in pieces], dtype=np.float64)
    widths = sizes if rng is None else rng.gamma(sizes)  # the edges are order statistics of uniform numbers
    edges = np.append(0.0, np.cumsum(widths / widths.sum()))
    places, counts = [], []
    for (first, last, drawn), low, high in zip(pieces, edges[:-1], edges[1:], strict=True):
        cuts = np.arange(last - first + 1.0) if drawn else _cuts(last - first)
        inside = (cuts[1:] + cuts[:-1]) / 2 / (last - first)
        if drawn and rng is not None:
            inside = np.sort(rng.random(last - first))
        places.append(low + (high - low) * inside)
        counts.append(np.diff(cuts).astype(np.int64))
    joined = np.clip(np.concatenate(places), 1e-16, 1 - 1e-16), np.concatenate(counts)
    for shared in joined:
        shared.flags.writeable = False
    return joined


def _pieces(n: int, ranks: tuple[float, ...]) -> Iterator[tuple[int, int, bool]]:
    """The ranks from 0 to n in pieces: first, last, and whether its records are drawn one by one."""
    if n <= ALL:
        yield 0, n, True
        return
    done = 0
    for middle in sorted(round(q * n) for q in ranks):
        first, last = max(middle - WINDOW // 2, done), min(middle + WINDOW // 2, n)
        if first > done:
            yield done, first, False
        if last > first:
            yield first, last, True
        done = max(done, last)
    if done < n:
        yield done, n, False


@lru_cache(maxsize=64)
def _cuts(length: int) -> Floats:
    """Where the groups of a piece begin and end: small next to both ends, and larger between."""
    half = (length + 1) // 2
    steps = np.concatenate([np.ones(ONE_BY_ONE), GROWTH ** np.arange(np.log(half + 1) / np.log(GROWTH))])
    cuts = np.minimum(np.floor(np.cumsum(steps)), half)
    every: Floats = np.sort(np.concatenate([[0], cuts, length - cuts, [length]]))
    return np.asarray(every[np.append(True, np.diff(every) > 0)])  # np.unique would import numpy.ma
