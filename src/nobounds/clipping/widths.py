"""The walks for the width of a clip: over deviations from its centre, outward or inward (see `clip`)."""

import math
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from nobounds.arrays import Ints
from nobounds.clipping.tuning import ClipTuning
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.prior import CENTER, SPREAD
from nobounds.mechanisms.decisions import Halt
from nobounds.mechanisms.walk import Walk
from nobounds.ranks.route import Price

BITS = 3  # 8 candidates an octave
FLOOR = -40  # deviations below 2**-40 are treated as 0
DEVIATIONS = Ladder.float_bits(BITS, FLOOR)
FINEST = Ladder.float_bits(BITS, -1000)  # the same rungs, and parts of that of 0: its own holds nothing else


class WidthWalk(NamedTuple):
    """A walk for a width, and the rung of each of its positions."""

    walk: Walk
    candidates: Ints
    inward: bool

    def halt(self, cost: Price) -> Halt:
        """Where it halts; to halt at the last candidate and never to halt mean the same width to a walk inward."""
        return Halt(lambda: self.walk, cost, one_end=self.inward)


def outward_walk(
    rungs: Ints, counts: Ints, origin: int | None, eps1: Fraction, eps2: Fraction, tuning: ClipTuning
) -> WidthWalk:
    """Records at or before each rung from 0 on, raised by the tilt, against their number."""
    levels = _up_to(rungs, counts)
    candidates, total = np.arange(len(levels)), int(levels[-1])
    if origin is not None:
        levels = levels + _tilt(
            tuning.raised / eps1, _octaves_beyond(candidates, origin + tuning.raised_from), tuning.most_raised
        )
    # A walk halts early rather than late: the next candidate has 0.90 to 0.94 of the error, and costs nothing.
    released = np.where(candidates > 0, np.minimum(candidates + 1, candidates[-1]), 0)
    return WidthWalk(_walk(levels, total, eps1, eps2), released, inward=False)


def inward_walk(
    rungs: Ints,
    counts: Ints,
    origin: int | None,
    threshold: int,
    eps1: Fraction,
    eps2: Fraction,
    tuning: ClipTuning,
    wider: int,
) -> WidthWalk:
    """Records beyond the next candidate, lowered by the tilt, against a constant; the last candidate is 0.

    Without a scale the candidates are octaves, and the tilt is what they lack under the public prior. Other widths than
    0 are `wider` than where the walk halts, by this many rungs.
    """
    inward = _inward(None if origin is None else origin + tuning.lowered_from, wider)
    if origin is None:
        octaves = FLOOR + (inward.candidates >> BITS)
        nats = np.log1p((octaves - CENTER) ** 2 / SPREAD)
        lowered = np.where(octaves > CENTER, np.ceil(nats * min(1 / float(eps2), 2.0**50)), 0.0).astype(np.int64)
    else:
        lowered = _tilt(tuning.lowered / eps2, inward.far, tuning.most_lowered)
    # The last counts all records; to halt there and never to halt both mean the width 0, so it reveals nothing.
    levels = np.bincount(inward.places[rungs], counts, len(inward.candidates)).astype(np.int64).cumsum()
    levels -= lowered
    return WidthWalk(_walk(levels, threshold, eps1, eps2), inward.released, inward=True)


class _Inward(NamedTuple):
    """The candidates of a walk inward, how many octaves out each is, and the width that is released for it.

    `places` has for each rung the last candidate that a record there does not lie beyond.
    """

    candidates: Ints
    far: Ints
    released: Ints
    places: Ints


@lru_cache(maxsize=64)
def _inward(octave: int | None, wider: int) -> _Inward:
    """All candidates up to 2**octave, then the last of each octave; without an octave, those of octaves alone."""
    far, last = _octaves_beyond(np.arange(DEVIATIONS.last + 1), FLOOR if octave is None else octave), DEVIATIONS.last
    if octave is None:
        candidates = np.append(np.arange(last, 0, -(1 << BITS)), 0)
    else:
        ends_octave = np.diff(far, append=far[-1] + 1) > 0
        candidates = np.flatnonzero((far == 0) | ends_octave)[::-1].copy()
    released = np.where(candidates > 0, np.minimum(candidates + wider, last), 0)
    places = len(candidates) - 1 - np.searchsorted(candidates[::-1], np.arange(last + 1))
    made = _Inward(candidates, far[candidates], released, places)
    for shared in made:
        shared.flags.writeable = False
    return made


def _up_to(rungs: Ints, counts: Ints) -> Ints:
    """The number of records at or before each rung from 0 on."""
    table = np.zeros(DEVIATIONS.last + 1, dtype=np.int64)
    np.add.at(table, rungs, counts)
    return np.cumsum(table)


def _octaves_beyond(rungs: Ints, octave: int) -> Ints:
    """How many octaves beyond 2**octave each rung lies, rounded up; 0 for those before it."""
    return np.maximum((rungs - rung_of(min(octave, 1023))) // (1 << BITS) + 1, 0)


def _tilt(ranks: Fraction, octaves: Ints, most: int) -> Ints:
    """`ranks` for each octave up to `most`, in whole numbers that cannot overflow."""
    return min(math.ceil(ranks), 1 << 56) * np.minimum(octaves, most)


def _walk(levels: Ints, threshold: int, eps1: Fraction, eps2: Fraction) -> Walk:
    changes = (levels[1:] != levels[:-1]).nonzero()[0]
    starts = np.empty(len(changes) + 1, dtype=np.int64)
    starts[0] = 0
    np.add(changes, 1, out=starts[1:])
    return Walk(starts, levels[starts], len(levels), Fraction(threshold), Fraction(1), eps1, eps2, rising=True)


@lru_cache(maxsize=64)
def rung_of(octave: int) -> int:
    """The rung of 2**octave."""
    return int(DEVIATIONS.rungs(np.array([2.0**octave]))[0])


@lru_cache(maxsize=1 << 13)
def top(rung: int, octave: int = 0) -> Fraction:
    """The upper edge of a rung, times 2**octave."""
    return Fraction(DEVIATIONS.top(rung)) * Fraction(2) ** octave
