"""Data sets to plan with: sorted values, each with the number of records that it stands for.

Only the records around the requested ranks matter one by one. Up to a few thousand records all are drawn; beyond,
those in a window around each rank are, and the others lie evenly between the windows, in groups that grow with the
distance from them. Where the windows lie is random, as it is for fresh data. So a data set of a billion
records costs no more than one of ten thousand.
"""

from collections.abc import Iterator
from dataclasses import field
from fractions import Fraction
from functools import lru_cache

import numpy as np

from nobounds.arrays import Floats, Ints
from nobounds.counting.histogram import Histogram
from nobounds.counting.second_look import Counts
from nobounds.ladders.ladder import Ladder
from nobounds.planning.families import Shape
from nobounds.ranks.framing import Around, octave_counts
from nobounds.ranks.route import OneRoute
from nobounds.ranks.view import HistogramView
from nobounds.values import dataclass

ALL = 1 << 13  # up to this many records, all are drawn
WINDOW = 1 << 11  # ranks in a window
ONE_BY_ONE, GROWTH = 128, 1.01  # outside, groups are single records at first, and then grow by this
NATS = 20  # ranks further from the target than this many nats of noise hardly matter
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

    def histogram(self, ladder: Ladder, low: float = -np.inf, high: float = np.inf) -> Histogram:
        """The records on a ladder, exact for the ranks between `low` and `high`; others lie at its ends."""
        first, last = np.searchsorted(self.up_to, low), np.searchsorted(self.up_to, high) + 1
        inside, counts = self.values[first:last], self.counts[first:last]
        below = int(self.up_to[first - 1]) if first else 0
        above = self.total - below - int(counts.sum())
        rungs = np.concatenate([[ladder.first], ladder.rungs(inside), [ladder.last]])
        counts = np.concatenate([[below], counts, [above]])
        rungs, counts = rungs[counts > 0], counts[counts > 0]
        starts = np.flatnonzero(np.diff(rungs, prepend=rungs[0] - 1))
        return Histogram(ladder, rungs[starts], np.add.reduceat(counts, starts))


@dataclass(frozen=True, slots=True, eq=False)
class SampleCounts(Counts):
    """A sample in the place of the counts of a column."""

    sample: Sample = field(kw_only=True, repr=False)

    @classmethod
    def on(cls, sample: Sample, ladder: Ladder) -> "SampleCounts":
        """The counts of a sample on a coarse ladder."""
        return cls(sample.histogram(ladder), lambda: [np.repeat(sample.values, sample.counts)], sample=sample)

    def full(self, ladder: Ladder) -> Histogram:
        return self.sample.histogram(ladder)

    def around(self, ladder: Ladder, low: float, high: float) -> Histogram:
        """All records on another ladder, here too."""
        return self.sample.histogram(ladder)


@dataclass(frozen=True, slots=True, eq=False)
class SampleView(HistogramView):
    """A sample as programs for ranks see it: what hardly matters to a forecast is left out."""

    sample: Sample = field(repr=False)
    ladder: Ladder

    @property
    def coarse(self) -> Histogram:
        return self.sample.histogram(self.ladder)

    @property
    def total(self) -> int:
        return self.sample.total

    def look(self, q: Fraction, route: OneRoute) -> Histogram:
        if not route.again:
            return self.coarse.on(route.ladder)
        return self.sample.histogram(route.placed, *route.window(q, self.sample.total, NATS))

    def octaves(self, around: Around) -> Histogram:
        return octave_counts([(self.sample.values, self.sample.counts)], around)


@dataclass(frozen=True, slots=True, eq=False)
class Sampling:
    """Data sets of n records of a shape, for questions about these ranks."""

    shape: Shape
    n: int
    ranks: tuple[float, ...]
    strata: int = 1  # data sets in a row in which each gap between two records takes every part of its law once

    def typical(self) -> Sample:
        """The data set with every record at its expected place."""
        return self._sample(None)

    def fresh(self, number: int) -> Sample:
        """A random data set; the same number gives the same one."""
        return self._sample(number)

    def _sample(self, number: int | None) -> Sample:
        places, counts = _places(self.n, self.ranks, number, self.strata)
        return Sample(self.shape.at(places), counts)


@lru_cache(maxsize=128)  # data sets of all shapes begin with the same ones
def _places(n: int, ranks: tuple[float, ...], number: int | None, strata: int) -> tuple[Floats, Ints]:
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
        if drawn and rng is not None and number is not None:
            inside = (
                np.sort(rng.random(last - first)) if strata == 1 else _stratified(rng, last - first, number, strata)
            )
        places.append(low + (high - low) * inside)
        counts.append(np.diff(cuts).astype(np.int64))
    joined = np.clip(np.concatenate(places), 1e-16, 1 - 1e-16), np.concatenate(counts)
    for shared in joined:
        shared.flags.writeable = False
    return joined


def _stratified(rng: np.random.Generator, size: int, number: int, strata: int) -> Floats:
    """Order statistics of uniform numbers by their gaps, which data sets with the numbers k strata, ... share out.

    Each data set has the law of independent records. In the mean over such a series of data sets, what single gaps
    contribute has next to no variance (a Latin hypercube, McKay, Beckman and Conover 1979).
    """
    first = np.random.default_rng([_SEED, size, number // strata, strata]).integers(strata, size=size + 1)
    gaps = -np.log1p(-((first + number) % strata + rng.random(size + 1)) / strata)
    edges = np.cumsum(gaps)
    return np.asarray(edges[:-1] / edges[-1])


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
