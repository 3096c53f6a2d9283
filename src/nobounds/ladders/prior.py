"""A public prior over numbers: what each rung of a fine ladder weighs before any record is seen.

Magnitudes have heavy tails: the octave from 2**k on weighs 1 / (69 + (k - 4)**2), about the Cauchy law of log10
with the centre 1.2 and the width 2.5; both signs weigh the same, and 0 has a twentieth of the whole. Within an octave
all rungs weigh the same. All weights are whole numbers, so a number is drawn exactly (docs/proofs/prior.md).
"""

import math
from bisect import bisect_right
from collections.abc import Hashable
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nobounds.arrays import Floats, Ints
from nobounds.ladders.ladder import Ladder
from nobounds.ladders.rungs import FloatBits, Grid
from nobounds.ladders.zoned import Zoned
from nobounds.values import dataclass

CENTER, SPREAD = 4, 69  # of the exponents of 2: the middle, and the square of the width
ZERO = 20  # the part of the whole that 0 weighs is one over this
_ONE = 1 << 30  # the weight of the heaviest octave
_FINEST = 24  # log2 of the rungs an octave up to which each rung weighs a whole number of units
_FLAT = 20  # a flat prior has this many more bits for its lowest octaves
_SEARCHED = 64  # rungs up to which each of them is searched for
_SCALE_WIDTH = 6  # octaves by which a scale may easily be larger or smaller than expected
_HEAP, _HEAVIER = -40, 200  # the octave that stands for next to no scale, and what it weighs over all others


@dataclass(frozen=True, eq=False)
class Prior:
    """Blocks of rungs, in order; the rungs of a block weigh the same, and each has a power of two of them."""

    starts: Ints  # the first rung of each block
    units: Ints  # what each block weighs in all, over 2**shift
    bits: Ints  # log2 of the number of rungs in each block
    key: Hashable  # equal for equal priors

    @cached_property
    def shift(self) -> int:
        """Masses are whole numbers of 2**-shift units."""
        return int(self.bits.max())

    @cached_property
    def _before(self) -> Ints:
        """What all blocks before each one weigh."""
        return np.concatenate([[0], np.cumsum(self.units)])

    @cached_property
    def _listed(self) -> tuple[list[int], list[int]]:
        """`starts` and `_before` as lists, in which one number is looked up faster."""
        return self.starts.tolist(), self._before.tolist()

    @cached_property
    def _each(self) -> list[int]:
        """What one rung of each block weighs."""
        return [unit << (self.shift - bits) for unit, bits in zip(self.units.tolist(), self.bits.tolist(), strict=True)]

    @cached_property
    def _each_float(self) -> Floats:
        return np.ldexp(self.units.astype(np.float64), -self.bits.astype(np.int32))

    @property
    def most(self) -> int:
        """What all rungs weigh together."""
        return int(self._before[-1]) << self.shift

    @cached_property
    def nats(self) -> float:
        """ln of what all rungs weigh over the lightest one."""
        return math.log(self.most) - math.log(min(self._each))

    def mass(self, first: int, last: int) -> int:
        """What the rungs from `first` to `last` weigh."""
        low, high = self._blocks(first, last)
        if low == high:
            return (last - first + 1) * self._each[low]
        starts, before = self._listed
        inner = (before[high] - before[low + 1]) << self.shift
        head, tail = starts[low + 1] - first, last - starts[high] + 1
        return head * self._each[low] + inner + tail * self._each[high]

    def masses(self, first: Ints, last: Ints) -> Floats:
        """Like `mass`, in units, for many intervals; the relative error is below 2**-50, as nothing is subtracted."""
        low, high = self._block(first), self._block(last)
        masses = (last - first + 1) * self._each_float[low]
        across = np.nonzero(low != high)  # few of them, where intervals are short
        if len(across[0]):
            low, high, first, last = (values[across] for values in (low, high, first, last))
            inner = self._before[high] - self._before[low + 1]
            head, tail = self.starts[low + 1] - first, last - self.starts[high] + 1
            masses[across] = head * self._each_float[low] + inner + tail * self._each_float[high]
        return np.asarray(masses)

    def _block(self, rungs: Ints) -> Ints:
        """The block of each rung."""
        if rungs.ndim != 1 or len(rungs) < _SEARCHED or bool((rungs[1:] < rungs[:-1]).any()):
            return np.searchsorted(self.starts, rungs, side="right") - 1
        # In order: a search for each block that begins between them, and the first and the last may lie far out.
        starts = self._listed[0]
        first, low, high, last = (bisect_right(starts, rungs.item(k)) for k in (0, 1, -2, -1))
        passed = np.empty(high - low + 2, dtype=np.int64)
        passed[0], passed[1:-1], passed[-1] = 0, rungs[1:-1].searchsorted(self.starts[low:high]), len(rungs) - 2
        blocks = np.empty(len(rungs), dtype=np.int64)
        blocks[0], blocks[-1] = first - 1, last - 1
        blocks[1:-1] = np.arange(low - 1, high).repeat(passed[1:] - passed[:-1])
        return blocks

    def is_even(self, first: Ints, last: Ints) -> NDArray[np.bool_]:
        """Whether all rungs from `first` to `last` weigh the same, for many intervals."""
        ends = (np.searchsorted(self.starts, end, side="right") for end in (first, last))
        return np.equal(*ends)

    def is_even_from(self, first: int, last: int) -> bool:
        """The same for one interval."""
        low, high = self._blocks(first, last)
        return low == high

    def rung_at(self, first: int, last: int, place: int) -> int:
        """The rung on which unit `place` of the mass from `first` to `last` lies."""
        low, high = self._blocks(first, last)
        if low == high:
            return first + place // self._each[low]
        starts, before = self._listed
        head = (starts[low + 1] - first) * self._each[low]
        if place < head:
            return first + place // self._each[low]
        place += before[low + 1] << self.shift
        place -= head
        block = bisect_right(before, place >> self.shift) - 1
        return starts[block] + (place - (before[block] << self.shift)) // self._each[block]

    def placed(self, places: int) -> "Prior":
        """The prior over the places of rungs, a power of two of them on each, which weigh the same."""
        return _placed(self, places)

    def parts(self, first: int, last: int, many: int) -> list[tuple[int, int]]:
        """The rungs from `first` to `last` in at most `many` parts of about the same mass."""
        mass, many = self.mass(first, last), min(many, last - first + 1)
        starts = sorted({self.rung_at(first, last, mass * k // many) for k in range(many)})
        return list(zip(starts, [*(start - 1 for start in starts[1:]), last], strict=True))

    def _blocks(self, first: int, last: int) -> tuple[int, int]:
        return bisect_right(self._listed[0], first) - 1, bisect_right(self._listed[0], last) - 1


@lru_cache(maxsize=64)
def _placed(prior: Prior, places: int) -> Prior:
    more = places.bit_length() - 1
    return Prior(prior.starts * places, prior.units, prior.bits + more, (prior.key, places))


@lru_cache(maxsize=64)
def prior_of(ladder: Ladder) -> Prior:
    """The prior over the rungs of a ladder of float bits or on a grid, or over deviations in a frame."""
    rungs: Any = ladder.map
    if isinstance(rungs, Zoned):
        return _of_deviations(rungs)
    return prior_around(rungs, CENTER)


@lru_cache(maxsize=256)
def prior_around(rungs: Any, center: int, tight: bool = False) -> Prior:
    """The prior over rungs of float bits or on a grid, with the heaviest octave at `center`.

    A `tight` one has about equal densities up to that octave, and a sixteenth of it for each octave beyond the next.
    """
    assert isinstance(rungs, FloatBits | Grid)
    bits = rungs.bits
    if isinstance(rungs, FloatBits):
        exponents = np.arange(rungs.floor, 1024)
        starts = 1 + (np.arange(len(exponents)) << bits)
        sizes = np.full(len(exponents), bits)
    else:
        octaves = np.arange(1025 - (math.frexp(rungs.unit)[1] - 1))  # the largest float may round up to one more
        sizes = np.minimum(octaves, bits)
        starts = np.where(octaves < bits, 1 << sizes, (octaves - bits + 1) << bits)
        exponents = octaves + math.frexp(rungs.unit)[1] - 1
    units = _ONE * SPREAD // (SPREAD + (exponents - center) ** 2)
    if tight:
        less = np.where(exponents <= center, center - exponents, 3 * np.maximum(exponents - center - 1, 0))
        units = np.maximum(_ONE >> np.minimum(less, 30), 1)
    return _both_sides(starts, units, sizes, ("numbers", rungs, center, tight))


@lru_cache(maxsize=256)
def prior_flat(rungs: Grid, octave: int) -> Prior:
    """The prior over deviations on a grid whose density is flat up to 2**`octave`, and an eighth an octave beyond.

    It has no dense point that numbers around it would be pulled to.
    """
    octaves = np.arange(1025 - (math.frexp(rungs.unit)[1] - 1))
    sizes = np.minimum(octaves, rungs.bits)
    starts = np.where(octaves < rungs.bits, 1 << sizes, (octaves - rungs.bits + 1) << rungs.bits)
    exponents = octaves + math.frexp(rungs.unit)[1] - 1
    less = np.where(exponents <= octave, octave - exponents, 2 * (exponents - octave))
    units = np.maximum((_ONE << _FLAT) >> np.minimum(less, 62), 1)
    return _both_sides(starts, units, sizes, ("flat", rungs, octave), int(units[0]))


def _of_deviations(rungs: Zoned) -> Prior:
    """Rungs weigh the same up to four scales from the centre, and less beyond: by a nat an octave up to five nats."""
    above, below = rungs.octaves
    parts, less = [], max(int(above[1].max()) - _FINEST, 0)  # all blocks together fit into 64 bits
    for starts, bits, first in (above, below):
        far = np.maximum(first + np.arange(len(bits)) - 1, 0)
        nats = np.where(far <= 5, far, 5 + 2 * np.log1p((far - 5) / 8))
        units = np.maximum(np.ldexp(np.exp(-nats) * _ONE, bits - less), 1.0).astype(np.int64)
        parts.append((starts, units, bits))
    (starts, units, bits), (other, others, few) = parts
    ends = other + (np.int64(1) << few)
    blocks = [
        np.concatenate([1 - ends[::-1], [0], starts]),
        np.concatenate([others[::-1], [max(_ONE >> less, 1)], units]),
        np.concatenate([few[::-1], [0], bits]),
    ]
    if rungs.mirrored:
        sizes = np.int64(1) << blocks[2]
        blocks = [(1 - blocks[0] - sizes)[::-1], blocks[1][::-1], blocks[2][::-1]]
    return Prior(blocks[0], blocks[1], blocks[2], ("deviations", rungs))


@lru_cache(maxsize=8)
def prior_of_scales(octaves: Ladder, heaped: bool = False) -> Prior:
    """The prior over the octaves of a scale, around the octave 0: (1 + |k| / 6)**-2.

    If hardly any record deviates, it decides alone. Where a scale that is far too large does much harm, and one that is
    too small hardly any, most of it is on a small one then (`heaped`), which records outweigh for 6 nats.
    """
    rungs = octaves.map
    assert isinstance(rungs, FloatBits)
    away = np.abs(np.arange(rungs.floor, 1024))
    units = _ONE * _SCALE_WIDTH**2 // (_SCALE_WIDTH + away) ** 2
    if heaped:
        units[_HEAP - rungs.floor] += _HEAVIER * int(units.sum())
    return Prior(1 + np.arange(len(away)), units, np.zeros(len(away), dtype=np.int64), ("scales", rungs, heaped))


def _both_sides(starts: Ints, units: Ints, bits: Ints, key: Hashable, zero: int | None = None) -> Prior:
    """The prior with these blocks above 0, their mirror images, and 0 itself, which weighs `zero`."""
    ends = starts + (np.int64(1) << bits)
    zero = 2 * int(units.sum()) // (ZERO - 1) if zero is None else zero
    return Prior(
        np.concatenate([1 - ends[::-1], [0], starts]),
        np.concatenate([units[::-1], [zero], units]),
        np.concatenate([bits[::-1], [0], bits]),
        key,
    )
