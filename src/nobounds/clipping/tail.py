"""The tail of a clip: noisy counts of the octaves around it, which bound what clipping changed and may move the clip.

After the search for a clip one decision buys noisy counts of the octaves of the deviations on each side of its centre,
from 1/256 of the width to 4,096 times the width, of all records beyond, and of those at the centre itself. A record is
in at most one of these cells: it adds 1 to one count under add-remove, and moves 1 between two of them under swap.
The counts say whether another clip, wider or narrower, has the smaller error (see `moving`); this is chosen before the
noise of the sum is drawn, and catches clips that ran away. They also give the law of what lies beyond (see `excess`).
docs/proofs/tail.md has the cost.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np

from nobounds.accounting.cost import Cost, both, gaussian, pure
from nobounds.accounting.loss import Neighbors
from nobounds.arrays import Floats, Ints
from nobounds.clipping.octaves.excess import BELOW, CountNoise, Fitted, fitted, inside_octave
from nobounds.clipping.widths import BITS, DEVIATIONS
from nobounds.counting.histogram import Histogram
from nobounds.mechanisms.decisions import AddedNoise, NoisyMany
from nobounds.noise.additive import Additive, GaussianNoise
from nobounds.values import dataclass

LOWEST, HIGHEST = -8, 12  # the first and the last edge over the width, as powers of two
CELLS = HIGHEST - LOWEST + 1  # for each side; the last one has no upper edge
MOVES = np.arange(LOWEST + BELOW, HIGHEST + 1)  # powers of two that the width may be moved by
FAR = 8  # octaves that a clip is moved by, from which on no large excess is believed
NARROWEST = 6 << BITS  # a side counts as at least 1/64 as wide as the other
SURE = 8  # scales of the noise above which a count is no noise; one more for each octave further out
RISES = 7  # scales of the noise by which a count beyond the clip may be above the one before it
OUTWEIGHS = 2.5  # standard deviations that the first counts beyond the clip must reach, to outweigh those below it
SEEN, SEEN_BEFORE = (
    10,
    30,
)  # scales of noise that an octave below the clip must have, to say something of squares beyond
CARRIED = 2.5  # standard deviations of the sum of counts that it must reach, else the clip may have run away
CLEARLY = 4.5  # the same from which on it surely has not; below it an answer must have an end of its interval
HEAP, BESIDE = 20, 3  # scales of noise that records at the centre must have, and others at most, for a heap
CARRYING = 10  # cells of each side that are summed, the first ones
_BEYOND = 1.6  # a record beyond the last edge lies further than one in the next octave by this
_EDGES, WIDTHS = 2.0 ** np.arange(LOWEST, HIGHEST + 1), 2.0**MOVES
_BEYOND_CLIP = np.where(np.arange(CELLS) >= -LOWEST, 1.0, 0.0)  # 1 for the cells beyond the clip
_GROUP = 3  # octaves before the last, which have more records than lie beyond it unless those are a separate group
_FURTHER = 1 + np.arange(HIGHEST + 2) / SURE
_FALLING = -LOWEST - 1  # the cell from which on counts are taken to fall: that just below the clip


@dataclass(frozen=True, slots=True)
class TailRule:
    """How octaves are counted, all of it public."""

    epsilon: Fraction  # nominal under zCDP
    neighbors: Neighbors
    zcdp: bool = False

    def cost(self) -> Cost:
        """The cost of all counts together."""
        if self.zcdp:
            return gaussian(self.epsilon**2 / 2)
        return both(pure(self.epsilon), pure(self.epsilon - self.spare)) if self.spare else pure(self.epsilon)

    @property
    def spare(self) -> Fraction:
        """What a record that turns from missing to present costs less than one that moves: it changes one count."""
        return self.epsilon / 2 if self.neighbors == "swap" and not self.zcdp else Fraction(0)

    @property
    def noise(self) -> AddedNoise:
        """The noise on each count; under swap the squares of the two changes add up."""
        if self.zcdp and self.neighbors == "swap":
            return GaussianNoise(self.epsilon**2 / 4)
        return Additive(self.epsilon, self.zcdp)

    @property
    def sensitivity(self) -> int:
        """How far a record moves the counts, in the norm of the noise; in `noise` where that is not whole."""
        return 2 if self.neighbors == "swap" and not self.zcdp else 1

    @property
    def count_noise(self) -> CountNoise:
        """The noise as the law of the excess takes it."""
        return _count_noise(self)

    def decision(self, around: Histogram, heap: int, signs: Sequence[int], anchors: Sequence[int]) -> NoisyMany:
        """The noisy counts of the cells on these sides, around the rungs of the clip; the last is of the centre.

        heap: the number of records at the centre. It is not that on rung 0, where deviations are small over the scale.
        """
        counts = np.concatenate([cells(around, *side) for side in zip(signs, anchors, strict=True)])
        return NoisyMany([*counts.tolist(), heap], self.noise, self.cost, self.sensitivity)


@lru_cache(maxsize=256)  # a rule is a small public value
def _count_noise(rule: TailRule) -> CountNoise:
    parameter = float(rule.noise.parameter(rule.sensitivity))
    return CountNoise(math.sqrt(parameter) if rule.zcdp else 1 / parameter, rule.zcdp)


def carried(noisy: Sequence[int], noise: CountNoise) -> bool:
    """Whether there are clearly records around the clip, and no separate group of them beyond all octaves.

    Else the clip may have run away, far beyond all records; or it is that of a heap of equal ones, with the others far
    outside.
    """
    sides = [noisy[k : k + CELLS] for k in range(0, len(noisy), CELLS)]
    apart = any(side[-1] > max((SURE + HIGHEST) * noise.scale, sum(side[-1 - _GROUP : -1])) for side in sides)
    return stands_out(noisy, noise, CARRIED) and not apart


def stands_out(noisy: Sequence[int], noise: CountNoise, deviations: float) -> bool:
    """Whether all counts around the clip together are this many standard deviations of their noise."""
    sides = [noisy[k : k + CELLS] for k in range(0, len(noisy), CELLS)]
    near = sum(sum(side[:CARRYING]) for side in sides)
    return near >= deviations * noise.deviation(CARRYING * len(sides))


def beside_heap(heap: int, count: Fraction, more: float, noise: CountNoise, chance: float) -> int | None:
    """How many records lie elsewhere, at most, by the noisy number of those at the centre; None if not nearly all do.

    `count` is a noisy number of all records, and there are at most `more` than that. The noise of the heap hides more
    of the others with at most this probability.
    """
    if heap < HEAP * noise.scale or count - heap > BESIDE * noise.scale:
        return None
    return max(math.floor(float(count - heap) + more + noise.reach(chance)), 0)


def anchored(rungs: Sequence[int]) -> tuple[int, ...]:
    """The rungs that octaves are counted around: those of the clip, and none much narrower than the other."""
    widest = max(rungs, default=0)
    return tuple(max(rung, widest - NARROWEST, 1 if widest else 0) for rung in rungs)


def cells(around: Histogram, sign: int, anchor: int) -> Ints:
    """How many records lie in each octave around a rung, on one side of the centre (sensitive)."""
    rungs = sign * around.rungs
    which = np.minimum((rungs - anchor - 1 >> BITS) - LOWEST, CELLS - 1)
    inside = (rungs > 0) & (which >= 0)
    return np.bincount(which[inside], around.counts[inside], CELLS).astype(np.int64)


def biases(noisy: Floats, less: float, sure: float = math.inf, power: int = 1) -> Floats:
    """About how much lies beyond the width moved by each of MOVES, in widths, by noisy counts in the last axis.

    With `power` 2 it is about squares, in squared widths.

    Beyond the clip `less` of each count is taken as noise, and so is what it is above an earlier one: counts fall, but
    one above `sure` is believed. The faster counts fall, the nearer are records to the lower edge of their octave.
    """
    counts = np.maximum(noisy - less * _BEYOND_CLIP, 0.0)
    beyond_clip = counts[..., _FALLING:]
    counts[..., _FALLING:] = np.where(
        beyond_clip > sure * _FURTHER, beyond_clip, np.minimum.accumulate(beyond_clip, axis=-1)
    )
    slopes = np.log(counts + 1)
    slopes[..., 1:] -= slopes[..., :-1].copy()
    edges, widths = (_EDGES, WIDTHS) if power == 1 else (_EDGES**power, WIDTHS**power)
    values = edges * inside_octave(slopes, power)
    values[..., -1] *= _BEYOND**power
    beyond: Floats = (counts[..., None] * np.maximum(values[..., None] - widths, 0.0)).sum(axis=-2)
    return beyond


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a clip: its noisy counts, and the edge of an octave that is nearest to it.

    This edge is `move` octaves from where octaves are counted around, and `width` from the centre.
    """

    sign: int  # 1 above the centre, -1 below
    noisy: tuple[int, ...]
    width: Fraction
    move: int
    clip: float = 1.0  # the width of the clip on this side, over that of the edge

    @property
    def far(self) -> bool:
        """Whether the clip lies far from where octaves are counted around: records then spread over many of them."""
        return self.move >= FAR

    def rises(self, noise: CountNoise) -> bool:
        """Whether counts clearly rise beyond the clip: then nothing is known of what lies there.

        One may be far above the one before it, or the first few together above the two octaves just below the clip,
        which by the assumption have more.
        """
        first = self.move - LOWEST
        below, beyond = self.noisy[first - 2 : first], self.noisy[first:]
        at_once = np.any(np.diff(np.maximum((below[-1], *beyond), 0)) > RISES * noise.scale)
        likely = OUTWEIGHS * noise.deviation(1) * np.sqrt(np.arange(1, len(beyond) + 1))
        return bool(at_once or np.any(np.cumsum(beyond) > np.maximum(sum(below), likely)))

    def seen(self, noise: CountNoise) -> bool:
        """Whether one of the two octaves below the clip clearly has records, so that they say how counts go on."""
        before, below = self.noisy[self.move - LOWEST - 2 : self.move - LOWEST]
        return below >= SEEN * noise.scale or before >= SEEN_BEFORE * noise.scale

    def excess(self, noise: CountNoise, most: float, unit: Fraction, power: int = 1) -> Floats:
        """Points of the law of the excess on this side, in units of `unit`, as is `most` (see `excess`).

        With `power` 2 it is that of the squared deviations, in the square of `unit`.
        """
        if most <= 0:  # the clip ends at a public bound
            return np.zeros(1)
        width, law = float(self.width / unit), self.law(noise, power)
        return np.full(1, math.inf) if law is None else width**power * law.excess(law.numbers, most / width, self.clip)

    def law(self, noise: CountNoise, power: int = 1) -> Fitted | None:
        """The law of what lies beyond the clip on this side; None if nothing is known of it."""
        if self.width == 0 or self.rises(noise) or (power > 1 and not self.seen(noise)):
            return None
        return fitted(np.array(self.noisy[self.move - LOWEST - BELOW :]), noise, power)


def moved_rung(anchor: int, move: int) -> int:
    """The rung of a width that is moved by this many candidates."""
    return min(max(anchor + move, 1), DEVIATIONS.last)
