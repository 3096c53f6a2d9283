"""Slices of a histogram: the records between two noisy answers, and the choice of a rank among them.

An answer splits the records in two. Records on its own rung belong to both sides in part: a rung has places, the
answer is one of them, and each record of the rung counts for as much as the places on a side. Whatever the answer, a
record has the weight 1 over all slices, so a level of disjoint slices costs no more than one choice among all records;
and ties, which are most of the data on a grid, are split at the rank that is aimed at. Weights are whole numbers of
1 / places.
"""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from nobounds.arrays import Ints
from nobounds.counting.histogram import Histogram
from nobounds.ladders.frame import Framed
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.prior import Prior
from nobounds.mechanisms.runs import Runs, ranks
from nobounds.mechanisms.walk import Walk
from nobounds.ranks.tuning import TUNING
from nobounds.values import dataclass

MOST_OCTAVES = 40  # that are lowered
_MOST_RANKS = 1 << 46  # that an octave lowers by: all octaves together, in places, fit into 64 bits


class Slice(NamedTuple):
    """The places from `low` to before `high`, of which each rung has `places`; place p lies on rung p // places."""

    low: int
    high: int
    places: int = TUNING.places

    @classmethod
    def whole(cls, ladder: Ladder, places: int = TUNING.places) -> "Slice":
        """All places of a ladder."""
        return cls(ladder.first * places, (ladder.last + 1) * places, places)

    @property
    def rungs(self) -> tuple[int, int]:
        """The first and the last rung with a place in it."""
        return self.low // self.places, (self.high - 1) // self.places

    def cut(self, place: int) -> int:
        """Where a place cuts the slice in two; neither part is empty if there are two places or more."""
        return min(max(place, self.low + 1), max(self.high - 1, self.low))

    def middle(self, rung: int) -> int:
        """The place in the middle of the part of a rung that lies in the slice."""
        return (max(self.low, rung * self.places) + min(self.high, (rung + 1) * self.places)) // 2

    def ranks(self, histogram: Histogram, aim: "SliceAim") -> tuple[float, float, float]:
        """The ranks of its lower end, that is aimed at, and of its upper end, among all records; about."""
        before, here = (
            int(piece.weights(histogram)[1].sum())
            for piece in (Slice(histogram.ladder.first * self.places, self.low, self.places), self)
        )
        target = float(before + aim.target(here, self.places))
        return before / self.places, target / self.places, (before + here) / self.places

    def weights(self, histogram: Histogram) -> tuple[Ints, Ints]:
        """The occupied rungs, and the weight of the records of each in this slice, in units of 1 / places."""
        first, last = self.rungs
        some = slice(*np.searchsorted(histogram.rungs, [first, last + 1]))
        rungs = histogram.rungs[some]
        there = np.minimum(self.high, (rungs + 1) * self.places) - np.maximum(self.low, rungs * self.places)
        return rungs, histogram.counts[some] * there


@dataclass(frozen=True, slots=True)
class Lowered:
    """Rungs beyond 2**`octave` scales from the centre of a frame are lowered by `nats` for each octave; 0 for none."""

    octave: int
    nats: Fraction

    def lowered(self, ladder: Ladder, rungs: Ints, rate: Fraction) -> Ints:
        """The number of ranks by which each rung is lowered, for this rate of noise per rank."""
        below, above = self._octaves(ladder)
        beyond = np.searchsorted(above, rungs, side="right") + len(below) - np.searchsorted(below, rungs)
        return min(-(-self.nats // rate), _MOST_RANKS) * beyond

    def cuts(self, ladder: Ladder) -> Ints:
        """The rungs where another octave begins."""
        below, above = self._octaves(ladder)
        return np.union1d(below + 1, above)

    def _octaves(self, ladder: Ladder) -> tuple[Ints, Ints]:
        """The last rungs below minus, and the first above plus, each power of two from `octave` on; in order."""
        if not self.nats:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        assert isinstance(ladder.map, Framed)
        deviations = ladder.map.inner
        powers = np.exp2(np.arange(self.octave, min(self.octave + MOST_OCTAVES, 1024), dtype=np.float64))
        below, above = deviations.of(-powers[::-1]), deviations.of(powers)
        return below[below >= ladder.first], above[above <= ladder.last]


@dataclass(frozen=True, slots=True)
class SliceAim:
    """The rank to aim at in a slice, all of it public: slope * (weight of the slice) + offset records from below."""

    slope: Fraction
    offset: Fraction
    leaf: bool  # whether no slice is split here: rungs are chosen, not their places

    def target(self, weight: int, places: int) -> Fraction:
        """The rank in units of 1 / places, for a slice of this weight."""
        return self.slope * weight + self.offset * places


def runs_in(
    histogram: Histogram,
    piece: Slice,
    aim: SliceAim,
    rate: Fraction,
    far: Lowered,
    prior: Prior | None = None,
    exact: tuple[int, int] | None = None,
) -> Runs:
    """The rungs (for a leaf) or places of a slice, in runs that lie on one side of the rank that is aimed at.

    `exact`: the rungs that are exact around that rank, if it is not all of them.
    """
    rungs, weights = piece.weights(histogram)
    target, each = aim.target(int(weights.sum()), piece.places), rate / piece.places
    if aim.leaf:
        ends_at, trusted, unit = (piece.rungs[0], piece.rungs[1] + 1), piece.rungs, 1
        starts, ends, low, high = ranks(rungs, weights, *ends_at)
        growth = np.zeros_like(starts)
    else:
        trusted, unit = (piece.low, piece.high - 1), piece.places
        starts, ends, low, high, growth = _spread(rungs, weights, piece, target)
        prior = None if prior is None else prior.placed(piece.places)
    if exact is not None:
        trusted = max(exact[0] * unit, trusted[0]), min((exact[1] + 1) * unit - 1, trusted[1])
    cuts = far.cuts(histogram.ladder) * unit
    cuts = cuts[(starts[0] < cuts) & (cuts < ends[-1])]
    run = np.searchsorted(starts, cuts, side="right") - 1
    order = np.argsort(np.concatenate([starts, cuts]), kind="stable")
    low, high, growth = (np.concatenate([values, values[run]])[order] for values in (low, high, growth))
    starts = np.concatenate([starts, cuts])[order]
    ends = np.append(starts[1:], ends[-1])
    lowered = far.lowered(histogram.ladder, starts // unit, rate) * piece.places
    return Runs.between(
        starts,
        ends,
        low,
        high=high,
        target=target,
        rate=each,
        trusted=trusted,
        lowered=lowered,
        growth=growth,
        prior=prior,
    )


def _spread(rungs: Ints, weights: Ints, piece: Slice, target: Fraction) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Runs of places, the ranks they span, and by what these grow from place to place.

    An occupied rung is three runs: places whose ranks lie below the target, touch it, and lie above it.
    """
    first, end = np.maximum(rungs * piece.places, piece.low), np.minimum((rungs + 1) * piece.places, piece.high)
    each, up_to = weights // (end - first), np.cumsum(weights, dtype=np.int64)
    before = up_to - weights
    below = np.clip(-((before - math.ceil(target)) // each) - 1, 0, end - first)
    above = np.clip((math.floor(target) - before) // each + 1, 0, end - first)
    left, right = before + below * each, before + above * each
    starts = np.append(piece.low, np.stack([first, first + below, first + above, end], axis=1).ravel())
    low = np.append(0, np.stack([before, left, right, up_to], axis=1).ravel())
    high = np.append(0, np.stack([left, right, up_to, up_to], axis=1).ravel())
    growth = np.append(0, np.stack([each, 0 * each, each, 0 * each], axis=1).ravel())
    return starts, np.append(starts[1:], piece.high), low, high, growth


def walk_in(histogram: Histogram, piece: Slice, aim: SliceAim, up: bool, eps1: Fraction, eps2: Fraction) -> Walk:
    """A walk over the rungs of a slice, up or down, to the rank that is aimed at."""
    rungs, weights = piece.weights(histogram)
    first, last = piece.rungs
    total = int(weights.sum())
    if up:
        positions, levels, target = rungs - first, np.cumsum(weights, dtype=np.int64), aim.target(total, piece.places)
    else:
        positions, levels = (last - rungs)[::-1], np.cumsum(weights[::-1], dtype=np.int64)
        target = total - aim.target(total, piece.places)
    if not len(positions) or positions[0] > 0:
        positions, levels = np.append(0, positions), np.append(0, levels)
    lattice = Fraction(1, math.lcm(aim.slope.denominator, aim.offset.denominator))
    return Walk(
        positions, levels, last - first + 1, target, lattice, eps1 / piece.places, eps2 / piece.places, rising=True
    )
