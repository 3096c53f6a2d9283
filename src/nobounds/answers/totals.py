"""Sums and means when nobody knows any bounds, with intervals (docs/mechanism.md).

    centre   a private median, of means and under swap; else 0
    start    a walk inward over the distances from it, to where a few records lie beyond
    shells   noisy numbers of records in octaves of the distance around the start, disjoint, so one price for all
    clip     the outer end of the outermost loud shell, and the louder it must be the further out
    noise    on the exact sum of the clipped deviations

The shells choose the clip and say what may lie beyond it: nothing else is bought for the interval. Zeros, constants and
few records are no cases of their own.
"""

import math
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from nobounds.accounting.cost import Cost
from nobounds.answers.spent import Known, Part, bought_center, bought_size
from nobounds.arrays import Ints
from nobounds.core.line import Line
from nobounds.counting.classes import Classes
from nobounds.counting.lattice import Lattice, Squares, steps_total
from nobounds.counting.order import Order
from nobounds.counting.scan import Chunk, Records, blocks, present, scan
from nobounds.exact import MAX, finite_float
from nobounds.mechanisms.clock import Ring, distance, fixed_cost
from nobounds.mechanisms.decisions import Noisy, NoisyMany
from nobounds.programs.program import Program
from nobounds.values import dataclass

SAFE = 8  # nats that keep the start from halting where no records are
START_NATS = 60  # records times epsilon for a start, ...
LEAST_START, MOST_START = Fraction(1, 10), Fraction(3, 10)  # ... and the least and the most of epsilon
COUNTS = Fraction(3, 10)  # of what is left, for the shells; half as much is no better without an interval
SIZE = Fraction(3, 50)  # of epsilon for the number of records that a mean is divided by
LOUD = 2.5  # noises that a count must pass to be treated as records
LOUDER = 2.0  # more noises for each e-fold that is skipped: a false alarm far out is as rare as it does harm
INSIDE, SHELLS = 4, 12  # octaves inside the start, and shells in all; the last one has no end
MARGIN = 2.0  # noises added to a count for an interval
FALL = 0.48  # the most that an octave may keep of the one before it, for what lies beyond the clip to be bounded
HALF_OCTAVES = (*range(-2 * INSIDE, 0, 2), 0, 1, *range(2, 2 * (SHELLS - INSIDE - 1), 2))


class Shells(NamedTuple):
    """Noisy numbers of records at distances between edges, the last of them infinite, and the scale of the noise."""

    edges: tuple[float, ...]
    counts: tuple[float, ...]
    noise: float


@dataclass(frozen=True)
class Clip:
    """A centre, the interval around it that records are kept in, and what is known of those outside."""

    center: Fraction
    low: Fraction
    high: Fraction
    reach: Fraction
    shells: Shells
    inside: int  # shells
    size: int  # a noisy number of records
    size_bar: float  # what noise changes that by, at the level
    left: Part
    parts: dict[str, Cost]

    @property
    def spread(self) -> float:
        """The root of the sum of squared deviations in the clip, from above."""
        if not self.inside:
            return math.inf
        inner = self.shells.edges[0] / 2.0 ** ((HALF_OCTAVES[1] - HALF_OCTAVES[0]) / 2)
        counts = (max(count + MARGIN * self.shells.noise, 0.0) for count in self.shells.counts[: self.inside])
        squares = (count * edge * edge for count, edge in zip(counts, self.shells.edges, strict=False))
        return math.sqrt(self.size * inner * inner + sum(squares))

    def outside(self, bound: Fraction | None, end: Fraction, power: int = 1) -> float:
        """The most that records beyond an end of the clip lie beyond it in all, or their squares with power 2."""
        far = beyond(self.shells, self.inside, power)
        seen = finite_float(self.reach**power) * far if far < math.inf else math.inf
        if bound is None:
            return seen
        away = abs(bound - self.center) ** power - abs(end - self.center) ** power
        return min(seen, self._outside * finite_float(away))

    @property
    def _outside(self) -> float:
        """The most records that lie beyond the clip, with a margin for the noise."""
        rest = self.shells.counts[self.inside :]
        return max(sum(rest), 0.0) + MARGIN * self.shells.noise * math.sqrt(len(rest))


@dataclass(frozen=True)
class Total:
    """The noisy sum of clipped deviations from a centre, or of their squares: the scale of its noise, and its bar."""

    value: Fraction
    scale: float
    bar: float


def found_clip(
    order: Order, records: Records, whole: Part, known: Known, *, centered: bool, level: float
) -> Program[Clip | dict[str, Cost]]:
    """The clip, and what is left for sums; only what was spent where no number of records is known."""
    line = order.line
    size, spent, left, hidden = yield from bought_size(order, whole, known, SIZE if centered else SIZE / 2)
    parts = {"size": spent.cost} if spent.amount else {}
    if size is None:
        return parts | {"noise": left.cost}
    key, center = 0, Fraction(0)
    if centered:
        key, after = yield from bought_center(order, size, left)
        parts["center"], left = left.less(after).cost, after
        center = line.number(key)
    size_bar = hidden + (_bar(spent.additive.scale(1), spent, level) if spent.amount else 0.0)
    clip = yield from clip_around(order, records, key, center, left, size, size_bar)
    return replace(clip, parts=parts | clip.parts)


def clip_around(
    order: Order, records: Records, key: int, center: Fraction, left: Part, size: int, size_bar: float
) -> Program[Clip]:
    """The clip around a released centre, for about `size` records."""
    line = order.line
    step = 1.0 if line.unit is None else finite_float(line.unit)
    own = left.of(min(max(left.nats(START_NATS, size), LEAST_START), MOST_START))
    start = step * (yield from _start(order, key, own))
    parts, left = {"start": own.cost}, left.less(own)
    own = left.of(COUNTS)
    shells = yield from _shells(records, finite_float(center), start, own)
    parts["shells"], left = own.cost, left.less(own)
    inside = clip_of(shells, start)
    reach = Fraction(shells.edges[inside - 1]) if inside else Fraction(0)
    low, high = center - reach, center + reach
    low = low if line.lower is None else min(max(low, line.lower), center)
    high = high if line.upper is None else max(min(high, line.upper), center)
    return Clip(center, low, high, reach, shells, inside, size, size_bar, left, parts)


def total(
    records: Records, clip: Clip, own: Part, integral: bool, unit: Fraction, level: float
) -> Program[tuple[Clip, Total]]:
    """The noisy sum of clipped deviations, and the clip with a centre on the lattice of the sum."""
    lattice = Lattice.of(clip.low, clip.high, integral, unit)
    zero = round(clip.center / lattice.step)
    count, steps = steps_total(records(), lattice)
    most = max(abs(lattice.low - zero), abs(lattice.low + lattice.width - zero), 1)
    sensitivity = lattice.width if own.neighbors == "swap" else most
    noisy: int = yield Noisy(steps + count * (lattice.low - zero), own.additive, own.additive.cost, sensitivity)
    scale = own.additive.scale(sensitivity) * finite_float(lattice.step)
    return replace(clip, center=zero * lattice.step), Total(noisy * lattice.step, scale, _bar(scale, own, level))


def squares(records: Records, clip: Clip, own: Part, level: float) -> Program[Total]:
    """The noisy sum of squared clipped deviations."""
    lattice = Lattice.of(clip.low, clip.high, False)
    steps = Squares(lattice, min(max(round(clip.center / lattice.step) - lattice.low, 0), lattice.width))
    _, raw = steps_total(records(), steps)
    noisy: int = yield Noisy(raw, own.additive, own.additive.cost, steps.width)
    each = steps.radius**2 / steps.width
    scale = own.additive.scale(steps.width) * finite_float(each)
    return Total(noisy * each, scale, _bar(scale, own, level))


def sum_of(clip: Clip, noisy: Total, line: Line) -> tuple[Fraction, float, float]:
    """The sum of the records, and the ends of its interval."""
    value = noisy.value + clip.center * clip.size
    off = noisy.bar + abs(finite_float(clip.center)) * clip.size_bar
    below, above = clip.outside(line.lower, clip.low), clip.outside(line.upper, clip.high)
    return value, finite_float(value) - off - below, finite_float(value) + off + above


def mean_of(clip: Clip, noisy: Total, line: Line, errors: float) -> tuple[Fraction, float, float]:
    """The mean, and the ends of its interval, with a number of standard errors of a sample, 0 for the rows alone."""
    value = min(max(clip.center + noisy.value / clip.size, clip.low), clip.high)
    least = -math.inf if line.lower is None else finite_float(line.lower)
    most = math.inf if line.upper is None else finite_float(line.upper)
    fewest = clip.size - clip.size_bar
    if fewest <= 0:
        return value, least, most
    more = clip.size_bar / fewest * abs(finite_float(value - clip.center))
    if errors:
        more += errors * clip.spread / clip.size
    below, above = clip.outside(line.lower, clip.low), clip.outside(line.upper, clip.high)
    low, high = (
        finite_float(value) - (noisy.bar + below) / fewest - more,
        finite_float(value) + (noisy.bar + above) / fewest + more,
    )
    return value, max(low, least), min(high, most)


def variance_of(clip: Clip, first: Total, second: Total, line: Line) -> tuple[Fraction, float, float]:
    """The variance, and the ends of its interval for the rows: clipping can only make it smaller."""
    off = first.value / clip.size
    value = max(second.value / clip.size - off**2, Fraction(0))
    fewest, most = clip.size - clip.size_bar, clip.size + clip.size_bar
    if fewest <= 0:
        return value, 0.0, math.inf
    middle, squared = abs(finite_float(off)), finite_float(second.value)
    away = middle + (first.bar + clip.size_bar * middle) / fewest
    low = (squared - second.bar) / most - away * away
    outside = max(clip.outside(line.lower, clip.low, 2), clip.outside(line.upper, clip.high, 2))
    return value, max(low, 0.0), (squared + second.bar + outside) / fewest


def _bar(scale: float, part: Part, level: float) -> float:
    """What noise of a scale, or of a standard deviation, changes a number by, at a level."""
    return scale * (standard_errors(level) if part.zcdp else -math.log(1 - level))


def _start(order: Order, center: int, own: Part) -> Program[float]:
    """A distance that a few records lie beyond, however many there are; 0 if none was seen away from the centre."""
    eps = own.fixed_walk()
    level = Fraction(math.exp(SAFE))
    cost = partial(fixed_cost, *eps, own.neighbors)
    rung: int | None = yield Ring(order, center, 0, True, Fraction(0), *eps, level, cost)
    return 0.0 if rung is None else distance(rung)


def _shells(records: Records, center: float, start: float, own: Part) -> Program[Shells]:
    """The noisy counts of the shells around a start."""
    edges = [min(start * 2.0 ** (half / 2), MAX) for half in HALF_OCTAVES]
    additive = own.additive
    raw = scan(records(), Placed.of(center, edges), np.add).tolist()
    inner = len(edges)
    counts = [raw[inner - 1 - k] + raw[inner + 1 + k] for k in range(inner)]
    sensitivity = 1 if own.neighbors == "add-remove" else 2
    if own.zcdp and sensitivity == 2:  # two shells change by one each: a Euclidean norm of the root of 2
        additive, sensitivity = own.of(Fraction(1, 2)).additive, 1
    noisy: list[int] = yield NoisyMany(counts, additive, lambda: own.cost, sensitivity)
    scale = additive.scale(sensitivity) / (math.sqrt(2) if own.zcdp else 1)
    return Shells((*edges[1:], math.inf), tuple(map(float, noisy)), scale)


@dataclass(frozen=True)
class Placed:
    """The pass that counts the records between edges; missing ones are nowhere."""

    edges: tuple[float, ...]

    @classmethod
    def of(cls, center: float, distances: Iterable[float]) -> "Placed":
        """Records at these distances or beyond them, on both sides."""
        away = list(distances)
        with np.errstate(over="ignore"):
            low = [math.nextafter(max(center - each, -MAX), math.inf) for each in reversed(away)]
            return cls((*low, *(min(center + each, MAX) for each in away)))

    @property
    def classes(self) -> Classes:
        """Records at the same place among the edges."""
        return Classes(edges=self.edges)

    def __call__(self, chunks: Iterable[Chunk]) -> Ints:
        numbers = np.zeros(len(self.edges) + 1, dtype=np.int64)
        edges = np.array(self.edges)
        for block, counts in blocks(chunks):
            values, times = present(block, counts)
            places = np.searchsorted(edges, values, side="right")
            numbers += np.bincount(places, times, len(numbers)).astype(np.int64)
        return numbers


def clip_of(shells: Shells, start: float) -> int:
    """How many shells lie inside the clip, the outer end of the outermost loud one; 0 where none is loud.

    A false alarm r times further out has r times the noise: `LOUDER` nats an e-fold make it r**2 times rarer, so all of
    them together cost little, near or far.
    """
    inside = 0
    inner = (start * 2.0**-INSIDE, *shells.edges)
    for k, count in enumerate(shells.counts[:-1]):
        reach = max(inner[inside], start)
        skipped = math.log(max(inner[k] / reach, 1.0)) if reach > 0 else 0.0
        if count > (LOUD + LOUDER * skipped) * shells.noise:
            inside = k + 1
    return inside


def _octaves(shells: Shells, order: Iterable[int]) -> Iterable[tuple[float, int]]:
    """The numbers of records in whole octaves, of these shells in their order, and how many shells each has."""
    count, half, many = 0.0, 0, 0
    for k in order:
        wide = HALF_OCTAVES[k + 1] - HALF_OCTAVES[k] if k + 1 < len(HALF_OCTAVES) else 2
        count, half, many = count + shells.counts[k], half + wide, many + 1
        if half >= 2:
            yield count, many
            count, half, many = 0.0, 0, 0


def beyond(shells: Shells, inside: int, power: int = 1) -> float:
    """The most that records beyond the clip lie beyond it in all, over the clip; infinite if that is not known.

    Assumed is that each octave outward keeps at most the share of the one before it that was seen on the way to the
    clip, and that values in an octave lie on average at 1.5 times its inner end, as they do where a density falls.
    With `power` 2 it is what their squares are larger by, over that of the clip, and they lie at 7/3 on average.
    """
    noise = shells.noise
    outward = list(_octaves(shells, range(inside, len(shells.counts))))
    if not inside or not outward or sum(shells.counts[:inside]) < LOUD * noise:
        return math.inf
    count, many = outward[0]
    further = shells.counts[inside + many :]
    if sum(further) > MARGIN * noise * math.sqrt(len(further)):
        return math.inf
    most, kept = max(count, 0.0) + MARGIN * noise * math.sqrt(many), 1.0
    for octaves, (count, many) in enumerate(_octaves(shells, range(inside - 1, -1, -1)), start=1):
        if octaves > INSIDE:
            break
        least = count - MARGIN * noise * math.sqrt(many)
        if least > 0:
            kept = min(kept, (most / least) ** (1 / octaves))
    grows, average = (2, 1.5) if power == 1 else (4, 7 / 3)
    return most * (average / (1 - grows * kept) - 1 / (1 - kept)) if grows * kept < 2 * FALL else math.inf


def standard_errors(level: float) -> float:
    """How many standard errors hold a sample's mean at this level."""
    return NormalDist().inv_cdf((1 + level) / 2)
