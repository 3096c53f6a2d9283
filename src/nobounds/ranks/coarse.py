"""The centre and the scale of a frame from a coarse histogram of many records.

Both cost few nats, so a coarse rung, which has one in a thousand of the records, changes their chances by a few
percent. That is what coarse counts leave open, and rejection sampling closes it (see `exponential_mechanism`): most
draws need no second pass over the records, and the others one over a single coarse rung. The laws are those of the
exact counts.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from nobounds.arrays import Ints
from nobounds.counting.histogram import Histogram
from nobounds.counting.second_look import Counts
from nobounds.ladders.cells import ends, split, splits
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.prior import prior_of_scales
from nobounds.ladders.rungs import FloatBits, Grid
from nobounds.mechanisms.exponential_mechanism import Bounded
from nobounds.mechanisms.runs import Runs
from nobounds.ranks.framing import OCTAVES, Around, octave_runs
from nobounds.ranks.route import ChoiceRoute

_LOOKS = 4  # at single coarse rungs, before all records are counted on fine ones


class Cells(NamedTuple):
    """Disjoint stretches of fine rungs, in order, and the number of records on each."""

    first: Ints
    last: Ints
    counts: Ints

    def at(self, rung: int) -> int:
        """The cell of a rung."""
        return int(np.searchsorted(self.first, rung, side="right")) - 1

    def with_exact(self, cell: int, fine: Histogram) -> "Cells":
        """The cells with the rungs of one of them."""
        parts = (fine.rungs, fine.rungs, fine.counts)
        return Cells(
            *(np.concatenate([own[:cell], new, own[cell + 1 :]]) for own, new in zip(self, parts, strict=True))
        )


def serves(coarse: Ladder, route: ChoiceRoute) -> bool:
    """Whether counts on this ladder bound the chances of a choice."""
    return route.exponential and route.frame is None and splits(route.ladder, coarse)


def center_bounds(counts: Counts, route: ChoiceRoute, q: Fraction, full: Callable[[], Runs]) -> Bounded:
    """The rungs to choose the centre from; `full` has their exact distances."""
    coarse = counts.coarse
    cells = Cells(*split(route.ladder, coarse.ladder, coarse.rungs), coarse.counts)
    return _bounded(counts, route, q, cells, full, _LOOKS)


def _bounded(
    counts: Counts, route: ChoiceRoute, q: Fraction, cells: Cells, full: Callable[[], Runs], looks: int
) -> Bounded:
    ladder = route.ladder
    up_to = np.cumsum(cells.counts)
    starts = np.append(ladder.first, np.stack([cells.first, cells.last + 1], axis=1).ravel())
    stops = np.append(starts[1:], ladder.last + 1)
    low = np.append(0, np.stack([up_to - cells.counts, up_to], axis=1).ravel())
    high = np.append(0, np.stack([up_to, up_to], axis=1).ravel())
    some = stops > starts
    starts, stops, low, high = starts[some], stops[some], low[some], high[some]
    whole = ladder.first, ladder.last
    runs = Runs.between(starts, stops, low, high, q * counts.coarse.total, route.rate, whole, prior=route.prior)

    def finer(rung: int) -> Bounded:
        if not looks:
            return exact_bounds(full())
        cell = cells.at(rung)
        inside = counts.on_rung(ladder, ladder.map.floats(cells.first[cell : cell + 1]))
        return _bounded(counts, route, q, cells.with_exact(cell, inside), full, looks - 1)

    return Bounded(runs, np.where(stops - starts > 1, high - low, 0), finer)


def exact_bounds(runs: Runs) -> Bounded:
    """Runs whose distances are exact."""

    def exact(rung: int) -> Bounded:
        raise AssertionError("all distances are exact")

    return Bounded(runs, np.zeros(len(runs.starts), dtype=np.int64), exact)


def spread_bounds(coarse: Histogram, around: Around, rate: Fraction, exact: Callable[[], Histogram]) -> Bounded:
    """The octaves to choose the scale from; `exact` counts the deviations of all records."""
    least, most = around.rungs(*ends(coarse.ladder, coarse.rungs))
    size = OCTAVES.last + 1
    # Records up to each octave, deviations of 0 among them: at least, and at most.
    fewest, largest = (np.cumsum(np.bincount(rungs, coarse.counts, size).astype(np.int64)) for rungs in (most, least))
    # The target is half of the records with a deviation, which with those without one is half of all and of the latter.
    low, high = coarse.total + int(fewest[0]), coarse.total + int(largest[0])  # twice the target
    nearest = np.maximum(np.maximum(2 * fewest[:-1] - high, low - 2 * largest[1:]), 0) // 2
    farthest = -(-np.maximum(np.maximum(2 * largest[:-1] - low, high - 2 * fewest[1:]), 0) // 2)
    none = np.zeros(len(nearest), dtype=np.int64)
    runs = Runs(
        starts=OCTAVES.first + np.arange(len(nearest)),
        lengths=none + 1,
        above=nearest,
        below=none - 1,
        parts=(Fraction(0), Fraction(0)),
        rate=rate,
        trusted=(OCTAVES.first, OCTAVES.last),
        lowered=np.broadcast_to(np.int64(0), len(nearest)),
        growth=np.broadcast_to(np.int64(0), len(nearest)),
        prior=prior_of_scales(OCTAVES, around.heaped),
    )
    return Bounded(runs, farthest - nearest, lambda rung: exact_bounds(octave_runs(exact(), rate, around.heaped)))


def has_ends(ladder: Ladder) -> bool:
    """Whether the values on a rung are known without a search."""
    return isinstance(ladder.map, FloatBits | Grid)
