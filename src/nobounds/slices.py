"""Slices of a histogram: the records between two private answers, and the choice of a rank among them.

An answer splits the records in two. Records on its own rung belong to both sides in part: a rung has STEPS places, the
answer is one of them, and each record of the rung counts for as much as the places on a side. Whatever the answer, a
record has the weight 1 over all slices, so that a level of disjoint slices costs no more than one choice among all
records; and ties, which are most of the data on a grid, are split at the rank that was aimed at. Weights are whole
numbers of 1 / STEPS.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from nobounds.histogram import Histogram
from nobounds.ladder import Ladder
from nobounds.rungs import Ints
from nobounds.runs import DOUBLE_BITS, Runs, ranks, reach
from nobounds.walk import Walk

STEPS = 8  # places on a rung: 16 and 32 have the same error (benchmarks/quantiles.py)
MOST_OCTAVES = 40  # of a prior


class Slice(NamedTuple):
    """The places from `low` to before `high`; place p lies on rung p // STEPS."""

    low: int
    high: int

    @classmethod
    def whole(cls, ladder: Ladder) -> "Slice":
        """All places of a ladder."""
        return cls(ladder.first * STEPS, (ladder.last + 1) * STEPS)

    @property
    def rungs(self) -> tuple[int, int]:
        """The first and the last rung with a place in it."""
        return self.low // STEPS, (self.high - 1) // STEPS

    def cut(self, place: int) -> int:
        """Where a place cuts the slice in two, neither of them empty if there are two places or more."""
        return min(max(place, self.low + 1), max(self.high - 1, self.low))

    def weights(self, histogram: Histogram) -> tuple[Ints, Ints]:
        """The occupied rungs, and the weight of the records of each in this slice, in units of 1 / STEPS."""
        first, last = self.rungs
        some = slice(*np.searchsorted(histogram.rungs, [first, last + 1]))
        rungs = histogram.rungs[some]
        places = np.minimum(self.high, (rungs + 1) * STEPS) - np.maximum(self.low, rungs * STEPS)
        return rungs, histogram.counts[some] * places


@dataclass(frozen=True, slots=True)
class Prior:
    """A public prior on magnitudes: rungs beyond some octaves of a scale lose so many nats for each octave more."""

    octave: int
    nats: Fraction

    def lowered(self, ladder: Ladder, rungs: Ints, rate: Fraction) -> Ints:
        """By how many ranks each rung is lowered, for this rate of noise a rank."""
        far = _octaves(ladder, self.octave)
        beyond = np.searchsorted(far[1], rungs, side="right") + len(far[0]) - np.searchsorted(far[0], rungs)
        return min(-(-self.nats // rate), 1 << 50) * beyond

    def cuts(self, ladder: Ladder) -> Ints:
        """The rungs where another octave begins."""
        below, above = _octaves(ladder, self.octave)
        return np.union1d(below + 1, above)


def _octaves(ladder: Ladder, octave: int) -> tuple[Ints, Ints]:
    """The last rungs below minus, and the first rungs above plus, each power of two from `octave` on; in order."""
    powers = np.exp2(np.arange(octave, min(octave + MOST_OCTAVES, 1024), dtype=np.float64))
    return ladder.rungs(-powers[::-1]), ladder.rungs(powers)


@dataclass(frozen=True, slots=True)
class Aim:
    """A rank to find in a slice, all of it public: slope * (weight of the slice) + offset records from below."""

    slope: Fraction
    offset: Fraction
    leaf: bool  # whether no slice is split here, so that rungs are chosen and not their places

    def target(self, weight: int) -> Fraction:
        """The rank in units of 1 / STEPS, for a slice of this weight."""
        return self.slope * weight + self.offset * STEPS


def runs_in(histogram: Histogram, piece: Slice, aim: Aim, rate: Fraction, prior: Prior | None, near: bool) -> Runs:
    """The rungs (for a leaf) or places of a slice, in runs of equal distance from the rank that is aimed at.

    With `near` the places of rungs that hardly matter are not told apart, and the runs say which those are.
    """
    rungs, weights = piece.weights(histogram)
    target, each = aim.target(int(weights.sum())), rate / STEPS
    trusted, unit = piece.rungs, 1
    if not aim.leaf:
        far = reach(piece.high - piece.low, each, DOUBLE_BITS) + 1 if near else math.inf
        rungs, weights, trusted = _places(rungs, weights, piece, float(target) - far, float(target) + far)
        unit = STEPS
    ends_at = (piece.rungs[0], piece.rungs[1] + 1) if aim.leaf else (piece.low, piece.high)
    starts, ends, low, high = ranks(rungs, weights, *ends_at)
    if prior is None:
        return Runs.between(starts, ends, low, high, target, each, trusted)
    cuts = prior.cuts(histogram.ladder) * unit
    cuts = cuts[(starts[0] < cuts) & (cuts < ends[-1])]
    run = np.searchsorted(starts, cuts, side="right") - 1
    order = np.argsort(np.concatenate([starts, cuts]), kind="stable")
    starts, low, high = (np.concatenate([x, y])[order] for x, y in ((starts, cuts), (low, low[run]), (high, high[run])))
    ends = np.append(starts[1:], ends[-1])
    lowered = prior.lowered(histogram.ladder, starts // unit, rate) * STEPS
    return Runs.between(starts, ends, low, high, target, each, trusted, lowered)


def _places(rungs: Ints, weights: Ints, piece: Slice, low: float, high: float) -> tuple[Ints, Ints, tuple[int, int]]:
    """Occupied places and their weights, with which of them are exact: those of rungs with ranks from low to high.

    The records of other rungs are all put on the first place.
    """
    up_to = np.cumsum(weights, dtype=np.int64)
    first, end = int(np.searchsorted(up_to, low)), int(np.searchsorted(up_to - weights, high, side="right"))
    starts = np.maximum(rungs * STEPS, piece.low)
    lengths = np.minimum((rungs + 1) * STEPS, piece.high) - starts
    many = np.ones(len(rungs), dtype=np.int64)
    many[first:end] = lengths[first:end]
    before = np.cumsum(many) - many
    places = np.repeat(starts - before, many) + np.arange(int(many.sum()))
    exact = (
        piece.low if first == 0 else int(starts[first - 1]) + 1,
        piece.high - 1 if end >= len(rungs) else int(starts[end]) - 1,
    )
    return places, np.repeat(weights // many, many), exact


def walk_in(histogram: Histogram, piece: Slice, aim: Aim, up: bool, eps1: Fraction, eps2: Fraction) -> Walk:
    """A walk over the places of a slice, up or down, to the rank that is aimed at.

    A record is counted from the first place of its rung on that the walk meets.
    """
    rungs, weights = piece.weights(histogram)
    total = int(weights.sum())
    target = aim.target(total)
    if up:
        positions, levels = np.maximum(rungs * STEPS, piece.low) - piece.low, np.cumsum(weights, dtype=np.int64)
    else:
        positions = piece.high - np.minimum((rungs + 1) * STEPS, piece.high)
        positions, levels, target = positions[::-1], np.cumsum(weights[::-1], dtype=np.int64), total - target
    if not len(positions) or positions[0] > 0:
        positions, levels = np.append(0, positions), np.append(0, levels)
    lattice = Fraction(1, math.lcm(aim.slope.denominator, aim.offset.denominator))
    return Walk(positions, levels, piece.high - piece.low, target, lattice, eps1 / STEPS, eps2 / STEPS, rising=True)
